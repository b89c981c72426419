//! One check.

use crate::printer::Tone;
use millpond_view as view;

/// What a check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// A pond runs, with less.
    Warn,
    /// No pond runs like this.
    Fail,
}

impl Verdict {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Warn => "warn",
            Verdict::Fail => "fail",
        }
    }

    pub const fn tone(self) -> Tone {
        match self {
            Verdict::Ok => Tone::Good,
            Verdict::Warn => Tone::Careful,
            Verdict::Fail => Tone::Bad,
        }
    }
}

/// What was looked at and what was found.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    pub verdict: Verdict,
    pub found: String,
    pub advice: Option<String>,
}

impl Check {
    /// As it should be.
    pub fn ok(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self { name: name.into(), verdict: Verdict::Ok, found: found.into(), advice: None }
    }

    /// A pond runs, with less.
    pub fn warn(
        name: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let advice = Some(advice.into());
        Self { verdict: Verdict::Warn, advice, ..Self::ok(name, found) }
    }

    /// No pond runs like this.
    pub fn fail(
        name: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { verdict: Verdict::Fail, ..Self::warn(name, found, advice) }
    }
}

impl From<&Check> for view::Check {
    fn from(check: &Check) -> Self {
        Self {
            name: check.name.clone(),
            verdict: check.verdict.name(),
            found: check.found.clone(),
            advice: check.advice.clone(),
        }
    }
}
