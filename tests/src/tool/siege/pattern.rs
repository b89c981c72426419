//! Bytes that say themselves what they are: any reader can judge them without asking the writer.
//!
//! A head with the seed, the length and the name, then blocks that are all alike but for their
//! number, so that comparing takes as long as reading, also in a debug build.

use super::rng::Rng;

const MAGIC: u64 = u64::from_le_bytes(*b"millpond");
const HEAD: usize = 32;
const BLOCK: usize = 64 << 10;
/// The least that can say what it is.
pub(crate) const LEAST: u64 = 1 << 10;

/// The bytes for a tensor of this name.
pub(crate) fn bytes(name: &str, count: u64, seed: u64) -> Vec<u8> {
    let block = block(seed);
    let mut bytes = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    let mut left = usize::try_from(count).unwrap_or(0);
    let mut number: u64 = 0;
    while left > 0 {
        let start = bytes.len();
        let part = left.min(BLOCK);
        bytes.extend_from_slice(&block[..part]);
        stamp(&mut bytes[start..], number);
        left -= part;
        number += 1;
    }
    bytes[..HEAD].copy_from_slice(&head(name, count, seed));
    bytes
}

/// The seed of these bytes, or what is wrong with them.
pub(crate) fn seed_of(name: &str, bytes: &[u8]) -> Result<u64, String> {
    let (words, _) = bytes.get(..HEAD).unwrap_or(&[]).as_chunks::<8>();
    let [_, seed, ..] = *words else { return Err(format!("'{name}' has no head")) };
    let seed = u64::from_le_bytes(seed);
    let count = u64::try_from(bytes.len()).unwrap_or(0);
    let (found, right) = (&bytes[..HEAD], head(name, count, seed));
    if found != right {
        return Err(format!("'{name}' begins with {found:02x?}, not with {right:02x?}"));
    }
    let mut block = block(seed);
    for (number, found) in (0..).zip(bytes.chunks(BLOCK)) {
        stamp(&mut block, number);
        if number == 0 {
            block[..HEAD].copy_from_slice(&right);
        }
        let right = &block[..found.len()];
        if found != right {
            let place = found.iter().zip(right).take_while(|(one, other)| one == other).count();
            let (it_is, should) = (found[place], right[place]);
            let text = format!("block {number} at {place} is {it_is:#x}, not {should:#x}");
            return Err(format!("'{name}' with {count} bytes and seed {seed:#x}: {text}"));
        }
        // The head's place is the block's own again from the second on.
        if number == 0 {
            block = self::block(seed);
        }
    }
    Ok(seed)
}

fn head(name: &str, count: u64, seed: u64) -> [u8; HEAD] {
    let name = twox_hash::XxHash3_64::oneshot(name.as_bytes());
    let mut head = [0; HEAD];
    for (place, word) in head.as_chunks_mut::<8>().0.iter_mut().zip([MAGIC, seed, count, name]) {
        *place = word.to_le_bytes();
    }
    head
}

fn block(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut block = Vec::with_capacity(BLOCK);
    while block.len() < BLOCK {
        block.extend_from_slice(&rng.next().to_le_bytes());
    }
    block
}

fn stamp(block: &mut [u8], number: u64) {
    let number = number.to_le_bytes();
    let end = block.len().min(number.len());
    block[..end].copy_from_slice(&number[..end]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_byte_is_found() {
        for count in [LEAST, 65_537, 200_000] {
            let good = bytes("a/b", count, 7);
            assert_eq!(seed_of("a/b", &good), Ok(7));
            assert!(seed_of("a/c", &good).is_err());
            assert!(seed_of("a/b", &good[..good.len() - 1]).is_err());
            for place in (0..good.len()).step_by(997).chain([good.len() - 1]) {
                let mut bad = good.clone();
                bad[place] ^= 4;
                assert!(seed_of("a/b", &bad).is_err(), "{place} of {count}");
            }
        }
        assert!(seed_of("a", &[0; 8]).is_err() && seed_of("a", &[]).is_err());
        assert!(seed_of("a", &[0; 4096]).is_err());
    }
}
