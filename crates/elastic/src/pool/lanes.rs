//! Lanes: what a pool knows of each stream that frees blocks.
//!
//! Frees of a lane are numbered. A **mark** is an event that was recorded behind a free, and covers that
//! free and all before it. Numbers that the device has passed are seen by asking marks, or by waiting
//! for the whole device.

use super::mutation::{PoolMutation, Rules};
use super::stretches::Place;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// Where a lane is kept.
pub(crate) type LaneId = u32;

/// The lane of gaps that no work uses any more: everybody may have them.
pub(crate) const CLEAN: LaneId = 0;

/// So many frees of a lane are covered by one mark once there are several streams: an event for each free
/// would cost more than the free itself.
const FREES_OF_A_MARK: u32 = 32;

/// A stream that somebody else made has a mark after so many bytes, also while it is alone: later there
/// may be no way to record one.
const BYTES_OF_A_MARK: u64 = 2 << 20;

/// A stream that the pool keeps has one after so many bytes, if there are several: others would have to
/// wait for what it was given since.
const BYTES_OF_A_LASTING_MARK: u64 = 64 << 20;

/// A lane keeps so many marks. A later mark says all that an earlier one does, only later.
const MARKS: usize = 8;

/// Whose lane it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// Nobody's: the first lane.
    Clean,
    /// A stream, by the number that no other stream ever has.
    Stream(u64),
    /// Some stream that does not say its number. No mark covers it.
    Unknown,
    /// A stream in a capture. The graph that it makes may run at any time, so what was used in it is nobody
    /// else's until the graph is given up. Streams of one capture are branches that run side by side.
    Capture { capture: u64, stream: u64 },
}

/// Gaps by size and then by address.
pub(crate) type Gaps = BTreeSet<(u64, u64, Place)>;

#[derive(Debug)]
pub(crate) struct Lane<M> {
    pub(crate) key: Key,
    /// The newest free.
    pub(crate) freed: u64,
    /// The newest free that a mark covers.
    pub(crate) recorded: u64,
    /// The newest free that the host knows to be over.
    pub(crate) passed: u64,
    /// Sorted by number.
    marks: VecDeque<(u64, Arc<M>)>,
    bare_frees: u32,
    bare_bytes: u64,
    /// Stretches that name the lane.
    pub(crate) uses: u64,
    /// Of the two sides.
    pub(crate) gaps: [Gaps; 2],
    /// A capture whose graph was given up.
    is_released: bool,
}

impl<M> Lane<M> {
    /// A lane whose numbers follow those of lanes that are gone.
    fn new(key: Key, newest: u64) -> Self {
        Self {
            key,
            freed: newest,
            recorded: newest,
            passed: newest,
            marks: VecDeque::new(),
            bare_frees: 0,
            bare_bytes: 0,
            uses: 0,
            gaps: [Gaps::new(), Gaps::new()],
            is_released: false,
        }
    }

    /// Numbers a free.
    pub(crate) fn free(&mut self, bytes: u64) -> u64 {
        self.freed += 1;
        self.bare_frees += 1;
        self.bare_bytes = self.bare_bytes.saturating_add(bytes);
        self.freed
    }

    /// Whether it is time for a mark.
    pub(crate) fn is_due(&self, is_alone: bool, is_lasting: bool) -> bool {
        let bytes = if is_lasting { BYTES_OF_A_LASTING_MARK } else { BYTES_OF_A_MARK };
        match (is_alone, is_lasting) {
            (true, true) => false,
            (true, false) => self.bare_bytes >= bytes,
            (false, _) => self.bare_frees >= FREES_OF_A_MARK || self.bare_bytes >= bytes,
        }
    }

    /// Whether the newest free is the first that no mark covers.
    pub(crate) fn is_newly_bare(&self) -> bool {
        self.bare_frees == 1
    }

    /// Takes over a mark that covers all frees up to a number. Answers one that can be done without.
    pub(crate) fn cover(&mut self, number: u64, mark: Arc<M>) -> Option<Arc<M>> {
        if number <= self.recorded {
            return Some(mark);
        }
        self.recorded = number;
        self.marks.push_back((number, mark));
        if self.is_all_covered() {
            (self.bare_frees, self.bare_bytes) = (0, 0);
        }
        // One from the middle: the oldest is passed first, and the newest covers everything.
        let is_enough = self.marks.len() > MARKS;
        is_enough.then(|| self.marks.remove(MARKS / 2)).flatten().map(|(_, mark)| mark)
    }

    /// Whether no free is without a mark.
    pub(crate) fn is_all_covered(&self) -> bool {
        self.recorded >= self.freed
    }

    /// The first mark that covers a free; `None` when none does.
    pub(crate) fn mark_of(&self, number: u64) -> Option<&Arc<M>> {
        self.marks.iter().find(|(covered, _)| *covered >= number).map(|(_, mark)| mark)
    }

    /// Whether a mark covers a free, or the host knows it to be over.
    pub(crate) fn is_covered(&self, number: u64) -> bool {
        number <= self.recorded.max(self.passed)
    }

    pub(crate) fn is_capture(&self) -> bool {
        matches!(self.key, Key::Capture { .. })
    }

    /// Whether waiting for the device says anything about the lane: a graph may run again.
    pub(crate) fn can_settle(&self) -> bool {
        !self.is_capture() || self.is_released
    }
}

/// All lanes of a pool.
#[derive(Debug)]
pub(crate) struct Lanes<M> {
    slots: Vec<Lane<M>>,
    by_key: HashMap<Key, LaneId>,
    /// How many hold the memory of each capture.
    holders: HashMap<u64, u64>,
    /// The newest number of lanes that are gone. Somebody may still come with a mark of theirs: it must say
    /// nothing about a later lane of the same stream.
    newest: u64,
    pub(crate) rules: Rules,
    /// The lane that was asked for last, which mostly is the one that is asked for next.
    last: (Key, LaneId),
}

impl<M> Lanes<M> {
    pub(crate) fn new() -> Self {
        let slots = vec![Lane::new(Key::Clean, 0)];
        Self {
            slots,
            by_key: HashMap::new(),
            holders: HashMap::new(),
            newest: 0,
            rules: Rules::default(),
            last: (Key::Clean, CLEAN),
        }
    }

    pub(crate) fn get(&self, lane: LaneId) -> &Lane<M> {
        &self.slots[lane as usize]
    }

    pub(crate) fn get_mut(&mut self, lane: LaneId) -> &mut Lane<M> {
        &mut self.slots[lane as usize]
    }

    /// The lane of a key, made if there is none.
    pub(crate) fn of(&mut self, key: Key) -> LaneId {
        if self.last.0 == key {
            return self.last.1;
        }
        let lane = match self.by_key.get(&key) {
            Some(lane) => *lane,
            None => self.open(key),
        };
        self.last = (key, lane);
        lane
    }

    /// Streams come and go and their numbers never come back, so lanes that nothing names are reused.
    fn open(&mut self, key: Key) -> LaneId {
        let idle =
            self.slots.iter().skip(1).position(|lane| lane.uses == 0 && lane.marks.is_empty());
        let place = idle.map_or(self.slots.len(), |place| place + 1);
        let by_place = self.rules.breaks(PoolMutation::LaneByPlace);
        if let Some(slot) = self.slots.get_mut(place) {
            self.by_key.remove(&slot.key);
            self.newest = if by_place { 0 } else { self.newest.max(slot.freed) };
            *slot = Lane::new(key, self.newest);
        } else {
            self.slots.push(Lane::new(key, self.newest));
        }
        let lane = u32::try_from(place).unwrap_or(CLEAN);
        self.by_key.insert(key, lane);
        lane
    }

    /// The lane of a key, if there is one.
    pub(crate) fn find(&self, key: Key) -> Option<LaneId> {
        self.by_key.get(&key).copied()
    }

    /// Whether no more than one stream uses the pool.
    pub(crate) fn is_one_alone(&self) -> bool {
        self.slots.len() <= 2
    }

    /// All but the clean one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (LaneId, &Lane<M>)> {
        (0..).zip(&self.slots).skip(1)
    }

    /// The marks that were not seen passed, oldest first in each lane, to be asked without any lock.
    pub(crate) fn pending(&self) -> Vec<(LaneId, Key, u64, Arc<M>)> {
        let marks = |(id, lane)| {
            let lane: &Lane<M> = lane;
            let numbered = lane.marks.iter();
            numbered.map(move |(number, mark)| (id, lane.key, *number, Arc::clone(mark)))
        };
        self.iter().flat_map(marks).collect()
    }

    /// What every lane has freed, to be noted as over when the device has settled.
    pub(crate) fn freed(&self) -> Vec<(LaneId, Key, u64)> {
        let of = |(id, lane): (LaneId, &Lane<M>)| (id, lane.key, lane.freed);
        self.iter().filter(|(_, lane)| lane.can_settle()).map(of).collect()
    }

    /// Notes that all frees of a lane up to a number are over. Answers marks that are not needed any
    /// more.
    pub(crate) fn pass(&mut self, lane: LaneId, key: Key, number: u64) -> Vec<Arc<M>> {
        let by_place = self.rules.breaks(PoolMutation::LaneByPlace);
        let lane = self.get_mut(lane);
        if lane.key != key && !by_place || number <= lane.passed {
            return Vec::new();
        }
        lane.passed = number;
        let over = lane.marks.iter().take_while(|(covered, _)| *covered <= number).count();
        lane.marks.drain(..over).map(|(_, mark)| mark).collect()
    }

    /// Somebody holds the memory of a capture.
    pub(crate) fn hold(&mut self, capture: u64) {
        *self.holders.entry(capture).or_default() += 1;
    }

    /// Somebody does not hold the memory of a capture any more. After the last one the graph will not run
    /// again.
    pub(crate) fn release(&mut self, released: u64) {
        if let Some(others) = self.holders.get_mut(&released).filter(|count| **count > 1) {
            *others -= 1;
            return;
        }
        self.holders.remove(&released);
        for lane in &mut self.slots {
            if matches!(lane.key, Key::Capture { capture, .. } if capture == released) {
                lane.is_released = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_covers_what_was_freed_before_it() {
        let mut lanes: Lanes<&str> = Lanes::new();
        let one = lanes.of(Key::Stream(7));
        let first = lanes.get_mut(one).free(512);
        let second = lanes.get_mut(one).free(512);
        lanes.get_mut(one).cover(second, Arc::new("second"));
        // A thread that was slower: its mark says nothing new.
        lanes.get_mut(one).cover(first, Arc::new("first"));
        assert_eq!(lanes.get(one).mark_of(first).map(|mark| **mark), Some("second"));
        assert!(lanes.get(one).is_covered(first) && !lanes.get(one).is_covered(second + 1));
        assert_eq!(lanes.pass(one, Key::Stream(7), second).len(), 1);
        assert!(lanes.pending().is_empty());
    }

    #[test]
    fn lanes_of_gone_streams_are_reused_and_their_numbers_mean_nothing_then() {
        let mut lanes: Lanes<()> = Lanes::new();
        let old = lanes.of(Key::Stream(1));
        lanes.get_mut(old).free(512);
        let before = lanes.freed();
        let new = lanes.of(Key::Stream(2));
        assert_eq!(old, new);
        lanes.get_mut(new).free(512);
        for (lane, key, number) in before {
            lanes.pass(lane, key, number);
        }
        let other = lanes.get(new);
        assert!(other.passed < other.freed, "the other stream's work is not over");
        // A lane that a stretch names is kept.
        lanes.get_mut(new).uses = 1;
        assert_ne!(lanes.of(Key::Stream(3)), new);
        assert_eq!(lanes.of(Key::Stream(2)), new);
    }

    #[test]
    fn a_capture_settles_only_when_its_graph_is_given_up() {
        let mut lanes: Lanes<()> = Lanes::new();
        let key = Key::Capture { capture: 5, stream: 1 };
        let lane = lanes.of(key);
        lanes.get_mut(lane).free(512);
        assert!(lanes.freed().is_empty());
        lanes.release(5);
        assert_eq!(lanes.freed(), [(lane, key, 1)]);
    }

    #[test]
    fn marks_are_due_by_count_and_by_size() {
        let mut lane: Lane<()> = Lane::new(Key::Stream(1), 0);
        let mut free = |bytes| {
            let number = lane.free(bytes);
            let is_due =
                [lane.is_due(true, true), lane.is_due(true, false), lane.is_due(false, true)];
            if is_due[2] {
                lane.cover(number, Arc::new(()));
            }
            is_due
        };
        assert!((1..FREES_OF_A_MARK).all(|_| free(512) == [false; 3]));
        assert_eq!(free(512), [false, false, true]);
        assert_eq!(free(512), [false; 3]);
        assert_eq!(free(BYTES_OF_A_MARK), [false, true, false]);
        assert_eq!(free(BYTES_OF_A_LASTING_MARK), [false, true, true]);
    }

    #[test]
    fn a_lane_keeps_few_marks_and_forgets_no_free() {
        let mut lane: Lane<u64> = Lane::new(Key::Stream(1), 0);
        for turn in 1..100 {
            let number = lane.free(512);
            let unneeded = lane.cover(number, Arc::new(turn));
            assert_eq!(unneeded.is_some(), turn > MARKS as u64);
            assert!(lane.marks.len() <= MARKS && lane.is_all_covered());
            assert_eq!(lane.marks.front().map(|(number, _)| *number), Some(1));
        }
        for number in 1..100 {
            assert!(lane.mark_of(number).is_some_and(|mark| **mark >= number));
        }
    }
}
