//! `--watch`: the same answer again and again, drawn in place.

use std::io::{IsTerminal, Read};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};

use super::events::nobody_reads;
use crate::args::Watch;
use crate::error::{CommandError, Outcome, failed};
use crate::printer::{self, Printer, Tone};
use crate::{moment, units};

/// Another screen without a cursor, so that what was on the terminal comes back afterwards.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// To the first line; the rest of a line; the rest of the screen.
const HOME: &str = "\x1b[H";
const REST_OF_LINE: &str = "\x1b[K";
const REST_OF_SCREEN: &str = "\x1b[J";

/// Held while a picture is drawn, and while the program is stopped: nothing is drawn over the shell.
static DRAWING: Mutex<()> = Mutex::new(());
/// How often a program that goes on in the background looks whether it is in front again.
const BACKGROUND: Duration = Duration::from_millis(100);

/// Prints once, or again and again where that was asked for.
///
/// An error of the first time ends it. Later ones are shown until they are over: a daemon that is
/// replaced, or a pond that is stopped and started again, does not end a watch.
pub fn run(watch: Watch, printer: &Printer, mut print: impl FnMut(&Printer) -> Outcome) -> Outcome {
    let Some(interval) = watch.interval() else { return print(printer) };
    let frame = printer.framed();
    print(&frame)?;
    let on_screen = std::io::stdout().is_terminal() && !printer.is_json();
    let _screen = on_screen.then(|| Screen::enter(printer)).transpose()?;
    loop {
        let text = frame.frame();
        if on_screen {
            draw(&text, interval, printer)?;
        } else {
            let gap = if printer.is_json() { "" } else { "\n" };
            printer.line(format_args!("{text}{gap}"))?;
        }
        // Back from being stopped it is drawn at once.
        thread::park_timeout(interval);
        if nobody_reads() {
            return Err(CommandError::Closed);
        }
        match print(&frame) {
            Ok(()) => {}
            Err(CommandError::Failed(report)) if printer.is_json() => {
                frame.frame();
                printer.error(&report);
            }
            Err(CommandError::Failed(report)) => {
                frame.frame();
                let title = printer.paint(Tone::Bad, "error");
                let message = crate::shown::printable(&report.failure.message).into_owned();
                frame.hanging(&format!("{title}: "), "error: ".len(), &message, None)?;
            }
            Err(other) => return Err(other),
        }
    }
}

/// One picture, no larger than the terminal.
fn draw(text: &str, interval: Duration, printer: &Printer) -> Outcome {
    let rows = printer::terminal_size().map_or(usize::MAX, |(_, rows)| rows);
    let every = units::span(u64::try_from(interval.as_millis()).unwrap_or(u64::MAX));
    let clock = moment::clock(units::now_unix_ms());
    let title = printer.paint(Tone::Dim, format_args!("{clock}, every {every}; Ctrl-C ends it"));
    let _drawing = DRAWING.lock().unwrap_or_else(PoisonError::into_inner);
    printer.raw(picture(&title, text, rows).as_bytes())
}

fn picture(title: &str, text: &str, rows: usize) -> String {
    let room = rows.saturating_sub(3);
    let lines: Vec<&str> = text.lines().collect();
    let (shown, left) = match lines.len() <= room {
        true => (lines.as_slice(), 0),
        false => {
            let (shown, left) = lines.split_at(room.saturating_sub(1).min(lines.len()));
            (shown, left.len())
        }
    };
    let mut picture = format!("{HOME}{title}{REST_OF_LINE}\n{REST_OF_LINE}\n");
    for line in shown {
        picture.push_str(line);
        picture.push_str(REST_OF_LINE);
        picture.push('\n');
    }
    if left > 0 {
        picture
            .push_str(&format!("... and {}{REST_OF_LINE}", units::count(left as u64, "more line")));
    }
    picture + REST_OF_SCREEN
}

/// The other screen; the first one is back when this is dropped, a signal ends the program, or Ctrl-Z
/// stops it.
struct Screen<'a>(&'a Printer);

impl<'a> Screen<'a> {
    fn enter(printer: &'a Printer) -> Result<Self, CommandError> {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            leave_on(signal).map_err(|error| failed("waiting for signals", error))?;
        }
        leave_while_stopped(thread::current())
            .map_err(|error| failed("waiting for signals", error))?;
        printer.raw(ENTER.as_bytes())?;
        Ok(Self(printer))
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        let _ = self.0.raw(LEAVE.as_bytes());
    }
}

fn leave_on(signal: i32) -> std::io::Result<()> {
    let (mut read, write) = std::io::pipe()?;
    signal_hook::low_level::pipe::register(signal, write)?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if read.read_exact(&mut [0]).is_ok() {
            let _ = Printer::plain(false).raw(LEAVE.as_bytes());
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

fn leave_while_stopped(drawer: Thread) -> std::io::Result<()> {
    let (mut read, write) = std::io::pipe()?;
    signal_hook::low_level::pipe::register(SIGTSTP, write)?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let printer = Printer::plain(false);
        while read.read_exact(&mut [0]).is_ok() {
            let _drawing = DRAWING.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = printer.raw(LEAVE.as_bytes());
            // Returns when the program goes on.
            let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
            while is_in_background() {
                thread::sleep(BACKGROUND);
            }
            let _ = printer.raw(ENTER.as_bytes());
            drawer.unpark();
        }
    })?;
    Ok(())
}

/// Whether the terminal belongs to other programs now.
fn is_in_background() -> bool {
    let in_front = rustix::termios::tcgetpgrp(std::io::stdout());
    in_front.is_ok_and(|group| group != rustix::process::getpgrp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_no_more_lines_than_the_terminal() {
        let text = (1..=10).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
        let picture = picture("title", &text, 8);
        assert!(picture.starts_with(HOME) && picture.ends_with(REST_OF_SCREEN));
        assert!(picture.contains("4\x1b[K\n... and 6 more lines"), "{picture:?}");
        assert!(picture.matches('\n').count() < 8);
        assert!(super::picture("title", &text, 80).contains("10\x1b[K\n"));
    }
}
