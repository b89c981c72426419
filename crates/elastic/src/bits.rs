//! Sets of small numbers as bits, with a second level that skips what is empty.

use crate::index;
use std::ops::Range;

const BITS: u64 = u64::BITS as u64;

/// A set of numbers below a fixed bound. Finding the next member looks at one word for 4,096
/// numbers that are not in it.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    words: Vec<u64>,
    /// One bit for each word that is not zero.
    summary: Vec<u64>,
    bound: u64,
    count: u64,
}

impl Bits {
    /// No member of the numbers below a bound.
    pub(crate) fn empty(bound: u64) -> Self {
        let words = bound.div_ceil(BITS);
        let (words, summary) = (vec![0; index(words)], vec![0; index(words.div_ceil(BITS))]);
        Self { words, summary, bound, count: 0 }
    }

    /// All numbers below a bound.
    pub(crate) fn full(bound: u64) -> Self {
        let mut bits = Self::empty(bound);
        bits.insert_range(0..bound);
        bits
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        number < self.bound && self.words[index(number / BITS)] >> (number % BITS) & 1 == 1
    }

    pub(crate) fn insert(&mut self, number: u64) {
        self.merge(number / BITS, 1 << (number % BITS));
    }

    pub(crate) fn remove(&mut self, number: u64) {
        self.cut(number / BITS, 1 << (number % BITS));
    }

    pub(crate) fn set(&mut self, number: u64, is_in: bool) {
        if is_in { self.insert(number) } else { self.remove(number) }
    }

    pub(crate) fn insert_range(&mut self, range: Range<u64>) {
        words(range).for_each(|(word, mask)| self.merge(word, mask));
    }

    pub(crate) fn remove_range(&mut self, range: Range<u64>) {
        words(range).for_each(|(word, mask)| self.cut(word, mask));
    }

    /// The smallest member that is not below `from`.
    pub(crate) fn next(&self, from: u64) -> Option<u64> {
        if from >= self.bound {
            return None;
        }
        let word = from / BITS;
        let rest = self.words[index(word)] & (u64::MAX << (from % BITS));
        if rest != 0 {
            return Some(word * BITS + u64::from(rest.trailing_zeros()));
        }
        let mut group = (word + 1) / BITS;
        let mut mask = u64::MAX << ((word + 1) % BITS);
        while let Some(summary) = self.summary.get(index(group)) {
            if summary & mask != 0 {
                let word = group * BITS + u64::from((summary & mask).trailing_zeros());
                let first = self.words[index(word)].trailing_zeros();
                return Some(word * BITS + u64::from(first));
            }
            (group, mask) = (group + 1, u64::MAX);
        }
        None
    }

    /// The smallest member in a range.
    pub(crate) fn next_in(&self, range: Range<u64>) -> Option<u64> {
        self.next(range.start).filter(|number| *number < range.end)
    }

    /// The smallest number in a range that is not a member.
    pub(crate) fn next_absent(&self, range: Range<u64>) -> Option<u64> {
        words(range).find_map(|(word, mask)| {
            let absent = !self.words[index(word)] & mask;
            (absent != 0).then(|| word * BITS + u64::from(absent.trailing_zeros()))
        })
    }

    /// The largest member.
    pub(crate) fn last(&self) -> Option<u64> {
        let group = self.summary.iter().rposition(|summary| *summary != 0)?;
        let word = group as u64 * BITS + u64::from(self.summary[group].ilog2());
        Some(word * BITS + u64::from(self.words[index(word)].ilog2()))
    }

    /// The size of the words on the heap.
    pub(crate) fn heap_bytes(&self) -> u64 {
        ((self.words.len() + self.summary.len()) * size_of::<u64>()) as u64
    }

    fn merge(&mut self, word: u64, mask: u64) {
        let place = &mut self.words[index(word)];
        self.count += u64::from((mask & !*place).count_ones());
        *place |= mask;
        self.summary[index(word / BITS)] |= 1 << (word % BITS);
    }

    fn cut(&mut self, word: u64, mask: u64) {
        let place = &mut self.words[index(word)];
        self.count -= u64::from((mask & *place).count_ones());
        *place &= !mask;
        if *place == 0 {
            self.summary[index(word / BITS)] &= !(1 << (word % BITS));
        }
    }
}

/// The words that a range touches, with the bits of it in each.
fn words(range: Range<u64>) -> impl Iterator<Item = (u64, u64)> {
    let last = range.end.div_ceil(BITS).max(range.start / BITS);
    let first = if range.is_empty() { last } else { range.start / BITS };
    (first..last).map(move |word| {
        let low = range.start.saturating_sub(word * BITS);
        let high = (range.end - word * BITS).min(BITS);
        (word, (u64::MAX << low) & (u64::MAX >> (BITS - high)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn bits_are_a_set(
            bound in 1_u64..20_000,
            steps in prop::collection::vec((any::<bool>(), any::<u64>(), 0_u64..300), 0..60),
        ) {
            let (mut bits, mut set) = (Bits::empty(bound), BTreeSet::new());
            for (insert, start, len) in steps {
                let start = start % bound;
                let range = start..(start + len).min(bound);
                if insert {
                    bits.insert_range(range.clone());
                    set.extend(range.clone());
                } else {
                    bits.remove_range(range.clone());
                    set.retain(|number| !range.contains(number));
                }
                prop_assert_eq!(bits.count(), set.len() as u64);
                prop_assert_eq!(bits.next(start), set.range(start..).next().copied());
                prop_assert_eq!(bits.last(), set.last().copied());
                let absent = range.clone().find(|number| !set.contains(number));
                prop_assert_eq!(bits.next_absent(range.clone()), absent);
                prop_assert_eq!(bits.next_in(range.clone()), set.range(range).next().copied());
                prop_assert_eq!(bits.contains(start), set.contains(&start));
            }
        }
    }

    #[test]
    fn a_full_set_has_every_number_and_no_other() {
        for bound in [1, 63, 64, 65, 4096, 4097] {
            let bits = Bits::full(bound);
            assert_eq!((bits.count(), bits.last()), (bound, Some(bound - 1)));
            assert!(!bits.contains(bound) && bits.next(bound).is_none());
        }
    }
}
