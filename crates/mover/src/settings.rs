//! The ring: how many threads, how many buffers, how large.

use crate::error::MoverError;

/// Bytes of one pinned buffer. Copies of 4 MiB reach nearly the bus's full speed, and the buffers
/// of all threads still stay in the processor's cache between `pread` and the copy.
pub const BLOCK_BYTES: u32 = 4 << 20;
/// Pinned buffers of each thread: one is filled while the other one is copied.
pub const DEPTH: u8 = 2;

/// A page: what a block's size must be a multiple of, so that blocks of a file start at pages; and
/// what reads past the page cache begin and end at.
pub(crate) const PAGE_BYTES: u32 = 4096;
/// What a buffer has beside its block: reads past the page cache begin and end outside of what is
/// wanted.
pub(crate) const SLACK_BYTES: u32 = 5 * PAGE_BYTES;
/// More threads than this fight over the bus and the page cache.
const THREADS: u16 = 64;
/// Larger buffers gain nothing.
const MAX_BLOCK_BYTES: u32 = 64 << 20;
/// More buffers of a thread than this never wait.
const MAX_DEPTH: u8 = 16;
/// The whole ring is pinned, so nothing else of the machine can have it.
const RING_BYTES: u64 = 2 << 30;

/// How many threads a mover has unless told: as many as the machine runs at once, 2 to 16.
#[must_use]
pub fn default_threads() -> u16 {
    let threads = std::thread::available_parallelism().map_or(8, usize::from);
    u16::try_from(threads.clamp(2, 16)).unwrap_or(8)
}

/// A ring that is not too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ring {
    pub(crate) threads: u16,
    pub(crate) block_bytes: u32,
    pub(crate) depth: u8,
}

impl Ring {
    /// What `Start` asks for; 0 is the default.
    pub(crate) fn new(threads: u16, block_bytes: u32, depth: u8) -> Result<Ring, MoverError> {
        let ring = Ring {
            threads: if threads == 0 { default_threads() } else { threads },
            block_bytes: if block_bytes == 0 { BLOCK_BYTES } else { block_bytes },
            depth: if depth == 0 { DEPTH } else { depth },
        };
        let fits = ring.threads <= THREADS
            && ring.block_bytes <= MAX_BLOCK_BYTES
            && ring.block_bytes.is_multiple_of(PAGE_BYTES)
            && ring.depth <= MAX_DEPTH
            && ring.bytes() <= RING_BYTES;
        if fits { Ok(ring) } else { Err(MoverError::Ring { threads, block_bytes, depth }) }
    }

    fn bytes(self) -> u64 {
        u64::from(self.threads) * u64::from(self.block_bytes) * u64::from(self.depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_the_default_and_too_much_is_refused() {
        let ring = Ring::new(0, 0, 0).unwrap();
        assert_eq!((ring.block_bytes, ring.depth), (BLOCK_BYTES, DEPTH));
        assert!((2..=16).contains(&ring.threads));
        assert!(Ring::new(1, 4096, 1).is_ok());
        for (threads, block_bytes, depth) in
            [(65, 0, 0), (0, 4097, 0), (0, 65 << 20, 0), (0, 0, 17), (64, 64 << 20, 1)]
        {
            let error = Ring::new(threads, block_bytes, depth).unwrap_err().to_string();
            assert!(error.contains(&block_bytes.to_string()), "{error}");
        }
    }
}
