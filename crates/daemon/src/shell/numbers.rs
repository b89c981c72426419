//! Maps by numbers that the daemon itself gives out, one after the other. Nobody else chooses them, so
//! they need no hash that withstands a choice: every message costs several looks.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub type ByNumber<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

/// Neighbours lie far apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread(u64);

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(FACTOR);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::ConnId;

    #[test]
    fn numbers_in_a_row_are_all_found() {
        let map: ByNumber<ConnId, u64> = (0..10_000).map(|n| (ConnId(n), n)).collect();
        assert_eq!(map.len(), 10_000);
        assert!((0..10_000).all(|n| map.get(&ConnId(n)) == Some(&n)));
        assert_eq!(map.get(&ConnId(10_000)), None);
    }
}
