//! Why a command did not end well.

use std::fmt;

use millpond_wire::{ErrorKind, Failure, Holder};

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

/// What a command returns.
pub type Outcome = Result<(), CommandError>;

/// An error as it is printed.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the shell gets.
    pub code: Code,
    /// One sentence that names the thing.
    pub message: String,
    /// The command to type next.
    pub hint: Option<String>,
    /// Names close to one that was not found.
    pub similar: Vec<String>,
    /// Bytes asked for, where memory was short.
    pub requested_bytes: Option<u64>,
    /// Bytes free, where memory was short.
    pub free_bytes: Option<u64>,
    /// The pond's capacity, where memory was short.
    pub capacity_bytes: Option<u64>,
    /// Who holds the rest, where memory was short.
    pub holders: Vec<Holder>,
}

impl Report {
    /// An error with only a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self::from_failure(code, Failure::new(ErrorKind::Internal, message))
    }

    fn from_failure(code: Code, failure: Failure) -> Self {
        Self {
            code,
            message: failure.message,
            hint: failure.hint,
            similar: failure.similar,
            requested_bytes: failure.requested_bytes,
            free_bytes: failure.free_bytes,
            capacity_bytes: failure.capacity_bytes,
            holders: failure.holders,
        }
    }

    /// Adds the way out.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Report> for CommandError {
    fn from(report: Report) -> Self {
        CommandError::Failed(Box::new(report))
    }
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        Report::from_failure(Code::Kind(failure.kind), failure).into()
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
            CommandError::Failed(report) => f.write_str(&report.message),
        }
    }
}
