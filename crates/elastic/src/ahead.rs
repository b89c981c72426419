//! The thread that maps pages before somebody needs them.

use crate::cache::Cache;
use crate::credit::Credit;
use crate::grow::Refilled;
use crate::pages::PageDriver;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Refills a cache on a thread of its own whenever a commit leaves it below the low mark. Dropping
/// it ends the thread. The cache may be dropped first. One such thread is enough for a cache.
#[derive(Debug)]
pub struct Ahead {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
    process: u32,
}

/// How a cache wakes its thread.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    /// A thread listens, and was not woken since it looked last.
    is_listening: AtomicBool,
    orders: Mutex<Orders>,
    given: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
struct Orders {
    wake: bool,
    stop: bool,
}

impl Ahead {
    /// Starts the thread, which fills the cache up to its high mark at once.
    ///
    /// # Errors
    /// The system has no room for a thread.
    pub fn start<D, C>(cache: &Cache<D, C>) -> io::Result<Self>
    where
        D: PageDriver + 'static,
        C: Credit + 'static,
    {
        let inner = Arc::downgrade(cache.inner());
        let signal = cache.inner().signal.clone();
        signal.order(|orders| *orders = Orders::default());
        let heard = signal.clone();
        let refill = move || {
            let inner = Weak::upgrade(&inner)?;
            Some(inner.refill())
        };
        let run = move || {
            loop {
                // Before it looks: who commits after that must not be missed.
                heard.is_listening.store(true, Ordering::Release);
                let Some(refilled) = refill() else { return };
                let until = match refilled {
                    Ok(Refilled::Suspended(until)) => Some(until),
                    // Without credit or room the next commit tells the caller; nothing to do here.
                    Ok(Refilled::Enough | Refilled::Mapped(_)) | Err(_) => None,
                };
                if heard.listen(until) {
                    return;
                }
            }
        };
        let thread = Builder::new().name("millpond-ahead".to_owned()).spawn(run)?;
        Ok(Self { signal, thread: Some(thread), process: std::process::id() })
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // A forked child has no such thread.
        if self.process != std::process::id() {
            return;
        }
        self.signal.stop();
        if let Some(thread) = self.thread.take() {
            // What it met, its cache has met as well.
            drop(thread.join());
        }
    }
}

impl Signal {
    /// Wakes the thread, if one listens.
    pub(crate) fn wake(&self) {
        if self.is_listening.swap(false, Ordering::AcqRel) {
            self.order(|orders| orders.wake = true);
        }
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.order(|orders| orders.stop = true);
    }

    fn order(&self, change: impl FnOnce(&mut Orders)) {
        change(&mut self.orders.lock().unwrap_or_else(PoisonError::into_inner));
        self.given.notify_all();
    }

    /// Waits for an order, or a moment. Answers whether to stop.
    fn listen(&self, until: Option<Instant>) -> bool {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        while !orders.wake && !orders.stop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            orders = match left {
                Some(Duration::ZERO) => break,
                Some(left) => {
                    let (orders, _) = self
                        .given
                        .wait_timeout(orders, left)
                        .unwrap_or_else(PoisonError::into_inner);
                    orders
                }
                None => self.given.wait(orders).unwrap_or_else(PoisonError::into_inner),
            };
        }
        orders.wake = false;
        orders.stop
    }
}
