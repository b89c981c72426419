//! The last line: the filter, what was done, or which keys there are.

use std::borrow::Cow;

use ratatui::layout::Rect;

use super::canvas::{Canvas, Side, width};
use super::look::Tone;
use crate::layout::Layout;
use crate::panes::Pane;
use crate::state::{Contact, Mode, State};

pub fn draw(canvas: &mut Canvas<'_>, state: &State, layout: &Layout) {
    let area = canvas.area();
    let y = area.y + layout.footer_at;
    let place = place(state);
    let room = area.width.saturating_sub(width(&place) + 3);
    canvas.put_aside(area.x, y, area.width - 1, &place, Side::Right, Tone::Faint);
    if matches!(state.mode(), Mode::Filter { .. }) {
        // The end of a long filter is where somebody writes.
        let shown: String = state.filter().chars().rev().take(usize::from(room / 2)).collect();
        let shown: String = shown.chars().rev().collect();
        let texts = [
            ("/".into(), Tone::Strong),
            (shown.into(), Tone::Plain),
            ("_".into(), Tone::Strong),
            ("  Enter keeps it, Esc undoes".into(), Tone::Faint),
        ];
        canvas.line(area.x + 1, y, room, texts);
    } else if let Some(notice) = state.notice() {
        let tone = if notice.good { Tone::Good } else { Tone::Bad };
        canvas.put(area.x + 1, y, room, &notice.text, tone);
    } else if let Contact::Away { reason, .. } = state.contact() {
        canvas.put(area.x + 1, y, room, reason, Tone::Bad);
    } else {
        hints(canvas, state, Rect { x: area.x + 1, y, width: room, height: 1 });
    }
}

/// The selected row's place among all, and the filter.
fn place(state: &State) -> String {
    let Some(list) = state.list() else { return String::new() };
    let (at, all) = list.place();
    let filter = match state.filter() {
        "" => String::new(),
        _ if matches!(state.mode(), Mode::Filter { .. }) => String::new(),
        filter => {
            let shown: String = filter.chars().take(16).collect();
            format!("filter {shown}  ")
        }
    };
    format!("{filter}{at}/{all}")
}

/// As many keys as there is room for.
fn hints(canvas: &mut Canvas<'_>, state: &State, area: Rect) {
    let mut hints = vec![("?", "help"), ("q", "quit"), ("/", "filter"), ("s", "sort")];
    match state.pane() {
        _ if state.is_readonly() => {}
        Pane::Models => hints.extend([("w", "swap"), ("r", "rollback"), ("x", "retire")]),
        Pane::Groups => hints.push(("L", "limit")),
        _ => {}
    }
    hints.extend([("Enter", "inspect"), ("Space", "hold")]);
    let mut x = area.x;
    for (key, does) in hints {
        let texts = [(Cow::Borrowed(key), Tone::Strong), (format!(" {does}").into(), Tone::Plain)];
        let wide = width(key) + 1 + width(does);
        if x + wide > area.right() {
            break;
        }
        x = canvas.line(x, area.y, wide, texts) + 2;
    }
}
