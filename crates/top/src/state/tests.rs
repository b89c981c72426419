//! Keys and pictures in, orders and rows out.

use std::sync::Arc;

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::*;
use crate::actions::Limit;
use crate::sample::{self, NOW};
use crate::view;
use crate::view::look::{Colours, Look};

/// A state that shows the sample.
pub fn shown(size: (u16, u16)) -> State {
    let mut state = State::new(size, 1000, None);
    state.ticked(NOW);
    state.received(Arc::new(sample::overview(1, 40)));
    state.happened(sample::events());
    state
}

/// Presses keys, a character each; the last order.
fn press(state: &mut State, keys: &str) -> Option<Order> {
    keys.chars().fold(None, |_, key| {
        state.pressed(match key {
            '\n' => Key::Enter,
            '\u{1b}' => Key::Escape,
            key => Key::Char(key),
        })
    })
}

/// The names in the rows, in their order.
fn names(state: &State) -> Vec<String> {
    let rows = state.list().unwrap().rows().iter();
    let thing = |row: &crate::panes::Row| {
        row.thing(state.pane(), state.overview().unwrap(), state.events()).unwrap().name()
    };
    rows.map(thing).collect()
}

#[test]
fn panes_are_chosen_by_number_and_in_turn() {
    let mut state = shown((80, 24));
    press(&mut state, "3");
    assert_eq!(state.pane(), Pane::Groups);
    state.pressed(Key::Tab);
    assert_eq!(state.pane(), Pane::Caches);
    state.pressed(Key::BackTab);
    state.pressed(Key::Left);
    assert_eq!(state.pane(), Pane::Models);
    for _ in 0..5 {
        state.pressed(Key::Right);
    }
    assert_eq!(state.pane(), Pane::Tensors);
    press(&mut state, "9");
    assert_eq!(state.pane(), Pane::Tensors);
}

#[test]
fn rows_are_sorted_by_the_next_column_and_turned_round() {
    let mut state = shown((80, 24));
    press(&mut state, "2");
    assert_eq!(names(&state)[0], "llama@v1");
    press(&mut state, "S");
    assert_eq!(names(&state)[0], "public/bert@v1");
    // Version, state, readers: the most first.
    press(&mut state, "sss");
    assert_eq!(names(&state)[0], "llama@v2");
    for _ in 0..Pane::Models.columns().len() - 3 {
        press(&mut state, "s");
    }
    assert_eq!(names(&state)[0], "llama@v1", "once around");
}

#[test]
fn a_filter_holds_in_every_pane_until_it_is_removed() {
    let mut state = shown((80, 24));
    assert_eq!(press(&mut state, "/BERT"), Some(Order::Narrow("BERT".into())));
    assert_eq!(names(&state), Vec::<String>::new());
    press(&mut state, "\n2");
    assert_eq!(names(&state), ["public/bert@v1"]);
    press(&mut state, "4");
    assert_eq!(names(&state), ["bert/kv"]);
    assert_eq!(press(&mut state, "\u{1b}"), Some(Order::Narrow(String::new())));
    assert_eq!(names(&state).len(), 2);
    // What Esc undoes is what was written since.
    press(&mut state, "/kv\n/xx");
    state.pressed(Key::Backspace);
    press(&mut state, "\u{1b}");
    assert_eq!(state.filter(), "kv");
}

#[test]
fn the_cursor_stays_on_its_thing() {
    let mut state = shown((80, 24));
    press(&mut state, "jj");
    let selected = state.selected().unwrap().name();
    press(&mut state, "S");
    assert_eq!(state.selected().unwrap().name(), selected);
    let mut larger = sample::overview(1, 60);
    larger.tensors.reverse();
    state.received(Arc::new(larger));
    assert_eq!(state.selected().unwrap().name(), selected);
    // One that never moved stays at the top, whatever comes there.
    let mut state = shown((80, 24));
    let first = state.selected().unwrap().name();
    press(&mut state, "S");
    assert_ne!(state.selected().unwrap().name(), first);
    assert_eq!(state.list().unwrap().place().0, 1);
}

#[test]
fn pages_and_ends_are_reached() {
    let mut state = shown((80, 24));
    let place = |state: &State| state.list().unwrap().place();
    state.pressed(Key::PageDown);
    assert!(place(&state).0 > 5);
    press(&mut state, "G");
    assert_eq!(place(&state), (40, 40));
    press(&mut state, "jjj");
    assert_eq!(place(&state), (40, 40));
    press(&mut state, "gk");
    assert_eq!(place(&state), (1, 40));
}

#[test]
fn a_swap_is_asked_for_first() {
    let mut state = shown((80, 24));
    press(&mut state, "2jj");
    assert_eq!(press(&mut state, "w"), None);
    assert!(matches!(state.mode(), Mode::Ask(Action::Swap { .. })));
    assert_eq!(press(&mut state, "\n"), None, "only y is yes");
    assert_eq!(press(&mut state, "n"), None);
    assert!(matches!(state.mode(), Mode::Browse));
    let order = press(&mut state, "wy");
    let action = Action::Swap { model: "llama".into(), tag: "v3".into(), from: Some("v2".into()) };
    assert_eq!(order, Some(Order::Act(action.clone())));
    state.acted(&action, Ok(()));
    assert_eq!(state.notice().unwrap().text, "llama@v3 is current");
    state.acted(&action, Err(Refusal::new("no", "why")));
    assert!(matches!(state.mode(), Mode::Refused(_)));
}

#[test]
fn what_makes_no_sense_is_refused_with_a_way_out() {
    let refused = |keys: &str| {
        let mut state = shown((80, 24));
        assert_eq!(press(&mut state, keys), None, "{keys:?}");
        match state.mode() {
            Mode::Refused(refusal) => (refusal.message.clone(), refusal.hint.clone().unwrap()),
            other => panic!("{keys:?}: {other:?}"),
        }
    };
    assert_eq!(refused("w").1, "select a version: key 2");
    assert_eq!(refused("2jw").0, "llama@v2 is current already");
    assert!(refused("2jx").1.contains("millpond rm llama@v2"));
    assert_eq!(refused("2Gr").0, "public/bert has no version to roll back to");
    assert_eq!(refused("L").1, "select a group: key 3, then L");
}

#[test]
fn somebody_elses_model_is_called_with_its_owner() {
    let mut state = shown((80, 24));
    state.me = 7;
    press(&mut state, "2");
    let order = press(&mut state, "ry");
    let Some(Order::Act(Action::Rollback { model, to, .. })) = order else { panic!("{order:?}") };
    assert_eq!((model.as_str(), to.as_str()), ("~1000/llama", "v1"));
}

#[test]
fn a_limit_is_written_read_and_confirmed() {
    let mut state = shown((80, 24));
    press(&mut state, "3");
    press(&mut state, "L5X\n");
    let Mode::Limit(input) = state.mode() else { panic!("{:?}", state.mode()) };
    assert!(input.wrong.as_ref().unwrap().contains("'5X'"));
    state.pressed(Key::Backspace);
    assert_eq!(press(&mut state, "G\n"), None);
    let order = press(&mut state, "y");
    let Some(Order::Act(Action::Limit { group, limit, gpu, .. })) = order else {
        panic!("{order:?}");
    };
    assert_eq!((group.as_str(), gpu), ("team-a", Some(0)));
    assert_eq!(limit, Limit::read("5G").unwrap());
    press(&mut state, "L\u{1b}");
    assert!(matches!(state.mode(), Mode::Browse));
}

#[test]
fn who_only_looks_changes_nothing() {
    let refusal = Refusal::new("read-only", "start it without");
    let mut state = State::new((80, 24), 1000, Some(refusal.clone()));
    state.received(Arc::new(sample::overview(1, 40)));
    for keys in ["2jjw", "r", "x", "3L"] {
        assert_eq!(press(&mut state, keys), None);
        assert!(matches!(state.mode(), Mode::Refused(it) if *it == refusal), "{keys}");
        press(&mut state, "\u{1b}");
    }
}

#[test]
fn what_is_inspected_is_asked_for_until_it_is_closed() {
    let mut state = shown((80, 24));
    let Some(Order::Inspect(Some(subject))) = press(&mut state, "\n") else { panic!() };
    assert!(matches!(subject, Subject::Tensor(_)));
    let other = Subject::Tensor(millpond::TensorId::random());
    state.answered(&other, Answer::Refused("late".into()));
    let Mode::Details(details) = state.mode() else { panic!() };
    assert!(details.answer.is_none(), "an answer about something else");
    state.answered(&subject, Answer::Leases(Vec::new()));
    let Mode::Details(details) = state.mode() else { panic!() };
    let lines = crate::details::lines(&state, details);
    assert!(lines.contains(&("leases", "0 leases".to_owned())), "{lines:?}");
    assert_eq!(press(&mut state, "q"), Some(Order::Inspect(None)), "q closes what is open");
    assert_eq!(press(&mut state, "q"), Some(Order::Quit));
}

#[test]
fn a_held_picture_stays_and_then_the_last_one_comes() {
    let mut state = shown((80, 24));
    press(&mut state, " ");
    state.received(Arc::new(sample::overview(1, 2)));
    assert_eq!(state.overview().unwrap().tensors.len(), 40);
    press(&mut state, " ");
    assert_eq!(state.overview().unwrap().tensors.len(), 2);
}

#[test]
fn a_pond_that_is_away_is_said_to_be_so_since_it_was() {
    let mut state = shown((80, 24));
    state.take_stale();
    state.ticked(NOW + 4_000);
    assert!(!state.take_stale(), "nothing that is shown has changed");
    state.ticked(NOW + 5_000);
    assert!(state.take_stale(), "a pond that hangs");
    state.lost("nobody answers".into(), NOW + 6_000);
    state.lost("nobody answers".into(), NOW + 9_000);
    let away = Contact::Away { since_unix_ms: NOW + 6_000, reason: "nobody answers".into() };
    assert_eq!(*state.contact(), away);
    state.take_stale();
    state.ticked(NOW + 10_000);
    assert!(state.take_stale(), "the picture's age");
    state.received(Arc::new(sample::overview(1, 40)));
    assert_eq!(*state.contact(), Contact::There);
}

#[test]
fn control_c_and_control_z_work_everywhere() {
    for keys in ["", "/x", "?", "\n", "2r", "3L", "w"] {
        let mut state = shown((80, 24));
        press(&mut state, keys);
        assert_eq!(state.pressed(Key::Control('z')), Some(Order::Suspend), "{keys:?}");
        assert_eq!(state.pressed(Key::Control('c')), Some(Order::Quit), "{keys:?}");
    }
}

#[test]
fn only_so_many_events_are_remembered() {
    let mut state = shown((80, 24));
    let event = sample::events().remove(0);
    for _ in 0..3 {
        state.happened(vec![event.clone(); 700]);
    }
    assert_eq!(state.events().len(), EVENTS);
}

fn key() -> impl Strategy<Value = Key> {
    let named = prop::sample::select(vec![
        Key::Enter,
        Key::Escape,
        Key::Tab,
        Key::BackTab,
        Key::Backspace,
        Key::Delete,
        Key::Up,
        Key::Down,
        Key::Left,
        Key::Right,
        Key::PageUp,
        Key::PageDown,
        Key::Home,
        Key::End,
        Key::Control('u'),
        Key::Function(4),
        Key::Function(6),
    ]);
    let meant = prop::sample::select("?123456jkgG/sS wrxLiyn".chars().collect::<Vec<_>>());
    prop_oneof![named, meant.prop_map(Key::Char), any::<char>().prop_map(Key::Char)]
}

#[derive(Clone, Debug)]
enum Happens {
    Key(Key),
    Picture { gpus: u8, tensors: usize, names: Vec<String> },
    Size(u16, u16),
    Away(String),
    Time(u64),
    Events,
}

fn happens() -> impl Strategy<Value = Happens> {
    let name = prop_oneof![
        "\\PC{0,40}",
        any::<String>(),
        Just("x\u{202e}\u{1b}[2J\u{7}模型🚀e\u{301}".to_owned()),
    ];
    let size = prop_oneof![(0u16..10, 0u16..10), (40u16..130, 5u16..50), (300u16..400, 1u16..4)];
    prop_oneof![
        6 => key().prop_map(Happens::Key),
        1 => (0u8..9, 0usize..60, prop::collection::vec(name.clone(), 1..6))
            .prop_map(|(gpus, tensors, names)| Happens::Picture { gpus, tensors, names }),
        1 => size.prop_map(|(columns, rows)| Happens::Size(columns, rows)),
        1 => name.prop_map(Happens::Away),
        1 => any::<u64>().prop_map(Happens::Time),
        1 => Just(Happens::Events),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Nothing panics, nothing that was not confirmed is done, and the terminal gets no order.
    #[test]
    fn any_keys_and_any_pond_at_any_size(
        all in prop::collection::vec(happens(), 1..60),
        ascii: bool,
        drawn in (0u16..130, 0u16..50),
    ) {
        let mut state = shown((80, 24));
        for one in all {
            match one {
                Happens::Key(key) => {
                    let was_asked = matches!(state.mode(), Mode::Ask(_));
                    let order = state.pressed(key);
                    prop_assert!(was_asked || !matches!(order, Some(Order::Act(_))));
                }
                Happens::Picture { gpus, tensors, names } => {
                    let mut overview = sample::hostile(&names);
                    let other = sample::overview(gpus, tensors);
                    (overview.tensors, overview.cards) = (other.tensors, other.cards);
                    state.received(Arc::new(overview));
                }
                Happens::Size(columns, rows) => state.resized((columns, rows)),
                Happens::Away(reason) => state.lost(reason, NOW),
                Happens::Time(now) => state.ticked(now),
                Happens::Events => state.happened(sample::events()),
            }
            let look = Look { ascii, colours: Colours::Many };
            let state_size = state.size;
            for (columns, rows) in [state_size, drawn] {
                let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
                view::draw(&mut buffer, &state, look);
                let text = view::text(&buffer);
                let is_harmless = |it: char| it == '\n' || millpond_wire::characters::flaw(it).is_none();
                prop_assert!(text.chars().all(is_harmless), "{:?}", text);
                prop_assert!(!ascii || text.is_ascii(), "{:?}", text);
            }
        }
    }
}
