//! Pinned host memory: made here or registered by the program.
//!
//! Nothing is pinned; the tables only tell which copies may be asynchronous, and answer errors.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use millpond_cuda::sys::Status;

#[derive(Clone, Copy, Debug)]
struct Block {
    bytes: usize,
    layout: Option<Layout>,
}

/// All pinned ranges of this process.
#[derive(Debug, Default)]
pub struct HostMemory {
    blocks: Mutex<BTreeMap<usize, Block>>,
}

impl HostMemory {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Block>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn allocate(&self, bytes: usize) -> Result<*mut u8, Status> {
        let layout = Layout::from_size_align(bytes, 4096).map_err(|_| Status::OUT_OF_MEMORY)?;
        if bytes == 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the size is not 0.
        let pointer = unsafe { std::alloc::alloc_zeroed(layout) };
        if pointer.is_null() {
            return Err(Status::OUT_OF_MEMORY);
        }
        self.lock().insert(pointer.expose_provenance(), Block { bytes, layout: Some(layout) });
        Ok(pointer)
    }

    pub fn free(&self, at: usize) -> Result<(), Status> {
        let mut blocks = self.lock();
        let layout = blocks.get(&at).and_then(|block| block.layout).ok_or(Status::INVALID_VALUE)?;
        blocks.remove(&at);
        drop(blocks);
        // SAFETY: the block was made by `allocate` with this layout and has just left the table.
        unsafe { std::alloc::dealloc(std::ptr::with_exposed_provenance_mut(at), layout) };
        Ok(())
    }

    pub fn register(&self, at: usize, bytes: usize) -> Result<(), Status> {
        let end =
            at.checked_add(bytes).filter(|_| at != 0 && bytes != 0).ok_or(Status::INVALID_VALUE)?;
        let mut blocks = self.lock();
        if blocks.range(..end).next_back().is_some_and(|(start, block)| start + block.bytes > at) {
            return Err(Status::HOST_MEMORY_ALREADY_REGISTERED);
        }
        blocks.insert(at, Block { bytes, layout: None });
        Ok(())
    }

    pub fn unregister(&self, at: usize) -> Result<(), Status> {
        let mut blocks = self.lock();
        match blocks.get(&at) {
            Some(block) if block.layout.is_none() => {
                blocks.remove(&at);
                Ok(())
            }
            Some(_) => Err(Status::INVALID_VALUE),
            None if at == 0 || find(&blocks, at).is_some() => Err(Status::INVALID_VALUE),
            None => Err(Status::HOST_MEMORY_NOT_REGISTERED),
        }
    }

    /// The pinned block around an address: its start and size.
    pub fn containing(&self, at: usize) -> Option<(usize, usize)> {
        find(&self.lock(), at)
    }

    /// True when a whole range is pinned.
    pub fn is_pinned(&self, at: usize, bytes: usize) -> bool {
        self.containing(at).is_some_and(|(start, size)| bytes <= size - (at - start))
    }
}

fn find(blocks: &BTreeMap<usize, Block>, at: usize) -> Option<(usize, usize)> {
    let (start, block) = blocks.range(..=at).next_back()?;
    (at - start < block.bytes).then_some((*start, block.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_known_and_do_not_overlap() {
        let host = HostMemory::default();
        assert_eq!(host.register(0, 10), Err(Status::INVALID_VALUE));
        host.register(0x10000, 0x2000).unwrap();
        assert_eq!(host.register(0x11000, 0x2000), Err(Status::HOST_MEMORY_ALREADY_REGISTERED));
        assert!(host.is_pinned(0x11000, 0x1000) && !host.is_pinned(0x11000, 0x1001));
        assert_eq!(host.unregister(0x11000), Err(Status::INVALID_VALUE));
        host.unregister(0x10000).unwrap();
        assert_eq!(host.unregister(0x10000), Err(Status::HOST_MEMORY_NOT_REGISTERED));
    }

    #[test]
    fn allocated_memory_is_freed_once() {
        let host = HostMemory::default();
        let at = host.allocate(100).unwrap().expose_provenance();
        assert!(host.is_pinned(at, 100) && at.is_multiple_of(4096));
        assert_eq!(host.free(at + 8), Err(Status::INVALID_VALUE));
        assert_eq!(host.unregister(at), Err(Status::INVALID_VALUE));
        host.free(at).unwrap();
        assert_eq!(host.free(at), Err(Status::INVALID_VALUE));
        assert_eq!(host.allocate(usize::MAX), Err(Status::OUT_OF_MEMORY));
    }
}
