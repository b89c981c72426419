//! Memory with legacy handles lives in processes of its own, which die, hang and are found again.

use millpond_host::channel::{FromHost, Holding, NO_EVENT, Why};
use millpond_wire::message::{EventKind, TensorGrant, TensorState};
use millpond_wire::{ErrorKind, HANDLE_BYTES, Survives, Transport};

use super::moves::put;
use super::*;

pub(super) const HOST_PIDFD: u64 = 910;
const CHANNEL: u64 = 911;
const HOST_PID: u32 = 88;
pub(super) const CONTEXT: u64 = 300 * MIB;
/// What a context is taken for before one was measured.
pub(super) const ESTIMATE: u64 = 256 * MIB;

pub(super) fn ipc(name: &str, bytes: u64) -> TensorCreate {
    TensorCreate { transport: TransportKind::Ipc, ..spec(name, bytes) }
}

fn memory_of(slab: SlabId) -> [u8; HANDLE_BYTES] {
    let mut memory = [1; HANDLE_BYTES];
    memory[..16].copy_from_slice(slab.0.as_bytes());
    memory
}

pub(super) fn allocated(slab: SlabId) -> FromHost {
    FromHost::Allocated { slab, memory: memory_of(slab), event: [2; HANDLE_BYTES] }
}

fn holding(slab: SlabId) -> Holding {
    Holding { slab, bytes: 2 * MIB, memory: memory_of(slab), event: [2; HANDLE_BYTES] }
}

/// What the account says to a user who may not have more.
pub(super) fn over_limit() -> DriverFailure {
    let answer = Failure::new(ErrorKind::GpuFull, "the group may have no more");
    let over = OverLimit { answer, soon: false };
    let text = "over".into();
    DriverFailure { out_of_memory: false, text, over_limit: Some(Box::new(over)) }
}

impl Play {
    /// Every account that was asked says yes.
    pub(super) fn charge(&mut self) {
        while !self.world.charged.is_empty() {
            let (slab, ..) = self.world.charged.remove(0);
            self.pond.slab_charged(&mut self.world, slab, Ok(()));
        }
    }

    /// The one process of a host that was asked for runs.
    pub(super) fn host_starts(&mut self) -> HostId {
        self.charge();
        assert_eq!(self.world.hosts_wanted.len(), 1);
        let host = self.world.hosts_wanted.remove(0);
        self.pond.host_started(&mut self.world, host, HOST_PID, HOST_PIDFD, &CHANNEL);
        host
    }

    pub(super) fn host_says(&mut self, host: HostId, said: FromHost) {
        self.pond.host_said(&mut self.world, host, said);
    }

    pub(super) fn host_dies(&mut self, host: HostId) {
        self.pond.process_gone(&mut self.world, ClientId(host.0));
    }

    /// The same, and its context is paid for.
    pub(super) fn host_runs(&mut self) -> HostId {
        let host = self.host_starts();
        self.host_says(host, FromHost::Ready { context_bytes: CONTEXT });
        self.charge();
        host
    }

    pub(super) fn told_host(&mut self) -> Vec<(HostId, ToHost)> {
        std::mem::take(&mut self.world.told_hosts)
    }

    /// The slabs that a host was asked for since the last time.
    pub(super) fn asked_of(&mut self, host: HostId) -> Vec<SlabId> {
        let told = self.told_host().into_iter().filter(|(to, _)| *to == host);
        let slab = |(_, message)| match message {
            ToHost::Allocate { slab, .. } => Some(slab),
            _ => None,
        };
        told.filter_map(slab).collect()
    }

    pub(super) fn allocates(&mut self, host: HostId) {
        for slab in self.asked_of(host) {
            self.host_says(host, allocated(slab));
        }
    }

    /// A create that is charged and waits for its host.
    pub(super) fn start_ipc(&mut self, conn: ConnId, create: TensorCreate) -> u64 {
        let number = self.start(conn, RequestBody::TensorCreate(create));
        self.charge();
        number
    }

    pub(super) fn granted(&mut self, number: u64) -> TensorGrant {
        match self.answer(number) {
            Some(ReplyBody::Tensor(grant)) => grant,
            other => panic!("not granted: {other:?}"),
        }
    }

    pub(super) fn failed(&mut self, number: u64) -> Failure {
        match self.answer(number) {
            Some(ReplyBody::Failure(failure)) => failure,
            other => panic!("not refused: {other:?}"),
        }
    }

    /// A tensor in a host that is there, or in one that is started for it.
    pub(super) fn create_ipc(
        &mut self,
        conn: ConnId,
        create: TensorCreate,
    ) -> (TensorInfo, HostId) {
        let number = self.start_ipc(conn, create);
        let host = match self.world.hosts_wanted.is_empty() {
            false => self.host_runs(),
            true => self.world.told_hosts.last().expect("a host that is asked").0,
        };
        self.allocates(host);
        (self.granted(number).info, host)
    }

    /// Deletes, and has everything done that follows.
    pub(super) fn delete_ipc(&mut self, conn: ConnId, tensor: TensorId) {
        self.delete(conn, tensor);
        self.later(0);
    }

    pub(super) fn uncharged(&mut self) -> BTreeSet<SlabId> {
        std::mem::take(&mut self.world.uncharged).into_iter().collect()
    }

    pub(super) fn has_host(&self, host: HostId) -> bool {
        self.pond.hosts.knows(host)
    }

    /// What a host says to the next daemon.
    pub(super) fn reports(&mut self, host: HostId, slabs: &[SlabId], sealed: bool) {
        let epoch = Epoch(2);
        assert!(self.told_host().contains(&(host, ToHost::Hello { epoch })));
        assert_eq!(self.world.hosts_adopted, [host]);
        let held = slabs.iter().map(|slab| holding(*slab)).collect();
        self.host_says(host, FromHost::Holds { epoch, held });
        self.host_says(host, FromHost::HoldsEnd { epoch, sealed, context_bytes: CONTEXT });
        self.charge();
    }
}

#[test]
fn a_create_is_charge_hold_journal_start_allocate_journal_reply() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    play.world.did.clear();
    let number = play.start(conn, RequestBody::TensorCreate(ipc("x", 3 * MIB)));
    let (slab, device, bytes, user) = play.world.charged[0];
    assert_eq!((device, bytes, user), (GPU, 4 * MIB, 1));
    assert!(play.world.hosts_wanted.is_empty(), "nothing is started for what may not be had");
    play.charge();
    let host = play.host_runs();
    assert_eq!(
        play.told_host(),
        [
            (host, ToHost::Start { device: GPU }),
            (host, ToHost::Allocate { slab, bytes: 4 * MIB, zero: false })
        ]
    );
    play.host_says(host, allocated(slab));
    assert_eq!(
        play.world.did,
        [
            Did::Charge(slab),
            Did::Charge(SlabId(host.0)),
            Did::Hold(Held::HostProcess(host)),
            Did::Hold(Held::HostChannel(host)),
            Did::Journal("host"),
            Did::ToHost("start"),
            Did::ToHost("allocate"),
            Did::Journal("slab"),
            Did::Journal("tensor"),
            Did::Bump,
            Did::Reply(number),
        ]
    );
    let info = play.granted(number).info;
    assert_eq!((info.transport, info.survives), (TransportKind::Ipc, Survives::Host));
    assert_eq!((info.home_pid, info.adopted, info.slab), (HOST_PID, false, slab));
    let made = play.world.records.iter().find_map(|record| match record {
        Record::SlabMade(made) => Some(made),
        _ => None,
    });
    let made = made.expect("a slab");
    assert_eq!((made.home, made.event), (Some(host.0), Some([2; HANDLE_BYTES])));
    assert_eq!(made.backing.transport, Transport::Ipc(memory_of(slab)));
    assert_eq!(play.told(EventKind::HostStarted).len(), 1);
    play.check_held();
}

#[test]
fn a_get_has_the_handle_and_the_event_and_no_descriptor() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let create = TensorCreate { zero: true, ..ipc("x", 100) };
    let (info, _) = play.create_ipc(conn, create);
    let number = play.start(conn, get("x", 1, Mode::ReadOnly, 0));
    assert!(play.world.came_with[&number].is_empty());
    let grant = play.granted(number);
    assert_eq!(grant.backing.transport, Transport::Ipc(memory_of(info.slab)));
    assert_eq!((grant.event, grant.backing.adopted), (Some([2; HANDLE_BYTES]), false));
    assert_eq!(grant.info.state, TensorState::Ready, "what a host allocates is zeroes");
}

#[test]
fn a_driver_without_events_of_several_processes_gives_none() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let number = play.start_ipc(conn, TensorCreate { lease: Some(LeaseId(1)), ..ipc("x", 100) });
    let host = play.host_runs();
    let slab = play.asked_of(host)[0];
    play.host_says(host, FromHost::Allocated { slab, memory: memory_of(slab), event: NO_EVENT });
    assert_eq!(play.granted(number).event, None);
}

#[test]
fn a_context_that_its_user_may_not_have_refuses_the_create_and_starts_no_host() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let number = play.start(conn, RequestBody::TensorCreate(ipc("x", 100)));
    let (slab, ..) = play.world.charged.remove(0);
    play.pond.slab_charged(&mut play.world, slab, Ok(()));
    let (context, device, bytes, user) = play.world.charged.remove(0);
    assert_eq!((device, bytes, user), (GPU, ESTIMATE, 1), "nobody has measured one yet");
    play.pond.slab_charged(&mut play.world, context, Err(over_limit()));
    let failure = play.failed(number);
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (ErrorKind::GpuFull, "the group may have no more")
    );
    assert_eq!(play.uncharged(), [slab].into(), "the slab that was never made");
    assert!(play.world.hosts_wanted.is_empty() && play.pond.host_list().is_empty());
    play.check_held();
}

#[test]
fn a_slab_that_its_user_may_not_have_starts_no_host() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let number = play.start(conn, RequestBody::TensorCreate(ipc("x", 100)));
    let (slab, ..) = play.world.charged.remove(0);
    play.pond.slab_charged(&mut play.world, slab, Err(over_limit()));
    assert_eq!(play.failed(number).kind, ErrorKind::GpuFull);
    assert!(play.world.hosts_wanted.is_empty() && play.world.uncharged.is_empty());
}

#[test]
fn creates_that_come_while_a_host_starts_share_it() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let first = play.start_ipc(conn, ipc("a", 100));
    let second = play.start_ipc(conn, ipc("b", 100));
    let host = play.host_runs();
    let asked = play.asked_of(host);
    assert_eq!(asked.len(), 2, "each has memory of its own");
    for slab in asked {
        play.host_says(host, allocated(slab));
    }
    let (a, b) = (play.granted(first).info, play.granted(second).info);
    assert_ne!(a.slab, b.slab);
    // And so does one that comes later.
    let (_, third) = play.create_ipc(conn, ipc("c", 100));
    assert_eq!(third, host);
    let shown = play.pond.host_list();
    assert_eq!((shown.len(), shown[0].tensors, shown[0].bytes), (1, 3, 6 * MIB));
    assert_eq!((shown[0].context_bytes, shown[0].sealed), (CONTEXT, false));
}

#[test]
fn another_audience_and_another_owner_have_other_hosts() {
    let mut play = Play::giving_back();
    play.driver_ready(2 << 30);
    let (one, _) = play.client(1);
    let (two, _) = play.client(2);
    let mut hosts = BTreeSet::new();
    hosts.insert(play.create_ipc(one, ipc("a", 100)).1);
    for audience in [Audience::Group, Audience::Everybody] {
        let create = TensorCreate { audience, ..ipc(&format!("{audience}"), 100) };
        hosts.insert(play.create_ipc(one, create).1);
    }
    hosts.insert(play.create_ipc(two, ipc("a", 100)).1);
    // A public name is for everybody, whatever was asked.
    let (info, public) = play.create_ipc(one, ipc("public/x", 100));
    assert_eq!(info.audience, Audience::Everybody);
    assert!(!hosts.insert(public), "it shares a host with what else is for everybody");
    assert_eq!(hosts.len(), 4);
    play.check_held();
}

#[test]
fn a_host_that_has_freed_something_makes_no_more_memory() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (a, host) = play.create_ipc(conn, ipc("a", 100));
    let (b, _) = play.create_ipc(conn, ipc("b", 100));
    play.told_host();
    play.delete_ipc(conn, a.tensor);
    assert_eq!(play.told_host(), [(host, ToHost::Free { slab: a.slab })]);
    assert!(play.uncharged().is_empty(), "it is there until the host has said so");
    play.host_says(host, FromHost::Freed { slab: a.slab });
    assert_eq!(play.uncharged(), [a.slab].into());
    play.host_says(host, FromHost::Freed { slab: b.slab });
    assert!(play.uncharged().is_empty() && play.is_alive(b.tensor), "nobody asked it to");
    assert!(play.pond.host_list()[0].sealed);
    let (c, next) = play.create_ipc(conn, ipc("c", 100));
    assert_ne!(next, host);
    // Each ends with its last tensor.
    play.told_host();
    play.delete_ipc(conn, b.tensor);
    assert_eq!(play.told_host(), [(host, ToHost::Stop)], "the last memory goes with its process");
    play.host_dies(host);
    assert_eq!(play.uncharged(), [b.slab, SlabId(host.0)].into());
    assert!(play.is_alive(c.tensor));
    play.check_held();
}

#[test]
fn a_host_ends_with_its_last_tensor() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, ipc("x", 100));
    play.told_host();
    play.delete_ipc(conn, info.tensor);
    assert_eq!(play.told_host(), [(host, ToHost::Stop)]);
    assert!(play.world.held.contains_key(&Held::HostProcess(host)), "until it is gone");
    play.check_held();
    // What comes meanwhile does not wait for it.
    let (_, next) = play.create_ipc(conn, ipc("y", 100));
    assert_ne!(next, host);
    play.world.did.clear();
    play.host_dies(host);
    assert_eq!(
        play.world.did,
        [
            Did::Journal("host gone"),
            Did::LetGo(Held::HostChannel(host)),
            Did::LetGo(Held::HostProcess(host))
        ]
    );
    assert_eq!(play.uncharged(), [info.slab, SlabId(host.0)].into());
    assert!(play.world.killed.is_empty() && !play.world.watched.contains(&ClientId(host.0)));
    assert_eq!(play.told(EventKind::HostStopped).len(), 1);
    assert!(play.told(EventKind::HostLost).is_empty());
    play.check_held();
}

/// Nothing else may happen for a long time after it.
#[test]
fn memory_whose_time_is_over_is_given_back_at_once() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let life = Life { ttl_ms: Some(1000), ..Life::default() };
    let (info, host) = play.create_ipc(conn, TensorCreate { life, ..ipc("x", 100) });
    play.told_host();
    play.later(1000);
    assert!(!play.exists(info.tensor));
    assert_eq!(play.told_host(), [(host, ToHost::Stop)]);
}

#[test]
fn memory_is_freed_only_after_its_last_lease() {
    let mut play = Play::giving_back();
    let (conn, client) = play.client(1);
    let create = |name| TensorCreate { lease: Some(LeaseId(1)), ..ipc(name, 100) };
    let (info, host) = play.create_ipc(conn, create("x"));
    play.told_host();
    play.delete_ipc(conn, info.tensor);
    assert!(play.told_host().is_empty());
    // By death as well, and then there is nothing to taint for anybody.
    play.pond.process_gone(&mut play.world, client);
    play.later(0);
    assert_eq!(play.told_host(), [(host, ToHost::Stop)]);
    play.host_dies(host);
    play.check_held();
}

#[test]
fn a_host_that_says_it_is_sealed_is_replaced() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    play.create_ipc(conn, ipc("a", 100));
    let number = play.start_ipc(conn, ipc("b", 100));
    let (host, slab) = match play.told_host().pop() {
        Some((host, ToHost::Allocate { slab, .. })) => (host, slab),
        other => panic!("{other:?}"),
    };
    let text = "sealed".into();
    play.host_says(host, FromHost::NotAllocated { slab, why: Why::Sealed, text });
    let next = play.host_runs();
    assert_ne!(next, host);
    assert_eq!(
        play.told_host().last(),
        Some(&(next, ToHost::Allocate { slab, bytes: 2 * MIB, zero: false }))
    );
    play.host_says(next, allocated(slab));
    assert_eq!(play.granted(number).info.slab, slab);
    assert!(play.uncharged().is_empty(), "it was charged once");
}

#[test]
fn a_card_without_memory_is_told_and_nobody_pays() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let number = play.start_ipc(conn, ipc("x", 100));
    let host = play.host_runs();
    let slab = play.asked_of(host)[0];
    let text = String::from("out of memory");
    play.host_says(host, FromHost::NotAllocated { slab, why: Why::OutOfMemory, text });
    assert_eq!(play.failed(number).kind, ErrorKind::GpuFull);
    assert_eq!(play.uncharged(), [slab].into());
    // A host with nothing to keep is ended in its time.
    play.later(499);
    assert!(play.told_host().is_empty());
    play.later(1);
    assert_eq!(play.told_host(), [(host, ToHost::Stop)]);
    play.host_dies(host);
    assert_eq!(play.uncharged(), [SlabId(host.0)].into());
    play.check_held();
}

/// At each step before there is memory.
#[test]
fn a_host_that_dies_when_it_makes_memory_is_replaced_once() {
    for step in 0..4 {
        let mut play = Play::giving_back();
        let (conn, _) = play.client(1);
        let number = play.start_ipc(conn, ipc("x", 100));
        let mut before = None;
        for death in 1..=2 {
            let host = play.host_starts();
            assert_ne!(before.replace(host), Some(host));
            match step {
                0 => {}
                1 => play.pond.host_hung_up(&mut play.world, host),
                2 => play.host_says(host, FromHost::Ready { context_bytes: CONTEXT }),
                _ => {
                    play.host_says(host, FromHost::Ready { context_bytes: CONTEXT });
                    play.charge();
                    assert_eq!(play.asked_of(host).len(), 1);
                }
            }
            assert_eq!(play.answer(number), None, "its pidfd says when it is gone");
            play.host_dies(host);
            assert!(!play.has_host(host));
            // What was asked for a context that is gone is answered late.
            play.charge();
            assert_eq!(play.world.hosts_wanted.len(), 2 - death, "at step {step}");
        }
        let failure = play.failed(number);
        assert_eq!(failure.kind, ErrorKind::Driver, "{failure}");
        assert!(failure.message.contains("died"), "{failure}");
        assert_eq!(
            play.told(EventKind::HostLost).len() + play.told(EventKind::HostStopped).len(),
            2
        );
        play.check_held();
        // The next create is another one.
        play.create_ipc(conn, ipc("x", 100));
        play.check_held();
    }
}

#[test]
fn a_host_that_dies_once_costs_time_and_no_create() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let number = play.start_ipc(conn, ipc("x", 100));
    let host = play.host_runs();
    let slab = play.asked_of(host)[0];
    play.host_dies(host);
    assert_eq!(play.uncharged(), [SlabId(host.0)].into(), "the slab is still wanted");
    let next = play.host_runs();
    assert_eq!(play.asked_of(next), [slab]);
    // Whoever is gone says nothing any more.
    play.host_says(host, allocated(slab));
    assert_eq!(play.answer(number), None);
    play.host_says(next, allocated(slab));
    assert_eq!(play.granted(number).info.slab, slab);
}

#[test]
fn a_host_that_cannot_start_is_an_answer() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let number = play.start_ipc(conn, ipc("x", 100));
    let host = play.world.hosts_wanted.remove(0);
    play.pond.host_not_started(&mut play.world, host, "no such file");
    let failure = play.failed(number);
    assert!(failure.message.contains("no such file"), "{failure}");
    assert!(!play.has_host(host) && play.uncharged().len() == 2, "slab and context");
    let number = play.start_ipc(conn, ipc("x", 100));
    let host = play.host_starts();
    play.host_says(host, FromHost::Failed { text: "no context".into() });
    let failure = play.failed(number);
    assert!(failure.message.contains("no context"), "{failure}");
    play.host_dies(host);
    assert_eq!(play.uncharged().len(), 2);
    play.check_held();
}

/// A refusal that no memory would change costs nobody what is kept for use again.
#[test]
fn a_host_that_cannot_start_drops_no_recycled_memory() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("kept", 40 * MIB));
    play.delete(conn, info.tensor);
    assert_eq!(play.slab_bytes(), 40 * MIB);
    let number = play.start_ipc(conn, ipc("x", 100));
    let host = play.world.hosts_wanted.remove(0);
    play.pond.host_not_started(&mut play.world, host, "no such file");
    assert!(play.failed(number).message.contains("no such file"));
    assert_eq!(play.slab_bytes(), 40 * MIB);
    assert!(play.world.charged.is_empty(), "nothing is tried again");
}

#[test]
fn a_host_that_died_leaves_orphans_and_the_next_create_starts_another() {
    let mut play = Play::giving_back();
    let (writer, _) = play.client(1);
    let (reader, _) = play.client(1);
    let create = |name| TensorCreate { zero: true, ..ipc(name, 100) };
    let (leased, host) = play.create_ipc(writer, create("leased"));
    let (other, _) = play.create_ipc(writer, create("other"));
    play.get(reader, "leased", 1);
    play.uncharged();
    play.host_dies(host);
    assert!(!play.exists(other.tensor), "nobody has it");
    assert!(play.exists(leased.tensor) && !play.is_alive(leased.tensor));
    assert_eq!(play.uncharged(), [other.slab, SlabId(host.0)].into());
    assert_eq!(play.told(EventKind::TensorOrphaned).len(), 2);
    assert_eq!(play.told(EventKind::HostLost), ["pid 88 died with 2 tensors"]);
    // By name it is gone, and the answer says why; by its identity it is an orphan.
    let failure = play.refused(reader, get("leased", 2, Mode::ReadOnly, 0));
    assert_eq!(failure.kind, ErrorKind::NotFound);
    assert!(failure.message.contains("its host (pid 88) died"), "{failure}");
    let by_id = |lease, wait_ms| {
        let (target, lease) = (Target::Id(leased.tensor), LeaseId(lease));
        RequestBody::TensorGet(TensorGet { target, lease, mode: Mode::ReadOnly, wait_ms })
    };
    for wait_ms in [0, 1000] {
        let failure = play.refused(reader, by_id(2, wait_ms));
        assert_eq!(failure.kind, ErrorKind::Lost, "{failure}");
    }
    let ReplyBody::Tensors(listed) =
        play.ask(reader, RequestBody::TensorList { prefix: String::new(), page: None })
    else {
        panic!()
    };
    let states: Vec<_> = listed.iter().map(|info| (info.tensor, info.state, info.leases)).collect();
    assert_eq!(states, [(leased.tensor, TensorState::Orphan, 1)]);
    let number = play.start_move(writer, put(leased.tensor, 10));
    assert_eq!(play.failed(number).kind, ErrorKind::Lost);
    // The lease goes on, and a repeat of the get that began it has the same answer.
    let ReplyBody::Tensor(again) = play.ask(reader, by_id(1, 0)) else { panic!() };
    assert_eq!(again.info.state, TensorState::Orphan);
    let (_, next) = play.create_ipc(writer, create("leased"));
    assert_ne!(next, host);
    play.release(reader, 1);
    play.later(0);
    assert!(!play.exists(leased.tensor));
    assert_eq!(play.uncharged(), [leased.slab].into());
    assert!(play.has_host(next));
    play.check_held();
}

#[test]
fn an_end_of_a_host_that_could_not_be_recorded_is_found_again() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, TensorCreate { zero: true, ..ipc("x", 100) });
    play.world.journal_fails = true;
    play.host_dies(host);
    let failure = play.refused(conn, get("x", 1, Mode::ReadOnly, 0));
    assert_eq!(failure.kind, ErrorKind::Lost, "{failure}");
    play.world.journal_fails = false;
    play.restart();
    assert!(!play.exists(info.tensor) && !play.has_host(host));
    play.check_held();
}

#[test]
fn a_host_that_is_not_in_the_journal_is_not_told_to_start() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let number = play.start_ipc(conn, ipc("x", 100));
    play.world.journal_fails = true;
    let host = play.host_starts();
    assert!(play.told_host().is_empty());
    assert_eq!(play.world.killed, [HOST_PIDFD]);
    assert_eq!(play.failed(number).kind, ErrorKind::Driver);
    assert!(play.world.held.is_empty());
    play.world.journal_fails = false;
    play.host_dies(host);
    assert!(!play.world.records.iter().any(|record| matches!(record, Record::HostGone(_))));
    assert_eq!(play.uncharged().len(), 2);
    play.check_held();
}

#[test]
fn a_host_that_the_keeper_has_no_room_for_is_ended() {
    for room in [0, 1] {
        let mut play = Play::giving_back();
        let (conn, _) = play.client(1);
        let number = play.start_ipc(conn, ipc("x", 100));
        play.world.keeper_takes = Some(room);
        let host = play.host_starts();
        assert!(play.told_host().is_empty() && play.world.held.is_empty());
        assert_eq!(play.world.killed, [HOST_PIDFD]);
        let failure = play.failed(number);
        assert!(failure.message.contains("the keeper does not hold it"), "{failure}");
        play.world.keeper_takes = None;
        play.host_dies(host);
        play.check_held();
    }
}

#[test]
fn memory_that_could_not_be_recorded_is_freed() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (kept, host) = play.create_ipc(conn, ipc("kept", 100));
    let number = play.start_ipc(conn, ipc("x", 100));
    let slab = play.asked_of(host)[0];
    play.world.journal_fails = true;
    play.host_says(host, allocated(slab));
    assert_eq!(play.failed(number).kind, ErrorKind::Internal);
    play.world.journal_fails = false;
    play.later(0);
    assert_eq!(play.told_host(), [(host, ToHost::Free { slab })]);
    play.host_says(host, FromHost::Freed { slab });
    assert_eq!(play.uncharged(), [slab].into());
    assert!(play.is_alive(kept.tensor));
}

#[test]
fn a_repeated_create_makes_one_tensor() {
    let mut play = Play::giving_back();
    let (conn, client) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..ipc("x", 100) };
    let (first, host) = play.create_ipc(conn, create.clone());
    // The answer was lost.
    play.pond.hung_up(&mut play.world, conn);
    let conn = play.connect(1);
    play.hello(conn, client, false);
    let number = play.start(conn, RequestBody::TensorCreate(create.clone()));
    let again = play.granted(number);
    assert_eq!((again.info.tensor, again.info.slab), (first.tensor, first.slab));
    assert!(play.world.charged.is_empty());
    // And a daemon later.
    play.restart();
    let conn = play.connect(1);
    play.hello(conn, client, false);
    let number = play.start(conn, RequestBody::TensorCreate(create));
    assert_eq!(play.granted(number).info.slab, first.slab, "before its host has said anything");
    play.reports(host, &[first.slab], false);
    assert!(play.is_alive(first.tensor));
    play.check_held();
}

#[test]
fn a_name_that_is_taken_says_by_which_transport() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    play.create_ipc(conn, ipc("x", 100));
    let failure = play.refused(conn, RequestBody::TensorCreate(spec("x", 100)));
    assert_eq!(failure.kind, ErrorKind::Exists);
    assert!(failure.message.contains("its transport is ipc"), "{failure}");
}

#[test]
fn a_create_that_nobody_waits_for_leaves_no_memory_behind() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    play.start_ipc(conn, ipc("x", 100));
    let host = play.host_runs();
    let slab = play.asked_of(host)[0];
    play.pond.hung_up(&mut play.world, conn);
    play.host_says(host, allocated(slab));
    play.later(0);
    assert_eq!(play.told_host(), [(host, ToHost::Stop)]);
    play.host_dies(host);
    assert_eq!(play.uncharged(), [slab, SlabId(host.0)].into());
    play.check_held();
}

#[test]
fn a_host_that_hangs_when_it_has_nothing_is_killed() {
    for step in 0..2 {
        let mut play = Play::giving_back();
        let (conn, _) = play.client(1);
        let number = play.start_ipc(conn, ipc("x", 100));
        let host = if step == 0 { play.host_starts() } else { play.host_runs() };
        play.later(999);
        assert!(play.world.killed.is_empty());
        play.later(1);
        assert_eq!(play.world.killed, [HOST_PIDFD]);
        let failure = play.failed(number);
        assert!(failure.message.contains("said nothing"), "{failure}");
        play.host_dies(host);
        play.check_held();
    }
}

#[test]
fn a_host_that_hangs_keeps_its_memory_and_gets_no_more() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (kept, host) = play.create_ipc(conn, TensorCreate { zero: true, ..ipc("kept", 100) });
    let number = play.start_ipc(conn, ipc("x", 100));
    let slab = play.asked_of(host)[0];
    play.later(1000);
    assert!(play.failed(number).message.contains("said nothing"));
    assert!(play.world.killed.is_empty(), "what it keeps is worth more than an answer");
    play.get(conn, "kept", 1);
    let (_, next) = play.create_ipc(conn, ipc("x", 100));
    assert_ne!(next, host);
    // Its answer comes after all: nobody wants that any more.
    play.told_host();
    play.uncharged();
    play.host_says(host, allocated(slab));
    assert_eq!(play.told_host(), [(host, ToHost::Free { slab })]);
    play.host_says(host, FromHost::Freed { slab });
    assert_eq!(play.uncharged(), [slab].into());
    assert!(play.is_alive(kept.tensor));
    play.check_held();
}

/// Else one that hangs is never found, where somebody always wants something.
#[test]
fn more_work_is_no_sign_of_life_of_a_host() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let first = play.start_ipc(conn, ipc("x0", 100));
    let host = play.host_runs();
    for number in 1..=4 {
        play.later(300);
        play.start_ipc(conn, ipc(&format!("x{number}"), 100));
    }
    assert_eq!(play.world.killed, [HOST_PIDFD]);
    assert_eq!(play.failed(first).kind, ErrorKind::Driver);
    play.host_dies(host);
}

#[test]
fn a_host_is_found_again_and_goes_on() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, TensorCreate { zero: true, ..ipc("x", 100) });
    let found = play.restart();
    assert_eq!((found.tensors, found.lost_tensors, found.dropped), (1, 0, 0));
    assert!(play.world.watched.contains(&ClientId(host.0)));
    // It serves at once: the handle is in the journal.
    let (conn, _) = play.client(1);
    let number = play.start(conn, get("x", 1, Mode::ReadOnly, 0));
    let grant = play.granted(number);
    assert_eq!(grant.backing.transport, Transport::Ipc(memory_of(info.slab)));
    assert_eq!((grant.event, grant.info.home_pid), (Some([2; HANDLE_BYTES]), HOST_PID));
    // What is wanted meanwhile waits for its report.
    let number = play.start_ipc(conn, ipc("y", 100));
    assert!(play.world.hosts_wanted.is_empty());
    play.reports(host, &[info.slab], false);
    assert_eq!(play.pond.host_list()[0].context_bytes, CONTEXT);
    let slab = play.asked_of(host)[0];
    play.host_says(host, allocated(slab));
    assert_eq!(play.granted(number).info.slab, slab);
    assert!(play.uncharged().is_empty());
    play.check_held();
    play.world.records = play.pond.snapshot();
    let found = play.restart();
    assert_eq!((found.tensors, found.dropped), (2, 0), "a compacted journal has it too");
    play.reports(host, &[info.slab, slab], false);
    play.check_held();
}

#[test]
fn a_sealed_host_is_sealed_for_the_next_daemon() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, ipc("x", 100));
    play.restart();
    play.reports(host, &[info.slab], true);
    let (conn, _) = play.client(1);
    assert_ne!(play.create_ipc(conn, ipc("y", 100)).1, host);
}

/// It answered a daemon that had died.
#[test]
fn memory_that_the_books_lack_is_freed() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, ipc("x", 100));
    play.start_ipc(conn, ipc("y", 100));
    let unknown = play.asked_of(host)[0];
    play.restart();
    play.reports(host, &[info.slab, unknown], false);
    assert_eq!(play.told_host(), [(host, ToHost::Free { slab: unknown })]);
    assert!(play.is_alive(info.tensor));
    play.check_held();
    // The only memory that it has goes with it.
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    play.start_ipc(conn, ipc("y", 100));
    let host = play.host_runs();
    let unknown = play.asked_of(host)[0];
    play.restart();
    play.reports(host, &[unknown], false);
    assert_eq!(play.told_host(), [(host, ToHost::Stop)]);
    play.host_dies(host);
    play.check_held();
}

#[test]
fn memory_that_its_host_lacks_is_orphaned() {
    let mut play = Play::giving_back();
    let (conn, client) = play.client(1);
    let create = |name| TensorCreate { zero: true, ..ipc(name, 100) };
    let (there, host) = play.create_ipc(conn, create("there"));
    let (lost, _) = play.create_ipc(conn, create("lost"));
    let (_, token) = play.get(conn, "lost", 1);
    play.restart();
    play.reports(host, &[there.slab], false);
    assert!(play.is_alive(there.tensor) && !play.is_alive(lost.tensor));
    assert!(play.exists(lost.tensor), "its reader has not claimed yet");
    let conn = play.connect(1);
    play.hello(conn, client, true);
    let target = lost.tensor.into();
    let claim = LeaseClaim { lease: LeaseId(1), target, mode: Mode::ReadOnly, token };
    assert!(play.claim(conn, vec![claim]).is_empty());
    assert!(play.exists(lost.tensor));
    play.release(conn, 1);
    assert!(!play.exists(lost.tensor));
    assert_eq!(play.uncharged(), [lost.slab].into());
    play.check_held();
}

#[test]
fn a_report_to_another_daemon_is_not_believed() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, ipc("x", 100));
    play.restart();
    let (epoch, context_bytes) = (Epoch(1), CONTEXT);
    play.host_says(host, FromHost::HoldsEnd { epoch, sealed: true, context_bytes });
    assert!(play.is_alive(info.tensor));
    play.reports(host, &[info.slab], false);
    // Nor is a second one.
    play.host_says(host, FromHost::HoldsEnd { epoch: Epoch(2), sealed: false, context_bytes });
    assert!(play.is_alive(info.tensor));
    play.check_held();
}

#[test]
fn a_host_that_died_with_the_daemon_leaves_orphans() {
    // Its pidfd fires in the next one, or it was not even held.
    for held in [true, false] {
        let mut play = Play::giving_back();
        let (conn, _) = play.client(1);
        let (info, host) = play.create_ipc(conn, ipc("x", 100));
        if !held {
            play.world.held.remove(&Held::HostProcess(host));
        }
        play.restart();
        if held {
            assert!(play.is_alive(info.tensor));
            play.pond.host_hung_up(&mut play.world, host);
            play.host_dies(host);
        }
        assert!(!play.exists(info.tensor) && !play.has_host(host));
        play.check_held();
        let (conn, _) = play.client(1);
        play.create_ipc(conn, ipc("x", 100));
    }
}

#[test]
fn a_host_without_its_channel_is_ended() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, ipc("x", 100));
    play.world.held.remove(&Held::HostChannel(host));
    play.restart();
    assert_eq!(play.world.killed, [HOST_PIDFD]);
    play.host_dies(host);
    assert!(!play.exists(info.tensor));
    play.check_held();
}

/// The daemon died between the two holds, or before the record.
#[test]
fn what_is_held_of_a_host_that_no_record_names_is_let_go() {
    for channel in [true, false] {
        let mut play = Play::giving_back();
        let host = HostId::random();
        play.world.held.insert(Held::HostProcess(host), HOST_PIDFD);
        if channel {
            play.world.held.insert(Held::HostChannel(host), CHANNEL);
        }
        let found = play.restart();
        assert_eq!(found.dropped, 1 + usize::from(channel));
        assert!(!play.has_host(host) && play.world.hosts_adopted.is_empty());
        play.check_held();
    }
}

#[test]
fn a_host_of_an_earlier_daemon_that_says_nothing_is_kept_with_what_it_has() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, TensorCreate { zero: true, ..ipc("x", 100) });
    play.restart();
    play.later(1000);
    assert!(play.world.killed.is_empty() && play.is_alive(info.tensor));
    let (conn, _) = play.client(1);
    play.get(conn, "x", 1);
    assert_ne!(play.create_ipc(conn, ipc("y", 100)).1, host);
    assert!(play.is_alive(info.tensor));
}

#[test]
fn a_host_that_was_to_end_is_told_again_by_the_next_daemon() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let (info, host) = play.create_ipc(conn, ipc("x", 100));
    // The books have let it go; the host was not told.
    play.delete(conn, info.tensor);
    play.restart();
    play.reports(host, &[info.slab], false);
    play.later(0);
    assert_eq!(play.told_host(), [(host, ToHost::Stop)]);
    play.host_dies(host);
    play.check_held();
}

#[test]
fn memory_for_a_fabric_is_refused_as_the_driver_does() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    let create = TensorCreate { transport: TransportKind::Fabric, ..spec("x", 100) };
    let number = play.start(conn, RequestBody::TensorCreate(create));
    assert!(play.world.asked.is_empty() && play.world.charged.is_empty());
    let slab = play.world.fabric.remove(0);
    let text = "CUDA_ERROR_NOT_PERMITTED".to_owned();
    let refused = DriverFailure { out_of_memory: false, text, over_limit: None };
    play.pond.slab_made(&mut play.world, slab, Err(refused));
    let failure = play.failed(number);
    assert_eq!(failure.kind, ErrorKind::Unsupported);
    assert!(failure.message.contains("CUDA_ERROR_NOT_PERMITTED"), "{failure}");
    assert!(failure.hint.is_some_and(|hint| hint.contains("vmm")));
    play.check_held();
}

/// It cannot be spoken to, and there is nothing left that would be lost with it.
#[test]
fn a_host_that_does_not_answer_is_killed_when_nobody_needs_it() {
    for speaks in [true, false] {
        let mut play = Play::giving_back();
        let (conn, _) = play.client(1);
        let (info, host) = play.create_ipc(conn, ipc("x", 100));
        play.restart();
        if speaks {
            play.host_says(host, FromHost::Failed { text: "no version in common".into() });
        }
        play.later(1000);
        play.later(1000);
        assert!(play.world.killed.is_empty() && play.is_alive(info.tensor));
        let (conn, _) = play.client(1);
        play.delete_ipc(conn, info.tensor);
        play.later(1000);
        assert_eq!(play.world.killed, [HOST_PIDFD]);
        play.host_dies(host);
        assert_eq!(play.uncharged(), [info.slab].into());
        play.check_held();
    }
}

/// Where no group pays, nothing is waited for.
#[test]
fn what_is_charged_at_once_is_made_in_the_same_order() {
    let mut play = Play::giving_back();
    let (conn, _) = play.client(1);
    play.world.charges_at_once = true;
    play.world.did.clear();
    let number = play.start(conn, RequestBody::TensorCreate(ipc("x", 100)));
    let host = play.host_starts();
    play.host_says(host, FromHost::Ready { context_bytes: CONTEXT });
    let slab = play.asked_of(host)[0];
    play.host_says(host, allocated(slab));
    assert_eq!(play.granted(number).info.slab, slab);
    assert_eq!(
        play.world.did,
        [
            Did::Charge(slab),
            Did::Charge(SlabId(host.0)),
            Did::Hold(Held::HostProcess(host)),
            Did::Hold(Held::HostChannel(host)),
            Did::Journal("host"),
            Did::ToHost("start"),
            Did::ToHost("allocate"),
            Did::Journal("slab"),
            Did::Journal("tensor"),
            Did::Bump,
            Did::Reply(number),
        ]
    );
    // The next one finds the host, and the next daemon pays for its context again.
    let number = play.start(conn, RequestBody::TensorCreate(ipc("y", 100)));
    play.allocates(host);
    let other = play.granted(number).info.slab;
    play.restart();
    play.world.charges_at_once = true;
    play.reports(host, &[slab, other], false);
    assert_eq!(play.pond.host_list()[0].context_bytes, CONTEXT);
    play.check_held();
}
