//! Requests to give pages back, from the asking to the answer.

use millpond_view::units::bytes as format_bytes;
use millpond_wire::message::{CacheGave, EventKind, Gave, Pressure as Request};
use millpond_wire::{CacheId, Failure};

use super::victims::{Demand, Holder, plan};
use super::{Account, Credits, Pressure, Refused, Say, in_bytes, in_units};
use crate::policy::ConnId;

/// What a cache got from others stays with it for so long, or pages would go to and fro.
const RESIDENCY_MS: u64 = 500;
/// A cache that had nothing more to give is left alone for so long.
const REFUSED_MS: u64 = 100;
/// How long a cache may take to answer: half of the waiter's time, within these.
const ANSWER_MS: std::ops::RangeInclusive<u64> = 100..=5_000;
/// Where nobody waits: a lower limit, a slab.
const UNHURRIED_MS: u64 = 1_000;

/// This many answers in a row without effect count as silence. They take two seconds at
/// least ([`REFUSED_MS`]), in which an engine ends a step or evicts something.
const IN_VAIN: u32 = 20;

/// A killed process has given everything back after so long.
pub(super) const ENDED_MS: u64 = 1_000;

/// For whom pages are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Beneficiary {
    Cache(CacheId),
    /// The group holds more than its limit.
    Limit,
    /// A slab of the pond; only idle pages are asked for.
    Pond,
}

/// So much is wanted.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub units: u64,
    pub wait_ms: u64,
    pub beneficiary: Beneficiary,
}

#[derive(Debug)]
pub(super) struct Ask {
    pub cache: CacheId,
    units: u64,
    given: u64,
    /// What the cache held when it was asked.
    held: u64,
    pub until_ms: u64,
    /// It has answered, and more follows.
    answered: bool,
    beneficiary: Beneficiary,
}

impl Ask {
    pub fn left(&self) -> u64 {
        self.units.saturating_sub(self.given)
    }
}

impl Pressure {
    /// A group holds so many units more than its limit.
    pub fn over(&mut self, account: &Account, units: u64, now_ms: u64, credits: &impl Credits) {
        let wish = Wish { units, wait_ms: UNHURRIED_MS, beneficiary: Beneficiary::Limit };
        self.press(account, &wish, now_ms, credits);
    }

    /// A slab on this account needs so many bytes. True if somebody was asked.
    pub fn for_pond(
        &mut self,
        account: &Account,
        bytes: u64,
        now_ms: u64,
        credits: &impl Credits,
    ) -> bool {
        let units = in_units(bytes);
        let wish = Wish { units, wait_ms: UNHURRIED_MS, beneficiary: Beneficiary::Pond };
        self.press(account, &wish, now_ms, credits)
    }

    /// Accounts on a GPU that have caches.
    #[must_use]
    pub fn accounts_on(&self, device: millpond_wire::GpuUuid) -> Vec<Account> {
        let accounts = self.caches.values().map(super::Cache::account);
        let mut on: Vec<Account> = accounts.filter(|account| account.device == device).collect();
        on.sort();
        on.dedup();
        on
    }

    /// Asks those who have most for what is missing and was not asked for yet. False if nobody has
    /// anything to give, and nobody was asked before. What is on its way to a slab is the slab's: it
    /// is neither a commit's nor the next slab's.
    pub(super) fn press(
        &mut self,
        account: &Account,
        wish: &Wish,
        now_ms: u64,
        credits: &impl Credits,
    ) -> bool {
        let on_account =
            |cache: CacheId| self.caches.get(&cache).is_some_and(|it| it.account() == *account);
        let counts = |ask: &&Ask| {
            let for_slabs = [&ask.beneficiary, &wish.beneficiary].contains(&&Beneficiary::Pond);
            !for_slabs && on_account(ask.cache)
        };
        let asked: u64 = self.asks.values().filter(counts).map(Ask::left).sum();
        let missing = wish.units.saturating_sub(asked);
        let holders = self.holders(account, wish, now_ms, credits);
        let demands = plan(missing, &holders);
        let revision = credits.rules(account).revision;
        let pressed = !demands.is_empty();
        for demand in demands {
            let slot = self.caches.get(&demand.key).map(|cache| cache.opened.slot);
            let held = slot.and_then(|slot| credits.slot(account, slot)).map_or(0, |it| it.held);
            self.demand(&demand, held, wish, revision, now_ms);
        }
        pressed || asked > 0
    }

    fn holders(
        &self,
        account: &Account,
        wish: &Wish,
        now_ms: u64,
        credits: &impl Credits,
    ) -> Vec<Holder<CacheId>> {
        let within = |at: Option<u64>, ms| at.is_some_and(|at| now_ms.saturating_sub(at) < ms);
        let mut holders = Vec::new();
        for (id, cache) in self.caches.iter().filter(|(_, cache)| cache.account() == *account) {
            let Some(reading) = credits.slot(account, cache.opened.slot) else { continue };
            let asked: u64 = self.asks.values().filter(|ask| ask.cache == *id).map(Ask::left).sum();
            let own = wish.beneficiary == Beneficiary::Cache(*id);
            let refused = cache.refused.filter(|it| within(Some(it.at_ms), REFUSED_MS));
            let idle = reading.idle.min(reading.held);
            // What has become idle since it refused is to be had; the rest is not asked for again.
            let news = refused.map(|refused| idle.saturating_sub(refused.idle));
            if own || news == Some(0) {
                continue;
            }
            holders.push(Holder {
                key: *id,
                held: reading.held.saturating_sub(asked),
                idle: news.unwrap_or(idle).saturating_sub(asked),
                // A limited program's own slot pays, in which its caches cannot write.
                is_idle_hidden: cache.opened.open.slot.is_none(),
                min: match wish.beneficiary {
                    // A limit is a limit; what a cache was promised is within it.
                    Beneficiary::Limit => 0,
                    _ => in_units(cache.opened.open.min_bytes),
                },
                weight: cache.opened.open.weight,
                settled: match wish.beneficiary {
                    _ if news.is_some() => false,
                    Beneficiary::Cache(_) => !within(cache.got_ms, RESIDENCY_MS),
                    Beneficiary::Limit => true,
                    Beneficiary::Pond => false,
                },
            });
        }
        holders
    }

    fn demand(
        &mut self,
        demand: &Demand<CacheId>,
        held: u64,
        wish: &Wish,
        revision: u64,
        now_ms: u64,
    ) {
        let Some(cache) = self.caches.get(&demand.key) else { return };
        let conn = cache.opened.conn;
        let reason = self.reason(&wish.beneficiary);
        let size = format_bytes(in_bytes(demand.units));
        let text = format!("{} is asked for {size}: {reason}", cache.title());
        self.last_ask += 1;
        let number = self.last_ask;
        let answer_ms = (wish.wait_ms / 2).clamp(*ANSWER_MS.start(), *ANSWER_MS.end());
        self.asks.insert(
            number,
            Ask {
                cache: demand.key,
                units: demand.units,
                given: 0,
                held,
                until_ms: now_ms.saturating_add(answer_ms),
                answered: false,
                beneficiary: wish.beneficiary.clone(),
            },
        );
        let request = Request {
            cache: demand.key,
            ask: number,
            bytes: in_bytes(demand.units),
            beyond_idle_bytes: in_bytes(demand.beyond_idle),
            wait_ms: answer_ms,
            revision,
            reason,
        };
        self.said.push(Say::Ask { conn, request });
        self.say_of(EventKind::CachePressed, demand.key, text);
    }

    fn reason(&self, beneficiary: &Beneficiary) -> String {
        match beneficiary {
            Beneficiary::Cache(id) => match self.caches.get(id) {
                Some(cache) => format!("a commit of {} falls short", cache.title()),
                None => "a commit falls short".to_owned(),
            },
            Beneficiary::Limit => "its group is over its limit".to_owned(),
            Beneficiary::Pond => "a tensor or a model needs room".to_owned(),
        }
    }

    /// A cache has given something, or says that it will not.
    ///
    /// # Errors
    /// `not_found` for a cache that is not open on this connection.
    pub fn gave(
        &mut self,
        conn: ConnId,
        gave: CacheGave,
        now_ms: u64,
        credits: &impl Credits,
    ) -> Result<(), Failure> {
        let account = self.of(conn, gave.cache)?.account();
        let mine = |ask: &Ask| ask.cache == gave.cache;
        let Some(ask) = self.asks.get_mut(&gave.ask).filter(|ask| mine(ask)) else {
            // It was answered too late; what was given counts all the same.
            self.serve(&account, now_ms, credits);
            return Ok(());
        };
        let units = in_units(gave.bytes);
        ask.given = ask.given.saturating_add(units);
        ask.answered = true;
        let (beneficiary, held) = (ask.beneficiary.clone(), ask.held);
        self.note_given(gave, units, &beneficiary);
        if gave.outcome != Gave::Deferred {
            self.asks.remove(&gave.ask);
            self.note_effect(gave.cache, held, now_ms, credits);
        }
        if gave.outcome == Gave::Refused {
            self.note_refused(gave.cache, now_ms, credits);
        }
        self.serve(&account, now_ms, credits);
        Ok(())
    }

    fn note_refused(&mut self, id: CacheId, now_ms: u64, credits: &impl Credits) {
        let Some(cache) = self.caches.get_mut(&id) else { return };
        let reading = credits.slot(&cache.account(), cache.opened.slot).unwrap_or_default();
        cache.refused = Some(Refused { at_ms: now_ms, idle: reading.idle });
    }

    /// A request is over: by the ledger, not by the answer, the cache has given something or not.
    fn note_effect(&mut self, id: CacheId, held: u64, now_ms: u64, credits: &impl Credits) {
        let Some(cache) = self.caches.get_mut(&id) else { return };
        let now = credits.slot(&cache.account(), cache.opened.slot).unwrap_or_default().held;
        if now < held {
            cache.in_vain = 0;
            return;
        }
        // Requests for several waiters that are answered together are one.
        let again = cache.refused.is_some_and(|it| now_ms.saturating_sub(it.at_ms) < REFUSED_MS);
        cache.in_vain = cache.in_vain.saturating_add(u32::from(!again));
        if cache.in_vain >= IN_VAIN && credits.rules(&cache.account()).ends_silent {
            cache.in_vain = 0;
            let text = format!("was asked {IN_VAIN} times in a row and gave nothing");
            self.end_process(id, &text, now_ms);
        }
        self.note_refused(id, now_ms, credits);
    }

    /// The operator has allowed it.
    fn end_process(&mut self, id: CacheId, why: &str, now_ms: u64) {
        let Some(cache) = self.caches.get(&id) else { return };
        let (account, conn, title) = (cache.account(), cache.opened.conn, cache.title());
        self.say_of(EventKind::CacheEnded, id, format!("{title} {why}, and its process is ended"));
        self.said.push(Say::End { conn });
        self.ending.insert(account, now_ms.saturating_add(ENDED_MS));
    }

    fn note_given(&mut self, gave: CacheGave, units: u64, for_whom: &Beneficiary) {
        let Some(cache) = self.caches.get_mut(&gave.cache) else { return };
        cache.given = cache.given.saturating_add(units);
        let giver = cache.title();
        if units == 0 {
            return;
        }
        if let Beneficiary::Cache(id) = for_whom {
            let waiters = self.waiters.values_mut().flatten();
            for waiter in waiters.filter(|waiter| waiter.cache == *id) {
                waiter.givers.insert(giver.clone());
            }
        }
        let size = format_bytes(in_bytes(units));
        let text = format!("{giver} gives {size} back: {}", self.reason(for_whom));
        self.say_of(EventKind::CacheGave, gave.cache, text);
    }

    /// A process on this account has ended or was ended, and may still count for what it had.
    pub(super) fn is_ending(&mut self, account: &Account, now_ms: u64) -> bool {
        self.ending.retain(|_, until| *until > now_ms);
        self.ending.contains_key(account)
    }

    /// Requests whose time is over.
    pub(super) fn end_asks(&mut self, now_ms: u64, credits: &impl Credits) {
        let over = self.asks.iter().filter(|(_, ask)| ask.until_ms <= now_ms);
        let over: Vec<u64> = over.map(|(number, _)| *number).collect();
        for number in over {
            let Some(ask) = self.asks.remove(&number) else { continue };
            if ask.answered {
                self.note_effect(ask.cache, ask.held, now_ms, credits);
            }
            self.note_refused(ask.cache, now_ms, credits);
            let Some(cache) = self.caches.get(&ask.cache).filter(|_| !ask.answered) else {
                continue;
            };
            if credits.rules(&cache.account()).ends_silent {
                self.end_process(ask.cache, "did not answer", now_ms);
            } else {
                let text = format!("{} did not answer when pages were asked of it", cache.title());
                self.say_of(EventKind::CachePressed, ask.cache, text);
            }
        }
    }
}
