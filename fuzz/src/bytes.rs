//! Decisions out of the fuzzer's bytes: when they end, everything is zero.

/// What is left of the input.
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// Whether there is anything left to decide.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Yes or no.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// So many bytes, or what is left.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A number that is small, a power of two, next to one, or anything.
    pub fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => u64::from(self.byte()),
            1 => 1 << self.below(64),
            2 => (1u64 << self.below(64)).wrapping_sub(1),
            _ => {
                let mut number = [0; 8];
                let taken = self.take(8);
                number[..taken.len()].copy_from_slice(taken);
                u64::from_le_bytes(number)
            }
        }
    }
}
