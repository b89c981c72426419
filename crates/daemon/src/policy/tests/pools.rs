//! Memory pools: a mover makes them, and their descriptor keeps them.

use millpond_mover::channel::FromMover;
use millpond_wire::message::{EventKind, TensorGrant};
use millpond_wire::{ErrorKind, HANDLE_BYTES, Survives, Transport};

use super::hosts::over_limit;
use super::moves::PIDFD;
use super::*;

const POOL_FD: u64 = 920;
const DATA: [u8; HANDLE_BYTES] = [5; HANDLE_BYTES];

fn pool(name: &str, bytes: u64) -> TensorCreate {
    TensorCreate { transport: TransportKind::Mempool, ..spec(name, bytes) }
}

impl Play {
    fn start_pool(&mut self, conn: ConnId, create: TensorCreate) -> u64 {
        let number = self.start(conn, RequestBody::TensorCreate(create));
        self.charge();
        number
    }

    /// The pools that the mover was asked for, and those that it may drop, since the last time.
    fn pools_told(&mut self) -> (Vec<(SlabId, u64)>, Vec<SlabId>) {
        let (mut made, mut dropped) = (Vec::new(), Vec::new());
        for (message, _) in std::mem::take(&mut self.world.told) {
            match message {
                ToMover::MakePool { slab, bytes } => made.push((slab, bytes)),
                ToMover::DropPool { slab } => dropped.push(slab),
                _ => {}
            }
        }
        (made, dropped)
    }

    fn pool_made(&mut self, slab: SlabId) {
        let said = FromMover::PoolMade { slab, data: DATA };
        self.pond.mover_said(&mut self.world, GPU, said, Some(POOL_FD));
    }

    fn pool_failed(&mut self, slab: SlabId, out_of_memory: bool) {
        self.says(FromMover::PoolFailed { slab, out_of_memory, text: "cuMemPoolCreate".into() });
    }

    /// A tensor in a pool, with the mover that made it.
    fn create_pool(&mut self, conn: ConnId, create: TensorCreate) -> TensorInfo {
        let number = self.start_pool(conn, create);
        if !self.world.movers_wanted.is_empty() {
            self.mover_runs();
        }
        for (slab, _) in self.pools_told().0 {
            self.pool_made(slab);
        }
        match self.answer(number) {
            Some(ReplyBody::Tensor(grant)) => grant.info,
            other => panic!("not created: {other:?}"),
        }
    }
}

#[test]
fn a_pool_is_charged_made_held_journalled_and_answered() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.world.did.clear();
    let number = play.start(conn, RequestBody::TensorCreate(pool("x", 33 * MIB)));
    let (slab, device, bytes, user) = play.world.charged[0];
    assert_eq!((device, bytes, user), (GPU, 64 * MIB, 1), "what a pool takes at the least");
    assert!(play.world.movers_wanted.is_empty() && play.world.asked.is_empty());
    play.charge();
    play.mover_runs();
    assert_eq!(play.pools_told().0, [(slab, 64 * MIB)]);
    play.pool_made(slab);
    assert_eq!(
        play.world.did,
        [
            Did::Charge(slab),
            Did::Hold(Held::Slab(slab)),
            Did::Journal("slab"),
            Did::Journal("tensor"),
            Did::Bump,
            Did::Reply(number)
        ]
    );
    assert_eq!(play.world.held[&Held::Slab(slab)], POOL_FD);
    let Some(ReplyBody::Tensor(grant)) = play.answer(number) else { panic!() };
    assert_eq!(grant.info.transport, TransportKind::Mempool);
    assert_eq!((grant.info.survives, grant.info.home_pid), (Survives::Everything, 0));
    assert!(play.world.uncharged.is_empty());
    play.check_held();
}

#[test]
fn a_get_has_the_pool_and_its_data() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create_pool(conn, TensorCreate { zero: true, ..pool("x", 100) });
    let number = play.start(conn, get("x", 1, Mode::ReadOnly, 0));
    let Some(ReplyBody::Tensor(grant)) = play.answer(number) else { panic!() };
    assert_eq!((grant.backing.transport, grant.event), (Transport::Mempool(DATA), None));
    assert_eq!(play.world.came_with[&number], [POOL_FD]);
}

#[test]
fn two_tensors_never_share_a_pool() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (a, b) = (play.start_pool(conn, pool("a", 1)), play.start_pool(conn, pool("b", 1)));
    play.mover_runs();
    let (made, _) = play.pools_told();
    assert_eq!(made.len(), 2);
    for (slab, _) in made {
        play.pool_made(slab);
    }
    let slab = |answer| match answer {
        Some(ReplyBody::Tensor(TensorGrant { info, .. })) => info.slab,
        other => panic!("{other:?}"),
    };
    let (a, b) = (play.answer(a), play.answer(b));
    assert_ne!(slab(a), slab(b));
    play.check_held();
}

#[test]
fn a_pool_that_its_user_may_not_have_starts_no_mover() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start(conn, RequestBody::TensorCreate(pool("x", 100)));
    let (slab, ..) = play.world.charged.remove(0);
    play.pond.slab_charged(&mut play.world, slab, Err(over_limit()));
    assert_eq!(play.failed(number).kind, ErrorKind::GpuFull);
    assert!(play.world.movers_wanted.is_empty() && play.world.uncharged.is_empty());
}

#[test]
fn a_mover_that_dies_of_a_pool_is_replaced_once() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_pool(conn, pool("x", 100));
    for _ in 0..2 {
        assert_eq!(play.answer(number), None);
        play.mover_runs();
        assert_eq!(play.pools_told().0.len(), 1);
        play.mover_dies();
    }
    assert!(play.world.movers_wanted.is_empty(), "there is nothing more to do");
    let failure = play.failed(number);
    assert_eq!(failure.kind, ErrorKind::Driver, "{failure}");
    assert_eq!(play.world.uncharged.len(), 1);
    play.check_held();
    play.create_pool(conn, pool("x", 100));
}

#[test]
fn a_mover_that_hangs_at_a_pool_is_killed_and_replaced() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_pool(conn, pool("x", 100));
    play.mover_runs();
    let (slab, _) = play.pools_told().0[0];
    play.later(999);
    assert!(play.world.killed.is_empty());
    play.later(1);
    assert_eq!(play.world.killed, [PIDFD]);
    // What it says now is not believed: its process ends.
    play.pool_made(slab);
    assert_eq!(play.answer(number), None);
    play.mover_dies();
    play.mover_runs();
    assert_eq!(play.pools_told().0, [(slab, 32 * MIB)]);
    play.pool_made(slab);
    assert!(matches!(play.answer(number), Some(ReplyBody::Tensor(_))));
    assert!(play.world.uncharged.is_empty());
    play.check_held();
}

/// Else one that hangs is never found, where somebody always wants something.
#[test]
fn more_pools_are_no_sign_of_life() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.start_pool(conn, pool("x0", 100));
    play.mover_runs();
    for number in 1..=4 {
        play.later(300);
        play.start_pool(conn, pool(&format!("x{number}"), 100));
    }
    assert_eq!(play.world.killed, [PIDFD]);
}

#[test]
fn a_mover_that_cannot_start_is_an_answer_to_a_create() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_pool(conn, pool("x", 100));
    play.pond.mover_not_started(&mut play.world, GPU, "no such file");
    let failure = play.failed(number);
    assert!(failure.message.contains("no such file"), "{failure}");
    assert_eq!(play.world.uncharged.len(), 1);
    play.world.movers_wanted.clear();
    let number = play.start_pool(conn, pool("x", 100));
    play.world.movers_wanted.clear();
    play.pond.mover_started(&mut play.world, GPU, 77, PIDFD);
    play.says(FromMover::Failed { text: "no context".into() });
    let failure = play.failed(number);
    assert!(failure.message.contains("no context"), "{failure}");
}

#[test]
fn a_pool_that_the_driver_does_not_make_is_told_and_nobody_pays() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_pool(conn, pool("x", 100));
    play.mover_runs();
    let (slab, _) = play.pools_told().0[0];
    play.pool_failed(slab, false);
    let failure = play.failed(number);
    assert_eq!(failure.kind, ErrorKind::Driver);
    assert!(failure.message.contains("cuMemPoolCreate"), "{failure}");
    assert_eq!(play.world.uncharged, [slab]);
    // Said twice, it is no news.
    play.pool_failed(slab, false);
    assert_eq!(play.world.uncharged, [slab]);
}

#[test]
fn a_pool_that_the_card_had_no_memory_for_is_tried_again_after_a_pause() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (recycled, _) = play.create(conn, spec("recycled", 40 * MIB));
    play.delete(conn, recycled.tensor);
    let number = play.start_pool(conn, pool("x", 100));
    play.mover_runs();
    let (slab, _) = play.pools_told().0[0];
    play.pool_failed(slab, true);
    assert_eq!(play.answer(number), None);
    assert_eq!(play.world.uncharged, [slab], "nobody pays while nothing is made");
    assert_eq!(play.slab_bytes(), 0, "what was kept for use again is given back");
    play.later(10);
    assert_eq!(play.world.charged.len(), 1);
    play.charge();
    assert_eq!(play.pools_told().0, [(slab, 32 * MIB)]);
    play.pool_made(slab);
    assert!(matches!(play.answer(number), Some(ReplyBody::Tensor(_))));
    play.check_held();
    // Where nothing comes back, it is the answer.
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_pool(conn, pool("x", 100));
    play.mover_runs();
    let (slab, _) = play.pools_told().0[0];
    play.pool_failed(slab, true);
    assert_eq!(play.failed(number).kind, ErrorKind::GpuFull);
}

#[test]
fn a_pool_without_its_descriptor_is_no_pool() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_pool(conn, pool("x", 100));
    play.mover_runs();
    let (slab, _) = play.pools_told().0[0];
    play.says(FromMover::PoolMade { slab, data: DATA });
    assert_eq!(play.failed(number).kind, ErrorKind::Driver);
    assert_eq!(play.pools_told().1, [slab]);
    assert_eq!(play.world.uncharged, [slab]);
    assert!(play.pond.is_idle());
    play.check_held();
}

#[test]
fn a_pool_that_nobody_asked_for_is_dropped() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create_pool(conn, pool("x", 100));
    let unknown = SlabId::random();
    play.pool_made(unknown);
    assert_eq!(play.pools_told().1, [unknown]);
    assert!(play.world.uncharged.is_empty(), "nobody was charged for it");
    play.check_held();
}

#[test]
fn a_pool_whose_creator_hung_up_is_kept_or_given_back() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.start_pool(conn, pool("x", 100));
    play.mover_runs();
    let (slab, _) = play.pools_told().0[0];
    play.pond.hung_up(&mut play.world, conn);
    play.pool_made(slab);
    assert_eq!(play.pools_told().1, [slab]);
    assert!(play.world.held.is_empty() && play.slab_bytes() == 0);
    play.check_held();
}

#[test]
fn a_pool_is_dropped_by_its_mover_when_it_is_given_back() {
    let mut play = Play::new();
    play.pond.caps.recycle_bytes = 0;
    let (conn, _) = play.client(1);
    let info = play.create_pool(conn, TensorCreate { lease: Some(LeaseId(1)), ..pool("x", 100) });
    play.delete(conn, info.tensor);
    assert!(play.pools_told().1.is_empty(), "its creator has it");
    play.release(conn, 1);
    assert_eq!(play.pools_told().1, [info.slab]);
    assert!(!play.world.held.contains_key(&Held::Slab(info.slab)));
    play.check_held();
}

#[test]
fn a_pool_is_used_again_by_its_owner_only() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (other, _) = play.client(2);
    let info = play.create_pool(conn, pool("x", 20 * MIB));
    play.delete(conn, info.tensor);
    assert_eq!(play.slab_bytes(), 32 * MIB, "kept");
    let theirs = play.create_pool(other, pool("x", 20 * MIB));
    assert_ne!(theirs.slab, info.slab);
    // Nor by another audience, size or transport, nor for zeroes.
    for create in [
        TensorCreate { audience: Audience::Group, ..pool("a", 100) },
        pool("b", 40 * MIB),
        TensorCreate { zero: true, ..pool("c", 20 * MIB) },
    ] {
        assert_ne!(play.create_pool(conn, create).slab, info.slab);
    }
    assert_ne!(play.create(conn, spec("d", 100)).0.slab, info.slab);
    let again = play.create_pool(conn, pool("e", 200));
    assert_eq!(again.slab, info.slab);
    play.check_held();
}

#[test]
fn a_pool_that_a_process_died_with_is_not_used_again() {
    let mut play = Play::new();
    let (writer, _) = play.client(1);
    let (conn, client) = play.client(1);
    let info = play.create_pool(conn, TensorCreate { lease: Some(LeaseId(1)), ..pool("x", 100) });
    play.delete(writer, info.tensor);
    play.pond.process_gone(&mut play.world, client);
    assert_eq!(play.pools_told().1, [info.slab]);
    assert_ne!(play.create_pool(writer, pool("x", 100)).slab, info.slab);
    play.check_held();
}

#[test]
fn a_pool_survives_its_mover_and_the_daemon() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let info = play.create_pool(conn, TensorCreate { zero: true, ..pool("x", 100) });
    play.mover_dies();
    assert!(play.is_alive(info.tensor));
    let found = play.restart();
    assert_eq!((found.tensors, found.lost_tensors, found.dropped), (1, 0, 0));
    let (conn, _) = play.client(1);
    let number = play.start(conn, get("x", 1, Mode::ReadOnly, 0));
    let Some(ReplyBody::Tensor(grant)) = play.answer(number) else { panic!() };
    assert_eq!(grant.backing.transport, Transport::Mempool(DATA));
    assert_eq!(play.world.came_with[&number], [POOL_FD]);
    assert!(play.told(EventKind::TensorOrphaned).is_empty());
    play.check_held();
}

#[test]
fn a_pool_that_the_keeper_has_no_room_for_waits() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_pool(conn, pool("x", 100));
    play.mover_runs();
    let (slab, _) = play.pools_told().0[0];
    play.world.keeper_takes = Some(0);
    play.pool_made(slab);
    assert!(play.answer(number).is_none() && play.pond.awaits_keeper());
    play.world.keeper_takes = None;
    play.pond.keeper_has_room(&mut play.world);
    assert!(matches!(play.answer(number), Some(ReplyBody::Tensor(_))));
    assert_eq!(play.world.held[&Held::Slab(slab)], POOL_FD);
    play.check_held();
}

#[test]
fn a_pool_that_could_not_be_recorded_is_dropped() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_pool(conn, pool("x", 100));
    play.mover_runs();
    let (slab, _) = play.pools_told().0[0];
    play.world.journal_fails = true;
    play.pool_made(slab);
    assert_eq!(play.failed(number).kind, ErrorKind::Internal);
    assert_eq!(play.pools_told().1, [slab]);
    play.world.journal_fails = false;
    play.check_held();
}

#[test]
fn a_pool_that_is_charged_at_once_is_made_at_once() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.world.charges_at_once = true;
    let number = play.start(conn, RequestBody::TensorCreate(pool("x", 100)));
    play.mover_runs();
    let (slab, _) = play.pools_told().0[0];
    play.pool_made(slab);
    assert!(matches!(play.answer(number), Some(ReplyBody::Tensor(_))));
    // And where the mover is there already.
    let number = play.start(conn, RequestBody::TensorCreate(pool("y", 100)));
    let (slab, _) = play.pools_told().0[0];
    play.pool_failed(slab, true);
    assert_eq!(play.failed(number).kind, ErrorKind::GpuFull);
    play.check_held();
}
