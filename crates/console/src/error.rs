//! Why a command did not end well.

use std::fmt;

use millpond_wire::trust::TrustError;
use millpond_wire::{ErrorKind, Failure};

use crate::exit::Code;

/// Why a command did not end well.
#[derive(Debug)]
pub enum CommandError {
    /// Standard output was closed: whoever read it has enough, so this is success.
    Closed,
    /// Everything was said already; only the exit code is left.
    Said(Code),
    /// Still to be printed.
    Failed(Box<Report>),
}

impl CommandError {
    /// The way out of this kind of error in the words of a command that has a flag for it.
    pub fn hint_for(self, kind: ErrorKind, hint: impl Into<String>) -> Self {
        match self {
            CommandError::Failed(report) if report.code == Code::Kind(kind) => {
                report.hint(hint).into()
            }
            other => other,
        }
    }
}

/// What a command returns.
pub type Outcome = Result<(), CommandError>;

/// An error as it is printed.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the shell gets; it has codes that are no kind of failure.
    pub code: Code,
    /// What is said. Its kind is the code's where the pond refused, and means nothing else.
    pub failure: Failure,
}

impl Report {
    /// An error with only a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, failure: Failure::new(ErrorKind::Internal, message) }
    }

    /// Adds the way out.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.failure = self.failure.hint(hint);
        self
    }
}

impl From<&TrustError> for Report {
    fn from(error: &TrustError) -> Self {
        let report = Report::new(Code::Kind(ErrorKind::Untrusted), error.to_string());
        match error.hint() {
            Some(hint) => report.hint(hint),
            None => report,
        }
    }
}

impl From<Report> for CommandError {
    fn from(report: Report) -> Self {
        CommandError::Failed(Box::new(report))
    }
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        Report { code: Code::Kind(failure.kind), failure }.into()
    }
}

/// An error of this side, with exit code 1: what was tried, and what was said.
pub fn failed(what: impl fmt::Display, source: impl fmt::Display) -> CommandError {
    Report::new(Code::Failed, format!("{what}: {source}")).into()
}

/// An error of this side that is one sentence.
pub fn wrong(message: impl Into<String>) -> CommandError {
    Report::new(Code::Failed, message).into()
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Closed => f.write_str("standard output was closed"),
            CommandError::Said(code) => write!(f, "exit code {}", code.number()),
            CommandError::Failed(report) => report.failure.fmt(f),
        }
    }
}
