//! Which pointer stands for how much memory: a fixed hash table without locks.
//!
//! A key has two buckets of eight places; when the first is full it goes to the second, and when both
//! are, to a common overflow area. How far keys have ever gone is known, so a miss, which is what a
//! pointer of a pool is, costs one bucket's cache line until some bucket was full. The memory comes
//! from one mapping that the kernel fills page by page as it is touched.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const PLACES: usize = 8;

/// Eight keys side by side, and their values.
#[repr(C, align(64))]
pub(crate) struct Bucket {
    keys: [AtomicU64; PLACES],
    values: [AtomicU64; PLACES],
}

/// A table in memory that began as zeroes. Neither a key nor a value is ever 0, and a key that is
/// there is there once.
#[repr(C)]
pub(crate) struct Table<const BUCKETS: usize, const OVERFLOW: usize> {
    spread: AtomicUsize,
    lives: AtomicU64,
    buckets: [Bucket; BUCKETS],
    overflow: [Bucket; OVERFLOW],
}

/// The bits of a counted value that are the table's.
pub(crate) const LIFE: u64 = 0x3f << 56;

/// While a value is being written its place is taken with this key.
const TAKEN: u64 = u64::MAX;

/// `Table::spread`: some key is or was in its second bucket, or in the overflow. It never goes down,
/// and it is up before the key is there.
const IN_SECOND: usize = 1;
const IN_OVERFLOW: usize = 2;

fn mix(key: u64) -> u64 {
    let key = (key ^ (key >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (key ^ (key >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

impl<const BUCKETS: usize, const OVERFLOW: usize> Table<BUCKETS, OVERFLOW> {
    /// The bucket that a hash means.
    #[inline]
    fn bucket(&self, hash: u64) -> Option<&Bucket> {
        self.buckets.get(usize::try_from(hash % BUCKETS as u64).ok()?)
    }

    /// Where a key may be beside its first bucket.
    fn further(&self, hash: u64) -> impl Iterator<Item = &Bucket> {
        let overflow = if self.spread.load(Ordering::Acquire) < IN_OVERFLOW {
            &self.overflow[..0]
        } else {
            &self.overflow[..]
        };
        self.bucket(hash >> 32).into_iter().chain(overflow)
    }

    /// Notes a key. `false` when there is no place left.
    #[inline]
    pub(crate) fn insert(&self, key: u64, value: u64) -> bool {
        if key == 0 || key == TAKEN {
            return false;
        }
        let hash = mix(key);
        self.bucket(hash).is_some_and(|bucket| bucket.insert(key, value))
            || self.insert_further(hash, key, value)
    }

    #[cold]
    fn insert_further(&self, hash: u64, key: u64, value: u64) -> bool {
        self.spread.fetch_max(IN_SECOND, Ordering::AcqRel);
        if self.further(hash).any(|bucket| bucket.insert(key, value)) {
            return true;
        }
        self.spread.fetch_max(IN_OVERFLOW, Ordering::AcqRel);
        self.overflow.iter().any(|bucket| bucket.insert(key, value))
    }

    /// Notes a key whose value [`Table::update`] will change. The value gets a number of its life in
    /// the bits [`LIFE`]: a change that was meant for an earlier key in the same place, with the same
    /// value, does not hit it.
    pub(crate) fn insert_counted(&self, key: u64, value: u64) -> bool {
        let life = self.lives.fetch_add(1, Ordering::Relaxed) << LIFE.trailing_zeros() & LIFE;
        self.insert(key, value & !LIFE | life)
    }

    /// Whether a key is there.
    #[inline]
    pub(crate) fn has(&self, key: u64) -> bool {
        self.find(key).is_some()
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        self.find_valued(key).map(|(_, (_, value))| value)
    }

    /// Removes a key: one caller of several gets its value.
    pub(crate) fn take(&self, key: u64) -> Option<u64> {
        loop {
            let (bucket, place) = self.find(key)?;
            let (at, slot) = (bucket.keys.get(place)?, bucket.values.get(place)?);
            // The place first, then the value: read before, it could be that of an earlier life of
            // the same key.
            if at.compare_exchange(key, TAKEN, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                let value = slot.swap(0, Ordering::AcqRel);
                at.store(0, Ordering::Release);
                return (value != 0).then_some(value);
            }
        }
    }

    /// [`Table::take`] in a table whose values never change: nobody else writes to a place that is
    /// taken.
    #[inline]
    pub(crate) fn take_constant(&self, key: u64) -> Option<u64> {
        loop {
            let (bucket, place) = self.find(key)?;
            let (at, slot) = (bucket.keys.get(place)?, bucket.values.get(place)?);
            if at.compare_exchange(key, TAKEN, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                let value = slot.load(Ordering::Acquire);
                slot.store(0, Ordering::Relaxed);
                at.store(0, Ordering::Release);
                return (value != 0).then_some(value);
            }
        }
    }

    /// Writes another value for a key, in a table whose values are taken by [`Table::take_constant`];
    /// gives the value before. Meanwhile the key is not found, so nobody may take it at the same time.
    pub(crate) fn replace(&self, key: u64, change: impl Fn(u64) -> u64) -> Option<u64> {
        loop {
            let (bucket, place) = self.find(key)?;
            let (at, slot) = (bucket.keys.get(place)?, bucket.values.get(place)?);
            if at.compare_exchange(key, TAKEN, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                let value = slot.load(Ordering::Acquire);
                slot.store(change(value), Ordering::Relaxed);
                at.store(key, Ordering::Release);
                return Some(value);
            }
        }
    }

    /// Changes the value of a key; `None` from `change` removes the key. Gives the value before. The
    /// bits [`LIFE`] must stay as they are.
    pub(crate) fn update(&self, key: u64, change: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        loop {
            let (bucket, (place, value)) = self.find_valued(key)?;
            let (slot, keys) = (bucket.values.get(place)?, bucket.keys.get(place)?);
            match change(value) {
                Some(new) => {
                    let order = (Ordering::AcqRel, Ordering::Relaxed);
                    if slot.compare_exchange(value, new, order.0, order.1).is_ok() {
                        return Some(value);
                    }
                }
                None => {
                    // Zero first, so that nobody else counts on the value while the key goes.
                    if slot.compare_exchange(value, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
                    {
                        let _ = keys.compare_exchange(key, 0, Ordering::AcqRel, Ordering::Relaxed);
                        return Some(value);
                    }
                }
            }
        }
    }

    /// Removes every key whose value `gone` wants, and hands out keys and values.
    pub(crate) fn sweep_keys(&self, gone: impl Fn(u64) -> bool, mut each: impl FnMut(u64, u64)) {
        for bucket in self.buckets.iter().chain(&self.overflow) {
            for (key, value) in bucket.keys.iter().zip(&bucket.values) {
                let found = key.load(Ordering::Acquire);
                if found == 0 || found == TAKEN {
                    continue;
                }
                let order = (Ordering::AcqRel, Ordering::Relaxed);
                if !gone(value.load(Ordering::Acquire))
                    || key.compare_exchange(found, TAKEN, order.0, order.1).is_err()
                {
                    continue;
                }
                let now = value.load(Ordering::Acquire);
                let goes = now == 0 || gone(now);
                key.store(if goes { 0 } else { found }, Ordering::Release);
                if goes && now != 0 {
                    each(found, now);
                }
            }
        }
    }

    /// Where a key is.
    #[inline]
    fn find(&self, key: u64) -> Option<(&Bucket, usize)> {
        self.look(key, |bucket| bucket.place(key))
    }

    /// Where a key is that has a value, and that value. One without is on its way out by
    /// [`Table::update`], and the key may be there again beside it.
    #[inline]
    fn find_valued(&self, key: u64) -> Option<(&Bucket, (usize, u64))> {
        self.look(key, |bucket| bucket.valued(key))
    }

    #[inline]
    fn look<T>(&self, key: u64, at: impl Fn(&Bucket) -> Option<T>) -> Option<(&Bucket, T)> {
        if key == 0 || key == TAKEN {
            return None;
        }
        let hash = mix(key);
        let bucket = self.bucket(hash)?;
        if let Some(found) = at(bucket) {
            return Some((bucket, found));
        }
        if self.spread.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.look_further(hash, at)
    }

    #[cold]
    fn look_further<T>(
        &self,
        hash: u64,
        at: impl Fn(&Bucket) -> Option<T>,
    ) -> Option<(&Bucket, T)> {
        self.further(hash).find_map(|bucket| Some((bucket, at(bucket)?)))
    }
}

impl Bucket {
    #[inline]
    fn valued(&self, key: u64) -> Option<(usize, u64)> {
        self.keys.iter().zip(&self.values).enumerate().find_map(|(place, (at, slot))| {
            if at.load(Ordering::Acquire) != key {
                return None;
            }
            let value = slot.load(Ordering::Acquire);
            (value != 0).then_some((place, value))
        })
    }

    #[inline]
    fn place(&self, key: u64) -> Option<usize> {
        (0..PLACES)
            .find(|place| self.keys.get(*place).is_some_and(|at| at.load(Ordering::Acquire) == key))
    }

    #[inline]
    fn insert(&self, key: u64, value: u64) -> bool {
        for (at, slot) in self.keys.iter().zip(&self.values) {
            if at.load(Ordering::Relaxed) == 0
                && at.compare_exchange(0, TAKEN, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            {
                slot.store(value, Ordering::Release);
                at.store(key, Ordering::Release);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::boxed::Box;
    use std::vec::Vec;

    type Small = Table<4, 2>;

    fn table<const B: usize, const O: usize>() -> Box<Table<B, O>> {
        // SAFETY: all fields are atomics, for which zero is a value.
        unsafe { Box::new_zeroed().assume_init() }
    }

    #[test]
    fn what_was_noted_is_found_once() {
        let table: Box<Small> = table();
        assert!(table.insert(0x1000, 7));
        assert_eq!(table.get(0x1000), Some(7));
        assert_eq!(table.take(0x1000), Some(7));
        assert_eq!((table.take(0x1000), table.get(0x1000)), (None, None));
        assert!(!table.insert(0, 1) && !table.insert(u64::MAX, 1));
    }

    #[test]
    fn a_full_table_says_so_and_loses_nothing() {
        let table: Box<Small> = table();
        let mut noted = Vec::new();
        for key in 1..1000_u64 {
            if table.insert(key << 12, key) {
                noted.push(key);
            }
        }
        assert!(noted.len() >= 6 * PLACES - 2, "{} of {}", noted.len(), 6 * PLACES);
        for key in noted {
            assert_eq!(table.take(key << 12), Some(key));
        }
        assert!(table.insert(1 << 12, 1), "places are used again");
    }

    #[test]
    fn keys_are_found_wherever_they_had_to_go() {
        let table: Box<Small> = table();
        let noted = |keys: core::ops::Range<u64>| keys.filter(|key| table.insert(*key, key << 8));
        // Until a bucket is full, one bucket says that a key is not there.
        let first: Vec<_> = noted(1..3).collect();
        assert!(!table.has(1000) && table.spread.load(Ordering::Relaxed) == 0);
        let rest: Vec<_> = noted(3..40).collect();
        assert_eq!(table.spread.load(Ordering::Relaxed), IN_OVERFLOW);
        assert!(!table.has(1000));
        for key in first.into_iter().chain(rest) {
            assert!(table.has(key));
            assert_eq!(table.take_constant(key), Some(key << 8));
            assert!(!table.has(key) && table.take_constant(key).is_none());
        }
        table.sweep_keys(|_| true, |_, _| panic!("something is left"));
    }

    #[test]
    fn a_count_goes_down_to_nothing() {
        let table: Box<Small> = table();
        table.insert(5, 2);
        let down = |value: u64| value.checked_sub(1).filter(|left| *left > 0);
        assert_eq!(table.update(5, down), Some(2));
        assert_eq!(table.update(5, down), Some(1));
        assert_eq!(table.update(5, down), None);
        assert_eq!(table.get(5), None);
    }

    #[test]
    fn a_value_is_replaced_where_it_is() {
        let table: Box<Small> = table();
        assert!(table.insert(5, 7) && table.insert(6, 8));
        assert_eq!(table.replace(5, |value| value | 16), Some(7));
        assert_eq!((table.get(5), table.get(6)), (Some(23), Some(8)));
        assert_eq!((table.take_constant(5), table.replace(5, |value| value)), (Some(23), None));
    }

    #[test]
    fn a_key_that_comes_while_it_goes_is_found() {
        let table: Box<Small> = table();
        table.insert_counted(7, 1 << 63 | 1);
        // A thread that has removed the value, and not yet the key.
        let (bucket, place) = table.find(7).unwrap();
        bucket.values[place].store(0, Ordering::Release);
        assert!(table.get(7).is_none() && table.update(7, Some).is_none());
        table.insert_counted(7, 1 << 63 | 2);
        let counts = |value: Option<u64>| value.map(|value| value & !LIFE & !(1 << 63));
        assert_eq!(counts(table.get(7)), Some(2));
        assert_eq!(counts(table.update(7, |value| Some(value - 1))), Some(2));
        assert_eq!(counts(table.update(7, |_| None)), Some(1));
        assert_eq!(table.get(7), None);
    }

    #[test]
    fn equal_values_of_two_lives_differ() {
        let table: Box<Small> = table();
        table.insert_counted(7, 1 << 63 | 1);
        let first = table.take(7);
        table.insert_counted(7, 1 << 63 | 1);
        let second = table.get(7);
        assert!(first != second && first.map(|value| value & !LIFE) == Some(1 << 63 | 1));
    }

    #[test]
    fn a_value_is_that_of_the_life_that_was_taken() {
        // The same key comes and goes while others try to take it: each life is taken once.
        each_life_is_taken_once(|table, key| table.take(key));
        each_life_is_taken_once(|table, key| table.take_constant(key));
    }

    fn each_life_is_taken_once(take: impl Fn(&Small, u64) -> Option<u64> + Sync) {
        let table: &'static Small = Box::leak(table());
        let taken = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while taken.load(Ordering::Relaxed) < 20_000 * 20_001 / 2 {
                        if let Some(value) = take(table, 0x5000) {
                            taken.fetch_add(value, Ordering::Relaxed);
                        }
                    }
                });
            }
            for round in 1..=20_000_u64 {
                assert!(table.insert(0x5000, round));
                while table.get(0x5000).is_some() {
                    std::hint::spin_loop();
                }
            }
        });
        assert_eq!(taken.load(Ordering::Relaxed), 20_000 * 20_001 / 2);
    }

    #[test]
    fn a_sweep_takes_what_it_wants() {
        let table: Box<Small> = table();
        for key in 1..=10 {
            assert!(table.insert(key, key));
        }
        let mut sum = 0;
        table.sweep_keys(|value| value % 2 == 0, |_, value| sum += value);
        assert_eq!((sum, table.get(2), table.get(3)), (30, None, Some(3)));
    }

    #[test]
    fn threads_that_note_and_take_lose_nothing() {
        let table: &'static Table<512, 8> = Box::leak(table());
        std::thread::scope(|scope| {
            for thread in 1..=4_u64 {
                scope.spawn(move || {
                    for round in 0..20_000_u64 {
                        let key = (thread << 40) | ((round % 256 + 1) << 9);
                        assert!(table.insert(key, round + 1));
                        let taken = match round % 2 {
                            0 => table.take(key),
                            _ => table.take_constant(key),
                        };
                        assert_eq!(taken, Some(round + 1));
                    }
                });
            }
        });
        table.sweep_keys(|_| true, |_, _| panic!("something is left"));
    }
}
