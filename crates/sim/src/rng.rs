//! The only source of chance: everything that a schedule does follows from its seed.

use uuid::Uuid;

/// A small generator (splitmix64), the same on every machine.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `most`, which is not zero.
    pub fn below(&mut self, most: u64) -> u64 {
        self.next() % most.max(1)
    }

    /// An index of something so long.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// Once in `most` times.
    pub fn once_in(&mut self, most: u64) -> bool {
        self.below(most) == 0
    }

    /// One of these, if there is any.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.index(from.len()))
    }

    pub fn id(&mut self) -> Uuid {
        Uuid::from_u64_pair(self.next(), self.next())
    }

    /// Another generator, so that two parts do not disturb each other.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }
}
