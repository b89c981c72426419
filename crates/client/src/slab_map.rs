//! Slabs that are mapped in this process: each once per context, whole, and once per mode where memory
//! can be mapped read-only.

use std::collections::HashMap;
use std::fmt;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, Weak};

use millpond_cuda::{CudaError, DevicePtr};
use millpond_wire::{HANDLE_BYTES, Mode, SlabId};

use crate::adopt::Kept;
use crate::connection::lock;
use crate::retire::RetireList;
use crate::{Error, Result};

/// Bytes by which the driver of another process named its memory or event.
pub(crate) type Handle = [u8; HANDLE_BYTES];

/// How a slab is reached.
#[derive(Debug)]
pub(crate) enum Reach {
    /// Imported by its descriptor, and mapped.
    Vmm(OwnedFd),
    /// Imported from a pool with a descriptor.
    Mempool(OwnedFd, Handle),
    /// Opened by its handle.
    Ipc(Handle),
    /// It is this process's own, which cannot open its own handles.
    Own(Arc<Kept>),
}

impl Reach {
    /// The mode that the slab is mapped in. Other memory than that of descriptors can be read and
    /// written by whoever has it, and is opened once whatever was asked for.
    fn mapped_mode(&self, mode: Mode) -> Option<Mode> {
        matches!(self, Reach::Vmm(_)).then_some(mode)
    }
}

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

    /// Maps, imports or opens a whole slab.
    fn map(
        &self,
        context: &Self::Context,
        slab: SlabId,
        reach: &Reach,
        bytes: u64,
        mode: Mode,
    ) -> Result<Self::Mapping, CudaError>;

    /// Where a slab was made visible, and how much of it.
    fn extent(mapping: &Self::Mapping) -> (DevicePtr, u64);

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

/// A slab, and the mode that it is mapped in where there are modes.
type Key = (SlabId, Option<Mode>);

/// One of them, in each context it is mapped for.
type PerContext<D> = Vec<(<D as DeviceSide>::Context, Weak<SlabMapping<D>>)>;

/// All mapped slabs of a pond in this process.
pub(crate) struct SlabMap<D: DeviceSide> {
    device: Arc<D>,
    mapped: Mutex<HashMap<Key, PerContext<D>>>,
}

impl<D: DeviceSide> SlabMap<D> {
    pub(crate) fn new(device: Arc<D>) -> Self {
        Self { device, mapped: Mutex::new(HashMap::new()) }
    }

    /// The slab, mapped: the mapping that is there, or a new one.
    ///
    /// # Errors
    /// What the driver answers; [`Error::Protocol`] where the memory is smaller than was said, because
    /// addresses are made from that number.
    pub(crate) fn get(
        &self,
        list: &Arc<RetireList<D>>,
        slab: SlabId,
        bytes: u64,
        mode: Mode,
        reach: &Reach,
    ) -> Result<Arc<SlabMapping<D>>> {
        let context = list.context();
        let mut mapped = lock(&self.mapped);
        let here = mapped.entry((slab, reach.mapped_mode(mode))).or_default();
        let found = here.iter().find(|(other, _)| other == context);
        if let Some(mapping) = found.and_then(|(_, mapping)| mapping.upgrade()) {
            // Whoever is refused does not hold the last use: the others are under the same lock.
            return match mapping.mapping().map_or(0, |one| D::extent(one).1) {
                there if there < bytes => Err(too_small(slab, there, bytes)),
                _ => Ok(mapping),
            };
        }
        let mapping = self.device.map(context, slab, reach, bytes, mode)?;
        let there = D::extent(&mapping).1;
        if there < bytes {
            // Nobody has used it yet.
            self.device.unmap(mapping)?;
            return Err(too_small(slab, there, bytes));
        }
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

    /// Whether some of these addresses are a slab that is mapped here.
    pub(crate) fn overlaps(&self, start: DevicePtr, bytes: u64) -> bool {
        let mapped = lock(&self.mapped);
        let mut all = mapped.values().flatten();
        all.any(|(_, mapping)| {
            // Let go of under the lock, so it is never the last one.
            let mapping = mapping.upgrade();
            let extent = mapping.as_ref().and_then(|one| one.mapping()).map(D::extent);
            extent.is_some_and(|there| overlap(there, (start, bytes)))
        })
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        lock(&self.mapped).values().flatten().filter(|(_, one)| one.strong_count() > 0).count()
    }
}

fn too_small(slab: SlabId, there: u64, bytes: u64) -> Error {
    Error::Protocol(format!("slab {slab} has {there} bytes, and was said to have {bytes}"))
}

/// Whether two ranges of addresses have one in common.
pub(crate) fn overlap(one: (DevicePtr, u64), other: (DevicePtr, u64)) -> bool {
    let ends_behind =
        |(start, bytes): (DevicePtr, u64), at: DevicePtr| start.0.saturating_add(bytes) > at.0;
    ends_behind(one, other.0) && ends_behind(other, one.0)
}
