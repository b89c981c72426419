//! A budget of memory for each input.

use std::alloc::System;
use std::sync::Once;

use cap::Cap;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// What every input may take, however short it is.
const BASE_BYTES: usize = 64 * 1024;

static HOOK: Once = Once::new();

/// Runs `work` with so many bytes of memory for each byte of input. One more ends the process,
/// which the fuzzer reports with the input.
pub fn within<T>(data: &[u8], bytes_per_byte: usize, work: impl FnOnce() -> T) -> T {
    HOOK.call_once(|| {
        // What is printed about a panic has no budget.
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            limit(usize::MAX);
            report(info);
        }));
    });
    let budget = BASE_BYTES + data.len() * bytes_per_byte;
    limit(MEMORY.allocated() + budget);
    let result = work();
    limit(usize::MAX);
    result
}

fn limit(bytes: usize) {
    assert!(MEMORY.set_limit(bytes).is_ok(), "the limit is never below what is in use");
}
