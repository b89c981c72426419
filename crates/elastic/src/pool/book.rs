//! The book of a pool: who has which stretch, and who may have it next. It knows no driver, no thread
//! and no clock.

use super::growth::Growth;
use super::lanes::{CLEAN, Key, LaneId, Lanes};
use super::mutation::{PoolMutation, Rules};
use super::sizes::Side;
use super::stats::Counters;
use super::stretches::{Place, Stretches};
use std::ops::Range;
use std::sync::Arc;

/// What a stretch is used for.
#[derive(Debug, Default)]
pub(crate) enum State {
    /// Nothing: it is the end of a run.
    #[default]
    End,
    /// A block.
    Used(Used),
    /// Free for its lane at once, and for others when the lane has passed the number.
    Gap { lane: LaneId, number: u64 },
    /// Freed, and other streams that used the block have not passed it yet.
    Waiting { lane: LaneId, number: u64, others: Vec<(LaneId, u64)> },
}

/// A block in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) lane: LaneId,
    /// What was asked for, which is a little less than the block has.
    pub(crate) asked: u64,
    /// No other block has it, however often the place is used again.
    pub(crate) serial: u64,
}

/// What a free needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// The stream is kept, so that a mark can be recorded later.
    Keeping,
    /// A mark behind the free of this number.
    Mark(u64),
}

/// A block that was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) place: Place,
    pub(crate) serial: u64,
    pub(crate) start: u64,
    pub(crate) bytes: u64,
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) key: Key,
    /// The size of the bucket.
    pub(crate) bytes: u64,
    pub(crate) asked: u64,
}

/// All that a pool knows, behind its lock.
#[derive(Debug)]
pub struct Book<M> {
    pub(crate) stretches: Stretches<State>,
    pub(crate) lanes: Lanes<M>,
    waiting: Vec<Place>,
    /// Bytes whose memory comes or goes at this moment.
    pub(crate) moving: Vec<Range<u64>>,
    /// How many of those have ended so far.
    pub(crate) moves_ended: u64,
    pub(crate) counters: Counters,
    /// Where the addresses of large blocks begin.
    boundary: u64,
    serial: u64,
}

impl<M> Book<M> {
    pub(crate) fn new(boundary: u64, rules: Rules) -> Self {
        let mut lanes = Lanes::new();
        lanes.rules = rules;
        Self {
            stretches: Stretches::new(),
            lanes,
            waiting: Vec::new(),
            moving: Vec::new(),
            moves_ended: 0,
            counters: Counters::default(),
            boundary,
            serial: 0,
        }
    }

    fn breaks(&self, mutation: PoolMutation) -> bool {
        self.lanes.rules.breaks(mutation)
    }

    /// The side that an offset is on.
    pub(crate) fn side_at(&self, offset: u64) -> Side {
        if offset < self.boundary { Side::Small } else { Side::Large }
    }

    /// Where the addresses of large blocks begin.
    pub(crate) fn boundary(&self) -> u64 {
        self.boundary
    }

    /// A block from the lane's own gaps, or from those that everybody may have: the smallest that
    /// suffices.
    pub(crate) fn take(&mut self, wanted: &Wanted) -> Option<Taken> {
        let lane = self.lanes.of(wanted.key);
        let side = Side::of(wanted.bytes).index();
        let best = |id: LaneId| {
            let gaps = &self.lanes.get(id).gaps[side];
            gaps.range((wanted.bytes, 0, 0)..).next().copied()
        };
        let place = match (best(lane), best(CLEAN)) {
            (Some(own), Some(clean)) if clean.0 < own.0 => clean.2,
            (Some(own), _) => own.2,
            (None, Some(clean)) => clean.2,
            (None, None) => return None,
        };
        Some(self.hand_out(place, lane, wanted))
    }

    /// A block from a gap of another stream, and the marks that must be waited for before it is used.
    pub(crate) fn take_over(&mut self, wanted: &Wanted) -> Option<(Taken, Vec<Arc<M>>)> {
        let lane = self.lanes.of(wanted.key);
        let side = Side::of(wanted.bytes).index();
        let from = (wanted.bytes, 0, 0);
        let others = self.lanes.iter().filter(|(id, other)| *id != lane && !other.is_capture());
        let covered = others.filter_map(|(id, other)| {
            let is_covered = |gap: &&(u64, u64, Place)| match self.stretches.get(gap.2).state {
                State::Gap { number, .. } => other.is_covered(number),
                _ => false,
            };
            let (bytes, _, place) = *other.gaps[side].range(from..).find(is_covered)?;
            Some((bytes, place, id))
        });
        let (_, place, other) = covered.min()?;
        let State::Gap { number, .. } = self.stretches.get(place).state else { return None };
        let mark = self.lanes.get(other).mark_of(number).cloned();
        Some((self.hand_out(place, lane, wanted), mark.into_iter().collect()))
    }

    /// A block that waits for other streams, and the marks of all of them.
    pub(crate) fn take_waiting(&mut self, wanted: &Wanted) -> Option<(Taken, Vec<Arc<M>>)> {
        let lane = self.lanes.of(wanted.key);
        let mut best: Option<(u64, usize, Vec<Arc<M>>)> = None;
        for (index, place) in self.waiting.iter().enumerate() {
            let stretch = self.stretches.get(*place);
            let is_better = best.as_ref().is_none_or(|(bytes, ..)| stretch.bytes < *bytes);
            let fits = stretch.bytes >= wanted.bytes
                && self.side_at(stretch.start) == Side::of(wanted.bytes)
                && is_better;
            let State::Waiting { lane: owner, number, others } = &stretch.state else { continue };
            if !fits {
                continue;
            }
            let ends = others.iter().copied().chain(std::iter::once((*owner, *number)));
            let needed =
                ends.filter(|(id, number)| *id != lane && *number > self.lanes.get(*id).passed);
            let marks: Option<Vec<_>> =
                needed.map(|(id, number)| self.lanes.get(id).mark_of(number).cloned()).collect();
            if let Some(marks) = marks {
                best = Some((stretch.bytes, index, marks));
            }
        }
        let (_, index, marks) = best?;
        let place = self.waiting[index];
        let rest = self.stretches.get(place).bytes - wanted.bytes;
        if rest > 0 {
            self.split_waiting(place, wanted.bytes);
        }
        self.waiting.swap_remove(index);
        self.forget_waiting(place);
        self.list(place, CLEAN, 0);
        Some((self.hand_out(place, lane, wanted), marks))
    }

    /// Cuts a freed block that waits for other streams; both parts wait.
    fn split_waiting(&mut self, place: Place, bytes: u64) {
        let State::Waiting { lane, number, others } = &self.stretches.get(place).state else {
            return;
        };
        let (lane, number, others) = (*lane, *number, others.clone());
        let named = others.iter().map(|(other, _)| *other).chain(std::iter::once(lane));
        named.for_each(|one| self.lanes.get_mut(one).uses += 1);
        let rest = self.stretches.cut(place, bytes);
        self.stretches.get_mut(rest).state = State::Waiting { lane, number, others };
        self.waiting.push(rest);
    }

    /// Makes a block of a gap. The rest stays a gap.
    fn hand_out(&mut self, place: Place, lane: LaneId, wanted: &Wanted) -> Taken {
        let (owner, number) = self.withdraw(place);
        if self.stretches.get(place).bytes > wanted.bytes {
            let rest = self.stretches.cut(place, wanted.bytes);
            self.list(rest, owner, number);
        }
        self.serial += 1;
        let serial = self.serial;
        let stretch = self.stretches.get_mut(place);
        stretch.state = State::Used(Used { lane, asked: wanted.asked, serial });
        let taken = Taken { place, serial, start: stretch.start, bytes: stretch.bytes };
        self.lanes.get_mut(lane).uses += 1;
        self.counters.took(taken.bytes, wanted.asked);
        taken
    }

    /// The block of a place, if it is this one.
    pub(crate) fn used(&self, place: Place, serial: u64) -> Option<Used> {
        match &self.stretches.get(place).state {
            State::Used(used) if used.serial == serial => Some(*used),
            _ => None,
        }
    }

    /// Frees a block for a lane. `others` are the [ends](Book::end_of_use) of its use by other streams,
    /// `capture` is what the stream writes its work into, `is_lasting` whether it can be kept.
    pub(crate) fn free(
        &mut self,
        place: Place,
        key: Key,
        capture: Option<Key>,
        mut others: Vec<(LaneId, u64)>,
        is_lasting: bool,
    ) -> Needs {
        let State::Used(used) = self.stretches.get(place).state else { return Needs::Nothing };
        let bytes = self.stretches.get(place).bytes;
        self.counters.freed(bytes, used.asked);
        // What a graph may still use stays the graph's, wherever it is freed.
        let is_for_all = self.breaks(PoolMutation::GraphForAll);
        let is_of_graph = self.lanes.get(used.lane).is_capture() && !is_for_all;
        // What is from before the capture may be used by its graph and by work before it: neither the
        // capture nor anybody else may have it.
        if let Some(capture) = capture.filter(|_| !is_of_graph && !is_for_all) {
            others.push(self.end_of_use(capture));
        }
        let lane = if is_of_graph { used.lane } else { self.lanes.of(key) };
        let number = self.lanes.get_mut(lane).free(bytes);
        if others.is_empty() {
            self.put(place, lane, number);
        } else {
            self.lanes.get_mut(lane).uses += 1;
            self.stretches.get_mut(place).state = State::Waiting { lane, number, others };
            self.waiting.push(place);
        }
        self.lanes.get_mut(used.lane).uses -= 1;
        let is_alone = self.lanes.is_one_alone();
        let lane = self.lanes.get(lane);
        let may_mark = capture.is_none() && matches!(lane.key, Key::Stream(_));
        match (may_mark, lane.is_due(is_alone, is_lasting)) {
            (false, _) => Needs::Nothing,
            (true, true) => Needs::Mark(number),
            (true, false) if is_lasting && lane.is_newly_bare() => Needs::Keeping,
            (true, false) => Needs::Nothing,
        }
    }

    /// Numbers the end of a use by another stream. The lane is kept by that, until the block that was
    /// freed with it is taken again. A mark that covers it is recorded after this call: what others free
    /// there in between has a later number.
    pub(crate) fn end_of_use(&mut self, key: Key) -> (LaneId, u64) {
        let lane = self.lanes.of(key);
        let other = self.lanes.get_mut(lane);
        other.uses += 1;
        (lane, other.free(0))
    }

    /// Makes a gap, and joins it with its neighbours where the same lane may have them.
    fn put(&mut self, mut place: Place, lane: LaneId, mut number: u64) {
        let is_capture = self.lanes.get(lane).is_capture();
        let joins = |state: &State| match state {
            // What was clean waits for the lane again: a gap of a lane is worth more in one piece.
            State::Gap { lane: other, .. } => {
                *other == lane || *other == CLEAN && lane != CLEAN && !is_capture
            }
            _ => false,
        };
        let [before, behind] = self.stretches.neighbours(place);
        if joins(&self.stretches.get(behind).state) {
            number = number.max(self.withdraw(behind).1);
            self.stretches.join(place);
        }
        if joins(&self.stretches.get(before).state) {
            number = number.max(self.withdraw(before).1);
            self.stretches.join(before);
            place = before;
        }
        self.list(place, lane, number);
    }

    /// Puts a gap among those of a lane.
    fn list(&mut self, place: Place, lane: LaneId, number: u64) {
        let stretch = self.stretches.get_mut(place);
        stretch.state = State::Gap { lane, number };
        let gap = (stretch.bytes, stretch.start, place);
        let side = self.side_at(gap.1).index();
        let lane = self.lanes.get_mut(lane);
        lane.uses += 1;
        lane.gaps[side].insert(gap);
    }

    /// Takes a gap from those of its lane, which it answers with the number.
    fn withdraw(&mut self, place: Place) -> (LaneId, u64) {
        let stretch = self.stretches.get(place);
        let State::Gap { lane, number } = stretch.state else { return (CLEAN, 0) };
        let gap = (stretch.bytes, stretch.start, place);
        let side = self.side_at(stretch.start).index();
        let owner = self.lanes.get_mut(lane);
        owner.uses -= 1;
        owner.gaps[side].remove(&gap);
        (lane, number)
    }

    fn forget_waiting(&mut self, place: Place) {
        let state = std::mem::take(&mut self.stretches.get_mut(place).state);
        if let State::Waiting { lane, others, .. } = state {
            let named = others.iter().map(|(other, _)| *other).chain(std::iter::once(lane));
            named.for_each(|one| self.lanes.get_mut(one).uses -= 1);
        }
    }

    /// Notes what the host knows to be over. Gaps that nobody's work uses any more are everybody's.
    pub(crate) fn pass(&mut self, over: &[(LaneId, Key, u64)]) -> Vec<Arc<M>> {
        let mut marks = Vec::new();
        for (lane, key, number) in over {
            marks.append(&mut self.lanes.pass(*lane, *key, *number));
        }
        for place in std::mem::take(&mut self.waiting) {
            let State::Waiting { lane, number, others } = &self.stretches.get(place).state else {
                continue;
            };
            let (lane, number) = (*lane, *number);
            if others.iter().all(|(other, end)| *end <= self.lanes.get(*other).passed) {
                // The lane may have been passed before the others.
                let owner = self.lanes.get(lane);
                let is_over = owner.can_settle() && number <= owner.passed;
                self.forget_waiting(place);
                let (lane, number) = if is_over { (CLEAN, 0) } else { (lane, number) };
                self.put(place, lane, number);
            } else {
                self.waiting.push(place);
            }
        }
        for (lane, ..) in over {
            self.clean(*lane);
        }
        marks
    }

    fn clean(&mut self, lane: LaneId) {
        let owner = self.lanes.get(lane);
        if lane == CLEAN || !owner.can_settle() {
            return;
        }
        let passed = owner.passed;
        let gaps: Vec<Place> = owner.gaps.iter().flatten().map(|(.., place)| *place).collect();
        for place in gaps {
            // One that was joined with another is gone, or is not this lane's any more.
            let is_over = match self.stretches.get(place).state {
                State::Gap { lane: one, number } => one == lane && number <= passed,
                _ => false,
            };
            if is_over {
                self.withdraw(place);
                self.put(place, CLEAN, 0);
            }
        }
    }

    /// Bytes of gaps that everybody may have.
    pub(crate) fn clean_bytes(&self) -> u64 {
        self.lanes.get(CLEAN).gaps.iter().flatten().map(|(bytes, ..)| bytes).sum()
    }

    /// Takes whole granules out of clean gaps until there are so many bytes, large gaps first. They
    /// count as moving until their memory is gone.
    pub(crate) fn shed(&mut self, bytes: u64, granule: u64, handle: u64) -> Vec<Range<u64>> {
        let mut gaps: Vec<(u64, u64, Place)> =
            self.lanes.get(CLEAN).gaps.iter().flatten().copied().collect();
        if self.breaks(PoolMutation::ShedUnclean) {
            gaps.extend(self.lanes.iter().flat_map(|(_, lane)| lane.gaps.iter().flatten()));
        }
        gaps.sort_unstable_by(|one, other| other.cmp(one));
        let (mut chosen, mut sum) = (Vec::new(), 0);
        for (_, start, mut place) in gaps {
            if sum >= bytes {
                break;
            }
            let end = self.stretches.get(place).end();
            let (first, last) = (start.next_multiple_of(granule), end / granule * granule);
            if first >= last {
                continue;
            }
            // The end of a handle, or what is before it is held by what is behind it.
            let enough = first.saturating_add(bytes - sum).checked_next_multiple_of(handle);
            let last = last.min(enough.unwrap_or(u64::MAX));
            self.withdraw(place);
            if last < end {
                let rest = self.stretches.cut(place, last - start);
                self.list(rest, CLEAN, 0);
            }
            if first > start {
                let inner = self.stretches.cut(place, first - start);
                self.list(place, CLEAN, 0);
                place = inner;
            }
            let gone = self.stretches.shrink(place);
            sum += gone.end - gone.start;
            self.counters.held -= gone.end - gone.start;
            self.moving.push(gone.clone());
            chosen.push(gone);
        }
        chosen
    }

    /// Adds memory. Everybody may have it, unless it continues a gap of a lane.
    pub(crate) fn grew(&mut self, growth: &Growth) {
        self.settle_moving(&growth.bytes);
        self.counters.grew(growth.bytes.end - growth.bytes.start);
        let place = self.stretches.grow(growth.bytes.clone());
        let lane = growth.continues.and_then(|key| self.lanes.find(key)).unwrap_or(CLEAN);
        self.put(place, lane, 0);
    }

    /// Bytes are not on their way any more.
    pub(crate) fn settle_moving(&mut self, bytes: &Range<u64>) {
        if let Some(place) = self.moving.iter().position(|one| one == bytes) {
            self.moving.swap_remove(place);
            self.moves_ended += 1;
        }
    }
}
