//! Pools between processes: an fd for the pool, and 64 bytes for each allocation in it.
//!
//! The fd is a file in memory. Its header names the device and the exporter; each exported pointer
//! adds a record that lists the steps under the allocation. An importer reads the record, takes part
//! in those steps (see [`super::ipc`] for who may) and maps them at addresses of its own.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_cuda::sys::Status;

use super::Engine;
use super::address::Access;
use super::board::Device;
use super::ids;
use super::physical::{Allocation, HANDLE_TYPE_FD};
use super::pool::Pool;
use super::registry::{Exporter, Ticket};
use super::system::{self, to_u64, to_usize};
use crate::config::MAX_DEVICES;

/// The size of an exported pointer.
pub const POINTER_BYTES: usize = 64;

const MAGIC: u64 = u64::from_le_bytes(*b"mppool\x00\x01");

/// Words of the header: magic, two of the device's name, the exporter's slot and process id.
const HEADER_WORDS: usize = 5;

/// More steps than any allocation has: a record that says so is not ours.
const MOST_STEPS: u64 = 1 << 20;

fn failed(_: std::io::Error) -> Status {
    Status::OPERATING_SYSTEM
}

fn write_words(file: &File, at: u64, words: &[u64]) -> Result<(), Status> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    file.write_all_at(&bytes, at).map_err(failed)
}

fn read_words(file: &File, at: u64, count: usize) -> Result<Vec<u64>, Status> {
    let mut bytes = vec![0; count * 8];
    file.read_exact_at(&mut bytes, at).map_err(|_| Status::INVALID_VALUE)?;
    Ok(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

fn name_words(device: &Device) -> Result<[u64; 2], Status> {
    let name = u128::from_le_bytes(device.uuid().map_err(failed)?);
    let half = |word: u128| u64::try_from(word & u128::from(u64::MAX)).unwrap_or_default();
    Ok([half(name), half(name >> 64)])
}

/// A pool of another process.
#[derive(Debug)]
struct Imported {
    file: File,
    device: Arc<Device>,
    exporter: Exporter,
}

/// An allocation of another process's pool.
#[derive(Clone, Copy, Debug)]
struct Pointer {
    start: u64,
    bytes: u64,
}

#[derive(Debug, Default)]
struct Tables {
    /// What our own pools were exported as.
    exported: HashMap<u64, Arc<File>>,
    imported: HashMap<u64, Arc<Imported>>,
    pointers: HashMap<u64, Pointer>,
}

/// Everything that passed between processes.
#[derive(Debug, Default)]
pub struct SharedPools {
    tables: Mutex<Tables>,
}

impl SharedPools {
    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `cuMemPoolDestroy` of an imported pool: false when it is none. What was imported from it stays.
    pub fn close(&self, id: u64) -> bool {
        self.lock().imported.remove(&id).is_some()
    }

    /// Forgets an imported allocation: its reservation is the caller's to release.
    pub fn take(&self, at: u64) -> Option<u64> {
        self.lock().pointers.remove(&at).map(|pointer| pointer.start)
    }

    /// The imported allocation around an address: its start and size.
    pub fn around(&self, at: u64) -> Option<(u64, u64)> {
        let tables = self.lock();
        let around = |(start, pointer): (&u64, &Pointer)| {
            (at >= *start && at - start < pointer.bytes).then_some((*start, pointer.bytes))
        };
        tables.pointers.iter().find_map(around)
    }
}

impl Engine {
    /// The file by which others know a pool.
    fn pool_file(&self, pool: &Pool) -> Result<Arc<File>, Status> {
        if pool.settings.handle_types & HANDLE_TYPE_FD == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let mut tables = self.shared_pools.lock();
        if let Some(file) = tables.exported.get(&pool.id) {
            return Ok(Arc::clone(file));
        }
        let file = system::memory_file(c"millpond-pool").map_err(failed)?;
        let exporter = pool.device.registry.own_process().ok_or(Status::UNKNOWN)?;
        let [low, high] = name_words(&pool.device)?;
        let process = [to_u64(exporter.slot), u64::from(exporter.pid)];
        write_words(&file, 0, &[MAGIC, low, high, process[0], process[1]])?;
        let file = Arc::new(file);
        tables.exported.insert(pool.id, Arc::clone(&file));
        Ok(file)
    }

    pub fn export_pool(&self, pool: u64) -> Result<OwnedFd, Status> {
        let file = self.pool_file(&*self.pools.find(pool)?)?;
        file.as_fd().try_clone_to_owned().map_err(failed)
    }

    pub fn import_pool(&self, fd: RawFd) -> Result<u64, Status> {
        let file = File::from(system::duplicate(fd).map_err(|_| Status::INVALID_VALUE)?);
        let words = read_words(&file, 0, HEADER_WORDS)?;
        let [MAGIC, low, high, slot, pid] = *words.as_slice() else {
            return Err(Status::INVALID_VALUE);
        };
        let is_it = |device: &&&Arc<Device>| name_words(device) == Ok([low, high]);
        let device = self.visible.iter().find(is_it).ok_or(Status::INVALID_DEVICE)?;
        let pid = u32::try_from(pid).map_err(|_| Status::INVALID_VALUE)?;
        let exporter = Exporter { slot: to_usize(slot), pid };
        let imported = Imported { file, device: Arc::clone(device), exporter };
        let id = ids::next();
        self.shared_pools.lock().imported.insert(id, Arc::new(imported));
        Ok(id)
    }

    pub fn export_pointer(&self, at: u64) -> Result<[u8; POINTER_BYTES], Status> {
        let (pool, bytes) = self.pools.owner_of(at).ok_or(Status::INVALID_VALUE)?;
        let file = self.pool_file(&pool)?;
        let step = pool.settings.step;
        let mut tickets = Vec::new();
        let first = self.space.pointer(at).ok_or(Status::INVALID_VALUE)?.start;
        let mut place = first;
        while place < at + bytes {
            let found = self.space.pointer(place).ok_or(Status::INVALID_VALUE)?;
            let ticket = found.allocation.ticket();
            pool.device.registry.offer(ticket).map_err(failed)?;
            tickets.extend([to_u64(ticket.slot), ticket.id]);
            place += step;
        }
        let count = to_u64(tickets.len() / 2);
        let mut record = vec![bytes, at - first, step, count];
        record.extend(tickets);
        // One record at a time: the end of the file is where the next begins.
        let _tables = self.shared_pools.lock();
        let meta = file.metadata().map_err(failed)?;
        write_words(&file, meta.len(), &record)?;
        let words = [MAGIC, meta.ino(), meta.len()];
        let mut data = [0; POINTER_BYTES];
        let content = words.iter().flat_map(|word| word.to_le_bytes());
        data.iter_mut().zip(content).for_each(|(to, from)| *to = from);
        Ok(data)
    }

    pub fn import_pointer(&self, pool: u64, data: &[u8; POINTER_BYTES]) -> Result<u64, Status> {
        let imported = self.shared_pools.lock().imported.get(&pool).cloned();
        let imported = imported.ok_or(Status::INVALID_VALUE)?;
        let (words, _) = data.as_chunks::<8>();
        let word = |index: usize| words.get(index).map(|word| u64::from_le_bytes(*word));
        let (Some(MAGIC), Some(inode), Some(place)) = (word(0), word(1), word(2)) else {
            return Err(Status::INVALID_VALUE);
        };
        if imported.file.metadata().map_err(failed)?.ino() != inode {
            return Err(Status::INVALID_VALUE);
        }
        let record = read_words(&imported.file, place, 4)?;
        let [bytes, offset, step, count] = *record.as_slice() else {
            return Err(Status::INVALID_VALUE);
        };
        let all = step.checked_mul(count).filter(|_| count > 0 && count <= MOST_STEPS);
        let all = all.ok_or(Status::INVALID_VALUE)?;
        if offset.checked_add(bytes).is_none_or(|end| end > all) {
            return Err(Status::INVALID_VALUE);
        }
        let tickets = read_words(&imported.file, place + 4 * 8, to_usize(count) * 2)?;
        let start = self.space.reserve_own(all)?;
        let mut access = [Access::None; MAX_DEVICES];
        if let Some(own) = access.get_mut(imported.device.index) {
            *own = Access::ReadWrite;
        }
        let mapped = tickets.as_chunks::<2>().0.iter().zip(0..).try_for_each(|(pair, index)| {
            let [slot, id] = *pair;
            let ticket = Ticket { slot: to_usize(slot), id };
            let step_of = Allocation::adopt(&imported.device, ticket, imported.exporter)?;
            self.space.map_own(start + index * step, Arc::new(step_of), access)
        });
        if let Err(status) = mapped {
            self.space.release_own(start);
            return Err(status);
        }
        let at = start + offset;
        self.shared_pools.lock().pointers.insert(at, Pointer { start, bytes });
        Ok(at)
    }
}
