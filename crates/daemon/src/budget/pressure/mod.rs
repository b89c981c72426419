//! Memory that moves between elastic caches: who waits for it, who is asked for it, who has given.
//!
//! A cache takes credit from its group's ledger by itself. Where there is none it asks here and waits:
//! the first in line is assigned what is free, the others in turn, and whoever holds something is asked
//! to give it back. Credit moves, pages never do.
//!
//! The key decision: nothing here is a promise that must survive. The ledger has what a waiter is owed,
//! each process has its caches and says so to the next daemon, and a request that was lost with a
//! daemon is repeated by its client. Requests in the journal were refused: they would outlive the
//! processes that they are about.

mod ask;
#[cfg(test)]
mod tests;
pub mod victims;
mod wait;

use std::collections::{BTreeMap, VecDeque};

use millpond_ledger::{SlotIndex, UNIT};
use millpond_view::units::bytes as format_bytes;
use millpond_wire::message::{CacheInfo, CacheOpen, EventKind, Pressure as Request};
use millpond_wire::{CacheId, ErrorKind, Failure, GpuUuid, GroupName};

use crate::policy::ConnId;
use ask::{Ask, ENDED_MS};
use wait::Waiter;

/// How often it is looked whether there is room where nobody will say so.
const LOOK_MS: u64 = 10;

/// Caches of a program that is limited itself: they share its one slot. Other caches have one each, and
/// a ledger has so many.
const CACHES_PER_PROGRAM: usize = 64;

/// Where a cache is charged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Account {
    pub group: GroupName,
    pub device: GpuUuid,
}

/// What a slot says, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotReading {
    pub held: u64,
    pub idle: u64,
    pub wanted: u64,
}

/// The limits of a group, as members read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupRules {
    /// What its members may have together, in units.
    pub limit: u64,
    /// Counts changes of its limits.
    pub revision: u64,
    /// A process that does not answer is ended.
    pub ends_silent: bool,
    /// Members have ended, and what they had is free in a moment.
    pub dying: bool,
}

/// Why credit could not be noted or assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unassigned {
    /// So many units are missing.
    Short(u64),
    /// The ledger's lock was not to be had; it can be tried again.
    Busy,
    /// The slot has no owner, or another one.
    Gone,
}

/// The ledgers of groups. They have the last word.
pub trait Credits {
    fn slot(&self, account: &Account, slot: SlotIndex) -> Option<SlotReading>;
    fn rules(&self, account: &Account) -> GroupRules;
    /// Notes what a slot's owner waits for, for so long.
    ///
    /// # Errors
    /// [`Unassigned`].
    fn want(
        &self,
        account: &Account,
        slot: SlotIndex,
        units: u64,
        ms: u64,
    ) -> Result<(), Unassigned>;
    /// Assigns what a slot's owner waits for, all of it.
    ///
    /// # Errors
    /// [`Unassigned`].
    fn assign(&self, account: &Account, slot: SlotIndex) -> Result<(), Unassigned>;
    /// It waits no longer.
    fn unwant(&self, account: &Account, slot: SlotIndex);
}

/// A cache that a process has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    pub conn: ConnId,
    pub user: u32,
    pub pid: u32,
    pub program: String,
    pub slot: SlotIndex,
    /// With the group's full name.
    pub open: CacheOpen,
}

/// What is to be said, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Say {
    Ask {
        conn: ConnId,
        request: Request,
    },
    Answer {
        conn: ConnId,
        number: u64,
        answer: Result<(), Failure>,
    },
    Event {
        kind: EventKind,
        group: GroupName,
        user: u32,
        text: String,
    },
    /// This connection's process has not answered in time, or gives nothing, and the operator has it
    /// ended.
    End {
        conn: ConnId,
    },
}

/// A cache had nothing more to give, or did not answer.
#[derive(Clone, Copy, Debug)]
struct Refused {
    at_ms: u64,
    /// What lay idle with it then, and was not to be had.
    idle: u64,
}

#[derive(Debug)]
struct Cache {
    opened: Opened,
    /// When it last got what others gave: it is not asked for that at once.
    got_ms: Option<u64>,
    refused: Option<Refused>,
    /// Requests in a row after which it held as much as before.
    in_vain: u32,
    given: u64,
    got: u64,
}

impl Cache {
    fn account(&self) -> Account {
        let CacheOpen { group, device, .. } = &self.opened.open;
        Account { group: group.clone(), device: *device }
    }

    /// In events and answers: who, and where.
    fn title(&self) -> String {
        let Opened { open, program, pid, .. } = &self.opened;
        format!("'{}' of {program} (pid {pid})", open.name)
    }
}

/// All caches of a pond, and what moves between them.
#[derive(Debug, Default)]
pub struct Pressure {
    caches: BTreeMap<CacheId, Cache>,
    waiters: BTreeMap<Account, VecDeque<Waiter>>,
    asks: BTreeMap<u64, Ask>,
    last_ask: u64,
    /// Until when processes that have ended or were ended may still hold what they had.
    ending: BTreeMap<Account, u64>,
    looked_ms: u64,
    said: Vec<Say>,
}

impl Pressure {
    /// What is to be said since the last call.
    pub fn take_said(&mut self) -> Vec<Say> {
        std::mem::take(&mut self.said)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.caches.is_empty()
    }

    /// A process has a cache, or says so again after a new connection.
    ///
    /// # Errors
    /// `denied` for another process's cache.
    pub fn open(&mut self, opened: Opened) -> Result<(), Failure> {
        let id = opened.open.cache;
        if let Some(known) = self.caches.get_mut(&id) {
            if (known.opened.user, known.opened.pid) != (opened.user, opened.pid) {
                let message = format!("cache {id} belongs to process {}", known.opened.pid);
                return Err(Failure::new(ErrorKind::Denied, message));
            }
            known.opened = opened;
            return Ok(());
        }
        let same_slot = |known: &&Cache| {
            known.opened.slot == opened.slot && known.opened.open.group == opened.open.group
        };
        let most = if opened.open.slot.is_some() { 1 } else { CACHES_PER_PROGRAM };
        if self.caches.values().filter(same_slot).count() >= most {
            let message = format!("process {} has too many caches in one slot", opened.pid);
            return Err(Failure::new(ErrorKind::TooMany, message));
        }
        let (group, user) = (opened.open.group.clone(), opened.user);
        let cache = Cache { opened, got_ms: None, refused: None, in_vain: 0, given: 0, got: 0 };
        let text = format!(
            "{} reserves {} in {} and pays for what it uses",
            cache.title(),
            format_bytes(cache.opened.open.reserved_bytes),
            millpond_view::units::count(cache.opened.open.segments.into(), "segment")
        );
        self.caches.insert(id, cache);
        self.said.push(Say::Event { kind: EventKind::CacheOpened, group, user, text });
        Ok(())
    }

    /// A cache is closed by its process; one that is not known is closed already.
    pub fn close(&mut self, conn: ConnId, cache: CacheId) {
        if self.caches.get(&cache).is_some_and(|known| known.opened.conn == conn) {
            self.forget(cache, "was closed");
        }
    }

    /// A connection is gone. Its process, if it lives, opens its caches again over the next one, and
    /// asks again for what it waits for. If it does not, its slot may look alive for a moment: sockets
    /// are closed before the lock that says so.
    pub fn hung_up(&mut self, conn: ConnId, now_ms: u64, credits: &impl Credits) {
        let of_conn = |waiter: &Waiter| waiter.conn == conn;
        let mut left = Vec::new();
        for (account, queue) in &mut self.waiters {
            // What is noted for a slot may be owed to its process over another connection.
            let noted = queue.iter().filter(|it| of_conn(it) && it.unwant);
            left.extend(noted.map(|it| (account.clone(), it.slot)));
            queue.retain(|waiter| !of_conn(waiter));
        }
        self.waiters.retain(|_, queue| !queue.is_empty());
        for (account, slot) in left {
            credits.unwant(&account, slot);
        }
        let gone = self.caches.iter().filter(|(_, cache)| cache.opened.conn == conn);
        let gone: Vec<(CacheId, Account)> =
            gone.map(|(id, cache)| (*id, cache.account())).collect();
        for (id, account) in gone {
            self.ending.insert(account, now_ms.saturating_add(ENDED_MS));
            self.forget(id, "is gone with its connection");
        }
    }

    fn forget(&mut self, id: CacheId, why: &str) {
        let Some(cache) = self.caches.remove(&id) else { return };
        self.asks.retain(|_, ask| ask.cache != id);
        let text = format!("{} {why}", cache.title());
        let group = cache.opened.open.group.clone();
        let user = cache.opened.user;
        self.said.push(Say::Event { kind: EventKind::CacheClosed, group, user, text });
    }

    /// Whose cache it is, by which connection.
    ///
    /// # Errors
    /// `not_found`.
    fn of(&self, conn: ConnId, id: CacheId) -> Result<&Cache, Failure> {
        self.caches.get(&id).filter(|cache| cache.opened.conn == conn).ok_or_else(|| {
            Failure::new(ErrorKind::NotFound, format!("cache {id} is not open on this connection"))
        })
    }

    /// Every cache, or those of one group.
    #[must_use]
    pub fn list(&self, group: Option<&GroupName>, credits: &impl Credits) -> Vec<CacheInfo> {
        let of_group = |cache: &&Cache| group.is_none_or(|name| *name == cache.opened.open.group);
        self.caches.values().filter(of_group).map(|cache| self.info(cache, credits)).collect()
    }

    fn info(&self, cache: &Cache, credits: &impl Credits) -> CacheInfo {
        let Opened { user, pid, program, slot, open, .. } = &cache.opened;
        let reading = credits.slot(&cache.account(), *slot).unwrap_or_default();
        let asked = self.asks.values().filter(|ask| ask.cache == open.cache);
        CacheInfo {
            cache: open.cache,
            name: open.name.clone(),
            group: open.group.clone(),
            device: open.device,
            pid: *pid,
            program: program.clone(),
            user: *user,
            reserved_bytes: open.reserved_bytes,
            held_bytes: in_bytes(reading.held),
            idle_bytes: in_bytes(reading.idle.min(reading.held)),
            granule_bytes: open.granule_bytes,
            segments: open.segments,
            min_bytes: open.min_bytes,
            weight: open.weight,
            wanted_bytes: in_bytes(reading.wanted),
            asked_bytes: in_bytes(asked.map(Ask::left).sum()),
            given_bytes: in_bytes(cache.given),
            got_bytes: in_bytes(cache.got),
        }
    }

    /// The name of the cache whose pages a slot counts, if its process has told it.
    #[must_use]
    pub fn name_of(&self, group: &GroupName, slot: SlotIndex) -> Option<String> {
        let of_slot =
            |cache: &&Cache| cache.opened.slot == slot && cache.opened.open.group == *group;
        self.caches.values().find(of_slot).map(|cache| cache.opened.open.name.to_string())
    }

    /// When there is something to do without anybody asking.
    #[must_use]
    pub fn next_ms(&self) -> Option<u64> {
        let asks = self.asks.values().map(|ask| ask.until_ms);
        let waiters = self.waiters.values().flatten().map(|waiter| waiter.until_ms);
        // Somebody waits for what the dead had, or for a lock.
        let ending = || self.ending.values().any(|until| *until > self.looked_ms);
        let restless = !self.waiters.is_empty() && (self.asks.is_empty() || ending());
        let look = restless.then(|| self.looked_ms.saturating_add(LOOK_MS));
        asks.chain(waiters).chain(look).min()
    }

    fn say_of(&mut self, kind: EventKind, id: CacheId, text: String) {
        let Some(cache) = self.caches.get(&id) else { return };
        let (group, user) = (cache.opened.open.group.clone(), cache.opened.user);
        self.said.push(Say::Event { kind, group, user, text });
    }
}

fn in_bytes(units: u64) -> u64 {
    units.saturating_mul(UNIT)
}

fn in_units(bytes: u64) -> u64 {
    bytes.div_ceil(UNIT)
}
