//! The API of `candle-cuda-vmm` without Candle: its own test cases in other words, every public item,
//! and what the engine does where the original fails. One body for both drivers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

#[path = "../common/mod.rs"]
mod common;
mod engine;
mod items;
mod on_cards;
mod one_pool;
mod shared_pools;
mod wrong_parts;

use candle_cuda_vmm::{Device, SharedMemoryPool, VirtualMemoryPool};
use common::{again, assert_passed, on_device};

const MIB: usize = 1024 * 1024;
const GIB: usize = 1024 * MIB;
const PAGE: usize = 2 * MIB;
/// How many devices the software driver has in these tests.
const CARDS: usize = 2;

/// Runs a test whose devices on the software driver have memory of their own; the name is that of the
/// test in this executable.
fn on_cards(name: &str, test: impl FnOnce()) {
    let count = CARDS.to_string();
    if std::env::var_os("MILLPOND_DRIVER").is_none_or(|driver| driver == "soft")
        && std::env::var("MILLPOND_SOFT_DEVICES").as_ref() != Ok(&count)
    {
        let memory = [("MILLPOND_SOFT_DEVICES", count.as_str())];
        assert_passed(&again(name, &memory));
        return;
    }
    on_device(name, |_| test());
}

fn card(number: usize) -> Device {
    Device::new_cuda(number).unwrap()
}

/// A pool of so many pages.
fn pool(pages: usize) -> VirtualMemoryPool {
    VirtualMemoryPool::new(pages * PAGE, PAGE, card(0)).unwrap()
}

/// Pools under a limit, of models with so many bytes of addresses.
fn shared(limit: usize, models: &[(&str, usize)]) -> SharedMemoryPool {
    let mut shared = SharedMemoryPool::new(limit, card(0)).unwrap();
    for (name, capacity) in models {
        shared.register_model(name, *capacity).unwrap();
    }
    shared
}
