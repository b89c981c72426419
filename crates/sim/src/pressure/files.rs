//! Credit in the groups' files, each write a call in which the daemon dies.

use std::cell::RefCell;
use std::rc::Rc;

use millpond_daemon::budget::pressure::{Account, Credits, GroupRules, SlotReading, Unassigned};
use millpond_ledger::SlotIndex;
use millpond_ledger::protocol::{self, Outcome};

use super::observer::place;
use crate::book::Trouble;
use crate::ledger::{GRACE_MS, GroupFile, Slot};
use crate::mutation::Mutation;
use crate::ports::SimPorts;

/// The groups' files, as the rules of pressure see them.
pub(super) struct Files<'a>(pub RefCell<&'a mut SimPorts>);

fn unassigned(trouble: Trouble) -> Unassigned {
    match trouble {
        Trouble::Busy => Unassigned::Busy,
        Trouble::Dead | Trouble::Gone => Unassigned::Gone,
    }
}

fn owned(file: &mut GroupFile, slot: SlotIndex, now_ms: u64) -> Option<&mut Slot> {
    let is_cleared = |at: u64| now_ms.saturating_sub(at) >= GRACE_MS;
    file.slot_mut(slot).filter(|slot| !slot.ended_ms.is_some_and(is_cleared))
}

impl Files<'_> {
    fn write<T>(
        &self,
        account: &Account,
        write: impl FnOnce(&mut GroupFile, u64) -> Option<T>,
    ) -> Result<T, Unassigned> {
        let mut ports = self.0.borrow_mut();
        let now_ms = ports.clock.get();
        let written = ports.write_group(&account.group, |file| write(file, now_ms));
        written.map_err(unassigned)?.ok_or(Unassigned::Gone)
    }

    /// Room for a waiter: in what is free, with the dead, then in what others do not use. With the
    /// lock, that is used at once.
    fn look(&self, account: &Account, slot: SlotIndex, units: u32) -> Result<u64, Unassigned> {
        self.write(account, |file, now_ms| {
            let at = file.find(slot)?;
            owned(file, slot, now_ms)?;
            file.clear_ended(now_ms);
            let room = |file: &GroupFile| protocol::room(file.budget.for_members(), file.claims());
            let halves = file.slots[at].halves();
            let need = (u64::from(halves.used) + u64::from(units)).saturating_sub(halves.claim());
            let missing = need.saturating_sub(room(file));
            file.strip(Some(at), missing, now_ms);
            Some(room(file))
        })
    }

    fn assign_in(
        &self,
        account: &Account,
        slot: SlotIndex,
        units: u32,
        room: u64,
    ) -> Result<(), Unassigned> {
        let outcome = self.write(account, |file, now_ms| {
            let before = file.claims() + file.budget.pond;
            let outcome = protocol::assign(&owned(file, slot, now_ms)?.word, units, room);
            file.check_grown(before, 0);
            Some(outcome)
        })?;
        match outcome {
            Outcome::Short(missing) => Err(Unassigned::Short(missing)),
            Outcome::Done => {
                // Three words, and the daemon may be killed after each.
                let mut ports = self.0.borrow_mut();
                let now_ms = ports.clock.get();
                let groups = Rc::clone(&ports.groups);
                let mut groups = groups.borrow_mut();
                let slot = groups.get_mut(&account.group).and_then(|file| file.slot_mut(slot));
                let slot = slot.ok_or(Unassigned::Gone)?;
                if ports.lives() {
                    slot.kept = slot.wanted.max(slot.wait(now_ms).1);
                }
                if ports.lives() {
                    slot.wanted = 0;
                }
                Ok(())
            }
        }
    }
}

impl Credits for Files<'_> {
    fn slot(&self, account: &Account, slot: SlotIndex) -> Option<SlotReading> {
        let ports = self.0.borrow();
        let groups = ports.groups.borrow();
        let slot = groups.get(&account.group)?.slot(slot)?;
        let wanted = slot.wait(ports.clock.get()).0;
        Some(SlotReading { held: slot.halves().used.into(), idle: slot.idle, wanted })
    }

    fn rules(&self, account: &Account) -> GroupRules {
        let ports = self.0.borrow();
        let groups = ports.groups.borrow();
        groups.get(&account.group).map_or_else(GroupRules::default, |file| GroupRules {
            limit: file.budget.for_members(),
            revision: file.revision,
            ends_silent: file.ends_silent,
            dying: file.slots.iter().any(|slot| slot.ended_ms.is_some()),
        })
    }

    fn want(
        &self,
        account: &Account,
        slot: SlotIndex,
        units: u64,
        ms: u64,
    ) -> Result<(), Unassigned> {
        let group = &account.group;
        self.0
            .borrow()
            .trace
            .say(|| format!("    {slot:?} of {group} wants {units} units, {ms} ms"));
        self.write(account, |file, now_ms| {
            let slot = owned(file, slot, now_ms)?;
            (slot.wanted, slot.until_ms) = (units, now_ms.saturating_add(ms));
            Some(())
        })?;
        self.0.borrow_mut().book.caches.noted.insert(place(&account.group, slot));
        Ok(())
    }

    fn assign(&self, account: &Account, slot: SlotIndex) -> Result<(), Unassigned> {
        let key = place(&account.group, slot);
        let now_ms = self.0.borrow().clock.get();
        let groups = Rc::clone(&self.0.borrow().groups);
        let wanted = {
            let groups = groups.borrow();
            let slot = groups.get(&account.group).and_then(|file| file.slot(slot));
            slot.ok_or(Unassigned::Gone)?.wait(now_ms).0
        };
        if wanted == 0 {
            return Ok(());
        }
        let units = u32::try_from(wanted).unwrap_or(u32::MAX);
        let unlocked = self.0.borrow().mutation == Some(Mutation::AssignUnlocked);
        let looked = self.0.borrow_mut().book.caches.looked.take().filter(|(at, _)| *at == key);
        let room = match looked {
            Some((_, room)) => room,
            None => self.look(account, slot, units)?,
        };
        let fits = {
            let groups = groups.borrow();
            let file = groups.get(&account.group).and_then(|file| file.slot(slot));
            let halves = file.ok_or(Unassigned::Gone)?.halves();
            u64::from(halves.used) + wanted <= halves.claim() + room
        };
        if unlocked && looked.is_none() && fits {
            // Whoever takes something before the next look is not noticed.
            self.0.borrow_mut().book.caches.looked = Some((key, room));
            return Err(Unassigned::Busy);
        }
        let assigned = self.assign_in(account, slot, units, room);
        let said = |text: String| self.0.borrow().trace.say(|| text);
        said(format!("    {slot:?} of {}: {units} units in {room}: {assigned:?}", account.group));
        assigned?;
        self.0.borrow_mut().book.caches.noted.remove(&key);
        Ok(())
    }

    fn unwant(&self, account: &Account, slot: SlotIndex) {
        if self.0.borrow().book.caches.keeps_wants {
            return;
        }
        let group = &account.group;
        self.0.borrow().trace.say(|| format!("    {slot:?} of {group} waits no longer"));
        // Without the lock it ends by its time.
        let _ = self.write(account, |file, _| {
            file.slot_mut(slot)?.wanted = 0;
            Some(())
        });
        self.0.borrow_mut().book.caches.noted.remove(&place(&account.group, slot));
    }
}
