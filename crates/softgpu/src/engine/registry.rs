//! One device's memory, shared by all processes that use its folder.
//!
//! ```text
//! device-0/registry    who holds what: see `layout`
//! device-0/lock        held around every change of the registry
//! device-0/processes   byte N is locked while the process in slot N lives
//! device-0/alloc-17    one allocation; alive while a lock on it is held
//! ```
//!
//! All locks belong to open file descriptions. The kernel drops them when the last descriptor and
//! the last mapping of that description are gone, however their processes ended: so nothing can
//! leak, and nobody can be waited for who is dead.
//!
//! Invariant: whoever holds the registry's lock sees, for each slot in use, either a file that is
//! locked (alive) or a file that is unlocked or missing (dead, and dead for ever).

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::layout::{self, ALLOCATION_SLOTS, Layout, MAGIC, Offer, PART};
use super::processes::Processes;
use super::system::{self, Lock, to_u64, to_usize};

/// Why memory could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The device is full, or the machine behind it is.
    #[error("the device is full")]
    Full,
    /// The operating system failed otherwise.
    #[error("the device's folder cannot be used")]
    System(#[from] io::Error),
}

/// Where an allocation stands in the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub slot: usize,
    /// Its id: a slot may be used again, an id never.
    pub id: u64,
}

/// A process that offers memory to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exporter {
    pub slot: usize,
    /// Its process id: a slot may be used again.
    pub pid: u32,
}

/// Bytes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub total: u64,
    /// Held by allocations and contexts.
    pub used: u64,
}

/// Whether anybody holds an allocation.
enum Life {
    Alive,
    /// Nobody does, with its file if it still has one.
    Dead(Option<File>),
}

/// One device's shared state.
#[derive(Debug)]
pub struct Registry {
    folder: File,
    device_number: u64,
    layout: Layout,
    gate: Mutex<File>,
    hint: AtomicUsize,
    processes: Processes,
}

/// The registry's lock; dropped with the value.
struct Locked<'a> {
    registry: &'a Registry,
    file: MutexGuard<'a, File>,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Unlocking an open file cannot fail; if it did, the kernel would do it when we die.
        let _ = system::lock(&self.file, Lock::None, 0, 0, false);
    }
}

fn open_or_create(folder: &File, name: &str) -> io::Result<File> {
    match system::open_in(folder, name, true) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            system::open_in(folder, name, false)
        }
        other => other,
    }
}

mod offers;

fn file_name(id: u64) -> String {
    format!("alloc-{id}")
}

impl Registry {
    /// Opens a device's folder, making it when it is missing.
    ///
    /// `total` is asked only when nobody uses the device; `uuid` only when the device is new.
    pub fn open(
        path: &Path,
        total: impl FnOnce(&File) -> io::Result<u64>,
        uuid: [u64; 2],
    ) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let folder = File::open(path)?;
        let gate = open_or_create(&folder, "lock")?;
        system::lock(&gate, Lock::Exclusive, 0, 0, true)?;
        let file = open_or_create(&folder, "registry")?;
        system::allocate(&file, to_u64(layout::BYTES))?;
        let registry = Self {
            device_number: folder.metadata()?.dev(),
            layout: Layout::new(&file)?,
            processes: Processes::new(open_or_create(&folder, "processes")?),
            gate: Mutex::new(gate),
            hint: AtomicUsize::new(0),
            folder,
        };
        {
            let file = registry.gate.lock().unwrap_or_else(PoisonError::into_inner);
            let locked = Locked { registry: &registry, file };
            let header = registry.layout.header()?;
            if ![0, MAGIC].contains(&header.magic.load(Relaxed)) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "another version made it"));
            }
            if header.magic.load(Relaxed) == 0 {
                header.next_id.store(1, Relaxed);
                header.uuid[0].store(uuid[0], Relaxed);
                header.uuid[1].store(uuid[1], Relaxed);
                header.total.store(0, Relaxed);
                header.magic.store(MAGIC, Relaxed);
            }
            locked.recover()?;
            for ticket in registry.dead(&[])? {
                locked.free(ticket)?;
            }
            let in_use =
                header.used.load(Relaxed) > 0 || registry.processes.any_alive(&registry.layout)?;
            if !in_use || header.total.load(Relaxed) == 0 {
                header.total.store(total(&registry.folder)?, Relaxed);
            }
        }
        Ok(registry)
    }

    fn lock(&self) -> io::Result<Locked<'_>> {
        let file = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        system::lock(&file, Lock::Exclusive, 0, 0, true)?;
        let locked = Locked { registry: self, file };
        locked.recover()?;
        Ok(locked)
    }

    /// The device's name for ever.
    pub fn uuid(&self) -> io::Result<[u64; 2]> {
        let header = self.layout.header()?;
        Ok([header.uuid[0].load(Relaxed), header.uuid[1].load(Relaxed)])
    }

    /// All bytes of the device.
    pub fn total(&self) -> io::Result<u64> {
        Ok(self.layout.header()?.total.load(Relaxed))
    }

    /// Makes an allocation of zeroes. The lock that keeps it alive belongs to the returned file.
    pub fn create(&self, bytes: u64) -> Result<(File, Ticket), CreateError> {
        self.make(bytes, 0)
    }

    /// The same for memory that is a part of another allocation, which is counted in its place.
    pub fn create_part(&self, bytes: u64) -> Result<(File, Ticket), CreateError> {
        self.make(bytes, PART)
    }

    fn make(&self, bytes: u64, part: u64) -> Result<(File, Ticket), CreateError> {
        let (file, ticket) = self.begin(bytes, part)?;
        // The lock is held already, so a kill from here on leaves nothing. Pages are taken outside
        // of the registry's lock: it is the slow part.
        let mut pages = self.take_pages(&file, bytes);
        if pages.as_ref().is_err_and(is_full) {
            // The device claims more than its file system has: what the dead left counts there too.
            self.sweep(&[])?;
            pages = self.take_pages(&file, bytes);
        }
        match pages {
            Ok(()) => Ok((file, ticket)),
            Err(error) => {
                drop(file);
                self.discard(ticket)?;
                Err(if is_full(&error) { CreateError::Full } else { error.into() })
            }
        }
    }

    fn take_pages(&self, file: &File, bytes: u64) -> io::Result<()> {
        if !system::has_room(&self.folder, bytes)? {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        system::allocate(file, bytes)
    }

    fn begin(&self, bytes: u64, part: u64) -> Result<(File, Ticket), CreateError> {
        let counted = if part == 0 { bytes } else { 0 };
        let mut locked = self.lock()?;
        let mut index = locked.room(counted)?;
        if index.is_none() {
            if counted > self.total()? {
                return Err(CreateError::Full);
            }
            drop(locked);
            self.sweep(&[])?;
            locked = self.lock()?;
            index = locked.room(counted)?;
        }
        let index = index.ok_or(CreateError::Full)?;
        let header = self.layout.header()?;
        let slot = self.layout.allocation(index)?;
        let id = header.next_id.fetch_add(1, Relaxed);
        header.changing.store(1, Relaxed);
        slot.bytes.store(bytes | part, Relaxed);
        slot.inode.store(0, Relaxed);
        Offer::Nobody.store(&slot.offer);
        slot.id.store(id, Relaxed);
        header.allocations_end.fetch_max(to_u64(index + 1), Relaxed);
        header.used.fetch_add(counted, Relaxed);
        header.changing.store(0, Relaxed);
        let ticket = Ticket { slot: index, id };
        let made = system::open_in(&self.folder, &file_name(id), true).and_then(|file| {
            system::lock(&file, Lock::Shared, 0, 0, false)?;
            slot.inode.store(file.metadata()?.ino(), Relaxed);
            Ok(file)
        });
        match made {
            Ok(file) => {
                locked.note_peak()?;
                Ok((file, ticket))
            }
            Err(error) => {
                locked.free(ticket)?;
                Err(match error.raw_os_error() {
                    Some(libc::ENOSPC | libc::EDQUOT | libc::ENOMEM) => CreateError::Full,
                    _ => error.into(),
                })
            }
        }
    }

    /// The allocation that an open file is, with its size.
    pub fn find(&self, file: &File) -> io::Result<Option<(Ticket, u64)>> {
        self.find_file(file, false)
    }

    /// The same for a file that is no memory of its own: of a pool or an event.
    pub fn find_part(&self, file: &File) -> io::Result<Option<Ticket>> {
        Ok(self.find_file(file, true)?.map(|(ticket, _)| ticket))
    }

    fn find_file(&self, file: &File, part: bool) -> io::Result<Option<(Ticket, u64)>> {
        let meta = file.metadata()?;
        if meta.dev() != self.device_number || !meta.is_file() {
            return Ok(None);
        }
        let end = self.layout.header()?.allocations_end.load(Relaxed);
        for index in 0..to_usize(end) {
            let slot = self.layout.allocation(index)?;
            let id = slot.id.load(Relaxed);
            if id != 0 && slot.inode.load(Relaxed) == meta.ino() && slot.is_part() == part {
                return Ok(Some((Ticket { slot: index, id }, slot.size())));
            }
        }
        Ok(None)
    }

    /// Called when a process has let go of an allocation: if it was the last, the memory is free.
    pub fn discard(&self, ticket: Ticket) -> io::Result<()> {
        self.bury(&[ticket])
    }

    /// Frees those of the given allocations that are dead.
    fn bury(&self, tickets: &[Ticket]) -> io::Result<()> {
        // Giving pages back takes long, and happens when the last descriptor is closed: the files
        // stay open until the lock is free again.
        let mut corpses = Vec::new();
        let locked = self.lock()?;
        for ticket in tickets {
            if let Life::Dead(corpse) = self.life(*ticket)? {
                locked.free(*ticket)?;
                corpses.extend(corpse);
            }
        }
        locked.shrink()?;
        drop(locked);
        drop(corpses);
        Ok(())
    }

    fn life(&self, ticket: Ticket) -> io::Result<Life> {
        match self.file_life(ticket.id)? {
            Life::Alive => Ok(Life::Alive),
            dead => {
                let slot = self.layout.allocation(ticket.slot)?;
                let kept = match Offer::load(&slot.offer) {
                    Offer::Pool(pool) if slot.id.load(Relaxed) == ticket.id => {
                        matches!(self.file_life(pool)?, Life::Alive)
                    }
                    _ => false,
                };
                Ok(if kept { Life::Alive } else { dead })
            }
        }
    }

    fn file_life(&self, id: u64) -> io::Result<Life> {
        match system::open_in(&self.folder, &file_name(id), false) {
            Ok(file) if system::is_locked_by_others(&file, 0, 0)? => Ok(Life::Alive),
            Ok(file) => Ok(Life::Dead(Some(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Life::Dead(None)),
            Err(error) => Err(error),
        }
    }

    /// What is in use now, after letting go of what the dead left. `held` (sorted) are allocations
    /// known to be alive, which saves asking the kernel about them.
    pub fn usage(&self, held: &[u64]) -> io::Result<Usage> {
        let header = self.layout.header()?;
        if header.changing.load(Relaxed) != 0 {
            // Somebody is at it, or died at it: whoever gets the lock counts again.
            drop(self.lock()?);
        }
        self.sweep(held)?;
        let contexts = self.processes.context_bytes(&self.layout)?;
        let used = header.used.load(Relaxed).saturating_add(contexts);
        Ok(Usage { total: header.total.load(Relaxed), used })
    }

    /// Allocations that nobody holds, found without the lock. Some may be new ones whose file is not
    /// there yet: whoever frees them looks again under the lock.
    fn dead(&self, held: &[u64]) -> io::Result<Vec<Ticket>> {
        let mut dead = Vec::new();
        for slot in 0..to_usize(self.layout.header()?.allocations_end.load(Relaxed)) {
            let id = self.layout.allocation(slot)?.id.load(Relaxed);
            let ticket = Ticket { slot, id };
            if id != 0
                && held.binary_search(&id).is_err()
                && !matches!(self.life(ticket)?, Life::Alive)
            {
                dead.push(ticket);
            }
        }
        Ok(dead)
    }

    /// Lets go of everything that nobody holds any more. The lock is only taken to free something.
    fn sweep(&self, held: &[u64]) -> io::Result<()> {
        let dead = self.dead(held)?;
        if dead.is_empty() { Ok(()) } else { self.bury(&dead) }
    }

    /// Runs `work` on the process slots under the registry's lock.
    pub fn with_processes<T>(
        &self,
        work: impl FnOnce(&Processes, &Layout) -> io::Result<T>,
    ) -> io::Result<T> {
        let _locked = self.lock()?;
        work(&self.processes, &self.layout)
    }

    /// Makes room for a context's bytes in this process's slot.
    pub fn charge_context(&self, bytes: u64) -> Result<(), CreateError> {
        let mut locked = self.lock()?;
        if !locked.fits(bytes)? {
            drop(locked);
            self.sweep(&[])?;
            locked = self.lock()?;
            if !locked.fits(bytes)? {
                return Err(CreateError::Full);
            }
        }
        self.processes.add_context(&self.layout, bytes)?;
        Ok(locked.note_peak()?)
    }

    /// Counts the most that is held from now on.
    pub fn meter(&self) -> io::Result<()> {
        let locked = self.lock()?;
        let header = self.layout.header()?;
        header.peak.store(0, Relaxed);
        header.metered.store(1, Relaxed);
        locked.note_peak()
    }

    /// The most that was held at any instant since [`Registry::meter`].
    pub fn peak(&self) -> io::Result<u64> {
        Ok(self.layout.header()?.peak.load(Relaxed))
    }

    /// Gives a context's bytes back.
    pub fn return_context(&self, bytes: u64) -> io::Result<()> {
        let _locked = self.lock()?;
        self.processes.remove_context(&self.layout, bytes)
    }

    /// Notes that this process holds more or less of what it made.
    pub fn note_created(&self, bytes: u64, more: bool) -> io::Result<()> {
        self.processes.note_created(&self.layout, bytes, more)
    }
}

fn is_full(error: &io::Error) -> bool {
    let full = [libc::ENOSPC, libc::ENOMEM, libc::EFBIG, libc::EDQUOT];
    error.raw_os_error().is_some_and(|code| full.contains(&code))
}

impl Locked<'_> {
    /// Counts again when somebody was killed in the middle of a change.
    fn recover(&self) -> io::Result<()> {
        let header = self.registry.layout.header()?;
        if header.changing.load(Relaxed) == 0 {
            return Ok(());
        }
        let (mut used, mut end) = (0_u64, 0);
        for index in 0..ALLOCATION_SLOTS {
            let slot = self.registry.layout.allocation(index)?;
            if slot.id.load(Relaxed) != 0 {
                used = used.saturating_add(slot.counted());
                end = index + 1;
            }
        }
        header.used.store(used, Relaxed);
        header.allocations_end.fetch_max(to_u64(end), Relaxed);
        header.changing.store(0, Relaxed);
        Ok(())
    }

    fn fits(&self, bytes: u64) -> io::Result<bool> {
        let header = self.registry.layout.header()?;
        let contexts = self.registry.processes.context_bytes(&self.registry.layout)?;
        let used = header.used.load(Relaxed).saturating_add(contexts);
        Ok(used.checked_add(bytes).is_some_and(|sum| sum <= header.total.load(Relaxed)))
    }

    /// Notes what is held now, when it is more than ever. What the dead left is in the registry
    /// until somebody needs the room, but nobody holds it.
    fn note_peak(&self) -> io::Result<()> {
        let registry = self.registry;
        let header = registry.layout.header()?;
        if header.metered.load(Relaxed) == 0 {
            return Ok(());
        }
        let contexts = registry.processes.context_bytes(&registry.layout)?;
        let counted = header.used.load(Relaxed).saturating_add(contexts);
        if counted <= header.peak.load(Relaxed) {
            return Ok(());
        }
        let mut left = 0_u64;
        for ticket in registry.dead(&[])? {
            left = left.saturating_add(registry.layout.allocation(ticket.slot)?.counted());
        }
        header.peak.fetch_max(counted.saturating_sub(left), Relaxed);
        Ok(())
    }

    /// A free slot, when there is one and the bytes fit.
    fn room(&self, bytes: u64) -> io::Result<Option<usize>> {
        if self.fits(bytes)? { self.free_slot() } else { Ok(None) }
    }

    fn free_slot(&self) -> io::Result<Option<usize>> {
        let hint = self.registry.hint.load(Relaxed);
        for index in (hint..ALLOCATION_SLOTS).chain(0..hint) {
            if self.registry.layout.allocation(index)?.id.load(Relaxed) == 0 {
                self.registry.hint.store((index + 1) % ALLOCATION_SLOTS, Relaxed);
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Removes a dead allocation; one that is gone already is fine.
    fn free(&self, ticket: Ticket) -> io::Result<()> {
        let slot = self.registry.layout.allocation(ticket.slot)?;
        if slot.id.load(Relaxed) != ticket.id {
            return Ok(());
        }
        // The file first: a kill after this leaves a slot without a file, which is dead too.
        system::remove_in(&self.registry.folder, &file_name(ticket.id))?;
        let header = self.registry.layout.header()?;
        let bytes = slot.counted();
        header.changing.store(1, Relaxed);
        slot.id.store(0, Relaxed);
        header.used.fetch_sub(bytes.min(header.used.load(Relaxed)), Relaxed);
        header.changing.store(0, Relaxed);
        self.registry.hint.fetch_min(ticket.slot, Relaxed);
        Ok(())
    }

    /// Forgets the free slots at the end.
    fn shrink(&self) -> io::Result<()> {
        let header = self.registry.layout.header()?;
        let mut end = to_usize(header.allocations_end.load(Relaxed));
        while end > 0 && self.registry.layout.allocation(end - 1)?.id.load(Relaxed) == 0 {
            end -= 1;
        }
        header.allocations_end.store(to_u64(end), Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 2 << 20;

    fn open(path: &Path, total: u64) -> Registry {
        Registry::open(path, |_| Ok(total), [1, 2]).unwrap()
    }

    #[test]
    fn memory_is_counted_between_two_openers_and_freed_with_its_last_holder() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (open(folder.path(), 8 * PAGE), open(folder.path(), 8 * PAGE));
        let (file, ticket) = one.create(3 * PAGE).unwrap();
        assert_eq!(two.usage(&[]).unwrap(), Usage { total: 8 * PAGE, used: 3 * PAGE });
        let kept = file.try_clone().unwrap();
        assert_eq!(two.find(&kept).unwrap(), Some((ticket, 3 * PAGE)));
        drop(file);
        one.discard(ticket).unwrap();
        assert_eq!(two.usage(&[]).unwrap().used, 3 * PAGE, "a dup holds it");
        assert!(matches!(two.create(6 * PAGE), Err(CreateError::Full)));
        drop(kept);
        let (_file, second) = two.create(6 * PAGE).unwrap();
        assert_ne!(ticket.id, second.id);
        assert_eq!(one.usage(&[]).unwrap().used, 6 * PAGE);
        assert_eq!(
            std::fs::read_dir(folder.path())
                .unwrap()
                .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with("alloc"))
                .count(),
            1
        );
    }

    #[test]
    fn the_peak_counts_what_is_held_and_not_what_the_dead_left() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (open(folder.path(), 16 * PAGE), open(folder.path(), 16 * PAGE));
        let (left, _) = one.create(6 * PAGE).unwrap();
        assert_eq!(two.peak().unwrap(), 0, "nobody has asked yet");
        two.meter().unwrap();
        assert_eq!(two.peak().unwrap(), 6 * PAGE);
        // As after a kill: nobody holds it, and nobody has said so.
        drop(left);
        let (held, ticket) = one.create(5 * PAGE).unwrap();
        assert_eq!(two.peak().unwrap(), 6 * PAGE, "never 11");
        let (_more, _) = two.create(2 * PAGE).unwrap();
        assert_eq!(two.peak().unwrap(), 7 * PAGE);
        drop(held);
        one.discard(ticket).unwrap();
        assert_eq!(two.peak().unwrap(), 7 * PAGE);
        one.meter().unwrap();
        assert_eq!(two.peak().unwrap(), 2 * PAGE);
    }

    #[test]
    fn small_memory_that_the_dead_left_hides_nothing_from_the_peak() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (open(folder.path(), 16 * PAGE), open(folder.path(), 16 * PAGE));
        let (part, _) = one.create_part(4096).unwrap();
        two.meter().unwrap();
        drop(part);
        let (_held, _) = two.create(3 * PAGE).unwrap();
        assert_eq!(two.peak().unwrap(), 3 * PAGE);
    }

    #[test]
    fn memory_is_adopted_while_its_exporter_lives_and_offers_it() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (open(folder.path(), 8 * PAGE), open(folder.path(), 8 * PAGE));
        one.with_processes(|processes, layout| processes.enter(layout)).unwrap();
        let (file, ticket) = one.create(PAGE).unwrap();
        let nobody = Exporter { slot: 0, pid: std::process::id() };
        assert!(two.adopt(ticket, nobody).unwrap().is_none(), "it was not offered");
        let exporter = one.offer(ticket, 0, 0).unwrap();
        assert!(one.is_own(exporter) && !two.is_own(exporter));
        let (adopted, bytes) = two.adopt(ticket, exporter).unwrap().unwrap();
        assert_eq!(bytes, PAGE);
        let wrong = [Exporter { slot: 1, ..exporter }, Exporter { pid: 1, ..exporter }];
        for wrong in wrong {
            assert!(two.adopt(ticket, wrong).unwrap().is_none());
        }
        one.withdraw(ticket).unwrap();
        assert!(two.adopt(ticket, exporter).unwrap().is_none(), "it was withdrawn");
        one.offer(ticket, 0, 0).unwrap();
        drop(file);
        one.discard(ticket).unwrap();
        assert_eq!(two.usage(&[]).unwrap().used, PAGE, "the adopter keeps it");
        drop(one);
        assert!(two.adopt(ticket, exporter).unwrap().is_none(), "the exporter is gone");
        drop(adopted);
        assert_eq!(two.usage(&[]).unwrap().used, 0);
    }

    #[test]
    fn a_number_names_the_allocation_that_has_it_now() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (open(folder.path(), 8 * PAGE), open(folder.path(), 8 * PAGE));
        one.with_processes(|processes, layout| processes.enter(layout)).unwrap();
        let (_first, first) = one.create(PAGE).unwrap();
        let (_second, second) = one.create(2 * PAGE).unwrap();
        let exporter = one.offer(first, 5, 100).unwrap();
        assert_eq!(two.object(exporter, 5).unwrap(), Some((first, PAGE - 100)));
        assert_eq!(two.object(exporter, 6).unwrap(), None);
        one.withdraw(first).unwrap();
        assert_eq!(two.object(exporter, 5).unwrap(), None);
        one.offer(second, 5, 0).unwrap();
        assert_eq!(two.object(exporter, 5).unwrap(), Some((second, 2 * PAGE)));
        assert_eq!(two.object(exporter, 0).unwrap(), None);
    }

    #[test]
    fn the_file_of_a_pool_keeps_memory_that_nobody_holds() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (open(folder.path(), 8 * PAGE), open(folder.path(), 8 * PAGE));
        let (pool, pool_ticket) = one.create_part(4096).unwrap();
        let (step, ticket) = one.create(PAGE).unwrap();
        one.keep_in_pool(ticket, pool_ticket).unwrap();
        // As after a kill: nobody holds the step, and somebody has the file of the pool.
        drop(step);
        assert_eq!(two.usage(&[]).unwrap().used, PAGE);
        assert_eq!(two.find_part(&pool).unwrap(), Some(pool_ticket));
        assert_eq!(two.find(&pool).unwrap(), None, "it is no memory");
        for _ in 0..2 {
            assert!(two.adopt_from_pool(ticket, pool_ticket).unwrap().is_some());
        }
        assert!(two.adopt_from_pool(ticket, ticket).unwrap().is_none(), "another pool");
        drop(pool);
        assert_eq!(two.usage(&[]).unwrap().used, 0);
    }

    #[test]
    fn a_change_that_was_interrupted_is_counted_again() {
        let folder = tempfile::tempdir().unwrap();
        let registry = open(folder.path(), 8 * PAGE);
        let (_file, _) = registry.create(PAGE).unwrap();
        // As if killed after filling a slot and before making its file.
        let slot = registry.layout.allocation(5).unwrap();
        slot.bytes.store(2 * PAGE, Relaxed);
        slot.id.store(999, Relaxed);
        registry.layout.header().unwrap().changing.store(1, Relaxed);
        assert_eq!(registry.usage(&[]).unwrap().used, PAGE);
        assert_eq!(slot.id.load(Relaxed), 0);
    }

    #[test]
    fn the_size_stays_while_the_device_is_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let one = open(folder.path(), 8 * PAGE);
        let held = one.create(PAGE).unwrap();
        assert_eq!(open(folder.path(), 4 * PAGE).total().unwrap(), 8 * PAGE);
        drop(held);
        assert_eq!(open(folder.path(), 4 * PAGE).total().unwrap(), 4 * PAGE);
    }

    #[test]
    fn thousands_are_swept_quickly() {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let registry = open(folder.path(), 1 << 40);
        let held: Vec<_> = (0..2000).map(|_| registry.create(4096).unwrap()).collect();
        let start = std::time::Instant::now();
        assert_eq!(registry.usage(&[]).unwrap().used, 2000 * 4096);
        let alive = start.elapsed();
        drop(held);
        assert_eq!(registry.usage(&[]).unwrap().used, 0);
        assert!(alive.as_millis() < 500, "2000 probes took {alive:?}");
    }
}
