//! The memory that the slots are in: which segment, or the file.
//!
//! A segment is marked for removal at once: it lives exactly as long as somebody is attached (Linux
//! lets others attach by number until then), so it never leaks, and when it is gone nobody held
//! anything. Its number is in the ledger file. A file is never mapped; see [`crate::view`].

use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;

use crate::book::Patience;
use crate::error::LedgerError;
use crate::file::{Head, Memory, any_member};
use crate::layout::{LEN, MAGIC};
use crate::lock::Locked;
use crate::path::Path;
use crate::sys::{self, Fd};
use crate::view::View;

#[derive(Debug)]
pub(crate) struct Region {
    /// Where the segment is; `None` for slots in the file.
    segment: Option<NonNull<u8>>,
    nonce: u64,
}

// SAFETY: the memory is reached by atomics only, and unmapped only by the one owner's drop.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Drop for Region {
    fn drop(&mut self) {
        if let Some(base) = self.segment {
            // SAFETY: the attachment is ours, and references into it borrow from self.
            unsafe { sys::segment_detach(base) };
        }
    }
}

impl Region {
    /// Reaches the memory that the head names; `None` when its segment is gone or out of reach.
    pub(crate) fn reach(head: &Head, read_only: bool) -> Result<Option<Self>, LedgerError> {
        if head.memory == Memory::File {
            return Ok(Some(Self { segment: None, nonce: head.nonce }));
        }
        let base = match sys::segment_attach(head.segment, read_only) {
            Ok(base) => base,
            // The number is nobody's any more, or that of a stranger's segment.
            Err(libc::EINVAL | libc::EIDRM | libc::EACCES) => return Ok(None),
            Err(errno) => return Err(LedgerError::System { call: "shmat", errno }),
        };
        let region = Self { segment: Some(base), nonce: head.nonce };
        // The number may have been given to somebody else's segment: look before touching.
        if sys::segment_len(head.segment) != Some(LEN) {
            return Ok(None);
        }
        let view = View::of_segment(base);
        if view.load(0) != MAGIC || view.load(16) != head.nonce {
            return Ok(None);
        }
        // SAFETY: the mapping is ours and that long.
        unsafe { sys::keep_from_children(base, LEN)? };
        Ok(Some(region))
    }

    /// Reaches the memory, or makes a new segment when the old one ended with its last user. Only
    /// under the lock.
    pub(crate) fn reach_or_make(fd: &Fd, head: &Head) -> Result<Self, LedgerError> {
        if let Some(region) = Self::reach(head, false)? {
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
                return Self::reach(&head, false)?.ok_or(LedgerError::OutOfReach);
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
        let region = Self { segment: Some(base), nonce: head.nonce };
        // SAFETY: the mapping is ours and that long.
        unsafe { sys::keep_from_children(base, LEN)? };
        let view = View::of_segment(base);
        view.store(16, head.nonce);
        view.store(0, MAGIC);
        head.write(fd)?;
        Ok(region)
    }

    pub(crate) fn nonce(&self) -> u64 {
        self.nonce
    }

    /// Whether the slots are in a segment.
    pub(crate) fn is_segment(&self) -> bool {
        self.segment.is_some()
    }

    /// A word of the segment; `None` for slots in the file.
    #[inline]
    pub(crate) fn atomic(&self, offset: usize) -> Option<&AtomicU64> {
        Some(View::atomic(self.segment?, offset))
    }

    /// The words, through the ledger's open file where they are in that.
    pub(crate) fn view<'a>(&'a self, fd: &'a Fd, patience: Patience) -> View<'a> {
        match self.segment {
            Some(base) => View::of_segment(base),
            None => View::of_file(fd, patience),
        }
    }

    /// Works on the words without the group's lock. The error number is the caller's afterwards.
    pub(crate) fn look<T>(
        &self,
        ledger: &Path,
        patience: Patience,
        work: impl FnOnce(&View<'_>) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        if let Some(base) = self.segment {
            return work(&View::of_segment(base));
        }
        let _errno = sys::Errno::keep();
        let file = Locked::without(ledger.as_c())?;
        Head::same_life(file.fd(), self.nonce)?;
        let view = View::of_file(file.fd(), patience);
        let done = work(&view);
        view.whole()?;
        done
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
