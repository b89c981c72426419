//! Who pays for which slab, and what is left for those for whom no group pays.

use std::collections::{BTreeMap, BTreeSet};

use millpond_wire::{GpuUuid, GroupName, SlabId};

use super::payer::{Payer, Payers};
use super::share::{Card, Share};
use super::tally::{Holding, Tally};

/// Milliseconds that whoever wants memory waits for the first reading of a card, counted from the
/// first to want some: less than the policy waits, so that nobody is refused for that. A card that
/// hangs is not waited for again.
pub const FIRST_READING_MS: u64 = 400;
/// Milliseconds for which readings may still show what was given back.
const IN_READINGS_MS: u64 = 300;

/// The groups' accounts, which have the last word about a charge.
pub trait Ledgers {
    /// Why an account cannot be used.
    type Error;

    /// Charges a group before memory is made: all or nothing.
    ///
    /// # Errors
    /// The group's limit, or what is wrong with its account.
    fn charge(
        &mut self,
        group: &GroupName,
        device: GpuUuid,
        units: u64,
    ) -> Result<(), Refusal<Self::Error>>;

    /// Takes back a part of what a group is charged with.
    ///
    /// # Errors
    /// What is wrong with the account.
    fn give_back(
        &mut self,
        group: &GroupName,
        device: GpuUuid,
        units: u64,
    ) -> Result<(), Self::Error>;

    /// Units that a group is charged with.
    ///
    /// # Errors
    /// What is wrong with the account.
    fn charged(&mut self, group: &GroupName, device: GpuUuid) -> Result<u64, Self::Error>;

    /// Charges a group with what already exists, whatever its limit says.
    ///
    /// # Errors
    /// What is wrong with the account.
    fn set_charged(
        &mut self,
        group: &GroupName,
        device: GpuUuid,
        units: u64,
    ) -> Result<(), Self::Error>;
}

/// Why a ledger made no charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal<E> {
    /// The limit is reached.
    Limit {
        /// Processes that are ending hold enough.
        soon: bool,
    },
    /// The account cannot be used.
    Broken(E),
}

/// Why memory may not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused<E> {
    /// By the group that would pay for it.
    ByGroup(GroupName, Refusal<E>),
    /// By what groups are promised.
    Promised {
        /// Units that are left beside that.
        left: u64,
        /// The readings may not show yet what was given back.
        soon: bool,
    },
    /// The groups or the card have not been looked at yet.
    Unread,
}

/// What groups leave to payers without a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Left {
    /// Whatever the card has: nothing is promised.
    Whatever,
    Units(u64),
    /// At most so many: the card has not said yet what others have.
    Unread(u64),
    /// Nobody has looked yet.
    #[default]
    Unknown,
}

/// Every slab with its payer.
///
/// For each group the ledger's charge is the sum of its users' slabs, but for what a death or a
/// stuck lock kept from being written, which [`Charges::recount`] puts right.
#[derive(Clone, Debug, Default)]
pub struct Charges {
    tally: Tally,
    payers: Payers,
    left: BTreeMap<GpuUuid, Left>,
    /// The same on GPUs that were not looked at yet.
    left_elsewhere: Left,
    /// When somebody was first kept waiting for the groups or a reading.
    waited_ms: Option<u64>,
    /// When a user without a group last gave something back.
    gave_back_ms: BTreeMap<GpuUuid, u64>,
    /// The slabs of the daemon before are known.
    complete: bool,
    /// Groups whose ledgers have said what they are charged with, since their users last changed.
    counted: BTreeSet<(GroupName, GpuUuid)>,
}

impl Charges {
    /// These slabs are there already, and with them all that an earlier daemon left. Ledgers lack what
    /// is new here until they are counted anew.
    pub fn adopt(&mut self, slabs: impl IntoIterator<Item = (SlabId, Holding)>) {
        for (slab, holding) in slabs {
            self.tally.add(slab, holding);
        }
        self.counted.clear();
        self.complete = true;
    }

    /// Groups or their users have changed. The charges move with the next [`Charges::recount`], or
    /// with the next slab of the group: until then its ledger lacks what its new users hold.
    pub fn set_payers(&mut self, payers: Payers) {
        let before = std::mem::replace(&mut self.payers, payers);
        let after = &self.payers;
        self.counted.retain(|(group, _)| before.users_of(group).eq(after.users_of(group)));
    }

    /// The groups are known: whether something is promised on GPUs that nobody has looked at.
    pub fn promised_elsewhere(&mut self, promised: bool) {
        self.left_elsewhere = if promised { Left::Unknown } else { Left::Whatever };
    }

    /// Divides a card between the groups with these shares, and those for whom no group pays.
    /// Returns the limit that each group's members obey, in the same order. `read` says whether the
    /// card has been read since the daemon began.
    pub fn balance(
        &mut self,
        device: GpuUuid,
        card: &Card,
        read: bool,
        shares: &[Share],
    ) -> Vec<u64> {
        let unpaid = self.tally.units(device, |user| !self.payers.is_charged(user));
        let left = match card.unpromised(shares, unpaid) {
            None => Left::Whatever,
            Some(units) if read => Left::Units(units),
            Some(units) => Left::Unread(units),
        };
        self.left.insert(device, left);
        card.effective(shares, unpaid)
    }

    /// The payer of this user's memory, as far as is known.
    #[must_use]
    pub fn payer_of(&self, user: u32) -> Payer {
        self.payers.of(user)
    }

    /// Units that a payer holds on a card.
    #[must_use]
    pub fn held_by(&self, payer: &Payer, device: GpuUuid) -> u64 {
        match payer {
            Payer::User(payer) => self.tally.units(device, |user| user == *payer),
            Payer::Group(_) => self.tally.units(device, |user| self.payers.of(user) == *payer),
        }
    }

    /// Units that these users hold, whoever pays for them.
    #[must_use]
    pub fn held_by_users(&self, users: &[u32], device: GpuUuid) -> u64 {
        self.tally.units(device, |user| users.contains(&user))
    }

    /// Charges a slab that is about to be made.
    ///
    /// # Errors
    /// [`Refused`]: then nothing has changed, but for what the ledger has written and not answered.
    pub fn charge<L: Ledgers>(
        &mut self,
        ledgers: &mut L,
        now_ms: u64,
        slab: SlabId,
        holding: Holding,
    ) -> Result<(), Refused<L::Error>> {
        match self.payers.of(holding.user) {
            Payer::Group(group) => self
                .count_once(ledgers, &group, holding.device)
                .map_err(Refusal::Broken)
                .and_then(|_| ledgers.charge(&group, holding.device, holding.units))
                .map_err(|refusal| Refused::ByGroup(group, refusal))?,
            Payer::User(_) => self.take_left(now_ms, holding)?,
        }
        self.tally.add(slab, holding);
        Ok(())
    }

    /// Charges a slab that is there already and that the payer's group has charged somebody else with
    /// until now: whatever its limit says.
    ///
    /// # Errors
    /// What is wrong with the account, which has changed nothing.
    pub fn charge_made<L: Ledgers>(
        &mut self,
        ledgers: &mut L,
        slab: SlabId,
        holding: Holding,
    ) -> Result<(), L::Error> {
        if let Payer::Group(group) = self.payers.of(holding.user) {
            self.count_once(ledgers, &group, holding.device)?;
            let charged = ledgers.charged(&group, holding.device)?;
            let charged = charged.saturating_add(holding.units);
            ledgers.set_charged(&group, holding.device, charged)?;
        }
        self.tally.add(slab, holding);
        Ok(())
    }

    /// A slab is gone, or was not made.
    ///
    /// # Errors
    /// The group that is still charged with the slab, until the next recount.
    pub fn give_back<L: Ledgers>(
        &mut self,
        ledgers: &mut L,
        now_ms: u64,
        slab: SlabId,
    ) -> Result<(), (GroupName, L::Error)> {
        let Some(Holding { device, user, units }) = self.tally.remove(slab) else { return Ok(()) };
        match self.payers.of(user) {
            Payer::Group(group) => {
                let counted = self.count_once(ledgers, &group, device);
                let given_back = counted.and_then(|counted| match counted {
                    true => Ok(()),
                    false => ledgers.give_back(&group, device, units),
                });
                given_back.map_err(|error| (group, error))
            }
            Payer::User(_) => {
                self.gave_back_ms.insert(device, now_ms);
                if let Some(Left::Units(left) | Left::Unread(left)) = self.left.get_mut(&device) {
                    *left = left.saturating_add(units);
                }
                Ok(())
            }
        }
    }

    /// Puts right what a group is charged with. Returns whether anything was wrong.
    ///
    /// # Errors
    /// What is wrong with the account.
    pub fn recount<L: Ledgers>(
        &mut self,
        ledgers: &mut L,
        group: &GroupName,
        devices: &[GpuUuid],
    ) -> Result<bool, L::Error> {
        if !self.complete {
            return Ok(false);
        }
        let payer = Payer::Group(group.clone());
        let mut wrong = false;
        for device in devices {
            let units = self.held_by(&payer, *device);
            if ledgers.charged(group, *device)? != units {
                ledgers.set_charged(group, *device, units)?;
                wrong = true;
            }
            self.counted.insert((group.clone(), *device));
        }
        Ok(wrong)
    }

    /// Counts a group whose charge nobody has looked at since its users changed. Returns whether it
    /// did so: then the ledger has what is in the tally now.
    fn count_once<L: Ledgers>(
        &mut self,
        ledgers: &mut L,
        group: &GroupName,
        device: GpuUuid,
    ) -> Result<bool, L::Error> {
        if self.counted.contains(&(group.clone(), device)) {
            return Ok(false);
        }
        self.recount(ledgers, group, &[device])?;
        Ok(self.complete)
    }

    /// Takes a slab from what groups leave.
    fn take_left<E>(&mut self, now_ms: u64, slab: Holding) -> Result<(), Refused<E>> {
        let left = self.left.get_mut(&slab.device).unwrap_or(&mut self.left_elsewhere);
        if matches!(left, Left::Unread(_) | Left::Unknown) {
            let waited = now_ms.saturating_sub(*self.waited_ms.get_or_insert(now_ms));
            if waited < FIRST_READING_MS {
                return Err(Refused::Unread);
            }
        }
        let (Left::Units(left) | Left::Unread(left)) = left else { return Ok(()) };
        if let Some(rest) = left.checked_sub(slab.units) {
            *left = rest;
            return Ok(());
        }
        let gave_back = self.gave_back_ms.get(&slab.device);
        let soon = gave_back.is_some_and(|at| now_ms.saturating_sub(*at) < IN_READINGS_MS);
        Err(Refused::Promised { left: *left, soon })
    }
}

#[cfg(test)]
mod tests;
