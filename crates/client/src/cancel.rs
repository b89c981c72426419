//! Ending the waits of a call from outside.
//!
//! A call of the pond blocks its thread. The thread's owner may want it back: a signal came, or a
//! task was cancelled. A [`Cancel`] is asked by every wait of a call about ten times a second, also
//! by waits in threads that the call starts for its own work.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::{Error, Result};

/// How often a wait asks. Short enough for a person who presses Ctrl-C.
pub(crate) const PERIOD: Duration = Duration::from_millis(100);

thread_local! {
    static CURRENT: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

type Question = dyn Fn() -> bool + Send + Sync;

/// Ends the calls that run inside of its [`scope`](Cancel::scope). Clones are the same one.
///
/// ```no_run
/// use std::time::Duration;
/// use millpond::{Cancel, GetOptions, Pond};
///
/// # fn main() -> Result<(), millpond::Error> {
/// let (pond, cancel) = (Pond::connect()?, Cancel::new());
/// let other = cancel.clone();
/// std::thread::spawn(move || other.cancel()); // from anywhere, at any time
/// let wait = GetOptions::read_only().wait(Duration::MAX);
/// let tensor = cancel.scope(|| pond.get_with("acts/x", wait)); // Err(Error::Cancelled)
/// # drop(tensor);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Default)]
struct Inner {
    cancelled: AtomicBool,
    /// Asked as long as it says no.
    question: Option<Box<Question>>,
    /// The scope around this one.
    outer: Option<Cancel>,
}

impl Cancel {
    /// One that only [`Cancel::cancel`] sets. It ends with the scope that it is made in as well.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Inner { outer: current(), ..Inner::default() }))
    }

    /// One that also asks whether to end, from the threads that wait. It ends with the scope that it
    /// is made in as well.
    #[must_use]
    pub fn asking(question: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let question: Option<Box<Question>> = Some(Box::new(question));
        Self(Arc::new(Inner { question, outer: current(), ..Inner::default() }))
    }

    /// Ends every wait inside of the scope, now and from now on.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
    }

    /// Whether it was cancelled, or the question is answered with yes.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let inner = &*self.0;
        let now = inner.cancelled.load(Ordering::Acquire)
            || inner.outer.as_ref().is_some_and(Cancel::is_cancelled)
            || inner.question.as_ref().is_some_and(|question| question());
        if now {
            self.cancel();
        }
        now
    }

    /// Runs calls that this can end. A call that is ended fails with [`Error::Cancelled`]; what it
    /// has begun is undone or completed by the pond, as if the process had ended.
    pub fn scope<T>(&self, work: impl FnOnce() -> T) -> T {
        within(Some(self.clone()), work)
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel")
            .field("cancelled", &self.0.cancelled.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}

/// Puts back what was there before, also after a panic.
struct Before(Option<Cancel>);

impl Drop for Before {
    fn drop(&mut self) {
        let before = self.0.take();
        CURRENT.with_borrow_mut(|current| *current = before);
    }
}

/// What ends the calls of this thread; for a thread that works for this one.
pub(crate) fn current() -> Option<Cancel> {
    CURRENT.with_borrow(Clone::clone)
}

/// Runs work that is ended as this says; `None` for work that nobody ends.
pub(crate) fn within<T>(cancel: Option<Cancel>, work: impl FnOnce() -> T) -> T {
    let before = CURRENT.with_borrow_mut(|current| std::mem::replace(current, cancel));
    let _before = Before(before);
    work()
}

/// Work for a thread that is ended as this one is.
pub(crate) fn inherited<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let cancel = current();
    move || within(cancel, work)
}

/// What a thread that works for this one hands over; `None` when all of them have ended. Only asks
/// meanwhile, as the other threads end by themselves then.
pub(crate) fn receive<T>(from: &Receiver<T>) -> Option<T> {
    loop {
        match slice(None) {
            None => return from.recv().ok(),
            Some(slice) => match from.recv_timeout(slice) {
                Ok(received) => return Some(received),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => drop(check()),
            },
        }
    }
}

/// Whether the call may go on.
pub(crate) fn check() -> Result<()> {
    // Outside of the borrow: the question may call anything.
    match current() {
        Some(cancel) if cancel.is_cancelled() => Err(Error::Cancelled),
        _ => Ok(()),
    }
}

/// How long to sleep before the next look, if so much time is left.
pub(crate) fn slice(left: Option<Duration>) -> Option<Duration> {
    if CURRENT.with_borrow(Option::is_none) {
        return left;
    }
    Some(left.map_or(PERIOD, |left| left.min(PERIOD)))
}

/// Sleeps, unless the call is ended.
pub(crate) fn sleep(mut time: Duration) -> Result<()> {
    check()?;
    while !time.is_zero() {
        let slice = slice(Some(time)).unwrap_or(time);
        thread::sleep(slice);
        time = time.saturating_sub(slice);
        check()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_scope_ends_with_itself_with_the_one_around_it_and_with_its_question() {
        check().unwrap();
        let outer = Cancel::new();
        outer.scope(|| {
            let inner = Cancel::new();
            inner.scope(|| {
                check().unwrap();
                outer.cancel();
                assert!(matches!(check(), Err(Error::Cancelled)));
            });
            assert!(inner.is_cancelled());
            // What cleans up is not ended.
            within(None, || check().unwrap());
        });
        check().unwrap();
        let asked = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&asked);
        let third = Cancel::asking(move || count.fetch_add(1, Ordering::Relaxed) == 2);
        third.scope(|| {
            check().unwrap();
            check().unwrap();
            check().unwrap_err();
            // A yes stays.
            check().unwrap_err();
        });
        assert_eq!(asked.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_sleep_ends_when_it_is_cancelled_from_another_thread() {
        let cancel = Cancel::new();
        let other = cancel.clone();
        let begun = Instant::now();
        let slept = thread::scope(|scope| {
            scope.spawn(move || other.cancel());
            cancel.scope(|| sleep(Duration::from_secs(3600)))
        });
        assert!(matches!(slept, Err(Error::Cancelled)));
        assert!(begun.elapsed() < Duration::from_secs(1800));
    }
}
