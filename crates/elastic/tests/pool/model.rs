//! A card of streams on which work is done when a test says so, in any order that the device may choose.

use crate::gate::Gate;
use millpond_cuda::CudaError;
use millpond_cuda::sys::Status;
use millpond_elastic::PageError;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub const GRANULE: u64 = 2 << 20;

/// A stream, which dies with its last clone.
pub type Stream = Arc<OneStream>;

#[derive(Debug)]
pub struct OneStream {
    /// Never given twice.
    pub id: u64,
    /// Given to another stream when this one is gone.
    pub handle: u64,
    vacant: Arc<Mutex<Vec<u64>>>,
}

impl Deref for OneStream {
    type Target = u64;

    fn deref(&self) -> &u64 {
        &self.id
    }
}

impl PartialEq for OneStream {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Drop for OneStream {
    fn drop(&mut self) {
        self.vacant.lock().unwrap_or_else(PoisonError::into_inner).push(self.handle);
    }
}

/// A place in a stream: after so many items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub stream: u64,
    pub position: u64,
}

/// Work on the memory of a block.
#[derive(Clone, Debug)]
pub struct Work {
    pub offsets: Range<u64>,
    /// The number of its block: blocks that are handed out later have larger ones.
    serial: u64,
    /// The graph that it runs for, and the stream that was captured.
    graph: Option<u64>,
    branch: u64,
}

impl Work {
    fn overlaps(&self, other: &Self) -> bool {
        self.offsets.start < other.offsets.end && other.offsets.start < self.offsets.end
    }
}

#[derive(Clone, Debug)]
pub enum Item {
    Work(Work),
    Wait(Mark),
}

#[derive(Debug, Default)]
pub struct Queue {
    pub items: VecDeque<Item>,
    done: u64,
    pub submitted: u64,
    pub capture: Option<u64>,
}

#[derive(Debug, Default)]
pub struct State {
    /// Granules that may have memory in all.
    pub limit: u64,
    pub committed: BTreeSet<u64>,
    pub streams: BTreeMap<u64, Queue>,
    graphs: BTreeMap<u64, Vec<Work>>,
    next: u64,
    /// Promises that were broken.
    pub faults: Vec<String>,
    /// The next so many calls that can fail succeed, and then one fails.
    pub fail_in: Option<u32>,
    /// What a patient commit finds more than a quick one.
    pub others: u64,
    pub records: u64,
    /// Patient commits that found no memory.
    pub refusals: u64,
    /// Calls of any kind but questions about streams.
    pub calls: u64,
    /// The driver is gone, and every call says so.
    pub is_gone: bool,
}

/// The modelled card. Clones are one.
#[derive(Clone)]
pub struct Card {
    state: Arc<Mutex<State>>,
    vacant: Arc<Mutex<Vec<u64>>>,
    pub gate: Arc<Gate>,
    pub bytes: u64,
    pause: fn(),
    /// Whether the pool may keep streams.
    pub lasting: bool,
    /// Says the handles of streams where their numbers are asked for.
    pub confuses_streams: bool,
}

impl Card {
    /// So many granules of addresses, and of memory.
    pub fn new(granules: u64, limit: u64) -> Self {
        Self::with_pause(granules, limit, || {})
    }

    /// As [`Card::new`]; `pause` is called in every call, where other threads may go on.
    pub fn with_pause(granules: u64, limit: u64, pause: fn()) -> Self {
        let state = State { limit, ..State::default() };
        Self {
            state: Arc::new(Mutex::new(state)),
            vacant: Arc::default(),
            gate: Arc::default(),
            bytes: granules * GRANULE,
            pause,
            lasting: true,
            confuses_streams: false,
        }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call of the driver, which may be held up and may fail.
    pub fn call(&self, name: &'static str) -> Result<MutexGuard<'_, State>, PageError> {
        (self.pause)();
        self.gate.pass(name);
        let mut state = self.state();
        state.calls += 1;
        if state.is_gone {
            return Err(error(name, Status::DEINITIALIZED));
        }
        match &mut state.fail_in {
            Some(0) => {
                state.fail_in = None;
                Err(error(name, Status::UNKNOWN))
            }
            Some(left) => {
                *left -= 1;
                Ok(state)
            }
            None => Ok(state),
        }
    }

    pub fn stream(&self) -> Stream {
        let vacant = self.vacant.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut state = self.state();
        state.next += 1;
        let id = state.next;
        state.streams.insert(id, Queue::default());
        drop(state);
        let vacant_handles = Arc::clone(&self.vacant);
        Arc::new(OneStream { id, handle: vacant.unwrap_or(id), vacant: vacant_handles })
    }

    pub fn faults(&self) -> Vec<String> {
        self.state().faults.clone()
    }

    pub fn committed_bytes(&self) -> u64 {
        self.state().committed.len() as u64 * GRANULE
    }

    /// Gives a stream work on a block.
    pub fn work(&self, stream: &Stream, offsets: Range<u64>, serial: u64) {
        let mut state = self.state();
        state.check_backed(&offsets, "work is submitted");
        let capture = state.streams[&stream.id].capture;
        let work = Work { offsets, serial, graph: capture, branch: stream.id };
        match capture {
            Some(capture) => {
                state.check_branches(capture, &work);
                state.graphs.entry(capture).or_default().push(work);
            }
            None => {
                state.check_graphs(&work);
                state.push(stream.id, Item::Work(work));
            }
        }
    }

    /// Has a stream wait for what another was given, as programs do.
    pub fn order(&self, first: &Stream, then: &Stream) {
        let mut state = self.state();
        let position = state.streams[&first.id].submitted;
        state.push(then.id, Item::Wait(Mark { stream: first.id, position }));
    }

    pub fn begin_capture(&self, stream: &Stream) -> u64 {
        let mut state = self.state();
        state.next += 1;
        let id = state.next;
        if let Some(queue) = state.streams.get_mut(&stream.id) {
            queue.capture = Some(id);
        }
        id
    }

    /// Has a stream take part in the capture of another.
    pub fn join_capture(&self, first: &Stream, then: &Stream) {
        let mut state = self.state();
        let capture = state.streams[&first.id].capture;
        if let Some(queue) = state.streams.get_mut(&then.id) {
            queue.capture = capture;
        }
    }

    pub fn end_capture(&self, stream: &Stream) {
        if let Some(queue) = self.state().streams.get_mut(&stream.id) {
            queue.capture = None;
        }
    }

    /// Runs a graph in a stream.
    pub fn launch(&self, graph: u64, stream: &Stream) {
        let mut state = self.state();
        for work in state.graphs.get(&graph).cloned().unwrap_or_default() {
            state.check_backed(&work.offsets, "a graph is launched");
            state.push(stream.id, Item::Work(work));
        }
    }

    /// A graph will not run again.
    pub fn drop_graph(&self, graph: u64) {
        self.state().graphs.remove(&graph);
    }

    /// Does the next item of a stream, if nothing is in its way.
    pub fn step(&self, stream: u64) -> bool {
        self.state().step(stream)
    }

    /// Does everything that a stream was given.
    pub fn run(&self, stream: &Stream) {
        let mut state = self.state();
        let position = state.streams[&stream.id].submitted;
        state.run_to(Mark { stream: stream.id, position });
    }

    pub fn is_idle(&self, stream: &Stream) -> bool {
        self.state().streams[&stream.id].items.is_empty()
    }
}

impl State {
    pub fn push(&mut self, stream: u64, item: Item) {
        if let Some(queue) = self.streams.get_mut(&stream) {
            queue.items.push_back(item);
            queue.submitted += 1;
        }
    }

    /// No graph of the card will run again.
    pub fn forget_graphs(&mut self) {
        self.graphs.clear();
    }

    fn check_backed(&mut self, offsets: &Range<u64>, what: &str) {
        let granules = offsets.start / GRANULE..offsets.end.div_ceil(GRANULE);
        for granule in granules {
            if !self.committed.contains(&granule) {
                self.faults.push(format!("{what} on {offsets:?}, where there is no memory"));
            }
        }
    }

    pub fn is_passed(&self, mark: Mark) -> bool {
        self.streams[&mark.stream].done >= mark.position
    }

    fn step(&mut self, stream: u64) -> bool {
        let Some(item) = self.streams[&stream].items.front().cloned() else { return false };
        match item {
            Item::Wait(mark) if !self.is_passed(mark) => return false,
            Item::Wait(_) => {}
            Item::Work(work) => self.do_work(&work),
        }
        if let Some(queue) = self.streams.get_mut(&stream) {
            queue.items.pop_front();
            queue.done += 1;
        }
        true
    }

    /// Branches of a graph may run at once.
    fn check_branches(&mut self, graph: u64, work: &Work) {
        let is_hit = |other: &&Work| other.overlaps(work) && other.branch != work.branch;
        let hit = self.graphs.get(&graph).and_then(|works| works.iter().find(is_hit));
        let fault = hit.map(|other| format!("{work:?} may run beside {other:?}"));
        self.faults.extend(fault);
    }

    /// What a graph uses is nobody else's while the graph may run.
    fn check_graphs(&mut self, work: &Work) {
        let works = self.graphs.values().flatten();
        let mut hits = works.filter(|other| other.overlaps(work) && other.serial < work.serial);
        let hit = hits.next();
        let fault = hit.map(|other| format!("{work:?} uses memory of a graph: {other:?}"));
        self.faults.extend(fault);
    }

    /// Memory that changed hands must not be used while older work on it is still to be done.
    fn do_work(&mut self, work: &Work) {
        self.check_backed(&work.offsets, "work is done");
        let is_early = |other: &Work| {
            other.serial < work.serial && (work.graph.is_none() || other.graph != work.graph)
        };
        let items = self.streams.values().flat_map(|queue| &queue.items);
        let early = items.filter_map(|item| match item {
            Item::Work(other) if other.overlaps(work) && is_early(other) => Some(other),
            _ => None,
        });
        let fault = early.map(|other| format!("{work:?} is done before {other:?}")).next();
        self.faults.extend(fault);
    }

    /// Does what is needed until a mark is passed.
    pub fn run_to(&mut self, mark: Mark) {
        while !self.is_passed(mark) {
            if self.step(mark.stream) {
                continue;
            }
            match self.streams[&mark.stream].items.front() {
                Some(Item::Wait(first)) => self.run_to(*first),
                _ => return,
            }
        }
    }

    pub fn settle(&mut self) {
        let all: Vec<_> = self
            .streams
            .iter()
            .map(|(id, queue)| Mark { stream: *id, position: queue.submitted })
            .collect();
        all.into_iter().for_each(|mark| self.run_to(mark));
    }
}

pub fn error(call: &'static str, status: Status) -> PageError {
    CudaError { call, status, detail: None }.into()
}
