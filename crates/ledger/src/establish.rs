//! A group's folder where there is no daemon: the first member makes it.

use core::ffi::CStr;

use crate::error::LedgerError;
use crate::layout::Uuid;

/// A limit stated in the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitOf {
    /// The GPU, or every GPU that no other entry names.
    pub device: Option<Uuid>,
    /// In units, or [`crate::NO_LIMIT`].
    pub units: u64,
}

/// What [`establish`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Established {
    /// The group is new, with these limits.
    Made,
    /// The group was there, with the same limits.
    Joined,
    /// The group was there with other limits; those hold.
    JoinedWithOtherLimits,
}

/// Makes the folder (and its parents that are missing, for this user only) and both files, unless
/// they are there. Safe against any number of processes that do the same at once. Allocates nothing.
pub fn establish(
    folder: &CStr,
    name: &[u8],
    limits: &[LimitOf],
) -> Result<Established, LedgerError> {
    let _ = (folder, name, limits);
    Err(LedgerError::NoGroup("ledger"))
}
