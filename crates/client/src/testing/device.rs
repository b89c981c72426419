//! A device and a pond that only write down what is asked of them.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;

use millpond_cuda::sys::Status;
use millpond_cuda::{CudaError, DevicePtr};
use millpond_wire::{LeaseId, Mode, SlabId};

use crate::connection::lock;
use crate::slab_map::{DeviceSide, Reach};
use crate::{Error, Result};

/// What was asked, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Map(u64),
    /// A slab was opened by its handle, taken from a pool, used where it is.
    Open(u64),
    Pool(u64),
    Own(u64),
    Synchronize(u32),
    Unmap(u64),
    Release(Vec<LeaseId>),
    /// A slab of an arena was taken, mapped at an offset, unmapped there, given back.
    Import(u64),
    Place(u64, u64),
    Lift(u64, u64),
    GiveBack(u64),
}

#[derive(Debug, Default)]
pub(crate) struct FakeDevice {
    pub(crate) log: Arc<Mutex<Vec<Act>>>,
    /// Answers to the next waits, last one first; then all is well.
    pub(crate) failures: Mutex<Vec<Status>>,
    pub(crate) fail_unmap: Mutex<Option<Status>>,
    /// A context whose work does not end.
    busy: Mutex<Option<u32>>,
    released: Condvar,
    callers: Mutex<Vec<ThreadId>>,
    next: Mutex<u64>,
    /// What is mapped at which offset of an arena.
    pub(crate) table: Mutex<BTreeMap<u64, (u64, Mode)>>,
    /// Calls about arenas that succeed before one fails; and how many fail then.
    pub(crate) fail_after: Mutex<Option<(usize, usize)>>,
}

impl FakeDevice {
    pub(crate) fn set_busy(&self, context: Option<u32>) {
        *lock(&self.busy) = context;
        self.released.notify_all();
    }

    pub(crate) fn acts(&self) -> Vec<Act> {
        lock(&self.log).clone()
    }

    /// Whether this thread has made a call that only a retire thread may make.
    pub(crate) fn was_called_by(&self, thread: ThreadId) -> bool {
        lock(&self.callers).contains(&thread)
    }

    fn note(&self, act: Act) {
        if !matches!(act, Act::Map(_) | Act::Open(_) | Act::Pool(_) | Act::Own(_)) {
            lock(&self.callers).push(std::thread::current().id());
        }
        lock(&self.log).push(act);
    }
}

impl FakeDevice {
    fn may(&self, call: &'static str) -> Result<(), CudaError> {
        match &mut *lock(&self.fail_after) {
            Some((0, 0)) | None => Ok(()),
            Some((0, failures)) => {
                *failures -= 1;
                Err(failed(call, Status::OUT_OF_MEMORY))
            }
            Some((calls, _)) => {
                *calls -= 1;
                Ok(())
            }
        }
    }
}

fn failed(call: &'static str, status: Status) -> CudaError {
    CudaError { call, status, detail: None }
}

impl DeviceSide for FakeDevice {
    type Context = u32;
    type Mapping = u64;
    type Range = u64;
    type Memory = u64;
    type Placed = (u64, u64);

    fn map(&self, _: &u32, _: SlabId, reach: &Reach, _: u64, _: Mode) -> Result<u64, CudaError> {
        let mut next = lock(&self.next);
        *next += 1;
        self.note(match reach {
            Reach::Vmm(_) => Act::Map(*next),
            Reach::Mempool(..) => Act::Pool(*next),
            Reach::Ipc(_) => Act::Open(*next),
            Reach::Own(_) => Act::Own(*next),
        });
        Ok(*next)
    }

    /// Each is as large as the tests' slabs are, and the next begins far away.
    fn extent(mapping: &u64) -> (DevicePtr, u64) {
        (DevicePtr(*mapping << 30), 2 << 20)
    }

    fn synchronize(&self, context: &u32) -> Result<(), CudaError> {
        let mut busy = lock(&self.busy);
        while *busy == Some(*context) {
            busy = self.released.wait(busy).unwrap();
        }
        drop(busy);
        self.may("cuCtxSynchronize")?;
        self.note(Act::Synchronize(*context));
        match lock(&self.failures).pop() {
            Some(status) => Err(failed("cuCtxSynchronize", status)),
            None => Ok(()),
        }
    }

    fn unmap(&self, mapping: u64) -> Result<(), CudaError> {
        self.note(Act::Unmap(mapping));
        lock(&self.fail_unmap).take().map_or(Ok(()), |status| Err(failed("cuMemUnmap", status)))
    }

    fn reserve(&self, _: &u32, bytes: u64) -> Result<u64, CudaError> {
        self.may("cuMemAddressReserve").map(|()| bytes)
    }

    fn import(&self, _: &u32, _: BorrowedFd<'_>, _: u64) -> Result<u64, CudaError> {
        self.may("cuMemImportFromShareableHandle")?;
        let mut next = lock(&self.next);
        *next += 1;
        lock(&self.log).push(Act::Import(*next));
        Ok(*next)
    }

    fn place(
        &self,
        _: &u32,
        _: &u64,
        offset: u64,
        memory: &u64,
        mode: Mode,
    ) -> Result<(u64, u64), CudaError> {
        self.may("cuMemMap")?;
        let before = lock(&self.table).insert(offset, (*memory, mode));
        assert_eq!(before, None, "something is mapped there");
        lock(&self.log).push(Act::Place(offset, *memory));
        Ok((offset, *memory))
    }

    fn lift(&self, placed: (u64, u64)) -> Result<(), ((u64, u64), CudaError)> {
        self.may("cuMemUnmap").map_err(|error| (placed, error))?;
        let there = lock(&self.table).remove(&placed.0);
        assert_eq!(there.map(|(memory, _)| memory), Some(placed.1));
        lock(&self.log).push(Act::Lift(placed.0, placed.1));
        Ok(())
    }

    fn release(&self, memory: u64) -> Result<(), CudaError> {
        lock(&self.log).push(Act::GiveBack(memory));
        Ok(())
    }

    fn undisturbing<R>(&self, work: impl FnOnce() -> R) -> R {
        work()
    }
}

/// A pond that writes releases into the device's log.
#[derive(Debug, Default)]
pub(crate) struct FakeSink {
    pub(crate) log: Arc<Mutex<Vec<Act>>>,
    /// How many releases fail first.
    pub(crate) failures: Mutex<usize>,
}

impl FakeSink {
    pub(crate) fn release(&self, leases: &[LeaseId]) -> Result<()> {
        let mut failures = lock(&self.failures);
        if *failures > 0 {
            *failures -= 1;
            return Err(Error::NoPond { path: "/x".into(), reason: "gone".into() });
        }
        lock(&self.log).push(Act::Release(leases.to_vec()));
        Ok(())
    }
}
