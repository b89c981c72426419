//! `millpond man`: pages from the same definition as the help.

use std::fs;
use std::path::Path;

use clap::builder::Resettable;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::args::{self, ManArgs};
use crate::error::{CommandError, Outcome, failed};
use crate::printer::Printer;
use crate::{env_vars, exit};

/// Prints the page of the whole, or writes a page for each command.
pub fn run(wanted: &ManArgs, printer: &Printer) -> Outcome {
    let mut root = args::definition();
    root.build();
    let Some(folder) = &wanted.dir else {
        return printer.raw(&page(&root, true)?);
    };
    fs::create_dir_all(folder)
        .map_err(|error| failed(format!("making '{}'", folder.display()), error))?;
    let pages = write_all(&root, "millpond", folder)?;
    printer.note(format_args!("wrote {pages} pages to `{}`", folder.display()));
    Ok(())
}

fn write_all(command: &clap::Command, name: &str, folder: &Path) -> Result<usize, CommandError> {
    let path = folder.join(format!("{name}.1"));
    fs::write(&path, page(command, name == "millpond")?)
        .map_err(|error| failed(format!("writing '{}'", path.display()), error))?;
    let mut pages = 1;
    for child in command.get_subcommands().filter(|child| !child.is_hide_set()) {
        pages += write_all(child, &format!("{name}-{}", child.get_name()), folder)?;
    }
    Ok(pages)
}

fn page(command: &clap::Command, whole: bool) -> Result<Vec<u8>, CommandError> {
    let text = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    // Sections of their own, not one that is called EXTRA.
    let command = command.clone().after_help(Resettable::Reset).after_long_help(Resettable::Reset);
    let mut page = Vec::new();
    let man = Man::new(command);
    man.render(&mut page)
        .and_then(|()| own_sections(&text, whole).to_writer(&mut page))
        .map_err(|error| failed("writing the man page", error))?;
    Ok(page)
}

/// What the generator of man pages has no section for.
fn own_sections(text: &str, whole: bool) -> Roff {
    let (remarks, examples) = match text.split_once("Examples:\n") {
        Some((remarks, examples)) => (remarks, examples),
        None => (text, ""),
    };
    // What follows the examples is prose again.
    let (examples, after) = examples.split_once("\n\n").unwrap_or((examples, ""));
    let mut roff = Roff::default();
    let parts = [remarks, after].map(str::trim);
    let paragraphs = parts.iter().flat_map(|part| part.split("\n\n"));
    let paragraphs: Vec<&str> = paragraphs.filter(|paragraph| !paragraph.is_empty()).collect();
    if !paragraphs.is_empty() {
        roff.control("SH", ["NOTES"]);
        for paragraph in paragraphs {
            roff.control("PP", []);
            roff.text([roman(paragraph)]);
        }
    }
    if !examples.is_empty() {
        roff.control("SH", ["EXAMPLES"]);
        roff.control("nf", []);
        for line in examples.lines() {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        roff.control("fi", []);
    }
    exit_status(&mut roff, whole);
    if whole {
        roff.control("SH", ["COMPANION PROGRAMS"]);
        roff.text([
            bold("millpond NAME"),
            roman(" runs the program "),
            bold("millpond-NAME"),
            roman(
                " where NAME is no command. It is looked for beside millpond, in \
                 ../libexec/millpond and in PATH.",
            ),
        ]);
        roff.control("SH", ["ENVIRONMENT"]);
        for (name, meaning) in env_vars::table() {
            roff.control("TP", []);
            roff.text([bold(name)]);
            roff.text([roman(meaning)]);
        }
    }
    roff
}

fn exit_status(roff: &mut Roff, whole: bool) {
    roff.control("SH", ["EXIT STATUS"]);
    if !whole {
        roff.text([
            roman("0 on success, otherwise the number of the error's kind: see "),
            bold("millpond"),
            roman("(1)."),
        ]);
        return;
    }
    for row in exit::table() {
        roff.control("TP", []);
        roff.text([bold(row.number.to_string()), roman(format!(" {}", row.name))]);
        roff.text([roman(row.meaning)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_its_examples_and_its_exit_status() {
        let root = args::definition();
        let mut commands: Vec<&clap::Command> = root.get_subcommands().collect();
        commands.retain(|command| !command.is_hide_set());
        for command in commands.into_iter().chain([&root]) {
            let page = String::from_utf8(page(command, false).unwrap()).unwrap();
            let name = command.get_name();
            assert!(!page.contains(".SH EXTRA"), "{name}");
            assert_eq!(page.matches(".SH \"EXIT STATUS\"").count(), 1, "{name}");
            let text = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            let has_examples = text.contains("Examples:\n");
            assert_eq!(page.contains(".SH EXAMPLES"), has_examples, "{name}: {page}");
            assert!(!page.contains("\nExamples:"), "{name}: {page}");
        }
    }

    #[test]
    fn remarks_are_notes_and_examples_stay_as_they_are() {
        let page = own_sections("One.\n\nTwo.\n\nExamples:\n  a  b\n  c\n\nSee x.", false);
        let page = page.to_roff();
        assert!(page.contains(".SH NOTES\n.PP\nOne.\n.PP\nTwo.\n.PP\nSee x."), "{page}");
        assert!(page.contains(".SH EXAMPLES\n.nf\na  b\nc\n.fi"), "{page}");
        assert!(!own_sections("Examples:\n  a", false).to_roff().contains("NOTES"));
    }
}
