//! What keeps memory mapped: shared by a tensor and every view of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use millpond::cuda::Context;
use pyo3::prelude::*;

/// Mapped memory, and the lease that it is mapped under. The lease ends with the last of these.
pub(crate) trait Memory: Send + Sync {
    /// Copies out of it, from `offset` on.
    fn read(&self, offset: u64, target: &mut [u8]) -> millpond::Result<()>;
    /// Copies into it, from `offset` on.
    fn write(&self, offset: u64, source: &[u8]) -> millpond::Result<()>;
    /// The context it is mapped for.
    fn context(&self) -> &Context;
    /// What whoever wants to write does instead, where it is read-only.
    fn way_to_write(&self) -> &'static str {
        "get it with mode=\"rw\""
    }
}

/// Leases and their bytes in this process.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Whose numbers these are; after a fork the child begins with none.
    process: AtomicU32,
    leases: AtomicU64,
    bytes: AtomicU64,
}

impl Counters {
    const fn new() -> Self {
        Self { process: AtomicU32::new(0), leases: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    fn add(&self, process: u32, bytes: u64) {
        if self.process.swap(process, Ordering::AcqRel) != process {
            self.leases.store(0, Ordering::Release);
            self.bytes.store(0, Ordering::Release);
        }
        self.leases.fetch_add(1, Ordering::AcqRel);
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
    }

    fn remove(&self, process: u32, bytes: u64) {
        if self.process.load(Ordering::Acquire) == process {
            self.leases.fetch_sub(1, Ordering::AcqRel);
            self.bytes.fetch_sub(bytes, Ordering::AcqRel);
        }
    }

    pub(crate) fn read(&self) -> (u64, u64) {
        if self.process.load(Ordering::Acquire) != std::process::id() {
            return (0, 0);
        }
        (self.leases.load(Ordering::Acquire), self.bytes.load(Ordering::Acquire))
    }
}

/// Those of all ponds.
static ALL: Counters = Counters::new();

/// Counts one lease for as long as it lives.
#[derive(Debug)]
pub(crate) struct Counted {
    pond: Arc<Counters>,
    process: u32,
    bytes: u64,
}

impl Counted {
    pub(crate) fn new(pond: &Arc<Counters>, bytes: u64) -> Self {
        let process = std::process::id();
        ALL.add(process, bytes);
        pond.add(process, bytes);
        Self { pond: Arc::clone(pond), process, bytes }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // In a forked child this is a copy: what it counts is the parent's.
        if self.process == std::process::id() {
            ALL.remove(self.process, self.bytes);
            self.pond.remove(self.process, self.bytes);
        }
    }
}

/// A tensor of the pond.
pub(crate) struct TensorLease {
    pub(crate) tensor: millpond::Tensor,
    _counted: Counted,
}

impl TensorLease {
    pub(crate) fn new(tensor: millpond::Tensor, pond: &Arc<Counters>) -> Self {
        let counted = Counted::new(pond, tensor.bytes());
        Self { tensor, _counted: counted }
    }
}

impl Memory for TensorLease {
    fn read(&self, offset: u64, target: &mut [u8]) -> millpond::Result<()> {
        self.tensor.copy_to_host(offset, target)
    }

    fn write(&self, offset: u64, source: &[u8]) -> millpond::Result<()> {
        self.tensor.copy_from_host(offset, source)
    }

    fn context(&self) -> &Context {
        self.tensor.context()
    }
}

/// A version of a model, mapped.
pub(crate) struct ModelLease {
    pub(crate) model: millpond::Model,
    pub(crate) _counted: Arc<Counted>,
}

/// How many leases this process holds, in all its ponds, those of views included.
#[pyfunction]
pub(crate) fn live_leases() -> u64 {
    ALL.read().0
}

/// The bytes under those leases.
#[pyfunction]
pub(crate) fn live_bytes() -> u64 {
    ALL.read().1
}
