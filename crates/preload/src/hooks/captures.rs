//! Captures: which streams write their work down instead of doing it.
//!
//! They are counted: while there is one, questions about pools need care, and nothing is waited for.
//! The count is up before the driver begins and down after it has ended, so it is never too low. Each
//! is also noted with its stream and context, because a capture ends with those too.

use core::sync::atomic::Ordering;

use super::{context_table, pending};
use crate::driver::others;
use crate::state::{self, State};
use crate::types::{Status, status};

const FREE: usize = 0;
/// A thread is at the entry.
const BUSY: usize = 1;
/// A thread's own default stream: whose, the handle does not say.
const PER_THREAD: usize = 2;

/// A stream as a call of that kind means it: the handle, and whether 0 is the thread's own.
type Stream = (usize, bool);

/// By what a stream is noted. The legacy stream cannot be captured.
fn key((handle, per_thread): Stream) -> usize {
    if handle == 0 && per_thread { PER_THREAD } else { handle }
}

/// The context of a stream, by its number; the current one where the driver does not say.
fn context_of(stream: usize) -> u16 {
    let mut context = 0;
    // SAFETY: the pointer is to a context; the stream is the caller's.
    let known = unsafe {
        stream > PER_THREAD && others::cuStreamGetCtx(stream, &raw mut context) == status::SUCCESS
            || others::cuCtxGetCurrent(&raw mut context) == status::SUCCESS
    };
    if known { context_table::number_of(context) } else { 0 }
}

/// Takes the note of a stream's capture away; whether there was one.
fn forget(state: &State, key: usize) -> bool {
    let order = (Ordering::AcqRel, Ordering::Relaxed);
    key > BUSY
        && state.capturing.iter().any(|capture| {
            capture.stream.load(Ordering::Acquire) == key
                && capture.stream.compare_exchange(key, FREE, order.0, order.1).is_ok()
        })
}

fn note(state: &State, key: usize, context: u16) {
    let order = (Ordering::AcqRel, Ordering::Relaxed);
    for capture in &state.capturing {
        if capture.stream.load(Ordering::Relaxed) == FREE
            && capture.stream.compare_exchange(FREE, BUSY, order.0, order.1).is_ok()
        {
            capture.context.store(context.into(), Ordering::Relaxed);
            capture.stream.store(key, Ordering::Release);
            return;
        }
    }
    // It ends by its own end only.
    state.unnoted_captures.fetch_add(1, Ordering::AcqRel);
}

pub(super) fn begin(stream: Stream, call: impl FnOnce() -> Status) -> Status {
    let Some(state) = state::get() else { return call() };
    state.captures.fetch_add(1, Ordering::Relaxed);
    let status = call();
    if status != status::SUCCESS {
        state.captures.fetch_sub(1, Ordering::Relaxed);
        return status;
    }
    let key = key(stream);
    // A stream has one capture: what is noted of its handle was another's, which no hook saw end.
    if key != PER_THREAD && forget(state, key) {
        one_less(state);
    }
    note(state, key, context_of(stream.0));
    status
}

fn one_less(state: &State) {
    let less = |count: u32| count.checked_sub(1);
    let _ = state.captures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
}

/// Whether the driver says that a stream is not being captured.
fn is_over((handle, per_thread): Stream) -> bool {
    let mut capturing = 1;
    // SAFETY: the pointer is to a status; the stream is the caller's.
    let status = unsafe {
        if per_thread {
            others::cuStreamIsCapturing_ptsz(handle, &raw mut capturing)
        } else {
            others::cuStreamIsCapturing(handle, &raw mut capturing)
        }
    };
    status == status::SUCCESS && capturing == 0
}

/// Ends a capture. It may end by an error too, and go on after one: the driver says.
pub(super) fn end(stream: Stream, call: impl FnOnce() -> Status) -> Status {
    let status = call();
    let Some(state) = state::get() else { return status };
    if state.captures.load(Ordering::Relaxed) == 0
        || (status != status::SUCCESS && !is_over(stream))
    {
        return status;
    }
    let unnoted = || {
        let less = |count: u32| count.checked_sub(1);
        (status == status::SUCCESS || is_capture_error(status))
            && state
                .unnoted_captures
                .fetch_update(Ordering::AcqRel, Ordering::Relaxed, less)
                .is_ok()
    };
    if forget(state, key(stream)) || unnoted() {
        one_less(state);
    }
    status
}

/// Errors that a call can only get while there is a capture.
fn is_capture_error(status: Status) -> bool {
    const INVALIDATED: Status = 901;
    const WRONG_THREAD: Status = 908;
    (INVALIDATED..=WRONG_THREAD).contains(&status)
}

/// A context has ended, and its captures with it.
pub(super) fn forget_context(number: u16) {
    let Some(state) = state::get() else { return };
    if number == 0 || state.captures.load(Ordering::Relaxed) == 0 {
        return;
    }
    let order = (Ordering::AcqRel, Ordering::Relaxed);
    for capture in &state.capturing {
        let stream = capture.stream.load(Ordering::Acquire);
        if stream > BUSY
            && capture.context.load(Ordering::Relaxed) == u32::from(number)
            && capture.stream.compare_exchange(stream, FREE, order.0, order.1).is_ok()
        {
            one_less(state);
        }
    }
}

/// A capture ends with the stream that it began in. The note goes first: another thread may get the
/// same handle at once.
pub(super) fn destroy(stream: usize, call: impl FnOnce() -> Status) -> Status {
    let Some(state) = state::get() else { return call() };
    pending::stream_ends(state, stream);
    let capturing = state.captures.load(Ordering::Relaxed) != 0 && stream > PER_THREAD;
    if !capturing || !forget(state, stream) {
        return call();
    }
    let context = context_of(stream);
    let status = call();
    if status == status::SUCCESS {
        one_less(state);
    } else {
        note(state, stream, context);
    }
    status
}
