//! The names of the panes, and the rows of the one on the screen.

use std::borrow::Cow;

use millpond_overview::Overview;
use millpond_view::units;
use ratatui::layout::Rect;

use super::canvas::{Canvas, Side, width};
use super::cards::shares;
use super::look::{Part, Tone};
use crate::layout::Layout;
use crate::panes::{Column, Pane, Thing, Value};
use crate::state::State;

/// Between two columns; the sign of the order stands there.
const GAP: u16 = 2;
/// Before the first column: the sign of the selected row.
const MARK: u16 = 2;
/// The bar of a cell that has one.
const BAR: u16 = 10;

/// The names of the panes, with how much each lists as far as there is room.
pub fn panes(canvas: &mut Canvas<'_>, state: &State, layout: &Layout) {
    let area = canvas.area();
    let counts = state.counts();
    let titles = |with_counts: bool| -> Vec<String> {
        let one = |(pane, count): (Pane, u64)| {
            let (number, title) = (pane.index() + 1, pane.title());
            match with_counts {
                true => format!("{number} {title} {}", units::thousands(count)),
                false => format!("{number} {title}"),
            }
        };
        Pane::ALL.into_iter().zip(counts).map(one).collect()
    };
    let fits = |titles: &[String]| {
        let all: u16 = titles.iter().map(|title| width(title) + 2).sum();
        all <= area.width
    };
    let titles = Some(titles(true)).filter(|all| fits(all)).unwrap_or_else(|| titles(false));
    let y = area.y + layout.panes_at;
    let mut x = area.x;
    for (pane, title) in Pane::ALL.into_iter().zip(titles) {
        let is_shown = pane == state.pane();
        let tone = if is_shown { Tone::Selected } else { Tone::Plain };
        // Without colours and weights, the shown one has brackets.
        let text = if is_shown { format!("[{title}]") } else { format!(" {title} ") };
        x = canvas.put(x, y, area.right().saturating_sub(x), &text, tone);
    }
}

/// The rows.
pub fn draw(canvas: &mut Canvas<'_>, state: &State, overview: &Overview, layout: &Layout) {
    let Some(list) = state.list() else { return };
    let area = canvas.area();
    let pane = state.pane();
    let (sorted, falls) = list.order();
    let columns = chosen(pane.columns(), sorted, area.width);
    titles(canvas, &columns, sorted, falls, area.y + layout.titles_at);
    let top = area.y + layout.list_at;
    let (page, cursor) = list.page(usize::from(layout.list_rows));
    for ((at, row), y) in page.iter().enumerate().zip(top..) {
        let Some(thing) = row.thing(pane, overview, state.events()) else { continue };
        let is_selected = at == cursor;
        if is_selected {
            canvas.put(area.x, y, 1, ">", Tone::Strong);
        }
        let mut x = area.x + MARK;
        for (_, column, width) in &columns {
            let value = (column.value)(thing, overview);
            cell(canvas, &value, state.now_unix_ms(), (x, y, *width), column.side, tone(&thing));
            x += width + GAP;
        }
        if is_selected {
            canvas.tint(Rect { y, height: 1, ..area }, Tone::Selected);
        }
    }
    if list.rows().is_empty() {
        nothing(canvas, state, top);
    }
}

/// What is said instead of rows.
fn nothing(canvas: &mut Canvas<'_>, state: &State, y: u16) {
    let area = canvas.area();
    let (text, hint) = if state.filter().is_empty() {
        let (text, hint) = state.pane().empty();
        (text.to_owned(), hint.to_owned())
    } else {
        let text = format!("nothing here has '{}' in its name", state.filter());
        (text, "Esc removes the filter".to_owned())
    };
    canvas.put(area.x + MARK, y, area.width - MARK, &text, Tone::Plain);
    canvas.put(area.x + MARK, y + 1, area.width - MARK, &hint, Tone::Faint);
}

fn titles(
    canvas: &mut Canvas<'_>,
    columns: &[(usize, &Column, u16)],
    sorted: usize,
    falls: bool,
    y: u16,
) {
    let area = canvas.area();
    let mut x = area.x + MARK;
    for (at, column, width) in columns {
        canvas.put_aside(x, y, *width, column.title, column.side, Tone::Faint);
        if *at == sorted {
            let behind = match column.side {
                Side::Left => x + super::width(column.title).min(*width),
                Side::Right => x + width,
            };
            let arrow = canvas.look().arrow(!falls);
            canvas.put(behind, y, 1, arrow, Tone::Strong);
        }
        x += width + GAP;
    }
}

/// The columns that fit, each with its place and its width. The first one gets what is left.
fn chosen(all: &'static [Column], sorted: usize, room: u16) -> Vec<(usize, &'static Column, u16)> {
    let mut columns: Vec<_> =
        all.iter().enumerate().map(|(at, column)| (at, column, column.width)).collect();
    let total = |columns: &[(usize, &Column, u16)]| {
        MARK + columns.iter().map(|(_, _, width)| width + GAP).sum::<u16>()
    };
    while total(&columns) > room && columns.len() > 1 {
        let rest = columns.iter().enumerate().skip(1);
        let least = rest.min_by_key(|(_, (at, column, _))| (*at == sorted, column.rank));
        let Some((place, _)) = least else { break };
        columns.remove(place);
    }
    let left = room.saturating_sub(total(&columns));
    if let Some((_, _, width)) = columns.first_mut() {
        *width += left;
    }
    columns
}

fn cell(
    canvas: &mut Canvas<'_>,
    value: &Value<'_>,
    now_unix_ms: u64,
    (x, y, room): (u16, u16, u16),
    side: Side,
    tone: Tone,
) {
    let text: Cow<'_, str> = value.shown(now_unix_ms);
    let Value::Bar { used, limit: Some(limit) } = value else {
        canvas.put_aside(x, y, room, &text, side, tone);
        return;
    };
    let is_full = u128::from(*used) * 10 >= u128::from(*limit) * 9;
    let [filled, _] = shares(&[*used, limit.saturating_sub(*used)], *limit, BAR);
    let tone = if is_full { Tone::Careful } else { Tone::Part(Part::Groups) };
    let look = *canvas.look();
    let (full, free) = if look.ascii { ("#", ".") } else { ("■", "·") };
    canvas.put(x, y, BAR, &full.repeat(usize::from(filled)), tone);
    let rest = BAR.saturating_sub(filled);
    canvas.put(x + filled, y, rest, &free.repeat(usize::from(rest)), Tone::Part(Part::Free));
    let at = x + BAR + 1;
    canvas.put_aside(at, y, room.saturating_sub(BAR + 1), &text, Side::Right, Tone::Plain);
}

/// What is worth a look.
fn tone(thing: &Thing<'_>) -> Tone {
    match thing {
        Thing::Version(_, Some(version)) if version.lost => Tone::Bad,
        Thing::Version(_, Some(version)) if version.current => Tone::Strong,
        Thing::Group(group, _) if group.broken || group.stuck || group.lying => Tone::Bad,
        Thing::Process(process) if process.silent => Tone::Careful,
        Thing::Cache(cache) if cache.wanted_bytes > 0 => Tone::Careful,
        _ => Tone::Plain,
    }
}
