//! Memory that somebody already has joins the pond, and is never used for anything else.

use millpond_mover::channel::{FromMover, Why};
use millpond_wire::message::{
    EventKind, PartSpec, TensorAdopt, TensorGrant, TensorState, VersionStage,
};
use millpond_wire::{ErrorKind, HANDLE_BYTES, Survives, Transport, VersionId};

use super::hosts::{ipc, over_limit};
use super::*;

const FD: u64 = 930;
const HANDLE: [u8; HANDLE_BYTES] = [6; HANDLE_BYTES];

/// Ten megabytes at an odd place of a slab with twelve.
fn adopt(name: &str, transport: Transport) -> TensorAdopt {
    TensorAdopt {
        tensor: TensorId::random(),
        name: Some(name.parse().unwrap()),
        dtype: Dtype::U8,
        shape: Shape::new([10 * MIB]).unwrap(),
        device: GPU,
        audience: Audience::User,
        slab_bytes: 12 * MIB,
        offset: MIB + 7,
        transport,
    }
}

fn vmm(name: &str) -> TensorAdopt {
    adopt(name, Transport::Vmm)
}

fn announced(name: &str) -> TensorAdopt {
    adopt(name, Transport::Ipc(HANDLE))
}

impl Play {
    fn start_adopt(&mut self, conn: ConnId, what: TensorAdopt) -> u64 {
        // Descriptors of different memory.
        let fd = what.transport.has_descriptor().then_some(FD + self.next_number);
        self.start_with(conn, RequestBody::TensorAdopt(Box::new(what)), fd)
    }

    fn refused_adopt(&mut self, conn: ConnId, what: TensorAdopt) -> Failure {
        let number = self.start_adopt(conn, what);
        assert!(self.world.charged.is_empty(), "refused before anybody is charged");
        self.failed(number)
    }

    /// Has it charged; says which slab the mover is to prove.
    fn charged_and_asked(&mut self) -> SlabId {
        self.charge();
        if !self.world.movers_wanted.is_empty() {
            self.mover_runs();
        }
        let proofs: Vec<SlabId> = self.proofs();
        assert_eq!(proofs.len(), 1);
        proofs[0]
    }

    fn proofs(&mut self) -> Vec<SlabId> {
        let told = std::mem::take(&mut self.world.told).into_iter();
        let slab = |(message, _)| match message {
            ToMover::Prove { slab, .. } => Some(slab),
            _ => None,
        };
        told.filter_map(slab).collect()
    }

    fn adopt(&mut self, conn: ConnId, what: TensorAdopt) -> TensorInfo {
        let number = self.start_adopt(conn, what);
        let slab = self.charged_and_asked();
        self.says(FromMover::Proved { slab });
        self.adopted(number).info
    }

    fn adopted(&mut self, number: u64) -> TensorGrant {
        match self.answer(number) {
            Some(ReplyBody::Tensor(grant)) => grant,
            other => panic!("not adopted: {other:?}"),
        }
    }

    /// The tensors whose owner was told that their memory is its own again, and at which connection.
    fn freed(&mut self) -> Vec<(ConnId, TensorId)> {
        let replies = std::mem::take(&mut self.world.replies).into_iter();
        let freed = |(conn, reply, _): (ConnId, Reply, _)| match reply.body {
            ReplyBody::AdoptedFreed(tensor) => Some((conn, tensor)),
            _ => None,
        };
        replies.filter_map(freed).collect()
    }
}

#[test]
fn memory_is_charged_proved_held_journalled_and_answered() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (reader, _) = play.client(1);
    play.world.did.clear();
    let number = play.start_adopt(conn, vmm("x"));
    let (slab, device, bytes, user) = play.world.charged[0];
    assert_eq!((device, bytes, user), (GPU, 12 * MIB, 1));
    assert!(play.world.movers_wanted.is_empty(), "nothing is mapped that may not be had");
    play.charge();
    play.mover_runs();
    let backing = Backing { transport: Transport::Vmm, adopted: true };
    let fd = FD + number;
    assert_eq!(play.world.told, [(ToMover::Prove { slab, bytes: 12 * MIB, backing }, Some(fd))]);
    assert!(play.world.held.is_empty(), "the keeper gets only what was proved");
    play.says(FromMover::Proved { slab });
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
    let grant = play.adopted(number);
    let info = &grant.info;
    assert_eq!((info.slab, info.slab_bytes, info.offset), (slab, 12 * MIB, MIB + 7));
    assert_eq!((info.state, info.generation), (TensorState::Ready, 1), "its contents are there");
    assert_eq!((info.adopted, info.survives, info.home_pid), (true, Survives::Everything, 0));
    assert!(grant.lease.is_none() && !grant.existed);
    assert_eq!(play.told(EventKind::TensorAdopted), ["vmm, 10,485,760 bytes, survives everything"]);
    let number = play.start(reader, get("x", 1, Mode::ReadOnly, 0));
    assert_eq!(play.adopted(number).backing, backing);
    assert_eq!(play.world.came_with[&number], [fd]);
    play.check_held();
}

#[test]
fn announced_memory_has_no_descriptor_and_its_owner_is_known_to_the_next_daemon() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    play.world.did.clear();
    let number = play.start_adopt(conn, announced("x"));
    let slab = play.charged_and_asked();
    play.says(FromMover::Proved { slab });
    let did = [
        Did::Hold(Held::Client(client)),
        Did::Journal("client"),
        Did::Charge(slab),
        Did::Journal("slab"),
        Did::Journal("tensor"),
        Did::Bump,
        Did::Reply(number),
    ];
    assert_eq!(play.world.did, did);
    let info = play.adopted(number).info;
    assert_eq!((info.survives, info.home_pid), (Survives::Owner, play.pids[&client]));
    assert!(play.world.watched.contains(&client));
    let (reader, _) = play.client(1);
    let number = play.start(reader, get("x", 1, Mode::ReadOnly, 0));
    let grant = play.adopted(number);
    assert_eq!((grant.backing.transport, grant.event), (Transport::Ipc(HANDLE), None));
    play.check_held();
}

#[test]
fn what_can_be_refused_is_refused_before_anybody_is_charged() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (there, _) = play.create(conn, spec("there", 100));
    let (gone, _) = play.create(conn, spec("gone", 100));
    play.delete(conn, gone.tensor);
    let refused = |play: &mut Play, what| play.refused_adopt(conn, what).kind;
    assert_eq!(refused(&mut play, vmm("there")), ErrorKind::Exists);
    for tensor in [gone.tensor, there.tensor] {
        assert_eq!(refused(&mut play, TensorAdopt { tensor, ..vmm("x") }), ErrorKind::Invalid);
    }
    let (other, _) = play.client(2);
    let taken = TensorAdopt { tensor: there.tensor, ..vmm("x") };
    assert_eq!(play.refused_adopt(other, taken).kind, ErrorKind::Invalid);
    for (slab_bytes, offset) in [(0, 0), (10 * MIB, 1), (12 * MIB, u64::MAX), (MIB, 0)] {
        let outside = TensorAdopt { slab_bytes, offset, ..vmm("x") };
        assert_eq!(refused(&mut play, outside), ErrorKind::Invalid, "{slab_bytes} {offset}");
    }
    let elsewhere = TensorAdopt { device: GpuUuid([9; 16]), ..vmm("x") };
    assert_eq!(refused(&mut play, elsewhere), ErrorKind::NoDevice);
    let large = TensorAdopt { slab_bytes: 2 << 30, ..vmm("x") };
    assert_eq!(refused(&mut play, large), ErrorKind::GpuFull);
    let most = TensorAdopt { slab_bytes: u64::MAX, ..vmm("x") };
    assert_eq!(refused(&mut play, most), ErrorKind::GpuFull);
    play.pond.public_writers.clear();
    assert_eq!(refused(&mut play, vmm("public/x")), ErrorKind::Denied);
    play.pond.caps.tensors = 1;
    assert_eq!(refused(&mut play, vmm("x")), ErrorKind::TooMany);
    play.pond.caps.tensors = 1000;
    play.pond.gpus.forget_driver();
    assert_eq!(refused(&mut play, vmm("x")), ErrorKind::Later);
    play.driver_ready(1 << 30);
    let body = RequestBody::TensorAdopt(Box::new(vmm("x")));
    let number = play.start_with(conn, body, Some(UNSEALED));
    let failure = play.failed(number);
    assert_eq!(failure.kind, ErrorKind::Invalid);
    assert!(failure.message.contains("it is a file"), "{failure}");
    play.pond.drain(&mut play.world);
    assert_eq!(refused(&mut play, vmm("x")), ErrorKind::Draining);
    assert!(play.world.charged.is_empty() && play.pond.is_idle());
    play.check_held();
}

#[test]
fn a_descriptor_that_is_missing_or_too_much_ends_the_connection() {
    for (what, fd) in [(vmm("x"), None), (announced("x"), Some(FD))] {
        let mut play = Play::new();
        let (conn, _) = play.client(1);
        let number = play.start_with(conn, RequestBody::TensorAdopt(Box::new(what)), fd);
        assert_eq!(play.failed(number).kind, ErrorKind::Protocol);
        assert_eq!(play.world.closed, [conn]);
    }
}

#[test]
fn memory_that_its_owner_may_not_have_is_not_proved() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_adopt(conn, vmm("x"));
    let (slab, ..) = play.world.charged.remove(0);
    play.pond.slab_charged(&mut play.world, slab, Err(over_limit()));
    assert_eq!(play.failed(number).kind, ErrorKind::GpuFull);
    assert!(play.world.movers_wanted.is_empty() && play.world.uncharged.is_empty());
    assert!(play.pond.is_idle());
    // Its bytes count while it is on its way, and not after.
    play.adopt(conn, TensorAdopt { slab_bytes: 1000 * MIB, ..vmm("x") });
}

#[test]
fn what_is_on_its_way_counts() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.start_adopt(conn, TensorAdopt { slab_bytes: 1000 * MIB, ..vmm("x") });
    let failure = play.refused(conn, RequestBody::TensorCreate(spec("y", 100 * MIB)));
    assert_eq!(failure.kind, ErrorKind::GpuFull);
}

#[test]
fn memory_that_is_not_what_its_owner_says_is_refused_and_nobody_pays() {
    for (why, expected) in [
        (Why::Driver, "the driver does not open this memory: no such thing"),
        (Why::Range, "no such thing"),
    ] {
        let mut play = Play::new();
        let (conn, _) = play.client(1);
        let number = play.start_adopt(conn, vmm("x"));
        let slab = play.charged_and_asked();
        play.says(FromMover::NotProved { slab, why, text: "no such thing".into() });
        let failure = play.failed(number);
        assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::Invalid, expected));
        assert_eq!(play.world.uncharged, [slab]);
        assert!(play.world.held.is_empty() && play.pond.is_idle());
        // A word that comes late changes nothing.
        play.says(FromMover::Proved { slab });
        assert_eq!(play.slab_bytes(), 0);
        play.check_held();
    }
}

#[test]
fn memory_that_a_mover_dies_of_is_not_tried_again() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_adopt(conn, vmm("x"));
    let slab = play.charged_and_asked();
    play.mover_dies();
    assert_eq!(play.failed(number).kind, ErrorKind::Invalid);
    assert_eq!(play.world.uncharged, [slab]);
    assert!(play.world.movers_wanted.is_empty());
    play.check_held();
    // What the next one could do waits for it.
    play.start_adopt(conn, vmm("y"));
    play.charged_and_asked();
    play.pond.mover_hung_up(&mut play.world, GPU);
    let number = play.start_adopt(conn, vmm("z"));
    play.charge();
    assert!(play.proofs().is_empty());
    play.mover_dies();
    play.mover_runs();
    let slab = play.proofs()[0];
    play.says(FromMover::Proved { slab });
    play.adopted(number);
    play.check_held();
}

#[test]
fn without_a_mover_nothing_is_adopted() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_adopt(conn, vmm("x"));
    play.charge();
    play.pond.mover_not_started(&mut play.world, GPU, "no such file");
    assert!(play.failed(number).message.contains("no such file"));
    assert_eq!(play.world.uncharged.len(), 1);
}

#[test]
fn a_repeat_gets_the_same_answer() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let what = vmm("x");
    play.start_adopt(conn, what.clone());
    let slab = play.charged_and_asked();
    // The connection is lost, and the client asks again while it is proved.
    play.pond.hung_up(&mut play.world, conn);
    let conn = play.connect(1);
    play.hello(conn, client, false);
    let (first, second) =
        (play.start_adopt(conn, what.clone()), play.start_adopt(conn, what.clone()));
    assert!(play.world.charged.is_empty() && play.proofs().is_empty());
    play.says(FromMover::Proved { slab });
    let first = play.adopted(first);
    assert_eq!(play.adopted(second), first);
    let third = play.start_adopt(conn, what.clone());
    assert_eq!(play.adopted(third), first, "and after it was answered");
    play.restart();
    let conn = play.connect(1);
    play.hello(conn, client, false);
    let fourth = play.start_adopt(conn, what);
    assert_eq!(play.adopted(fourth).info.slab, slab);
    play.check_held();
}

/// The first has the name; the other is told when its memory was proved.
#[test]
fn two_who_adopt_at_once_do_not_get_the_same_name() {
    let mut play = Play::new();
    let (one, _) = play.client(1);
    let (two, _) = play.client(1);
    let (first, second) = (play.start_adopt(one, vmm("x")), play.start_adopt(two, vmm("x")));
    play.charge();
    play.mover_runs();
    let slabs = play.proofs();
    for slab in &slabs {
        play.says(FromMover::Proved { slab: *slab });
    }
    let first = play.adopted(first).info;
    assert_eq!(play.failed(second).kind, ErrorKind::Exists);
    assert_eq!(play.world.uncharged, [slabs[1]]);
    play.publish(one, first.tensor);
    assert_eq!(play.get(one, "x", 1).0.tensor, first.tensor);
    play.check_held();
}

#[test]
fn a_create_that_was_faster_has_the_name() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_adopt(conn, vmm("x"));
    let slab = play.charged_and_asked();
    let (made, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
    play.says(FromMover::Proved { slab });
    assert_eq!(play.failed(number).kind, ErrorKind::Exists);
    assert_eq!(play.get(conn, "x", 1).0.tensor, made.tensor);
    play.check_held();
}

/// Identities are made by clients, and one may lie.
#[test]
fn two_who_adopt_under_one_identity_do_not_both_get_it() {
    let mut play = Play::new();
    let (one, _) = play.client(1);
    let (two, _) = play.client(2);
    let what = vmm("x");
    let (first, second) =
        (play.start_adopt(one, what.clone()), play.start_adopt(two, what.clone()));
    play.charge();
    play.mover_runs();
    let slabs = play.proofs();
    assert_eq!(slabs.len(), 2);
    for slab in &slabs {
        play.says(FromMover::Proved { slab: *slab });
    }
    let info = play.adopted(first).info;
    assert_eq!(play.failed(second).kind, ErrorKind::Invalid);
    assert_eq!((info.slab, info.user), (slabs[0], 1));
    play.check_held();
    // Nor does a create, which was faster.
    let what = vmm("y");
    let number = play.start_adopt(one, what.clone());
    let slab = play.charged_and_asked();
    let (made, _) = play.create(two, TensorCreate { tensor: what.tensor, ..spec("y", 100) });
    play.says(FromMover::Proved { slab });
    assert_eq!(play.failed(number).kind, ErrorKind::Invalid);
    assert_eq!(play.pond.catalog.get(what.tensor).map(|tensor| tensor.slab), Some(made.slab));
    play.check_held();
}

/// What is adopted under it could be found by neither.
#[test]
fn the_identity_of_a_version_is_no_tensors() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let stage = VersionStage {
        version: VersionId::random(),
        model: "m".parse().unwrap(),
        tag: None,
        device: None,
        audience: Audience::User,
        parts: vec![PartSpec { bytes: 4 * MIB, shared: None }],
        lease: Some(LeaseId(1)),
    };
    let tensor = TensorId(stage.version.0);
    let late = play.start_adopt(conn, TensorAdopt { tensor, ..vmm("late") });
    let slab = play.charged_and_asked();
    let ReplyBody::Version(staged) = play.ask(conn, RequestBody::VersionStage(stage)) else {
        panic!("not staged")
    };
    play.says(FromMover::Proved { slab });
    assert_eq!(play.failed(late).kind, ErrorKind::Invalid);
    for tensor in [tensor, staged.parts[0].tensor] {
        let failure = play.refused_adopt(conn, TensorAdopt { tensor, ..vmm("x") });
        assert_eq!(failure.kind, ErrorKind::Invalid, "{failure}");
    }
    play.check_held();
}

#[test]
fn the_same_handle_is_adopted_once() {
    for transport in [Transport::Ipc(HANDLE), Transport::Mempool(HANDLE)] {
        let mut play = Play::new();
        let (conn, _) = play.client(1);
        let first = play.start_adopt(conn, adopt("a", transport));
        let second = play.start_adopt(conn, adopt("b", transport));
        play.charge();
        play.mover_runs();
        let slabs = play.proofs();
        for slab in &slabs {
            play.says(FromMover::Proved { slab: *slab });
        }
        let info = play.adopted(first).info;
        let failure = play.failed(second);
        assert_eq!(failure.kind, ErrorKind::Invalid, "{failure}");
        assert_eq!(play.world.uncharged, [slabs[1]]);
        let failure = play.refused_adopt(conn, adopt("b", transport));
        assert_eq!(failure.kind, ErrorKind::Invalid, "{failure}");
        // It may come again when it is gone.
        play.delete(conn, info.tensor);
        play.adopt(conn, adopt("b", transport));
        play.check_held();
    }
}

#[test]
fn an_owner_that_dies_before_the_proof_leaves_nothing() {
    for what in [vmm("x"), announced("x")] {
        let mut play = Play::new();
        let (conn, client) = play.client(1);
        play.start_adopt(conn, what);
        let slab = play.charged_and_asked();
        play.pond.hung_up(&mut play.world, conn);
        play.pond.process_gone(&mut play.world, client);
        play.says(FromMover::Proved { slab });
        assert_eq!(play.world.uncharged, [slab]);
        assert!(play.slab_bytes() == 0 && play.pond.is_idle());
        play.check_held();
    }
}

#[test]
fn memory_with_a_descriptor_survives_its_maker() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let info = play.adopt(conn, vmm("x"));
    play.pond.hung_up(&mut play.world, conn);
    play.pond.process_gone(&mut play.world, client);
    assert!(play.is_alive(info.tensor));
    let (reader, _) = play.client(1);
    assert_eq!(play.get(reader, "x", 1).0.state, TensorState::Ready);
    play.restart();
    assert!(play.is_alive(info.tensor));
    play.check_held();
}

#[test]
fn announced_memory_is_orphaned_with_its_owner() {
    for goodbye in [true, false] {
        let mut play = Play::new();
        let (conn, client) = play.client(1);
        let (reader, _) = play.client(1);
        let info = play.adopt(conn, announced("x"));
        play.get(reader, "x", 1);
        if goodbye {
            assert_eq!(play.ask(conn, RequestBody::Goodbye), ReplyBody::Done);
        } else {
            play.pond.hung_up(&mut play.world, conn);
            assert!(play.is_alive(info.tensor), "a connection is not a process");
            play.pond.process_gone(&mut play.world, client);
        }
        assert!(play.exists(info.tensor) && !play.is_alive(info.tensor));
        assert_eq!(play.told(EventKind::TensorOrphaned).len(), 1);
        let failure = play.refused(reader, get("x", 2, Mode::ReadOnly, 0));
        let why = if goodbye { "said goodbye" } else { "its process is gone" };
        assert!(failure.message.contains(why), "{failure}");
        play.release(reader, 1);
        assert!(!play.exists(info.tensor));
        assert_eq!(play.world.uncharged, [info.slab]);
        play.check_held();
    }
}

#[test]
fn an_owner_is_told_once_that_its_memory_is_its_own_again() {
    for what in [vmm("x"), announced("x")] {
        let mut play = Play::new();
        let (conn, _) = play.client(1);
        let (reader, _) = play.client(1);
        let info = play.adopt(conn, what);
        play.get(reader, "x", 1);
        play.delete(conn, info.tensor);
        assert!(play.freed().is_empty(), "somebody has it");
        play.release(reader, 1);
        assert_eq!(play.freed(), [(conn, info.tensor)]);
        play.later(1000);
        play.delete(conn, info.tensor);
        assert!(play.freed().is_empty());
        play.check_held();
    }
}

/// Whoever comes back without its leases ends them with its hello, and is welcomed before it is told of it.
#[test]
fn a_welcome_comes_before_the_news_of_ones_memory() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let info = play.adopt(conn, vmm("x"));
    play.get(conn, "x", 1);
    play.delete(conn, info.tensor);
    play.restart();
    let conn = play.connect(1);
    play.world.did.clear();
    play.hello(conn, client, false);
    assert_eq!(play.freed(), [(conn, info.tensor)]);
    let replies = play.world.did.iter().filter_map(|did| match did {
        Did::Reply(number) => Some(*number),
        _ => None,
    });
    let replies: Vec<u64> = replies.collect();
    assert!(matches!(replies[..], [hello, 0] if hello > 0), "{replies:?}");
}

#[test]
fn adopted_memory_is_never_used_for_anything_else() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let pooled = adopt("pool", Transport::Mempool(HANDLE));
    for what in [TensorAdopt { slab_bytes: 40 * MIB, ..vmm("x") }, pooled] {
        let info = play.adopt(conn, what);
        // Not beside its tensor, and not when that is gone.
        let (beside, _) = play.create(conn, spec("beside", MIB / 2));
        assert_ne!(beside.slab, info.slab);
        play.delete(conn, info.tensor);
        assert!(play.pond.slabs.get(info.slab).is_none());
        assert!(!play.world.held.contains_key(&Held::Slab(info.slab)));
        let dropped = |(message, _): &(ToMover, _)| matches!(message, ToMover::DropPool { .. });
        assert!(!play.world.told.iter().any(dropped), "no mover has made it");
        let (own, _) = play.create(conn, spec("own", 40 * MIB));
        assert_ne!(own.slab, info.slab);
        for tensor in [beside.tensor, own.tensor] {
            play.delete(conn, tensor);
        }
    }
    play.check_held();
}

#[test]
fn a_process_that_died_with_adopted_memory_changes_nothing_for_others() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (reader, client) = play.client(1);
    let info = play.adopt(conn, vmm("x"));
    play.get(reader, "x", 1);
    play.pond.process_gone(&mut play.world, client);
    assert!(play.is_alive(info.tensor));
    play.delete(conn, info.tensor);
    assert_eq!(play.freed(), [(conn, info.tensor)]);
    play.check_held();
}

#[test]
fn what_is_under_public_is_everybodys() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (stranger, _) = play.client(2);
    let info = play.adopt(conn, vmm("public/x"));
    assert_eq!(info.audience, Audience::Everybody);
    assert_eq!(play.get(stranger, "public/x", 1).0.tensor, info.tensor);
    let own = play.adopt(conn, TensorAdopt { name: None, ..vmm("x") });
    assert_eq!((own.name, own.audience), (None, Audience::User));
}

#[test]
fn the_next_daemon_knows_adopted_memory_and_whose_it_is() {
    for compacted in [true, false] {
        let mut play = Play::new();
        let (conn, client) = play.client(1);
        let (with_fd, told) = (play.adopt(conn, vmm("a")), play.adopt(conn, announced("b")));
        if compacted {
            play.world.records = play.pond.snapshot();
        }
        let found = play.restart();
        assert_eq!((found.tensors, found.lost_tensors, found.dropped), (2, 0, 0));
        let (reader, _) = play.client(1);
        let (info, _) = play.get(reader, "b", 1);
        assert_eq!((info.offset, info.adopted, info.home_pid), (MIB + 7, true, play.pids[&client]));
        play.release(reader, 1);
        play.check_held();
        // Its owner comes back, and hears what becomes of it.
        let conn = play.connect(1);
        play.hello(conn, client, true);
        assert!(play.claim(conn, vec![]).is_empty());
        play.delete(reader, with_fd.tensor);
        assert_eq!(play.freed(), [(conn, with_fd.tensor)]);
        play.pond.process_gone(&mut play.world, client);
        assert!(!play.exists(told.tensor));
        play.check_held();
    }
}

#[test]
fn an_owner_that_died_with_the_daemon_leaves_orphans() {
    // Its pidfd fires in the next one, or it was not even held.
    for held in [true, false] {
        let mut play = Play::new();
        let (conn, client) = play.client(1);
        let (with_fd, told) = (play.adopt(conn, vmm("a")), play.adopt(conn, announced("b")));
        if !held {
            play.world.held.remove(&Held::Client(client));
        }
        play.restart();
        if held {
            play.pond.process_gone(&mut play.world, client);
        }
        assert!(play.is_alive(with_fd.tensor) && !play.exists(told.tensor));
        play.check_held();
    }
}

#[test]
fn memory_that_is_not_in_the_journal_is_not_in_the_pond() {
    for what in [vmm("x"), announced("x")] {
        let mut play = Play::new();
        let (conn, _) = play.client(1);
        let number = play.start_adopt(conn, what.clone());
        let slab = play.charged_and_asked();
        play.world.journal_fails = true;
        play.says(FromMover::Proved { slab });
        assert_eq!(play.failed(number).kind, ErrorKind::Internal);
        play.world.journal_fails = false;
        assert!(play.world.uncharged.contains(&slab));
        assert_eq!(play.slab_bytes(), 0);
        play.check_held();
        play.adopt(conn, what);
    }
}

#[test]
fn a_keeper_without_room_is_told_and_nothing_is_half_adopted() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start_adopt(conn, vmm("x"));
    let slab = play.charged_and_asked();
    play.world.keeper_takes = Some(0);
    play.says(FromMover::Proved { slab });
    assert_eq!(play.failed(number).kind, ErrorKind::Later);
    assert_eq!(play.world.uncharged, [slab]);
    assert!(play.world.held.is_empty() && play.slab_bytes() == 0 && play.pond.is_idle());
    play.world.keeper_takes = None;
    play.adopt(conn, vmm("x"));
    play.check_held();
}

#[test]
fn memory_of_the_pond_is_not_adopted_and_its_slab_stays_untold() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (in_host, _) = play.create_ipc(conn, ipc("ipc", 100));
    let info = play.adopt(conn, announced("announced"));
    let (in_slab, _) = play.create(conn, spec("vmm", 100));
    let fd = play.world.held[&Held::Slab(in_slab.slab)];
    let handle = match play.pond.slabs.get(in_host.slab).unwrap().backing.transport {
        transport @ Transport::Ipc(_) => transport,
        other => panic!("{other:?}"),
    };
    let (thief, _) = play.client(2);
    let tries = [(vmm("x"), Some(fd)), (adopt("x", handle), None), (announced("x"), None)];
    for (what, fd) in tries {
        let number = play.start_with(thief, RequestBody::TensorAdopt(Box::new(what)), fd);
        let failure = play.failed(number);
        assert_eq!(failure.kind, ErrorKind::Invalid);
        assert_eq!(failure.message, "this memory is in the pond already");
        assert!(play.world.charged.is_empty(), "refused before anybody is charged");
    }
    assert!(play.is_alive(info.tensor) && play.is_alive(in_slab.tensor));
    // And a name that is adopted is not created.
    let failure = play.refused(conn, RequestBody::TensorCreate(ipc("announced", 100)));
    assert_eq!(failure.kind, ErrorKind::Exists);
    play.check_held();
}

#[test]
fn memory_that_is_charged_at_once_is_proved_at_once() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.world.charges_at_once = true;
    for what in [vmm("a"), announced("b")] {
        let number = play.start_adopt(conn, what);
        let slab = play.charged_and_asked();
        play.says(FromMover::Proved { slab });
        play.adopted(number);
    }
    play.check_held();
}
