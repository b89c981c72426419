//! Numbers for everything that the program gets as an opaque pointer.
//!
//! They are never addresses: a stale or invented one is not found in a table and answers an error,
//! where the real driver would crash.

use std::sync::atomic::{AtomicU64, Ordering};

/// 1 and 2 name the legacy and the per-thread stream, and small numbers look like flags: start far away.
static NEXT: AtomicU64 = AtomicU64::new(0x5f00_0000_1000);

/// A number that was not given out before in this process.
pub fn next() -> u64 {
    NEXT.fetch_add(0x10, Ordering::Relaxed)
}
