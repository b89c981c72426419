//! The groups' files: limits and slots that outlive every daemon, under the ledger's own arithmetic.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

use millpond_ledger::protocol::{self, Halves, Outcome, Word};
use millpond_ledger::{Budget, SlotIndex, SlotKind};
use millpond_wire::{GroupName, Token};

use crate::oracle::Violation;

pub const GRANTED: &str = "granted never passes the limit";
pub const OVERTAKEN: &str = "a later comer never gets what a waiter is owed";

/// Milliseconds for which an ended process still counts: the driver gives its memory back later.
pub const GRACE_MS: u64 = 50;

/// A process of a group, or a cache of one, as its slot says.
#[derive(Debug)]
pub(crate) struct Slot {
    pub place: SlotIndex,
    pub kind: SlotKind,
    pub pid: u32,
    pub ended_ms: Option<u64>,
    pub word: AtomicU64,
    /// What its owner says that it can give back at once.
    pub idle: u64,
    /// What its owner waits for.
    pub wanted: u64,
    /// What of its credit nobody strips.
    pub kept: u64,
    /// When those two end by themselves.
    pub until_ms: u64,
    /// Its owner was told that it has what it waited for, under this revision of the limits, and has
    /// taken nothing since.
    pub promised: Option<u64>,
}

impl Slot {
    pub fn halves(&self) -> Halves {
        Halves::unpack(Word::load(&self.word))
    }

    /// What its owner waits for, and what is kept for it; nothing once its time is over.
    pub fn wait(&self, now_ms: u64) -> (u64, u64) {
        if self.until_ms <= now_ms { (0, 0) } else { (self.wanted, self.kept) }
    }
}

/// The folder of one group.
#[derive(Debug, Default)]
pub struct GroupFile {
    /// The entry of the one GPU.
    pub budget: Budget,
    /// Users that the group pays for.
    pub users: Vec<u32>,
    /// The program that a group without a name was made for, and its request.
    pub runner: Option<(Token, u32)>,
    /// A process that does not answer when pages are asked of it is ended.
    pub ends_silent: bool,
    /// Counts changes of the limits.
    pub revision: u64,
    /// Takes do not leave what waiters are owed: a rule that is broken on purpose.
    pub overtakes: bool,
    /// A grant that should not have been.
    pub broken: Option<Violation>,
    pub(crate) slots: Vec<Slot>,
    last_serial: u32,
}

/// Every folder, by name.
pub type Groups = BTreeMap<GroupName, GroupFile>;
/// Files that whoever lives can reach.
pub type SharedGroups = Rc<RefCell<Groups>>;

impl GroupFile {
    /// A folder that was just made, for a program or without one.
    #[must_use]
    pub fn made_for(runner: Option<(Token, u32)>) -> Self {
        Self { runner, ..Self::default() }
    }

    pub(crate) fn claims(&self) -> u64 {
        self.slots.iter().map(|slot| slot.halves().claim()).sum()
    }

    /// Units that living processes hold.
    #[must_use]
    pub fn used_by_living(&self) -> u64 {
        let living = self.slots.iter().filter(|slot| slot.ended_ms.is_none());
        living.map(|slot| u64::from(slot.halves().used)).sum()
    }

    /// Units that the group holds, as its ledger says.
    #[must_use]
    pub fn held(&self) -> u64 {
        let used: u64 = self.slots.iter().map(|slot| u64::from(slot.halves().used)).sum();
        used.saturating_add(self.budget.pond)
    }

    /// Whether a process of the group lives.
    #[must_use]
    pub fn has_members(&self) -> bool {
        self.slots.iter().any(|slot| slot.ended_ms.is_none())
    }

    /// Clears the slots of the dead; returns what those that still count have.
    pub(crate) fn clear_ended(&self, now_ms: u64) -> u64 {
        let mut dying = 0;
        for slot in &self.slots {
            match slot.ended_ms {
                Some(at) if now_ms.saturating_sub(at) >= GRACE_MS => slot.word.overwrite(0),
                Some(_) => dying += slot.halves().claim(),
                None => {}
            }
        }
        dying
    }

    /// Takes back unused credit of all slots but one until there is enough, but for what is kept.
    pub(crate) fn strip(&self, but: Option<usize>, enough: u64, now_ms: u64) -> u64 {
        self.strip_but(but, enough, |slot| slot.wait(now_ms).1)
    }

    fn strip_but(&self, but: Option<usize>, enough: u64, kept: impl Fn(&Slot) -> u64) -> u64 {
        let mut found = 0;
        for (index, slot) in self.slots.iter().enumerate() {
            if Some(index) != but && found < enough {
                let keep = u32::try_from(kept(slot)).unwrap_or(u32::MAX);
                found += u64::from(protocol::strip(&slot.word, keep));
            }
        }
        found
    }

    fn settle(&self) {
        protocol::settle(
            self.budget.for_members(),
            || self.claims(),
            // A lower limit holds also for who has waited.
            |over| self.strip_but(None, over, |_| 0),
            || self.slots.iter().for_each(|slot| protocol::tighten(&slot.word)),
        );
    }

    /// What waiters are owed; everybody but one slot's owner leaves it.
    fn owed(&self, but: Option<usize>, now_ms: u64) -> u64 {
        let others = self.slots.iter().enumerate().filter(|(index, slot)| {
            let is_cleared = slot.ended_ms.is_some_and(|at| now_ms.saturating_sub(at) >= GRACE_MS);
            Some(*index) != but && !is_cleared
        });
        others.map(|(_, slot)| slot.wait(now_ms).0).sum()
    }

    /// What those who take something leave to others.
    fn left(&self, but: Option<usize>, now_ms: u64) -> u64 {
        if self.overtakes { 0 } else { self.owed(but, now_ms) }
    }

    /// Somebody's claim, or the pond's, has grown from `before`: all claims are within the limit,
    /// and `owed` beside them.
    pub(crate) fn check_grown(&mut self, before: u64, owed: u64) {
        let (claims, limit) = (self.claims() + self.budget.pond, self.budget.effective);
        if claims <= before || claims.saturating_add(owed) <= limit {
            return;
        }
        let rule = if claims > limit { GRANTED } else { OVERTAKEN };
        let detail = format!("{claims} units of {limit} are granted, and {owed} are owed");
        self.broken.get_or_insert(Violation::new(rule, detail));
    }

    /// Charges the pond's memory before it is made, or says whether there is room soon.
    ///
    /// # Errors
    /// The limit is reached.
    pub fn reserve_pond(&mut self, units: u64, now_ms: u64) -> Result<(), bool> {
        let refused = protocol::room_for_pond(
            units,
            self.budget.for_members(),
            || self.claims() + self.left(None, now_ms),
            || Ok::<_, Infallible>(self.clear_ended(now_ms)),
            |missing| self.strip(None, missing, now_ms),
            |dying| *dying,
        );
        match refused {
            Ok(None) => {
                let before = self.claims() + self.budget.pond;
                self.budget.pond = self.budget.pond.saturating_add(units);
                self.check_grown(before, self.owed(None, now_ms));
                Ok(())
            }
            Ok(Some(soon)) => Err(soon),
        }
    }

    /// Whether the pond could have so much now, without taking it.
    #[must_use]
    pub fn has_room(&self, units: u64) -> bool {
        units <= protocol::room(self.budget.for_members(), self.claims())
    }

    /// Changes the entry; a lower limit holds from the next allocation on.
    pub fn change(&mut self, change: impl FnOnce(&mut Budget)) {
        change(&mut self.budget);
        self.revision += 1;
        self.settle();
    }

    /// Gives back what the dead had.
    pub fn reap(&mut self, now_ms: u64) {
        self.clear_ended(now_ms);
        let is_cleared = |slot: &Slot| slot.ended_ms.is_some() && slot.halves().claim() == 0;
        self.slots.retain(|slot| !is_cleared(slot));
    }

    /// A process takes a slot.
    pub fn attach(&mut self, pid: u32) {
        self.attach_as(pid, SlotKind::Process);
    }

    /// A process takes a slot for all that it holds, or for the pages of a cache: the first place
    /// that is free, as another owner than the last.
    pub fn attach_as(&mut self, pid: u32, kind: SlotKind) -> SlotIndex {
        let is_taken = |place: usize| self.slots.iter().any(|slot| slot.place.get() == place);
        let free = (0..=u16::MAX).find(|place| !is_taken(usize::from(*place)));
        self.last_serial += 1;
        let place = SlotIndex::named(free.unwrap_or(u16::MAX), self.last_serial);
        self.slots.push(Slot {
            place,
            kind,
            pid,
            ended_ms: None,
            word: AtomicU64::new(0),
            idle: 0,
            wanted: 0,
            kept: 0,
            until_ms: 0,
            promised: None,
        });
        place
    }

    /// A process is gone: the kernel has dropped its slot's lock.
    pub fn ended(&mut self, pid: u32, now_ms: u64) {
        for slot in self.slots.iter_mut().filter(|slot| slot.pid == pid) {
            slot.ended_ms = Some(now_ms);
        }
    }

    /// A process allocates; true if it may.
    pub fn reserve(&mut self, pid: u32, units: u32, now_ms: u64) -> bool {
        let own = self.slots.iter().position(|slot| slot.pid == pid);
        own.is_some_and(|own| self.reserve_at(own, units, now_ms))
    }

    /// The owner of a slot allocates; true if it may.
    pub fn reserve_in(&mut self, place: SlotIndex, units: u32, now_ms: u64) -> bool {
        self.find(place).is_some_and(|own| self.reserve_at(own, units, now_ms))
    }

    fn reserve_at(&mut self, own: usize, units: u32, now_ms: u64) -> bool {
        let word = &self.slots[own].word;
        if protocol::reserve(word, units) == Outcome::Done {
            self.slots[own].promised = None;
            return true;
        }
        let before = self.claims() + self.budget.pond;
        let taken = protocol::take(
            word,
            units,
            self.budget.for_members(),
            || self.claims() + self.left(Some(own), now_ms),
            || {
                self.clear_ended(now_ms);
                Ok::<(), Infallible>(())
            },
            |missing| self.strip(Some(own), missing, now_ms),
        );
        self.check_grown(before, self.owed(Some(own), now_ms));
        let taken = taken == Ok(Outcome::Done);
        if taken {
            self.slots[own].promised = None;
        }
        taken
    }

    pub fn release(&mut self, pid: u32, units: u32) {
        if let Some(slot) = self.slots.iter().find(|slot| slot.pid == pid) {
            protocol::release(&slot.word, units);
        }
    }

    /// The slot of an owner, unless another has its place by now.
    pub(crate) fn find(&self, place: SlotIndex) -> Option<usize> {
        self.slots.iter().position(|slot| slot.place == place)
    }

    pub(crate) fn slot(&self, place: SlotIndex) -> Option<&Slot> {
        self.find(place).and_then(|at| self.slots.get(at))
    }

    pub(crate) fn slot_mut(&mut self, place: SlotIndex) -> Option<&mut Slot> {
        self.find(place).and_then(|at| self.slots.get_mut(at))
    }
}
