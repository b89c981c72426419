//! The group's lock: held by an open file description, so the kernel drops it with its owner.
//!
//! A description is opened for each time the lock is taken. A descriptor kept open would be lost in
//! programs that close all of theirs, and would be shared with forked children.

use core::ffi::CStr;

use crate::book::Patience;
use crate::error::LedgerError;
use crate::layout::byte;
use crate::sys::{self, Fd};

/// The ledger file, open, with the group's lock held.
#[derive(Debug)]
pub(crate) struct Locked {
    fd: Fd,
    held: bool,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Said aloud, because a child forked by another thread meanwhile has the descriptor too.
        if self.held {
            self.fd.unlock(byte::GROUP, 1);
        }
    }
}

impl Locked {
    /// Waits as long as it takes, in turn: for groups whose members are one user's.
    pub(crate) fn wait(path: &CStr) -> Result<Self, LedgerError> {
        let fd = open(path)?;
        fd.lock_wait(byte::GROUP)?;
        Ok(Self { fd, held: true })
    }

    /// Waits only so long.
    pub(crate) fn within(path: &CStr, patience: Patience) -> Result<Self, LedgerError> {
        Self::from_fd_within(open(path)?, patience)
    }

    pub(crate) fn from_fd_within(fd: Fd, patience: Patience) -> Result<Self, LedgerError> {
        let most = u64::try_from(patience.0.as_nanos()).unwrap_or(u64::MAX);
        let end = sys::monotonic_nanos().saturating_add(most);
        let mut pause = 20_000;
        while !fd.lock_try(byte::GROUP, 1)? {
            if sys::monotonic_nanos() >= end {
                return Err(LedgerError::Busy);
            }
            sys::sleep_nanos(pause);
            pause = pause.saturating_mul(2).min(1_000_000);
        }
        Ok(Self { fd, held: true })
    }

    pub(crate) fn from_fd_waiting(fd: Fd) -> Result<Self, LedgerError> {
        fd.lock_wait(byte::GROUP)?;
        Ok(Self { fd, held: true })
    }

    /// The file without the lock: for reading, and for a twin that must be caught.
    pub(crate) fn without(path: &CStr) -> Result<Self, LedgerError> {
        Ok(Self { fd: open(path)?, held: false })
    }

    pub(crate) fn fd(&self) -> &Fd {
        &self.fd
    }
}

fn open(path: &CStr) -> Result<Fd, LedgerError> {
    sys::open(path, libc::O_RDWR, 0).map_err(|errno| match errno {
        libc::ENOENT | libc::ENOTDIR => LedgerError::NoGroup("ledger"),
        errno => LedgerError::System { call: "open", errno },
    })
}
