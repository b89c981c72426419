//! Contexts of hosts are on accounts, hosts are few, and unused memory stays in its host until
//! the room is needed.

use millpond_host::channel::FromHost;
use millpond_wire::{ErrorKind, GroupName};

use super::hosts::{CONTEXT, ESTIMATE, ipc};
use super::*;
use crate::budget::Payers;

impl Play {
    fn stops(&mut self, host: HostId) {
        assert_eq!(self.told_host(), [(host, ToHost::Stop)]);
        self.host_dies(host);
    }

    fn full(&mut self, conn: ConnId, create: TensorCreate) -> Failure {
        let failure = self.refused(conn, RequestBody::TensorCreate(create));
        assert_eq!(failure.kind, ErrorKind::GpuFull, "{failure}");
        failure
    }

    fn free_bytes(&mut self, conn: ConnId) -> u64 {
        self.full(conn, spec("probe", 1 << 30)).free_bytes.unwrap()
    }
}

#[test]
fn memory_without_a_tensor_stays_in_its_host_which_goes_on_making_more() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (kept, host) = play.create_ipc(conn, ipc("kept", 100));
    let mut slabs = BTreeSet::from([kept.slab]);
    for _ in 0..5 {
        play.told_host();
        let (short, same) = play.create_ipc(conn, ipc("short", 100));
        assert_eq!(same, host);
        assert!(slabs.insert(short.slab), "old handles open it: nobody gets it again");
        play.delete_ipc(conn, short.tensor);
        assert!(play.told_host().is_empty(), "nothing is freed");
    }
    assert!(play.uncharged().is_empty(), "its owner pays for it");
    assert_eq!(play.pond.slabs.totals_on(GPU).recycled_bytes, 10 * MIB);
    assert!(!play.pond.host_list()[0].sealed);
    play.check_held();
}

#[test]
fn idle_memory_beyond_its_bound_is_freed_with_all_of_it_and_its_host_makes_no_more() {
    let mut play = Play::new();
    play.pond.caps.recycle_bytes = 4 * MIB;
    let (conn, _) = play.client(1);
    let (kept, host) = play.create_ipc(conn, ipc("kept", 100));
    let short: Vec<_> =
        (0..3).map(|at| play.create_ipc(conn, ipc(&format!("short{at}"), 100)).0).collect();
    play.told_host();
    play.delete_ipc(conn, short[0].tensor);
    play.delete_ipc(conn, short[1].tensor);
    assert!(play.told_host().is_empty());
    play.delete_ipc(conn, short[2].tensor);
    let told: BTreeSet<SlabId> = play
        .told_host()
        .into_iter()
        .map(|(_, said)| match said {
            ToHost::Free { slab } => slab,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, short.iter().map(|info| info.slab).collect());
    assert!(play.pond.host_list()[0].sealed);
    assert_ne!(play.create_ipc(conn, ipc("more", 100)).1, host);
    assert!(play.is_alive(kept.tensor));
    play.check_held();
}

#[test]
fn two_hundred_short_lived_tensors_need_few_hosts_and_little_memory() {
    let mut play = Play::new();
    play.cap(Resource::Hosts, 4);
    let (conn, _) = play.client(1);
    let mut hosts = BTreeSet::new();
    for _ in 0..200 {
        play.told_host();
        let (info, host) = play.create_ipc(conn, ipc("short", 100));
        hosts.insert(host);
        play.delete_ipc(conn, info.tensor);
        assert!(play.slab_bytes() <= 66 * MIB, "the bound, and the one that is alive");
        if play.told_host().contains(&(host, ToHost::Stop)) {
            play.host_dies(host);
        }
    }
    assert_eq!(hosts.len(), 7, "one for each 33");
    play.check_held();
}

#[test]
fn a_host_without_a_tensor_ends_after_a_while_with_its_idle_memory() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, ipc("x", 100));
    play.told_host();
    play.delete_ipc(conn, info.tensor);
    play.later(499);
    assert!(play.told_host().is_empty());
    play.later(1);
    play.stops(host);
    assert_eq!(play.uncharged(), [info.slab, SlabId(host.0)].into());
    assert_eq!(play.slab_bytes(), 0);
    play.check_held();
}

#[test]
fn contexts_count_in_what_the_pond_may_take_and_their_users_hold_them() {
    let mut play = Play::new();
    let (b, _) = play.client(2);
    let (a, _) = play.client(1);
    play.create_ipc(b, ipc("x", 100));
    let failure = play.full(a, spec("y", 800 * MIB));
    assert_eq!(failure.free_bytes, Some(1024 * MIB - CONTEXT - 2 * MIB));
    let holder = &failure.holders[0];
    assert_eq!((holder.user, holder.bytes, holder.tensors), (2, CONTEXT + 2 * MIB, 1));
    // And so a host that does not fit is not started.
    let everybody = |name: &str| TensorCreate { audience: Audience::Everybody, ..ipc(name, 100) };
    play.create_ipc(b, everybody("z"));
    play.create(a, spec("fits", 300 * MIB));
    play.uncharged();
    let number = play.start_ipc(a, ipc("more", 100));
    let failure = play.failed(number);
    assert_eq!(failure.kind, ErrorKind::GpuFull, "{failure}");
    assert!(failure.message.contains("needs a CUDA context"), "{failure}");
    assert!(play.world.hosts_wanted.is_empty() && play.uncharged().len() == 1);
    play.check_held();
}

#[test]
fn an_estimate_counts_until_a_context_is_measured_and_then_the_measure() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.start_ipc(conn, ipc("x", 100));
    let free = 1024 * MIB - 2 * MIB;
    assert_eq!(play.free_bytes(conn), free - ESTIMATE, "there is no process yet");
    let host = play.host_starts();
    assert_eq!(play.free_bytes(conn), free - ESTIMATE);
    play.host_says(host, FromHost::Ready { context_bytes: CONTEXT });
    assert_eq!(play.world.counted, [(SlabId(host.0), GPU, CONTEXT, 1)]);
    assert_eq!(play.free_bytes(conn), free - CONTEXT);
    // The next one of the same GPU is expected to be like it.
    let everybody = TensorCreate { audience: Audience::Everybody, ..ipc("y", 100) };
    play.start_ipc(conn, everybody);
    assert_eq!(play.free_bytes(conn), free - 2 * CONTEXT - 2 * MIB);
}

#[test]
fn a_create_that_does_not_fit_ends_hosts_without_tensors() {
    let mut play = Play::new();
    let (b, _) = play.client(2);
    let (info, host) = play.create_ipc(b, ipc("x", 100));
    play.told_host();
    play.delete_ipc(b, info.tensor);
    let (a, _) = play.client(1);
    play.create(a, spec("large", 1000 * MIB));
    play.stops(host);
    play.later(0);
    assert_eq!(play.uncharged(), [info.slab, SlabId(host.0)].into());
    play.check_held();
}

#[test]
fn a_create_that_does_not_fit_has_idle_memory_freed_and_the_tensors_beside_it_stay() {
    let mut play = Play::new();
    let (b, _) = play.client(2);
    let (kept, host) = play.create_ipc(b, ipc("kept", 100));
    let (gone, _) = play.create_ipc(b, ipc("gone", 50 * MIB));
    play.told_host();
    play.delete_ipc(b, gone.tensor);
    let (a, _) = play.client(1);
    play.create(a, spec("large", 700 * MIB));
    play.later(0);
    assert_eq!(play.told_host(), [(host, ToHost::Free { slab: gone.slab })]);
    assert!(play.is_alive(kept.tensor));
    play.check_held();
}

#[test]
fn slabs_that_can_be_used_again_are_given_back_before_any_host_is_sealed() {
    let mut play = Play::new();
    let (b, _) = play.client(2);
    let (idle, _) = play.create_ipc(b, ipc("idle", 40 * MIB));
    let (recycled, _) = play.create(b, spec("recycled", 40 * MIB));
    play.delete_ipc(b, idle.tensor);
    play.delete(b, recycled.tensor);
    play.told_host();
    let (a, _) = play.client(1);
    play.create(a, spec("large", 650 * MIB));
    play.later(0);
    assert!(play.told_host().is_empty(), "40 MiB were enough");
    assert!(!play.pond.host_list()[0].sealed);
}

/// Or the next daemon would give back what this one keeps.
#[test]
fn idle_memory_takes_no_room_from_slabs_that_can_be_used_again() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (recycled, _) = play.create(conn, spec("recycled", 40 * MIB));
    let (idle, host) = play.create_ipc(conn, ipc("idle", 40 * MIB));
    play.delete_ipc(conn, idle.tensor);
    play.delete(conn, recycled.tensor);
    assert_eq!(play.slab_bytes(), 80 * MIB, "each is within 64 MiB");
    play.restart();
    play.reports(host, &[idle.slab], false);
    assert_eq!(play.slab_bytes(), 80 * MIB);
    play.check_held();
}

#[test]
fn a_user_has_as_many_hosts_as_the_setting_says_and_is_told_of_them() {
    let mut play = Play::new();
    play.driver_ready(4 << 30);
    play.cap(Resource::Hosts, 2);
    let (conn, _) = play.client(1);
    let with = |audience, name: &str| TensorCreate { audience, ..ipc(name, 100) };
    play.create_ipc(conn, with(Audience::User, "a"));
    let (b, host) = play.create_ipc(conn, with(Audience::Group, "b"));
    let number = play.start_ipc(conn, with(Audience::Everybody, "c"));
    let failure = play.failed(number);
    assert_eq!(failure.kind, ErrorKind::TooMany, "{failure}");
    let limit = failure.limit.unwrap();
    assert_eq!((limit.key.as_str(), limit.has, limit.cap), ("limits.hosts_per_user", 2, 2));
    assert!(failure.message.contains("pid 88 keeps 1 tensor, 2 MiB"), "{}", failure.message);
    assert!(play.world.charged.is_empty() && play.uncharged().is_empty(), "nothing is tried");
    let (other, _) = play.client(2);
    play.create_ipc(other, ipc("x", 100));
    // One without a tensor is ended for the next, which waits until it is gone.
    play.told_host();
    play.delete_ipc(conn, b.tensor);
    let number = play.start_ipc(conn, with(Audience::Everybody, "c"));
    assert!(play.world.hosts_wanted.is_empty() && play.answer(number).is_none());
    play.stops(host);
    let next = play.host_runs();
    play.allocates(next);
    play.granted(number);
    play.check_held();
}

#[test]
fn the_next_daemon_knows_idle_memory_and_frees_it_in_a_host_that_is_sealed() {
    for sealed in [false, true] {
        let mut play = Play::new();
        let (conn, _) = play.client(1);
        let (kept, host) = play.create_ipc(conn, ipc("kept", 100));
        let (gone, _) = play.create_ipc(conn, ipc("gone", 100));
        play.delete_ipc(conn, gone.tensor);
        play.restart();
        play.reports(host, &[kept.slab, gone.slab], sealed);
        play.later(0);
        match sealed {
            true => {
                assert_eq!(play.told_host(), [(host, ToHost::Free { slab: gone.slab })]);
            }
            false => {
                assert!(play.told_host().is_empty());
                let (conn, _) = play.client(1);
                let (more, same) = play.create_ipc(conn, ipc("more", 100));
                assert!(same == host && more.slab != gone.slab);
            }
        }
        assert!(play.is_alive(kept.tensor));
        play.check_held();
    }
}

#[test]
fn idle_memory_goes_with_a_host_that_dies_and_is_no_lost_tensor() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, ipc("x", 100));
    play.delete_ipc(conn, info.tensor);
    play.uncharged();
    play.host_dies(host);
    assert_eq!(play.uncharged(), [info.slab, SlabId(host.0)].into());
    assert_eq!((play.slab_bytes(), play.pond.counts.tensors_orphaned), (0, 0));
    play.check_held();
}

#[test]
fn gc_frees_idle_memory() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, ipc("x", 100));
    play.told_host();
    play.delete_ipc(conn, info.tensor);
    let collect = RequestBody::Collect { unleased_for_ms: None, dry_run: false };
    let ReplyBody::Collected { slabs, slab_bytes, .. } = play.ask(conn, collect) else { panic!() };
    assert_eq!((slabs, slab_bytes), (1, 2 * MIB));
    play.later(0);
    play.stops(host);
    play.check_held();
}

/// Its programs could not have it.
#[test]
fn nothing_is_idle_on_the_account_of_a_group() {
    let mut play = Play::new();
    let team: GroupName = "team".parse().unwrap();
    play.pond.payers(&mut play.world, Payers::from_iter([(1, team)]));
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, ipc("x", 100));
    play.told_host();
    play.delete_ipc(conn, info.tensor);
    play.stops(host);
    play.check_held();
}
