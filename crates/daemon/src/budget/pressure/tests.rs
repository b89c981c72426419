mod sequences;

use std::cell::RefCell;

use millpond_wire::TensorName;
use millpond_wire::message::{CacheGave, CacheSlot, Gave};

use super::*;

const MIB: u64 = (1 << 20) / UNIT;
const GPU: GpuUuid = GpuUuid([7; 16]);

/// One group's ledger: a limit, and slots that hold what they hold.
#[derive(Default)]
struct Ledger {
    limit: u64,
    ends_silent: bool,
    dying: bool,
    busy: bool,
    now: u64,
    slots: BTreeMap<u16, Slot>,
}

#[derive(Default, Clone, Copy)]
struct Slot {
    held: u64,
    idle: u64,
    wanted: u64,
    /// Until when that is owed.
    until: u64,
    assigned: u64,
}

struct Files(RefCell<Ledger>);

impl Credits for Files {
    fn slot(&self, _: &Account, slot: SlotIndex) -> Option<SlotReading> {
        let ledger = self.0.borrow();
        let slot = ledger.slots.get(&u16::try_from(slot.get()).unwrap())?;
        Some(SlotReading { held: slot.held, idle: slot.idle, wanted: slot.wanted })
    }

    fn rules(&self, _: &Account) -> GroupRules {
        let Ledger { limit, ends_silent, dying, .. } = *self.0.borrow();
        GroupRules { limit, revision: 3, ends_silent, dying }
    }

    fn want(&self, _: &Account, slot: SlotIndex, units: u64, ms: u64) -> Result<(), Unassigned> {
        let mut ledger = self.0.borrow_mut();
        if ledger.busy {
            return Err(Unassigned::Busy);
        }
        let until = ledger.now + ms;
        let slot = ledger.slots.get_mut(&u16::try_from(slot.get()).unwrap());
        let slot = slot.ok_or(Unassigned::Gone)?;
        (slot.wanted, slot.until) = (units, until);
        Ok(())
    }

    fn assign(&self, _: &Account, slot: SlotIndex) -> Result<(), Unassigned> {
        let mut ledger = self.0.borrow_mut();
        let claims: u64 = ledger.slots.values().map(|it| it.held + it.assigned).sum();
        let (room, now) = (ledger.limit.saturating_sub(claims), ledger.now);
        let slot = ledger.slots.get_mut(&u16::try_from(slot.get()).unwrap());
        let slot = slot.ok_or(Unassigned::Gone)?;
        if slot.until <= now {
            // To a slot that waits for nothing, nothing is assigned.
            return Ok(());
        }
        if slot.wanted > room {
            return Err(Unassigned::Short(slot.wanted - room));
        }
        slot.assigned += std::mem::take(&mut slot.wanted);
        Ok(())
    }

    fn unwant(&self, _: &Account, slot: SlotIndex) {
        let mut ledger = self.0.borrow_mut();
        if let Some(slot) = ledger.slots.get_mut(&u16::try_from(slot.get()).unwrap()) {
            slot.wanted = 0;
        }
    }
}

/// Cache, number, MiB, MiB beyond what is idle.
type Asked = (u16, u64, u64, u64);
type Answered = (u64, Result<(), Failure>);

struct Bench {
    pressure: Pressure,
    files: Files,
    now: u64,
}

fn id(number: u16) -> CacheId {
    CacheId(uuid::Uuid::from_u128(number.into()))
}

fn account() -> Account {
    Account { group: GroupName::new("serving").unwrap(), device: GPU }
}

impl Bench {
    /// Caches with what they hold and what of it is idle, in MiB; each has a connection of its own.
    fn new(limit: u64, caches: &[(u64, u64)]) -> Self {
        let ledger = Ledger { limit: limit * MIB, now: 1000, ..Ledger::default() };
        let mut bench =
            Self { pressure: Pressure::default(), files: Files(RefCell::new(ledger)), now: 1000 };
        for (number, (held, idle)) in (1..).zip(caches) {
            bench.open(number, 0, 1);
            bench.hold(number, *held, *idle);
        }
        bench.pressure.take_said();
        bench
    }

    fn open(&mut self, number: u16, min_mib: u64, weight: u32) {
        let open = CacheOpen {
            cache: id(number),
            group: account().group,
            name: TensorName::new(format!("kv{number}")).unwrap(),
            device: GPU,
            slot: Some(CacheSlot { index: number.into(), serial: 1 }),
            reserved_bytes: 1 << 30,
            granule_bytes: 2 << 20,
            segments: 1,
            min_bytes: min_mib * MIB * UNIT,
            weight,
        };
        let opened = Opened {
            conn: ConnId(number.into()),
            user: 5,
            pid: 100 + u32::from(number),
            program: "engine".into(),
            slot: SlotIndex::named(number, 1),
            open,
        };
        self.pressure.open(opened).unwrap();
    }

    fn hold(&mut self, number: u16, held: u64, idle: u64) {
        let mut ledger = self.files.0.borrow_mut();
        let slot = ledger.slots.entry(number).or_default();
        (slot.held, slot.idle, slot.assigned) = (held * MIB, idle * MIB, 0);
    }

    fn want(&mut self, number: u16, mib: u64, wait_ms: u64) {
        let by = (ConnId(number.into()), 77);
        let what = (id(number), mib * MIB * UNIT, wait_ms);
        self.pressure.want(by, what, self.now, &self.files).unwrap();
    }

    fn gave(&mut self, number: u16, ask: u64, mib: u64, outcome: Gave) {
        {
            let mut ledger = self.files.0.borrow_mut();
            let slot = ledger.slots.get_mut(&number).unwrap();
            slot.held -= mib * MIB;
            slot.idle = slot.idle.min(slot.held);
        }
        let gave = CacheGave { cache: id(number), ask, bytes: mib * MIB * UNIT, outcome };
        self.pressure.gave(ConnId(number.into()), gave, self.now, &self.files).unwrap();
    }

    fn hang_up(&mut self, number: u16) {
        self.pressure.hung_up(ConnId(number.into()), self.now, &self.files);
    }

    fn wait(&mut self, ms: u64) {
        self.now += ms;
        self.files.0.borrow_mut().now = self.now;
        self.pressure.tick(self.now, &self.files);
    }

    /// Requests since the last look: cache, number, MiB, MiB beyond what is idle.
    fn said(&mut self) -> (Vec<Asked>, Vec<Answered>, Vec<ConnId>) {
        let (mut asks, mut answers, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        for say in self.pressure.take_said() {
            match say {
                Say::Ask { conn, request } => asks.push((
                    u16::try_from(conn.0).unwrap(),
                    request.ask,
                    request.bytes / UNIT / MIB,
                    request.beyond_idle_bytes / UNIT / MIB,
                )),
                Say::Answer { conn, answer, .. } => answers.push((conn.0, answer)),
                Say::End { conn } => ended.push(conn),
                Say::Event { .. } => {}
            }
        }
        (asks, answers, ended)
    }
}

#[test]
fn what_is_free_is_assigned_at_once() {
    let mut bench = Bench::new(100, &[(50, 0), (0, 0)]);
    bench.want(2, 50, 1000);
    assert_eq!(bench.said(), (vec![], vec![(2, Ok(()))], vec![]));
}

#[test]
fn idle_pages_are_asked_for_first_then_what_their_owner_offers() {
    let mut bench = Bench::new(100, &[(60, 20), (40, 0), (0, 0)]);
    bench.want(3, 30, 1000);
    let (asks, answers, _) = bench.said();
    assert_eq!(asks, [(1, 1, 25, 5), (2, 2, 5, 5)], "what is left is level");
    assert!(answers.is_empty());
    bench.gave(1, 1, 20, Gave::Deferred);
    assert_eq!(bench.said(), (vec![], vec![], vec![]), "the rest follows");
    bench.gave(1, 1, 5, Gave::Applied);
    bench.gave(2, 2, 5, Gave::Applied);
    assert_eq!(bench.said(), (vec![], vec![(3, Ok(()))], vec![]));
}

#[test]
fn who_waits_first_is_served_first() {
    let mut bench = Bench::new(100, &[(100, 0), (0, 0), (0, 0)]);
    bench.want(2, 60, 1000);
    bench.want(3, 10, 1000);
    let (asks, ..) = bench.said();
    assert_eq!(asks, [(1, 1, 60, 60)]);
    bench.gave(1, 1, 30, Gave::Deferred);
    assert!(bench.said().1.is_empty(), "30 would be enough for the second");
    bench.gave(1, 1, 30, Gave::Applied);
    let (asks, answers, _) = bench.said();
    assert_eq!(answers, [(2, Ok(()))]);
    assert_eq!(asks, [(1, 2, 10, 10)]);
    bench.gave(1, 2, 10, Gave::Applied);
    assert_eq!(bench.said().1, [(3, Ok(()))]);
}

#[test]
fn a_look_that_comes_late_takes_no_wait_for_served() {
    let mut bench = Bench::new(100, &[(100, 0), (0, 0)]);
    bench.want(2, 60, 1000);
    bench.said();
    // The thread was held up until what the ledger had noted was over.
    bench.wait(1000 + 1000 + 1);
    let failure = bench.said().1[0].1.clone().unwrap_err();
    assert_eq!(failure.kind, ErrorKind::GpuFull);
    let mut bench = Bench::new(100, &[(100, 0), (0, 0)]);
    bench.want(2, 60, 1000);
    bench.said();
    bench.hold(1, 40, 0);
    bench.wait(5000);
    assert_eq!(bench.said().1, [(2, Ok(()))], "there is room by now");
    assert_eq!(bench.files.0.borrow().slots[&2].assigned, 60 * MIB);
}

#[test]
fn a_wait_ends_by_its_time_also_behind_another() {
    let mut bench = Bench::new(100, &[(100, 0), (0, 0), (0, 0)]);
    bench.want(2, 60, 10_000);
    bench.want(3, 10, 100);
    bench.said();
    bench.wait(100);
    let (_, answers, _) = bench.said();
    assert_eq!(answers.len(), 1);
    assert_eq!((answers[0].0, answers[0].1.is_err()), (3, true));
    assert_eq!(bench.files.0.borrow().slots[&3].wanted, 0, "nothing is kept for it");
    assert!(bench.pressure.next_ms().unwrap() > bench.now, "there is nothing to do at once");
}

#[test]
fn several_waits_of_one_slot_are_served_one_after_the_other() {
    let mut bench = Bench::new(100, &[(100, 0), (0, 0)]);
    bench.want(2, 60, 1000);
    bench.want(2, 10, 1000);
    assert_eq!(bench.files.0.borrow().slots[&2].wanted, 60 * MIB, "the first is owed");
    bench.said();
    bench.gave(1, 1, 60, Gave::Applied);
    assert_eq!(bench.said().1, [(2, Ok(()))]);
    bench.hold(2, 60, 0);
    assert_eq!(bench.files.0.borrow().slots[&2].wanted, 10 * MIB);
    bench.gave(1, 2, 10, Gave::Applied);
    assert_eq!(bench.said().1, [(2, Ok(()))]);
    assert_eq!(bench.files.0.borrow().slots[&2].assigned, 10 * MIB);
}

#[test]
fn a_hang_up_that_is_noticed_late_leaves_what_the_next_connection_waits_for() {
    let mut bench = Bench::new(100, &[(100, 0), (0, 0)]);
    bench.want(2, 60, 1000);
    let mut opened = bench.pressure.caches[&id(2)].opened.clone();
    opened.conn = ConnId(20);
    bench.pressure.open(opened).unwrap();
    let what = (id(2), 60 * MIB * UNIT, 1000);
    bench.pressure.want((ConnId(20), 1), what, bench.now, &bench.files).unwrap();
    bench.pressure.hung_up(ConnId(2), bench.now, &bench.files);
    bench.said();
    bench.gave(1, 1, 60, Gave::Applied);
    assert_eq!(bench.said().1, [(20, Ok(()))]);
    assert_eq!(bench.files.0.borrow().slots[&2].assigned, 60 * MIB);
}

#[test]
fn nobody_waits_for_what_nobody_gives() {
    let mut bench = Bench::new(100, &[(90, 0), (10, 0)]);
    bench.want(2, 20, 1000);
    let (asks, ..) = bench.said();
    bench.gave(1, asks[0].1, 4, Gave::Refused);
    let (asks, answers, _) = bench.said();
    assert!(asks.is_empty());
    let failure = answers[0].1.clone().unwrap_err();
    assert_eq!(failure.kind, ErrorKind::GpuFull);
    assert_eq!(failure.requested_bytes, Some(20 << 20));
    assert_eq!(failure.free_bytes, Some(4 << 20));
    assert_eq!(failure.capacity_bytes, Some(100 << 20));
    let holder = &failure.holders[0];
    assert_eq!(
        (holder.bytes, holder.cache.as_deref()),
        (86 << 20, Some("'kv1' of engine (pid 101)"))
    );
    assert_eq!(bench.files.0.borrow().slots[&2].wanted, 0, "nothing is kept for it");
}

#[test]
fn what_has_become_idle_since_a_refusal_is_asked_for_at_once_and_the_rest_is_not() {
    let mut bench = Bench::new(100, &[(90, 0), (10, 0)]);
    bench.want(2, 20, 1000);
    let (asks, ..) = bench.said();
    bench.gave(1, asks[0].1, 0, Gave::Refused);
    assert!(bench.said().1[0].1.is_err());
    bench.want(2, 20, 1000);
    assert!(bench.said().1[0].1.is_err(), "nothing has changed");
    bench.hold(1, 90, 30);
    bench.want(2, 20, 1000);
    assert_eq!(bench.said().0[0].2, 20);
}

#[test]
fn a_commit_over_the_limit_says_so() {
    let mut bench = Bench::new(100, &[(0, 0)]);
    bench.want(1, 200, 1000);
    let failure = bench.said().1[0].1.clone().unwrap_err();
    assert!(failure.hint.unwrap().contains("--limit"));
}

#[test]
fn what_a_cache_has_just_got_stays_with_it() {
    let mut bench = Bench::new(100, &[(100, 0), (0, 0)]);
    bench.want(2, 40, 1000);
    bench.gave(1, 1, 40, Gave::Applied);
    bench.hold(2, 40, 0);
    bench.said();
    bench.want(1, 40, 1000);
    assert!(bench.said().1[0].1.is_err(), "no page goes to and fro");
    bench.wait(600);
    bench.want(1, 40, 1000);
    assert_eq!(bench.said().0, [(2, 2, 40, 40)]);
}

#[test]
fn a_min_is_left_and_a_limit_takes_it_all_the_same() {
    let mut bench = Bench::new(100, &[]);
    bench.open(1, 90, 1);
    bench.open(2, 0, 1);
    bench.hold(1, 100, 50);
    bench.hold(2, 0, 0);
    bench.want(2, 30, 1000);
    let (asks, ..) = bench.said();
    assert_eq!(asks, [(1, 1, 10, 0)]);
    bench.gave(1, 1, 10, Gave::Applied);
    assert!(bench.said().1[0].1.is_err());
    bench.pressure.over(&account(), 60 * MIB, bench.now, &bench.files);
    assert_eq!(bench.said().0, [(1, 2, 60, 10)]);
    bench.pressure.over(&account(), 60 * MIB, bench.now, &bench.files);
    assert_eq!(bench.said().0, [], "it was asked already");
}

#[test]
fn for_a_slab_only_idle_pages_are_asked_for() {
    let mut bench = Bench::new(100, &[(60, 20)]);
    assert!(bench.pressure.for_pond(&account(), 64 << 20, bench.now, &bench.files));
    assert_eq!(bench.said().0, [(1, 1, 20, 0)]);
}

#[test]
fn each_slab_is_asked_for_also_while_another_ones_pages_are_on_their_way() {
    let mut bench = Bench::new(100, &[(60, 50), (40, 0)]);
    for _ in 0..2 {
        assert!(bench.pressure.for_pond(&account(), 20 << 20, bench.now, &bench.files));
    }
    assert_eq!(bench.said().0, [(1, 1, 20, 0), (1, 2, 20, 0)]);
    // Nor do they count for a commit.
    bench.want(2, 10, 1000);
    assert_eq!(bench.said().0, [(1, 3, 10, 0)]);
}

#[test]
fn one_that_never_answers_costs_its_time_and_is_ended_only_where_that_is_allowed() {
    for allowed in [false, true] {
        let mut bench = Bench::new(100, &[(100, 0), (0, 0)]);
        bench.files.0.borrow_mut().ends_silent = allowed;
        bench.want(2, 40, 1000);
        assert_eq!(bench.pressure.next_ms(), Some(1500));
        bench.wait(499);
        assert_eq!(bench.said().2, []);
        bench.wait(1);
        let (_, answers, ended) = bench.said();
        if allowed {
            assert_eq!((answers.len(), ended), (0, vec![ConnId(1)]));
            bench.hang_up(1);
            bench.hold(1, 0, 0);
            bench.wait(10);
            assert_eq!(bench.said().1, [(2, Ok(()))]);
        } else {
            assert!(answers[0].1.is_err() && ended.is_empty());
        }
    }
}

#[test]
fn one_that_answers_and_gives_nothing_is_ended_like_a_silent_one_where_that_is_allowed() {
    for (allowed, says) in [(false, 0), (true, 0), (true, 5)] {
        let mut bench = Bench::new(100, &[(100, 0), (0, 0)]);
        bench.files.0.borrow_mut().ends_silent = allowed;
        let mut asked = 0;
        let mut ended = vec![];
        while asked < 60 && ended.is_empty() {
            bench.want(2, 40, 1000);
            let (asks, _, gone) = bench.said();
            for (cache, ask, ..) in asks {
                asked += 1;
                // What is said to be given, and is held as before.
                let gave = CacheGave {
                    cache: id(cache),
                    ask,
                    bytes: says * MIB * UNIT,
                    outcome: Gave::Refused,
                };
                bench.pressure.gave(ConnId(1), gave, bench.now, &bench.files).unwrap();
            }
            ended = [gone, bench.said().2].concat();
            bench.wait(100);
        }
        assert_eq!(ended, if allowed { vec![ConnId(1)] } else { vec![] });
        assert_eq!(asked, if allowed { 20 } else { 60 });
    }
}

#[test]
fn one_that_gives_something_now_and_then_is_not_ended() {
    let mut bench = Bench::new(100, &[(100, 0), (0, 0)]);
    bench.files.0.borrow_mut().ends_silent = true;
    for round in 1..60 {
        bench.want(2, 90, 1000);
        let (asks, _, ended) = bench.said();
        assert_eq!(ended, []);
        for (_, ask, ..) in asks {
            bench.gave(1, ask, u64::from(round % 15 == 0), Gave::Refused);
        }
        bench.wait(100);
    }
    assert_eq!(bench.said().2, []);
}

#[test]
fn what_the_dead_had_is_waited_for() {
    let mut bench = Bench::new(100, &[(0, 0)]);
    bench.files.0.borrow_mut().slots.insert(9, Slot { held: 100 * MIB, ..Slot::default() });
    bench.files.0.borrow_mut().dying = true;
    bench.want(1, 40, 1000);
    assert_eq!(bench.said().1, []);
    bench.files.0.borrow_mut().slots.remove(&9);
    assert_eq!(bench.pressure.next_ms(), Some(10));
    bench.wait(10);
    assert_eq!(bench.said().1, [(1, Ok(()))]);
}

#[test]
fn a_holder_that_dies_serves_the_waiter_although_its_slot_looks_alive_for_a_moment() {
    // Another one was asked as well, and takes its time.
    let mut bench = Bench::new(100, &[(50, 0), (50, 0), (0, 0)]);
    bench.want(3, 40, 10_000);
    assert_eq!(bench.said().0.len(), 2);
    bench.hang_up(1);
    bench.wait(10);
    assert_eq!(bench.said(), (vec![(2, 3, 20, 20)], vec![], vec![]), "in case that it lives");
    bench.files.0.borrow_mut().slots.remove(&1);
    assert_eq!(bench.pressure.next_ms(), Some(bench.now + 10), "looked at before any answer");
    bench.wait(10);
    assert_eq!(bench.said().1, [(3, Ok(()))]);
}

#[test]
fn a_new_daemon_lets_caches_come_back_before_it_refuses() {
    let mut bench = Bench::new(100, &[(0, 0)]);
    bench.files.0.borrow_mut().slots.insert(2, Slot { held: 100 * MIB, ..Slot::default() });
    bench.now = 20;
    bench.want(1, 40, 10_000);
    assert_eq!(bench.said(), (vec![], vec![], vec![]));
    bench.open(2, 0, 1);
    bench.said();
    bench.wait(10);
    assert_eq!(bench.said().0, [(2, 1, 40, 40)]);
    bench.gave(2, 1, 0, Gave::Refused);
    bench.wait(10);
    assert_eq!(bench.said().1, [], "others may come");
    bench.wait(1000);
    assert_eq!(bench.said().0, [(2, 2, 40, 40)]);
    bench.gave(2, 2, 0, Gave::Refused);
    assert!(bench.said().1[0].1.is_err());
}

#[test]
fn a_hang_up_ends_waits_and_requests_and_the_process_says_everything_again() {
    let mut bench = Bench::new(100, &[(100, 0), (0, 0), (0, 0)]);
    bench.want(2, 40, 1000);
    bench.want(3, 10, 1000);
    bench.said();
    bench.hang_up(2);
    assert_eq!(bench.files.0.borrow().slots[&2].wanted, 0);
    bench.hang_up(1);
    bench.wait(999);
    assert_eq!(bench.said().1, [], "it may be dying, or come back");
    bench.wait(1);
    assert!(bench.said().1[0].1.is_err(), "nobody is there to give anything to the third");
    bench.open(1, 0, 1);
    bench.want(3, 10, 1000);
    assert_eq!(bench.said().0, [(1, 2, 10, 10)]);
    let by = (ConnId(2), 5);
    let failure = bench.pressure.want(by, (id(2), 1, 1), bench.now, &bench.files).unwrap_err();
    assert_eq!(failure.kind, ErrorKind::NotFound);
}

#[test]
fn a_cache_belongs_to_its_process() {
    let mut bench = Bench::new(100, &[(10, 0)]);
    let mut other = bench.pressure.caches[&id(1)].opened.clone();
    other.pid = 999;
    assert_eq!(bench.pressure.open(other).unwrap_err().kind, ErrorKind::Denied);
    bench.pressure.close(ConnId(2), id(1));
    assert_eq!(bench.pressure.list(None, &bench.files).len(), 1);
    let info = &bench.pressure.list(Some(&account().group), &bench.files)[0];
    assert_eq!((info.held_bytes, info.pid), (10 << 20, 101));
    bench.pressure.close(ConnId(1), id(1));
    assert!(bench.pressure.is_empty());
}

#[test]
fn a_slot_is_of_one_cache_but_for_a_program_that_is_limited_itself() {
    let mut bench = Bench::new(100, &[(10, 0)]);
    let mut again = bench.pressure.caches[&id(1)].opened.clone();
    again.open.cache = id(77);
    assert_eq!(bench.pressure.open(again.clone()).unwrap_err().kind, ErrorKind::TooMany);
    again.open.slot = None;
    again.slot = SlotIndex::named(9, 1);
    for number in 0..64 {
        again.open.cache = id(100 + number);
        bench.pressure.open(again.clone()).unwrap();
    }
    again.open.cache = id(500);
    assert_eq!(bench.pressure.open(again).unwrap_err().kind, ErrorKind::TooMany);
}

#[test]
fn a_lock_that_somebody_keeps_is_tried_again() {
    let mut bench = Bench::new(100, &[(0, 0)]);
    bench.files.0.borrow_mut().busy = true;
    bench.want(1, 10, 100);
    assert_eq!(bench.said().1, []);
    bench.files.0.borrow_mut().busy = false;
    bench.wait(10);
    assert_eq!(bench.said().1, [(1, Ok(()))]);
    bench.files.0.borrow_mut().busy = true;
    bench.want(1, 10, 100);
    bench.wait(100);
    assert_eq!(bench.said().1[0].1.as_ref().unwrap_err().kind, ErrorKind::Later);
}
