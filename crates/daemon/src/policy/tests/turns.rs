//! Answers in turns: what a turn looks at, whose it is, and that the answer is the same.

use millpond_wire::LeaseTarget;
use proptest::prelude::*;

use super::*;
use crate::policy::leases::Lease;

#[test]
fn the_end_of_a_pond_does_not_wait_for_who_does_not_read() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.world.unread.insert(conn, 0);
    play.pond.turns.set_slice(8);
    for number in 0..20 {
        play.create(conn, spec(&number.to_string(), 100));
    }
    let list = || RequestBody::TensorList { prefix: String::new(), page: None };
    let (first, second) = (play.start(conn, list()), play.start(conn, list()));
    while play.pond.has_turns() {
        play.later(0);
    }
    assert!(play.answer(first).is_some() && play.answer(second).is_none());
    play.pond.drain(&mut play.world);
    play.later(0);
    let Some(ReplyBody::Failure(failure)) = play.answer(second) else { panic!("no answer") };
    assert_eq!(failure.kind, millpond_wire::ErrorKind::Draining);
    assert!(play.pond.is_idle());
}

/// How long the longest single steps take with the largest numbers that are allowed: for people, with
/// `--ignored --nocapture`.
#[test]
#[ignore = "prints times"]
fn times_of_the_longest_steps() {
    for in_turns in [false, true] {
        let mut play = Play::new();
        play.pond.accounts.set_terms(|_| crate::accounts::AllTerms::NONE);
        play.pond.caps.leases_per_client = 200_000;
        let (conn, client) = play.client(1);
        play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
        for lease in 0..200_000 {
            play.get(conn, "x", lease + 1);
            play.world.replies.clear();
        }
        let class = play.pond.slabs.iter().next().unwrap().1.class.clone();
        for number in 0..100_000 {
            let slab = crate::policy::slabs::Slab::new(
                class.clone(),
                2 << 20,
                crate::policy::slabs::Made::of_descriptor(number),
            );
            play.pond.slabs.insert(SlabId::random(), slab);
        }
        let begun = std::time::Instant::now();
        match in_turns {
            true => drop(play.pond.status(&play.world)),
            false => assert!(play.pond.slabs.totals_are_right()),
        }
        eprintln!("a status with 100,000 slabs, in turns {in_turns}: {:?}", begun.elapsed());
        let mut longest = std::time::Duration::ZERO;
        let mut steps = 0;
        let mut begun = std::time::Instant::now();
        match in_turns {
            true => play.pond.process_gone(&mut play.world, client),
            false => {
                let ending = crate::policy::release::Ending::Died;
                play.pond.end_client(&mut play.world, client, ending, "gone");
            }
        }
        loop {
            (longest, steps) = (longest.max(begun.elapsed()), steps + 1);
            if !play.pond.has_turns() {
                break;
            }
            begun = std::time::Instant::now();
            play.pond.tick(&mut play.world);
        }
        eprintln!("the end of a client with 200,000 leases: {steps} steps, longest {longest:?}");
    }
}

impl Play {
    /// So many leases more, without a message for each.
    pub(super) fn with_leases(
        &mut self,
        client: ClientId,
        target: LeaseTarget,
        numbers: std::ops::RangeInclusive<u64>,
    ) {
        let account = std::rc::Rc::clone(&self.pond.clients.get(client).unwrap().account);
        for number in numbers {
            let lease =
                Lease { target, mode: Mode::ReadOnly, since_ms: number, counted: false, asked: 0 };
            self.pond.leases.begin(&account, client, LeaseId(number), lease);
        }
    }

    /// How many turns it takes until this is answered, and the answer.
    fn turns_until(&mut self, number: u64) -> (usize, ReplyBody) {
        for turns in 0..100_000 {
            if let Some(answer) = self.answer(number) {
                return (turns, answer);
            }
            assert!(self.pond.has_turns(), "nothing goes on");
            self.later(0);
        }
        panic!("no answer");
    }
}

fn ready(name: &str) -> TensorCreate {
    TensorCreate { zero: true, audience: Audience::Everybody, ..spec(name, 100) }
}

fn inspecting(name: &str) -> RequestBody {
    RequestBody::TensorInspect(Target::Name(name.parse().unwrap()))
}

#[test]
fn an_inspect_of_many_holders_takes_turns_and_a_ping_comes_between() {
    let mut play = Play::with_slices_of(100);
    let (conn, client) = play.client(1);
    let (other, _) = play.client(2);
    let (info, _) = play.create(conn, ready("x"));
    play.with_leases(client, info.tensor.into(), 1..=200_000);
    let number = play.start(conn, inspecting("x"));
    for _ in 0..5 {
        assert!(play.answer(number).is_none());
        assert_eq!(play.ask(other, RequestBody::Ping), ReplyBody::Done);
        play.later(0);
    }
    let (turns, answer) = play.turns_until(number);
    assert_eq!(turns, 1, "512 holders are five turns of a hundred and a sixth");
    match answer {
        ReplyBody::Details { info, leases } => {
            assert_eq!((info.leases, leases.len()), (200_000, 512));
            assert!(
                leases.iter().all(|lease| lease.name == info.name && lease.client == Some(client))
            );
        }
        other => panic!("not inspected: {other:?}"),
    }
    assert!(!play.pond.has_turns() && play.pond.is_idle());
}

#[test]
fn a_turn_looks_at_a_fixed_number_of_entries() {
    let mut play = Play::with_slices_of(1000);
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, ready("x"));
    play.with_leases(client, info.tensor.into(), 1..=200_000);
    let number = play.start(conn, RequestBody::ClientList);
    let (turns, answer) = play.turns_until(number);
    assert_eq!(turns, 201, "a client and its leases");
    match answer {
        ReplyBody::Clients(clients) => assert_eq!(clients[0].leases.len(), 200_000),
        other => panic!("no clients: {other:?}"),
    }
}

#[test]
fn what_one_user_asks_on_many_connections_does_not_stand_before_another_user() {
    let mut play = Play::new();
    let (first, client) = play.client(2);
    let (info, _) = play.create(first, ready("public/x"));
    play.with_leases(client, info.tensor.into(), 1..=200_000);
    let theirs: Vec<ConnId> = (0..90).map(|_| play.client(2).0).collect();
    let (mine, _) = play.client(1);
    let asked: Vec<u64> =
        theirs.iter().map(|conn| play.start(*conn, inspecting("public/x"))).collect();
    let at_once = asked.iter().filter(|number| play.answer(**number).is_some()).count();
    assert_eq!(at_once, 3, "no more fit into a turn");
    let number = play.start(mine, inspecting("public/x"));
    assert_eq!(play.ask(mine, RequestBody::Ping), ReplyBody::Done);
    let (turns, _) = play.turns_until(number);
    assert!(turns <= 2, "{turns} turns");
    let before = asked.iter().filter(|number| play.answer(**number).is_some()).count();
    assert!(before <= 6, "{before} answers of the other user came first");
    while play.pond.has_turns() {
        play.later(0);
    }
    let after = asked.iter().filter(|number| play.answer(**number).is_some()).count();
    assert_eq!(at_once + before + after, 90);
    assert!(play.pond.is_idle());
}

#[test]
fn a_short_answer_does_not_wait_for_the_long_ones_of_others() {
    let mut play = Play::with_slices_of(10);
    let (conn, _) = play.client(1);
    for name in 0..200 {
        play.create(conn, ready(&format!("public/{name}")));
    }
    let all = RequestBody::TensorList { prefix: String::new(), page: None };
    let long: Vec<u64> = (2..12)
        .map(|user| {
            let (conn, _) = play.client(user);
            play.start(conn, all.clone())
        })
        .collect();
    (0..20).for_each(|_| play.later(0));
    let (mine, _) = play.client(99);
    let number = play.start(mine, inspecting("public/7"));
    let (turns, _) = play.turns_until(number);
    assert!(turns <= 10, "{turns} turns");
    assert!(long.iter().all(|number| play.answer(*number).is_none()));
    while play.pond.has_turns() {
        play.later(0);
    }
    assert!(long.iter().all(|number| play.answer(*number).is_some()));
}

#[test]
fn a_short_answer_comes_within_the_turn_of_a_long_one() {
    let mut play = Play::with_slices_of(80);
    let (conn, _) = play.client(1);
    for name in 0..500 {
        play.create(conn, ready(&format!("public/{name}")));
    }
    let (theirs, _) = play.client(2);
    let (mine, _) = play.client(3);
    let long = play.start(theirs, RequestBody::TensorList { prefix: String::new(), page: None });
    for name in ["public/1", "public/2", "public/3"] {
        play.later(0);
        let number = play.start(mine, inspecting(name));
        assert_eq!(play.turns_until(number).0, 1, "whoever had the turn before");
    }
    assert!(play.answer(long).is_none());
    play.turns_until(long);
    assert!(play.pond.is_idle());
}

#[test]
fn a_collect_goes_in_slices_and_leaves_what_is_leased_at_its_turn() {
    let mut play = Play::with_slices_of(34);
    let (conn, _) = play.client(1);
    let tensors: BTreeSet<TensorId> =
        (0..50).map(|name| play.create(conn, ready(&format!("t{name}"))).0.tensor).collect();
    let last = *tensors.last().unwrap();
    let number =
        play.start(conn, RequestBody::Collect { unleased_for_ms: Some(0), dry_run: false });
    let mut left = 50;
    for _ in 0..10 {
        play.later(0);
        let now = tensors.iter().filter(|id| play.is_alive(**id)).count();
        assert!(left - now <= 3, "{} in one turn", left - now);
        left = now;
        // What is gone stays gone, whatever happens now.
        assert_eq!(
            play.world.records.iter().filter(|it| matches!(it, Record::TensorFreed(_))).count(),
            50 - now
        );
    }
    assert!(left < 50 && play.answer(number).is_none());
    let lease = RequestBody::TensorGet(TensorGet {
        target: Target::Id(last),
        lease: LeaseId(1),
        mode: Mode::ReadOnly,
        wait_ms: 0,
    });
    assert!(matches!(play.ask(conn, lease), ReplyBody::Tensor(_)));
    match play.turns_until(number).1 {
        ReplyBody::Collected { tensors, slabs, .. } => {
            assert_eq!((tensors.len(), slabs), (49, 0), "the leased one is in the same slab");
        }
        other => panic!("not collected: {other:?}"),
    }
    assert!(tensors.iter().all(|id| play.is_alive(*id) == (*id == last)));
    play.check_held();
}

#[test]
fn a_collect_whose_client_hangs_up_stops_and_loses_nothing() {
    let mut play = Play::with_slices_of(34);
    let (conn, _) = play.client(1);
    for name in 0..20 {
        play.create(conn, ready(&format!("t{name}")));
    }
    play.start(conn, RequestBody::Collect { unleased_for_ms: Some(0), dry_run: false });
    (0..3).for_each(|_| play.later(0));
    play.pond.hung_up(&mut play.world, conn);
    assert!(play.pond.is_idle() && !play.pond.has_turns());
    let left = play.pond.catalog.len();
    assert!(left > 0 && left < 20);
    play.check_held();
    play.restart();
    assert_eq!(play.pond.catalog.len(), left);
}

#[test]
fn a_draining_pond_finishes_its_answers() {
    let mut play = Play::with_slices_of(2);
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, ready("x"));
    play.with_leases(client, info.tensor.into(), 1..=20);
    let before = play.start(conn, inspecting("x"));
    play.later(0);
    play.pond.drain(&mut play.world);
    assert!(!play.pond.is_idle());
    let after = play.start(conn, RequestBody::ClientList);
    assert!(matches!(play.turns_until(before).1, ReplyBody::Details { .. }));
    assert!(matches!(play.turns_until(after).1, ReplyBody::Clients(_)));
    let collect = RequestBody::Collect { unleased_for_ms: None, dry_run: false };
    assert_eq!(play.refused(conn, collect).kind, millpond_wire::ErrorKind::Draining);
    assert!(play.pond.is_idle());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn an_answer_in_slices_is_the_answer_at_once(
        slice in 1usize..7,
        tensors in prop::collection::vec((1u32..4, 1u64..80, 0u64..5), 1..12),
    ) {
        let mut play = Play::new();
        let clients: Vec<(ConnId, ClientId)> = (1..4).map(|user| play.client(user)).collect();
        let mut next = 1;
        for (at, (user, mib, leases)) in tensors.iter().enumerate() {
            let (conn, client) = clients[*user as usize - 1];
            let create = TensorCreate { zero: true, ..spec(&format!("t{at}"), mib * MIB / 4) };
            let (info, _) = play.create(conn, create);
            play.with_leases(client, info.tensor.into(), next..=next + leases - 1);
            next += leases;
        }
        // An empty slab as well.
        let (left, _) = play.create(clients[0].0, spec("left", 100));
        play.delete(clients[0].0, left.tensor);
        let operator = play.operator();
        let asks = [
            RequestBody::TensorList { prefix: String::new(), page: None },
            RequestBody::TensorList { prefix: "t1".into(), page: None },
            RequestBody::ClientList,
            RequestBody::Collect { unleased_for_ms: Some(0), dry_run: true },
            RequestBody::Collect { unleased_for_ms: None, dry_run: true },
            inspecting("~1/t0"),
            inspecting("t0"),
        ];
        for conn in clients.iter().map(|(conn, _)| *conn).chain([operator]) {
            for ask in &asks {
                play.pond.turns.set_slice(100_000);
                play.later(0);
                let at_once = play.ask(conn, ask.clone());
                play.pond.turns.set_slice(slice);
                play.later(0);
                prop_assert_eq!(play.ask(conn, ask.clone()), at_once);
            }
        }
        // What would be given back is what is given back.
        let collect = |dry_run| RequestBody::Collect { unleased_for_ms: Some(0), dry_run };
        let planned = play.ask(operator, collect(true));
        prop_assert_eq!(play.ask(operator, collect(false)), planned);
        play.check_held();
    }
}
