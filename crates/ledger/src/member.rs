//! A process that allocates: its slot, and what it may do with it.

use core::ffi::CStr;

use crate::error::{LedgerError, Refused};
use crate::layout::{Column, DeviceIndex, NO_LIMIT, Uuid};

/// This process's slot in its group's ledger.
///
/// It lasts until the process ends or calls `exec`; there is no detach. It must be kept in memory
/// that a forked child does not see (`MADV_WIPEONFORK`): the slot's memory is not there in the
/// child, and a child attaches anew. Every call may be made from any thread, at any time.
#[derive(Debug)]
pub struct Member {
    _private: (),
}

impl Member {
    /// Takes a slot in the group of this folder.
    pub fn attach(folder: &CStr) -> Result<Member, LedgerError> {
        let _ = folder;
        Err(LedgerError::NoGroup("ledger"))
    }

    /// The number of a GPU in this group.
    pub fn device(&self, uuid: Uuid) -> Result<DeviceIndex, LedgerError> {
        let _ = uuid;
        Err(LedgerError::TooManyDevices)
    }

    /// Promises `units` to the caller, who may then ask the driver for them. All or nothing.
    pub fn reserve(&self, device: DeviceIndex, units: u32) -> Result<(), Refused> {
        let _ = (device, units);
        Err(Refused::Limit)
    }

    /// Takes back what [`Member::reserve`] or [`Member::charge`] counted. Call it when the driver
    /// has the memory back, never before.
    pub fn release(&self, device: DeviceIndex, units: u32) {
        let _ = (device, units);
    }

    /// Counts memory that exists already. It may pass the limit: then nobody gets more until it is
    /// below again.
    pub fn charge(&self, device: DeviceIndex, units: u32) {
        let _ = (device, units);
    }

    /// The limit that holds now, in units, or [`NO_LIMIT`]; 0 when the limits file is broken.
    pub fn limit(&self, device: DeviceIndex) -> u64 {
        let _ = device;
        NO_LIMIT
    }

    /// What the group holds, in units, with the pond's part.
    pub fn group_used(&self, device: DeviceIndex) -> u64 {
        let _ = device;
        0
    }

    /// What this process holds, in units.
    pub fn own_used(&self, device: DeviceIndex) -> u64 {
        let _ = device;
        0
    }

    /// What a context takes on this GPU, if anybody has measured it.
    pub fn context_bytes(&self, device: DeviceIndex) -> Option<u64> {
        let _ = device;
        None
    }

    /// Notes what a context takes, for the processes that come later.
    pub fn note_context_bytes(&self, device: DeviceIndex, bytes: u64) {
        let _ = (device, bytes);
    }

    /// Adds to a column that is only shown.
    pub fn add_column(&self, column: Column, device: DeviceIndex, units: i64) {
        let _ = (column, device, units);
    }
}
