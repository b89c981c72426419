//! What a cache needs of the host's memory to keep its books.

use std::collections::BTreeMap;
use std::mem::size_of;
use std::sync::{Mutex, PoisonError};

use millpond::engine::{Cache, Geometry, Marks, PageDriver, PageError, Unlimited};
use millpond_console::error::{CommandError, failed, wrong};
use millpond_cuda::Allocation;
use millpond_ledger::LEDGER_BYTES;

use super::memory::as_value;
use crate::json::{RowJson, Unit};
use crate::row::Goal;

pub const NAME: &str = "elastic/book";

/// All of a large card, in the smallest pages.
const MANAGED: u64 = 128 << 30;
const PAGE: u64 = 2 << 20;
/// Nodes of the book of mappings may be half empty.
const HALF_EMPTY: u64 = 2;

/// Pages without memory: handles of the size of real ones, and a book of mappings as real ones have.
#[derive(Default)]
struct Paper {
    spans: Mutex<Spans>,
}

type Spans = BTreeMap<u64, (u64, bool)>;

impl Paper {
    fn spans(&self) -> std::sync::MutexGuard<'_, Spans> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageDriver for Paper {
    type Handle = [u8; size_of::<Allocation>()];
    type Fence = ();

    fn base(&self) -> u64 {
        0
    }

    fn create(&self, _bytes: u64) -> Result<Self::Handle, PageError> {
        Ok([0; size_of::<Allocation>()])
    }

    fn release(&self, _handle: Self::Handle) -> Result<(), PageError> {
        Ok(())
    }

    fn map(&self, offset: u64, handles: &[&Self::Handle]) -> Result<(), PageError> {
        let offsets = (offset..).step_by(usize::try_from(PAGE).unwrap_or(usize::MAX));
        self.spans().extend(offsets.zip(handles).map(|(at, _)| (at, (PAGE, false))));
        Ok(())
    }

    fn unmap(&self, offset: u64, bytes: u64) -> Result<(), PageError> {
        self.spans().retain(|at, _| !(offset..offset + bytes).contains(at));
        Ok(())
    }

    fn is_passed(&self, _fence: &()) -> Result<bool, PageError> {
        Ok(true)
    }

    fn settle(&self) -> Result<(), PageError> {
        Ok(())
    }
}

/// Everything is committed in handles of one page, which is the most that there is to write down.
pub fn row() -> Result<RowJson, CommandError> {
    let bytes = book_bytes(MANAGED)?;
    let goal = Goal { ratio: Some(0.001), ..Goal::default() };
    Ok(RowJson::value(NAME, "books of 128 GiB in pages of 2 MiB", Unit::Bytes, as_value(bytes))
        .beside_value("the memory that they are about", as_value(MANAGED))
        .goal(goal, false))
}

fn book_bytes(managed: u64) -> Result<u64, CommandError> {
    let trouble = |error: &dyn std::fmt::Display| failed("a cache without memory", error);
    let geometry = Geometry::of_bytes(managed, 1, PAGE)
        .map_err(|error| trouble(&error))?
        .with_largest_handle(PAGE);
    let blocks = geometry.blocks();
    let cache = Cache::new(Paper::default(), Unlimited, geometry, Marks::NONE);
    cache.commit(blocks).map_err(|error| trouble(&error))?;
    let spans = cache.driver().spans().len() as u64;
    if spans != managed / PAGE {
        return Err(wrong("a cache without memory has mapped something else"));
    }
    let entry = (size_of::<u64>() + size_of::<(u64, bool)>()) as u64;
    Ok(cache.stats().book_bytes + spans * entry * HALF_EMPTY + LEDGER_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn books_take_less_than_a_thousandth_of_what_they_are_about() {
        let bytes = book_bytes(MANAGED).unwrap();
        assert!(bytes > MANAGED / PAGE * 8, "every page is written down");
        let row = row().unwrap();
        assert_eq!(row.met, Some(true), "{row:?}");
        assert!(row.ratio.unwrap() > 0.0, "small ratios are not rounded away");
    }
}
