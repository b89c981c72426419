//! How help is laid out, beyond what the definition says: one line for each of the global options, and
//! paragraphs that are wrapped as wide as the terminal is.

use clap::{Args, Command};

use crate::args::Global;

/// A command and those below it, with the global options before its remarks and examples.
pub fn laid_out(command: Command) -> Command {
    with_global(command, &global_options())
}

fn with_global(command: Command, global: &str) -> Command {
    let remarks = command.get_after_long_help().map(|text| unfolded(&text.ansi().to_string()));
    let text = [Some(global.to_owned()), remarks].into_iter().flatten().collect::<Vec<_>>();
    let command = command.after_long_help(text.join("\n\n"));
    command.mut_subcommands(|child| with_global(child, global))
}

/// The global options as `-h` shows them, one line each.
fn global_options() -> String {
    let command = Command::new("millpond").styles(crate::STYLES).disable_help_flag(true);
    let mut command = Global::augment_args(command).help_template("{all-args}");
    command.render_help().ansi().to_string().trim_end().to_owned()
}

/// Paragraphs without their line ends, so that they are wrapped where the terminal ends. What is
/// indented stays as it is.
fn unfolded(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut in_paragraph = false;
    for line in text.lines() {
        let is_prose = !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
        match lines.last_mut() {
            Some(last) if is_prose && in_paragraph => {
                last.push(' ');
                last.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
        in_paragraph = is_prose;
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_unfolded_and_examples_are_not() {
        let text = "One\ntwo.\n\nExamples:\n  a\n  b";
        assert_eq!(unfolded(text), "One two.\n\nExamples:\n  a\n  b");
    }
}
