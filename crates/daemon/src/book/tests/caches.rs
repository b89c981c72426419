//! Caches with real ledgers: what they are charged, who is asked, who gets what was given.

use millpond_ledger::{DeviceIndex, UNIT};
use millpond_wire::message::{CacheGave, CacheInfo, CacheOpen, CacheSlot, Gave};
use millpond_wire::{CacheId, TensorName};

use super::*;

/// A cache of this process: its slot, and how much it holds.
struct TestCache {
    id: CacheId,
    conn: ConnId,
    member: Member,
    device: DeviceIndex,
}

impl TestCache {
    fn take(&self, bytes: u64) -> Result<(), millpond_ledger::Refused> {
        self.member.reserve(self.device, u32::try_from(bytes / UNIT).unwrap())
    }

    fn give(&self, bytes: u64) {
        self.member.release(self.device, u32::try_from(bytes / UNIT).unwrap());
        self.member.give_back(self.device);
    }
}

impl Play {
    fn say(&mut self, conn: ConnId, work: GroupWork) -> Option<Result<ReplyBody, Failure>> {
        self.shelf.asked(GroupAsk { conn, number: 9, by: me(), work });
        self.hear()
    }

    fn open(&mut self, group: &str, conn: u64) -> TestCache {
        let folder = c_path(&self.shelf.folders.of(&name(group))).unwrap();
        let member = Member::attach_cache(&folder).unwrap();
        let device = member.device(GPU.0).unwrap();
        let cache = TestCache { id: CacheId::random(), conn: ConnId(conn), member, device };
        let open = opening(group, &cache);
        let answer = self.say(cache.conn, GroupWork::OpenCache(Box::new(open), "engine".into()));
        assert_eq!(answer, Some(Ok(ReplyBody::Done)));
        cache
    }

    fn caches(&mut self) -> Vec<CacheInfo> {
        match self.ask(GroupWork::Caches(None)).unwrap() {
            ReplyBody::Caches(caches) => caches,
            other => panic!("{other:?}"),
        }
    }
}

fn opening(group: &str, cache: &TestCache) -> CacheOpen {
    let slot = cache.member.slot_index();
    let index = u32::try_from(slot.get()).unwrap();
    CacheOpen {
        cache: cache.id,
        group: name(group),
        name: TensorName::new(format!("kv{}", cache.conn.0)).unwrap(),
        device: GPU,
        slot: Some(CacheSlot { index, serial: slot.serial() }),
        reserved_bytes: 64 * GIB,
        granule_bytes: 2 << 20,
        segments: 1,
        min_bytes: 0,
        weight: 1,
    }
}

#[test]
fn memory_moves_from_one_cache_to_another() {
    let mut play = Play::new();
    play.make("serving", GIB);
    let (a, b) = (play.open("serving", 1), play.open("serving", 2));
    a.take(GIB).unwrap();
    a.member.set_idle(a.device, GIB / 4 / UNIT);
    assert!(b.take(GIB / 2).is_err());
    assert_eq!(play.say(b.conn, GroupWork::Want(b.id, GIB / 2, 10_000)), None);
    let (conn, request) = play.pressed.pop().unwrap();
    assert_eq!((conn, request.bytes, request.beyond_idle_bytes), (a.conn, GIB / 2, GIB / 4));
    assert_eq!(play.caches()[0].asked_bytes + play.caches()[1].asked_bytes, GIB / 2);
    a.give(GIB / 2);
    let gave = CacheGave { cache: a.id, ask: request.ask, bytes: GIB / 2, outcome: Gave::Applied };
    assert_eq!(play.say(a.conn, GroupWork::Gave(gave)), Some(Ok(ReplyBody::Done)));
    assert!(a.take(1 << 20).is_err(), "it is the waiter's");
    b.take(GIB / 2).unwrap();
    let kinds: Vec<EventKind> = play.events.iter().map(|(kind, ..)| *kind).collect();
    use EventKind::{CacheGave as Given, CacheGot, CachePressed};
    for kind in [CachePressed, Given, CacheGot] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    let info = play.caches().into_iter().find(|it| it.cache == a.id).unwrap();
    assert_eq!((info.held_bytes, info.given_bytes), (GIB / 2, GIB / 2));
}

#[test]
fn a_lower_limit_asks_for_what_is_above_it() {
    let mut play = Play::new();
    play.make("serving", GIB);
    let a = play.open("serving", 1);
    a.take(GIB).unwrap();
    let limit = Some(GroupLimit::Bytes(GIB / 4));
    play.set(GroupSet { limit, ..GroupSet::of(name("serving")) }).unwrap();
    let (conn, request) = play.pressed.pop().unwrap();
    assert_eq!((conn, request.bytes), (a.conn, GIB - GIB / 4));
    assert!(request.revision > 0);
}

#[test]
fn a_slab_that_finds_no_room_asks_for_idle_pages() {
    let mut play = Play::new();
    play.make("serving", GIB);
    let users = Some(vec![me().user]);
    play.set(GroupSet { users, ..GroupSet::of(name("serving")) }).unwrap();
    let a = play.open("serving", 1);
    a.take(GIB).unwrap();
    a.member.set_idle(a.device, GIB / 4 / UNIT);
    assert_eq!(play.say(ConnId(7), GroupWork::Press(GPU, GIB / 2)), None);
    assert_eq!(play.pressed.pop().unwrap().1.bytes, GIB / 4);
}

#[test]
fn a_cache_is_of_a_slot_that_its_process_has() {
    let mut play = Play::new();
    play.make("serving", GIB);
    play.make("other", GIB);
    let a = play.open("serving", 1);
    let mut wrong = opening("serving", &a);
    wrong.slot = Some(CacheSlot { index: 700, serial: 1 });
    let answer = play.say(a.conn, GroupWork::OpenCache(Box::new(wrong), String::new()));
    assert_eq!(answer.unwrap().unwrap_err().kind, ErrorKind::NotFound);
    let elsewhere = opening("other", &a);
    let answer = play.say(a.conn, GroupWork::OpenCache(Box::new(elsewhere), String::new()));
    assert_eq!(answer.unwrap().unwrap_err().kind, ErrorKind::NotFound);
    let stranger = GroupCaller { user: 4242, operator: false, ..me() };
    let open = opening("serving", &a);
    let work = GroupWork::OpenCache(Box::new(open), String::new());
    assert_eq!(play.ask_as(stranger, work).unwrap_err().kind, ErrorKind::Denied);
    let listed = play.ask_as(stranger, GroupWork::Caches(None)).unwrap();
    assert_eq!(listed, ReplyBody::Caches(Vec::new()));
}

#[test]
fn a_process_without_a_number_does_not_pay_with_the_slot_of_another() {
    let mut play = Play::new();
    play.make("serving", GIB);
    let a = play.open("serving", 1);
    let (_member, _) = play.member("serving");
    let limited = || {
        let open = CacheOpen { slot: None, cache: CacheId::random(), ..opening("serving", &a) };
        GroupWork::OpenCache(Box::new(open), String::new())
    };
    let outside = GroupCaller { pid: 0, ..me() };
    assert_eq!(play.ask_as(outside, limited()).unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(play.ask_as(me(), limited()), Ok(ReplyBody::Done));
}

#[test]
fn a_program_that_is_limited_has_no_caches_in_another_group() {
    let mut play = Play::new();
    play.make("serving", GIB);
    play.make("jail", GIB);
    let (_member, _) = play.member("jail");
    let folder = c_path(&play.shelf.folders.of(&name("serving"))).unwrap();
    let member = Member::attach_cache(&folder).unwrap();
    let device = member.device(GPU.0).unwrap();
    let cache = TestCache { id: CacheId::random(), conn: ConnId(1), member, device };
    let open = opening("serving", &cache);
    let answer = play.say(cache.conn, GroupWork::OpenCache(Box::new(open), String::new()));
    assert_eq!(answer.unwrap().unwrap_err().kind, ErrorKind::Denied);
}

#[test]
fn what_else_the_process_of_a_cache_holds_is_not_folded_into_its_slot() {
    let mut play = Play::new();
    play.make("serving", GIB);
    let a = play.open("serving", 1);
    a.take(GIB / 4).unwrap();
    play.card_says(GIB * 3, GIB * 2);
    play.card_says(GIB * 3, GIB * 2);
    let details = play.inspect("serving");
    assert!(!details.info.lying);
    assert_eq!(details.info.processes, 1);
    let member = &details.members[0];
    assert_eq!(member.cache.as_deref(), Some("kv1"));
    assert_eq!((member.devices[0].folded_bytes, member.devices[0].physical_bytes), (0, None));
    assert_eq!(member.devices[0].charged_bytes, GIB / 4);
}

#[test]
fn a_process_that_has_gone_gives_everything_to_who_waits() {
    let mut play = Play::new();
    play.make("serving", GIB);
    let (a, b) = (play.open("serving", 1), play.open("serving", 2));
    a.take(GIB).unwrap();
    assert_eq!(play.say(b.conn, GroupWork::Want(b.id, GIB, 60_000)), None);
    let conn = a.conn;
    drop(a);
    assert_eq!(play.say(conn, GroupWork::HungUp), None);
    let end = Instant::now() + Duration::from_secs(30);
    let answer = loop {
        play.shelf.look_at_pressure();
        if let Some(answer) = play.hear() {
            break answer;
        }
        assert!(Instant::now() < end, "nobody is served");
        std::thread::sleep(Duration::from_millis(1));
    };
    assert_eq!(answer, Ok(ReplyBody::Done));
    b.take(GIB).unwrap();
}
