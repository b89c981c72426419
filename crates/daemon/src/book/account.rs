//! A group's files with bounded patience: a stopped member can keep the lock for ever, and nobody
//! here waits for that.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use millpond_ledger::{Book, Budget, Flags, LedgerError, NO_LIMIT, Patience, UNIT};
use millpond_wire::{GpuUuid, GroupName};

/// Longer than any honest member holds the lock, shorter than anybody notices.
const PATIENCE: Duration = Duration::from_millis(50);

/// Locks that one look at all groups waits for in vain: one user can keep those of hundreds.
pub const WAITS: u32 = 4;

/// How many locks may still be waited for in vain.
#[derive(Debug)]
pub struct Waits(AtomicU32);

impl Default for Waits {
    fn default() -> Self {
        Self(AtomicU32::new(WAITS))
    }
}

impl Waits {
    /// All of them again.
    pub fn begin(&self) {
        self.0.store(WAITS, Ordering::Relaxed);
    }
}

/// One group's files, shared by the threads that change them.
#[derive(Debug)]
pub struct Account {
    pub name: GroupName,
    pub book: Book,
    stuck: AtomicBool,
}

impl Account {
    /// An account with these files.
    #[must_use]
    pub fn new(name: GroupName, book: Book) -> Self {
        Self { name, book, stuck: AtomicBool::new(false) }
    }

    /// Does something under the lock. Once it was not to be had, nobody waits for it again until
    /// somebody has had it.
    ///
    /// # Errors
    /// What the ledger says.
    pub fn locked<T>(
        &self,
        work: impl FnOnce(&Book, Patience) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let patience = if self.is_stuck() { Duration::ZERO } else { PATIENCE };
        let result = work(&self.book, Patience(patience));
        match &result {
            Ok(_) => self.stuck.store(false, Ordering::Relaxed),
            Err(LedgerError::Busy) => self.stuck.store(true, Ordering::Relaxed),
            Err(_) => {}
        }
        result
    }

    /// The same for who looks at all groups and can look again: a lock that is not free is waited
    /// for only as long as there are waits left, and else says nothing about who keeps it.
    ///
    /// # Errors
    /// What the ledger says.
    pub fn locked_in_turn<T>(
        &self,
        waits: &Waits,
        work: impl FnOnce(&Book, Patience) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let left = waits.0.load(Ordering::Relaxed);
        if left == 0 && !self.is_stuck() {
            return work(&self.book, Patience(Duration::ZERO));
        }
        let was_stuck = self.is_stuck();
        let result = self.locked(work);
        if !was_stuck && self.is_stuck() {
            waits.0.store(left.saturating_sub(1), Ordering::Relaxed);
        }
        result
    }

    /// Whether a member that does not answer when pages are asked of it is ended.
    #[must_use]
    pub fn ends_silent(&self) -> bool {
        self.book.flags().is_ok_and(|flags| flags.contains(Flags::ENDS_SILENT))
    }

    /// Whether somebody keeps the lock.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.stuck.load(Ordering::Relaxed)
    }

    /// The budget on a GPU; a broken file has none.
    ///
    /// # Errors
    /// What the ledger says.
    pub fn budget(&self, device: GpuUuid) -> Result<Budget, LedgerError> {
        self.book.budget(device.0)
    }
}

/// A folder as the ledger takes it.
///
/// # Errors
/// A path with a zero in it.
pub fn c_path(folder: &Path) -> Result<CString, LedgerError> {
    CString::new(folder.as_os_str().as_bytes()).map_err(|_| LedgerError::PathTooLong)
}

#[must_use]
pub fn bytes(units: u64) -> u64 {
    units.saturating_mul(UNIT)
}

/// A limit as bytes; `None` is none.
#[must_use]
pub fn limit_bytes(units: u64) -> Option<u64> {
    (units != NO_LIMIT).then(|| bytes(units))
}
