//! GPUs to scale, and the memory of the pond, which belongs to no process.

use std::borrow::Cow;

use millpond_overview::{Card, Overview};
use millpond_view::units;

use super::canvas::{Canvas, Side};
use super::look::{Part, Tone};
use crate::layout::{Cards, Layout};

/// Columns of the numbers beside a bar.
const NUMBERS: u16 = 25;
/// Columns of a GPU's number before a bar.
const NUMBER: u16 = 8;

pub fn draw(canvas: &mut Canvas<'_>, overview: &Overview, layout: &Layout) {
    let area = canvas.area();
    let mut y = area.y + layout.cards_at;
    match layout.cards {
        Cards::Full => {
            for card in &overview.cards {
                full(canvas, card, y);
                y += 3;
            }
        }
        Cards::Rows { shown, left } => {
            for card in overview.cards.iter().take(usize::from(shown)) {
                row(canvas, card, y);
                y += 1;
            }
            if left > 0 {
                let more = units::count(u64::from(left), "GPU");
                let text = format!("and {more} more: a higher terminal shows them");
                canvas.put(area.x + 1, y, area.width - 1, &text, Tone::Faint);
            }
        }
    }
    pond(canvas, overview, area.y + layout.pond_at);
}

fn full(canvas: &mut Canvas<'_>, card: &Card, y: u16) {
    let area = canvas.area();
    let (x, room) = (area.x + 1, area.width - 2);
    let used = used(card);
    let numbers =
        format!("{} used, {} %", of(used, card.total_bytes), percent(used, card.total_bytes));
    canvas.put_aside(x, y, room, &numbers, Side::Right, Tone::Strong);
    let title = format!("GPU {}  {}{}", card.index, card.name, readings(card));
    let left = room.saturating_sub(super::width(&numbers) + 2);
    canvas.put(x, y, left, &title, Tone::Strong);
    bar(canvas, x, y + 1, room, card);
    let long = legend(canvas, card, false);
    let texts = if columns(&long) <= room { long } else { legend(canvas, card, true) };
    canvas.line(x, y + 2, room, texts);
}

type Texts = Vec<(Cow<'static, str>, Tone)>;

fn columns(texts: &Texts) -> u16 {
    texts.iter().map(|(text, _)| super::width(text)).fold(0, u16::saturating_add)
}

/// What the bar is made of; `tight` where the room is short.
fn legend(canvas: &Canvas<'_>, card: &Card, tight: bool) -> Texts {
    let mut texts: Texts = Vec::new();
    for (part, bytes) in Part::ALL.into_iter().zip(sums(card)).filter(|(_, bytes)| *bytes > 0) {
        let size = units::bytes(bytes);
        let text = match tight {
            true => format!(" {} {} ", part.word(), size.replace(' ', "").replace("iB", "")),
            false => format!(" {} {size}  ", part.word()),
        };
        texts.push((canvas.look().part(part).into(), Tone::Part(part)));
        texts.push((text.into(), Tone::Plain));
    }
    if card.excess_bytes > 0 {
        let excess = units::bytes(card.excess_bytes);
        texts.push((format!("books exceed the card by {excess}").into(), Tone::Careful));
    }
    texts
}

fn row(canvas: &mut Canvas<'_>, card: &Card, y: u16) {
    let area = canvas.area();
    let used = used(card);
    canvas.put(area.x + 1, y, NUMBER - 1, &format!("GPU {}", card.index), Tone::Strong);
    let width = area.width.saturating_sub(NUMBER + NUMBERS + 2);
    bar(canvas, area.x + NUMBER, y, width, card);
    let numbers =
        format!("{} {:>3} %", of(used, card.total_bytes), percent(used, card.total_bytes));
    let at = area.x + NUMBER + width + 1;
    canvas.put_aside(at, y, NUMBERS, &numbers, Side::Right, Tone::Plain);
}

/// The memory of the pond as a row of its own: no process has it.
fn pond(canvas: &mut Canvas<'_>, overview: &Overview, y: u16) {
    let area = canvas.area();
    let mut parts = [0u64; Part::ALL.len()];
    let mut slabs = 0u64;
    for card in &overview.cards {
        slabs = slabs.saturating_add(card.slab_bytes);
        for segment in card.segments.iter().filter(|segment| segment.kind.is_pond()) {
            add(&mut parts, Part::of(segment.kind), segment.bytes);
        }
    }
    let mut text = format!("{} of no process", units::bytes(slabs));
    let shown = Part::ALL.into_iter().zip(parts).filter(|(_, bytes)| *bytes > 0);
    let shown: Vec<String> =
        shown.map(|(part, bytes)| format!("{} {}", part.word(), units::bytes(bytes))).collect();
    if !shown.is_empty() {
        text = format!("{text}: {}", shown.join(", "));
    }
    let texts = [("Pond   ".into(), Tone::Strong), (text.into(), Tone::Plain)];
    canvas.line(area.x + 1, y, area.width - 2, texts);
}

fn used(card: &Card) -> u64 {
    card.used_bytes.unwrap_or_else(|| card.total_bytes.saturating_sub(card.free_bytes))
}

fn of(used: u64, total: u64) -> String {
    format!("{} of {}", units::bytes(used), units::bytes(total))
}

fn percent(part: u64, whole: u64) -> u128 {
    let whole = u128::from(whole);
    (u128::from(part) * 100 + whole / 2).checked_div(whole).unwrap_or(0)
}

fn readings(card: &Card) -> String {
    let Some(readings) = card.readings else { return String::new() };
    let mut text = String::new();
    if let Some(ratio) = readings.utilisation_ratio {
        text.push_str(&format!("  busy {:.0} %", ratio * 100.0));
    }
    if let Some(celsius) = readings.temperature_celsius {
        text.push_str(&format!("  {celsius:.0} C"));
    }
    if let Some(watts) = readings.power_watts {
        text.push_str(&format!("  {watts:.0} W"));
    }
    text
}

fn sums(card: &Card) -> [u64; Part::ALL.len()] {
    let mut parts = [0u64; Part::ALL.len()];
    for segment in &card.segments {
        add(&mut parts, Part::of(segment.kind), segment.bytes);
    }
    parts
}

fn add(parts: &mut [u64; Part::ALL.len()], part: Part, bytes: u64) {
    let at = Part::ALL.iter().position(|other| *other == part);
    if let Some(sum) = at.and_then(|at| parts.get_mut(at)) {
        *sum = sum.saturating_add(bytes);
    }
}

fn bar(canvas: &mut Canvas<'_>, x: u16, y: u16, width: u16, card: &Card) {
    let cells = shares(&sums(card), card.total_bytes, width);
    let mut at = x;
    for (part, count) in Part::ALL.into_iter().zip(cells) {
        let text = canvas.look().part(part).repeat(usize::from(count));
        canvas.put(at, y, count, &text, Tone::Part(part));
        at += count;
    }
}

/// So many columns for each part: what is there at all has one, and the largest pays for that.
pub fn shares<const N: usize>(parts: &[u64; N], total: u64, width: u16) -> [u16; N] {
    let total = u128::from(total.max(1)).max(parts.iter().map(|part| u128::from(*part)).sum());
    let mut cells = [0u16; N];
    let mut sum = 0u128;
    let mut end = 0u16;
    for (cell, part) in cells.iter_mut().zip(parts) {
        // Cut where the sum is, so that errors of rounding do not add up.
        sum += u128::from(*part);
        let next = (sum * u128::from(width) + total / 2) / total;
        let next = u16::try_from(next).unwrap_or(width).min(width);
        *cell = next - end;
        end = next;
    }
    for at in 0..N {
        if parts.get(at).is_none_or(|part| *part == 0) || cells.get(at).is_none_or(|cell| *cell > 0)
        {
            continue;
        }
        let largest = (0..N).max_by_key(|at| cells.get(*at).copied()).unwrap_or(0);
        if let Some(cell) = cells.get_mut(largest).filter(|cell| **cell > 1) {
            *cell -= 1;
            if let Some(own) = cells.get_mut(at) {
                *own += 1;
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bar_is_to_scale_and_hides_nothing() {
        assert_eq!(shares(&[50, 25, 25], 100, 20), [10, 5, 5]);
        assert_eq!(shares(&[1, 999, 0], 1000, 10), [1, 9, 0]);
        assert_eq!(shares(&[0, 0, 0], 0, 10), [0, 0, 0]);
        assert_eq!(shares(&[1, 1, 1], 3, 2), [1, 0, 1], "more parts than columns");
    }

    proptest! {
        #[test]
        fn a_bar_is_as_wide_as_its_room_at_most(parts: [u64; 5], total: u64, width in 0u16..500) {
            let cells = shares(&parts, total, width);
            prop_assert!(cells.iter().map(|cell| u32::from(*cell)).sum::<u32>() <= u32::from(width));
        }
    }
}
