//! A cache gives pages back: asked, or by itself. Work ends, then the mapping, then the memory, and
//! the credit last.

use millpond_ledger::{UNIT, protocol};
use millpond_wire::message::{CacheGave, Gave, Pressure, RequestBody};

use super::line::What;
use super::{CacheProcess, Extent, State};
use crate::mutation::Mutation;
use crate::oracle::Violation;
use crate::rng::Rng;
use crate::world::World;

/// What a process was asked for, and what came of it.
#[derive(Debug)]
pub(super) struct Asked {
    ask: u64,
    left: u64,
    /// Given since the last answer.
    unsaid: u64,
    /// It gives what it uses as well.
    generous: bool,
    /// It has said that more follows.
    deferred: bool,
}

/// What it can do next about giving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Nothing,
    /// This extent goes one step further.
    Go(usize),
    /// This one is needed no longer.
    Offer(usize),
    /// The device still works on the rest.
    Defer,
    Answer(Gave),
    Close,
}

impl CacheProcess {
    /// The daemon asks for pages. Some answer never.
    pub(super) fn asked(&mut self, request: &Pressure, rng: &mut Rng, busy: bool) {
        let known = self.asks.iter().any(|it| it.ask == request.ask);
        if request.cache != self.cache || known || (busy && rng.once_in(6)) {
            return;
        }
        self.asks.push(Asked {
            ask: request.ask,
            left: request.bytes.div_ceil(UNIT),
            unsaid: 0,
            generous: !(busy && rng.once_in(4)),
            deferred: false,
        });
    }

    pub(super) fn may_give(&self, mutation: Option<Mutation>) -> bool {
        self.next(mutation) != Next::Nothing
    }

    fn next(&self, mutation: Option<Mutation>) -> Next {
        let on_its_way = |extent: &Extent| !matches!(extent.state, State::Used | State::Idle);
        if let Some(extent) = self.extents.iter().position(on_its_way) {
            return Next::Go(extent);
        }
        let free = |it: &Extent| mutation == Some(Mutation::NoFence) || !self.runs_on(it.handle);
        let find = |state, done: bool| {
            self.extents.iter().position(|it| it.state == state && (!done || free(it)))
        };
        let Some(ask) = self.asks.first() else {
            return match (find(State::Idle, true), find(State::Used, false)) {
                _ if !self.closing || self.grows() => Next::Nothing,
                (Some(idle), _) => Next::Go(idle),
                (None, Some(used)) => Next::Offer(used),
                (None, None) if self.extents.is_empty() && !self.line.has_calls() => Next::Close,
                (None, None) => Next::Nothing,
            };
        };
        if ask.left == 0 {
            return Next::Answer(Gave::Applied);
        }
        if let Some(idle) = find(State::Idle, true) {
            return Next::Go(idle);
        }
        match (find(State::Idle, false), find(State::Used, false)) {
            (_, Some(used)) if ask.generous => Next::Offer(used),
            (Some(_), _) if ask.generous && !ask.deferred => Next::Defer,
            (Some(_), _) if ask.generous => Next::Nothing,
            _ => Next::Answer(Gave::Refused),
        }
    }
}

impl World {
    pub(super) fn give(&mut self, at: usize) -> Result<(), Violation> {
        let next = self.caches[at].next(self.mutation);
        let pid = self.caches[at].pid;
        self.trace.say(|| format!("  pid {pid} gives back: {next:?}"));
        match next {
            Next::Nothing => {}
            Next::Go(extent) => return self.go(at, extent),
            Next::Offer(extent) => {
                self.caches[at].extents[extent].state = State::Idle;
                self.say_idle(at);
            }
            Next::Defer => self.answer(at, Gave::Deferred),
            Next::Answer(outcome) => self.answer(at, outcome),
            Next::Close => {
                let process = &mut self.caches[at];
                if !process.line.closes() {
                    let body = RequestBody::CacheClose { cache: process.cache };
                    process.line.ask(body, What::Close);
                } else {
                    self.end_cache(at);
                }
            }
        }
        Ok(())
    }

    /// Gives something back that nobody has asked for.
    pub(super) fn trim_one(&mut self, at: usize) {
        let process = &mut self.caches[at];
        let is_free = |it: &Extent| it.state == State::Idle && !process.runs_on(it.handle);
        if let Some(extent) = process.extents.iter().position(is_free) {
            process.extents[extent].state = State::Unmapped;
            self.say_idle(at);
        }
    }

    /// One extent goes one step further on its way out.
    fn go(&mut self, at: usize, which: usize) -> Result<(), Violation> {
        let early = self.mutation == Some(Mutation::CreditBeforeRelease);
        let extent = &mut self.caches[at].extents[which];
        match extent.state {
            State::Used | State::Idle => {
                extent.state = State::Unmapped;
                self.say_idle(at);
            }
            State::Unmapped if early => {
                extent.state = State::Unpaid;
                self.give_credit(at, which);
                return self.check_paid(at);
            }
            State::Unmapped => {
                extent.state = State::Freed;
                self.card.free_frames(&extent.frames);
            }
            State::Freed => {
                self.give_credit(at, which);
                self.caches[at].extents.remove(which);
            }
            State::Unpaid => {
                self.card.free_frames(&extent.frames);
                self.caches[at].extents.remove(which);
            }
        }
        Ok(())
    }

    /// The ledger has the credit back, for anybody.
    fn give_credit(&mut self, at: usize, which: usize) {
        let given = self.caches[at].extents[which].units();
        let units = u32::try_from(given).unwrap_or(u32::MAX);
        let now_ms = self.clock.get();
        self.in_ledger(at, |file, process| {
            if let Some(slot) = file.slot(process.slot) {
                protocol::release(&slot.word, units);
                let kept = slot.wait(now_ms).1;
                protocol::strip(&slot.word, u32::try_from(kept).unwrap_or(u32::MAX));
            }
        });
        if let Some(ask) = self.caches[at].asks.first_mut() {
            ask.left = ask.left.saturating_sub(given);
            ask.unsaid += given;
        }
    }

    fn answer(&mut self, at: usize, outcome: Gave) {
        let process = &mut self.caches[at];
        let Some(ask) = process.asks.first_mut() else { return };
        let bytes = std::mem::take(&mut ask.unsaid) * UNIT;
        let gave = CacheGave { cache: process.cache, ask: ask.ask, bytes, outcome };
        if outcome == Gave::Deferred {
            ask.deferred = true;
        } else {
            process.asks.remove(0);
        }
        process.line.ask(RequestBody::CacheGave(gave), What::Gave);
    }
}
