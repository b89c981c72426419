//! Pages are wanted back: idle ones go at once, then the program is asked.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use millpond_wire::CacheId;
use millpond_wire::message::{CacheGave, Gave, Pressure, RequestBody};

use super::cache::{ElasticCache, Shared};
use super::registry::Registry;
use crate::line::Unasked;
use crate::link::{Ask, Link};

/// How often it is looked whether what was deferred can be given now.
const LOOK: Duration = Duration::from_millis(1);
/// No request helps anybody for longer; the number came from outside.
const LONGEST: Duration = Duration::from_secs(60);
/// An answer that the pond does not take within this time is of no use to it.
const ANSWER: Duration = Duration::from_secs(2);

/// What a cache is asked for. [`ElasticCache::on_pressure`](super::ElasticCache::on_pressure).
#[derive(Clone, Debug)]
pub struct PressureAsk {
    /// The cache that is asked. A handler that captures a clone of its own cache instead keeps the cache
    /// alive for ever.
    pub cache: ElasticCache,
    /// How much is wanted beyond the pages that were idle.
    pub bytes: u64,
    /// The same in blocks, each of which is in every segment.
    pub blocks: u64,
    /// Until when it helps.
    pub until: Instant,
    /// For whom, and why.
    pub reason: String,
    /// Counts changes of the group's limits.
    pub revision: u64,
}

/// What a program answers when pages are wanted back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It has uncommitted what it can, in the call.
    Now,
    /// It will uncommit something soon, before the time is over.
    Soon,
    /// Nothing.
    Nothing,
}

/// A request that is not answered for good.
struct Pending {
    cache: CacheId,
    ask: u64,
    left: u64,
    until: Instant,
}

/// The thread of a process's caches.
pub(super) struct Giving {
    registry: Arc<Registry>,
    link: Arc<Link>,
    pending: Vec<Pending>,
}

impl Giving {
    pub(super) fn new(registry: Arc<Registry>, link: Arc<Link>) -> Self {
        Self { registry, link, pending: Vec::new() }
    }

    pub(super) fn serve(mut self, told: &Receiver<Unasked>) {
        loop {
            let next = match self.pending.is_empty() {
                true => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => told.recv_timeout(LOOK),
            };
            match next {
                Ok(Unasked::Connected) => self.say_again(),
                Ok(Unasked::Pressure(pressure)) => self.pressed(*pressure),
                Ok(Unasked::AdoptedFreed(_)) | Err(RecvTimeoutError::Timeout) => {}
                // The last cache is gone.
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.look();
        }
    }

    /// The next daemon does not know the caches, nor what was asked of them.
    fn say_again(&mut self) {
        self.pending.clear();
        for cache in self.registry.all() {
            if let Err(error) = cache.open() {
                tracing::warn!(%error, cache = cache.name().as_str(), "the pond does not know the cache");
            }
        }
    }

    fn pressed(&mut self, pressure: Pressure) {
        let Some(cache) = self.registry.find(pressure.cache) else { return };
        let wait = Duration::from_millis(pressure.wait_ms).min(LONGEST);
        let until = Instant::now() + wait;
        let (mut given, mut deferred) = cache.give(pressure.bytes);
        let mut soon = false;
        if given < pressure.bytes && pressure.beyond_idle_bytes > 0 {
            let bytes = (pressure.bytes - given).min(pressure.beyond_idle_bytes);
            let geometry = cache.geometry();
            let ask = PressureAsk {
                cache: ElasticCache::of(Arc::clone(&cache)),
                bytes,
                blocks: bytes.div_ceil(geometry.block_bytes() * geometry.segments()),
                until,
                reason: pressure.reason,
                revision: pressure.revision,
            };
            match cache.offer(&ask) {
                Offer::Nothing => {}
                offer => {
                    soon = offer == Offer::Soon;
                    let (more, rest) = cache.give(pressure.bytes - given);
                    given += more;
                    deferred = rest;
                }
            }
        }
        let left = pressure.bytes.saturating_sub(given);
        let outcome = match (left, deferred > 0 || soon) {
            (0, _) => Gave::Applied,
            (_, true) => Gave::Deferred,
            (_, false) => Gave::Refused,
        };
        if outcome == Gave::Deferred {
            self.pending.push(Pending { cache: pressure.cache, ask: pressure.ask, left, until });
        }
        self.answer(pressure.cache, pressure.ask, given, outcome);
    }

    /// What was deferred may be free by now.
    fn look(&mut self) {
        let now = Instant::now();
        for pending in std::mem::take(&mut self.pending) {
            let Some(cache) = self.registry.find(pending.cache) else { continue };
            let (given, _) = cache.give(pending.left);
            let left = pending.left.saturating_sub(given);
            let outcome = match left {
                0 => Gave::Applied,
                _ if now >= pending.until => Gave::Refused,
                _ => Gave::Deferred,
            };
            if given > 0 || outcome != Gave::Deferred {
                self.answer(pending.cache, pending.ask, given, outcome);
            }
            if outcome == Gave::Deferred {
                self.pending.push(Pending { left, ..pending });
            }
        }
    }

    fn answer(&self, cache: CacheId, ask: u64, bytes: u64, outcome: Gave) {
        let gave = CacheGave { cache, ask, bytes, outcome };
        let ask = Ask {
            what: "pages that were given back",
            body: RequestBody::CacheGave(gave),
            lease: None,
            deadline: Instant::now().checked_add(ANSWER),
            waits_until: None,
        };
        if let Err(error) = self.link.call(ask, None) {
            tracing::debug!(%error, "the pond was not told what was given back");
        }
    }
}

/// What [`Giving`] needs of a cache.
impl Shared {
    /// Gives idle pages back; says how many bytes, and how many follow when work is done.
    fn give(&self, bytes: u64) -> (u64, u64) {
        let trimmed = self.trim(bytes);
        self.surrender();
        trimmed
    }
}
