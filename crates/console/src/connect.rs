//! The way to the pond that a command line names.

use std::time::Duration;

use millpond::{ErrorKind, Pond};

use crate::args::Global;
use crate::error::{CommandError, Report};
use crate::exit::Code;
use crate::printer::write_stderr;

/// What `ps` shows for this program.
const PROGRAM: &str = "millpond";
/// A daemon that refuses users lives, and answers an operator at once.
const OPERATOR_WITHIN: Duration = Duration::from_secs(2);

/// Connects to the pond that the command line or the environment names. Where users have taken all
/// that there is for users, whoever may open the operator's socket gets in through that.
pub fn connect(global: &Global) -> Result<Pond, CommandError> {
    let mut builder = Pond::builder().program(PROGRAM);
    if let Some(folder) = global.runtime_dir() {
        builder = builder.runtime_dir(folder);
    }
    let refused = match builder.clone().connect() {
        Ok(pond) => return Ok(pond),
        Err(error) => error,
    };
    if !matches!(refused.kind(), ErrorKind::TooMany | ErrorKind::Timeout | ErrorKind::NoPond) {
        return Err(refused.into());
    }
    match builder.operator().reconnect_timeout(OPERATOR_WITHIN).connect() {
        Ok(pond) => {
            let text = "the operator's socket is used instead";
            write_stderr(format_args!("note: {refused}; {text}\n"));
            Ok(pond)
        }
        Err(_) => Err(refused.into()),
    }
}

impl From<millpond::Error> for CommandError {
    fn from(error: millpond::Error) -> Self {
        if let Some(failure) = error.failure() {
            return failure.clone().into();
        }
        let report = Report::new(Code::Kind(error.kind()), error.to_string());
        match error.hint() {
            Some(hint) => report.hint(hint).into(),
            None => report.into(),
        }
    }
}
