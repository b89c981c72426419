//! The streams of one context: which work may run, and when.
//!
//! Each stream is a lane with its own thread. An item runs when it is at the front of its lane, all
//! that it must come after is done, and it is allowed:
//!
//! - normally at once;
//! - in adversarial mode only when somebody waits for it (for itself or for something that comes
//!   after it), when it was asked about many times, or when it has waited for a long time.
//!
//! Lane 0 is the legacy stream: it comes after everything submitted before it to blocking lanes, and
//! they come after it. A synchronous call runs its item on the calling thread when its turn comes.
//!
//! The first item that meets an illegal address loses the context: nothing runs any more, and every
//! answer is that fault.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use millpond_cuda::sys::Status;

use super::job::{Job, JobError, Site};

/// The legacy stream's lane.
pub const LEGACY: u64 = 0;

/// Adversarial mode lets work go after this time: a program that never waits must still end.
const IDLE: Duration = Duration::from_secs(2);

/// Adversarial mode lets work go when it was asked about this often: polling must end.
const QUERIES: u32 = 100;

/// A place in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub lane: u64,
    /// The number of the item in it, from 1.
    pub number: u64,
}

#[derive(Debug)]
struct Item {
    number: u64,
    job: Job,
    after: Vec<Position>,
    by_caller: bool,
    since: Instant,
}

#[derive(Debug, Default)]
struct Lane {
    blocking: bool,
    items: VecDeque<Item>,
    submitted: u64,
    completed: u64,
    demanded: u64,
    queries: u32,
    running: bool,
    has_thread: bool,
    closed: bool,
    /// How far this lane's future comes after other lanes, by what it was told to wait for.
    seen: HashMap<u64, u64>,
}

#[derive(Debug, Default)]
struct State {
    lanes: HashMap<u64, Lane>,
    fault: Option<Status>,
}

/// All lanes of one context.
#[derive(Debug)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    adversarial: bool,
    site: Site,
}

impl Queue {
    /// A queue with only the legacy stream.
    pub fn new(site: Site, adversarial: bool) -> Arc<Self> {
        let mut state = State::default();
        state.lanes.insert(LEGACY, Lane { blocking: true, ..Lane::default() });
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new(), adversarial, site })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleep<'a>(
        &self,
        state: MutexGuard<'a, State>,
        limit: Option<Duration>,
    ) -> MutexGuard<'a, State> {
        match limit {
            None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                self.changed.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    /// The fault that lost the context, if one did.
    pub fn fault(&self) -> Option<Status> {
        self.lock().fault
    }

    /// Where the queue's jobs run.
    pub fn site(&self) -> &Site {
        &self.site
    }

    pub fn open(&self, lane: u64, blocking: bool) {
        self.lock().lanes.insert(lane, Lane { blocking, ..Lane::default() });
    }

    /// Removes a stream once its work is done; does not wait.
    pub fn close(&self, lane: u64) {
        let mut state = self.lock();
        if let Some(entry) = state.lanes.get_mut(&lane) {
            entry.closed = true;
            if !entry.has_thread && entry.items.is_empty() {
                state.lanes.remove(&lane);
            }
        }
        self.changed.notify_all();
    }

    /// Ends all lanes, when the context ends.
    pub fn close_all(&self) {
        let lanes: Vec<u64> = self.lock().lanes.keys().copied().collect();
        for lane in lanes {
            self.close(lane);
        }
    }

    /// Queues work and returns at once.
    pub fn submit(self: &Arc<Self>, lane: u64, job: Job) -> Result<Position, Status> {
        self.submit_after(lane, job, None)
    }

    /// Queues work that also comes after a place in any lane.
    pub fn submit_after(
        self: &Arc<Self>,
        lane: u64,
        job: Job,
        after: Option<Position>,
    ) -> Result<Position, Status> {
        let mut state = self.lock();
        let number = state.push(lane, job, after, false)?;
        let start_thread = state
            .lanes
            .get_mut(&lane)
            .is_some_and(|entry| !std::mem::replace(&mut entry.has_thread, true));
        drop(state);
        if start_thread {
            let queue = Arc::clone(self);
            let thread =
                std::thread::Builder::new().name("softgpu-stream".to_owned()).stack_size(256 << 10);
            if thread.spawn(move || queue.work(lane)).is_err() {
                let mut state = self.lock();
                if let Some(entry) = state.lanes.get_mut(&lane) {
                    entry.has_thread = false;
                    entry.items.retain(|item| item.number != number);
                    entry.submitted = entry.submitted.min(number - 1);
                }
                return Err(Status::OUT_OF_MEMORY);
            }
        }
        self.changed.notify_all();
        Ok(Position { lane, number })
    }

    /// Runs work on the calling thread, after all that comes before it.
    pub fn run(&self, lane: u64, job: Job) -> Result<(), Status> {
        let mut state = self.lock();
        let number = state.push(lane, job, None, true)?;
        state.demand(Position { lane, number });
        self.changed.notify_all();
        let item = loop {
            if state.turn(lane).is_some_and(|item| item.number == number)
                && let Some(entry) = state.lanes.get_mut(&lane)
                && let Some(item) = entry.items.pop_front()
            {
                entry.running = true;
                break item;
            }
            state = self.sleep(state, None);
        };
        let fault = state.fault;
        drop(state);
        let result = fault.map_or_else(|| item.job.run(&self.site).map_err(JobError::status), Err);
        let sticky = result.err().filter(|status| *status == Status::ILLEGAL_ADDRESS);
        self.complete(lane, number, sticky);
        result
    }

    fn complete(&self, lane: u64, number: u64, fault: Option<Status>) {
        let mut state = self.lock();
        state.fault = state.fault.or(fault);
        if let Some(entry) = state.lanes.get_mut(&lane) {
            entry.running = false;
            entry.completed = entry.completed.max(number);
            entry.queries = 0;
            if entry.closed && !entry.has_thread && entry.items.is_empty() {
                state.lanes.remove(&lane);
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    fn work(&self, lane: u64) {
        let mut state = self.lock();
        loop {
            let limit = match state.turn(lane) {
                Some(item) if item.by_caller => None,
                Some(item) => {
                    let waited = item.since.elapsed();
                    let demanded =
                        state.lanes.get(&lane).is_some_and(|entry| entry.demanded >= item.number);
                    if !self.adversarial || demanded || waited >= IDLE || state.fault.is_some() {
                        let fault = state.fault;
                        let next = state.lanes.get_mut(&lane).and_then(|entry| {
                            entry.running = true;
                            entry.items.pop_front()
                        });
                        drop(state);
                        if let Some(item) = next {
                            let failed = fault.is_none() && item.job.run(&self.site).is_err();
                            // An asynchronous job has no caller left to tell: any failure is the context's.
                            self.complete(
                                lane,
                                item.number,
                                failed.then_some(Status::ILLEGAL_ADDRESS),
                            );
                        }
                        state = self.lock();
                        continue;
                    }
                    Some(IDLE.saturating_sub(waited))
                }
                None => match state.lanes.get(&lane) {
                    Some(entry) if entry.closed && entry.items.is_empty() => {
                        state.lanes.remove(&lane);
                        return;
                    }
                    None => return,
                    Some(_) => None,
                },
            };
            state = self.sleep(state, limit);
        }
    }

    /// The place after everything submitted to a lane so far.
    pub fn end(&self, lane: u64) -> Position {
        let number = self.lock().lanes.get(&lane).map_or(0, |entry| entry.submitted);
        Position { lane, number }
    }

    /// Waits for a place to be passed.
    pub fn wait(&self, position: Position) -> Result<(), Status> {
        let mut state = self.lock();
        state.demand(position);
        self.changed.notify_all();
        while !state.is_done(position) {
            state = self.sleep(state, None);
        }
        state.fault.map_or(Ok(()), Err)
    }

    /// Waits for everything submitted so far.
    pub fn wait_all(&self) -> Result<(), Status> {
        let mut state = self.lock();
        let ends: Vec<Position> = state
            .lanes
            .iter()
            .map(|(lane, entry)| Position { lane: *lane, number: entry.submitted })
            .collect();
        for position in &ends {
            state.demand(*position);
        }
        self.changed.notify_all();
        while !ends.iter().all(|position| state.is_done(*position)) {
            state = self.sleep(state, None);
        }
        state.fault.map_or(Ok(()), Err)
    }

    /// Whether a place was passed, asked by the driver itself: it lets nothing run.
    pub fn passed(&self, position: Position) -> bool {
        let state = self.lock();
        state.fault.is_some() || state.is_done(position)
    }

    /// Whether whatever is submitted to a lane from now on comes after a place.
    pub fn orders(&self, lane: u64, position: Position) -> bool {
        let state = self.lock();
        let seen = state.lanes.get(&lane).and_then(|entry| entry.seen.get(&position.lane));
        lane == position.lane || seen.is_some_and(|number| *number >= position.number)
    }

    /// Whether a lane and the legacy stream wait for each other.
    pub fn is_blocking(&self, lane: u64) -> bool {
        self.lock().lanes.get(&lane).is_some_and(|entry| entry.blocking)
    }

    /// Whether a place was passed.
    pub fn query(&self, position: Position) -> Result<(), Status> {
        let mut state = self.lock();
        if let Some(fault) = state.fault {
            return Err(fault);
        }
        if state.is_done(position) {
            return Ok(());
        }
        if let Some(entry) = state.lanes.get_mut(&position.lane) {
            entry.queries += 1;
            if entry.queries >= QUERIES {
                state.demand(position);
                self.changed.notify_all();
            }
        }
        Err(Status::NOT_READY)
    }
}

impl State {
    fn push(
        &mut self,
        lane: u64,
        job: Job,
        after: Option<Position>,
        by_caller: bool,
    ) -> Result<u64, Status> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let blocking = self.lanes.get(&lane).ok_or(Status::INVALID_HANDLE)?.blocking;
        let mut before: Vec<Position> = after.into_iter().collect();
        if lane == LEGACY {
            let others = self.lanes.iter().filter(|(id, entry)| {
                **id != LEGACY && entry.blocking && entry.submitted > entry.completed
            });
            before
                .extend(others.map(|(id, entry)| Position { lane: *id, number: entry.submitted }));
        } else if blocking && let Some(legacy) = self.lanes.get(&LEGACY) {
            before.push(Position { lane: LEGACY, number: legacy.submitted });
        }
        let entry = self.lanes.get_mut(&lane).ok_or(Status::INVALID_HANDLE)?;
        entry.submitted += 1;
        let number = entry.submitted;
        for position in &before {
            let seen = entry.seen.entry(position.lane).or_insert(0);
            *seen = (*seen).max(position.number);
        }
        entry.items.push_back(Item {
            number,
            job,
            after: before,
            by_caller,
            since: Instant::now(),
        });
        Ok(number)
    }

    fn is_done(&self, position: Position) -> bool {
        self.lanes.get(&position.lane).is_none_or(|entry| entry.completed >= position.number)
    }

    /// The item whose turn it is in a lane.
    fn turn(&self, lane: u64) -> Option<&Item> {
        let entry = self.lanes.get(&lane)?;
        let item = entry.items.front()?;
        (!entry.running && item.after.iter().all(|position| self.is_done(*position)))
            .then_some(item)
    }

    /// Lets everything up to a place run, and all that must come before it.
    fn demand(&mut self, position: Position) {
        let mut open = vec![position];
        while let Some(Position { lane, number }) = open.pop() {
            let Some(entry) = self.lanes.get_mut(&lane) else { continue };
            if entry.demanded < number {
                entry.demanded = number;
                open.extend(
                    entry
                        .items
                        .iter()
                        .take_while(|item| item.number <= number)
                        .flat_map(|item| item.after.iter().copied()),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests;
