//! What a warm take and give of blocks costs: nanoseconds on this machine, without a driver.
//!
//! ```text
//! cargo run --release -p millpond-elastic --example warm
//! ```

#![allow(clippy::unwrap_used, reason = "an example that fails should say where")]

use millpond_elastic::{Cache, Geometry, Marks, PageDriver, PageError, Unlimited};
use std::io::Write;
use std::time::Instant;

/// A driver without a device.
struct NoDevice;

impl PageDriver for NoDevice {
    type Handle = ();
    type Fence = ();

    fn base(&self) -> u64 {
        0
    }

    fn create(&self, _bytes: u64) -> Result<(), PageError> {
        Ok(())
    }

    fn release(&self, (): ()) -> Result<(), PageError> {
        Ok(())
    }

    fn map(&self, _offset: u64, _handles: &[&()]) -> Result<(), PageError> {
        Ok(())
    }

    fn unmap(&self, _offset: u64, _bytes: u64) -> Result<(), PageError> {
        Ok(())
    }

    fn is_passed(&self, (): &()) -> Result<bool, PageError> {
        Ok(true)
    }

    fn settle(&self) -> Result<(), PageError> {
        Ok(())
    }
}

const ROUNDS: u32 = 1_000_000;

fn main() {
    // 64 GiB: 32 layers with keys and values, 65,536 blocks of 16 KiB in each.
    let geometry = Geometry::new(65_536, 16 << 10, 64, 2 << 20).unwrap();
    let cache = Cache::new(NoDevice, Unlimited, geometry, Marks::NONE);
    let table = cache.blocks().unwrap();
    let all = table.take(65_536).unwrap();
    let mut out = std::io::stdout().lock();
    for (what, keep) in [("an empty cache", 0), ("a half full one", 32_768), ("a full one", 65_535)]
    {
        table.give(&all[keep..], None).unwrap();
        for count in [1_usize, 16].into_iter().filter(|count| keep + count <= all.len()) {
            let mut list = Vec::with_capacity(count);
            let start = Instant::now();
            for _ in 0..ROUNDS {
                list.clear();
                table.take_into(count, &mut list).unwrap();
                table.give(&list, None).unwrap();
            }
            let each = start.elapsed().as_nanos() / u128::from(ROUNDS);
            writeln!(out, "take and give {count} of {what}: {each} ns").unwrap();
        }
        table.take_into(65_536 - keep, &mut Vec::new()).unwrap();
    }
    let stats = cache.stats();
    let parts = stats.book_bytes * 1_000_000 / stats.held_bytes;
    writeln!(
        out,
        "book-keeping: {} bytes, {parts} millionths of what it manages",
        stats.book_bytes
    )
    .unwrap();
}
