//! Slabs that are mapped in this process: each once per mode and context, whole.

use std::collections::HashMap;
use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, Weak};

use millpond_cuda::CudaError;
use millpond_wire::{Mode, SlabId};

use crate::connection::lock;
use crate::retire::RetireList;

/// What is done to the device, so that the order of it can be tested without one.
pub(crate) trait DeviceSide: Send + Sync + Sized + 'static {
    type Context: Clone + PartialEq + fmt::Debug + Send + Sync + 'static;
    /// One slab made visible.
    type Mapping: fmt::Debug + Send + Sync + 'static;
    type Range: fmt::Debug + Send + Sync + 'static;
    /// A slab that this process may map.
    type Memory: fmt::Debug + Send + Sync + 'static;
    /// A slab made visible at a place of a range.
    type Placed: fmt::Debug + Send + Sync + 'static;

    /// Maps a whole slab.
    fn map(
        &self,
        context: &Self::Context,
        fd: BorrowedFd<'_>,
        bytes: u64,
        mode: Mode,
    ) -> Result<Self::Mapping, CudaError>;

    /// Waits for all work that was submitted before.
    fn synchronize(&self, context: &Self::Context) -> Result<(), CudaError>;

    /// Gives addresses and memory back.
    fn unmap(&self, mapping: Self::Mapping) -> Result<(), CudaError>;

    fn reserve(&self, context: &Self::Context, bytes: u64) -> Result<Self::Range, CudaError>;

    /// Takes a reference to a slab.
    fn import(
        &self,
        context: &Self::Context,
        fd: BorrowedFd<'_>,
        bytes: u64,
    ) -> Result<Self::Memory, CudaError>;

    /// Maps a slab at an offset of a range.
    fn place(
        &self,
        context: &Self::Context,
        range: &Self::Range,
        offset: u64,
        memory: &Self::Memory,
        mode: Mode,
    ) -> Result<Self::Placed, CudaError>;

    /// Unmaps a slab whose work is done; what the driver refuses to unmap is still there.
    fn lift(&self, placed: Self::Placed) -> Result<(), (Self::Placed, CudaError)>;

    /// Gives back a reference to a slab.
    fn release(&self, memory: Self::Memory) -> Result<(), CudaError>;

    /// Does something that must not disturb a stream that another thread captures.
    fn undisturbing<R>(&self, work: impl FnOnce() -> R) -> R;
}

/// One slab, mapped. Whoever holds it may use it; only the retire list lets go of it.
pub(crate) struct SlabMapping<D: DeviceSide> {
    mapping: Option<D::Mapping>,
    list: Arc<RetireList<D>>,
}

impl<D: DeviceSide> SlabMapping<D> {
    /// The mapping; absent only inside the retire thread.
    pub(crate) fn mapping(&self) -> Option<&D::Mapping> {
        self.mapping.as_ref()
    }

    /// Where its leases are retired.
    pub(crate) fn list(&self) -> &Arc<RetireList<D>> {
        &self.list
    }
}

impl<D: DeviceSide> fmt::Debug for SlabMapping<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SlabMapping").field(&self.mapping).finish()
    }
}

/// A mapping that was not unmapped in order stays: work may still use it, or the process is a
/// forked copy, or it ends and nothing is to be called.
impl<D: DeviceSide> Drop for SlabMapping<D> {
    fn drop(&mut self) {
        std::mem::forget(self.mapping.take());
    }
}

/// One slab and mode, in each context it is mapped for.
type PerContext<D> = Vec<(<D as DeviceSide>::Context, Weak<SlabMapping<D>>)>;

/// All mapped slabs of a pond in this process.
pub(crate) struct SlabMap<D: DeviceSide> {
    device: Arc<D>,
    mapped: Mutex<HashMap<(SlabId, Mode), PerContext<D>>>,
}

impl<D: DeviceSide> SlabMap<D> {
    pub(crate) fn new(device: Arc<D>) -> Self {
        Self { device, mapped: Mutex::new(HashMap::new()) }
    }

    /// The slab, mapped: the mapping that is there, or a new one made from the descriptor.
    pub(crate) fn get(
        &self,
        list: &Arc<RetireList<D>>,
        slab: SlabId,
        bytes: u64,
        mode: Mode,
        fd: BorrowedFd<'_>,
    ) -> Result<Arc<SlabMapping<D>>, CudaError> {
        let context = list.context();
        let mut mapped = lock(&self.mapped);
        let here = mapped.entry((slab, mode)).or_default();
        let found = here.iter().find(|(other, _)| other == context);
        if let Some(mapping) = found.and_then(|(_, mapping)| mapping.upgrade()) {
            return Ok(mapping);
        }
        let mapping = self.device.map(context, fd, bytes, mode)?;
        let mapping = Arc::new(SlabMapping { mapping: Some(mapping), list: Arc::clone(list) });
        here.retain(|(_, mapping)| mapping.strong_count() > 0);
        here.push((context.clone(), Arc::downgrade(&mapping)));
        Ok(mapping)
    }

    /// Lets go of one use of a slab whose work is done, and unmaps if it was the last. A `get` of
    /// the same slab meanwhile finds the mapping whole or not at all: both hold the lock.
    pub(crate) fn let_go(&self, slab: Arc<SlabMapping<D>>) -> Result<(), CudaError> {
        let mut mapped = lock(&self.mapped);
        let Some(mut last) = Arc::into_inner(slab) else { return Ok(()) };
        mapped.retain(|_, here| {
            here.retain(|(_, mapping)| mapping.strong_count() > 0);
            !here.is_empty()
        });
        match last.mapping.take() {
            Some(mapping) => self.device.unmap(mapping),
            None => Ok(()),
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        lock(&self.mapped).values().flatten().filter(|(_, one)| one.strong_count() > 0).count()
    }
}
