//! The end of the interpreter, for threads that are in a call of ours then.
//!
//! Before 3.14 Python ends a thread that wants to run while the interpreter ends, and that tears it
//! out of whatever called Python. Rust's frames do not outlive that everywhere: with the unwinder
//! that is part of the wheel the whole process dies. So nobody but the thread that ends the
//! interpreter comes back to it from then on, and that one waits for those who are on their way.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How long the interpreter waits at its end for those on their way, and for callbacks that run.
const LAST: Duration = Duration::from_secs(5);

/// Threads on their way to the interpreter, or called from here inside it.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// Who ends the interpreter.
static ENDER: OnceLock<ThreadId> = OnceLock::new();

/// A thread that is counted.
pub(crate) struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        // In the child of a fork it may be counted no more.
        let one_less = |count: usize| count.checked_sub(1);
        let _ = INSIDE.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
    }
}

/// Counts this thread, unless it may not come to the interpreter any more.
pub(crate) fn enter() -> Option<Inside> {
    INSIDE.fetch_add(1, Ordering::SeqCst);
    let inside = Inside;
    ENDER.get().is_none_or(|ender| *ender == thread::current().id()).then_some(inside)
}

/// As [`enter`]; whoever may not stays here, as Python itself does it since 3.14.
fn enter_or_stay() -> Inside {
    loop {
        match enter() {
            Some(inside) => return inside,
            None => thread::park(),
        }
    }
}

/// Works without the interpreter.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let (worked, _inside) = py.detach(|| {
        let worked = work();
        (worked, enter_or_stay())
    });
    worked
}

/// Works with the interpreter, in the middle of something that is [`detached`].
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    let _inside = enter_or_stay();
    Python::attach(work)
}

/// Calls something that is written in Python, which lets others run meanwhile.
pub(crate) fn calling<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let _inside = match enter() {
        Some(inside) => inside,
        None => py.detach(enter_or_stay),
    };
    work()
}

/// Called before the interpreter ends, by whoever ends it.
#[pyfunction(name = "_end")]
pub(crate) fn end(py: Python<'_>) {
    ENDER.get_or_init(|| thread::current().id());
    py.detach(|| {
        let begun = Instant::now();
        while INSIDE.load(Ordering::SeqCst) > 0 && begun.elapsed() < LAST {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// In a forked child no thread of the parent runs.
#[pyfunction(name = "_after_fork")]
pub(crate) fn after_fork() {
    INSIDE.store(0, Ordering::SeqCst);
}
