//! Which parts of pools tensors stand on.
//!
//! A tensor is known by its first address, because that is all that a call to free it tells. Tensors
//! that begin at the same address share a **place**. A place counts its tensors and is gone with the
//! last of them. Until then it is as long as the longest of them whose mark still lives.
//!
//! A mark is something that a tensor alone holds. It is dropped just after the call to free, so it
//! cannot take the place of that call, but it tells which of several tensors at one place is gone.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

/// Tensors by their first addresses. `K` is what keeps the memory of a place; `M` is the mark.
#[derive(Debug)]
pub(crate) struct InUse<K, M> {
    places: Mutex<BTreeMap<u64, Place<K, M>>>,
    /// How many places there are, for those who free something else: they need no lock.
    count: AtomicUsize,
}

#[derive(Debug)]
struct Place<K, M> {
    tensors: usize,
    parts: Vec<Part<M>>,
    keep: K,
}

#[derive(Debug)]
struct Part<M> {
    bytes: u64,
    /// `None` lives as long as the place.
    mark: Option<Weak<M>>,
}

impl<M> Part<M> {
    fn lives(&self) -> bool {
        self.mark.as_ref().is_none_or(|mark| mark.strong_count() > 0)
    }
}

impl<K, M> InUse<K, M> {
    pub(crate) const fn new() -> Self {
        Self { places: Mutex::new(BTreeMap::new()), count: AtomicUsize::new(0) }
    }

    /// A tensor begins at this address.
    pub(crate) fn enter(&self, address: u64, bytes: u64, mark: Option<Weak<M>>, keep: K) {
        let mut places = self.lock();
        let place =
            places.entry(address).or_insert_with(|| Place { tensors: 0, parts: Vec::new(), keep });
        place.tensors += 1;
        place.parts.retain(Part::lives);
        place.parts.push(Part { bytes, mark });
        self.count.store(places.len(), Ordering::Release);
    }

    /// A tensor that begins at this address is gone: `false` where there is none. What the last one
    /// of a place kept is dropped without the lock.
    pub(crate) fn leave(&self, address: u64) -> bool {
        if self.count.load(Ordering::Acquire) == 0 {
            return false;
        }
        let mut places = self.lock();
        let Some(place) = places.get_mut(&address) else {
            return false;
        };
        place.tensors -= 1;
        if place.tensors == 0 {
            let gone = places.remove(&address).map(|place| place.keep);
            self.count.store(places.len(), Ordering::Release);
            drop(places);
            drop(gone);
        }
        true
    }

    /// The lowest tensor with an address in this range.
    pub(crate) fn first_in(&self, addresses: &Range<u64>) -> Option<Range<u64>> {
        let places = self.lock();
        // Places are as long as anything may be, so all that begin before the end are looked at.
        places.range(..addresses.end).find_map(|(&start, place)| {
            let bytes = place.parts.iter().filter(|part| part.lives()).map(|part| part.bytes).max();
            let end = start.saturating_add(bytes?);
            (end > addresses.start).then_some(start..end)
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Place<K, M>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    type Tensors = InUse<Arc<()>, ()>;

    #[test]
    fn an_address_of_nobody_is_not_ours() {
        let tensors = Tensors::new();
        assert!(!tensors.leave(100));
        tensors.enter(100, 50, None, Arc::default());
        assert!(!tensors.leave(101) && !tensors.leave(150) && !tensors.leave(0));
        assert!(tensors.leave(100));
        assert!(!tensors.leave(100));
    }

    #[test]
    fn a_part_is_in_use_until_its_tensor_is_gone() {
        let tensors = Tensors::new();
        tensors.enter(100, 50, None, Arc::default());
        tensors.enter(200, 50, None, Arc::default());
        assert_eq!(tensors.first_in(&(0..1000)), Some(100..150));
        assert_eq!(tensors.first_in(&(149..150)), Some(100..150));
        assert_eq!(tensors.first_in(&(150..200)), None);
        assert_eq!(tensors.first_in(&(150..201)), Some(200..250));
        assert!(tensors.leave(100));
        assert_eq!(tensors.first_in(&(0..200)), None);
        assert!(tensors.leave(200));
        assert_eq!(tensors.first_in(&(0..u64::MAX)), None);
    }

    #[test]
    fn memory_is_kept_until_the_last_tensor_of_a_place_is_gone() {
        let (tensors, memory) = (Tensors::new(), Arc::new(()));
        tensors.enter(100, 50, None, Arc::clone(&memory));
        tensors.enter(100, 50, None, Arc::clone(&memory));
        assert_eq!(Arc::strong_count(&memory), 2, "once for a place");
        assert!(tensors.leave(100));
        assert_eq!(Arc::strong_count(&memory), 2);
        assert!(tensors.leave(100));
        assert_eq!(Arc::strong_count(&memory), 1);
    }

    #[test]
    fn a_mark_tells_which_tensor_of_a_place_is_gone() {
        let (tensors, short, long) = (Tensors::new(), Arc::new(()), Arc::new(()));
        tensors.enter(100, 10, Some(Arc::downgrade(&short)), Arc::default());
        tensors.enter(100, 90, Some(Arc::downgrade(&long)), Arc::default());
        assert_eq!(tensors.first_in(&(150..160)), Some(100..190));
        assert!(tensors.leave(100));
        drop(long);
        assert_eq!(tensors.first_in(&(150..160)), None);
        assert_eq!(tensors.first_in(&(100..160)), Some(100..110));
        assert!(tensors.leave(100));
        assert_eq!(tensors.first_in(&(0..1000)), None, "also while the mark lives");
        drop(short);
    }

    #[test]
    fn a_place_without_marks_is_as_long_as_its_longest_tensor() {
        let tensors = Tensors::new();
        tensors.enter(100, 90, None, Arc::default());
        tensors.enter(100, 10, None, Arc::default());
        assert!(tensors.leave(100));
        assert_eq!(tensors.first_in(&(150..160)), Some(100..190));
        assert!(tensors.leave(100));
        assert_eq!(tensors.first_in(&(150..160)), None);
    }

    #[test]
    fn many_threads_come_and_go() {
        let tensors = Tensors::new();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let tensors = &tensors;
                scope.spawn(move || {
                    for round in 0..1000 {
                        let address = 100 + (thread + round) % 4;
                        tensors.enter(address, 1, None, Arc::default());
                        assert!(tensors.leave(address));
                    }
                });
            }
        });
        assert_eq!(tensors.first_in(&(0..u64::MAX)), None);
        assert_eq!(tensors.count.load(Ordering::Acquire), 0);
    }
}
