//! `millpond events`.

use std::time::Duration;

use millpond::{Event, EventKind};
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::args::{EventsArgs, Global};
use crate::error::{CommandError, Outcome};
use crate::json::EventJson;
use crate::printer::{Printer, Tone};
use crate::shown::printable;
use crate::{pond, units, users};

/// How often somebody looks whether anybody reads what is printed.
const LOOK: Duration = Duration::from_secs(1);

/// Prints what has happened, and what happens.
pub fn run(args: &EventsArgs, global: &Global, printer: &Printer) -> Outcome {
    let mut events = pond::connect(global)?.events(args.from.unwrap_or(1))?;
    let kept = events.kept()?;
    // Whoever does not say from where on misses nothing.
    let expected = |event: &Event| event.kind == EventKind::Gap && args.from.is_none();
    let skip = usize::from(kept.first().is_some_and(expected));
    for event in &kept[skip..] {
        print(event, printer)?;
    }
    if !args.follow {
        return Ok(());
    }
    loop {
        match events.next_timeout(LOOK)? {
            Some(event) => print(&event, printer)?,
            None if nobody_reads() => return Err(CommandError::Closed),
            None => {}
        }
    }
}

/// Prints one event.
pub fn print(event: &Event, printer: &Printer) -> Outcome {
    if printer.is_json() {
        return printer.json_line(&EventJson::from(event));
    }
    let tone = match event.kind {
        EventKind::Gap
        | EventKind::LimitReached
        | EventKind::MoverLost
        | EventKind::GroupOver
        | EventKind::GroupLying
        | EventKind::GroupStuck => Tone::Careful,
        _ => Tone::Bold,
    };
    let time = printer.paint(Tone::Dim, units::moment(event.unix_ms));
    let kind = printer.paint(tone, format_args!("{:<16}", event.kind.name()));
    printer.line(format_args!("{time}  {kind}  {}", words(event)).to_string().trim_end())
}

/// To what, by whom, and why.
fn words(event: &Event) -> String {
    let name = event.name.as_ref().map(ToString::to_string);
    let tensor = name.or_else(|| event.tensor.map(|id| id.to_string()));
    let user = event.user.map(|user| format!("({})", users::name(user)));
    let text = Some(event.text.clone()).filter(|text| !text.is_empty());
    let words: Vec<String> = [tensor, user, text].into_iter().flatten().collect();
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
    use super::*;

    #[test]
    fn an_event_says_to_what_and_why() {
        let event = Event {
            sequence: 7,
            unix_ms: 0,
            kind: EventKind::TensorDeleted,
            tensor: None,
            name: Some("acts/x".parse().unwrap()),
            user: Some(4_000_000_000),
            text: "its time was over".into(),
        };
        assert_eq!(words(&event), "acts/x  (4000000000)  its time was over");
        let hostile = Event { text: "x\u{1b}[2J\n".into(), ..event.clone() };
        assert_eq!(words(&hostile), "acts/x  (4000000000)  x\\u{1b}[2J\\n");
        let bare = Event { name: None, user: None, text: String::new(), ..event };
        assert_eq!(words(&bare), "");
    }
}
