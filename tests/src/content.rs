//! Bytes that differ everywhere, and what they hash to.

/// So many bytes from a seed.
#[must_use]
pub fn bytes(count: u64, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut bytes = vec![0; usize::try_from(count).unwrap()];
    // Words of a fixed length: gigabytes go through here, also without much optimisation.
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for word in words {
        *word = next();
    }
    if !rest.is_empty() {
        rest.copy_from_slice(&next()[..rest.len()]);
    }
    bytes
}

/// Zeros behind what is there: a vector that grows by `resize` is filled byte by byte without optimisation.
pub fn pad(file: &mut Vec<u8>, count: usize) {
    file.extend_from_slice(&vec![0; count]);
}

/// XXH3 with 128 bits, as text.
#[must_use]
pub fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", twox_hash::XxHash3_128::oneshot(bytes))
}

/// The hash of so many bytes from a seed.
#[must_use]
pub fn hash_of(count: u64, seed: u64) -> String {
    hash(&bytes(count, seed))
}

/// What the touch kernel computes.
#[must_use]
pub fn sum_of_words(bytes: &[u8]) -> u64 {
    let words = bytes.as_chunks::<8>().0.iter();
    words.fold(0, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_lengths_make_a_difference() {
        assert_eq!(bytes(13, 1).len(), 13);
        assert_ne!(hash_of(4096, 1), hash_of(4096, 2));
        assert_ne!(hash_of(4096, 1), hash_of(4095, 1));
        assert_eq!(hash_of(4096, 1).len(), 32);
        assert_eq!(sum_of_words(&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9]), 3);
    }
}
