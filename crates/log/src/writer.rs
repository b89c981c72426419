//! The thread that writes.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use millpond_wire::trust::TrustError;

use crate::file::distrust;
use crate::line::Style;
use crate::queue::{Next, Queue};
use crate::target::{Sink, Target, write_line};

/// Between two tries to start the thread, on a machine that has none left.
const START_AGAIN: Duration = Duration::from_secs(1);
/// Between two tries to get the lock in a process that is about to end.
const TRY_AGAIN: Duration = Duration::from_millis(1);

/// The log of one process. Copies are the same log.
#[derive(Clone, Debug)]
pub struct Log {
    shared: Arc<Shared>,
    style: Style,
    is_file: bool,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Something is to be written.
    filled: Condvar,
    /// Nothing is left to be written.
    drained: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: Queue,
    /// The thread has taken a line and is not done with it.
    is_writing: bool,
    start: Option<Start>,
}

/// A thread that could not be started yet.
struct Start {
    sink: Box<dyn Sink>,
    not_before: Instant,
}

impl std::fmt::Debug for Start {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Start").field("not_before", &self.not_before).finish_non_exhaustive()
    }
}

impl Log {
    /// Starts the thread. Where that is not possible, it is tried again with later lines.
    #[must_use]
    pub fn start(target: Target, style: Style) -> Log {
        let is_file = matches!(target, Target::File { .. });
        Log { is_file, ..Log::to(target.open(), style) }
    }

    pub(crate) fn to(sink: Box<dyn Sink>, style: Style) -> Log {
        let start = Some(Start { sink, not_before: Instant::now() });
        let state = Mutex::new(State { start, ..State::default() });
        let shared = Shared { state, filled: Condvar::new(), drained: Condvar::new() };
        let log = Log { shared: Arc::new(shared), style, is_file: false };
        log.start_thread(&mut log.lock());
        log
    }

    /// Hands over one line, with its end. Never waits for the target.
    pub fn push(&self, line: &[u8]) {
        let line = self.style.visible(line);
        self.push_to(&mut self.lock(), &line);
    }

    pub(crate) fn error_in_file(&self, message: &str) {
        if self.is_file {
            self.push(&self.style.line("ERROR", message));
        }
    }

    fn push_to(&self, state: &mut State, line: &[u8]) {
        state.queue.push(line);
        self.start_thread(state);
        self.shared.filled.notify_one();
    }

    /// Hands over a line of the log's own. For a process that is about to end: whoever keeps the
    /// lock may be this very thread, so it is waited for only so long.
    pub(crate) fn push_last(&self, message: &str, within: Duration) {
        let line = self.style.line("ERROR", message);
        let deadline = Instant::now() + within;
        loop {
            match self.shared.state.try_lock() {
                Ok(mut state) => return self.push_to(&mut state, &line),
                Err(TryLockError::Poisoned(poisoned)) => {
                    return self.push_to(&mut poisoned.into_inner(), &line);
                }
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return,
                Err(TryLockError::WouldBlock) => std::thread::sleep(TRY_AGAIN),
            }
        }
    }

    /// Waits until everything is written, for at most that long. Whether it is.
    pub fn flush(&self, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        loop {
            // Not by `lock`: in a process that is about to end nobody may be left to unlock it.
            if let Ok(state) = self.shared.state.try_lock() {
                let left = deadline.saturating_duration_since(Instant::now());
                let drained = self
                    .shared
                    .drained
                    .wait_timeout_while(state, left, |state| !state.is_drained());
                return drained.is_ok_and(|(state, _)| state.is_drained());
            }
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(TRY_AGAIN);
        }
    }

    fn start_thread(&self, state: &mut State) {
        let now = Instant::now();
        let Some(Start { sink, .. }) = state.start.take_if(|start| now >= start.not_before) else {
            return;
        };
        // The thread gets the sink when it runs: without a thread the sink stays here.
        let (give, take) = std::sync::mpsc::sync_channel::<Box<dyn Sink>>(1);
        let (shared, style) = (Arc::clone(&self.shared), self.style);
        let started =
            std::thread::Builder::new().name("millpond-log".to_owned()).spawn(move || {
                if let Ok(sink) = take.recv() {
                    shared.write(sink, style);
                }
            });
        match started {
            // The other end waits, and there is room for one.
            Ok(_) => drop(give.send(sink)),
            Err(_) => state.start = Some(Start { sink, not_before: now + START_AGAIN }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }
}

impl State {
    fn is_drained(&self) -> bool {
        self.queue.is_empty() && !self.is_writing
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes for as long as the process lives.
    fn write(&self, mut sink: Box<dyn Sink>, style: Style) {
        let mut lost = 0;
        loop {
            let next = self.next();
            match next {
                Next::Dropped(lines) => lost += lines,
                Next::Line(line) => {
                    // What is missing is said before what comes after it.
                    say_lost(&mut *sink, style, &mut lost);
                    let written = if lost > 0 { Ok(()) } else { sink.write(&line) };
                    if let Some(why) = written.as_ref().err().and_then(distrust) {
                        say_distrust(why, style);
                    }
                    if lost > 0 || written.is_err() {
                        lost += 1;
                    }
                }
            }
            if self.lock().queue.is_empty() {
                say_lost(&mut *sink, style, &mut lost);
            }
        }
    }

    fn next(&self) -> Next {
        let mut state = self.lock();
        loop {
            state.is_writing = false;
            if let Some(next) = state.queue.pop() {
                state.is_writing = true;
                return next;
            }
            self.drained.notify_all();
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// On standard error: the file that this is about takes nothing. Once, until the file takes lines again.
fn say_distrust(why: &TrustError, style: Style) {
    let line = style.line("WARN", &format!("no line goes to the log file: {why}"));
    // A standard error without a reader is no failure.
    let _ = write_line(rustix::stdio::stderr(), &line, &mut false);
}

fn say_lost(sink: &mut dyn Sink, style: Style, lost: &mut u64) {
    if *lost > 0 && sink.write(&style.dropped(*lost)).is_ok() {
        *lost = 0;
    }
}

#[cfg(test)]
mod tests;
