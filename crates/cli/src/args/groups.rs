//! The commands in groups, as `millpond --help` lists them.

use std::fmt::Write;

use clap::Command;

use millpond_console::STYLES;
use millpond_console::companions::shipped;

/// Which commands belong together. A command that is in none of them is listed last.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Pond", &["serve", "stop", "status", "ps", "events", "logs", "upgrade"]),
    ("Tensors and models", &["ls", "rm", "mv", "tensor", "gc"]),
    ("Models", &["load", "models", "inspect", "swap", "rollback", "retire", "verify", "save"]),
    ("Limits", &["run", "group", "elastic", "coverage"]),
    ("Tools", &["demo", "doctor", "completions", "man", "version", "help"]),
];

/// Every visible command with what it does, under the headings.
pub fn listing(root: &Command) -> String {
    let visible: Vec<&Command> = root.get_subcommands().filter(|it| !it.is_hide_set()).collect();
    let width = visible.iter().map(|command| command.get_name().len()).max().unwrap_or(0);
    let (header, literal) = (STYLES.get_header(), STYLES.get_literal());
    let mut text = String::new();
    let mut part = |title: &str, commands: &[&Command]| {
        if commands.is_empty() {
            return;
        }
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for command in commands {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let name = command.get_name();
            let _ = writeln!(text, "  {literal}{name:<width$}{literal:#}  {about}");
        }
        text.push('\n');
    };
    for (title, names) in GROUPS {
        let named = |name: &&str| visible.iter().copied().find(|it| it.get_name() == *name);
        part(title, &names.iter().filter_map(named).collect::<Vec<_>>());
    }
    let is_in_none =
        |command: &&Command| GROUPS.iter().all(|(_, names)| !names.contains(&command.get_name()));
    part("Other", &visible.iter().copied().filter(is_in_none).collect::<Vec<_>>());
    text
}

/// The companion programs that were found, under a heading of their own.
pub fn companions(names: &[String]) -> String {
    let (header, literal) = (STYLES.get_header(), STYLES.get_literal());
    let mut text = String::new();
    if !names.is_empty() {
        let _ = writeln!(text, "{header}Companions:{header:#}");
    }
    let shipped = shipped();
    let about = |name: &str| {
        let known = shipped.iter().find(|command| command.get_name() == name);
        known.and_then(Command::get_about).map(ToString::to_string)
    };
    let width = names.iter().map(String::len).max().unwrap_or(0);
    for name in names {
        match about(name) {
            Some(about) => writeln!(text, "  {literal}{name:<width$}{literal:#}  {about}"),
            None => writeln!(text, "  {literal}{name}{literal:#}"),
        }
        .unwrap_or_default();
    }
    if !names.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_command_is_in_a_group_and_its_line_fits_a_terminal() {
        let mut root = Cli::command().styles(clap::builder::Styles::plain());
        root.build();
        let text = listing(&root);
        assert!(!text.contains("Other:"), "{text}");
        for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            let lines = text.lines().filter(|line| line.contains(&format!("  {name} ")));
            let plain = |line: &str| line.replace("\u{1b}[36m", "").replace("\u{1b}[0m", "");
            let lines: Vec<String> = lines.map(plain).collect();
            assert!(lines.len() <= 1, "{name}: {lines:?}");
        }
        for line in text.lines() {
            let plain = line.replace("\u{1b}[36m", "").replace("\u{1b}[0m", "");
            assert!(plain.chars().count() <= 80, "{plain}");
        }
    }
}
