//! Calls that Ctrl-C ends, and the cancellation of a task.
//!
//! Python notices a signal only when it is asked. So every wait of a call asks, some ten times a
//! second, from whichever thread it waits in.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use millpond::{Cancel, Error, ErrorKind, Failure};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::ending::{attached, detached};
use crate::errors;
use crate::hints::Call;

/// Long enough to cost nothing, short enough for a person who presses Ctrl-C.
pub(crate) const SLICE: Duration = Duration::from_millis(200);
/// The pond goes on waiting for a caller that has given up, so a long wait is made of several.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What Python raised while a call was under way.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(crate) fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    pub(crate) fn is_some(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A call that a signal, an exception in a callback or the scope around it ends.
#[derive(Clone)]
pub(crate) struct Interrupt {
    cancel: Cancel,
    pub(crate) raised: Raised,
}

impl Interrupt {
    pub(crate) fn new() -> Self {
        Self::until(Arc::default())
    }

    /// One that this ends as well.
    pub(crate) fn until(closed: Arc<AtomicBool>) -> Self {
        let raised = Raised::default();
        let keep = raised.clone();
        let cancel = Cancel::asking(move || {
            if closed.load(Ordering::Acquire) {
                return true;
            }
            // Outside of the main thread there is never a signal.
            match attached(|py| py.check_signals()) {
                Ok(()) => false,
                Err(error) => {
                    keep.keep(error);
                    true
                }
            }
        });
        Self { cancel, raised }
    }

    /// Runs calls without the interpreter.
    pub(crate) fn run<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
        detached(py, || self.cancel.scope(work))
    }

    /// Ends what runs with this exception.
    pub(crate) fn raise(&self, error: PyErr) {
        self.raised.keep(error);
        self.cancel.cancel();
    }

    /// What was raised meanwhile comes before how the call ended.
    pub(crate) fn end<T>(&self, py: Python<'_>, ended: millpond::Result<T>) -> PyResult<T> {
        self.end_in(py, Call::Plain, ended)
    }

    /// As [`Interrupt::end`], with the way out of this call.
    pub(crate) fn end_in<T>(
        &self,
        py: Python<'_>,
        call: Call<'_>,
        ended: millpond::Result<T>,
    ) -> PyResult<T> {
        self.end_with(ended, |error| errors::raise_in(py, call, error))
    }

    /// As [`Interrupt::end`], with exceptions that `raise` makes.
    pub(crate) fn end_with<T>(
        &self,
        ended: millpond::Result<T>,
        raise: impl FnOnce(&Error) -> PyErr,
    ) -> PyResult<T> {
        match self.raised.take() {
            Some(raised) => Err(raised),
            None => ended.map_err(|error| raise(&error)),
        }
    }
}

/// Calls the pond without holding the interpreter.
pub(crate) fn ask<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> millpond::Result<T> + Send,
) -> PyResult<T> {
    let interrupt = Interrupt::new();
    let answer = interrupt.run(py, work);
    interrupt.end(py, answer)
}

/// As [`ask`], with the way out of this call.
pub(crate) fn ask_in<T: Send>(
    py: Python<'_>,
    call: Call<'_>,
    work: impl FnOnce() -> millpond::Result<T> + Send,
) -> PyResult<T> {
    let interrupt = Interrupt::new();
    let answer = interrupt.run(py, work);
    interrupt.end_in(py, call, answer)
}

/// Calls the pond while something is locked that others lock with the interpreter: so it does not
/// ask for signals.
pub(crate) fn ask_locked<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> millpond::Result<T> + Send,
) -> PyResult<T> {
    detached(py, work).map_err(|error| errors::raise(py, &error))
}

/// Repeats a wait that the pond ends with `timeout` until so much time is over.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    call: Call<'_>,
    total: Duration,
    work: impl Fn(Duration) -> millpond::Result<T> + Sync,
) -> PyResult<T> {
    let begun = Instant::now();
    ask_in(py, call, || {
        loop {
            let left = total.saturating_sub(begun.elapsed());
            match work(left.min(LONGEST_WAIT)) {
                Err(error) if is_over(&error) => {}
                // Without any time it says what it would have waited for.
                Err(error) if left.is_zero() && !total.is_zero() => {
                    return Err(after_a_wait(error, total));
                }
                other => return other,
            }
        }
    })
}

/// Whether the pond says that the time is over; its silence is another thing.
fn is_over(error: &Error) -> bool {
    error.failure().is_some_and(|failure| failure.kind == ErrorKind::Timeout)
}

fn after_a_wait(error: Error, total: Duration) -> Error {
    match error.failure() {
        Some(failure) if matches!(failure.kind, ErrorKind::NotFound | ErrorKind::NotReady) => {
            let message = format!("waited {} ms, but {}", total.as_millis(), failure.message);
            let hint = failure.hint.clone().filter(|_| failure.kind == ErrorKind::NotFound);
            Failure { kind: ErrorKind::Timeout, message, hint, ..failure.clone() }.into()
        }
        _ => error,
    }
}

/// Ends the calls of one thread from another one.
#[pyclass(name = "_Cancel", frozen, module = "millpond")]
pub(crate) struct Canceller(Cancel);

#[pymethods]
impl Canceller {
    #[new]
    fn new() -> Self {
        Self(Cancel::new())
    }

    /// Ends the calls that run now, and those that begin later.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Calls a function whose calls of the pond this can end.
    #[pyo3(signature = (function, /, *args, **kwargs))]
    fn run<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.0.scope(|| function.call(args, kwargs))
    }
}
