//! A device and a pond that only write down what is asked of them.

use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;

use millpond_cuda::CudaError;
use millpond_cuda::sys::Status;
use millpond_wire::{LeaseId, Mode};

use crate::connection::lock;
use crate::retire::ReleaseSink;
use crate::slab_map::DeviceSide;
use crate::{Error, Result};

/// What was asked, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Map(u64),
    Synchronize(u32),
    Unmap(u64),
    Release(Vec<LeaseId>),
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
        if !matches!(act, Act::Map(_)) {
            lock(&self.callers).push(std::thread::current().id());
        }
        lock(&self.log).push(act);
    }
}

fn failed(call: &'static str, status: Status) -> CudaError {
    CudaError { call, status, detail: None }
}

impl DeviceSide for FakeDevice {
    type Context = u32;
    type Mapping = u64;

    fn map(&self, _: &u32, _: BorrowedFd<'_>, _: u64, _: Mode) -> Result<u64, CudaError> {
        let mut next = lock(&self.next);
        *next += 1;
        self.note(Act::Map(*next));
        Ok(*next)
    }

    fn synchronize(&self, context: &u32) -> Result<(), CudaError> {
        let mut busy = lock(&self.busy);
        while *busy == Some(*context) {
            busy = self.released.wait(busy).unwrap();
        }
        drop(busy);
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

impl ReleaseSink for FakeSink {
    fn release(&self, leases: &[LeaseId]) -> Result<()> {
        let mut failures = lock(&self.failures);
        if *failures > 0 {
            *failures -= 1;
            return Err(Error::NoPond { path: "/x".into(), reason: "gone".into() });
        }
        lock(&self.log).push(Act::Release(leases.to_vec()));
        Ok(())
    }
}
