//! How the help of the whole is laid out: commands in groups, then the companions that were found.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, Parser};

use millpond_console::companions::shipped;
use millpond_console::layout;

use super::{Cli, groups};
use crate::companion;

/// Reads a command line. `--json` may stand before the command, too.
///
/// # Errors
/// What the parser says, or the help that was asked for.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let words = json_behind_the_command(words.into_iter().collect());
    Cli::try_parse_from(&words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let laid_out = command().try_get_matches_from(&words);
            laid_out.err().unwrap_or(error)
        }
        _ => error,
    })
}

/// The definition with its help laid out.
pub fn command() -> Command {
    let mut root = Cli::command();
    root.build();
    let listing = groups::listing(&root) + &groups::companions(&companions());
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listing}{{all-args}}{{after-help}}"
    );
    let names: Vec<String> = root.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let mut root = layout::laid_out(Cli::command());
    for name in names {
        // Listed already, in their groups.
        root = root.mut_subcommand(name, |command| command.hide(true));
    }
    root.override_usage("millpond [OPTIONS] <COMMAND>").help_template(template)
}

/// All commands that people can type: those of this program, and those of companions that come with it.
pub fn definition() -> Command {
    Cli::command().subcommands(shipped())
}

/// The companions that are found and have not the name of a command.
pub fn companions() -> Vec<String> {
    let root = Cli::command();
    let mut names = companion::list();
    names.retain(|name| root.find_subcommand(name).is_none());
    names
}

/// Moves a `--json` that stands before the command to where the command has it.
fn json_behind_the_command(words: Vec<OsString>) -> Vec<OsString> {
    let root = Cli::command();
    let mut command = &root;
    let (mut before, mut flags) = (Vec::new(), Vec::new());
    let mut rest = words.into_iter().enumerate();
    while let Some((index, word)) = rest.next() {
        if word == "--json" {
            flags.push(word);
            continue;
        }
        let next = word.to_str().filter(|_| index > 0).and_then(|it| command.find_subcommand(it));
        let takes_value = companion::takes_value(&word);
        let is_flag = word.to_string_lossy().starts_with('-');
        before.push(word);
        if takes_value {
            before.extend(rest.next().map(|(_, value)| value));
        }
        match next {
            Some(next) if next.has_subcommands() => command = next,
            None if index == 0 || is_flag => {}
            // The last command, or something that is none.
            _ => break,
        }
    }
    before.extend(flags);
    before.extend(rest.map(|(_, word)| word));
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn json_may_stand_anywhere_where_a_command_has_it() {
        for line in [
            "millpond --json status",
            "millpond status --json",
            "millpond --color never --json tensor ls x",
            "millpond tensor --json ls",
            "millpond --runtime-dir status --json group ls",
        ] {
            assert!(parse(words(line)).unwrap().command.is_json(), "{line}");
        }
        for line in ["millpond --json serve", "millpond --json run -- true", "millpond --json"] {
            assert!(parse(words(line)).is_err(), "{line}");
        }
        let run = words("millpond run --limit 1G -- tool --json status");
        assert_eq!(json_behind_the_command(run.clone()), run, "the program's own");
    }

    /// The help of every command, as it is printed.
    fn helps() -> Vec<String> {
        fn all(command: &Command, path: &[String], found: &mut Vec<Vec<String>>) {
            let path = [path, &[command.get_name().to_owned()]].concat();
            for child in command.get_subcommands().filter(|child| child.get_name() != "help") {
                all(child, &path, found);
            }
            found.push(path);
        }
        let mut found = Vec::new();
        all(&Cli::command(), &[], &mut found);
        let help = |path: Vec<String>| {
            let line = path.into_iter().chain(["--help".to_owned()]).map(OsString::from);
            parse(line).unwrap_err().render().to_string()
        };
        found.into_iter().map(help).collect()
    }

    #[test]
    fn the_global_options_are_one_line_each_in_every_help() {
        for help in helps() {
            let lines: Vec<&str> = help.lines().collect();
            let start = lines.iter().position(|line| *line == "Global options:").unwrap();
            for (offset, flag) in
                ["--runtime-dir", "--verbose", "--quiet", "--color"].iter().enumerate()
            {
                let line = lines[start + 1 + offset];
                assert!(line.contains(flag) && line.chars().count() <= 80, "{line}\n{help}");
            }
            assert_eq!(help.matches("--runtime-dir <DIR>").count(), 1, "{help}");
        }
    }

    #[test]
    fn commands_are_listed_in_groups() {
        for line in ["millpond --help", "millpond -h"] {
            let help = parse(words(line)).unwrap_err().render().to_string();
            let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text} in {help}"));
            let both = at("\nTensors and models:\n  ls");
            assert!(at("\nPond:\n  serve") < both && both < at("\nModels:\n"));
            assert!(at("\nModels:\n") < at("\nLimits:\n"));
            assert!(at("\nLimits:\n") < at("\nTools:\n") && at("\nTools:\n") < at("\nOptions:\n"));
            assert!(
                help.contains("Usage: millpond [OPTIONS] <COMMAND>") && !help.contains("janitor")
            );
        }
    }
}
