//! How long a reserve and its release take in the ledger.

use std::ffi::CString;
use std::time::Instant;

use millpond_ledger::Member;

use super::{Trouble, print, wrong};

const PAIRS: u32 = 200_000;

/// One line of the input starts it, so that several processes begin together; the answer is the
/// median of batches, in nanoseconds for a pair.
pub(super) fn run(folder: &str) -> Result<(), Trouble> {
    let path = CString::new(folder).map_err(|error| wrong(error.to_string()))?;
    let member = Member::attach(&path).map_err(|error| wrong(error.to_string()))?;
    let device = member.device([7; 16]).map_err(|error| wrong(error.to_string()))?;
    print("ready");
    let _ = super::lines().next();
    let mut batches: Vec<u128> = Vec::new();
    for _ in 0..25 {
        let begun = Instant::now();
        for _ in 0..PAIRS / 25 {
            if member.reserve(device, 512).is_err() {
                return Err(wrong("refused"));
            }
            member.release(device, 512);
        }
        batches.push(begun.elapsed().as_nanos() * 10 / u128::from(PAIRS / 25));
    }
    batches.sort_unstable();
    let tenths = batches[batches.len() / 2];
    print(&format!("{}.{}", tenths / 10, tenths % 10));
    Ok(())
}

/// A group with a limit, for the processes that come.
pub(super) fn make(folder: &str, bytes: &str) -> Result<(), Trouble> {
    use millpond_ledger::{Book, BookSettings, Memory, Patience, UNIT};
    let path = CString::new(folder).map_err(|error| wrong(error.to_string()))?;
    let units = bytes.parse::<u64>().map_err(|error| wrong(error.to_string()))? / UNIT;
    let memory = Memory::Segment;
    let settings = BookSettings { name: b"bench", owner: None, everyone: false, memory };
    let book = Book::create(&path, settings).map_err(|error| wrong(error.to_string()))?;
    let patience = Patience(std::time::Duration::from_secs(10));
    let change = |budget: &mut millpond_ledger::Budget| {
        (budget.asked, budget.effective) = (units, units);
    };
    book.change(None, patience, change).map_err(|error| wrong(error.to_string()))?;
    Ok(())
}
