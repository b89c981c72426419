//! What the device must have passed before pages are unmapped.

use std::collections::VecDeque;
use std::sync::Arc;

/// An extent remembers so many fences; with more it waits for the whole device.
const FENCES_OF_AN_EXTENT: usize = 16;

/// A cache remembers so many fences; with more its extents wait for the whole device.
const FENCES_OF_A_CACHE: usize = 1024;

/// After so many new fences somebody should ask which are passed.
const ASK_EVERY: usize = 64;

/// The fences that the device had not passed when it was asked last, by number. Numbers grow, also
/// for ends of use without a fence, so that waiting for the whole device settles all up to one.
#[derive(Debug)]
pub(crate) struct Fences<F> {
    last: u64,
    pending: VecDeque<(u64, Arc<F>)>,
}

/// How a use of pages ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// No work ever saw the pages.
    Unused,
    /// Work may run until this fence is passed.
    Fence(u64),
    /// Work may run until the whole device has settled, counted from this number.
    Unknown(u64),
}

/// What must be over before an extent may be unmapped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stale {
    fences: Vec<u64>,
    /// 0, or the number from which on the device must have settled.
    unknown: u64,
}

impl<F> Fences<F> {
    pub(crate) fn new() -> Self {
        Self { last: 0, pending: VecDeque::new() }
    }

    /// Numbers the end of a use.
    pub(crate) fn end(&mut self, fence: Option<F>) -> End {
        self.last += 1;
        match fence {
            Some(fence) => {
                self.pending.push_back((self.last, Arc::new(fence)));
                End::Fence(self.last)
            }
            None => End::Unknown(self.last),
        }
    }

    /// The newest number.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Whether it is time to ask the device.
    pub(crate) fn is_due(&self) -> bool {
        !self.pending.is_empty() && self.pending.len().is_multiple_of(ASK_EVERY)
    }

    /// Whether there are too many to remember.
    pub(crate) fn is_full(&self) -> bool {
        self.pending.len() >= FENCES_OF_A_CACHE
    }

    /// All that may not be passed yet, to be asked for without any lock.
    pub(crate) fn pending(&self) -> Vec<(u64, Arc<F>)> {
        self.pending.iter().cloned().collect()
    }

    /// Forgets fences that are passed, given by their sorted numbers.
    pub(crate) fn passed(&mut self, numbers: &[u64]) {
        self.pending.retain(|(number, _)| numbers.binary_search(number).is_err());
    }

    /// The device has settled since this number was the newest.
    pub(crate) fn settled(&mut self, number: u64) {
        self.pending.retain(|(one, _)| *one > number);
    }

    fn is_pending(&self, number: u64) -> bool {
        self.pending.binary_search_by_key(&number, |(one, _)| *one).is_ok()
    }

    fn oldest(&self) -> u64 {
        self.pending.front().map_or(u64::MAX, |(number, _)| *number)
    }
}

impl Stale {
    /// Adds the end of a use.
    pub(crate) fn add<F>(&mut self, end: End, fences: &Fences<F>) {
        match end {
            End::Unused => {}
            End::Unknown(number) => self.unknown = number,
            End::Fence(number) if self.fences.last() == Some(&number) => {}
            End::Fence(number) => {
                if self.fences.len() >= FENCES_OF_AN_EXTENT {
                    let oldest = fences.oldest();
                    self.fences.retain(|one| *one >= oldest);
                }
                if self.fences.len() >= FENCES_OF_AN_EXTENT {
                    self.forget_fences(number);
                } else {
                    self.fences.push(number);
                }
            }
        }
    }

    /// Lets the whole device stand for the fences.
    pub(crate) fn forget_fences(&mut self, newest: u64) {
        if !self.fences.is_empty() {
            self.fences.clear();
            self.unknown = newest;
        }
    }

    /// Drops what is over. Answers whether fences are left.
    pub(crate) fn waits_for_fences<F>(&mut self, fences: &Fences<F>) -> bool {
        self.fences.retain(|number| fences.is_pending(*number));
        !self.fences.is_empty()
    }

    /// Whether the whole device must settle.
    pub(crate) fn waits_for_device(&self) -> bool {
        self.unknown != 0
    }

    /// The device has settled since this number was the newest.
    pub(crate) fn settled(&mut self, number: u64) {
        self.fences.retain(|one| *one > number);
        if self.unknown <= number {
            self.unknown = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extent_waits_for_its_own_fences_only() {
        let mut fences = Fences::new();
        let (mut one, mut two) = (Stale::default(), Stale::default());
        let first = fences.end(Some("slow"));
        one.add(first, &fences);
        let second = fences.end(Some("fast"));
        two.add(second, &fences);
        two.add(second, &fences);
        fences.passed(&[2]);
        assert!(one.waits_for_fences(&fences) && !two.waits_for_fences(&fences));
        two.add(fences.end(None), &fences);
        assert!(two.waits_for_device() && !one.waits_for_device());
        one.settled(3);
        two.settled(3);
        assert_eq!((&one, &two), (&Stale::default(), &Stale::default()));
    }

    #[test]
    fn too_many_fences_become_a_wait_for_the_device() {
        let mut fences = Fences::new();
        let mut stale = Stale::default();
        for _ in 0..=FENCES_OF_AN_EXTENT {
            let end = fences.end(Some(()));
            stale.add(end, &fences);
        }
        assert!(stale.waits_for_device() && !stale.waits_for_fences(&fences));
        // Fences that were passed meanwhile take no room.
        fences.settled(fences.last());
        let mut stale = Stale::default();
        for _ in 0..100 {
            let end = fences.end(Some(()));
            stale.add(end, &fences);
            fences.settled(fences.last() - 1);
        }
        assert!(!stale.waits_for_device() && stale.waits_for_fences(&fences));
    }
}
