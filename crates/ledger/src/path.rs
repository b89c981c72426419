//! Paths of a group's files, built without allocating.

use core::ffi::CStr;

use crate::error::LedgerError;

const MOST: usize = 512;

/// A path that ends with a zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Path {
    bytes: [u8; MOST],
}

impl Path {
    pub(crate) fn join(folder: &CStr, file: &CStr) -> Result<Self, LedgerError> {
        Self::of(&[folder.to_bytes(), b"/", file.to_bytes()])
    }

    /// The parts one after the other.
    pub(crate) fn of(parts: &[&[u8]]) -> Result<Self, LedgerError> {
        let mut bytes = [0; MOST];
        let mut end = 0_usize;
        for part in parts {
            let next = end.saturating_add(part.len());
            // One byte stays free for the zero.
            if next >= MOST {
                return Err(LedgerError::PathTooLong);
            }
            let place = bytes.get_mut(end..next).ok_or(LedgerError::PathTooLong)?;
            // Byte by byte: a copy of slices has a way to panic that not every caller's inlining
            // takes out again.
            place.iter_mut().zip(*part).for_each(|(to, from)| *to = *from);
            end = next;
        }
        Ok(Self { bytes })
    }

    pub(crate) fn as_c(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }
}
