//! Pools between processes: an fd for the pool, and 64 bytes for each allocation in it.
//!
//! The fd is a file in the device's folder, which keeps the steps that were exported as a holder of
//! them does: while anybody has it open they stay, also when the exporter was killed and nobody has
//! imported anything. Each exported pointer adds a record that lists the steps under the allocation.
//! An importer reads the record, takes part in those steps and maps them at addresses of its own.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_cuda::sys::Status;

use super::Engine;
use super::board::Device;
use super::ids;
use super::location::Home;
use super::physical::{Allocation, HANDLE_TYPE_FD};
use super::pool::Pool;
use super::registry::Ticket;
use super::system::{self, to_u64, to_usize};

/// The size of an exported pointer.
pub const POINTER_BYTES: usize = 64;

/// What the file of a pool begins with, by where its memory is.
const MAGIC: [(u64, Home); 2] = [
    (u64::from_le_bytes(*b"mppool\x00\x01"), Home::Device),
    (u64::from_le_bytes(*b"mppool\x01\x01"), Home::Host),
];

/// Where the first record begins. Before it: the magic number, and where the next record begins.
const RECORDS_AT: u64 = 16;

/// The size that the file is made with; it grows with its records.
const FILE_BYTES: u64 = 4096;

/// More steps than any allocation has: a record that says so is not ours.
const MOST_STEPS: u64 = 1 << 20;

/// The number for pools of such memory; managed memory is not shared.
fn magic_of(home: Home) -> Result<u64, Status> {
    let found = MAGIC.into_iter().find(|(_, known)| *known == home);
    found.map(|(magic, _)| magic).ok_or(Status::INVALID_VALUE)
}

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

/// The file of one of our pools.
#[derive(Debug)]
struct Exported {
    file: File,
    ticket: Ticket,
    /// What was exported last from each address: as long as it is the same, it has the same name.
    records: HashMap<u64, (Vec<u64>, u64)>,
}

/// A pool of another process.
#[derive(Debug)]
struct Imported {
    file: File,
    device: Arc<Device>,
    home: Home,
    ticket: Ticket,
}

/// An allocation of another process's pool.
#[derive(Clone, Copy, Debug)]
struct Pointer {
    start: u64,
    bytes: u64,
    /// The device, the file of the pool there, and the record in it.
    name: (usize, u64, u64),
    pool: u64,
}

#[derive(Debug, Default)]
struct Tables {
    /// What our own pools were exported as.
    exported: HashMap<u64, Exported>,
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

    /// Lets go of the file of one of our own pools, which is destroyed.
    pub fn forget(&self, id: u64) {
        drop(self.lock().exported.remove(&id));
    }

    /// Whether a number names a pool of another process.
    pub fn is_imported(&self, id: u64) -> bool {
        self.lock().imported.contains_key(&id)
    }

    /// The imported pool that memory at an address came from.
    pub fn pool_around(&self, at: u64) -> Option<u64> {
        let tables = self.lock();
        tables.pointers.iter().find_map(|(start, pointer)| {
            (at >= *start && at - start < pointer.bytes).then_some(pointer.pool)
        })
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

impl Tables {
    /// The file by which others know a pool, made when it is asked for first.
    fn file_of(&mut self, pool: &Pool) -> Result<&mut Exported, Status> {
        if pool.settings.handle_types & HANDLE_TYPE_FD == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let magic = magic_of(pool.settings.home)?;
        match self.exported.entry(pool.id) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let made = pool.device.registry.create_part(FILE_BYTES);
                let (file, ticket) = made.map_err(|_| Status::OUT_OF_MEMORY)?;
                write_words(&file, 0, &[magic, RECORDS_AT])?;
                Ok(place.insert(Exported { file, ticket, records: HashMap::new() }))
            }
        }
    }
}

impl Engine {
    pub fn export_pool(&self, pool: u64) -> Result<OwnedFd, Status> {
        let pool = self.pools.find(pool)?;
        let mut tables = self.shared_pools.lock();
        tables.file_of(&pool)?.file.as_fd().try_clone_to_owned().map_err(failed)
    }

    pub fn import_pool(&self, fd: RawFd) -> Result<u64, Status> {
        let file = File::from(system::duplicate(fd).map_err(|_| Status::INVALID_VALUE)?);
        let named = self.visible.iter().find_map(|device| {
            let ticket = device.registry.find_part(&file).ok()??;
            Some((Arc::clone(device), ticket))
        });
        let (device, ticket) = named.ok_or(Status::INVALID_VALUE)?;
        let magic = read_words(&file, 0, 1)?;
        let home = MAGIC.into_iter().find(|(number, _)| magic == [*number]);
        let (_, home) = home.ok_or(Status::INVALID_VALUE)?;
        let id = ids::next();
        let imported = Imported { file, device, home, ticket };
        self.shared_pools.lock().imported.insert(id, Arc::new(imported));
        Ok(id)
    }

    pub fn export_pointer(&self, at: u64) -> Result<[u8; POINTER_BYTES], Status> {
        let (pool, bytes) = self.pools.owner_of(at).ok_or(Status::INVALID_VALUE)?;
        let mut tables = self.shared_pools.lock();
        let exported = tables.file_of(&pool)?;
        let step = pool.settings.step;
        let mut tickets = Vec::new();
        let first = self.space.pointer(at).ok_or(Status::INVALID_VALUE)?.start;
        let mut place = first;
        while place < at + bytes {
            let found = self.space.pointer(place).ok_or(Status::INVALID_VALUE)?;
            let ticket = found.allocation.ticket();
            pool.device.registry.keep_in_pool(ticket, exported.ticket).map_err(failed)?;
            tickets.extend([to_u64(ticket.slot), ticket.id]);
            place += step;
        }
        let count = to_u64(tickets.len() / 2);
        let mut record = vec![bytes, at - first, step, count];
        record.extend(tickets);
        let known = exported.records.get(&at).filter(|known| known.0 == record);
        let place = match known {
            Some((_, place)) => *place,
            None => {
                let place = *read_words(&exported.file, 8, 1)?.first().ok_or(Status::UNKNOWN)?;
                write_words(&exported.file, place, &record)?;
                write_words(&exported.file, 8, &[place + to_u64(record.len()) * 8])?;
                exported.records.insert(at, (record, place));
                place
            }
        };
        let words = [magic_of(pool.settings.home)?, exported.ticket.id, place];
        let mut data = [0; POINTER_BYTES];
        let content = words.iter().flat_map(|word| word.to_le_bytes());
        data.iter_mut().zip(content).for_each(|(to, from)| *to = from);
        Ok(data)
    }

    pub fn import_pointer(&self, pool: u64, data: &[u8; POINTER_BYTES]) -> Result<u64, Status> {
        let mut tables = self.shared_pools.lock();
        let imported = tables.imported.get(&pool).cloned().ok_or(Status::INVALID_VALUE)?;
        let (words, _) = data.as_chunks::<8>();
        let word = |index: usize| words.get(index).map(|word| u64::from_le_bytes(*word));
        let (Some(magic), Some(id), Some(place)) = (word(0), word(1), word(2)) else {
            return Err(Status::INVALID_VALUE);
        };
        let known = magic_of(imported.home) == Ok(magic) && imported.ticket.id == id;
        if !known || place < RECORDS_AT {
            return Err(Status::INVALID_VALUE);
        }
        let name = (imported.device.index, id, place);
        if let Some((at, _)) = tables.pointers.iter().find(|(_, pointer)| pointer.name == name) {
            return Ok(*at);
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
        let access = imported.home.access(imported.device.index);
        let mapped = tickets.as_chunks::<2>().0.iter().zip(0..).try_for_each(|(pair, index)| {
            let [slot, id] = *pair;
            let ticket = Ticket { slot: to_usize(slot), id };
            let Imported { device, home, ticket: pool, .. } = &*imported;
            let step_of = Allocation::adopt_from_pool(device, ticket, *pool, *home)?;
            self.space.map_own(start + index * step, Arc::new(step_of), access)
        });
        if let Err(status) = mapped {
            self.space.release_own(start);
            return Err(status);
        }
        let at = start + offset;
        tables.pointers.insert(at, Pointer { start, bytes, name, pool });
        Ok(at)
    }
}
