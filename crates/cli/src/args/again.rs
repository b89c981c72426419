//! `--watch`.

use std::time::Duration;

use clap::Args;

use crate::span::Span;

/// How often, where no time is given.
const EVERY: Duration = Duration::from_secs(2);
/// The shortest interval: a person sees no more.
const LEAST: Duration = Duration::from_millis(100);

/// For commands whose answer can be watched.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Watch {
    /// Repeat every 2 seconds, or at this interval
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, value_parser = interval)]
    watch: Option<Option<Duration>>,
}

impl Watch {
    /// How often; `None` is once.
    pub fn interval(self) -> Option<Duration> {
        self.watch.map(|every| every.unwrap_or(EVERY))
    }
}

/// Seconds, with a fraction or not, or a time with its unit.
fn interval(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let seconds = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let every = match seconds {
        Some(seconds) => seconds,
        None => text.parse::<Span>()?.0,
    };
    if every < LEAST {
        return Err(format!("'{text}' is too short; the shortest is 0.1"));
    }
    Ok(every)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_in_seconds_or_has_a_unit() {
        assert_eq!(interval("1"), Ok(Duration::from_secs(1)));
        assert_eq!(interval("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(interval("250ms"), Ok(Duration::from_millis(250)));
        for text in ["0", "-1", "nan", "1e99", "soon", ""] {
            assert!(interval(text).is_err(), "{text}");
        }
    }
}
