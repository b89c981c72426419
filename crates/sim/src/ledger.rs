//! The groups' files: limits and slots that outlive every daemon, under the ledger's own arithmetic.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

use millpond_ledger::Budget;
use millpond_ledger::protocol::{self, Halves, Outcome, Word};
use millpond_wire::{GroupName, Token};

/// Milliseconds for which an ended process still counts: the driver gives its memory back later.
const GRACE_MS: u64 = 50;

/// A process of a group, as its slot says.
#[derive(Debug)]
struct Slot {
    pid: u32,
    ended_ms: Option<u64>,
    word: AtomicU64,
}

impl Slot {
    fn halves(&self) -> Halves {
        Halves::unpack(Word::load(&self.word))
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
    slots: Vec<Slot>,
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

    fn claims(&self) -> u64 {
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
    fn clear_ended(&self, now_ms: u64) -> u64 {
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

    /// Takes back unused credit of all slots but one until there is enough.
    fn strip(&self, but: Option<usize>, enough: u64) -> u64 {
        let mut found = 0;
        for (index, slot) in self.slots.iter().enumerate() {
            if Some(index) != but && found < enough {
                found += u64::from(protocol::strip(&slot.word));
            }
        }
        found
    }

    fn settle(&self) {
        protocol::settle(
            self.budget.for_members(),
            || self.claims(),
            |over| self.strip(None, over),
            || self.slots.iter().for_each(|slot| protocol::tighten(&slot.word)),
        );
    }

    /// Charges the pond's memory before it is made, or says whether there is room soon.
    ///
    /// # Errors
    /// The limit is reached.
    pub fn reserve_pond(&mut self, units: u64, now_ms: u64) -> Result<(), bool> {
        let refused = protocol::room_for_pond(
            units,
            self.budget.for_members(),
            || self.claims(),
            || Ok::<_, Infallible>(self.clear_ended(now_ms)),
            |missing| self.strip(None, missing),
            |dying| *dying,
        );
        match refused {
            Ok(None) => {
                self.budget.pond = self.budget.pond.saturating_add(units);
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
        self.slots.push(Slot { pid, ended_ms: None, word: AtomicU64::new(0) });
    }

    /// A process is gone: the kernel has dropped its slot's lock.
    pub fn ended(&mut self, pid: u32, now_ms: u64) {
        for slot in self.slots.iter_mut().filter(|slot| slot.pid == pid) {
            slot.ended_ms = Some(now_ms);
        }
    }

    /// A process allocates; true if it may.
    pub fn reserve(&mut self, pid: u32, units: u32, now_ms: u64) -> bool {
        let Some(own) = self.slots.iter().position(|slot| slot.pid == pid) else { return false };
        let word = &self.slots[own].word;
        if protocol::reserve(word, units) == Outcome::Done {
            return true;
        }
        let taken = protocol::take(
            word,
            units,
            self.budget.for_members(),
            || self.claims(),
            || {
                self.clear_ended(now_ms);
                Ok::<(), Infallible>(())
            },
            |missing| self.strip(Some(own), missing),
        );
        taken == Ok(Outcome::Done)
    }

    pub fn release(&mut self, pid: u32, units: u32) {
        if let Some(slot) = self.slots.iter().find(|slot| slot.pid == pid) {
            protocol::release(&slot.word, units);
        }
    }
}
