//! A command line that was not understood, and help that was asked for.

use clap::error::ErrorKind;

use crate::error::Report;
use crate::exit::Code;
use crate::printer::Printer;

/// Prints what the parser says: help to standard output, an error to standard error, as JSON
/// where the command line has `--json`.
pub fn print(error: &clap::Error) -> Code {
    if !error.use_stderr() {
        let printed = error.print();
        // A closed pipe is success, as everywhere.
        return match printed {
            Err(broken) if broken.kind() != std::io::ErrorKind::BrokenPipe => Code::Failed,
            _ => Code::Ok,
        };
    }
    if error.kind() == ErrorKind::MissingSubcommand {
        // The list of commands is of more use than the names that the parser knows.
        let words = std::env::args().skip(1);
        Printer::plain(false).note(help_of(words).trim_end());
        return Code::Usage;
    }
    if wants_json() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        Printer::plain(true).error(&report(error, std::env::args().skip(1)));
    } else {
        // Nobody can be told that standard error is gone.
        let _ = error.print();
    }
    Code::Usage
}

/// The help of the command that these words lead to, as far as they do.
fn help_of(words: impl Iterator<Item = String>) -> String {
    command_of(words).render_help().to_string()
}

fn command_of(words: impl Iterator<Item = String>) -> clap::Command {
    let mut root = crate::args::command();
    root.build();
    words.fold(&root, |found, word| found.find_subcommand(&word).unwrap_or(found)).clone()
}

fn wants_json() -> bool {
    let mut words = std::env::args_os().skip(1).take_while(|word| word != "--");
    words.any(|word| word == "--json")
}

/// The first paragraph is what is wrong; the rest is usage.
fn report(error: &clap::Error, words: impl Iterator<Item = String>) -> Report {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first).trim();
    let command = command_of(words.take_while(|word| word != "--"));
    let name = command.get_bin_name().unwrap_or("millpond");
    let help = name.replacen("millpond", "millpond help", 1);
    Report::new(Code::Usage, message).hint(format!("`{help}` lists what there is"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn help_is_that_of_the_command_that_lacks_another() {
        let help = |line: &str| help_of(line.split(' ').map(str::to_owned));
        assert!(help("tensor").contains("Usage: millpond tensor [OPTIONS] <COMMAND>"));
        assert!(help("-q --runtime-dir /x group").contains("Usage: millpond group "));
        assert!(help("-q").contains("Usage: millpond [OPTIONS] <COMMAND>"));
    }

    #[test]
    fn the_message_is_what_is_wrong_without_the_usage() {
        let error = crate::args::Cli::try_parse_from(["millpond", "inspekt"]).unwrap_err();
        let said = report(&error, std::iter::empty()).failure;
        assert_eq!(said.message, "unrecognized subcommand 'inspekt'");
        assert_eq!(said.hint.as_deref(), Some("`millpond help` lists what there is"));
    }

    #[test]
    fn the_hint_is_the_help_of_the_command() {
        let line = ["millpond", "-q", "group", "set", "x", "--json", "--limit", "0"];
        let error = crate::args::Cli::try_parse_from(line).unwrap_err();
        let words = line.iter().skip(1).map(|word| (*word).to_owned());
        let hint = report(&error, words).failure.hint.unwrap();
        assert!(hint.starts_with("`millpond help group set` "), "{hint}");
    }
}
