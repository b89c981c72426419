//! Elastic caches, as far as the policy knows them: which connections have some.

use millpond_wire::message::{CacheOpen, CacheSlot, Pressure};
use millpond_wire::{CacheId, ErrorKind, GroupName, TensorName};

use super::*;
use crate::policy::{GroupAsk, GroupWork};

fn open() -> RequestBody {
    RequestBody::CacheOpen(Box::new(CacheOpen {
        cache: CacheId(uuid::Uuid::from_u128(1)),
        group: GroupName::new("serving").unwrap(),
        name: TensorName::new("kv").unwrap(),
        device: GPU,
        slot: Some(CacheSlot { index: 0, serial: 1 }),
        reserved_bytes: 1 << 40,
        granule_bytes: 2 << 20,
        segments: 1,
        min_bytes: 0,
        weight: 1,
    }))
}

fn request() -> Pressure {
    Pressure {
        cache: CacheId(uuid::Uuid::from_u128(1)),
        ask: 1,
        bytes: 5,
        beyond_idle_bytes: 0,
        wait_ms: 100,
        revision: 1,
        reason: "a commit falls short".into(),
    }
}

impl Play {
    fn opened(&mut self, user: u32) -> ConnId {
        let (conn, _) = self.client(user);
        let number = self.start(conn, open());
        let GroupAsk { work, .. } = self.world.group_asks.pop().unwrap();
        assert!(matches!(work, GroupWork::OpenCache(_, program) if !program.is_empty()));
        self.pond.group_answered(&mut self.world, conn, number, Ok(ReplyBody::Done));
        conn
    }
}

#[test]
fn a_connection_with_caches_is_asked_for_pages_and_its_end_is_told() {
    let mut play = Play::new();
    let (other, _) = play.client(7);
    let conn = play.opened(7);
    play.pond.press(&mut play.world, other, request());
    assert_eq!(play.answer(0), None, "it has no cache");
    play.pond.press(&mut play.world, conn, request());
    assert_eq!(play.answer(0), Some(ReplyBody::Pressure(Box::new(request()))));
    play.pond.hung_up(&mut play.world, other);
    assert!(play.world.group_asks.is_empty());
    play.pond.hung_up(&mut play.world, conn);
    let ask = play.world.group_asks.pop().unwrap();
    assert_eq!((ask.conn, ask.work), (conn, GroupWork::HungUp));
    play.pond.press(&mut play.world, conn, request());
    assert_eq!(play.answer(0), None);
}

#[test]
fn a_process_that_reads_nothing_is_not_asked_without_end() {
    let mut play = Play::new();
    let conn = play.opened(7);
    play.world.unread.insert(conn, 1 << 20);
    play.pond.press(&mut play.world, conn, request());
    assert_eq!(play.answer(0), None);
    play.world.unread.remove(&conn);
    play.pond.press(&mut play.world, conn, request());
    assert!(play.answer(0).is_some());
}

#[test]
fn only_a_process_with_caches_is_ended_for_its_silence() {
    let mut play = Play::new();
    let (other, _) = play.client(7);
    let conn = play.opened(7);
    play.pond.end_silent(&mut play.world, other);
    assert!(play.world.killed.is_empty());
    play.pond.end_silent(&mut play.world, conn);
    assert_eq!(play.world.killed.len(), 1);
}

#[test]
fn a_create_without_room_has_caches_asked_and_waits_a_moment() {
    for full in [true, false] {
        let mut play = Play::new();
        let (conn, _) = play.client(7);
        play.opened(8);
        let number = play.start(conn, RequestBody::TensorCreate(spec("x", 64 * MIB)));
        let (mut waited, mut pressed) = (0, 0);
        let answer = loop {
            let (slab, ..) = play.world.asked.pop().unwrap();
            let no = DriverFailure {
                out_of_memory: full,
                text: "no".into(),
                over_limit: (!full).then(|| {
                    let answer = Failure::new(ErrorKind::GpuFull, "no room");
                    Box::new(OverLimit { answer, soon: false })
                }),
            };
            play.pond.slab_made(&mut play.world, slab, Err(no));
            for ask in play.world.group_asks.drain(..) {
                assert_eq!((ask.by.user, ask.work), (7, GroupWork::Press(GPU, 64 * MIB)));
                pressed += 1;
            }
            if let Some(answer) = play.answer(number) {
                break answer;
            }
            let pause = play.pond.tick(&mut play.world).unwrap() - play.world.now;
            play.later(pause);
            waited += pause;
        };
        assert!(matches!(answer, ReplyBody::Failure(_)), "{answer:?}");
        assert_eq!(pressed, 2);
        assert!((50..=200).contains(&waited), "{waited} ms");
    }
}
