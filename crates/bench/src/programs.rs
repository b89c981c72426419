//! Which programs are measured, and which measure.

use std::path::PathBuf;

use millpond_console::error::{CommandError, Report, failed};
use millpond_console::exit::Code;

/// Set by `millpond` for its companions.
const BIN: &str = "MILLPOND_BIN";

/// The `millpond` program: the one that has started this one, else the one beside it.
pub fn core() -> Result<PathBuf, CommandError> {
    if let Some(named) = std::env::var_os(BIN).filter(|path| !path.is_empty()) {
        return Ok(named.into());
    }
    let beside = own()?.with_file_name("millpond");
    if beside.is_file() {
        return Ok(beside);
    }
    let message = format!("there is no '{}' to measure", beside.display());
    Err(Report::new(Code::NoProgram, message)
        .hint(format!("run `millpond bench`, or name the program: {BIN}=/path/to/millpond"))
        .into())
}

/// This program, whose processes measure.
pub fn own() -> Result<PathBuf, CommandError> {
    std::env::current_exe().map_err(|error| failed("finding this program", error))
}
