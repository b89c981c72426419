//! The story on standard output: numbered steps, and claims with a mark.

use std::fmt::Display;
use std::time::Instant;

use crate::error::Outcome;
use crate::json::ClaimJson;
use crate::printer::{Printer, Tone};
use crate::units;

/// Tells what happens, and remembers every claim.
#[derive(Debug)]
pub struct Story<'a> {
    printer: &'a Printer,
    started: Instant,
    step: u32,
    claims: Vec<ClaimJson>,
    /// Where the current step's claims begin.
    step_start: usize,
}

impl<'a> Story<'a> {
    pub fn new(printer: &'a Printer) -> Self {
        Self { printer, started: Instant::now(), step: 0, claims: Vec::new(), step_start: 0 }
    }

    /// How long it has been told.
    pub fn elapsed(&self) -> std::time::Duration {
        self.started.elapsed()
    }

    /// The next thing that happens.
    pub fn step(&mut self, title: impl Display) -> Outcome {
        self.step += 1;
        self.step_start = self.claims.len();
        if self.is_silent() {
            return Ok(());
        }
        let time = units::time(self.started.elapsed());
        let time = self.printer.paint(Tone::Dim, format_args!("[{time}]"));
        let title = self.printer.paint(Tone::Bold, format_args!("{}. {title}", self.step));
        self.printer.line(format_args!("\n{title} {time}"))
    }

    /// What is so without being claimed.
    pub fn fact(&self, text: impl Display) -> Outcome {
        if self.is_silent() {
            return Ok(());
        }
        self.printer.line(format_args!("     {text}"))
    }

    /// What was looked at, and whether it was so.
    pub fn claim(&mut self, ok: bool, text: impl Display) -> Outcome {
        let claim = text.to_string();
        let printed = if self.is_silent() {
            Ok(())
        } else {
            self.printer.line(format_args!("   {} {claim}", self.mark(ok)))
        };
        self.claims.push(ClaimJson { claim, ok });
        printed
    }

    /// Whether every claim of the current step was true.
    pub fn step_was_true(&self) -> bool {
        self.claims[self.step_start..].iter().all(|claim| claim.ok)
    }

    /// Whether every claim so far was true.
    pub fn was_true(&self) -> bool {
        self.claims.iter().all(|claim| claim.ok)
    }

    pub fn claims(&self) -> &[ClaimJson] {
        &self.claims
    }

    /// How it went, in one line.
    pub fn summary(&self, text: impl Display) -> Outcome {
        if self.printer.is_json() {
            return Ok(());
        }
        let (tone, title) = if self.was_true() { (Tone::Good, "ok") } else { (Tone::Bad, "FALSE") };
        let title = self.printer.paint(tone, title);
        let gap = if self.is_silent() { "" } else { "\n" };
        self.printer.line(format_args!("{gap}{title}: {text}"))
    }

    /// What the reader may type next.
    pub fn now_try(&self, lines: &[String]) -> Outcome {
        if self.is_silent() {
            return Ok(());
        }
        let title = self.printer.paint(Tone::Bold, "Now try:");
        self.printer.line(format_args!("\n{title}\n{}", lines.join("\n")))
    }

    fn is_silent(&self) -> bool {
        self.printer.is_json() || self.printer.is_quiet()
    }

    fn mark(&self, ok: bool) -> String {
        let mark = match (ok, self.printer.is_unicode()) {
            (true, true) => "✓",
            (true, false) => "ok",
            (false, true) => "✗",
            (false, false) => "FALSE",
        };
        self.printer.paint(if ok { Tone::Good } else { Tone::Bad }, mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_false_claim_makes_its_step_and_the_whole_false() {
        let printer = Printer::plain(true);
        let mut story = Story::new(&printer);
        story.step("one").unwrap();
        story.claim(false, "the moon is cheese").unwrap();
        assert!(!story.step_was_true());
        story.step("two").unwrap();
        story.claim(true, "water is wet").unwrap();
        assert!(story.step_was_true() && !story.was_true());
        assert_eq!(story.claims().len(), 2);
    }
}
