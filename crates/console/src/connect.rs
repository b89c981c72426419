//! The way to the pond that a command line names.

use millpond::Pond;

use crate::args::Global;
use crate::error::{CommandError, Report};
use crate::exit::Code;

/// What `ps` shows for this program.
const PROGRAM: &str = "millpond";

/// Connects to the pond that the command line or the environment names.
pub fn connect(global: &Global) -> Result<Pond, CommandError> {
    let mut builder = Pond::builder().program(PROGRAM);
    if let Some(folder) = global.runtime_dir() {
        builder = builder.runtime_dir(folder);
    }
    Ok(builder.connect()?)
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
