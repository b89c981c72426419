//! `millpond man`: pages from the same definition as the help.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::args::{Cli, ManArgs};
use crate::error::{CommandError, Outcome, failed};
use crate::printer::Printer;
use crate::{env_vars, exit};

/// Prints the page of the whole, or writes a page for each command.
pub fn run(args: &ManArgs, printer: &Printer) -> Outcome {
    let mut root = Cli::command();
    root.build();
    let Some(folder) = &args.dir else {
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
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    let rendered = man.render(&mut page).and_then(|()| {
        let extra = if whole { extra_sections() } else { Roff::default() };
        extra.to_writer(&mut page)
    });
    rendered.map_err(|error| failed("writing the man page", error))?;
    Ok(page)
}

/// What the definition of the command line does not hold.
fn extra_sections() -> Roff {
    let mut roff = Roff::default();
    roff.control("SH", ["EXIT STATUS"]);
    for row in exit::table() {
        roff.control("TP", []);
        roff.text([bold(row.number.to_string()), roman(format!(" {}", row.name))]);
        roff.text([roman(row.meaning)]);
    }
    roff.control("SH", ["ENVIRONMENT"]);
    for (name, meaning) in env_vars::table() {
        roff.control("TP", []);
        roff.text([bold(name)]);
        roff.text([roman(meaning)]);
    }
    roff
}
