//! What the kill harness found about memory of hosts and of other programs.

use millpond_host::channel::{FromHost, Holding, NO_EVENT, ToHost};
use millpond_mover::channel::{FromMover, ToMover};
use millpond_wire::message::{MoveWork, TensorAdopt, TensorMove};
use millpond_wire::{ErrorKind, Transport};

use super::*;

const CONTEXT: u64 = 500 << 20;

impl Play {
    /// Has a tensor made by a new host.
    fn create_in_host(&mut self, conn: ConnId, create: TensorCreate) -> (TensorInfo, HostId) {
        let create = TensorCreate { transport: TransportKind::Ipc, ..create };
        let number = self.start(conn, RequestBody::TensorCreate(create));
        self.charge();
        let host = self.world.hosts_wanted.pop().unwrap();
        self.pond.host_started(&mut self.world, host, 77, 177, &277);
        self.host_says(host, FromHost::Ready { context_bytes: CONTEXT });
        let slab = self.allocated_in(host);
        self.host_says(host, FromHost::Allocated { slab, memory: [7; 64], event: NO_EVENT });
        match self.answer(number) {
            Some(ReplyBody::Tensor(grant)) => (grant.info, host),
            other => panic!("not created: {other:?}"),
        }
    }

    fn allocated_in(&self, host: HostId) -> SlabId {
        let asked = self.world.told_hosts.iter().rev().find_map(|(to, said)| match said {
            ToHost::Allocate { slab, .. } if *to == host => Some(*slab),
            _ => None,
        });
        asked.unwrap()
    }
}

fn adopt(name: &str, transport: Transport) -> RequestBody {
    RequestBody::TensorAdopt(Box::new(TensorAdopt {
        tensor: TensorId::random(),
        name: Some(name.parse().unwrap()),
        dtype: Dtype::U8,
        shape: Shape::new([100]).unwrap(),
        device: GPU,
        audience: Audience::User,
        slab_bytes: 2 * MIB,
        offset: 0,
        transport,
    }))
}

#[test]
fn of_two_adoptions_at_once_one_gets_the_name() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let first = play.start_with(conn, adopt("x", Transport::Vmm), Some(50));
    let second = play.start_with(conn, adopt("x", Transport::Vmm), Some(51));
    play.charge();
    play.pond.mover_started(&mut play.world, GPU, 500, 150);
    play.pond.mover_said(&mut play.world, GPU, FromMover::Ready { context_bytes: 0 }, None);
    let told = std::mem::take(&mut play.world.told);
    let slabs: Vec<SlabId> = told
        .into_iter()
        .filter_map(|(said, _)| match said {
            ToMover::Prove { slab, .. } => Some(slab),
            _ => None,
        })
        .collect();
    assert_eq!(slabs.len(), 2);
    for slab in &slabs {
        play.pond.mover_said(&mut play.world, GPU, FromMover::Proved { slab: *slab }, None);
    }
    assert!(matches!(play.answer(first), Some(ReplyBody::Tensor(_))));
    let Some(ReplyBody::Failure(failure)) = play.answer(second) else { panic!("not refused") };
    assert_eq!(failure.kind, ErrorKind::Exists);
    assert_eq!(play.world.uncharged, slabs[1..], "nobody pays for what is not taken in");
    play.check_held();
}

#[test]
fn the_context_of_an_earlier_daemons_host_counts_whatever_its_owner_may_have() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_in_host(conn, spec("x", 100));
    play.restart();
    let held = vec![Holding { slab: info.slab, bytes: 2 * MIB, memory: [7; 64], event: NO_EVENT }];
    play.host_says(host, FromHost::Holds { epoch: Epoch(2), held });
    let (epoch, context_bytes) = (Epoch(2), CONTEXT);
    play.host_says(host, FromHost::HoldsEnd { epoch, sealed: false, context_bytes });
    assert_eq!(play.world.counted, [(SlabId(host.0), GPU, CONTEXT, 1)]);
    assert_eq!(play.world.charged, [], "nobody is asked whether it may be there");
    assert!(play.is_alive(info.tensor));
    play.pond.process_gone(&mut play.world, ClientId(host.0));
    assert!(play.world.uncharged.contains(&SlabId(host.0)));
}

#[test]
fn a_create_does_not_lease_what_has_lost_its_host() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_in_host(conn, spec("x", 100));
    // The tensor is still there, because nothing could be recorded.
    play.world.journal_fails = true;
    play.pond.process_gone(&mut play.world, ClientId(host.0));
    play.world.journal_fails = false;
    assert!(play.is_alive(info.tensor));
    let (transport, lease) = (TransportKind::Ipc, Some(LeaseId(5)));
    let again = TensorCreate { transport, lease, ..spec("x", 100) };
    let failure = play.refused(conn, RequestBody::TensorCreate(again));
    assert_eq!(failure.kind, ErrorKind::Lost);
}

#[test]
fn a_host_frees_memory_after_a_mover_has_unmapped_it() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_in_host(conn, spec("x", 100));
    // Another, so that the first does not go with the process.
    let ipc = TransportKind::Ipc;
    let other = TensorCreate { transport: ipc, ..spec("y", 100) };
    let number = play.start(conn, RequestBody::TensorCreate(other));
    play.charge();
    let slab = play.allocated_in(host);
    play.host_says(host, FromHost::Allocated { slab, memory: [8; 64], event: NO_EVENT });
    assert!(matches!(play.answer(number), Some(ReplyBody::Tensor(_))));
    let token = millpond_wire::Token::random();
    let (tensor, work) = (info.tensor, MoveWork::Put { file_offset: 0 });
    let what = TensorMove { token, tensor, offset: 0, bytes: 100, work };
    play.start_with(conn, RequestBody::TensorMove(what), Some(60));
    play.pond.mover_started(&mut play.world, GPU, 500, 150);
    play.pond.mover_said(&mut play.world, GPU, FromMover::Ready { context_bytes: 0 }, None);
    play.delete(conn, info.tensor);
    play.pond.mover_said(&mut play.world, GPU, FromMover::Done { job: 1, hashes: vec![] }, None);
    play.later(0);
    let free = (host, ToHost::Free { slab: info.slab });
    assert!(!play.world.told_hosts.contains(&free), "it is still mapped");
    let unmapped = FromMover::Unmapped { slab: info.slab };
    play.pond.mover_said(&mut play.world, GPU, unmapped, None);
    assert!(play.world.told_hosts.contains(&free));
}

#[test]
fn memory_of_a_host_is_used_once_also_where_its_end_cannot_be_recorded() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_in_host(conn, spec("x", 100));
    play.world.slab_stays = true;
    play.delete(conn, info.tensor);
    play.world.slab_stays = false;
    assert!(play.pond.slabs.get(info.slab).is_some(), "its end is not recorded");
    let again = TensorCreate { transport: TransportKind::Ipc, ..spec("y", 100) };
    let number = play.start(conn, RequestBody::TensorCreate(again));
    assert_eq!(play.answer(number), None, "it gets memory of its own");
    play.pond.process_gone(&mut play.world, ClientId(host.0));
    assert!(play.pond.slabs.get(info.slab).is_none(), "what is in no tensor goes with its host");
}
