//! Slabs that are mapped here.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use millpond_cuda::{
    Access, AddressRange, Allocation, Context, CudaError, DeviceSpan, DriverKind, Mapping,
    OpenedMemory, PoolMemory, SharedPool,
};
use millpond_wire::{Backing, HANDLE_BYTES, SlabId, Transport};

use crate::channel::{FromMover, MoverEnd, Why};
use crate::end;

/// Memory of a slab, by whichever way it came here.
enum Memory {
    Virtual(Mapping),
    Opened(OpenedMemory),
    Pool(PoolMemory),
    /// This mover made it, and cannot import what is its own.
    OwnPool(Arc<SharedPool>),
}

impl Memory {
    fn span(&self) -> DeviceSpan<'_> {
        match self {
            Memory::Virtual(memory) => memory.span(),
            Memory::Opened(memory) => memory.span(),
            Memory::Pool(memory) => memory.span(),
            Memory::OwnPool(memory) => memory.span(),
        }
    }
}

/// A mapped slab. Jobs share it; the last one that lets go after `Unmap` unmaps it, so nothing is
/// ever unmapped under work that runs, and nobody waits.
pub(crate) struct Slab {
    // Unmapped first, then told: fields are dropped in this order.
    memory: Memory,
    notice: Notice,
    bytes: u64,
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
    pub(crate) fn span(&self) -> DeviceSpan<'_> {
        self.memory.span()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether all of the slab's memory is there. What is missing would end the mover, and with it
    /// the moves of others.
    pub(crate) fn is_whole(&self) -> bool {
        self.file.as_ref().is_none_or(|file| has_bytes(file, self.bytes))
    }

    /// Whether these bytes are inside.
    pub(crate) fn has(&self, offset: u64, bytes: u64) -> bool {
        offset.checked_add(bytes).is_some_and(|end| end <= self.bytes)
    }
}

fn has_bytes(file: &OwnedFd, bytes: u64) -> bool {
    let size = rustix::fs::fstat(file).map_or(0, |status| status.st_size);
    u64::try_from(size).is_ok_and(|size| size >= bytes)
}

impl Drop for Notice {
    fn drop(&mut self) {
        if self.asked.load(Ordering::Acquire) {
            // If the daemon is gone, the watcher ends this process.
            let _ = self.channel.send(&FromMover::Unmapped { slab: self.slab });
        }
    }
}

/// Why memory cannot be used.
type Refused = (Why, String);

/// All slabs that jobs may name, and the pools that were made here.
pub(crate) struct Slabs {
    context: Context,
    channel: Arc<MoverEnd>,
    mapped: HashMap<SlabId, Arc<Slab>>,
    pools: HashMap<SlabId, Arc<SharedPool>>,
}

impl Slabs {
    pub(crate) fn new(context: Context, channel: Arc<MoverEnd>) -> Slabs {
        Slabs { context, channel, mapped: HashMap::new(), pools: HashMap::new() }
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
        let memory = match self.pools.get(&slab) {
            Some(pool) => Ok(Memory::OwnPool(Arc::clone(pool))),
            None => self.open(slab, backing, fd.as_ref(), bytes),
        };
        match memory {
            Ok(memory) => {
                let channel = Arc::clone(&self.channel);
                let notice = Notice { slab, asked: AtomicBool::new(false), channel };
                let is_file = self.is_file(backing);
                let file = fd.filter(|_| is_file);
                self.mapped.insert(slab, Arc::new(Slab { memory, notice, bytes, file }));
                FromMover::Mapped { slab }
            }
            Err((why, text)) => FromMover::MapFailed { slab, why, text },
        }
    }

    /// Maps memory of another program and lets go of it: then it is what its owner says.
    pub(crate) fn prove(
        &self,
        slab: SlabId,
        backing: &Backing,
        fd: Option<OwnedFd>,
        bytes: u64,
    ) -> FromMover {
        let is_short = |file: &OwnedFd| self.is_file(backing) && !has_bytes(file, bytes);
        let proved = if fd.as_ref().is_some_and(is_short) {
            Err((Why::Range, format!("the memory has fewer than {bytes} bytes")))
        } else {
            self.open(slab, backing, fd.as_ref(), bytes).map(drop)
        };
        match proved {
            Ok(()) => FromMover::Proved { slab },
            Err((why, text)) => FromMover::NotProved { slab, why, text },
        }
    }

    /// Whether the descriptor is a file of the memory's size.
    fn is_file(&self, backing: &Backing) -> bool {
        self.context.driver().kind() == DriverKind::Soft && backing.transport == Transport::Vmm
    }

    fn open(
        &self,
        slab: SlabId,
        backing: &Backing,
        fd: Option<&OwnedFd>,
        bytes: u64,
    ) -> Result<Memory, Refused> {
        let opened = match (backing.transport, fd) {
            (Transport::Vmm, Some(fd)) => self.map_new(fd, bytes).map(Memory::Virtual),
            (Transport::Mempool(data), Some(fd)) => {
                PoolMemory::import(&self.context, fd.as_fd(), &data).map(Memory::Pool)
            }
            (Transport::Ipc(handle), _) => {
                OpenedMemory::open(&self.context, &handle).map(Memory::Opened)
            }
            // The channel has counted the descriptors.
            (_, None) => {
                return Err((Why::Range, format!("slab {slab} came without a descriptor")));
            }
        };
        let memory = opened.map_err(|error| match error.is_sticky() {
            true => end::lost("the context is lost", &error),
            false => (Why::Driver, error.to_string()),
        })?;
        match memory.span().bytes() {
            there if there < bytes => {
                Err((Why::Range, format!("the memory has {there} bytes, not {bytes}")))
            }
            _ => Ok(memory),
        }
    }

    fn map_new(&self, fd: &OwnedFd, bytes: u64) -> Result<Mapping, CudaError> {
        let driver = self.context.driver();
        let allocation = Allocation::import(driver, fd.as_fd(), bytes)?;
        let range = AddressRange::reserve(driver, bytes)?;
        Mapping::map(&self.context, &range, 0, &allocation, Access::ReadWrite)
    }

    /// Makes a memory pool with one allocation, filled with zeroes. Its descriptor keeps it when this
    /// process is gone.
    pub(crate) fn make_pool(&mut self, slab: SlabId, bytes: u64) -> (FromMover, Option<OwnedFd>) {
        match self.new_pool(bytes) {
            Ok((pool, fd, data)) => {
                self.pools.insert(slab, Arc::new(pool));
                (FromMover::PoolMade { slab, data }, Some(fd))
            }
            Err(error) if error.is_sticky() => end::lost("the context is lost", &error),
            Err(error) => {
                let (out_of_memory, text) = (error.is_out_of_memory(), error.to_string());
                (FromMover::PoolFailed { slab, out_of_memory, text }, None)
            }
        }
    }

    fn new_pool(&self, bytes: u64) -> Result<(SharedPool, OwnedFd, [u8; HANDLE_BYTES]), CudaError> {
        let pool = SharedPool::make(&self.context, bytes)?;
        pool.span().memset(0, bytes, 0)?;
        let (fd, data) = pool.export()?;
        Ok((pool, fd, data))
    }

    /// Nobody has the slab any more that a pool was made for.
    pub(crate) fn drop_pool(&mut self, slab: SlabId) {
        self.pools.remove(&slab);
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

/// However this process ends, the pools that it made live on: freed in order they would take their
/// memory along, and left alone they are kept by their descriptors.
impl Drop for Slabs {
    fn drop(&mut self) {
        self.pools.drain().for_each(std::mem::forget);
    }
}
