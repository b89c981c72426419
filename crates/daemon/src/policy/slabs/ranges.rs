//! Ranges inside one slab: first fit, joined again when freed.

use std::collections::BTreeMap;

/// Where tensors begin: what CUDA gives for an allocation of its own.
pub const ALIGNMENT: u64 = 256;

/// The free and used parts of a slab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    /// Free ranges by start; neighbours are always joined.
    free: BTreeMap<u64, u64>,
    /// Everything from here on has never been handed out, so the driver's zeroes are still there.
    fresh_from: u64,
    bytes: u64,
}

impl Ranges {
    /// A slab of which nothing is used.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self { free: BTreeMap::from([(0, bytes)]), fresh_from: 0, bytes }
    }

    /// Takes a range; with `fresh`, one that still holds the driver's zeroes.
    pub fn take(&mut self, bytes: u64, fresh: bool) -> Option<u64> {
        let bytes = aligned(bytes)?;
        let lowest = if fresh { self.fresh_from } else { 0 };
        let (start, length, at) = self.free.iter().find_map(|(start, length)| {
            let at = (*start).max(lowest);
            (at.checked_add(bytes)? <= start + length).then_some((*start, *length, at))
        })?;
        self.split(start, length, at, bytes);
        Some(at)
    }

    /// Takes exactly this range, as recorded in a journal; false if any of it is not free.
    pub fn take_at(&mut self, at: u64, bytes: u64) -> bool {
        let Some(bytes) = aligned(bytes) else { return false };
        let Some((start, length)) = self.free.range(..=at).next_back().map(|(s, l)| (*s, *l))
        else {
            return false;
        };
        let fits = at.checked_add(bytes).is_some_and(|end| end <= start + length);
        if fits {
            self.split(start, length, at, bytes);
        }
        fits
    }

    fn split(&mut self, start: u64, length: u64, at: u64, bytes: u64) {
        self.free.remove(&start);
        if at > start {
            self.free.insert(start, at - start);
        }
        let end = at + bytes;
        if start + length > end {
            self.free.insert(end, start + length - end);
        }
        self.fresh_from = self.fresh_from.max(end);
    }

    /// Gives a range back.
    pub fn give(&mut self, at: u64, bytes: u64) {
        let Some(mut length) = aligned(bytes) else { return };
        let mut start = at;
        if let Some((before, before_length)) = self.free.range(..at).next_back()
            && before + before_length == at
        {
            start = *before;
            length += before_length;
        }
        if let Some(after_length) = self.free.remove(&(start + length)) {
            length += after_length;
        }
        self.free.insert(start, length);
    }

    /// What was there before a restart is not known: nothing counts as fresh any more.
    pub fn forget_freshness(&mut self) {
        self.fresh_from = self.bytes;
    }

    /// Whether nothing is used.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.free.get(&0) == Some(&self.bytes)
    }
}

/// The bytes that a tensor occupies: never zero, and a multiple of the alignment.
fn aligned(bytes: u64) -> Option<u64> {
    bytes.max(1).checked_next_multiple_of(ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fresh_ranges_are_never_reused_ones() {
        let mut ranges = Ranges::new(4096);
        let first = ranges.take(1000, false).unwrap();
        ranges.give(first, 1000);
        assert!(ranges.is_empty());
        assert_eq!(ranges.take(1000, true), Some(1024));
        assert_eq!(ranges.take(1000, false), Some(0));
        assert_eq!(ranges.take(3000, true), None);
        ranges.forget_freshness();
        assert_eq!(ranges.take(1, true), None);
    }

    proptest! {
        #[test]
        fn ranges_never_overlap_and_all_come_back(steps in prop::collection::vec((any::<bool>(), 1u64..5000, any::<prop::sample::Index>()), 1..200)) {
            let mut ranges = Ranges::new(64 * 1024);
            let mut used: Vec<(u64, u64)> = Vec::new();
            for (take, bytes, which) in steps {
                if take {
                    if let Some(at) = ranges.take(bytes, false) {
                        let end = at + aligned(bytes).unwrap();
                        prop_assert!(end <= 64 * 1024);
                        prop_assert!(used.iter().all(|(start, length)| end <= *start || at >= start + aligned(*length).unwrap()));
                        used.push((at, bytes));
                    }
                } else if !used.is_empty() {
                    let (at, bytes) = used.swap_remove(which.index(used.len()));
                    ranges.give(at, bytes);
                }
                // A journal that lists the used ranges rebuilds the same free ones.
                let mut again = Ranges::new(64 * 1024);
                for (at, bytes) in &used {
                    prop_assert!(again.take_at(*at, *bytes));
                }
                prop_assert_eq!(&again.free, &ranges.free);
            }
            for (at, bytes) in used {
                ranges.give(at, bytes);
            }
            prop_assert!(ranges.is_empty());
        }
    }
}
