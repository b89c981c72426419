//! The page of counters that clients read instead of asking.
//!
//! One memfd, held by the keeper like the journal, so that it is the same for every daemon of a
//! pond. Clients get a description of it that cannot be written through, and its mode keeps other
//! users from opening a better one.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use millpond_wire::{caps, page};
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use uuid::Uuid;

use crate::driver::SharedFd;

/// What the values that are written differ by. Any odd number comes back to the same value only after
/// 2^64 steps; with this one a value that is read while it is written is not one of an earlier time
/// either.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The page, as the daemon has it.
#[derive(Debug)]
pub struct Page {
    file: File,
    reader: SharedFd,
    /// The last value that was written. Each begins somewhere else, so that no slot gets a value
    /// that it had, and nothing need be read before it is written: a successor that did not come to
    /// serve may have written too.
    value: Cell<u64>,
}

impl Page {
    /// A new one. Nobody has read it yet.
    ///
    /// # Errors
    /// What the system says.
    pub fn create() -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(rustix::fs::memfd_create("millpond-page", flags)?);
        file.write_all_at(&[0; page::BYTES], 0)?;
        rustix::fs::fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW)?;
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::RGRP | Mode::ROTH)?;
        Self::open(file.into())
    }

    /// The page of an earlier daemon. Whatever clients know from then, they have to ask again.
    ///
    /// # Errors
    /// What the system says; a page of another size is none.
    pub fn open(fd: OwnedFd) -> io::Result<Self> {
        let file = File::from(fd);
        if file.metadata()?.len() < page::BYTES as u64 {
            return Err(io::Error::other("it is too short for a page"));
        }
        let value = Cell::new(Uuid::new_v4().as_u64_pair().1);
        let words = (0..page::BYTES / 8).flat_map(|_| step(&value));
        file.write_all_at(&words.collect::<Vec<u8>>(), 0)?;
        let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
        let reader = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { file, reader: Arc::new(reader), value })
    }

    /// For the keeper to hold.
    ///
    /// # Errors
    /// What the system says.
    pub fn to_hold(&self) -> io::Result<SharedFd> {
        Ok(Arc::new(self.file.as_fd().try_clone_to_owned()?))
    }

    #[must_use]
    pub fn reader(&self) -> SharedFd {
        Arc::clone(&self.reader)
    }

    /// Changes a slot.
    ///
    /// # Errors
    /// What the system says; it has no reason to say anything.
    pub fn bump(&self, slot: usize) -> io::Result<()> {
        let at = (slot % caps::PAGE_SLOTS) as u64 * 8;
        self.file.write_all_at(&step(&self.value), at)
    }
}

/// A value that was never written.
fn step(value: &Cell<u64>) -> [u8; 8] {
    value.set(value.get().wrapping_add(STEP));
    value.get().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fd: &SharedFd) -> Vec<u8> {
        let mut bytes = vec![0; page::BYTES];
        File::from(fd.try_clone().unwrap()).read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    fn changed(before: &[u8], after: &[u8]) -> Vec<usize> {
        let words = before.chunks(8).zip(after.chunks(8)).enumerate();
        words.filter(|(_, (a, b))| a != b).map(|(slot, _)| slot).collect()
    }

    #[test]
    fn a_bump_changes_one_slot_and_a_new_daemon_all() {
        let page = Page::create().unwrap();
        let (reader, held) = (page.reader(), page.to_hold().unwrap());
        let before = read(&reader);
        page.bump(7).unwrap();
        page.bump(511).unwrap();
        let after = read(&reader);
        assert_eq!(changed(&before, &after), [7, 511]);
        let next = Page::open(held.try_clone().unwrap()).unwrap();
        assert_eq!(changed(&after, &read(&reader)).len(), caps::PAGE_SLOTS);
        assert_eq!(read(&reader), read(&next.reader()));
        let before = read(&reader);
        page.bump(7).unwrap();
        assert_eq!(changed(&before, &read(&reader)), [7], "also if both are there");
    }

    #[test]
    fn nobody_writes_through_what_clients_get_and_nobody_changes_its_size() {
        let page = Page::create().unwrap();
        let reader = File::from(page.reader().try_clone().unwrap());
        assert!(reader.write_all_at(&[1], 0).is_err());
        assert!(reader.set_len(0).is_err() && page.file.set_len(0).is_err());
        assert!(page.file.set_len(1 << 20).is_err());
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(reader.metadata().unwrap().permissions().mode() & 0o777, 0o444);
    }

    #[test]
    fn something_that_is_no_page_is_not_taken_for_one() {
        let short = rustix::fs::memfd_create("short", MemfdFlags::CLOEXEC).unwrap();
        assert!(Page::open(short).is_err());
    }
}
