//! Long listings: what is in them, whatever happens while they are made.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use millpond_wire::message::TensorPage;
use proptest::prelude::*;

use super::*;

const ALL: RequestBody = RequestBody::TensorList { prefix: String::new(), page: None };

impl Play {
    /// A pond in which more than so many tensors make a listing long.
    pub(super) fn with_slices_of(slice: usize) -> Self {
        let mut play = Play::new();
        play.pond.turns.set_slice(slice);
        play
    }

    fn long_listed(&mut self, number: u64) -> Option<Vec<TensorInfo>> {
        match self.answer(number)? {
            ReplyBody::Tensors(tensors) => Some(tensors),
            other => panic!("not a listing: {other:?}"),
        }
    }
}

fn names(tensors: &[TensorInfo]) -> Vec<&str> {
    tensors.iter().filter_map(|info| Some(info.name.as_ref()?.as_str())).collect()
}

#[test]
fn a_long_listing_comes_in_slices_and_others_do_not_wait() {
    let mut play = Play::with_slices_of(2);
    let (conn, _) = play.client(1);
    for name in ["a/1", "a/2", "b/1", "b/2", "b/3"] {
        play.create(conn, spec(name, 100));
    }
    let (other, _) = play.client(2);
    let all = play.start(conn, ALL);
    let some = play.start(conn, RequestBody::TensorList { prefix: "b/".into(), page: None });
    let theirs = play.start(other, ALL);
    assert!(play.long_listed(all).is_none());
    assert_eq!(play.ask(other, RequestBody::Ping), ReplyBody::Done);
    assert!(!play.pond.is_idle());
    // Two turns for each user, and what is left in one turn.
    for _ in 0..5 {
        assert!(play.long_listed(all).is_none() && play.long_listed(theirs).is_none());
        assert!(play.pond.tick(&mut play.world).is_some(), "there is more to do");
    }
    assert_eq!(names(&play.long_listed(all).unwrap()), ["a/1", "a/2", "b/1", "b/2", "b/3"]);
    // One user's second listing comes after another user's first.
    assert_eq!(play.long_listed(theirs), Some(Vec::new()));
    assert!(play.long_listed(some).is_none());
    (0..3).for_each(|_| play.later(0));
    assert_eq!(names(&play.long_listed(some).unwrap()), ["b/1", "b/2", "b/3"]);
    assert!(play.pond.is_idle());
    assert_eq!(play.pond.tick(&mut play.world), None);
}

fn page(prefix: &str, after: Option<TensorId>, most: u32) -> RequestBody {
    let page = TensorPage { after, most: NonZeroU32::new(most).unwrap() };
    RequestBody::TensorList { prefix: prefix.into(), page: Some(page) }
}

#[test]
fn pages_together_have_what_is_there_from_the_first_to_the_last() {
    let mut play = Play::with_slices_of(3);
    let (conn, _) = play.client(1);
    let made: Vec<TensorId> = (0..9)
        .map(|at| {
            play.create(conn, spec(&format!("{}/{at}", if at % 3 == 0 { "a" } else { "b" }), 100))
        })
        .map(|(info, _)| info.tensor)
        .collect();
    for (prefix, most, expected) in
        [("", 2, 9), ("", 9, 9), ("", 100, 9), ("a/", 2, 3), ("c", 1, 0)]
    {
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let number = play.start(conn, page(prefix, after, most));
            (0..9).for_each(|_| play.later(0));
            let listed = play.long_listed(number).unwrap();
            assert!(listed.len() <= most as usize, "no page has more than it may");
            assert!(
                listed.iter().all(|info| Some(info.tensor) > after),
                "and none what was before"
            );
            let is_last = listed.len() < most as usize;
            after = listed.iter().map(|info| info.tensor).max().or(after);
            seen.extend(listed.into_iter().map(|info| info.tensor));
            // What comes and goes between two pages is in none or one of them.
            let passing = play.create(conn, spec("passing", 100)).0.tensor;
            play.ask(conn, RequestBody::TensorDelete { tensor: passing });
            if is_last {
                break;
            }
        }
        seen.retain(|id| made.contains(id));
        let mut once = seen.clone();
        once.sort();
        once.dedup();
        assert_eq!((seen.len(), once.len()), (expected, expected), "{prefix} by {most}");
    }
}

#[test]
fn a_page_looks_no_further_than_it_has_room() {
    let mut play = Play::with_slices_of(4);
    let (conn, _) = play.client(1);
    for at in 0..20 {
        play.create(conn, spec(&format!("t/{at}"), 100));
    }
    let number = play.start(conn, page("", None, 3));
    assert_eq!(play.long_listed(number).unwrap().len(), 3, "answered at once");
    // A change meanwhile puts nothing into a page that its place would not.
    let number = play.start(conn, page("t/", None, 19));
    let last = play.pond.catalog.after(None).last().map(|(id, _)| id).unwrap();
    play.ask(conn, RequestBody::TensorDelete { tensor: last });
    (0..20).for_each(|_| play.later(0));
    let listed = play.long_listed(number).unwrap();
    assert_eq!(listed.len(), 19);
    assert!(listed.iter().all(|info| info.tensor != last));
}

#[test]
fn who_does_not_read_a_long_listing_gets_no_other() {
    let mut play = Play::with_slices_of(1);
    let (deaf, _) = play.client(1);
    let (second, _) = play.client(1);
    let (other, _) = play.client(2);
    play.create(deaf, spec("x", 100));
    play.create(deaf, spec("y", 100));
    play.world.unread.insert(deaf, 0);
    let asked = [deaf, deaf, second, other].map(|conn| play.start(conn, ALL));
    (0..20).for_each(|_| play.later(1));
    let came = asked.map(|number| play.long_listed(number).map(|tensors| tensors.len()));
    assert_eq!(came, [Some(2), None, Some(2), Some(0)]);
    assert_eq!(play.pond.tick(&mut play.world), None, "nothing to do until it reads");
    play.world.unread.insert(deaf, 0);
    (0..20).for_each(|_| play.later(1));
    assert!(play.long_listed(asked[1]).is_some());
    // With enough of it in the account, not on another connection either.
    play.cap(Resource::ReplyBytes, 100);
    let account = play.pond.accounts.of(&"local".into(), 1);
    account.add(Resource::ReplyBytes, 100);
    let again = [second, other].map(|conn| play.start(conn, ALL));
    (0..20).for_each(|_| play.later(1));
    assert!(play.long_listed(again[0]).is_none() && play.long_listed(again[1]).is_some());
    assert!(!play.pond.is_idle());
    play.pond.hung_up(&mut play.world, deaf);
    account.give(Resource::ReplyBytes, 100);
    (0..20).for_each(|_| play.later(1));
    assert!(play.long_listed(again[0]).is_some() && play.pond.is_idle());
}

#[test]
fn who_hangs_up_is_not_listed_for() {
    let mut play = Play::with_slices_of(1);
    let (conn, _) = play.client(1);
    for name in ["x", "y", "z"] {
        play.create(conn, spec(name, 100));
    }
    play.start(conn, ALL);
    play.start(conn, ALL);
    play.later(1);
    assert!(!play.pond.is_idle());
    play.pond.hung_up(&mut play.world, conn);
    assert!(play.pond.is_idle());
}

/// What happens while a listing is made.
#[derive(Clone, Debug)]
enum Step {
    Create(u8),
    CreateUnnamed,
    Name(u8),
    Delete(u8),
    Slice,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A listing has what was there when it began: every tensor once, under its name.
    #[test]
    fn a_listing_has_what_was_there_when_it_began(
        slice in 1usize..4,
        before in prop::collection::vec(step(), 4..20),
        after in prop::collection::vec(step(), 0..30),
    ) {
        let mut play = Play::with_slices_of(slice);
        let (conn, _) = play.client(1);
        let mut unnamed = VecDeque::new();
        for name in 10..14 {
            happen(&mut play, conn, &mut unnamed, &Step::Create(name));
        }
        before.iter().for_each(|step| happen(&mut play, conn, &mut unnamed, step));
        let there = |play: &Play| {
            let tensors = play.pond.catalog.iter().filter(|(_, tensor)| !tensor.is_deleted());
            tensors.map(|(id, tensor)| (tensor.name.clone(), id)).collect::<BTreeSet<_>>()
        };
        let expected = there(&play);
        let long = play.pond.catalog.len() > slice;
        let number = play.start(conn, ALL);
        // From here on the slices are in between.
        play.pond.tick(&mut play.world);
        after.iter().for_each(|step| happen(&mut play, conn, &mut unnamed, step));
        (0..1000).for_each(|_| play.later(0));
        let listed = play.long_listed(number).unwrap();
        let found: BTreeSet<_> = listed.iter().map(|info| (info.name.clone(), info.tensor)).collect();
        prop_assert!(long);
        prop_assert_eq!(listed.len(), found.len(), "something is there twice");
        prop_assert_eq!(found, expected);
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0u8..6).prop_map(Step::Create),
        2 => Just(Step::CreateUnnamed),
        2 => (0u8..6).prop_map(Step::Name),
        3 => (0u8..6).prop_map(Step::Delete),
        3 => Just(Step::Slice),
    ]
}

fn happen(play: &mut Play, conn: ConnId, unnamed: &mut VecDeque<TensorId>, step: &Step) {
    match step {
        Step::Create(name) => {
            play.create(conn, TensorCreate { zero: true, ..spec(&format!("t{name}"), 100) });
        }
        Step::CreateUnnamed => {
            let create = TensorCreate { name: None, zero: true, ..spec("t", 100) };
            unnamed.push_back(play.create(conn, create).0.tensor);
        }
        Step::Name(name) => {
            let Some(tensor) = unnamed.pop_front() else { return };
            let name = Some(format!("t{name}").parse().unwrap());
            let token = millpond_wire::Token::random();
            let publish = TensorPublish { tensor, token, name, replace: true };
            play.ask(conn, RequestBody::TensorPublish(publish));
        }
        Step::Delete(name) => {
            let target = Target::Name(format!("t{name}").parse().unwrap());
            if let ReplyBody::Details { info, .. } =
                play.ask(conn, RequestBody::TensorInspect(target))
            {
                play.delete(conn, info.tensor);
            }
        }
        Step::Slice => play.later(0),
    }
}
