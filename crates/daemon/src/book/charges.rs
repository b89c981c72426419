//! The pond's own memory in the groups' accounts.
//!
//! A slab is charged to the group that pays for its owner before the driver is asked for it, and
//! given back when it is gone. Both are done by the driver thread. What a stuck lock kept from being
//! written is put right by [`Charges::recount`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use millpond_ledger::{LedgerError, NO_LIMIT, PondRefused, UNIT};
use millpond_view::units::bytes as format_bytes;
use millpond_wire::{ErrorKind, Failure, GpuUuid, SlabId};

use super::account::{Account, bytes};
use crate::policy::OverLimit;

/// How long who wants memory is kept waiting for the first reading of a card, counted from the first
/// who did: less than the policy waits, so that nobody is refused for that. A card that hangs is not
/// waited for again.
pub(super) const FIRST_READING: Duration = Duration::from_millis(400);
/// What was given back is in the readings for so long at most.
const IN_READINGS: Duration = Duration::from_millis(300);

/// What groups leave to memory that nobody pays for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Left {
    /// Whatever the card has: nothing is promised.
    Whatever,
    /// So many units.
    Units(u64),
    /// At most so many: the card has not said yet what others have.
    Unread(u64),
    /// Nobody has looked yet.
    #[default]
    Unknown,
}

/// Who pays for which slab.
#[derive(Debug, Default)]
pub struct Charges {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    slabs: HashMap<SlabId, Slab>,
    payers: HashMap<u32, Arc<Account>>,
    left: HashMap<GpuUuid, Left>,
    /// The same on GPUs that were not looked at yet.
    left_elsewhere: Left,
    /// When somebody was first kept waiting for the groups or a reading.
    waited: Option<Instant>,
    /// When something that nobody paid for was last given back.
    gave_back: HashMap<GpuUuid, Instant>,
    /// The slabs of the daemon before are known.
    complete: bool,
}

#[derive(Clone, Copy, Debug)]
struct Slab {
    device: GpuUuid,
    units: u64,
    user: u32,
}

impl Charges {
    // Held for as long as the lock of one group is waited for, by this thread or that of the book;
    // the event loop takes it only before either has work.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These slabs are there already.
    pub fn adopt(&self, slabs: impl IntoIterator<Item = (SlabId, GpuUuid, u64, u32)>) {
        let mut inner = self.lock();
        for (id, device, slab_bytes, user) in slabs {
            inner.slabs.insert(id, Slab { device, units: slab_bytes.div_ceil(UNIT), user });
        }
        inner.complete = true;
    }

    /// Says which group pays for whom.
    pub fn set_payers(&self, payers: HashMap<u32, Arc<Account>>) {
        self.lock().payers = payers;
    }

    /// Says what is left for slabs that no group pays for, from the units that those there take,
    /// which it returns.
    pub fn leave(&self, device: GpuUuid, left: impl FnOnce(u64) -> Left) -> u64 {
        let mut inner = self.lock();
        let unpaid = |slab: &&Slab| slab.device == device && !inner.payers.contains_key(&slab.user);
        let slabs = inner.slabs.values().filter(unpaid);
        let units = slabs.fold(0u64, |sum, slab| sum.saturating_add(slab.units));
        inner.left.insert(device, left(units));
        units
    }

    /// The groups are known: whether something is promised on GPUs that nobody has looked at.
    pub fn promised_elsewhere(&self, promised: bool) {
        self.lock().left_elsewhere = if promised { Left::Unknown } else { Left::Whatever };
    }

    /// Charges a slab that is about to be made.
    ///
    /// # Errors
    /// The answer to whoever wanted it: the group may not have so much, or cannot be asked.
    pub fn charge(
        &self,
        id: SlabId,
        device: GpuUuid,
        slab_bytes: u64,
        user: u32,
    ) -> Result<(), Box<OverLimit>> {
        let mut inner = self.lock();
        let slab = Slab { device, units: slab_bytes.div_ceil(UNIT), user };
        if let Some(account) = inner.payers.get(&user) {
            // A limit is an answer, not an error of the files.
            let charged = account.locked(|book, patience| {
                match book.reserve_pond(device.0, slab.units, patience) {
                    Ok(()) => Ok(Ok(())),
                    Err(PondRefused::Limit { soon }) => Ok(Err(soon)),
                    Err(PondRefused::Broken(error)) => Err(error),
                }
            });
            let refused = match charged {
                Ok(Ok(())) => None,
                Ok(Err(soon)) => Some((over_limit(account, device, slab_bytes), soon)),
                Err(error) => Some((cannot_ask(account, error), false)),
            };
            if let Some((answer, soon)) = refused {
                return Err(Box::new(OverLimit { answer, soon }));
            }
        } else {
            inner.take_unpaid(slab, slab_bytes)?;
        }
        inner.slabs.insert(id, slab);
        Ok(())
    }

    /// A slab is gone, or was not made.
    pub fn give_back(&self, id: SlabId) {
        let mut inner = self.lock();
        let Some(slab) = inner.slabs.remove(&id) else { return };
        if let Some(account) = inner.payers.get(&slab.user) {
            let released = account
                .locked(|book, patience| book.release_pond(slab.device.0, slab.units, patience));
            if let Err(error) = released {
                tracing::warn!(group = %account.name, "a slab is still charged: {error}");
            }
        } else {
            inner.gave_back.insert(slab.device, Instant::now());
            if let Some(Left::Units(left) | Left::Unread(left)) = inner.left.get_mut(&slab.device) {
                *left = left.saturating_add(slab.units);
            }
        }
    }

    /// Puts right what a group is charged with for these users. Returns whether anything was wrong.
    ///
    /// # Errors
    /// What the ledger says.
    pub fn recount(
        &self,
        account: &Account,
        users: &[u32],
        devices: &[GpuUuid],
    ) -> Result<bool, LedgerError> {
        let inner = self.lock();
        if !inner.complete {
            return Ok(false);
        }
        let mut wrong = false;
        for device in devices {
            let of_users = inner
                .slabs
                .values()
                .filter(|slab| slab.device == *device && users.contains(&slab.user));
            let units = of_users.fold(0u64, |sum, slab| sum.saturating_add(slab.units));
            if account.budget(*device)?.pond != units {
                account.locked(|book, patience| book.set_pond(device.0, units, patience))?;
                wrong = true;
            }
        }
        Ok(wrong)
    }
}

impl Inner {
    /// Takes a slab from what groups leave.
    fn take_unpaid(&mut self, slab: Slab, slab_bytes: u64) -> Result<(), Box<OverLimit>> {
        let elsewhere = &mut self.left_elsewhere;
        let left = self.left.get_mut(&slab.device).unwrap_or(elsewhere);
        if matches!(left, Left::Unread(_) | Left::Unknown)
            && self.waited.get_or_insert_with(Instant::now).elapsed() < FIRST_READING
        {
            return Err(Box::new(OverLimit { answer: not_read(slab.device), soon: true }));
        }
        let (Left::Units(left) | Left::Unread(left)) = left else { return Ok(()) };
        if let Some(rest) = left.checked_sub(slab.units) {
            *left = rest;
            return Ok(());
        }
        let answer = promised(slab.device, slab_bytes, *left);
        let soon = self.gave_back.get(&slab.device).is_some_and(|at| at.elapsed() < IN_READINGS);
        Err(Box::new(OverLimit { answer, soon }))
    }
}

fn not_read(device: GpuUuid) -> Failure {
    let message =
        format!("{device} has not said yet what is in use beside what groups are promised");
    Failure::new(ErrorKind::Later, message)
        .hint("repeat in a moment; `millpond status` shows what the card says")
}

fn over_limit(account: &Account, device: GpuUuid, slab_bytes: u64) -> Failure {
    let group = &account.name;
    let limit = account.budget(device).map_or(0, |budget| budget.effective);
    let totals = account.book.totals(device.0).unwrap_or_default();
    let held = totals.used.saturating_add(totals.pond);
    let limit_text =
        if limit == NO_LIMIT { "no limit".to_owned() } else { format_bytes(bytes(limit)) };
    let message = format!(
        "group '{group}' has no room for {} on {device}: its limit is {limit_text}, {} are held by \
         its processes and {} by its users' tensors and models",
        format_bytes(slab_bytes),
        format_bytes(bytes(totals.used)),
        format_bytes(bytes(totals.pond)),
    );
    let mut failure = Failure::new(ErrorKind::GpuFull, message).hint(format!(
        "delete something, or raise the limit with `millpond group set {group} --limit ...`; \
         `millpond ps --group {group}` shows who holds what"
    ));
    failure.requested_bytes = Some(slab_bytes);
    failure.free_bytes = Some(bytes(limit.saturating_sub(held)));
    failure.capacity_bytes = Some(bytes(limit));
    failure
}

fn promised(device: GpuUuid, slab_bytes: u64, left: u64) -> Failure {
    let message = format!(
        "no room for {} on {device}: {} are left beside what is held and what groups are promised",
        format_bytes(slab_bytes),
        format_bytes(bytes(left)),
    );
    let mut failure = Failure::new(ErrorKind::GpuFull, message)
        .hint("delete something, or lower a promise (MIN in `millpond group ls`) with `group set`");
    failure.requested_bytes = Some(slab_bytes);
    failure.free_bytes = Some(bytes(left));
    failure
}

fn cannot_ask(account: &Account, error: LedgerError) -> Failure {
    let group = &account.name;
    match error {
        LedgerError::Busy => Failure::new(
            ErrorKind::Later,
            format!("group '{group}' cannot be charged: a process of it keeps the ledger's lock"),
        )
        .hint(format!("`millpond ps --group {group}` shows its processes; one may be stopped")),
        error => {
            Failure::new(ErrorKind::Internal, format!("group '{group}' cannot be charged: {error}"))
                .hint(format!(
                    "`millpond group rm {group}` removes it once its processes have ended"
                ))
        }
    }
}
