//! The pond's own memory in the groups' accounts.
//!
//! A slab is charged to the group that pays for its owner before the driver is asked for it, and
//! given back when it is gone. Both are done by the driver thread. What a stuck lock kept from being
//! written is put right by [`Charges::recount`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_keeper::bytes::format_bytes;
use millpond_ledger::{LedgerError, NO_LIMIT, Refused, UNIT};
use millpond_wire::{ErrorKind, Failure, GpuUuid, SlabId};

use super::account::{Account, bytes};

/// Who pays for which slab.
#[derive(Debug, Default)]
pub struct Charges {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    slabs: HashMap<SlabId, Slab>,
    payers: HashMap<u32, Arc<Account>>,
    /// Units that groups leave to memory that nobody pays for, where something is promised to one.
    unpromised: HashMap<GpuUuid, u64>,
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

    /// Says what is left for slabs that no group pays for; `None` is whatever the card has.
    pub fn set_unpromised(&self, device: GpuUuid, units: Option<u64>) {
        let mut inner = self.lock();
        match units {
            Some(units) => inner.unpromised.insert(device, units),
            None => inner.unpromised.remove(&device),
        };
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
    ) -> Result<(), Failure> {
        let mut inner = self.lock();
        let slab = Slab { device, units: slab_bytes.div_ceil(UNIT), user };
        if let Some(account) = inner.payers.get(&user) {
            // A limit is an answer, not an error of the files.
            let charged = account.locked(|book, patience| {
                match book.reserve_pond(device.0, slab.units, patience) {
                    Ok(()) => Ok(Ok(())),
                    Err(Refused::Limit) => Ok(Err(())),
                    Err(Refused::Broken(error)) => Err(error),
                }
            });
            match charged {
                Ok(Ok(())) => {}
                Ok(Err(())) => return Err(over_limit(account, device, slab_bytes)),
                Err(error) => return Err(cannot_ask(account, error)),
            }
        } else if let Some(left) = inner.unpromised.get_mut(&device) {
            *left =
                left.checked_sub(slab.units).ok_or_else(|| promised(device, slab_bytes, *left))?;
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
        } else if let Some(left) = inner.unpromised.get_mut(&slab.device) {
            *left = left.saturating_add(slab.units);
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
