//! Bugs on purpose: a fuzzer that does not find these finds nothing.

use crate::memory;

/// `MILLPOND_FUZZ_PLANTED` says which bug: `panic` on a number, or `memory` out of a length field.
pub fn check(data: &[u8]) {
    memory::within(data, 64, || match std::env::var("MILLPOND_FUZZ_PLANTED").as_deref() {
        Ok("panic") => {
            let word = data.first_chunk().copied().map(u32::from_be_bytes);
            assert!(word != Some(millpond_wire::message::MAGIC), "planted: a panic");
        }
        Ok("memory") => {
            // A count that is believed, as decoders do that reserve before they read.
            let Some(count) = data.first_chunk::<4>() else { return };
            let count = usize::try_from(u32::from_le_bytes(*count)).unwrap_or(0);
            let list: Vec<u64> = Vec::with_capacity(count.min(1 << 24));
            std::hint::black_box(&list);
        }
        _ => {}
    });
}
