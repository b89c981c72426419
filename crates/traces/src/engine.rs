//! The scheduler, the same for every way to divide memory.
//!
//! A request waits until all blocks of its prompt can be had, reads its prompt, and writes its answer
//! token by token; every sixteenth token takes one more block. Within one budget nobody overtakes who
//! waits, and blocks of running requests come before new ones. A running request that gets no block has
//! the youngest running request of its model give all of its blocks back; that one waits again, and
//! reads everything anew, as in vLLM. Who waits longer than its patience for the first block is refused,
//! and so is at once what is larger than its budget.

use crate::error::TraceError;
use crate::memory::{Memory, Taken};
use crate::model::{BLOCK_TOKENS, blocks_for};
use crate::outcome::{Outcome, Run};
use crate::pace::Pace;
use crate::trace::Trace;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::time::Duration;

/// Plays a trace.
///
/// # Errors
/// What memory answers, other than want of room; memory that is left at the end.
pub fn play<M: Memory>(
    trace: &Trace,
    memory: M,
    patience: Duration,
    pace: Pace,
) -> Result<Run, TraceError> {
    let mut engine = Engine::new(trace, memory, patience);
    engine.run.keeps_samples = matches!(pace, Pace::Wall(_));
    for (number, request) in trace.requests.iter().enumerate() {
        engine.plan(request.at, Event::Arrival(number));
    }
    while let Some(Reverse((due, _, event))) = engine.events.pop() {
        if engine.is_stale(event) {
            continue;
        }
        let now = pace.until(due);
        engine.happen(now, event)?;
        engine.run.note(now, &engine.used_bytes, &engine.memory);
    }
    engine.end()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A request comes.
    Arrival(usize),
    /// Its patience is over.
    Overdue(usize),
    /// Its blocks are full, or its answer is complete; the number tells an old plan from a new one.
    Step(usize, u32),
    /// Whoever waits for this budget asks again.
    Again(usize),
}

/// A request on its way.
#[derive(Clone, Debug, Default)]
struct Job {
    blocks: Vec<u32>,
    /// Tokens of the answer that were there at the moment `since`.
    written: u64,
    since: Duration,
    /// Which of its plans holds.
    plan: u32,
    first_block: Option<Duration>,
    first_token: Option<Duration>,
    is_over: bool,
}

struct Engine<'a, M> {
    trace: &'a Trace,
    memory: M,
    patience: Duration,
    events: BinaryHeap<Reverse<(Duration, u64, Event)>>,
    planned: u64,
    jobs: Vec<Job>,
    /// Who waits, for each budget; numbers of requests rise with their arrival.
    waiting: Vec<BTreeSet<usize>>,
    /// Whether somebody will ask again, for each budget.
    asks_again: Vec<bool>,
    /// Who runs, for each model.
    running: Vec<BTreeSet<usize>>,
    used_bytes: Vec<u64>,
    run: Run,
}

impl<'a, M: Memory> Engine<'a, M> {
    fn new(trace: &'a Trace, memory: M, patience: Duration) -> Self {
        let models = trace.models.len();
        Self {
            trace,
            patience,
            events: BinaryHeap::new(),
            planned: 0,
            jobs: vec![Job::default(); trace.requests.len()],
            waiting: vec![BTreeSet::new(); models],
            asks_again: vec![false; models],
            running: vec![BTreeSet::new(); models],
            used_bytes: vec![0; models],
            run: Run::new(trace, memory.limit_bytes()),
            memory,
        }
    }

    fn plan(&mut self, at: Duration, event: Event) {
        self.planned += 1;
        self.events.push(Reverse((at, self.planned, event)));
    }

    fn happen(&mut self, now: Duration, event: Event) -> Result<(), TraceError> {
        match event {
            Event::Arrival(number) => self.arrive(now, number),
            Event::Overdue(number) => self.give_up(now, number),
            Event::Step(number, _) => self.step(now, number),
            Event::Again(budget) => {
                self.asks_again[budget] = false;
                self.admit(now, budget)
            }
        }
    }

    /// Whether an event means nothing any more. Who was preempted has had its first block, and is
    /// never refused.
    fn is_stale(&self, event: Event) -> bool {
        match event {
            Event::Arrival(_) => false,
            Event::Overdue(number) => {
                self.jobs[number].is_over || self.jobs[number].first_block.is_some()
            }
            Event::Step(number, plan) => self.jobs[number].plan != plan,
            Event::Again(budget) => !self.asks_again[budget],
        }
    }

    fn model_of(&self, number: usize) -> usize {
        self.trace.requests[number].model
    }

    fn arrive(&mut self, now: Duration, number: usize) -> Result<(), TraceError> {
        let request = &self.trace.requests[number];
        let model = request.model;
        if !self.memory.fits(model, blocks_for(request.prompt_tokens + request.output_tokens)) {
            self.refuse(number);
            return Ok(());
        }
        let budget = self.memory.budget_of(model);
        self.waiting[budget].insert(number);
        self.plan(request.at + self.patience, Event::Overdue(number));
        self.admit(now, budget)
    }

    fn give_up(&mut self, now: Duration, number: usize) -> Result<(), TraceError> {
        let budget = self.memory.budget_of(self.model_of(number));
        self.waiting[budget].remove(&number);
        self.refuse(number);
        // Whoever stood behind it may be smaller.
        self.admit(now, budget)
    }

    fn refuse(&mut self, number: usize) {
        self.jobs[number].is_over = true;
        self.run.outcomes[number] = Outcome::Refused;
    }

    /// Lets those in who have waited longest, as long as there is room.
    fn admit(&mut self, now: Duration, budget: usize) -> Result<(), TraceError> {
        while let Some(number) = self.waiting[budget].first().copied() {
            let tokens = self.trace.requests[number].prompt_tokens + self.jobs[number].written;
            let Taken::At(at) = self.take(now, number, blocks_for(tokens))? else {
                if let Some(later) = self.memory.ask_again_after()
                    && !std::mem::replace(&mut self.asks_again[budget], true)
                {
                    self.plan(now + later, Event::Again(budget));
                }
                break;
            };
            self.waiting[budget].remove(&number);
            let model = self.model_of(number);
            self.running[model].insert(number);
            let read_at = at + self.trace.models[model].prefill(tokens);
            let job = &mut self.jobs[number];
            job.first_block.get_or_insert(at);
            job.first_token.get_or_insert(read_at);
            job.since = read_at;
            self.plan_step(number);
        }
        Ok(())
    }

    fn take(&mut self, now: Duration, number: usize, blocks: u64) -> Result<Taken, TraceError> {
        let model = self.model_of(number);
        let taken = self.memory.take(now, model, blocks, &mut self.jobs[number].blocks)?;
        if taken != Taken::Short {
            self.used_bytes[model] += blocks * self.trace.models[model].whole_block_bytes();
        }
        Ok(taken)
    }

    fn give(&mut self, now: Duration, number: usize) -> Result<(), TraceError> {
        let model = self.model_of(number);
        let blocks = std::mem::take(&mut self.jobs[number].blocks);
        self.used_bytes[model] -=
            blocks.len() as u64 * self.trace.models[model].whole_block_bytes();
        self.running[model].remove(&number);
        self.memory.give(now, model, &blocks)
    }

    /// How many tokens a job can write before something has to happen, and whether it is done then.
    fn until_step(&self, number: usize) -> (u64, bool) {
        let (request, job) = (&self.trace.requests[number], &self.jobs[number]);
        let left = request.output_tokens - job.written;
        let room = job.blocks.len() as u64 * BLOCK_TOKENS - request.prompt_tokens - job.written;
        (left.min(room), left <= room)
    }

    fn plan_step(&mut self, number: usize) {
        let (tokens, _) = self.until_step(number);
        let time = self.trace.models[self.model_of(number)].decode(tokens);
        let job = &mut self.jobs[number];
        job.plan += 1;
        let (at, plan) = (job.since + time, job.plan);
        self.plan(at, Event::Step(number, plan));
    }

    fn step(&mut self, now: Duration, number: usize) -> Result<(), TraceError> {
        let (tokens, is_done) = self.until_step(number);
        self.jobs[number].written += tokens;
        let (model, mut has_room) = (self.model_of(number), is_done);
        if is_done {
            self.finish(now, number)?;
        } else {
            loop {
                if let Taken::At(at) = self.take(now, number, 1)? {
                    self.jobs[number].since = at;
                    self.plan_step(number);
                    break;
                }
                let youngest = self.running[model].last().copied().unwrap_or(number);
                self.preempt(now, youngest)?;
                has_room = true;
                if youngest == number {
                    break;
                }
            }
        }
        if has_room {
            self.admit(now, self.memory.budget_of(model))?;
        }
        Ok(())
    }

    fn finish(&mut self, now: Duration, number: usize) -> Result<(), TraceError> {
        self.give(now, number)?;
        let (request, job) = (&self.trace.requests[number], &mut self.jobs[number]);
        job.is_over = true;
        if let (Some(block), Some(token)) = (job.first_block, job.first_token) {
            let (first_block, first_token) = (block - request.at, token - request.at);
            self.run.outcomes[number] = Outcome::Served { first_block, first_token };
        }
        Ok(())
    }

    /// Takes all blocks of a running request; what it has written so far is read again later.
    fn preempt(&mut self, now: Duration, number: usize) -> Result<(), TraceError> {
        let (most, _) = self.until_step(number);
        let model = self.model_of(number);
        let job = &mut self.jobs[number];
        if let Some(time) = now.checked_sub(job.since) {
            job.written += self.trace.models[model].decoded(time).min(most);
        }
        // Blocks that were still being made were never there, and a prompt that was not read to its
        // end has given no token yet.
        job.first_block = job.first_block.filter(|block| *block <= now);
        job.first_token = job.first_token.filter(|token| *token <= now);
        job.plan += 1;
        if job.first_block.is_none() {
            let due = self.trace.requests[number].at + self.patience;
            self.plan(due.max(now), Event::Overdue(number));
        }
        self.run.preemptions += 1;
        self.give(now, number)?;
        let budget = self.memory.budget_of(model);
        self.waiting[budget].insert(number);
        Ok(())
    }

    fn end(mut self) -> Result<Run, TraceError> {
        let closed = self.memory.close()?;
        let blocks = self.jobs.iter().map(|job| job.blocks.len() as u64).sum();
        if blocks > 0 || closed.left_bytes > 0 {
            return Err(TraceError::Left { blocks, bytes: closed.left_bytes });
        }
        if let Some(request) = self.run.outcomes.iter().position(|one| *one == Outcome::Unknown) {
            return Err(TraceError::Unserved { request });
        }
        self.run.driver = closed.driver;
        Ok(self.run)
    }
}
