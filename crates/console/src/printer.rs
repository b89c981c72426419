//! The one place that prints: data to standard output, everything else to standard error.
//!
//! A closed pipe is not an error: `millpond tensor ls | head -1` has what it wants. `println!`
//! would panic there, so it is forbidden in this program and every line goes through here.

use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use millpond_view::{self as view, units};
use serde::Serialize;

use crate::args::{ColorChoice, Global};
use crate::error::{CommandError, Outcome, Report};
use crate::exit::Code;
use crate::json;
use crate::table::Table;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Bold,
    Good,
    Careful,
    Bad,
    /// Less important than the rest.
    Dim,
    Hint,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Tone::Bold => "1",
            Tone::Good => "32",
            Tone::Careful => "33",
            Tone::Bad => "1;31",
            Tone::Dim => "2",
            Tone::Hint => "36",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Printer {
    color_stdout: bool,
    color_stderr: bool,
    unicode: bool,
    quiet: bool,
    verbose: bool,
    json: bool,
    /// Where lines go instead of standard output, for what is drawn anew again and again.
    frame: Option<Arc<Mutex<String>>>,
}

fn locked(frame: &Mutex<String>) -> std::sync::MutexGuard<'_, String> {
    frame.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Printer {
    /// For a parsed command line; `json` says that data and errors are wanted as JSON.
    pub fn new(global: &Global, json: bool) -> Self {
        let wanted = |is_terminal: bool| match global.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_terminal && !variable_is_set("NO_COLOR"),
        };
        let stdout_is_terminal = io::stdout().is_terminal();
        Self {
            color_stdout: wanted(stdout_is_terminal) && !json,
            color_stderr: wanted(io::stderr().is_terminal()) && !json,
            unicode: stdout_is_terminal && locale_is_utf8(),
            quiet: global.quiet,
            verbose: global.verbose > 0,
            json,
            frame: None,
        }
    }

    /// For errors before there is a command line: no colour.
    pub fn plain(json: bool) -> Self {
        Self {
            color_stdout: false,
            color_stderr: false,
            unicode: false,
            quiet: false,
            verbose: false,
            json,
            frame: None,
        }
    }

    /// Whether JSON is wanted.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Whether only the bare answer is wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether more than the ASCII characters can be shown.
    pub fn is_unicode(&self) -> bool {
        self.unicode
    }

    /// The same printer, with its lines kept for [`Printer::frame`]; JSON is one line there.
    pub fn framed(&self) -> Self {
        Self { frame: Some(Arc::default()), ..self.clone() }
    }

    /// The lines that were kept, without a line end at the end.
    pub fn frame(&self) -> String {
        let kept = self
            .frame
            .as_ref()
            .map(|frame| std::mem::take(&mut *locked(frame)))
            .unwrap_or_default();
        kept.trim_end_matches('\n').to_owned()
    }

    /// How many columns a line may have: those of the terminal, or what `COLUMNS` says. Lines that
    /// go to a file or a pipe are as long as they need to be.
    pub fn width(&self) -> Option<usize> {
        let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        said.filter(|columns| *columns > 0).or_else(|| Some(terminal_size()?.0))
    }

    /// One line, or several, of data.
    pub fn line(&self, text: impl Display) -> Outcome {
        match &self.frame {
            Some(frame) => {
                let mut frame = locked(frame);
                frame.push_str(&text.to_string());
                frame.push('\n');
                Ok(())
            }
            None => write_stdout(format_args!("{text}\n")),
        }
    }

    /// A table that fits the terminal.
    pub fn table(&self, table: &Table) -> Outcome {
        match self.width() {
            Some(width) => self.line(table.render_within(width)),
            None => self.line(table.render()),
        }
    }

    /// A text behind a label, in lines that fit the terminal and begin under each other. `indent`
    /// is how wide the label is, which may have colour.
    pub fn hanging(&self, label: &str, indent: usize, text: &str, tone: Option<Tone>) -> Outcome {
        let lines = match self.width() {
            Some(width) => crate::shown::wrap(text, width.saturating_sub(indent)),
            None => vec![text.to_owned()],
        };
        for (index, line) in lines.iter().enumerate() {
            let line = tone.map_or_else(|| line.clone(), |tone| self.paint(tone, line));
            if index == 0 {
                self.line(format_args!("{label}{line}").to_string().trim_end())?;
            } else {
                self.line(format_args!("{}{line}", " ".repeat(indent)))?;
            }
        }
        Ok(())
    }

    /// Data as it is, without a line end.
    pub fn raw(&self, bytes: &[u8]) -> Outcome {
        let mut stdout = io::stdout().lock();
        closed(stdout.write_all(bytes).and_then(|()| stdout.flush()))
    }

    pub fn json(&self, value: &impl Serialize) -> Outcome {
        if self.frame.is_some() {
            return self.json_line(value);
        }
        let text =
            json::pretty(value).map_err(|error| crate::error::failed("writing JSON", error))?;
        self.line(text)
    }

    /// One line of JSON, for what goes on and on.
    pub fn json_line(&self, value: &impl Serialize) -> Outcome {
        let text =
            json::compact(value).map_err(|error| crate::error::failed("writing JSON", error))?;
        self.line(text)
    }

    /// Whether people look at how something goes on.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && !self.json && io::stderr().is_terminal()
    }

    /// A remark; not with `--quiet`, and part of the picture where one is drawn.
    pub fn note(&self, text: impl Display) {
        if self.quiet {
            return;
        }
        if self.frame.is_some() && !self.json {
            let _ = self.line(text);
        } else {
            write_stderr(format_args!("{text}\n"));
        }
    }

    /// A remark that only `--verbose` shows.
    pub fn detail(&self, text: impl Display) {
        if self.verbose {
            write_stderr(format_args!("{text}\n"));
        }
    }

    /// What belongs to a question that follows.
    pub fn aside(&self, text: impl Display) {
        if can_ask() {
            write_stderr(format_args!("{text}\n"));
        }
    }

    /// Asks a person; `None` where there is nobody to ask.
    pub fn confirm(&self, question: impl Display) -> Option<bool> {
        if !can_ask() {
            return None;
        }
        let title = self.paint_if(self.color_stderr, Tone::Careful, question);
        write_stderr(format_args!("{title} [y/N] "));
        let mut answer = String::new();
        // No answer is no.
        let _ = io::stdin().lock().take(ANSWER_BYTES).read_line(&mut answer);
        Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// What another process said about its error, as it said it.
    pub fn error_text(&self, text: &str) {
        write_stderr(format_args!("{}\n", harmless(text.trim_end())));
    }

    /// An error, its similar names and its hint, as text or JSON, on standard error.
    pub fn error(&self, report: &Report) {
        let report = &without_numbers(report);
        if self.json {
            let (kind, number) = (report.code.name(), report.code.number());
            let failed = view::Failed::new(kind, number, &report.failure);
            let text = json::compact(&failed).unwrap_or_default();
            write_stderr(format_args!("{text}\n"));
            return;
        }
        let title = self.paint_if(self.color_stderr, Tone::Bad, "error");
        write_stderr(format_args!("{title}: {}\n", harmless(&report.failure.message)));
        let hint = report.failure.hint.as_deref().unwrap_or_default();
        // Not what the hint says anyway.
        let news = |name: &&String| !hint.contains(&format!("'{name}'"));
        for name in report.failure.similar.iter().filter(news) {
            write_stderr(format_args!("  similar: {}\n", crate::shown::printable(name)));
        }
        for holder in &report.failure.holders {
            let size = units::bytes(holder.bytes);
            let user = crate::users::name(holder.user);
            let tensors = units::count(u64::from(holder.tensors), "tensor");
            let place = match (&holder.cache, holder.pid) {
                (Some(cache), _) => format!("{size} in cache {}", harmless(cache)),
                (None, Some(pid)) => format!("process {pid}"),
                (None, None) => format!("{size} in {tensors}"),
            };
            write_stderr(format_args!("  held by {user}: {place}\n"));
        }
        if let Some(hint) = &report.failure.hint {
            let title = self.paint_if(self.color_stderr, Tone::Hint, "hint");
            write_stderr(format_args!("\n{title}: {}\n", harmless(hint)));
        }
    }

    /// Text in colour, where standard output shows colour.
    pub fn paint(&self, tone: Tone, text: impl Display) -> String {
        self.paint_if(self.color_stdout, tone, text)
    }

    #[expect(clippy::unused_self, reason = "reads as one family with `paint`")]
    fn paint_if(&self, color: bool, tone: Tone, text: impl Display) -> String {
        if color { format!("\x1b[{}m{text}\x1b[0m", tone.code()) } else { text.to_string() }
    }
}

/// Prints what is left to say and gives the exit code.
pub fn finish(printer: &Printer, outcome: Outcome) -> Code {
    if let Err(CommandError::Failed(report)) = &outcome {
        printer.error(report);
    }
    code(&outcome)
}

/// The exit code alone.
pub fn code(outcome: &Outcome) -> Code {
    match outcome {
        Ok(()) | Err(CommandError::Closed) => Code::Ok,
        Err(CommandError::Said(code)) => *code,
        Err(CommandError::Failed(report)) => report.code,
    }
}

/// The system's number of an error means nothing to most people, and its words say the same.
fn without_numbers(report: &Report) -> Report {
    let mut report = report.clone();
    let message = &mut report.failure.message;
    while let Some(begin) = message.find(" (os error ") {
        let Some(end) = message[begin..].find(')') else { break };
        message.replace_range(begin..=begin + end, "");
    }
    report
}

/// An answer is a word.
const ANSWER_BYTES: u64 = 64;

/// Whether a person reads what is asked and can answer.
fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What others may have had a part in, line by line.
fn harmless(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(crate::shown::printable).collect();
    lines.join("\n")
}

/// Columns and rows of the terminal behind standard output.
pub fn terminal_size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    let (columns, rows) = (usize::from(size.ws_col), usize::from(size.ws_row));
    (columns > 0 && rows > 0).then_some((columns, rows))
}

fn write_stdout(text: std::fmt::Arguments<'_>) -> Outcome {
    closed(io::stdout().lock().write_fmt(text))
}

/// Nobody can be told that standard error is gone.
pub(crate) fn write_stderr(text: std::fmt::Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}

fn closed(result: io::Result<()>) -> Outcome {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CommandError::Closed),
        Err(error) => Err(crate::error::failed("writing to standard output", error)),
    }
}

fn variable_is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn locale_is_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(|name| variable_is_set(name));
    locale.and_then(|name| std::env::var(name).ok()).is_some_and(|value| is_utf8(&value))
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.ends_with("utf-8") || locale.ends_with("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_success_and_another_error_is_not() {
        let broken = closed(Err(io::Error::from(io::ErrorKind::BrokenPipe)));
        assert_eq!(finish(&Printer::plain(false), broken), Code::Ok);
        let full = closed(Err(io::Error::from(io::ErrorKind::StorageFull)));
        assert!(matches!(full, Err(CommandError::Failed(_))));
    }

    #[test]
    fn people_are_told_words_not_numbers_of_the_system() {
        let error = io::Error::from_raw_os_error(2);
        let report =
            Report::new(Code::Failed, format!("reading 'x': {error}; so not 'y': {error}"));
        let said = without_numbers(&report).failure.message;
        assert_eq!(
            said,
            "reading 'x': No such file or directory; so not 'y': No such file or directory"
        );
    }

    #[test]
    fn colour_only_where_it_is_wanted() {
        let mut printer = Printer::plain(false);
        assert_eq!(printer.paint(Tone::Good, "x"), "x");
        printer.color_stdout = true;
        assert_eq!(printer.paint(Tone::Good, "x"), "\x1b[32mx\x1b[0m");
    }

    #[test]
    fn locales() {
        assert!(is_utf8("en_US.UTF-8") && is_utf8("C.utf8"));
        assert!(!is_utf8("C") && !is_utf8("POSIX"));
    }
}
