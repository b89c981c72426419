//! Legacy IPC: 64 bytes that name linear memory of another, living process.
//!
//! The bytes name an allocation and its exporter. Whoever opens them takes a lock on the memory of
//! its own, so that it stays when the exporter frees it or is killed. New opens need an exporter that
//! lives and still has the memory, as on the card.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use millpond_cuda::sys::Status;

use super::Engine;
use super::layout::ALLOCATION_SLOTS;
use super::physical::{Allocation, Origin};
use super::registry::{Exporter, Ticket};
use super::system::{to_u64, to_usize};

/// The size of a handle.
pub const HANDLE_BYTES: usize = 64;

const MAGIC: u64 = u64::from_le_bytes(*b"mpipc\x00\x00\x01");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Handle {
    device: [u8; 16],
    ticket: Ticket,
    exporter: Exporter,
    /// What the exporter asked for; the allocation has whole pages.
    bytes: u64,
    /// The block that small memory is a part of: it stays with its parts.
    block: Option<Ticket>,
}

/// The bits of a block's id in a handle, below its slot.
const ID_BITS: u32 = 48;
const _: () = assert!(ALLOCATION_SLOTS <= 1 << (u64::BITS - ID_BITS));

impl Handle {
    fn encode(&self) -> [u8; HANDLE_BYTES] {
        let process = (to_u64(self.exporter.slot) << 32) | u64::from(self.exporter.pid);
        let words = [MAGIC, to_u64(self.ticket.slot), self.ticket.id, process, self.bytes];
        let block = self.block.map_or(0, |block| to_u64(block.slot) << ID_BITS | block.id);
        let mut bytes = [0; HANDLE_BYTES];
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        let content = words.chain(self.device).chain(block.to_le_bytes());
        bytes.iter_mut().zip(content).for_each(|(to, from)| *to = from);
        bytes
    }

    fn decode(bytes: &[u8; HANDLE_BYTES]) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| words.get(index).map(|word| u64::from_le_bytes(*word));
        let device = bytes.get(40..56)?.try_into().ok()?;
        let process = word(3)?;
        let handle = Self {
            device,
            ticket: Ticket { slot: to_usize(word(1)?), id: word(2)? },
            exporter: Exporter {
                slot: to_usize(process >> 32),
                pid: u32::try_from(process & u64::from(u32::MAX)).ok()?,
            },
            bytes: word(4)?,
            block: Some(word(7)?).filter(|block| *block != 0).map(|block| Ticket {
                slot: to_usize(block >> ID_BITS),
                id: block & ((1 << ID_BITS) - 1),
            }),
        };
        (word(0)? == MAGIC).then_some(handle)
    }
}

/// Memory of others is opened once for each context and device.
type Key = (usize, u64, u64);

#[derive(Debug)]
struct Opened {
    at: u64,
    allocation: Weak<Allocation>,
    count: u64,
}

/// What this process has opened.
#[derive(Debug, Default)]
pub struct Ipc {
    opened: Mutex<HashMap<Key, Opened>>,
}

impl Ipc {
    fn opened(&self) -> MutexGuard<'_, HashMap<Key, Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// `cuIpcGetMemHandle`: linear memory only.
    pub fn export_legacy(&self, at: u64) -> Result<[u8; HANDLE_BYTES], Status> {
        self.contexts.current()?;
        let found = self.space.pointer(at).ok_or(Status::INVALID_VALUE)?;
        if found.allocation.origin != Origin::Linear {
            return Err(Status::INVALID_VALUE);
        }
        let device = &found.allocation.device;
        let failed = |_| Status::OPERATING_SYSTEM;
        let ticket = found.allocation.ticket();
        let block = self.space.block_at(found.start).map(|block| block.ticket());
        if let Some(block) = block {
            device.registry.offer(block).map_err(failed)?;
        }
        Ok(Handle {
            device: device.uuid().map_err(failed)?,
            ticket,
            exporter: device.registry.offer(ticket).map_err(failed)?,
            bytes: found.bytes,
            block,
        }
        .encode())
    }

    /// `cuIpcOpenMemHandle`: the same address for the same handle, counted.
    pub fn open_legacy(&self, bytes: &[u8; HANDLE_BYTES]) -> Result<u64, Status> {
        let context = self.contexts.current()?;
        let handle = Handle::decode(bytes).ok_or(Status::INVALID_VALUE)?;
        let is_it = |device: &&&Arc<_>| Self::has_name(device, handle.device);
        let device = *self.visible.iter().find(is_it).ok_or(Status::INVALID_HANDLE)?;
        if device.registry.is_own(handle.exporter) {
            // The card's words for "this is your own memory".
            return Err(Status::INVALID_CONTEXT);
        }
        let key = (device.index, handle.ticket.id, context.id);
        let mut opened = self.ipc.opened();
        if let Some(entry) = opened.get_mut(&key)
            && entry.allocation.strong_count() > 0
        {
            entry.count += 1;
            return Ok(entry.at);
        }
        let mut allocation = Allocation::adopt(device, handle.ticket, handle.exporter)?;
        if let Some(block) = handle.block {
            allocation.keep_block(Allocation::adopt(device, block, handle.exporter)?);
        }
        if handle.bytes == 0 || handle.bytes > allocation.bytes {
            return Err(Status::INVALID_VALUE);
        }
        let allocation = Arc::new(allocation);
        let weak = Arc::downgrade(&allocation);
        let at = self.space.map_linear(handle.bytes, allocation, context.id)?;
        self.space.grant(at, context.device.index);
        opened.insert(key, Opened { at, allocation: weak, count: 1 });
        Ok(at)
    }

    fn has_name(device: &super::board::Device, name: [u8; 16]) -> bool {
        device.uuid().is_ok_and(|uuid| uuid == name)
    }

    /// `cuIpcCloseMemHandle`: the last close of an address unmaps it, after the context's work.
    pub fn close_legacy(&self, at: u64) -> Result<(), Status> {
        let context = self.contexts.current()?;
        let mut opened = self.ipc.opened();
        let is_it = |entry: &Opened| entry.at == at && entry.allocation.strong_count() > 0;
        let (key, entry) =
            opened.iter_mut().find(|(_, entry)| is_it(entry)).ok_or(Status::INVALID_VALUE)?;
        entry.count -= 1;
        if entry.count > 0 {
            return Ok(());
        }
        let key = *key;
        opened.remove(&key);
        drop(opened);
        let waited = context.queue.wait_all();
        self.space.unmap_linear(at)?;
        waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_come_back_as_they_were_written() {
        let handle = Handle {
            device: [7; 16],
            ticket: Ticket { slot: 3, id: 99 },
            exporter: Exporter { slot: 12, pid: 4_000_000_000 },
            bytes: 12_345,
            block: None,
        };
        let bytes = handle.encode();
        assert_eq!(Handle::decode(&bytes), Some(handle));
        let block = Some(Ticket { slot: ALLOCATION_SLOTS - 1, id: (1 << ID_BITS) - 1 });
        let part = Handle { block, ..handle };
        assert_eq!(Handle::decode(&part.encode()), Some(part));
        assert_eq!(Handle::decode(&[0; HANDLE_BYTES]), None);
        assert_eq!(Handle::decode(&[0xff; HANDLE_BYTES]), None);
    }
}
