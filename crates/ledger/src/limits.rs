//! The limits file: written by the operator only, read by members with `pread`, never mapped.

use crate::layout::NO_LIMIT;

/// The longest group name, in bytes.
pub const NAME_MAX: usize = 64;

/// A group's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    pub(crate) bytes: [u8; NAME_MAX],
    pub(crate) len: usize,
}

impl Name {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}

/// A group's budget on one GPU, in units of [`crate::UNIT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The limit that was asked for, or [`NO_LIMIT`].
    pub asked: u64,
    /// The limit that members obey: never more than asked.
    pub effective: u64,
    /// What the card keeps free for this group.
    pub min: u64,
    /// The group's part when groups compete.
    pub weight: u32,
    /// What the pond holds for this group's users.
    pub pond: u64,
    /// What a context takes, in bytes; 0 when nobody has measured one.
    pub context: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { asked: NO_LIMIT, effective: NO_LIMIT, min: 0, weight: 1, pond: 0, context: 0 }
    }
}
