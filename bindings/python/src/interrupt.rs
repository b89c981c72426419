//! Long calls that Ctrl-C ends.
//!
//! Python notices a signal only when it is asked. So whoever waits does so in slices, and asks
//! between them.

use std::time::{Duration, Instant};

use millpond::{Error, ErrorKind, Failure};
use pyo3::prelude::*;

use crate::ending::detached;
use crate::errors;

/// Long enough to cost nothing, short enough for a person who presses Ctrl-C.
pub(crate) const SLICE: Duration = Duration::from_millis(200);

/// Calls the pond without holding the interpreter.
pub(crate) fn ask<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> millpond::Result<T> + Send,
) -> PyResult<T> {
    detached(py, work).map_err(|error| errors::raise(py, &error))
}

/// Repeats a wait that the pond ends with `timeout` until so much time is over.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    total: Duration,
    work: impl Fn(Duration) -> millpond::Result<T> + Sync,
) -> PyResult<T> {
    let begun = Instant::now();
    loop {
        let left = total.saturating_sub(begun.elapsed());
        let answer = detached(py, || work(left.min(SLICE)));
        match answer {
            Err(error) if is_over(&error) => {
                py.check_signals()?;
                if begun.elapsed() >= total {
                    return Err(errors::raise(py, &said_of_the_whole(error, total)));
                }
            }
            other => return other.map_err(|error| errors::raise(py, &error)),
        }
    }
}

/// Whether the pond says that the time is over; its silence is another thing.
fn is_over(error: &Error) -> bool {
    error.failure().is_some_and(|failure| failure.kind == ErrorKind::Timeout)
}

/// The pond knows only the last slice.
fn said_of_the_whole(error: Error, total: Duration) -> Error {
    let why = error.failure().and_then(|failure| failure.message.split_once(", but "));
    let Some((_, why)) = why else { return error };
    let message = format!("waited {} ms, but {why}", total.as_millis());
    let hint = error.hint();
    Failure { hint, ..Failure::new(ErrorKind::Timeout, message) }.into()
}
