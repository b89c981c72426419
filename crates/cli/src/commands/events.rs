//! `millpond events`.

use std::time::Duration;

use millpond::{Event, EventKind};
use millpond_view as view;
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::args::{EventsArgs, Global};
use crate::error::{CommandError, Outcome};
use crate::printer::{Printer, Tone};
use crate::shown::printable;
use crate::table::cut_to;
use crate::{moment, pond, users};

/// How often somebody looks whether anybody reads what is printed.
const LOOK: Duration = Duration::from_secs(1);

/// Columns before the words of an event.
const INDENT: usize = "2026-11-15 03:59:00  tensor_published  ".len();

/// A name is not cut below this.
const LEAST_COLUMNS: usize = 20;

/// Prints what has happened, and what happens.
pub fn run(args: &EventsArgs, global: &Global, printer: &Printer) -> Outcome {
    let mut events = pond::connect(global)?.events(args.from.unwrap_or(1))?;
    let kept = events.kept()?;
    // Without a number to begin at, nothing is missing.
    let expected = |event: &Event| event.kind == EventKind::Gap && args.from.is_none();
    let skip = usize::from(kept.first().is_some_and(expected));
    let print = |event: &Event| match is_wanted(event, args) {
        true => print(event, args.no_trunc, printer),
        false => Ok(()),
    };
    kept.iter().skip(skip).try_for_each(print)?;
    if !args.follow {
        return Ok(());
    }
    loop {
        match events.next_timeout(LOOK)? {
            Some(event) => print(&event)?,
            None if nobody_reads() => return Err(CommandError::Closed),
            None => {}
        }
    }
}

/// Whether the filters let it through. A gap always passes: what is missing may have been wanted.
fn is_wanted(event: &Event, args: &EventsArgs) -> bool {
    let is_kind = args.kind.is_empty() || args.kind.contains(&event.kind);
    let is_model = args.model.as_ref().is_none_or(|model| {
        is_of_models(event.kind) && event.name.as_ref().is_some_and(|name| name == model)
    });
    event.kind == EventKind::Gap || (is_kind && is_model)
}

fn is_of_models(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::VersionStaged
            | EventKind::VersionReady
            | EventKind::ModelSwapped
            | EventKind::VersionDraining
            | EventKind::VersionGone
    )
}

pub fn print(event: &Event, no_trunc: bool, printer: &Printer) -> Outcome {
    if printer.is_json() {
        return printer.json_line(&view::Event::from(event));
    }
    let tone = match event.kind {
        EventKind::Gap
        | EventKind::LimitReached
        | EventKind::MoverLost
        | EventKind::HostLost
        | EventKind::TensorOrphaned
        | EventKind::GroupOver
        | EventKind::GroupLying
        | EventKind::GroupStuck
        | EventKind::CacheEnded => Tone::Careful,
        _ => Tone::Bold,
    };
    let time = printer.paint(Tone::Dim, moment::plain(event.unix_ms));
    let kind = printer.paint(tone, format_args!("{:<16}", event.kind.name()));
    let label = format!("{time}  {kind}  ");
    let width = printer.width().filter(|_| !no_trunc);
    match width.map(|width| width.saturating_sub(INDENT).max(LEAST_COLUMNS)) {
        None => printer.line(format!("{label}{}", words(event, None)).trim_end()),
        Some(room) => printer.hanging(&label, INDENT, &words(event, Some(room)), None),
    }
}

/// To what, by whom, and why. A name takes no more than `room`, and an identity is short then.
fn words(event: &Event, room: Option<usize>) -> String {
    let name = event.name.as_ref().map(ToString::to_string);
    let name = name.map(|name| room.map_or(name.clone(), |room| cut_to(name, room)));
    let id = event.target.map(|id| id.to_string());
    let id = id.map(|id| if room.is_some() { id.chars().take(8).collect() } else { id });
    let user = event.user.map(|user| format!("({})", users::name(user)));
    let text = Some(event.text.clone()).filter(|text| !text.is_empty());
    let words: Vec<String> = [name.or(id), user, text].into_iter().flatten().collect();
    // A client's name for itself may be in it.
    printable(&words.join("  ")).into_owned()
}

/// Whether standard output is a pipe whose other end is closed.
pub fn nobody_reads() -> bool {
    let stdout = std::io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut fds, Some(&at_once)).is_ok()
        && fds[0].revents().contains(PollFlags::ERR)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn an_event_says_to_what_and_why() {
        let event = Event {
            sequence: 7,
            unix_ms: 0,
            kind: EventKind::TensorDeleted,
            target: None,
            name: Some("acts/x".parse().unwrap()),
            user: Some(4_000_000_000),
            text: "its time was over".into(),
        };
        assert_eq!(words(&event, Some(40)), "acts/x  (4000000000)  its time was over");
        let hostile = Event { text: "x\u{1b}[2J\n".into(), ..event.clone() };
        assert_eq!(words(&hostile, Some(40)), "acts/x  (4000000000)  x\\u{1b}[2J\\n");
        let bare = Event { name: None, user: None, text: String::new(), ..event };
        assert_eq!(words(&bare, None), "");
    }

    #[test]
    fn events_are_filtered_by_kind_and_model_and_a_gap_passes() {
        let args = |line: &str| match Cli::try_parse_from(line.split(' ')).unwrap().command {
            Command::Events(args) => args,
            other => panic!("{other:?}"),
        };
        let event = |kind, name: Option<&str>| Event {
            sequence: 7,
            unix_ms: 0,
            kind,
            target: None,
            name: name.map(|name| name.parse().unwrap()),
            user: None,
            text: String::new(),
        };
        let seen = [
            event(EventKind::Gap, None),
            event(EventKind::VersionReady, Some("llama")),
            event(EventKind::VersionReady, Some("other")),
            event(EventKind::TensorCreated, Some("llama")),
            event(EventKind::Recovered, None),
        ];
        let wanted = |line: &str| {
            let args = args(line);
            (0..seen.len()).filter(|index| is_wanted(&seen[*index], &args)).collect::<Vec<_>>()
        };
        assert_eq!(wanted("millpond events"), [0, 1, 2, 3, 4]);
        assert_eq!(wanted("millpond events --kind version_ready"), [0, 1, 2]);
        assert_eq!(wanted("millpond events --kind tensor_created,recovered"), [0, 3, 4]);
        assert_eq!(wanted("millpond events --model llama"), [0, 1], "not the tensor");
        assert_eq!(wanted("millpond events --model llama --kind recovered"), [0]);
        let wrong = Cli::try_parse_from(["millpond", "events", "--kind", "tensor_create"]);
        let said = wrong.unwrap_err().to_string();
        assert!(EventKind::ALL.iter().all(|kind| said.contains(kind.name())), "{said}");
        assert!(said.contains("similar value exists: 'tensor_created'"), "{said}");
    }
}
