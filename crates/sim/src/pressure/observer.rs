//! Who waits for pages and what is owed to whom, as an observer outside the rules knows it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use millpond_daemon::budget::pressure::Pressure;
use millpond_daemon::policy::ConnId;
use millpond_ledger::SlotIndex;
use millpond_wire::{CacheId, GroupName};

use crate::ledger::Slot;
use crate::oracle::Violation;
use crate::ports::SimPorts;

/// Where a slot is: what is owed, and to whom.
pub(super) type Place = (GroupName, usize, u32);

pub(super) fn place(group: &GroupName, slot: SlotIndex) -> Place {
    (group.clone(), slot.get(), slot.serial())
}

/// A wait that was not answered, as an observer outside the rules knows it.
#[derive(Debug)]
pub(super) struct Waiting {
    pub conn: ConnId,
    pub number: u64,
    slot: Place,
    units: u64,
    /// Its process has come with another wait since: it had given this one up, or lost its connection.
    is_old: bool,
}

/// What the thread knows of caches; it goes with its daemon.
#[derive(Debug, Default)]
pub struct Caches {
    pub pressure: Pressure,
    /// The slots of caches that were opened.
    pub(super) slots: BTreeMap<CacheId, Place>,
    /// Who waits, in the order in which they came.
    pub(super) line: VecDeque<Waiting>,
    /// What this thread has noted as owed.
    pub(super) noted: BTreeSet<Place>,
    /// Room that was seen and not used yet, where nobody holds the lock meanwhile.
    pub(super) looked: Option<(Place, u64)>,
    /// A hang-up leaves what is owed: a rule that is broken on purpose.
    pub(super) keeps_wants: bool,
    pub broken: Option<Violation>,
}

impl Caches {
    /// Whether it is time to look without anybody asking.
    #[must_use]
    pub fn is_due(&self, now_ms: u64) -> bool {
        self.pressure.next_ms().is_some_and(|next| next <= now_ms)
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.line.is_empty()
    }

    fn breaks(&mut self, rule: &'static str, detail: String) {
        self.broken.get_or_insert(Violation::new(rule, detail));
    }
}

impl SimPorts {
    /// An observer outside the rules notes who waits.
    pub(super) fn queue(&mut self, conn: ConnId, number: u64, cache: CacheId, units: u64) {
        let Some(slot) = self.book.caches.slots.get(&cache).cloned() else { return };
        for before in self.book.caches.line.iter_mut().filter(|it| it.slot == slot) {
            before.is_old = true;
        }
        let waiting = Waiting { conn, number, slot, units, is_old: false };
        self.book.caches.line.push_back(waiting);
    }

    /// Nobody is served before its turn, and a yes comes with its credit.
    pub(super) fn check_answer(&mut self, conn: ConnId, number: u64, yes: bool) {
        if self.dead {
            return;
        }
        let line = &mut self.book.caches.line;
        let at = line.iter().position(|it| (it.conn, it.number) == (conn, number));
        let Some(waiting) = at.and_then(|at| line.remove(at)) else {
            let detail = format!("connection {} number {number}", conn.0);
            return self.book.caches.breaks("a wait is answered once", detail);
        };
        let earlier = line.iter().take(at.unwrap_or(0)).find(|it| it.slot.0 == waiting.slot.0);
        if let (true, Some(earlier)) = (yes, earlier) {
            let detail = format!("{waiting:?} is answered before {earlier:?}");
            return self.book.caches.breaks("waiters are served in turn", detail);
        }
        let groups = Rc::clone(&self.groups);
        let mut groups = groups.borrow_mut();
        let (group, place, serial) = &waiting.slot;
        let spare = groups.get_mut(group).map_or(0, |file| {
            let revision = file.revision;
            let is_its = |it: &&mut Slot| (it.place.get(), it.place.serial()) == (*place, *serial);
            let Some(slot) = file.slots.iter_mut().find(is_its) else { return 0 };
            slot.promised = yes.then_some(revision);
            let halves = slot.halves();
            u64::from(halves.credit.saturating_sub(halves.used))
        });
        if yes && spare < waiting.units && !waiting.is_old {
            let detail = format!("{waiting:?} has {spare} units");
            self.book.caches.breaks("a waiter that is told yes has its credit", detail);
        }
    }

    /// What this thread has noted as owed is somebody's who waits.
    pub(super) fn check_owed(&mut self) {
        if self.dead {
            return;
        }
        let Caches { line, noted, .. } = &self.book.caches;
        let nobodys = noted.iter().find(|slot| !line.iter().any(|it| it.slot == **slot));
        if let Some(nobodys) = nobodys {
            let detail = format!("{nobodys:?}");
            self.book.caches.breaks("what is owed is owed to somebody who waits", detail);
        }
    }
}
