//! The first line: which pond, and whether it answers; then what is wrong.

use millpond_overview::{Overview, Sees};
use millpond_view::units;
use ratatui::layout::Rect;

use super::canvas::{Canvas, Side, width};
use super::look::Tone;
use crate::layout::Layout;
use crate::panes::short_age;
use crate::state::{Contact, State};

/// Letters of a pond's identity that tell it from others of a machine.
const POND_LETTERS: usize = 8;

pub fn draw(canvas: &mut Canvas<'_>, state: &State) {
    let area = canvas.area();
    let right = standing(state);
    let room = area.width.saturating_sub(width(&right) + 3);
    canvas.tint(Rect { height: 1, ..area }, Tone::Band);
    let left = match state.overview() {
        Some(overview) => pond(overview, state, canvas.look().dot(), room),
        None => "millpond top".to_owned(),
    };
    canvas.put(area.x + 1, area.y, room, &left, Tone::Plain);
    canvas.put_aside(area.x, area.y, area.width - 1, &right, Side::Right, Tone::Strong);
}

/// As many facts as there is room for.
fn pond(overview: &Overview, state: &State, dot: &str, room: u16) -> String {
    let status = &overview.status;
    let pond: String = status.pond.to_string().chars().take(POND_LETTERS).collect();
    let up = short_age(state.now_unix_ms().saturating_sub(status.started_unix_ms));
    let driver = if status.software { "software driver" } else { "driver" };
    let version = status.driver.rsplit(' ').next().unwrap_or_default();
    let facts = [
        format!("pond {pond}"),
        format!("epoch {} up {up}", status.epoch),
        units::count(u64::from(status.clients), "client"),
        units::count(u64::from(status.leases), "lease"),
        format!("{driver} {version}"),
        format!("version {}", status.version),
    ];
    let mut text = "millpond".to_owned();
    for fact in facts {
        let longer = format!("{text}{dot}{fact}");
        if width(&longer) > room {
            break;
        }
        text = longer;
    }
    text
}

/// What the picture is: live, held, or the last one of a pond that is away.
fn standing(state: &State) -> String {
    let at = state.overview().map(|overview| overview.at_unix_ms);
    let age = at.map(|at| short_age(state.now_unix_ms().saturating_sub(at))).unwrap_or_default();
    match (state.contact(), at) {
        (Contact::Away { .. }, Some(_)) => format!("POND AWAY, picture {age} old"),
        (Contact::Away { .. }, None) => "NO POND".to_owned(),
        (Contact::Starting, _) => "connecting".to_owned(),
        (Contact::There, _) if state.is_paused() => format!("HELD for {age}"),
        (Contact::There, _) if state.is_old() => format!("picture {age} old"),
        (Contact::There, _) => {
            let sees = match state.overview().map(|overview| overview.sees) {
                Some(Sees::Own) => "own objects",
                _ => "all users",
            };
            if state.is_readonly() { format!("{sees}, read-only") } else { sees.to_owned() }
        }
    }
}

/// What is wrong, in as many lines as there is room for.
pub fn alerts(canvas: &mut Canvas<'_>, state: &State, layout: &Layout) {
    let area = canvas.area();
    let alerts = state.alerts();
    for (at, alert) in (0..layout.alerts).zip(&alerts) {
        let tone = if alert.bad { Tone::Bad } else { Tone::Careful };
        let left = alerts.len().saturating_sub(usize::from(layout.alerts));
        let is_last = at + 1 == layout.alerts;
        let text = match left {
            1.. if is_last => format!("! {} (and {left} more)", alert.text),
            _ => format!("! {}", alert.text),
        };
        canvas.put(area.x + 1, area.y + 1 + at, area.width - 1, &text, tone);
    }
}

/// Before there is a picture.
pub fn waiting(canvas: &mut Canvas<'_>, state: &State) {
    let area = canvas.area();
    let (text, hint) = match state.contact() {
        Contact::Away { reason, .. } => {
            (reason.as_str(), "`millpond serve` starts a pond; this waits for it")
        }
        _ => ("asking the pond", ""),
    };
    let mut y = area.y + 2;
    for line in millpond_console::shown::wrap(text, usize::from(area.width - 4)) {
        canvas.put(area.x + 2, y, area.width - 4, &line, Tone::Plain);
        y += 1;
    }
    canvas.put(area.x + 2, y + 1, area.width - 4, hint, Tone::Faint);
}
