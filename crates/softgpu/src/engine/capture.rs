//! Streams that write their work down in a graph instead of doing it.
//!
//! A capture begins in one stream and spreads to others that wait for its events. Calls that would
//! wait for a capturing stream, or that could do so inside, are refused, and the capture is broken:
//! its end then answers an error.
//!
//! Streams are known by their lanes here, so that a thread's own default stream is one like others.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use millpond_cuda::sys::Status;

use super::contexts::Context;
use super::graph::Graph;
use super::ids;
use super::queue::LEGACY;

const GLOBAL: u32 = 0;
const THREAD_LOCAL: u32 = 1;
const RELAXED: u32 = 2;

thread_local! {
    static THREAD_MODE: Cell<u32> = const { Cell::new(GLOBAL) };
}

/// `cuThreadExchangeStreamCaptureMode`; the card takes any number.
pub fn exchange_mode(mode: u32) -> u32 {
    THREAD_MODE.replace(mode)
}

#[derive(Debug)]
struct Capture {
    graph: Arc<Graph>,
    mode: u32,
    thread: ThreadId,
    origin: u64,
    context: Arc<Context>,
    broken: bool,
}

impl Capture {
    /// A capture whose context was destroyed cannot be ended, and binds nobody.
    fn binds(&self) -> bool {
        self.context.check() != Err(Status::CONTEXT_IS_DESTROYED)
    }
}

/// One stream of a capture.
#[derive(Debug)]
struct Branch {
    capture: u64,
    /// What its next node comes after.
    after: Vec<u64>,
    blocking: bool,
}

#[derive(Debug, Default)]
struct State {
    captures: HashMap<u64, Capture>,
    branches: HashMap<u64, Branch>,
    events: HashMap<u64, (u64, Vec<u64>)>,
    /// The list that `info` last showed for a stream.
    shown: HashMap<u64, Box<[u64]>>,
}

/// Where a stream's next node goes.
#[derive(Debug)]
pub struct Tip {
    pub graph: Arc<Graph>,
    /// The nodes that come before it.
    pub after: Vec<u64>,
}

/// What is known about a capturing stream.
#[derive(Debug)]
pub struct Info {
    /// Whether an error broke the capture.
    pub broken: bool,
    pub id: u64,
    pub graph: u64,
    /// The nodes that the next one comes after, in memory that stays until the stream goes on.
    pub after: (*const u64, usize),
}

/// All captures of this process.
#[derive(Debug, Default)]
pub struct Captures {
    count: AtomicUsize,
    state: Mutex<State>,
}

impl Captures {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing captures: the usual case costs one load.
    fn none(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    pub fn begin(
        &self,
        stream: u64,
        context: &Arc<Context>,
        mode: u32,
        graph: Arc<Graph>,
    ) -> Result<(), Status> {
        let mut state = self.lock();
        if state.branches.contains_key(&stream) {
            return Err(Status::ILLEGAL_STATE);
        }
        let id = ids::next();
        let blocking = context.queue.is_blocking(stream);
        let thread = std::thread::current().id();
        let context = Arc::clone(context);
        let capture = Capture { graph, mode, thread, origin: stream, context, broken: false };
        state.captures.insert(id, capture);
        state.branches.insert(stream, Branch { capture: id, after: Vec::new(), blocking });
        self.count.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// `cuStreamEndCapture`: the graph, with the answer if it must be thrown away.
    pub fn end(&self, stream: u64) -> Result<(Arc<Graph>, Result<(), Status>), Status> {
        let mut state = self.lock();
        let branch = state.branches.get(&stream).ok_or(Status::ILLEGAL_STATE)?;
        let (id, tip) = (branch.capture, branch.after.clone());
        let capture = state.captures.get(&id).ok_or(Status::ILLEGAL_STATE)?;
        if capture.mode != RELAXED && capture.thread != std::thread::current().id() {
            // It is over all the same, as on a card.
            state.forget(id);
            self.count.fetch_sub(1, Ordering::AcqRel);
            return Err(Status::STREAM_CAPTURE_WRONG_THREAD);
        }
        if capture.origin != stream {
            if let Some(capture) = state.captures.get_mut(&id) {
                capture.broken = true;
            }
            return Err(Status::STREAM_CAPTURE_UNMATCHED);
        }
        // A branch is joined when the first stream's tip comes after the branch's.
        let joined = {
            let nodes = capture.graph.nodes();
            let mut reached: Vec<u64> = Vec::new();
            let mut open = tip;
            while let Some(node) = open.pop() {
                if !reached.contains(&node) {
                    reached.push(node);
                    let before = nodes.iter().find(|known| known.id == node);
                    open.extend(before.into_iter().flat_map(|node| node.after.iter().copied()));
                }
            }
            state
                .branches
                .values()
                .filter(|branch| branch.capture == id)
                .all(|branch| branch.after.iter().all(|node| reached.contains(node)))
        };
        let answer = match (capture.broken, joined) {
            (true, _) => Err(Status::STREAM_CAPTURE_INVALIDATED),
            (false, false) => Err(Status::STREAM_CAPTURE_UNJOINED),
            (false, true) => Ok(()),
        };
        let graph = Arc::clone(&capture.graph);
        state.forget(id);
        self.count.fetch_sub(1, Ordering::AcqRel);
        Ok((graph, answer))
    }

    /// A stream is destroyed: a capture that began there ends.
    pub fn drop_stream(&self, stream: u64) {
        if self.none() {
            return;
        }
        let mut state = self.lock();
        if let Some(branch) = state.branches.remove(&stream)
            && state.captures.get(&branch.capture).is_some_and(|capture| capture.origin == stream)
        {
            state.forget(branch.capture);
            self.count.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Where the next work of a stream is written down; `None` when it is to be done.
    pub fn tip(&self, stream: u64, context: &Context) -> Result<Option<Tip>, Status> {
        if self.none() {
            return Ok(None);
        }
        let mut state = self.lock();
        if stream == LEGACY {
            return state.refuse_legacy(context.id).map(|()| None);
        }
        let Some(branch) = state.branches.get(&stream) else { return Ok(None) };
        let capture = state.captures.get(&branch.capture).ok_or(Status::UNKNOWN)?;
        if capture.broken {
            return Err(Status::STREAM_CAPTURE_INVALIDATED);
        }
        Ok(Some(Tip { graph: Arc::clone(&capture.graph), after: branch.after.clone() }))
    }

    /// A node was added: what follows in the stream comes after it.
    pub fn advance(&self, stream: u64, node: u64) {
        if let Some(branch) = self.lock().branches.get_mut(&stream) {
            branch.after = vec![node];
        }
    }

    /// `cuEventRecord`: true when it was written down.
    pub fn record(&self, event: u64, stream: u64, context: &Context) -> Result<bool, Status> {
        if self.none() {
            return Ok(false);
        }
        let tip = self.tip(stream, context)?;
        let mut state = self.lock();
        let capture = state.branches.get(&stream).map(|branch| branch.capture);
        match (tip, capture) {
            (Some(tip), Some(capture)) => {
                state.events.insert(event, (capture, tip.after));
                Ok(true)
            }
            _ => {
                state.events.remove(&event);
                Ok(false)
            }
        }
    }

    /// `cuStreamWaitEvent`: true when it was written down. A stream that waits for an event of a
    /// capture takes part in it from then on.
    pub fn wait(&self, stream: u64, event: u64, context: &Context) -> Result<bool, Status> {
        if self.none() {
            return Ok(false);
        }
        self.tip(stream, context)?;
        let mut state = self.lock();
        let recorded = state.events.get(&event).cloned();
        let own = state.branches.get(&stream).map(|branch| branch.capture);
        match (own, recorded) {
            (None, None) => Ok(false),
            (Some(own), None) => {
                state.break_it(own);
                Err(Status::STREAM_CAPTURE_ISOLATION)
            }
            (Some(own), Some((other, _))) if own != other => {
                state.break_it(own);
                state.break_it(other);
                Err(Status::STREAM_CAPTURE_MERGE)
            }
            (own, Some((capture, after))) => {
                if own.is_none() && stream == LEGACY {
                    state.break_it(capture);
                    return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
                }
                let blocking = context.queue.is_blocking(stream);
                let branch = state.branches.entry(stream).or_insert_with(|| Branch {
                    capture,
                    after: Vec::new(),
                    blocking,
                });
                for node in after {
                    if !branch.after.contains(&node) {
                        branch.after.push(node);
                    }
                }
                Ok(true)
            }
        }
    }

    /// Refuses to wait for a stream that captures.
    pub fn refuse_stream(&self, stream: u64, context: &Context) -> Result<(), Status> {
        if self.none() {
            return Ok(());
        }
        let mut state = self.lock();
        if stream == LEGACY {
            return state.refuse_legacy(context.id);
        }
        match state.branches.get(&stream).map(|branch| branch.capture) {
            None => Ok(()),
            Some(capture) => {
                state.break_it(capture);
                Err(Status::STREAM_CAPTURE_UNSUPPORTED)
            }
        }
    }

    /// Refuses to wait for an event of a capture.
    pub fn refuse_event(&self, event: u64) -> Result<(), Status> {
        if self.none() {
            return Ok(());
        }
        let mut state = self.lock();
        match state.events.get(&event).map(|recorded| recorded.0) {
            None => Ok(()),
            Some(capture) => {
                state.break_it(capture);
                Err(Status::CAPTURED_EVENT)
            }
        }
    }

    /// Refuses to wait for a context in which a stream captures.
    pub fn refuse_context(&self, context: u64) -> Result<(), Status> {
        if self.none() {
            return Ok(());
        }
        let mut refused = false;
        for capture in self.lock().captures.values_mut() {
            if capture.context.id == context && capture.binds() {
                (capture.broken, refused) = (true, true);
            }
        }
        if refused { Err(Status::STREAM_CAPTURE_UNSUPPORTED) } else { Ok(()) }
    }

    /// Refuses a call that could wait inside, as the modes of this thread and the captures say.
    pub fn refuse_unsafe_call(&self) -> Result<(), Status> {
        let mode = THREAD_MODE.get();
        if self.none() || mode >= RELAXED {
            return Ok(());
        }
        let own = std::thread::current().id();
        let mut refused = false;
        for capture in self.lock().captures.values_mut() {
            let concerned = match capture.mode {
                GLOBAL => mode == GLOBAL || capture.thread == own,
                THREAD_LOCAL => capture.thread == own,
                _ => false,
            };
            if concerned && capture.binds() {
                (capture.broken, refused) = (true, true);
            }
        }
        if refused { Err(Status::STREAM_CAPTURE_UNSUPPORTED) } else { Ok(()) }
    }

    /// `cuStreamGetCaptureInfo`; `None` for a stream that does not capture.
    pub fn info(&self, stream: u64, context: &Context) -> Result<Option<Info>, Status> {
        if self.none() {
            return Ok(None);
        }
        let mut state = self.lock();
        if stream == LEGACY {
            // Asking breaks nothing.
            let blocked = state.blocks_legacy(context.id).next().is_some();
            return if blocked { Err(Status::STREAM_CAPTURE_IMPLICIT) } else { Ok(None) };
        }
        let Some(branch) = state.branches.get(&stream) else { return Ok(None) };
        let (id, after) = (branch.capture, branch.after.clone().into_boxed_slice());
        let capture = state.captures.get(&id).ok_or(Status::UNKNOWN)?;
        let (broken, graph) = (capture.broken, capture.graph.id);
        let after = state.shown.entry(stream).insert_entry(after).into_mut();
        Ok(Some(Info { broken, id, graph, after: (after.as_ptr(), after.len()) }))
    }
}

impl State {
    fn break_it(&mut self, capture: u64) {
        if let Some(capture) = self.captures.get_mut(&capture) {
            capture.broken = true;
        }
    }

    fn forget(&mut self, capture: u64) {
        self.captures.remove(&capture);
        self.branches.retain(|_, branch| branch.capture != capture);
        self.events.retain(|_, recorded| recorded.0 != capture);
        let Self { branches, shown, .. } = self;
        shown.retain(|stream, _| branches.contains_key(stream));
    }

    /// The captures for which the legacy stream of a context would have to wait.
    fn blocks_legacy(&self, context: u64) -> impl Iterator<Item = u64> {
        self.branches
            .values()
            .filter(move |branch| {
                let capture = self.captures.get(&branch.capture);
                branch.blocking && capture.is_some_and(|it| it.context.id == context && it.binds())
            })
            .map(|branch| branch.capture)
    }

    fn refuse_legacy(&mut self, context: u64) -> Result<(), Status> {
        let blocked: Vec<u64> = self.blocks_legacy(context).collect();
        for capture in &blocked {
            self.break_it(*capture);
        }
        if blocked.is_empty() { Ok(()) } else { Err(Status::STREAM_CAPTURE_IMPLICIT) }
    }
}

#[cfg(test)]
mod tests;
