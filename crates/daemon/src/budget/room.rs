//! What the pond may take of one card.

/// One card of the pond, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// What the pond may take in all.
    pub capacity: u64,
    pub held: u64,
    /// Slabs that the driver is making.
    pub pending: u64,
    /// The part of the held slabs that nobody uses: it can be given back.
    pub recycled: u64,
}

/// Whether a slab may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Fits,
    /// After this many bytes of recycled slabs were given back.
    AfterGivingBack(u64),
    /// Others hold the memory.
    Full,
    /// The slab is larger than all that the pond may take.
    Never,
}

impl Room {
    /// Bytes that the pond may take at once.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.capacity.saturating_sub(self.held.saturating_add(self.pending))
    }

    /// Bytes that the pond may take after giving back all that nobody uses.
    #[must_use]
    pub fn available(&self) -> u64 {
        self.free().saturating_add(self.recycled)
    }

    /// Decides about one slab.
    #[must_use]
    pub fn admit(&self, bytes: u64) -> Verdict {
        if bytes <= self.free() {
            Verdict::Fits
        } else if bytes <= self.available() {
            Verdict::AfterGivingBack(bytes - self.free())
        } else if bytes > self.capacity {
            Verdict::Never
        } else {
            Verdict::Full
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slabs_that_are_being_made_count_and_recycled_ones_are_given_back_first() {
        let room = Room { capacity: 100, held: 60, pending: 20, recycled: 30 };
        assert_eq!(room.admit(20), Verdict::Fits);
        assert_eq!(room.admit(21), Verdict::AfterGivingBack(1));
        assert_eq!(room.admit(50), Verdict::AfterGivingBack(30));
        assert_eq!(room.admit(51), Verdict::Full);
        assert_eq!(room.admit(101), Verdict::Never);
    }

    #[test]
    fn a_capacity_that_was_lowered_admits_nothing_until_enough_was_given_back() {
        let room = Room { capacity: 10, held: 60, pending: 0, recycled: 0 };
        assert_eq!((room.free(), room.admit(0), room.admit(1)), (0, Verdict::Fits, Verdict::Full));
    }

    proptest! {
        #[test]
        fn what_is_admitted_fits_under_the_capacity(
            capacity in 0..1000u64, held in 0..1000u64, pending in 0..1000u64, part in 0..1000u64,
            bytes in 1..1000u64
        ) {
            let room = Room { capacity, held, pending, recycled: part.min(held) };
            match room.admit(bytes) {
                Verdict::Fits => prop_assert!(held + pending + bytes <= capacity),
                Verdict::AfterGivingBack(back) => {
                    prop_assert!(0 < back && back <= room.recycled);
                    // Held above a lowered capacity is left as it is.
                    prop_assert!(held + pending + bytes - back <= capacity.max(held + pending));
                }
                Verdict::Full => prop_assert!(bytes > room.available() && bytes <= capacity),
                Verdict::Never => prop_assert!(bytes > capacity),
            }
        }
    }
}
