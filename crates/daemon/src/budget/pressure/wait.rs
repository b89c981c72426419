//! Those who wait for credit, first come, first served.

use std::collections::BTreeSet;

use millpond_ledger::SlotIndex;
use millpond_view::units::bytes as format_bytes;
use millpond_wire::message::EventKind;
use millpond_wire::{CacheId, ErrorKind, Failure, Holder};

use super::ask::{Beneficiary, Wish};
use super::{Account, Credits, Pressure, Say, Unassigned, in_bytes, in_units};
use crate::policy::ConnId;

/// The longest time that anybody waits: what it is owed lies idle meanwhile.
const LONGEST_MS: u64 = 60_000;
/// The ledger keeps what a waiter is owed this much longer than the answer may take.
const KEPT_MS: u64 = 1_000;

/// A daemon that is younger than this may not have heard of all caches: processes say what they have
/// as soon as they have seen that there is another daemon.
const SETTLED_MS: u64 = 1_000;

#[derive(Debug)]
pub(super) struct Waiter {
    pub conn: ConnId,
    number: u64,
    pub cache: CacheId,
    pub slot: SlotIndex,
    units: u64,
    pub until_ms: u64,
    /// What is owed to it is in the ledger, and its time is not over.
    noted: bool,
    /// It was in the ledger once, and is to be taken out again.
    pub unwant: bool,
    /// Who has given something for it.
    pub givers: BTreeSet<String>,
}

impl Pressure {
    /// A commit fell short by so many bytes. Answered when they are assigned, or when nobody has them.
    ///
    /// # Errors
    /// `not_found` for a cache that is not open on this connection.
    pub fn want(
        &mut self,
        (conn, number): (ConnId, u64),
        (cache, bytes, wait_ms): (CacheId, u64, u64),
        now_ms: u64,
        credits: &impl Credits,
    ) -> Result<(), Failure> {
        let known = self.of(conn, cache)?;
        let (account, slot) = (known.account(), known.opened.slot);
        let until_ms = now_ms.saturating_add(wait_ms.min(LONGEST_MS));
        let waiter = Waiter {
            conn,
            number,
            cache,
            slot,
            units: in_units(bytes),
            until_ms,
            noted: false,
            unwant: false,
            givers: BTreeSet::new(),
        };
        self.waiters.entry(account.clone()).or_default().push_back(waiter);
        self.serve(&account, now_ms, credits);
        Ok(())
    }

    /// Assigns what is free to those who wait, in turn, and has others asked for the rest.
    pub fn serve(&mut self, account: &Account, now_ms: u64, credits: &impl Credits) {
        self.note(account, now_ms, credits);
        while let Some(first) = self.waiters.get(account).and_then(|queue| queue.front()) {
            let (slot, cache, wait_ms) =
                (first.slot, first.cache, first.until_ms.saturating_sub(now_ms));
            let assigned = match first.noted {
                true => credits.assign(account, slot),
                false => Err(Unassigned::Busy),
            };
            match assigned {
                Ok(()) => {
                    self.assigned(account, now_ms);
                    self.note(account, now_ms, credits);
                }
                Err(Unassigned::Gone) => {
                    let message = format!("cache {cache} has no slot in group '{}'", account.group);
                    self.give_up(account, credits, &Failure::new(ErrorKind::NotFound, message));
                }
                // Tried again with the next look.
                Err(Unassigned::Busy) if wait_ms > 0 => break,
                Err(Unassigned::Busy) => {
                    let message =
                        format!("group '{}' is locked by one of its processes", account.group);
                    self.give_up(account, credits, &Failure::new(ErrorKind::Later, message));
                }
                Err(Unassigned::Short(missing)) => {
                    let wish =
                        Wish { units: missing, wait_ms, beneficiary: Beneficiary::Cache(cache) };
                    let hope = wait_ms > 0
                        && (self.press(account, &wish, now_ms, credits)
                            || credits.rules(account).dying
                            || self.is_ending(account, now_ms)
                            || now_ms < SETTLED_MS);
                    if hope {
                        break;
                    }
                    let failure = self.shortage(account, 0, missing, credits);
                    self.give_up(account, credits, &failure);
                }
            }
        }
        self.end_waits(account, now_ms, credits);
        self.waiters.retain(|_, queue| !queue.is_empty());
    }

    /// Refuses those whose time is over while others before them still wait.
    fn end_waits(&mut self, account: &Account, now_ms: u64, credits: &impl Credits) {
        let over = |waiter: &Waiter| waiter.until_ms <= now_ms;
        while let Some((at, waiter)) = self
            .waiters
            .get(account)
            .and_then(|queue| queue.iter().enumerate().find(|(_, waiter)| over(waiter)))
        {
            let failure = self.shortage(account, at, waiter.units, credits);
            self.give_up_at(account, at, credits, &failure);
            self.note(account, now_ms, credits);
        }
    }

    /// Notes in the ledger what waiters are owed. A slot has room for one number, so of several waits
    /// of one slot the first is noted, and the next after it.
    fn note(&mut self, account: &Account, now_ms: u64, credits: &impl Credits) {
        let Some(queue) = self.waiters.get_mut(account) else { return };
        let mut slots = Vec::new();
        for waiter in queue {
            if slots.contains(&waiter.slot) {
                continue;
            }
            slots.push(waiter.slot);
            let left_ms = waiter.until_ms.saturating_sub(now_ms);
            // A note ends by its time. Whoever comes late to the end of a wait makes it anew: the
            // ledger assigns nothing to a slot that waits for nothing, and that is no refusal.
            if !waiter.noted || left_ms == 0 {
                let ms = left_ms.saturating_add(KEPT_MS);
                waiter.noted = credits.want(account, waiter.slot, waiter.units, ms).is_ok();
                waiter.unwant |= waiter.noted;
            }
        }
    }

    /// Time has passed: waits and requests that are over, and room that has come by itself.
    pub fn tick(&mut self, now_ms: u64, credits: &impl Credits) {
        self.looked_ms = now_ms;
        self.end_asks(now_ms, credits);
        let accounts: Vec<Account> = self.waiters.keys().cloned().collect();
        for account in accounts {
            self.serve(&account, now_ms, credits);
        }
    }

    fn assigned(&mut self, account: &Account, now_ms: u64) {
        let Some(waiter) = self.waiters.get_mut(account).and_then(|queue| queue.pop_front()) else {
            return;
        };
        if let Some(cache) = self.caches.get_mut(&waiter.cache) {
            if !waiter.givers.is_empty() {
                cache.got_ms = Some(now_ms);
                cache.got = cache.got.saturating_add(waiter.units);
            }
            let from = match waiter.givers.is_empty() {
                true => "what was free".to_owned(),
                false => waiter.givers.iter().cloned().collect::<Vec<_>>().join(", "),
            };
            let size = format_bytes(in_bytes(waiter.units));
            let text = format!("{} gets {size} from {from}", cache.title());
            self.say_of(EventKind::CacheGot, waiter.cache, text);
        }
        let Waiter { conn, number, .. } = waiter;
        self.said.push(Say::Answer { conn, number, answer: Ok(()) });
    }

    fn give_up(&mut self, account: &Account, credits: &impl Credits, failure: &Failure) {
        self.give_up_at(account, 0, credits, failure);
    }

    fn give_up_at(
        &mut self,
        account: &Account,
        at: usize,
        credits: &impl Credits,
        failure: &Failure,
    ) {
        let Some(waiter) = self.waiters.get_mut(account).and_then(|queue| queue.remove(at)) else {
            return;
        };
        if waiter.unwant {
            credits.unwant(account, waiter.slot);
        }
        let Waiter { conn, number, .. } = waiter;
        self.said.push(Say::Answer { conn, number, answer: Err(failure.clone()) });
    }

    /// Why a commit at this place in line gets nothing, and who holds the rest.
    fn shortage(
        &self,
        account: &Account,
        at: usize,
        missing: u64,
        credits: &impl Credits,
    ) -> Failure {
        let waiter = self.waiters.get(account).and_then(|queue| queue.get(at));
        let (wanted, limit) = (waiter.map_or(0, |it| it.units), credits.rules(account).limit);
        let cache = waiter.map(|it| it.cache);
        let free = wanted.saturating_sub(missing);
        let others = self.caches.values().filter(|it| it.account() == *account);
        let mut holders: Vec<Holder> = others
            .filter(|it| Some(it.opened.open.cache) != cache)
            .filter_map(|it| {
                let held = credits.slot(account, it.opened.slot)?.held;
                let (user, cache) = (it.opened.user, Some(it.title()));
                Some(Holder { user, bytes: in_bytes(held), tensors: 0, cache, pid: None })
            })
            .filter(|holder| holder.bytes > 0)
            .collect();
        holders.sort_by_key(|holder| std::cmp::Reverse(holder.bytes));
        holders.truncate(millpond_wire::caps::FAILURE_LIST);
        let size = |units| format_bytes(in_bytes(units));
        let group = &account.group;
        let mut failure = Failure::new(
            ErrorKind::GpuFull,
            format!(
                "group '{group}' is {} short of {}, and no other cache gives anything back",
                size(missing),
                size(wanted)
            ),
        );
        failure.hint = Some(match wanted > limit {
            true => {
                format!("its limit is {}: `millpond group set {group} --limit ...`", size(limit))
            }
            false => format!("`millpond elastic ls --group {group}` shows who holds the rest"),
        });
        failure.requested_bytes = Some(in_bytes(wanted));
        failure.free_bytes = Some(in_bytes(free));
        failure.capacity_bytes = Some(in_bytes(limit));
        failure.holders = holders;
        failure
    }
}
