//! A command line that was not understood, and help that was asked for.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use millpond_console::companions::shipped;
use millpond_console::usage::{self, wants_json};

use super::near_miss;
use crate::args::{self, Cli};
use crate::companion::{self, Call};
use crate::error::Report;
use crate::exit::Code;
use crate::printer::{self, Printer};

/// Runs the companion that the command line names, in place of this process, or says what was not
/// understood.
pub fn not_a_command(error: clap::Error, words: &[OsString]) -> Code {
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(call) = Call::of(words)
        && Cli::command().find_subcommand(&call.name).is_none()
    {
        match companion::find(&call.name) {
            Ok(Some(found)) => {
                return printer::finish(&Printer::plain(wants_json()), Err(call.run(&found)));
            }
            Ok(None) if shipped().iter().any(|command| command.get_name() == call.name) => {
                let report = companion::missing(&call.name);
                Printer::plain(wants_json()).error(&report);
                return report.code;
            }
            Ok(None) => {}
            Err(refusal) => {
                let report = Report::from(refusal);
                Printer::plain(wants_json()).error(&report);
                return report.code;
            }
        }
    }
    print(&tidy(error, words.iter().cloned()))
}

/// Prints what the parser says, or what helps more.
fn print(error: &clap::Error) -> Code {
    if error.use_stderr() && error.kind() == ErrorKind::MissingSubcommand {
        // The list of commands is of more use than the names that the parser knows.
        let words = std::env::args().skip(1);
        Printer::plain(false).note(help_of(words).trim_end());
        return Code::Usage;
    }
    if let Some(report) = near_miss(error, std::env::args().skip(1)) {
        Printer::plain(wants_json()).error(&report);
        return Code::Usage;
    }
    usage::print(error, &help_command(std::env::args().skip(1)))
}

/// What was meant by a word that other programs have as a command.
fn near_miss(error: &clap::Error, words: impl Iterator<Item = String>) -> Option<Report> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let words: Vec<String> = words.filter(|word| !word.starts_with('-')).collect();
    let hint = near_miss::hint(&words)?;
    Some(Report::new(Code::Usage, format!("unrecognized subcommand '{unknown}'")).hint(hint))
}

/// The same error as a person should see it: usage lines name no flag whose variable is set, and
/// nobody is pointed at commands that only Millpond starts. Companions are proposed like commands.
fn tidy(error: clap::Error, words: impl Iterator<Item = OsString>) -> clap::Error {
    if !error.use_stderr() {
        return error;
    }
    let unset = |arg: clap::Arg| arg.env(None);
    let companions = match error.kind() {
        ErrorKind::InvalidSubcommand => args::companions(),
        _ => Vec::new(),
    };
    let command = Cli::command()
        .subcommands(companions.into_iter().map(clap::Command::new))
        .mut_arg("runtime_dir", unset)
        .mut_subcommand("serve", |serve| serve.mut_arg("config", unset));
    let hidden: Vec<String> = command
        .get_subcommands()
        .filter(|command| command.is_hide_set())
        .map(|command| command.get_name().to_owned())
        .collect();
    let mut error = command.try_get_matches_from(words).err().unwrap_or(error);
    let kind = ContextKind::SuggestedSubcommand;
    if let Some(ContextValue::Strings(names)) = error.get(kind) {
        let names: Vec<String> =
            names.iter().filter(|name| !hidden.contains(name)).cloned().collect();
        match names.is_empty() {
            true => error.remove(kind),
            false => error.insert(kind, ContextValue::Strings(names)),
        };
    }
    error
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

/// What to type for the help of the command that these words lead to.
fn help_command(words: impl Iterator<Item = String>) -> String {
    let command = command_of(words.take_while(|word| word != "--"));
    let name = command.get_bin_name().unwrap_or("millpond");
    name.replacen("millpond", "millpond help", 1)
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
    fn nobody_is_pointed_at_what_only_millpond_starts() {
        let said = |word: &str| {
            let words = ["millpond", word];
            let error = Cli::try_parse_from(words).unwrap_err();
            tidy(error, words.iter().map(OsString::from)).to_string()
        };
        assert!(said("moverr").contains("'moverr'"));
        for (word, hidden) in
            [("moverr", "mover"), ("hosst", "host"), ("daemn", "daemon"), ("jenitor", "janitor")]
        {
            assert!(!said(word).contains(&format!("'{hidden}'")), "{}", said(word));
        }
        assert!(said("statuss").contains("'status'"), "{}", said("statuss"));
    }

    #[test]
    fn the_message_is_what_is_wrong_without_the_usage() {
        let error = Cli::try_parse_from(["millpond", "inspekt"]).unwrap_err();
        let said = usage::report(&error, &help_command(std::iter::empty())).failure;
        assert_eq!(said.message, "unrecognized subcommand 'inspekt'");
        assert_eq!(said.hint.as_deref(), Some("`millpond help` lists the commands"));
    }

    #[test]
    fn the_hint_is_the_help_of_the_command() {
        let line = ["millpond", "-q", "group", "set", "x", "--json", "--limit", "0"];
        let error = Cli::try_parse_from(line).unwrap_err();
        let words = line.iter().skip(1).map(|word| (*word).to_owned());
        let hint = usage::report(&error, &help_command(words)).failure.hint.unwrap();
        assert!(hint.starts_with("`millpond help group set` "), "{hint}");
    }
}
