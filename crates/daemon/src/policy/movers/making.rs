//! Memory pools are made, and adopted memory is proved, by whoever has a context.

use millpond_mover::channel::{ToMover, Why};
use millpond_wire::{Backing, GpuUuid, HANDLE_BYTES, SlabId, Transport};

use super::Phase;
use crate::policy::pond::Pond;
use crate::policy::ports::{DriverFailure, Ports};
use crate::policy::slabs::Made;

/// How often a slab is tried whose mover died.
const MOVER_TRIES: u32 = 2;

/// Work of a mover that is about a whole slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// Make a memory pool with one allocation.
    Pool(SlabId),
    /// Map adopted memory and let go of it.
    Proof(SlabId),
}

impl Task {
    fn slab(self) -> SlabId {
        match self {
            Task::Pool(slab) | Task::Proof(slab) => slab,
        }
    }
}

impl<P: Ports> Pond<P> {
    /// Has a memory pool made for a slab that its owner was charged for.
    pub(in crate::policy) fn make_pool(&mut self, ports: &mut P, slab: SlabId) {
        match self.pending_slabs.class_of(slab).map(|class| class.device) {
            Some(device) => self.add_task(ports, device, Task::Pool(slab)),
            None => ports.uncharge_slab(slab),
        }
    }

    /// Has adopted memory mapped once, which shows that it is what its owner says.
    pub(in crate::policy) fn prove(&mut self, ports: &mut P, device: GpuUuid, slab: SlabId) {
        self.add_task(ports, device, Task::Proof(slab));
    }

    fn add_task(&mut self, ports: &mut P, device: GpuUuid, task: Task) {
        self.movers.by_device.entry(device).or_default().tasks.push_back(task);
        self.expect_moves(ports, device);
        self.feed_mover(ports, device);
    }

    /// Gives a mover that is ready its tasks.
    pub(super) fn send_tasks(&mut self, ports: &mut P, device: GpuUuid) {
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return };
        if mover.phase != Phase::Ready {
            return;
        }
        while let Some(task) = mover.tasks.pop_front() {
            let slab = task.slab();
            let sent = match task {
                Task::Pool(_) => self.pending_slabs.bytes_of(slab).map(|bytes| {
                    ports.tell_mover(device, ToMover::MakePool { slab, bytes }, None);
                }),
                Task::Proof(_) => self.adoptions.to_prove(slab).map(|(bytes, backing, fd)| {
                    ports.tell_mover(device, ToMover::Prove { slab, bytes, backing }, fd);
                }),
            };
            match sent {
                Some(()) => mover.sent_tasks.push(task),
                None => ports.uncharge_slab(slab),
            }
        }
    }

    /// A mover has made a pool.
    pub(super) fn pool_made(
        &mut self,
        ports: &mut P,
        device: GpuUuid,
        slab: SlabId,
        data: [u8; HANDLE_BYTES],
        fd: Option<P::Fd>,
    ) {
        let was_sent = self.task_done(device, Task::Pool(slab));
        let wanted = was_sent && self.pending_slabs.class_of(slab).is_some();
        let Some(fd) = fd.filter(|_| wanted) else {
            ports.tell_mover(device, ToMover::DropPool { slab }, None);
            if was_sent {
                // Those who wait for it have nothing without its descriptor.
                let text = "the pool came without its descriptor".to_owned();
                let failure = DriverFailure { out_of_memory: false, text, over_limit: None };
                self.no_memory(ports, slab, failure);
            }
            return;
        };
        let backing = Backing { transport: Transport::Mempool(data), adopted: false };
        let made = Made { backing, fd: Some(fd), home: None, event: None };
        self.slab_done(ports, slab, Ok(made));
    }

    pub(super) fn pool_failed(
        &mut self,
        ports: &mut P,
        device: GpuUuid,
        slab: SlabId,
        out_of_memory: bool,
        text: String,
    ) {
        if self.task_done(device, Task::Pool(slab)) {
            let failure = DriverFailure { out_of_memory, text, over_limit: None };
            self.no_memory(ports, slab, failure);
        }
    }

    pub(super) fn proof_done(
        &mut self,
        ports: &mut P,
        device: GpuUuid,
        slab: SlabId,
        result: Result<(), (Why, String)>,
    ) {
        if self.task_done(device, Task::Proof(slab)) {
            self.proved(ports, slab, result);
        }
    }

    fn task_done(&mut self, device: GpuUuid, task: Task) -> bool {
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return false };
        let before = mover.sent_tasks.len();
        mover.sent_tasks.retain(|sent| *sent != task);
        mover.sent_tasks.len() < before
    }

    /// The mover is gone. Another one does what it was to make, if that has not killed too many.
    pub(super) fn tasks_lost(&mut self, ports: &mut P, device: GpuUuid, why: &str) {
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return };
        for task in std::mem::take(&mut mover.sent_tasks) {
            match task {
                Task::Pool(slab) if self.pending_slabs.may_try_again(slab, MOVER_TRIES) => {
                    if let Some(mover) = self.movers.by_device.get_mut(&device) {
                        mover.tasks.push_back(task);
                    }
                }
                _ => self.task_failed(ports, task, why),
            }
        }
    }

    /// There will be no mover for these.
    pub(super) fn fail_tasks(&mut self, ports: &mut P, device: GpuUuid, why: &str) {
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return };
        let sent = std::mem::take(&mut mover.sent_tasks);
        let all: Vec<Task> = sent.into_iter().chain(mover.tasks.drain(..)).collect();
        for task in all {
            self.task_failed(ports, task, why);
        }
    }

    fn task_failed(&mut self, ports: &mut P, task: Task, why: &str) {
        let text = why.to_owned();
        match task {
            Task::Pool(slab) => {
                let failure = DriverFailure { out_of_memory: false, text, over_limit: None };
                self.no_memory(ports, slab, failure);
            }
            // Memory that ends a mover is not tried again.
            Task::Proof(slab) => self.proved(ports, slab, Err((Why::Driver, text))),
        }
    }
}
