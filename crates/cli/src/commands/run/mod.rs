//! `millpond run`: a program under a limit.
//!
//! This process becomes the program, so that exit code, signals, terminal and process id are its
//! own, and the pond, which has seen this process join a group, knows when it ends.

mod environment;
mod membership;
mod program;

use std::os::unix::process::CommandExt;
use std::process::Command;

use millpond_preload::CONFIG_FILE_NAME;

use crate::args::{Global, RunArgs};
use crate::config_file::{self, Reading};
use crate::error::{Outcome, Report};
use crate::exit::Code;
use crate::printer::Printer;

pub fn run(args: &RunArgs, global: &Global, printer: &Printer) -> Outcome {
    let Some((name, rest)) = args.program.split_first() else {
        return Err(Report::new(Code::Usage, "no program to run")
            .hint("`millpond help run` shows examples")
            .into());
    };
    // What is wrong with the program is said before a group is made for it.
    let file = program::find(name)?;
    if let Some(escape) = program::escape(&file) {
        if args.strict {
            let report = Report::new(Code::NotExecutable, escape.to_string());
            let hint = "without `--strict` it runs without a limit; docs/limits.md says how to prevent that";
            return Err(report.hint(hint).into());
        }
        printer.note(format_args!("warning: {escape}"));
    }
    let membership = membership::join(args, global, printer)?;
    match config_file::read() {
        Reading::Understood { limit: Some(limit), .. } => printer.note(format_args!(
            "{CONFIG_FILE_NAME} limits every program to {limit}: the smaller limit holds"
        )),
        Reading::Refused { why, advice } => {
            printer.note(format_args!("warning: {why}; the program gets no GPU memory; {advice}"))
        }
        Reading::NoFile | Reading::Understood { limit: None, .. } => {}
    }
    let mut command = Command::new(name);
    command.args(rest);
    environment::apply(&mut command, &membership);
    let error = command.exec();
    // Only what could not be executed comes back.
    let (code, why) = match error.kind() {
        std::io::ErrorKind::NotFound => (Code::NoProgram, "its interpreter is missing".to_owned()),
        _ => (Code::NotExecutable, error.to_string()),
    };
    Err(Report::new(code, format!("'{}' cannot be executed: {why}", file.display())).into())
}
