//! Legacy IPC: 64 bytes that name linear memory of another, living process.
//!
//! The bytes name the exporter, a number that the memory has there, and its size. When it was freed
//! the number goes to the next linear memory of that process, and the old bytes then open that if it
//! has the same size, wherever it lies: so do the card's, and a process that has freed shared memory
//! must not allocate again. Small memory shares blocks, and is named by what it is.
//!
//! Whoever opens the bytes takes a lock on the memory of its own, so that it stays when the exporter
//! frees it or is killed. New opens need an exporter that lives and still has the memory.

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
    exporter: Exporter,
    name: Name,
}

/// What a handle says about the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// The memory that has this number in the exporter.
    Object {
        number: u64,
        /// What the exporter asked for, as it was when the handle was made.
        bytes: u64,
    },
    /// This very piece of a block.
    Part {
        ticket: Ticket,
        /// What the exporter asked for; the allocation has whole pages.
        bytes: u64,
        /// The block, which stays with its parts.
        block: Ticket,
    },
}

/// In the place of a slot: the next word is the number of an object.
const OBJECT: u64 = u64::MAX;

/// The bits of a block's id in a handle, below its slot.
const ID_BITS: u32 = 48;
const _: () = assert!(ALLOCATION_SLOTS <= 1 << (u64::BITS - ID_BITS));

impl Handle {
    fn encode(&self) -> [u8; HANDLE_BYTES] {
        let process = (to_u64(self.exporter.slot) << 32) | u64::from(self.exporter.pid);
        let [slot, id, size, block] = match self.name {
            Name::Object { number, bytes } => [OBJECT, number, bytes, 0],
            Name::Part { ticket, bytes, block } => {
                [to_u64(ticket.slot), ticket.id, bytes, to_u64(block.slot) << ID_BITS | block.id]
            }
        };
        let words = [MAGIC, slot, id, process, size];
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
        let (slot, id, process, size, block) = (word(1)?, word(2)?, word(3)?, word(4)?, word(7)?);
        let exporter = Exporter {
            slot: to_usize(process >> 32),
            pid: u32::try_from(process & u64::from(u32::MAX)).ok()?,
        };
        let name = if slot == OBJECT {
            Name::Object { number: id, bytes: size }
        } else {
            let block =
                Ticket { slot: to_usize(block >> ID_BITS), id: block & ((1 << ID_BITS) - 1) };
            Name::Part { ticket: Ticket { slot: to_usize(slot), id }, bytes: size, block }
        };
        (word(0)? == MAGIC).then_some(Self { device, exporter, name })
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
        let (name, exporter) = match found.allocation.object() {
            0 => {
                let ticket = found.allocation.ticket();
                let block = self.space.block_at(found.start).ok_or(Status::INVALID_VALUE)?.ticket();
                device.registry.offer(block, 0, 0).map_err(failed)?;
                let exporter = device.registry.offer(ticket, 0, 0).map_err(failed)?;
                (Name::Part { ticket, bytes: found.bytes, block }, exporter)
            }
            number => {
                let own = device.registry.own_process().ok_or(Status::UNKNOWN)?;
                (Name::Object { number, bytes: found.bytes }, own)
            }
        };
        Ok(Handle { device: device.uuid().map_err(failed)?, exporter, name }.encode())
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
        let failed = |_| Status::OPERATING_SYSTEM;
        let registry = &device.registry;
        if !registry.lives(handle.exporter).map_err(failed)? {
            return Err(Status::INVALID_HANDLE);
        }
        let (ticket, bytes, block) = match handle.name {
            Name::Part { ticket, bytes, block } => (ticket, bytes, Some(block)),
            Name::Object { number, bytes: named } => {
                let found = registry.object(handle.exporter, number).map_err(failed)?;
                let (ticket, bytes) = found.ok_or(Status::INVALID_VALUE)?;
                if bytes != named {
                    return Err(Status::NOT_PERMITTED);
                }
                (ticket, bytes, None)
            }
        };
        let key = (device.index, ticket.id, context.id);
        let mut opened = self.ipc.opened();
        if let Some(entry) = opened.get_mut(&key)
            && entry.allocation.strong_count() > 0
        {
            entry.count += 1;
            return Ok(entry.at);
        }
        let mut allocation = Allocation::adopt(device, ticket, handle.exporter)?;
        if let Some(block) = block {
            allocation.keep_block(Allocation::adopt(device, block, handle.exporter)?);
        }
        if bytes == 0 || bytes > allocation.bytes {
            return Err(Status::INVALID_VALUE);
        }
        let allocation = Arc::new(allocation);
        let weak = Arc::downgrade(&allocation);
        let at = self.space.map_linear(bytes, allocation, context.id)?;
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
        let exporter = Exporter { slot: 12, pid: 4_000_000_000 };
        let block = Ticket { slot: ALLOCATION_SLOTS - 1, id: (1 << ID_BITS) - 1 };
        let part = Name::Part { ticket: Ticket { slot: 3, id: 99 }, bytes: 12_345, block };
        for name in [Name::Object { number: 7, bytes: 4 << 20 }, part] {
            let handle = Handle { device: [7; 16], exporter, name };
            assert_eq!(Handle::decode(&handle.encode()), Some(handle));
        }
        assert_eq!(Handle::decode(&[0; HANDLE_BYTES]), None);
        assert_eq!(Handle::decode(&[0xff; HANDLE_BYTES]), None);
    }
}
