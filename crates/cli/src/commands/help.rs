//! `millpond help`: a command, or one of the topics that have no command.

use std::ffi::OsString;

use clap::CommandFactory;

use crate::args::{self, Cli, HelpArgs};
use crate::companion::{self, Call};
use crate::error::{Outcome, Report};
use crate::exit::{self, Code};
use crate::printer::Printer;
use crate::table::{Side, Table};
use crate::{env_vars, printer};

pub fn run(args: &HelpArgs, printer: &Printer) -> Outcome {
    match args.topic.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["exit-codes"] => printer.line(exit_codes()),
        ["environment"] => printer.line(environment(printer)),
        path => command(path, printer),
    }
}

/// The table of exit codes.
pub fn exit_codes() -> String {
    let mut table =
        Table::new(&[("CODE", Side::Right), ("KIND", Side::Left), ("MEANING", Side::Left)])
            .no_trunc(true);
    for row in exit::table() {
        table.row(vec![row.number.to_string(), row.name.to_owned(), row.meaning.to_owned()]);
    }
    table.render()
}

fn environment(printer: &Printer) -> String {
    let entries = env_vars::table().into_iter().map(|(name, meaning)| {
        format!("{}\n    {meaning}", printer.paint(printer::Tone::Bold, name))
    });
    entries.collect::<Vec<_>>().join("\n")
}

fn command(path: &[&str], printer: &Printer) -> Outcome {
    let mut root = args::command();
    root.build();
    let mut found = &mut root;
    let (plain, mut known) = (Cli::command(), Vec::new());
    if let Some((name, rest)) = path.split_first()
        && plain.find_subcommand(name).is_none()
    {
        companion(name, rest)?;
    }
    for word in path {
        let is_shown = known.iter().try_fold(&plain, |it, word| it.find_subcommand(word));
        let is_shown = is_shown.and_then(|it| it.find_subcommand(word));
        known.push(*word);
        let next = found.find_subcommand_mut(word);
        let Some(next) = next.filter(|_| is_shown.is_some_and(|it| !it.is_hide_set())) else {
            let message = format!("no command or topic '{}'", path.join(" "));
            return Err(Report::new(Code::Usage, message)
                .hint("`millpond help` lists them")
                .into());
        };
        found = next;
    }
    printer.raw(found.render_long_help().to_string().as_bytes())
}

/// Has a companion print its own help, in place of this process. Comes back if there is none.
fn companion(name: &str, rest: &[&str]) -> Outcome {
    let words = [&["millpond", name], rest, &["--help"]].concat();
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let Some(call) = Call::of(&words) else { return Ok(()) };
    match companion::find(&call.name).map_err(Report::from)? {
        Some(found) => Err(call.run(&found)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_every_code() {
        let text = exit_codes();
        for row in exit::table() {
            assert!(text.contains(row.name) && text.contains(row.meaning));
        }
    }
}
