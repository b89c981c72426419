//! Bytes that are known without being kept: made from a seed, recognised by their checksum.

use std::hash::Hasher;

use twox_hash::XxHash3_64;

/// How much is made, copied and hashed at a time: small enough for the caches.
pub const CHUNK_BYTES: usize = 4 << 20;

/// Pseudo-random bytes after Marsaglia's xorshift, the same for the same seed.
#[derive(Clone, Debug)]
pub struct Content {
    state: u64,
}

impl Content {
    /// The bytes of a seed, from the start.
    pub fn new(seed: u64) -> Self {
        // The state must not be zero, and neighbouring seeds must not give similar bytes.
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    /// The next bytes. What is asked for in pieces of 8 bytes does not depend on the pieces.
    pub fn fill(&mut self, target: &mut [u8]) {
        for word in target.chunks_mut(8) {
            self.state ^= self.state << 13;
            self.state ^= self.state >> 7;
            self.state ^= self.state << 17;
            let length = word.len();
            word.copy_from_slice(&self.state.to_le_bytes()[..length]);
        }
    }
}

/// The checksum of so many bytes of a seed.
pub fn expected(seed: u64, bytes: u64) -> u64 {
    let mut content = Content::new(seed);
    let checksum = checksum(bytes, |_, chunk| {
        content.fill(chunk);
        Ok::<(), std::convert::Infallible>(())
    });
    match checksum {
        Ok(sum) => sum,
    }
}

/// The checksum of bytes that `read` gives, chunk by chunk in order, by their offset.
pub fn checksum<E>(
    bytes: u64,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
) -> Result<u64, E> {
    let mut hasher = XxHash3_64::with_seed(0);
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut offset = 0;
    while offset < bytes {
        let length = usize::try_from(bytes - offset).unwrap_or(usize::MAX).min(CHUNK_BYTES);
        let chunk = &mut buffer[..length];
        read(offset, chunk)?;
        hasher.write(chunk);
        offset += length as u64;
    }
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes_in_any_pieces() {
        let (mut whole, mut pieces) = ([0; 4096], [0; 4096]);
        Content::new(5).fill(&mut whole);
        let mut content = Content::new(5);
        pieces.chunks_mut(512).for_each(|piece| content.fill(piece));
        assert_eq!(whole, pieces);
        let mut other = [0; 4096];
        Content::new(6).fill(&mut other);
        assert_ne!(whole, other);
    }

    #[test]
    fn one_changed_byte_is_seen() {
        let bytes = 100_000;
        let sum = |flip: Option<u64>| {
            let mut content = Content::new(1);
            checksum(bytes, |_, chunk| {
                content.fill(chunk);
                if let Some(at) = flip {
                    chunk[usize::try_from(at).unwrap()] ^= 1;
                }
                Ok::<(), ()>(())
            })
            .unwrap()
        };
        assert_eq!(sum(None), expected(1, bytes));
        assert_ne!(sum(Some(99_999)), expected(1, bytes));
    }
}
