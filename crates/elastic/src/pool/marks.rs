//! Marks: how a pool learns that work is over.

use super::book::Book;
use super::engine::Shared;
use super::ground::Ground;
use super::lanes::{Key, LaneId};
use super::monitor::Monitor;
use super::mutation::PoolMutation;
use crate::pages::PageError;
use std::sync::{Arc, PoisonError};

/// Marks that are kept to be recorded again.
const SPARE_MARKS: usize = 64;

impl<G: Ground, M: Monitor<Book<G::Mark>>> Shared<G, M> {
    /// Records a mark behind everything that a stream was given, which covers frees up to a number.
    pub(super) fn cover(&self, key: Key, number: u64, stream: &G::Stream) -> Result<(), PageError> {
        let mark = self.record(stream)?;
        self.note(key, number, mark);
        Ok(())
    }

    /// Notes a mark that covers frees up to a number.
    fn note(&self, key: Key, number: u64, mark: Arc<G::Mark>) {
        let (unneeded, kept) = self.book.with(|book| {
            let Some(lane) = book.lanes.find(key) else { return (Some(mark), self.let_go(key)) };
            let lane = book.lanes.get_mut(lane);
            let unneeded = lane.cover(number, mark);
            // Under the lock: a free that comes now keeps the stream again.
            (unneeded, lane.is_all_covered().then(|| self.let_go(key)).flatten())
        });
        self.keep(unneeded.into_iter().collect());
        drop(kept);
    }

    /// Keeps a stream until a mark covers its frees, so that one can be recorded whenever it is needed.
    pub(super) fn keep_stream(&self, key: Key, stream: &G::Stream) {
        self.bare.lock().unwrap_or_else(PoisonError::into_inner).insert(key, stream.clone());
    }

    fn let_go(&self, key: Key) -> Option<G::Stream> {
        self.bare.lock().unwrap_or_else(PoisonError::into_inner).remove(&key)
    }

    /// Records marks in all streams that the pool keeps.
    fn cover_bare(&self) {
        let bare: Vec<(Key, G::Stream)> = {
            let bare = self.bare.lock().unwrap_or_else(PoisonError::into_inner);
            bare.iter().map(|(key, stream)| (*key, stream.clone())).collect()
        };
        for (key, stream) in bare {
            let freed = |book: &mut Book<G::Mark>| {
                let lane = book.lanes.find(key)?;
                Some(book.lanes.get(lane).freed)
            };
            // In a capture there is no mark; what is freed there is over with a later one.
            if let (Some(number), Ok(None)) = (self.book.with(freed), self.ground.capture(&stream))
            {
                let _ = self.cover(key, number, &stream);
            }
        }
    }

    /// The ends of the use of a block by other streams, each with a mark behind it. In a capture there is
    /// no such mark.
    pub(super) fn ends_of_use(&self, others: &[G::Stream], own: Key) -> Vec<(LaneId, u64)> {
        let mut ends: Vec<(Key, (LaneId, u64))> = Vec::new();
        for other in others {
            let capture = self.ground.capture(other).unwrap_or(None);
            // The graph may use it at any time, whatever the stream has done.
            let key = match capture {
                Some(capture) => self.within(capture, other),
                None => self.key_of(other),
            };
            if key == own || ends.iter().any(|(one, _)| *one == key) {
                continue;
            }
            let is_early = self.rules.breaks(PoolMutation::MarkBeforeNumber);
            let early = if is_early { self.record(other).ok() } else { None };
            let end = self.book.with(|book| book.end_of_use(key));
            ends.push((key, end));
            match (key, early) {
                (Key::Stream(_), Some(mark)) => self.note(key, end.1, mark),
                // Without a mark it is over when the next one is.
                (Key::Stream(_), None) => drop(self.cover(key, end.1, other)),
                // What the stream was given before is over when the device is waited for.
                (Key::Capture { .. }, _) => {
                    let before = self.book.with(|book| book.end_of_use(Key::Unknown));
                    ends.push((Key::Unknown, before));
                }
                _ => {}
            }
        }
        ends.into_iter().map(|(_, end)| end).collect()
    }

    fn record(&self, stream: &G::Stream) -> Result<Arc<G::Mark>, PageError> {
        let again = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        self.ground.record(stream, again).map(Arc::new)
    }

    fn keep(&self, marks: Vec<Arc<G::Mark>>) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that are too many end without the lock: to end an event is a call of the driver.
        let mut rest = Vec::new();
        for mark in marks.into_iter().filter_map(Arc::into_inner) {
            if spare.len() < SPARE_MARKS { spare.push(mark) } else { rest.push(mark) }
        }
        drop(spare);
    }

    /// Marks that were not seen passed.
    fn pending(&self) -> Vec<(LaneId, Key, u64, Arc<G::Mark>)> {
        self.book.with(|book| book.lanes.pending())
    }

    /// Asks which marks are passed. The first of a lane that is not answers for those behind it.
    pub(super) fn poll(&self) -> Result<(), PageError> {
        self.cover_bare();
        let pending = self.pending();
        let (mut over, mut stopped) = (Vec::new(), None);
        for (lane, key, number, mark) in pending {
            if stopped == Some(lane) {
                continue;
            }
            if self.ground.is_passed(&mark)? {
                over.push((lane, key, number));
            } else {
                stopped = Some(lane);
            }
        }
        if !over.is_empty() {
            let marks = self.book.with(|book| book.pass(&over));
            self.keep(marks);
        }
        Ok(())
    }

    /// Waits for all marks, after one behind the caller's own work. What no mark covers is little, and
    /// nobody's to wait for without its stream.
    pub(super) fn finish(&self, key: Key, stream: &G::Stream) -> Result<(), PageError> {
        let bare = self.book.with(|book| {
            book.counters.waits += 1;
            let lane = book.lanes.get(book.lanes.find(key)?);
            (!lane.is_all_covered() && !lane.is_capture()).then_some(lane.freed)
        });
        if let Some(number) = bare {
            self.cover(key, number, stream)?;
        }
        let pending = self.pending();
        for (.., mark) in &pending {
            self.ground.finish(mark)?;
        }
        let over: Vec<_> =
            pending.into_iter().map(|(lane, key, number, _)| (lane, key, number)).collect();
        let marks = self.book.with(|book| book.pass(&over));
        self.keep(marks);
        Ok(())
    }

    /// Waits for the device. All that was freed before is over then.
    pub(super) fn settle(&self) -> Result<(), PageError> {
        let freed = self.book.with(|book| {
            book.counters.waits += 1;
            book.lanes.freed()
        });
        self.ground.settle()?;
        let marks = self.book.with(|book| book.pass(&freed));
        self.keep(marks);
        Ok(())
    }
}
