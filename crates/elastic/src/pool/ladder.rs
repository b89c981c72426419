//! The ladder: what is done for a block when no gap suffices.

use super::book::{Book, Taken, Wanted};
use super::engine::Shared;
use super::error::PoolError;
use super::ground::{Ground, Patience};
use super::growth::{Amount, Growth};
use super::lanes::Key;
use super::monitor::Monitor;
use super::mutation::PoolMutation;
use crate::elastic_error::ElasticError;
use crate::pages::PageError;

/// A thread that finds no memory looks again so often while others move some.
const ROUNDS: u32 = 16;

/// What one search for memory has seen and done, to be told from what others do meanwhile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Search {
    /// Moves of memory that had ended when it began.
    ended: u64,
    /// Its own moves since.
    own: u64,
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> Shared<G, M> {
    /// The ladder: from what costs least to what costs most, and the search again after each step that
    /// may have freed something.
    pub(super) fn climb(&self, wanted: &Wanted, stream: &G::Stream) -> Result<Taken, PoolError> {
        let is_captured = matches!(wanted.key, Key::Capture { .. });
        let take = || self.book.with(|book| book.take(wanted));
        let mut round = 0;
        loop {
            round += 1;
            let mut search = Search { ended: self.book.with(|book| book.moves_ended), own: 0 };
            self.poll()?;
            if let Some(taken) = take() {
                return Ok(taken);
            }
            for amount in [Amount::Generous, Amount::Exact] {
                if let Ok(Some(taken)) = self.grow(wanted, amount, Patience::Quick, &mut search) {
                    return Ok(taken);
                }
            }
            if !is_captured && let Some(taken) = self.take_over(wanted, stream)? {
                return Ok(taken);
            }
            self.finish(wanted.key, stream)?;
            if let Some(taken) = take() {
                return Ok(taken);
            }
            // Many small gaps are one large one, after their pages went back.
            self.shed(wanted.bytes.max(self.ground.granule()), &mut search)?;
            let grown = self.grow(wanted, Amount::Exact, Patience::Quick, &mut search);
            if let Ok(Some(taken)) = grown {
                return Ok(taken);
            }
            self.shed(u64::MAX, &mut search)?;
            let refused = match self.grow(wanted, Amount::Exact, Patience::Patient, &mut search) {
                Ok(Some(taken)) => return Ok(taken),
                Ok(None) => None,
                Err(refused) => Some(refused),
            };
            if let Some(taken) = take() {
                return Ok(taken);
            }
            let Some(refused) = refused else { continue };
            if round < ROUNDS && self.await_moves(&search) {
                continue;
            }
            let asked = wanted.asked;
            let stats = self.book.with(|book| {
                book.counters.refused += 1;
                book.stats()
            });
            return Err(match refused {
                ElasticError::Driver(error) if !error.is_out_of_memory() => error.into(),
                source => PoolError::OutOfMemory { asked, stats: Box::new(stats), source },
            });
        }
    }

    /// Adds memory and takes the block from it in one breath, so that nobody else gets there first. `None`
    /// when the memory continues a gap that somebody else has taken meanwhile.
    fn grow(
        &self,
        wanted: &Wanted,
        amount: Amount,
        patience: Patience,
        search: &mut Search,
    ) -> Result<Option<Taken>, ElasticError> {
        let (granule, end) = (self.ground.granule(), self.ground.bytes());
        let planned = self.book.with(|book| book.plan(wanted, amount, granule, end));
        let nowhere = ElasticError::NeverFits { asked: wanted.bytes, limit: end };
        let growth: Growth = planned.ok_or(nowhere)?;
        search.own += 1;
        let committed = self.ground.commit(growth.bytes.clone(), patience);
        let taken = self.book.with(|book| match &committed {
            Ok(()) => {
                book.grew(&growth);
                let taken = book.take(wanted);
                book.counters.grown_for += u64::from(taken.is_some());
                taken
            }
            Err(_) => {
                book.settle_moving(&growth.bytes);
                None
            }
        });
        self.book.notify();
        committed.map(|()| taken)
    }

    /// Takes a gap of another stream, whose end the stream waits for.
    fn take_over(&self, wanted: &Wanted, stream: &G::Stream) -> Result<Option<Taken>, PageError> {
        let found = self.book.with(|book| {
            let found = book.take_over(wanted).or_else(|| book.take_waiting(wanted));
            book.counters.taken_over += u64::from(found.is_some());
            found
        });
        let Some((taken, marks)) = found else { return Ok(None) };
        if self.rules.breaks(PoolMutation::ForeignWithoutWait) {
            return Ok(Some(taken));
        }
        for mark in marks {
            if let Err(error) = self.ground.wait(stream, &mark) {
                // Without the order between the streams it is over when the device has settled.
                self.book
                    .with(|book| book.free(taken.place, Key::Unknown, None, Vec::new(), false));
                return Err(error);
            }
        }
        Ok(Some(taken))
    }

    /// Gives whole pages of clean gaps back.
    pub(super) fn shed(&self, bytes: u64, search: &mut Search) -> Result<u64, PoolError> {
        let (granule, handle) = (self.ground.granule(), self.ground.largest_handle());
        let (gone, offer) =
            self.book.with(|book| (book.shed(bytes, granule, handle), book.counters.offer()));
        self.offer(offer);
        search.own += gone.len() as u64;
        let mut answer = Ok(());
        for bytes in &gone {
            answer = answer.and(self.ground.uncommit(bytes.clone()));
        }
        let trimmed = if gone.is_empty() { Ok(0) } else { self.ground.trim(bytes) };
        self.book.with(|book| {
            gone.iter().for_each(|bytes| book.settle_moving(bytes));
            book.counters.shed += trimmed.as_ref().copied().unwrap_or(0);
        });
        self.book.notify();
        Ok(answer.and(trimmed)?)
    }

    /// Waits for memory that others are moving at this moment. False if nobody has moved any since the
    /// search began.
    fn await_moves(&self, search: &Search) -> bool {
        let mut ended = None;
        self.book.wait_while(|book| {
            let first = *ended.get_or_insert(book.moves_ended);
            !book.moving.is_empty() && book.moves_ended == first
        });
        self.book.with(|book| book.moves_ended) > search.ended + search.own
    }
}
