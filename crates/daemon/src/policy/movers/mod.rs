//! Bytes go in and out of tensors, by one mover for each GPU.
//!
//! A mover is a process like any other that maps memory: it is among the clients, holds a lease on
//! every tensor that it works on, and those end when its work has landed or its process is gone.
//! It is started when there is something to move, or is about to be (a version begins that its
//! maker does not map), told what to map and what to move, ended when it has had nothing to do for a
//! while, and killed when it does nothing although it should. The next one starts only when the one
//! before is gone: what a dying one still writes must not land on the work of its successor.

mod asks;
mod jobs;
mod life;
mod making;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use millpond_mover::channel::{Rights, ToMover};
use millpond_wire::message::TensorMove;
use millpond_wire::{ClientId, GpuUuid, LeaseId, SlabId, TensorId, Token};

use making::Task;

use super::ports::Ports;
use crate::accounts::Charge;

/// Jobs of one user that a mover has at a time: enough that it never waits for the next. It takes
/// users in turn, so each has as many, whatever the others have.
const SENT: usize = 16;
/// The slowest file that is waited for; what takes longer hangs.
const SLOWEST_BYTES_PER_MS: u64 = 20_000;

/// How patient the pond is with its movers.
#[derive(Clone, Copy, Debug)]
pub struct MoverLimits {
    /// A mover that has said nothing for so long, and for the time that its work may take, hangs.
    pub patience_ms: u64,
    /// A mover without work is ended after so long.
    pub idle_ms: u64,
}

/// One move that waits or runs.
#[derive(Debug)]
struct Moving<F> {
    client: ClientId,
    /// With whose rights files are read and written.
    by: Rights,
    what: TensorMove,
    file: Option<F>,
    /// The tensors' slabs: its own, and the one that it is copied from.
    slab: SlabId,
    from: Option<SlabId>,
    /// For the move and its bytes.
    _charges: [Charge; 2],
    /// When the mover was told of it.
    told_ms: u64,
    /// Its client is gone; it ends as soon as the mover has stopped.
    cancelled: bool,
}

/// Where a mover is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// There is no process.
    Absent,
    /// It has been asked for, and may hang before it says anything.
    Starting,
    Ready,
    /// It was told to stop, or killed, or has hung up; its pidfd says when it is gone.
    Ending,
}

/// The mover of one GPU.
#[derive(Debug)]
pub(super) struct Mover<F> {
    phase: Phase,
    client: Option<ClientId>,
    /// Not sent yet, oldest first.
    waiting: VecDeque<(u64, Moving<F>)>,
    sent: BTreeMap<u64, Moving<F>>,
    /// Work about whole slabs, not sent yet and not answered yet.
    tasks: VecDeque<Task>,
    sent_tasks: Vec<Task>,
    /// Slabs that it was told to map, and how many of the jobs it has are on each.
    slabs: BTreeMap<SlabId, usize>,
    /// Slabs that it was told to unmap, how often, and has not said that it has.
    unmapping: BTreeMap<SlabId, usize>,
    /// Its lease on each tensor, and how many of its jobs need it.
    leases: BTreeMap<TensorId, (LeaseId, usize)>,
    next_lease: u64,
    /// When it counts as hung, or may go.
    deadline_ms: Option<u64>,
    moved_bytes: u64,
    /// What its context takes of the GPU, as it has said; 0 until then.
    context_bytes: u64,
}

impl<F> Default for Mover<F> {
    fn default() -> Self {
        Self {
            phase: Phase::Absent,
            client: None,
            waiting: VecDeque::new(),
            sent: BTreeMap::new(),
            tasks: VecDeque::new(),
            sent_tasks: Vec::new(),
            slabs: BTreeMap::new(),
            unmapping: BTreeMap::new(),
            leases: BTreeMap::new(),
            next_lease: 1,
            deadline_ms: None,
            moved_bytes: 0,
            context_bytes: 0,
        }
    }
}

impl<F> Mover<F> {
    fn is_idle(&self) -> bool {
        self.sent.is_empty() && self.waiting.is_empty() && !self.has_tasks()
    }

    fn has_tasks(&self) -> bool {
        !(self.tasks.is_empty() && self.sent_tasks.is_empty())
    }

    /// Takes the next move that the mover can have: the oldest of a user who has room there. The
    /// repeat of a move that is being stopped waits for its end, or both would write.
    fn take_next(&mut self) -> Option<(u64, Moving<F>)> {
        let mut sent: BTreeMap<u32, usize> = BTreeMap::new();
        for moving in self.sent.values() {
            *sent.entry(moving.by.user).or_default() += 1;
        }
        let stopping: Vec<&Moving<F>> = self.sent.values().filter(|it| it.cancelled).collect();
        let may_begin = |(_, it): &(u64, Moving<F>)| {
            sent.get(&it.by.user).is_none_or(|count| *count < SENT)
                && !stopping.iter().any(|other| other.is_same(it.client, it.what.token))
        };
        let place = self.waiting.iter().position(may_begin)?;
        self.waiting.remove(place)
    }

    /// The longest that may pass before the mover says something: each user's next job may be the
    /// largest, and they take turns.
    fn bytes_to_next_sign(&self) -> Option<u64> {
        let mut largest: BTreeMap<u32, u64> = BTreeMap::new();
        for moving in self.sent.values() {
            let known = largest.entry(moving.by.user).or_default();
            *known = moving.what.bytes.max(*known);
        }
        largest.into_values().reduce(u64::saturating_add)
    }
}

impl<F> Mover<F> {
    /// It has unmapped a slab.
    fn unmapped(&mut self, slab: SlabId) {
        if let Some(times) = self.unmapping.get_mut(&slab) {
            *times -= 1;
            if *times == 0 {
                self.unmapping.remove(&slab);
            }
        }
    }
}

impl<F> Moving<F> {
    fn is_same(&self, client: ClientId, token: Token) -> bool {
        self.client == client && self.what.token == token
    }
}

#[derive(Debug)]
pub(super) struct Movers<F> {
    by_device: BTreeMap<GpuUuid, Mover<F>>,
    next_job: u64,
}

impl<F> Default for Movers<F> {
    fn default() -> Self {
        Self { by_device: BTreeMap::new(), next_job: 1 }
    }
}

impl<F> Movers<F> {
    /// Whether nothing waits or runs.
    pub(super) fn are_idle(&self) -> bool {
        self.by_device.values().all(Mover::is_idle)
    }

    /// The user and the bytes of every move that waits or runs, for checks.
    pub(super) fn all_moves(&self) -> impl Iterator<Item = (u32, u64)> {
        let moves = self.by_device.values().flat_map(|mover| {
            mover.waiting.iter().map(|(_, moving)| moving).chain(mover.sent.values())
        });
        moves.map(|moving| (moving.by.user, moving.what.bytes))
    }

    /// Queues a move. Returns the number of its job.
    fn queue(&mut self, device: GpuUuid, moving: Moving<F>) -> u64 {
        let job = self.next_job;
        self.next_job += 1;
        self.by_device.entry(device).or_default().waiting.push_back((job, moving));
        job
    }

    /// Drops those of these jobs that have not begun.
    fn forget(&mut self, jobs: &BTreeSet<u64>) {
        for mover in self.by_device.values_mut() {
            mover.waiting.retain(|(job, _)| !jobs.contains(job));
        }
    }

    /// Takes out the moves of a client that have not begun, and has the others stopped.
    fn cancel<P: Ports<Fd = F>>(
        &mut self,
        ports: &mut P,
        client: ClientId,
    ) -> Vec<(u64, Moving<F>)> {
        let mut out = Vec::new();
        for (device, mover) in &mut self.by_device {
            let waiting = std::mem::take(&mut mover.waiting);
            let (theirs, others) = waiting.into_iter().partition(|(_, it)| it.client == client);
            mover.waiting = others;
            out.append(&mut Vec::from(theirs));
            for (job, moving) in &mut mover.sent {
                if moving.client == client
                    && !std::mem::replace(&mut moving.cancelled, true)
                    && mover.phase == Phase::Ready
                {
                    ports.tell_mover(*device, ToMover::Cancel { job: *job }, None);
                }
            }
        }
        out
    }

    /// Whether a move of this client is under way, or waits for its turn.
    pub(super) fn run_for(&self, client: ClientId) -> bool {
        self.by_device.values().any(|mover| {
            let waiting = mover.waiting.iter().map(|(_, moving)| moving);
            waiting.chain(mover.sent.values()).any(|it| it.client == client && !it.cancelled)
        })
    }

    /// Takes out every move that has not begun.
    fn take_waiting(&mut self) -> Vec<(u64, Moving<F>)> {
        self.by_device.values_mut().flat_map(|mover| mover.waiting.drain(..)).collect()
    }

    /// Has a mover unmap slabs that neither a job nor a waiting move is on: nobody else would.
    fn unmap_unwanted<P: Ports<Fd = F>>(&mut self, ports: &mut P, device: GpuUuid) {
        let Some(mover) = self.by_device.get_mut(&device) else { return };
        let Mover { waiting, slabs, unmapping, .. } = mover;
        slabs.retain(|slab, uses| {
            let wanted = |(_, it): &(u64, Moving<F>)| it.slab == *slab || it.from == Some(*slab);
            let stays = *uses > 0 || waiting.iter().any(wanted);
            if !stays {
                *unmapping.entry(*slab).or_default() += 1;
                ports.tell_mover(device, ToMover::Unmap { slab: *slab }, None);
            }
            stays
        });
    }

    /// Whether a mover has a slab mapped, as far as it has said.
    pub(super) fn have_mapped(&self, slab: SlabId) -> bool {
        let has = |mover: &Mover<F>| {
            mover.slabs.contains_key(&slab) || mover.unmapping.contains_key(&slab)
        };
        self.by_device.values().any(has)
    }

    fn unmap_all_unwanted<P: Ports<Fd = F>>(&mut self, ports: &mut P) {
        let devices: Vec<GpuUuid> = self.by_device.keys().copied().collect();
        for device in devices {
            self.unmap_unwanted(ports, device);
        }
    }

    /// Sets when the mover of a GPU counts as hung, or may go.
    fn await_sign(&mut self, device: GpuUuid, now_ms: u64, patience: MoverLimits) {
        let MoverLimits { patience_ms, idle_ms } = patience;
        let Some(mover) = self.by_device.get_mut(&device) else { return };
        let within = match (mover.phase, mover.bytes_to_next_sign()) {
            (Phase::Absent, _) => None,
            (Phase::Starting | Phase::Ending, _) => Some(patience_ms),
            (Phase::Ready, None) if mover.has_tasks() => Some(patience_ms),
            (Phase::Ready, None) => Some(idle_ms),
            (Phase::Ready, Some(bytes)) => Some(patience_ms + bytes / SLOWEST_BYTES_PER_MS),
        };
        mover.deadline_ms = within.map(|within| now_ms.saturating_add(within));
    }

    /// The move of a client that has this token, so that a repeat joins it.
    fn same(&self, client: ClientId, token: Token) -> Option<u64> {
        let is_same = |it: &Moving<F>| it.is_same(client, token) && !it.cancelled;
        self.by_device.values().find_map(|mover| {
            let sent = mover.sent.iter().find(|(_, it)| is_same(it)).map(|(job, _)| *job);
            let waiting = || mover.waiting.iter().find(|(_, it)| is_same(it)).map(|(job, _)| *job);
            sent.or_else(waiting)
        })
    }

    fn device_of(&self, client: ClientId) -> Option<GpuUuid> {
        let found = self.by_device.iter().find(|(_, mover)| mover.client == Some(client));
        found.map(|(device, _)| *device)
    }
}
