//! Slabs that are mapped here.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use millpond_cuda::{Access, AddressRange, Allocation, Context, CudaError, DriverKind, Mapping};
use millpond_wire::{Backing, SlabId};

use crate::channel::{FromMover, MoverEnd, Why};
use crate::end;

/// A mapped slab. Jobs share it; the last one that lets go after `Unmap` unmaps it, so nothing is
/// ever unmapped under work that runs, and nobody waits.
pub(crate) struct Slab {
    // Unmapped first, then told: fields are dropped in this order.
    mapping: Mapping,
    notice: Notice,
    /// The slab's file, where the driver's memory is files: who holds one can shorten it.
    file: Option<OwnedFd>,
}

/// Tells that the slab is not mapped any more, when it is dropped after `Unmap`.
struct Notice {
    slab: SlabId,
    asked: AtomicBool,
    channel: Arc<MoverEnd>,
}

impl Slab {
    pub(crate) fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// Whether all of the slab's memory is there. What is missing would end the mover, and with it
    /// the moves of others.
    pub(crate) fn is_whole(&self) -> bool {
        let bytes = |file| rustix::fs::fstat(file).map_or(0, |status| status.st_size);
        let enough =
            |bytes: i64| u64::try_from(bytes).is_ok_and(|bytes| bytes >= self.mapping.bytes());
        self.file.as_ref().is_none_or(|file| enough(bytes(file)))
    }

    /// Whether these bytes are inside.
    pub(crate) fn has(&self, offset: u64, bytes: u64) -> bool {
        offset.checked_add(bytes).is_some_and(|end| end <= self.mapping.bytes())
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        if self.asked.load(Ordering::Acquire) {
            // If the daemon is gone, the watcher ends this process.
            let _ = self.channel.send(&FromMover::Unmapped { slab: self.slab });
        }
    }
}

/// All slabs that jobs may name.
pub(crate) struct Slabs {
    context: Context,
    channel: Arc<MoverEnd>,
    mapped: HashMap<SlabId, Arc<Slab>>,
}

impl Slabs {
    pub(crate) fn new(context: Context, channel: Arc<MoverEnd>) -> Slabs {
        Slabs { context, channel, mapped: HashMap::new() }
    }

    pub(crate) fn get(&self, slab: SlabId) -> Option<&Arc<Slab>> {
        self.mapped.get(&slab)
    }

    /// Maps a slab and says what to answer.
    pub(crate) fn map(
        &mut self,
        slab: SlabId,
        backing: &Backing,
        fd: Option<OwnedFd>,
        bytes: u64,
    ) -> FromMover {
        if self.mapped.contains_key(&slab) {
            let text = format!("slab {slab} is already mapped");
            return FromMover::MapFailed { slab, why: Why::Range, text };
        }
        let fd = match (backing.supported(), fd) {
            (Ok(()), Some(fd)) => fd,
            (Err(failure), _) => {
                let text = failure.message;
                return FromMover::MapFailed { slab, why: Why::Unsupported, text };
            }
            // The channel has counted the descriptors.
            (Ok(()), None) => {
                let text = format!("slab {slab} came without a descriptor");
                return FromMover::MapFailed { slab, why: Why::Range, text };
            }
        };
        match self.map_new(&fd, bytes) {
            Ok(mapping) => {
                let channel = Arc::clone(&self.channel);
                let notice = Notice { slab, asked: AtomicBool::new(false), channel };
                let is_file = self.context.driver().kind() == DriverKind::Soft;
                let file = is_file.then_some(fd);
                self.mapped.insert(slab, Arc::new(Slab { mapping, notice, file }));
                FromMover::Mapped { slab }
            }
            Err(error) if error.is_sticky() => end::lost("the context is lost", &error),
            Err(error) => FromMover::MapFailed { slab, why: Why::Driver, text: error.to_string() },
        }
    }

    fn map_new(&self, fd: &OwnedFd, bytes: u64) -> Result<Mapping, CudaError> {
        let driver = self.context.driver();
        let allocation = Allocation::import(driver, fd.as_fd(), bytes)?;
        let range = AddressRange::reserve(driver, bytes)?;
        Mapping::map(&self.context, &range, 0, &allocation, Access::ReadWrite)
    }

    /// Lets go of a slab. The answer comes from its last user, or from here if it is not mapped.
    pub(crate) fn unmap(&mut self, slab: SlabId) -> Option<FromMover> {
        match self.mapped.remove(&slab) {
            Some(mapped) => {
                mapped.notice.asked.store(true, Ordering::Release);
                None
            }
            None => Some(FromMover::Unmapped { slab }),
        }
    }
}
