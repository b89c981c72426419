//! Stretches: the bytes of a pool that have memory, side by side.
//!
//! A **stretch** is a block that is in use, or a gap between blocks. Each knows its neighbours. Stretches
//! whose addresses follow each other form a **run**, which ends on both sides with a stretch of no
//! bytes: so a stretch always has neighbours, and cutting and joining never look at a run.

use std::collections::BTreeMap;
use std::ops::Range;

/// Where a stretch is kept. It is reused when the stretch is gone.
pub(crate) type Place = u32;

/// No stretch.
const NOWHERE: Place = u32::MAX;

/// Some bytes of a pool, by offset from its first address.
#[derive(Debug)]
pub(crate) struct Stretch<S> {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    previous: Place,
    next: Place,
    pub(crate) state: S,
}

impl<S> Stretch<S> {
    pub(crate) fn end(&self) -> u64 {
        self.start + self.bytes
    }
}

#[derive(Clone, Copy, Debug)]
struct Run {
    end: u64,
    left: Place,
    right: Place,
}

/// All stretches of a pool. `S` is what one is used for; its default is that of the ends of runs.
#[derive(Debug)]
pub(crate) struct Stretches<S> {
    slots: Vec<Stretch<S>>,
    vacant: Vec<Place>,
    /// By first byte.
    runs: BTreeMap<u64, Run>,
}

impl<S: Default> Stretches<S> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), vacant: Vec::new(), runs: BTreeMap::new() }
    }

    pub(crate) fn get(&self, place: Place) -> &Stretch<S> {
        &self.slots[place as usize]
    }

    pub(crate) fn get_mut(&mut self, place: Place) -> &mut Stretch<S> {
        &mut self.slots[place as usize]
    }

    /// The neighbours of a stretch, by address. At an end of a run that is one without bytes.
    pub(crate) fn neighbours(&self, place: Place) -> [Place; 2] {
        let stretch = self.get(place);
        [stretch.previous, stretch.next]
    }

    fn insert(&mut self, start: u64, bytes: u64) -> Place {
        let (previous, next, state) = (NOWHERE, NOWHERE, S::default());
        let stretch = Stretch { start, bytes, previous, next, state };
        if let Some(place) = self.vacant.pop() {
            self.slots[place as usize] = stretch;
            return place;
        }
        self.slots.push(stretch);
        u32::try_from(self.slots.len() - 1).unwrap_or(NOWHERE)
    }

    fn remove(&mut self, place: Place) {
        let stretch = self.get_mut(place);
        (stretch.bytes, stretch.state) = (0, S::default());
        (stretch.previous, stretch.next) = (NOWHERE, NOWHERE);
        self.vacant.push(place);
    }

    fn link(&mut self, left: Place, right: Place) {
        self.get_mut(left).next = right;
        self.get_mut(right).previous = left;
    }

    /// Cuts a stretch after so many bytes. Answers the rest, which has no state yet.
    pub(crate) fn cut(&mut self, place: Place, bytes: u64) -> Place {
        let stretch = self.get_mut(place);
        let (start, rest, next) = (stretch.start + bytes, stretch.bytes - bytes, stretch.next);
        stretch.bytes = bytes;
        let cut = self.insert(start, rest);
        self.link(place, cut);
        self.link(cut, next);
        cut
    }

    /// Joins a stretch with the one behind it, which is gone then.
    pub(crate) fn join(&mut self, place: Place) {
        let behind = self.get(place).next;
        let (bytes, next) = (self.get(behind).bytes, self.get(behind).next);
        self.get_mut(place).bytes += bytes;
        self.link(place, next);
        self.remove(behind);
    }

    /// Adds bytes that have got memory, and answers their stretch, which has no state yet.
    pub(crate) fn grow(&mut self, bytes: Range<u64>) -> Place {
        let place = self.insert(bytes.start, bytes.end - bytes.start);
        let before = self.runs.range(..bytes.start).next_back().map(|(start, run)| (*start, *run));
        let before = before.filter(|(_, run)| run.end == bytes.start);
        let behind = self.runs.remove(&bytes.end);
        let (start, left) = match before {
            Some((start, run)) => {
                let last = self.get(run.right).previous;
                self.remove(run.right);
                self.link(last, place);
                (start, run.left)
            }
            None => {
                let left = self.insert(bytes.start, 0);
                self.link(left, place);
                (bytes.start, left)
            }
        };
        let (end, right) = match behind {
            Some(run) => {
                let first = self.get(run.left).next;
                self.remove(run.left);
                self.link(place, first);
                (run.end, run.right)
            }
            None => {
                let right = self.insert(bytes.end, 0);
                self.link(place, right);
                (bytes.end, right)
            }
        };
        self.runs.insert(start, Run { end, left, right });
        place
    }

    /// Takes a stretch out whose memory goes. Its run may become two, one, or none.
    pub(crate) fn shrink(&mut self, place: Place) -> Range<u64> {
        let stretch = self.get(place);
        let gone = stretch.start..stretch.end();
        let (previous, next) = (stretch.previous, stretch.next);
        let found = self.runs.range(..=gone.start).next_back().map(|(start, run)| (*start, *run));
        let Some((start, run)) = found else { return gone };
        self.runs.remove(&start);
        self.remove(place);
        if previous == run.left {
            self.remove(run.left);
        } else {
            let right = self.insert(gone.start, 0);
            self.link(previous, right);
            self.runs.insert(start, Run { end: gone.start, left: run.left, right });
        }
        if next == run.right {
            self.remove(run.right);
        } else {
            let left = self.insert(gone.end, 0);
            self.link(left, next);
            self.runs.insert(gone.end, Run { end: run.end, left, right: run.right });
        }
        gone
    }

    /// The runs, and the last stretch of each.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (Range<u64>, Place)> {
        self.runs.iter().map(|(start, run)| (*start..run.end, self.get(run.right).previous))
    }

    /// All stretches with bytes, by address.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Place, &Stretch<S>)> {
        self.runs.values().flat_map(|run| {
            let behind = |place: &Place| {
                let next = self.get(*place).next;
                (next != run.right).then_some(next)
            };
            std::iter::successors(behind(&run.left), behind).map(|place| (place, self.get(place)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listed(stretches: &Stretches<bool>) -> Vec<Range<u64>> {
        stretches.iter().map(|(_, one)| one.start..one.end()).collect()
    }

    #[test]
    fn memory_beside_memory_is_one_run() {
        let mut all: Stretches<bool> = Stretches::new();
        all.grow(4..6);
        all.grow(0..2);
        assert_eq!(all.runs().map(|(run, _)| run).collect::<Vec<_>>(), [0..2, 4..6]);
        let middle = all.grow(2..4);
        assert_eq!(
            all.runs().map(|(run, _)| run).collect::<Vec<_>>(),
            [Range { start: 0, end: 6 }]
        );
        assert_eq!(listed(&all), [0..2, 2..4, 4..6]);
        assert_eq!(all.shrink(middle), 2..4);
        assert_eq!(listed(&all), [0..2, 4..6]);
    }

    proptest! {
        /// Whatever is cut, joined, grown and shrunk: the stretches cover what has memory, once.
        #[test]
        fn stretches_cover_what_has_memory(steps in prop::collection::vec((0..4_u8, 0..32_u64), 1..200)) {
            let mut all: Stretches<bool> = Stretches::new();
            let mut backed = [false; 32];
            for (step, at) in steps {
                let index = usize::try_from(at).unwrap();
                let inside = all.iter().find(|(_, one)| (one.start..one.end()).contains(&(at * 8)))
                    .map(|(place, one)| (place, one.start, one.bytes));
                match (step, inside) {
                    (0, None) => {
                        all.grow(at * 8..at * 8 + 8);
                        backed[index] = true;
                    }
                    (1, Some((place, _, bytes))) if bytes > 1 => {
                        all.cut(place, bytes / 2);
                    }
                    (2, Some((place, ..))) => {
                        let [_, next] = all.neighbours(place);
                        if all.get(next).bytes > 0 {
                            all.join(place);
                        }
                    }
                    (3, Some((place, start, bytes))) if start % 8 == 0 && bytes % 8 == 0 => {
                        let gone = all.shrink(place);
                        prop_assert_eq!(gone.clone(), start..start + bytes);
                        for byte in gone.step_by(8) {
                            backed[usize::try_from(byte / 8).unwrap()] = false;
                        }
                    }
                    _ => {}
                }
                let mut seen = [0_u32; 256];
                for (_, one) in all.iter() {
                    prop_assert!(one.bytes > 0);
                    (one.start..one.end()).for_each(|byte| seen[usize::try_from(byte).unwrap()] += 1);
                }
                for (granule, is_backed) in backed.iter().enumerate() {
                    let expected = u32::from(*is_backed);
                    prop_assert!(seen[granule * 8..granule * 8 + 8].iter().all(|one| *one == expected));
                }
                let used = all.slots.len() - all.vacant.len();
                prop_assert_eq!(used, all.iter().count() + 2 * all.runs.len());
            }
        }
    }
}
