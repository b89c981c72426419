//! Any sequence of waits, answers, hang-ups and limits.

use millpond_wire::message::Gave;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Want(u16, u64),
    Give(usize, u8),
    HangUp(u16),
    Open(u16),
    Wait(u64),
    Limit(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..5u16, 1..60u64).prop_map(|(cache, mib)| Step::Want(cache, mib)),
        6 => (any::<usize>(), 0..3u8).prop_map(|(ask, how)| Step::Give(ask, how)),
        1 => (1..5u16).prop_map(Step::HangUp),
        2 => (1..5u16).prop_map(Step::Open),
        3 => (1..400u64).prop_map(Step::Wait),
        1 => (20..120u64).prop_map(Step::Limit),
    ]
}

proptest! {
    /// Whatever happens: every request is answered once, in turn, nobody is assigned more than the
    /// limit, and nobody is asked for more than it has.
    #[test]
    fn every_wait_ends_and_the_limit_holds(steps in prop::collection::vec(step(), 1..60)) {
        let mut bench = Bench::new(100, &[(60, 20), (40, 0), (0, 0), (0, 0)]);
        let mut open: Vec<(u16, u64, u64, u64)> = Vec::new();
        let mut waiting: Vec<u64> = Vec::new();
        for step in steps {
            match step {
                Step::Want(cache, mib) if !waiting.contains(&cache.into()) => {
                    let by = (ConnId(cache.into()), 1);
                    let what = (id(cache), mib * MIB * UNIT, 1000);
                    if bench.pressure.want(by, what, bench.now, &bench.files).is_ok() {
                        waiting.push(cache.into());
                    }
                }
                Step::Want(..) => {}
                Step::Give(index, how) if !open.is_empty() => {
                    let (cache, ask, mib, _) = open.swap_remove(index % open.len());
                    let held = bench.files.0.borrow().slots[&cache].held / MIB;
                    let (given, outcome) = match how {
                        0 => (mib, Gave::Applied),
                        1 => (mib / 2, Gave::Deferred),
                        _ => (0, Gave::Refused),
                    };
                    if bench.pressure.caches.contains_key(&id(cache)) {
                        bench.gave(cache, ask, given.min(held), outcome);
                    }
                }
                Step::Give(..) => {}
                Step::HangUp(cache) => {
                    bench.hang_up(cache);
                    waiting.retain(|it| *it != u64::from(cache));
                    open.retain(|ask| ask.0 != cache);
                }
                Step::Open(cache) => bench.open(cache, 0, 1),
                Step::Wait(ms) => bench.wait(ms),
                Step::Limit(mib) => bench.files.0.borrow_mut().limit = mib * MIB,
            }
            let (asks, answers, _) = bench.said();
            for (conn, answer) in answers {
                prop_assert!(waiting.contains(&conn), "an answer that nobody waits for");
                waiting.retain(|it| *it != conn);
                let mut ledger = bench.files.0.borrow_mut();
                let claims: u64 = ledger.slots.values().map(|it| it.held + it.assigned).sum();
                let limit = ledger.limit;
                let slot = ledger.slots.get_mut(&u16::try_from(conn).unwrap()).unwrap();
                if answer.is_ok() {
                    prop_assert!(claims <= limit, "assigned over the limit");
                    slot.held += std::mem::take(&mut slot.assigned);
                }
                prop_assert_eq!(slot.wanted, 0);
            }
            for ask in &asks {
                let held = bench.files.0.borrow().slots[&ask.0].held / MIB;
                prop_assert!(ask.2 <= held, "asked for {} of {held}", ask.2);
            }
            open.extend(asks);
        }
        for _ in 0..40 {
            bench.wait(100);
            for (conn, _) in bench.said().1 {
                waiting.retain(|it| *it != conn);
            }
        }
        prop_assert!(waiting.is_empty(), "somebody waits for ever: {waiting:?}");
        prop_assert!(bench.pressure.asks.is_empty());
    }
}
