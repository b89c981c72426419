//! Pictures as they were accepted: `tests/golden/` has one file for each. A picture that is meant to be
//! another one is written there by `MILLPOND_TOP_GOLDEN=write cargo test -p millpond-top golden`, and read
//! before it is committed.

use std::path::Path;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::look::{Colours, Look};
use super::*;
use crate::actions::Refusal;
use crate::input::Key;
use crate::sample::{self, NOW};
use crate::state::tests::shown;
use crate::state::{Answer, Subject};
use crate::svg;

const PLAIN: Look = Look::PLAIN;
const ASCII: Look = Look { ascii: true, colours: Colours::None };

fn drawn(state: &State, size: (u16, u16), look: Look) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    draw(&mut buffer, state, look);
    buffer
}

fn golden(name: &str, is: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    compare(&file, is);
}

fn compare(file: &Path, is: &str) {
    if std::env::var_os("MILLPOND_TOP_GOLDEN").is_some() {
        std::fs::write(file, is).unwrap();
    }
    let was = std::fs::read_to_string(file).unwrap_or_default();
    assert!(was == is, "{} is not:\n{is}", file.display());
}

fn press(state: &mut State, keys: &str) {
    for key in keys.chars() {
        state.pressed(if key == '\n' { Key::Enter } else { Key::Char(key) });
    }
}

#[test]
fn golden_panes_at_three_sizes() {
    for (columns, rows) in [(80, 24), (120, 40), (40, 10)] {
        for (key, pane) in "123456".chars().zip(crate::panes::Pane::ALL) {
            if rows < 24 && key != '1' {
                continue;
            }
            let mut state = shown((columns, rows));
            state.pressed(Key::Char(key));
            let name = format!("{}-{columns}x{rows}.txt", pane.title().to_lowercase());
            golden(&name, &text(&drawn(&state, (columns, rows), PLAIN)));
        }
    }
}

#[test]
fn golden_in_ascii() {
    let mut state = shown((80, 24));
    press(&mut state, "3");
    let text = text(&drawn(&state, (80, 24), ASCII));
    assert!(text.is_ascii());
    golden("ascii-80x24.txt", &text);
}

#[test]
fn golden_questions_details_and_help() {
    let size = (80, 24);
    for (name, keys) in [
        ("swap", "2jjw"),
        ("retire", "2x"),
        ("current", "2jx"),
        ("limit", "3L20X\n"),
        ("help", "?"),
        ("filter", "/kv"),
        ("version", "2j\n"),
        ("group", "3\n"),
        ("cache", "4\n"),
        ("process", "5\n"),
        ("event", "6\n"),
    ] {
        let mut state = shown(size);
        press(&mut state, keys);
        golden(&format!("over-{name}.txt"), &text(&drawn(&state, size, PLAIN)));
    }
}

#[test]
fn golden_a_tensor_with_its_leases() {
    let mut state = shown((80, 40));
    let order = state.pressed(Key::Enter);
    let Some(crate::state::Order::Inspect(Some(subject))) = order else { panic!("{order:?}") };
    let lease = |pid| millpond_view::Lease {
        tensor: millpond_view::Text(
            "00000001-0000-4000-8000-000000000000".parse::<millpond::TensorId>().unwrap().into(),
        ),
        name: None,
        version: None,
        mode: millpond_view::Text(millpond::Mode::ReadOnly),
        bytes: 1,
        since_unix_ms: NOW - 90_000,
        client: None,
        pid: Some(pid),
        program: "serve.py".into(),
    };
    state.answered(&subject, Answer::Leases(vec![lease(4711), lease(4712)]));
    assert!(matches!(subject, Subject::Tensor(_)));
    golden("over-tensor.txt", &text(&drawn(&state, (80, 40), PLAIN)));
}

#[test]
fn golden_many_gpus_and_alerts() {
    for gpus in [4, 8, 64] {
        let mut state = State::new((80, 24), 1000, None);
        let mut overview = sample::overview(gpus, 40);
        overview.status.lost_tensors = 2;
        overview.groups[0].stuck = true;
        overview.cards[1].drift_bytes = Some(2 << 30);
        overview.status.silent_clients = 1;
        state.received(Arc::new(overview));
        golden(&format!("gpus-{gpus}.txt"), &text(&drawn(&state, (80, 24), PLAIN)));
    }
}

#[test]
fn golden_a_pond_that_is_away_or_held_or_was_never_there() {
    let size = (80, 24);
    let mut state = shown(size);
    state.lost("no pond answers on '/run/millpond/sock'".into(), NOW + 12_000);
    golden("away.txt", &text(&drawn(&state, size, PLAIN)));
    let mut state = shown(size);
    press(&mut state, " ");
    state.ticked(NOW + 61_000);
    golden("held.txt", &text(&drawn(&state, size, PLAIN)));
    let mut state = State::new(size, 1000, None);
    state.lost("no pond answers on '/run/millpond/sock'".into(), NOW);
    golden("never.txt", &text(&drawn(&state, size, PLAIN)));
}

#[test]
fn golden_more_tensors_than_are_listed() {
    let mut state = State::new((80, 24), 1000, None);
    state.received(Arc::new(sample::overview(1, 100_000)));
    golden("tensors-100000.txt", &text(&drawn(&state, (80, 24), PLAIN)));
}

#[test]
fn golden_names_that_want_to_rule_the_terminal() {
    let names = [
        "\u{1b}[2J\u{1b}]0;owned\u{7}".to_owned(),
        "abc\u{202e}gpj.exe\u{202c}".to_owned(),
        "模型/重み/🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀".to_owned(),
        "e\u{301}\u{301}\u{301}\u{200b}\u{200d}\u{fe0f}".to_owned(),
        "line\nbreak\ttab\r".to_owned(),
    ];
    let mut state = State::new((80, 24), 1000, None);
    state.received(Arc::new(sample::hostile(&names)));
    press(&mut state, "5");
    golden("hostile.txt", &text(&drawn(&state, (80, 24), PLAIN)));
}

#[test]
fn who_only_looks_is_told_so() {
    let refusal = Refusal::new("this is `top --readonly`: it changes nothing", "start it without");
    let mut state = State::new((80, 24), 1000, Some(refusal));
    state.received(Arc::new(sample::overview(1, 3)));
    press(&mut state, "2w");
    golden("readonly.txt", &text(&drawn(&state, (80, 24), PLAIN)));
}

#[test]
fn without_colours_there_are_none() {
    let state = shown((80, 24));
    let is_plain = |cell: &ratatui::buffer::Cell| {
        (cell.fg, cell.bg) == (ratatui::style::Color::Reset, ratatui::style::Color::Reset)
    };
    assert!(drawn(&state, (80, 24), PLAIN).content.iter().all(is_plain));
    let many = Look { colours: Colours::Many, ..PLAIN };
    assert!(!drawn(&state, (80, 24), many).content.iter().all(is_plain));
}

#[test]
fn the_picture_of_the_documents_is_what_is_drawn() {
    let size = (96, 17);
    let mut state = shown(size);
    press(&mut state, "2j");
    let look = Look { ascii: false, colours: Colours::Many };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/top.svg");
    compare(&file, &svg::of(&drawn(&state, size, look)));
}
