//! The operator's side of a group: daemon and command line.

use core::ffi::CStr;
use core::time::Duration;

use crate::error::{LedgerError, Refused};
use crate::layout::{DeviceReading, SlotIndex, Totals, Uuid};
use crate::limits::{Budget, Name};

/// How long to wait for a group's lock. A stopped member can hold it for ever, and the operator
/// must not wait for that: [`LedgerError::Busy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience(pub Duration);

/// What a new group is like.
#[derive(Debug, Clone, Copy)]
pub struct BookSettings<'a> {
    /// The group's name.
    pub name: &'a [u8],
    /// The user who owns the ledger, when it is not this process's: its members.
    pub owner: Option<u32>,
    /// Whether every user may be a member.
    pub everyone: bool,
}

/// Marks on a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u32);

impl Flags {
    /// NVML sees more than the members say.
    pub const LYING: Flags = Flags(1);
    /// Ends with its last process.
    pub const ANONYMOUS: Flags = Flags(2);

    /// Whether all of `other` is set.
    pub fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One process of a group, as its slot says. The member wrote it: it is a claim, not a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberReading {
    /// Its slot.
    pub slot: SlotIndex,
    /// Its process id, in its own pid namespace.
    pub pid: i32,
    /// The inode of its pid namespace; 0 when it did not know.
    pub pid_namespace: u64,
    /// Whether that is the caller's pid namespace.
    pub same_namespace: bool,
    /// When it started, in clock ticks since boot.
    pub start_ticks: u64,
    /// Its program's short name, ended by zeroes.
    pub program: [u8; 16],
    /// Whether it lives. A dead one still counts until [`Book::reap`] or the next grant.
    pub alive: bool,
}

/// A group, for whoever sets its limits. Calls that change something take the group's lock with
/// the given patience; the others never wait.
#[derive(Debug)]
pub struct Book {
    _private: (),
}

impl Book {
    /// Makes the folder's two files. What is there and readable is kept: then it is [`Book::open`].
    pub fn create(folder: &CStr, settings: BookSettings<'_>) -> Result<Book, LedgerError> {
        let _ = (folder, settings);
        Err(LedgerError::NoGroup("ledger"))
    }

    /// Opens a group that exists.
    pub fn open(folder: &CStr) -> Result<Book, LedgerError> {
        let _ = folder;
        Err(LedgerError::NoGroup("ledger"))
    }

    /// The group's name.
    pub fn name(&self) -> Result<Name, LedgerError> {
        Err(LedgerError::NoGroup("limits"))
    }

    /// The entry of one GPU, or the one for every GPU (`None`); `None` when there is none.
    pub fn entry(&self, device: Option<Uuid>) -> Result<Option<Budget>, LedgerError> {
        let _ = device;
        Err(LedgerError::NoGroup("limits"))
    }

    /// The `n`th entry, for listing: device (`None` is every GPU) and budget.
    pub fn nth_entry(&self, n: usize) -> Result<Option<(Option<Uuid>, Budget)>, LedgerError> {
        let _ = n;
        Err(LedgerError::NoGroup("limits"))
    }

    /// The budget that holds on this GPU: its own, or the one for every GPU, or none.
    pub fn budget(&self, device: Uuid) -> Result<Budget, LedgerError> {
        let _ = device;
        Err(LedgerError::NoGroup("limits"))
    }

    /// Changes (or makes) an entry, then takes back unused credit, so that a lower limit holds from
    /// the next allocation on. `change` sees the entry as it is under the lock. A new entry of one
    /// GPU begins as a copy of the one for every GPU, with no pond.
    pub fn change(
        &self,
        device: Option<Uuid>,
        patience: Patience,
        change: impl FnOnce(&mut Budget),
    ) -> Result<Budget, LedgerError> {
        let _ = (device, patience, change);
        Err(LedgerError::NoGroup("limits"))
    }

    /// Sets the limit that members obey on this GPU; see [`Book::change`].
    pub fn set_effective(
        &self,
        device: Uuid,
        units: u64,
        patience: Patience,
    ) -> Result<(), LedgerError> {
        self.change(Some(device), patience, |budget| budget.effective = units).map(|_| ())
    }

    /// Charges the group for pond memory before it is made. All or nothing.
    pub fn reserve_pond(
        &self,
        device: Uuid,
        units: u64,
        patience: Patience,
    ) -> Result<(), Refused> {
        let _ = (device, units, patience);
        Err(Refused::Limit)
    }

    /// Takes back what [`Book::reserve_pond`] charged.
    pub fn release_pond(
        &self,
        device: Uuid,
        units: u64,
        patience: Patience,
    ) -> Result<(), LedgerError> {
        self.change(Some(device), patience, |budget| {
            budget.pond = budget.pond.saturating_sub(units);
        })
        .map(|_| ())
    }

    /// Sets what the pond holds, as counted after a restart.
    pub fn set_pond(
        &self,
        device: Uuid,
        units: u64,
        patience: Patience,
    ) -> Result<(), LedgerError> {
        self.change(Some(device), patience, |budget| budget.pond = units).map(|_| ())
    }

    /// What the group has on this GPU.
    pub fn totals(&self, device: Uuid) -> Result<Totals, LedgerError> {
        let _ = device;
        Err(LedgerError::NoGroup("ledger"))
    }

    /// Calls `each` for every process that has a slot.
    pub fn members(&self, each: impl FnMut(MemberReading)) -> Result<(), LedgerError> {
        let _ = each;
        Err(LedgerError::NoGroup("ledger"))
    }

    /// What one process has on one GPU.
    pub fn reading(&self, slot: SlotIndex, device: Uuid) -> Result<DeviceReading, LedgerError> {
        let _ = (slot, device);
        Err(LedgerError::NoGroup("ledger"))
    }

    /// Adds to what a living process is charged (or takes back what was added before): what NVML
    /// sees and the member did not. Never takes back more than was added.
    pub fn fold(
        &self,
        slot: SlotIndex,
        device: Uuid,
        units: i64,
        patience: Patience,
    ) -> Result<(), LedgerError> {
        let _ = (slot, device, units, patience);
        Err(LedgerError::NoGroup("ledger"))
    }

    /// Gives back what dead processes had; says how many slots that freed.
    pub fn reap(&self, patience: Patience) -> Result<usize, LedgerError> {
        let _ = patience;
        Err(LedgerError::NoGroup("ledger"))
    }

    /// The group's marks.
    pub fn flags(&self) -> Result<Flags, LedgerError> {
        Err(LedgerError::NoGroup("limits"))
    }

    /// Changes the group's marks.
    pub fn set_flags(&self, flags: Flags, patience: Patience) -> Result<(), LedgerError> {
        let _ = (flags, patience);
        Err(LedgerError::NoGroup("limits"))
    }

    /// The users whose pond memory this group pays for; says how many were written to `into`.
    pub fn owners(&self, into: &mut [u32]) -> Result<usize, LedgerError> {
        let _ = into;
        Err(LedgerError::NoGroup("limits"))
    }

    /// Sets the users whose pond memory this group pays for, at most [`crate::OWNERS`].
    pub fn set_owners(&self, owners: &[u32], patience: Patience) -> Result<(), LedgerError> {
        let _ = (owners, patience);
        Err(LedgerError::NoGroup("limits"))
    }

    /// Counts up with every change of the limits file: cheap to watch.
    pub fn generation(&self) -> Result<u64, LedgerError> {
        Err(LedgerError::NoGroup("limits"))
    }
}
