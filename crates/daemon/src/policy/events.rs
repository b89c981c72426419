//! What happened, numbered and kept for a while; and how far each subscriber has read.
//!
//! A subscriber has a place in the kept events and gets them from there as fast as it reads. Only
//! if it falls behind by more than are kept does it miss any, and then it is told how many. Events
//! about one user are pushed out by events about the same user, or by those of whoever has most.

mod kept;

use std::collections::{BTreeMap, BTreeSet};

use millpond_wire::message::{Event, EventKind, Reply, ReplyBody};
use millpond_wire::{Audience, Epoch, LeaseTarget, TensorName};

use super::owner::{Caller, Owner};
use super::pond::Pond;
use super::ports::{ConnId, Ports};
use crate::accounts::Accounts;
use kept::Kept;

/// Messages that may wait on a connection before its next events wait here instead.
pub(super) const BACKLOG: usize = 64;

/// Who may know. Kept with the event: its tensor may be gone when somebody reads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Public {
    Everybody,
    /// Those with whom a tensor is shared.
    Shared(Owner, Audience),
    /// The user whom it is about.
    User(Option<u32>),
}

impl Public {
    fn includes(&self, caller: &Caller) -> bool {
        match self {
            Public::Everybody => true,
            Public::Shared(owner, audience) => caller.may_use(owner, *audience),
            Public::User(user) => caller.sees_everything() || *user == Some(caller.owner.user),
        }
    }
}

#[derive(Debug)]
pub(super) struct Events {
    kept: Kept,
    subscribers: BTreeMap<ConnId, Cursor>,
    /// Those who have not got everything.
    behind: BTreeSet<ConnId>,
}

#[derive(Clone, Copy, Debug)]
struct Cursor {
    /// The number that the subscriber gets next.
    next: u64,
    /// Up to here it knows that some are missing.
    told: u64,
}

impl Events {
    /// Numbers go on rising from one daemon to the next.
    pub(super) fn new(epoch: Epoch, accounts: Accounts) -> Self {
        let kept = Kept::new(epoch, accounts);
        Self { kept, subscribers: BTreeMap::new(), behind: BTreeSet::new() }
    }

    /// Numbers and keeps an event.
    fn push(&mut self, event: Event, public: Public) {
        self.kept.push(event, public);
        self.behind.extend(self.subscribers.keys());
    }

    /// Events from a number on; zero means from now on.
    fn subscribe(&mut self, conn: ConnId, from: u64) {
        let next = if from == 0 { self.kept.next() } else { from };
        self.subscribers.insert(conn, Cursor { next, told: 0 });
        self.behind.insert(conn);
    }

    /// The connection is over.
    pub(super) fn unsubscribe(&mut self, conn: ConnId) {
        self.subscribers.remove(&conn);
        self.behind.remove(&conn);
    }

    /// What is missing for a subscriber, if it has not been told.
    fn gap_before(&self, cursor: Cursor, caller: &Caller) -> Option<(Event, Cursor)> {
        let kept = &self.kept;
        let first_from =
            |number| kept.from(number).next().map_or(kept.next(), |(it, _)| it.sequence);
        let (begun, last_gone) = (kept.begun(), kept.last_gone());
        if cursor.next < begun || cursor.next > kept.next() {
            let first = first_from(0);
            let told = Cursor { next: first, told: last_gone };
            return Some((gap(cursor.next, begun, first, 0), told));
        }
        if last_gone < cursor.next || last_gone <= cursor.told {
            return None;
        }
        let last = kept.last_gone_for(caller);
        if last < cursor.next || last <= cursor.told {
            return None;
        }
        let there = kept.from(cursor.next).take_while(|(event, _)| event.sequence <= last);
        let missing = last - cursor.next + 1 - there.count() as u64;
        let next = first_from(cursor.next);
        let told = Cursor { next, told: last };
        Some((gap(cursor.next, begun, next, missing), told))
    }

    /// What a subscriber gets next, and moves on; `None` when there is nothing more for it.
    fn take_next(&mut self, conn: ConnId, caller: &Caller) -> Option<Event> {
        let cursor = *self.subscribers.get(&conn)?;
        let (event, cursor) = match self.gap_before(cursor, caller) {
            Some((gap, told)) => (Some(gap), told),
            None => {
                let mut from = self.kept.from(cursor.next);
                let found = from.find(|(_, public)| public.includes(caller));
                let next = found.map_or(self.kept.next(), |(event, _)| event.sequence + 1);
                (found.map(|(event, _)| event.clone()), Cursor { next, ..cursor })
            }
        };
        self.subscribers.insert(conn, cursor);
        event
    }

    /// Everything that is kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> impl Iterator<Item = &Event> {
        self.kept.from(0).map(|(event, _)| event)
    }
}

/// Some are missing between the one that was wanted and the first that is there.
fn gap(wanted: u64, begun: u64, first: u64, missing: u64) -> Event {
    let text = if wanted < begun {
        "events of an earlier daemon are missing".to_owned()
    } else if missing == 0 {
        "no event has that number yet; showing all that are kept".to_owned()
    } else {
        let verb = if missing == 1 { "event is" } else { "events are" };
        format!("{missing} {verb} missing: only the latest are kept")
    };
    Event {
        // Whoever has the gap has not had the event after it yet.
        sequence: first.saturating_sub(1),
        unix_ms: 0,
        kind: EventKind::Gap,
        target: None,
        name: None,
        user: None,
        text,
    }
}

/// An event as it is before it has its number.
pub(super) fn happening<P: Ports>(
    ports: &P,
    kind: EventKind,
    target: Option<LeaseTarget>,
    name: Option<TensorName>,
    user: Option<u32>,
    text: String,
) -> Event {
    Event { sequence: 0, unix_ms: ports.now_ms(), kind, target, name, user, text }
}

impl<P: Ports> Pond<P> {
    /// Tells everybody who wants to know and may.
    pub(super) fn happened(
        &mut self,
        ports: &mut P,
        kind: EventKind,
        target: Option<LeaseTarget>,
        name: Option<TensorName>,
        user: Option<u32>,
        text: impl Into<String>,
    ) {
        let public = match target {
            Some(target) => self.public(target, user),
            None => Public::Everybody,
        };
        let event = happening(ports, kind, target, name, user, text.into());
        self.tell(ports, event, public);
    }

    /// Who may know about a tensor or a version: those who may use it.
    pub(super) fn public(&self, target: LeaseTarget, user: Option<u32>) -> Public {
        let shared = match target {
            LeaseTarget::Version(id) => {
                self.models.get(id).map(|version| (version.owner.clone(), version.audience))
            }
            LeaseTarget::Tensor(id) => {
                let slab = self.catalog.get(id).and_then(|tensor| self.slabs.get(tensor.slab));
                slab.map(|slab| (slab.class.owner.clone(), slab.class.audience))
            }
        };
        shared.map_or(Public::User(user), |(owner, audience)| Public::Shared(owner, audience))
    }

    pub(super) fn tell(&mut self, ports: &mut P, event: Event, public: Public) {
        self.events.push(event, public);
        self.pump_events(ports);
    }

    /// Events from a number on; zero means from now on.
    pub(super) fn subscribe(&mut self, ports: &mut P, conn: ConnId, from: u64) {
        self.events.subscribe(conn, from);
        self.pump_events(ports);
    }

    /// Sends subscribers what they have not got, as long as they take it. To be called when a
    /// connection has taken what waited for it.
    pub fn pump_events(&mut self, ports: &mut P) {
        let Self { events, clients, .. } = self;
        for conn in std::mem::take(&mut events.behind) {
            let Some(connection) = clients.connection(conn) else {
                events.subscribers.remove(&conn);
                continue;
            };
            loop {
                if ports.backlog(conn) >= BACKLOG {
                    events.behind.insert(conn);
                    break;
                }
                let Some(mut event) = events.take_next(conn, &connection.caller) else { break };
                if event.kind == EventKind::Gap {
                    event.unix_ms = ports.now_ms();
                }
                ports.reply(conn, Reply { number: 0, body: ReplyBody::Event(event) }, Vec::new());
            }
        }
    }
}
