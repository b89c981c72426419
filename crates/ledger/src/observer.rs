//! Reads a group's ledger without a slot in it: for NVML's answers and for tools.

use core::ffi::CStr;

use crate::error::LedgerError;
use crate::layout::Uuid;
use crate::limits::Budget;

/// A reader of one group. Each call reads the files anew, so it holds nothing between calls.
#[derive(Debug)]
pub struct Observer {
    _private: (),
}

impl Observer {
    /// Opens a group for reading.
    pub fn open(folder: &CStr) -> Result<Observer, LedgerError> {
        let _ = folder;
        Err(LedgerError::NoGroup("ledger"))
    }

    /// The budget that holds on this GPU: its own, or the one for every GPU, or none.
    pub fn budget(&self, device: Uuid) -> Result<Budget, LedgerError> {
        let _ = device;
        Err(LedgerError::NoGroup("limits"))
    }

    /// What the group holds on this GPU, in units, with the pond's part.
    pub fn used(&self, device: Uuid) -> Result<u64, LedgerError> {
        let _ = device;
        Err(LedgerError::NoGroup("ledger"))
    }
}
