//! A commit that falls short waits while the pond has others give way.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use millpond_elastic::Holder;
use millpond_wire::message::RequestBody;
use millpond_wire::{CacheId, ErrorKind, Failure};

use crate::connection::lock;
use crate::link::{Ask, Link};
use crate::{Error, Result};

/// Before a daemon that does not know the cache yet is asked again.
const PAUSE: Duration = Duration::from_millis(5);
/// The pond answers a moment after the wait is over.
const MARGIN: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Waiter {
    pub link: Arc<Link>,
    pub cache: CacheId,
    pub wait: Duration,
    /// Of those who wait for the same slot, which has room for one wish: the next one would replace
    /// it, and take what the first is assigned for its own.
    pub turns: Arc<Mutex<()>>,
}

impl Waiter {
    /// Until when a wait lasts that begins now.
    pub fn until(&self) -> Instant {
        Instant::now() + self.wait
    }

    /// The right to wait, and to take what was waited for.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        lock(&self.turns)
    }

    /// Waits until so many bytes are this cache's to take. Needs the [turn](Waiter::turn).
    ///
    /// # Errors
    /// Who holds the rest, as far as the pond says. A pond that does not answer is no other error:
    /// there is no credit, and nobody can be asked.
    pub fn want(&self, bytes: u64, until: Instant) -> Result<(), Vec<Holder>> {
        if self.wait.is_zero() {
            return Err(Vec::new());
        }
        loop {
            match self.ask(bytes, until) {
                Ok(()) => return Ok(()),
                Err(Error::Refused(failure)) if failure.kind == ErrorKind::GpuFull => {
                    return Err(holders(&failure));
                }
                // A new daemon hears of the cache in a moment, from the thread of caches.
                Err(Error::Refused(failure))
                    if failure.kind == ErrorKind::NotFound && Instant::now() < until =>
                {
                    thread::sleep(PAUSE);
                }
                Err(error) => {
                    tracing::debug!(%error, "nobody could be asked for pages");
                    return Err(Vec::new());
                }
            }
        }
    }

    fn ask(&self, bytes: u64, until: Instant) -> Result<()> {
        let left = until.saturating_duration_since(Instant::now());
        let wait_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        let ask = Ask {
            what: "a wait for pages",
            body: RequestBody::CacheWant { cache: self.cache, bytes, wait_ms },
            lease: None,
            deadline: until.checked_add(MARGIN),
            waits_until: Some(until),
        };
        self.link.call(ask, None).map(drop)
    }
}

fn holders(failure: &Failure) -> Vec<Holder> {
    let holder = |holder: &millpond_wire::Holder| Holder {
        name: holder.cache.clone().unwrap_or_else(|| format!("user {}", holder.user)),
        bytes: holder.bytes,
        idle_bytes: 0,
        user: Some(holder.user),
    };
    failure.holders.iter().map(holder).collect()
}
