//! `millpond top`, a companion program of `millpond`: the pond on a full screen.
//!
//! The key decision: what is drawn is a function of a [`state::State`], and the state a function of keys,
//! pictures and times. So every key and every picture can be tried without a terminal and without a pond, at
//! any size. The rest is small: a thread that collects pictures, one that reads keys, and a loop.
//!
//! Refused: widgets that keep a state of their own; drawing at a fixed rate, because nobody looks most of
//! the time; and a library for terminals in the core program, which is why this is one of its own.

mod actions;
mod app;
mod details;
mod input;
mod keys;
mod layout;
mod once;
mod panes;
#[cfg(test)]
mod sample;
mod source;
mod state;
mod svg;
mod terminal;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use millpond_console::args::{ColorChoice, Global};
use millpond_console::companions::{self, TopArgs};
use millpond_console::error::{Outcome, Report, failed};
use millpond_console::exit::Code;
use millpond_console::printer::{self, Printer};
use millpond_console::{usage, users};

use crate::actions::Refusal;
use crate::source::{Door, Way};
use crate::state::State;
use crate::view::look::{Colours, Look};

/// What to type for help.
const HELP: &str = "millpond help top";

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let (global, args) = match companions::parse::<TopArgs>("top", &words) {
        Ok(parsed) => parsed,
        Err(error) => return ExitCode::from(usage::print(&error, HELP).number()),
    };
    let printer = Printer::new(&global, args.json);
    let outcome = run(&args, &global, &printer);
    ExitCode::from(printer::finish(&printer, outcome).number())
}

fn run(args: &TopArgs, global: &Global, printer: &Printer) -> Outcome {
    let door = match (args.watch, args.own) {
        (true, _) => Door::Watch,
        (_, true) => Door::Own,
        _ => Door::Best,
    };
    let way = Way { folder: global.runtime_dir(), door };
    let refusal = if args.readonly {
        Some(Refusal::new("this is `top --readonly`: it changes nothing", "start `millpond top`"))
    } else if args.watch {
        let message = "this is `top --watch`: its connection is for watching and changes nothing";
        Some(Refusal::new(message, "start `millpond top`, which changes things through `sock`"))
    } else {
        None
    };
    let state = State::new((0, 0), users::me(), refusal);
    if args.once {
        let ascii = args.ascii || (args.svg.is_none() && !printer.is_unicode());
        let look = Look { ascii, ..Look::PLAIN };
        return once::run(&way, state, look, args.svg.as_deref(), printer);
    }
    if !terminal::is_there() {
        let message = "`millpond top` needs a terminal for its keys and its picture";
        let hint = "`millpond top --once` prints one picture anywhere";
        return Err(Report::new(Code::Usage, message).hint(hint).into());
    }
    let look = Look { ascii: args.ascii || !printer.is_unicode(), colours: colours(global) };
    app::run(way, args.interval, state, look).map_err(|error| failed("using the terminal", error))
}

/// How much colour there is, and is wanted.
fn colours(global: &Global) -> Colours {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_many =
        is_set("COLORTERM") || std::env::var("TERM").is_ok_and(|term| term.contains("256color"));
    let wanted = match global.color {
        ColorChoice::Always => {
            // crossterm looks at NO_COLOR by itself.
            ratatui::crossterm::style::force_color_output(true);
            true
        }
        ColorChoice::Never => false,
        ColorChoice::Auto => !is_set("NO_COLOR"),
    };
    match (wanted, has_many) {
        (false, _) => Colours::None,
        (true, true) => Colours::Many,
        (true, false) => Colours::Few,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        companions::alone::<TopArgs>("top").debug_assert();
    }
}
