//! Lists of a reply, counted together.

use std::cell::Cell;

use super::read::{self, Read};
use crate::caps;

/// The least that an entry of a list takes in a message: its identity, the offset to it and the
/// one to its layout.
const ENTRY_BYTES: usize = 24;

/// Entries that the lists of one message may still have.
///
/// A list is offsets of four bytes, and many of them may lead to one entry, which may have a list
/// itself: counted for each list alone, a message of 64 KiB could say a million leases. Counted for
/// the whole message, there are no more entries than an honest writer has bytes for.
pub(super) struct Entries(Cell<usize>);

impl Entries {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Cell::new((bytes.len() / ENTRY_BYTES).min(caps::LISTING)))
    }

    /// At most so many, whatever the message's length.
    pub(super) fn at_most(count: usize) -> Self {
        Self(Cell::new(count))
    }

    fn take(&self, field: &'static str, count: usize) -> Read<()> {
        let left = self.0.get();
        read::at_most(field, count, left)?;
        self.0.set(left - count);
        Ok(())
    }
}

/// Reads a list of tables.
pub(super) fn list<'a, T, U>(
    field: &'static str,
    value: Option<planus::Vector<'a, planus::Result<T>>>,
    entries: &Entries,
    read: impl Fn(T) -> Read<U>,
) -> Read<Vec<U>>
where
    planus::Vector<'a, planus::Result<T>>: IntoIterator<Item = planus::Result<T>>,
{
    let Some(values) = value else { return Ok(Vec::new()) };
    entries.take(field, values.len())?;
    // There are bytes for so many.
    let mut list = Vec::with_capacity(values.len());
    for value in values {
        list.push(read(value?)?);
    }
    Ok(list)
}
