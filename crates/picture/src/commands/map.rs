//! `millpond map`.

use millpond_console::args::Global;
use millpond_console::companions::MapArgs;
use millpond_console::error::{CommandError, Outcome, Report};
use millpond_console::exit::Code;
use millpond_console::printer::{Printer, terminal_size};
use millpond_overview::{Card, Collector, Options, Sees};
use millpond_view::units;
use millpond_wire::ErrorKind;
use serde::Serialize;

use super::output;
use crate::{map, text};

/// How wide a map is where nobody says how wide the terminal is.
const WIDTH: usize = 120;

/// `map --json`.
#[derive(Debug, Serialize)]
struct Map<'a> {
    at_unix_ms: u64,
    sees: Sees,
    cards: &'a [Card],
}

pub(super) fn run(args: &MapArgs, global: &Global, printer: &Printer) -> Outcome {
    let tensors = usize::try_from(args.tensors).unwrap_or(usize::MAX);
    let options = Options { tensors, readings: true, ..Options::default() };
    let folder = global.runtime_dir();
    let overview = Collector::connect(folder.as_deref(), "millpond map", options)?.collect()?;
    let cards = match &args.gpu {
        None => overview.cards,
        Some(text) => vec![one(&overview.cards, text)?.clone()],
    };
    if printer.is_json() {
        let (at_unix_ms, sees) = (overview.at_unix_ms, overview.sees);
        return printer.json(&Map { at_unix_ms, sees, cards: &cards });
    }
    if let Some(file) = &args.output {
        return output::write(file, &map(&cards), printer);
    }
    let width = printer.width().or(terminal_size().map(|(width, _)| width)).unwrap_or(WIDTH);
    for (place, card) in cards.iter().enumerate() {
        if place > 0 {
            printer.line("")?;
        }
        printer.line(text(card, width))?;
    }
    if overview.sees == Sees::Own {
        printer.note("note: only what is shared with you is shown by name");
    }
    Ok(())
}

/// The card that a person means.
pub(super) fn one<'a>(cards: &'a [Card], text: &str) -> Result<&'a Card, CommandError> {
    Card::find(cards, text).ok_or_else(|| {
        let count = u64::try_from(cards.len()).unwrap_or(u64::MAX);
        let message =
            format!("GPU '{text}' not found; the pond has {}", units::count(count, "GPU"));
        let hint = "`millpond status` lists them: `0`, `gpu0` or a UUID";
        Report::new(Code::Kind(ErrorKind::NoDevice), message).hint(hint).into()
    })
}
