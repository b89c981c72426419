//! Requests for models over time, written and read as JSON lines.

use crate::error::TraceError;
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read, Write};
use std::time::Duration;

/// More models than fit on a card by far.
const MOST_MODELS: usize = 64;
/// A day of ten requests a second.
const MOST_REQUESTS: usize = 1_000_000;
/// A line has a few numbers and a name.
const MOST_LINE_BYTES: u64 = 4096;
/// Longer than what models read.
const MOST_TOKENS: u64 = 1 << 20;
/// Sizes of models, far above those that exist, so that no product overflows.
const MOST_OF_A_SHAPE: u64 = 4096;
const MOST_WEIGHT_BYTES: u64 = 1 << 44;
const MOST_PER_SECOND: u64 = 1_000_000_000;
/// A day, in microseconds.
const LATEST_US: u64 = 24 * 60 * 60 * 1_000_000;

/// One request. Times count from the beginning of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it arrives.
    pub at: Duration,
    /// The model that it is for, by its place in the trace.
    pub model: usize,
    /// Tokens of its prompt, at least one.
    pub prompt_tokens: u64,
    /// Tokens of its answer, at least one.
    pub output_tokens: u64,
}

/// Requests in the order of their arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Who is asked.
    pub models: Vec<Model>,
    /// What is asked.
    pub requests: Vec<Request>,
}

/// A line of a file: all models come before the first request.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Model(Model),
    Request(Asked),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    at_us: u64,
    model: String,
    prompt_tokens: u64,
    output_tokens: u64,
}

impl Trace {
    /// When the last request arrives.
    #[must_use]
    pub fn end(&self) -> Duration {
        self.requests.last().map_or(Duration::ZERO, |request| request.at)
    }

    /// What all weights take.
    #[must_use]
    pub fn weight_bytes(&self) -> u64 {
        self.models.iter().map(|model| model.weight_bytes).sum()
    }

    /// What the requests of each model hold over their lives, in bytes times seconds.
    #[must_use]
    pub fn demands(&self) -> Vec<f64> {
        let mut demands = vec![0.0; self.models.len()];
        for one in &self.requests {
            demands[one.model] +=
                self.models[one.model].demand(one.prompt_tokens, one.output_tokens);
        }
        demands
    }

    /// The same with models of a smaller part of their layers, and time that passes faster.
    #[must_use]
    pub fn scaled(mut self, shrink: u64, speed: u64) -> Self {
        let (shrink, speed) = (shrink.max(1), speed.max(1));
        for model in &mut self.models {
            model.layers = (model.layers / shrink).max(1);
            model.prefill_per_second = model.prefill_per_second.saturating_mul(speed);
            model.decode_per_second = model.decode_per_second.saturating_mul(speed);
        }
        for request in &mut self.requests {
            request.at /= u32::try_from(speed).unwrap_or(u32::MAX);
        }
        self
    }

    /// Writes one line for each model and request.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, mut to: impl Write) -> Result<(), TraceError> {
        let models = self.models.iter().cloned().map(Line::Model);
        let requests = self.requests.iter().map(|request| {
            Line::Request(Asked {
                at_us: u64::try_from(request.at.as_micros()).unwrap_or(u64::MAX),
                model: self.models[request.model].name.clone(),
                prompt_tokens: request.prompt_tokens,
                output_tokens: request.output_tokens,
            })
        });
        for line in models.chain(requests) {
            serde_json::to_writer(&mut to, &line).map_err(std::io::Error::from)?;
            to.write_all(b"\n")?;
        }
        Ok(to.flush()?)
    }

    /// Reads such lines. Requests may come in any order, and are sorted.
    ///
    /// # Errors
    /// The line that is no model or request, and why.
    pub fn read(mut from: impl BufRead) -> Result<Self, TraceError> {
        let (mut trace, mut number) = (Self::default(), 0);
        loop {
            let mut text = String::new();
            number += 1;
            let length = (&mut from).take(MOST_LINE_BYTES).read_line(&mut text)? as u64;
            if length == 0 {
                break;
            }
            if length == MOST_LINE_BYTES {
                return Err(bad(number, format!("is longer than {MOST_LINE_BYTES} bytes")));
            }
            if text.trim().is_empty() {
                continue;
            }
            let line =
                serde_json::from_str(&text).map_err(|error| bad(number, error.to_string()))?;
            trace.add(line).map_err(|why| bad(number, why))?;
        }
        if trace.requests.is_empty() {
            return Err(bad(number, "ends the trace, which has no request".to_owned()));
        }
        trace.requests.sort_by_key(|request| request.at);
        Ok(trace)
    }

    fn add(&mut self, line: Line) -> Result<(), String> {
        match line {
            Line::Model(model) => self.add_model(model),
            Line::Request(asked) => self.add_request(&asked),
        }
    }

    fn add_model(&mut self, model: Model) -> Result<(), String> {
        let name = &model.name;
        if self.models.iter().any(|other| other.name == *name) {
            return Err(format!("has the model '{name}' once more"));
        }
        if self.models.len() == MOST_MODELS {
            return Err(format!("has a model more than {MOST_MODELS}"));
        }
        between(name, "layers", model.layers, 1, MOST_OF_A_SHAPE)?;
        between(name, "kv_heads", model.kv_heads, 1, MOST_OF_A_SHAPE)?;
        between(name, "head_dim", model.head_dim, 1, MOST_OF_A_SHAPE)?;
        between(name, "weight_bytes", model.weight_bytes, 0, MOST_WEIGHT_BYTES)?;
        between(name, "prefill_per_second", model.prefill_per_second, 1, MOST_PER_SECOND)?;
        between(name, "decode_per_second", model.decode_per_second, 1, MOST_PER_SECOND)?;
        self.models.push(model);
        Ok(())
    }

    fn add_request(&mut self, asked: &Asked) -> Result<(), String> {
        let name = &asked.model;
        let Some(model) = self.models.iter().position(|model| model.name == *name) else {
            return Err(format!("asks for '{name}', and no line before it has that model"));
        };
        if self.requests.len() == MOST_REQUESTS {
            return Err(format!("has a request more than {MOST_REQUESTS}"));
        }
        between(name, "at_us", asked.at_us, 0, LATEST_US)?;
        between(name, "prompt_tokens", asked.prompt_tokens, 1, MOST_TOKENS)?;
        between(name, "output_tokens", asked.output_tokens, 1, MOST_TOKENS)?;
        self.requests.push(Request {
            at: Duration::from_micros(asked.at_us),
            model,
            prompt_tokens: asked.prompt_tokens,
            output_tokens: asked.output_tokens,
        });
        Ok(())
    }
}

fn bad(line: u64, why: String) -> TraceError {
    TraceError::Line { line, why }
}

fn between(name: &str, what: &str, value: u64, least: u64, most: u64) -> Result<(), String> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(format!("has {what} {value} for '{name}'; possible are {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::{Plan, generate};

    fn text(trace: &Trace) -> String {
        let mut bytes = Vec::new();
        trace.write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let trace = generate(&Plan { seconds: 20, ..Plan::new(4, 50, 3) }).unwrap();
        assert!(trace.requests.len() > 10);
        assert_eq!(Trace::read(text(&trace).as_bytes()).unwrap(), trace);
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        let model = r#"{"model":{"name":"a","layers":1,"kv_heads":1,"head_dim":64,"weight_bytes":0,"prefill_per_second":1,"decode_per_second":1}}"#;
        let request = |model: &str, tokens: u64| {
            format!(
                r#"{{"request":{{"at_us":0,"model":"{model}","prompt_tokens":{tokens},"output_tokens":1}}}}"#
            )
        };
        let read = |lines: &[&str]| Trace::read(lines.join("\n").as_bytes()).map(drop);
        let said = |lines: &[&str]| read(lines).unwrap_err().to_string();
        read(&[model, "", &request("a", 5)]).unwrap();
        assert_eq!(
            said(&[model, &request("b", 5)]),
            "line 2 asks for 'b', and no line before it has that model"
        );
        assert_eq!(
            said(&[model, &request("a", 0)]),
            "line 2 has prompt_tokens 0 for 'a'; possible are 1 to 1048576"
        );
        assert_eq!(said(&[model, model]), "line 2 has the model 'a' once more");
        assert_eq!(said(&[model]), "line 2 ends the trace, which has no request");
        assert!(said(&[&" ".repeat(5000)]).starts_with("line 1 is longer"));
        assert!(said(&["{}"]).starts_with("line 1 "));
    }
}
