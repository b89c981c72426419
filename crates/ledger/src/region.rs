//! The memory that the slots are in, as atomics at checked offsets.
//!
//! A file that its user can truncate must not be mapped into strangers' programs: the next touch is
//! a SIGBUS, and a library that may not install signal handlers cannot stop that. A memfd can be
//! sealed, but a stranger cannot open it by a path. So the slots are in a **System V segment**,
//! which nobody can truncate. It is marked for removal at once: it lives exactly as long as
//! somebody is attached (Linux lets others attach by number until then), so it never leaks, and
//! when it is gone nobody held anything. Its number is in the ledger file.
//!
//! A segment cannot be seen from another IPC namespace, so a group whose members are in several
//! containers has its slots in the file itself; see [`Memory::File`].

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::error::LedgerError;
use crate::file::{Head, Memory, any_member};
use crate::layout::{HEAD, LEN, LINES, MAGIC, Uuid};
use crate::sys::{self, Fd};

#[derive(Debug)]
pub(crate) struct Region {
    base: NonNull<u8>,
    memory: Memory,
    nonce: u64,
}

// SAFETY: the memory is reached by atomics only, and unmapped only by the one owner's drop.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and references into it borrow from self.
        unsafe {
            match self.memory {
                Memory::Segment => sys::segment_detach(self.base),
                Memory::File => sys::unmap(self.base, LEN),
            }
        }
    }
}

impl Region {
    /// Reaches the memory that the head names; `None` when its segment is gone or out of reach.
    pub(crate) fn reach(
        fd: &Fd,
        head: &Head,
        read_only: bool,
    ) -> Result<Option<Self>, LedgerError> {
        let base = match head.memory {
            Memory::File => {
                let write = if read_only { 0 } else { libc::PROT_WRITE };
                fd.map(LEN, libc::PROT_READ | write)?
            }
            Memory::Segment => match sys::segment_attach(head.segment, read_only) {
                Ok(base) => base,
                // The number is nobody's any more, or that of a stranger's segment.
                Err(libc::EINVAL | libc::EIDRM | libc::EACCES) => return Ok(None),
                Err(errno) => return Err(LedgerError::System { call: "shmat", errno }),
            },
        };
        let region = Self { base, memory: head.memory, nonce: head.nonce };
        if head.memory == Memory::Segment {
            // The number may have been given to somebody else's segment: look before touching.
            let ours = sys::segment_len(head.segment) == Some(LEN)
                && region.load(0) == MAGIC
                && region.load(16) == head.nonce;
            if !ours {
                return Ok(None);
            }
        }
        // SAFETY: the mapping is ours and that long.
        unsafe { sys::keep_from_children(base, LEN)? };
        Ok(Some(region))
    }

    /// Reaches the memory, or makes a new segment when the old one ended with its last user. Only
    /// under the lock.
    pub(crate) fn reach_or_make(fd: &Fd, head: &Head) -> Result<Self, LedgerError> {
        if let Some(region) = Self::reach(fd, head, false)? {
            return Ok(region);
        }
        if any_member(fd)? {
            return Err(LedgerError::OutOfReach);
        }
        let mode = if head.everyone { 0o666 } else { 0o600 };
        let id = match new_segment(mode) {
            Ok(id) => id,
            // Not built into this kernel, forbidden here, or all in use.
            Err(libc::ENOSYS | libc::EPERM | libc::EACCES | libc::ENOSPC) => {
                let head = head.move_to_file(fd)?;
                return Self::reach(fd, &head, false)?.ok_or(LedgerError::OutOfReach);
            }
            Err(errno) => return Err(LedgerError::System { call: "shmget", errno }),
        };
        let base = sys::segment_attach(id, false);
        if let Some(owner) = head.owner {
            sys::segment_set_owner(id, owner, 0o600);
        }
        sys::segment_end_with_users(id);
        let base = base.map_err(|errno| LedgerError::System { call: "shmat", errno })?;
        let head = Head { segment: id, nonce: sys::random(), ..*head };
        let region = Self { base, memory: Memory::Segment, nonce: head.nonce };
        // SAFETY: the mapping is ours and that long.
        unsafe { sys::keep_from_children(base, LEN)? };
        region.store(16, head.nonce);
        region.store(0, MAGIC);
        head.write(fd)?;
        Ok(region)
    }

    /// A private copy of the head and of one device's lines in the file: nothing that happens to
    /// the file can hurt its reader. `None` when no member uses the device.
    pub(crate) fn copy(fd: &Fd, head: &Head, device: &Uuid) -> Result<Option<Self>, LedgerError> {
        let base = sys::map_private(LEN)?;
        let region = Self { base, memory: Memory::File, nonce: head.nonce };
        // SAFETY: the mapping is ours, that long, and nobody else knows it yet.
        let bytes = unsafe { core::slice::from_raw_parts_mut(base.as_ptr(), LEN) };
        fd.read_at(bytes.get_mut(..HEAD).unwrap_or_default(), 0)?;
        let Some(device) = region.find_device(device) else { return Ok(None) };
        let begin = HEAD.saturating_add(device.get().saturating_mul(LINES));
        let lines = bytes.get_mut(begin..begin.saturating_add(LINES)).unwrap_or_default();
        fd.read_at(lines, begin as u64)?;
        Ok(Some(region))
    }

    pub(crate) fn nonce(&self) -> u64 {
        self.nonce
    }

    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(crate) fn memory(&self) -> Memory {
        self.memory
    }

    /// The word at an offset. Offsets come from our own constants; one that does not fit gets a
    /// word that is nobody's.
    #[inline]
    pub(crate) fn word(&self, offset: usize) -> &AtomicU64 {
        static NOBODYS: AtomicU64 = AtomicU64::new(0);
        if offset > LEN - 8 || !offset.is_multiple_of(8) {
            return &NOBODYS;
        }
        // SAFETY: inside the mapping, aligned (its base is page-aligned), and every process reaches
        // this memory by atomics of this size.
        unsafe { self.base.add(offset).cast::<AtomicU64>().as_ref() }
    }

    pub(crate) fn load(&self, offset: usize) -> u64 {
        self.word(offset).load(Ordering::Acquire)
    }

    pub(crate) fn store(&self, offset: usize, value: u64) {
        self.word(offset).store(value, Ordering::Release);
    }
}

/// Keys of new segments: from the making to the mark for removal, which takes the key away.
const KEY: i32 = 0x4d50_4c00;
const KEYS: i32 = 16;

/// Makes a segment. The next call is to mark it for removal; who is killed in between leaves one
/// that has its key still, and the next one removes it.
fn new_segment(mode: i32) -> Result<i32, i32> {
    let keys = KEY..KEY.saturating_add(KEYS);
    for left in keys.clone().filter_map(|key| sys::segment_left(key, LEN)) {
        sys::segment_end_with_users(left);
    }
    for key in keys {
        match sys::segment_new(key, LEN, mode) {
            // Somebody else is between the two calls.
            Err(libc::EEXIST | libc::EACCES) => {}
            done => return done,
        }
    }
    sys::segment_new(libc::IPC_PRIVATE, LEN, mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exists(id: i32) -> bool {
        sys::segment_len(id).is_some()
    }

    #[test]
    fn a_segment_that_a_killed_process_left_is_removed_by_the_next() {
        // Its creator is a child that makes it and is gone; a process of other tests may have a key.
        let mut left = [0_i32; 2];
        // SAFETY: two places for descriptors.
        assert_eq!(unsafe { libc::pipe(left.as_mut_ptr()) }, 0);
        // SAFETY: the child makes system calls only.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let id = (KEY..KEY + KEYS).find_map(|key| sys::segment_new(key, LEN, 0o600).ok());
            let bytes = id.unwrap_or(-1).to_ne_bytes();
            // SAFETY: the buffer is ours.
            unsafe {
                libc::write(left[1], bytes.as_ptr().cast(), 4);
                libc::_exit(0);
            }
        }
        let mut bytes = [0_u8; 4];
        // SAFETY: the buffer is ours, and so is the child.
        unsafe {
            assert_eq!(libc::read(left[0], bytes.as_mut_ptr().cast(), 4), 4);
            assert_eq!(libc::waitpid(child, core::ptr::null_mut(), 0), child);
            libc::close(left[0]);
            libc::close(left[1]);
        }
        let left = i32::from_ne_bytes(bytes);
        assert!(left >= 0);
        let new = new_segment(0o600).unwrap();
        assert!(!exists(left) && exists(new) && new != left);
        // One whose creator lives may be about to be used.
        let next = new_segment(0o600).unwrap();
        assert!(exists(new) && exists(next));
        sys::segment_end_with_users(new);
        sys::segment_end_with_users(next);
        assert!(!exists(new) && !exists(next));
    }
}
