//! The pond's own memory in the groups' accounts.
//!
//! The driver thread charges a slab before it asks the driver for it, and gives it back when it is
//! gone; the book thread counts anew. One lock makes each of these one step: a recount between a
//! ledger's yes and its record would take the charge away again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use millpond_ledger::{LedgerError, NO_LIMIT, PondRefused, SlotKind};
use millpond_view::units::bytes as format_bytes;
use millpond_wire::{ErrorKind, Failure, GpuUuid, GroupName, SlabId};

use super::account::{Account, bytes};
use super::processes::{Identity, Processes};
use crate::budget::{Card, Charges, Holding, Ledgers, Payer, Payers, Refusal, Refused, Share};
use crate::policy::OverLimit;

/// The charges with the accounts that they are written to.
#[derive(Debug)]
pub struct ChargedAccounts {
    inner: Mutex<Inner>,
    began: Instant,
}

#[derive(Debug, Default)]
struct Inner {
    charges: Charges,
    accounts: Accounts,
}

impl Default for ChargedAccounts {
    fn default() -> Self {
        Self { inner: Mutex::default(), began: Instant::now() }
    }
}

impl ChargedAccounts {
    // Held for as long as the lock of one group is waited for, by the driver thread or the book
    // thread; the event loop takes it only before either has work.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// These slabs, with their owners, are there already.
    pub fn adopt(&self, slabs: impl IntoIterator<Item = (SlabId, GpuUuid, u64, u32)>) {
        let slab = |(id, device, bytes, user)| (id, Holding::new(device, bytes, user));
        self.lock().charges.adopt(slabs.into_iter().map(slab));
    }

    /// Says which group pays for whom, and where its account is.
    pub fn set_payers(&self, payers: Payers, accounts: HashMap<GroupName, Arc<Account>>) {
        let mut inner = self.lock();
        inner.charges.set_payers(payers);
        inner.accounts = Accounts(accounts);
    }

    pub fn promised_elsewhere(&self, promised: bool) {
        self.lock().charges.promised_elsewhere(promised);
    }

    pub fn balance(&self, device: GpuUuid, card: &Card, read: bool, shares: &[Share]) -> Vec<u64> {
        self.lock().charges.balance(device, card, read, shares)
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
        let holding = Holding::new(device, slab_bytes, user);
        let mut inner = self.lock();
        let Inner { charges, accounts } = &mut *inner;
        let charged = charges.charge(accounts, self.now_ms(), id, holding);
        charged.map_err(|refused| Box::new(accounts.answer(refused, device, slab_bytes)))
    }

    /// Charges a slab of memory that a process has made, if the group that pays for it limits that
    /// process too and has charged it with so much. The process ends that charge when it hears that
    /// the pond has the memory. Until then the group is charged twice, which may pass its limit:
    /// between an end and a beginning somebody else could take the room. False if this is not so, or
    /// is not known.
    pub fn charge_made(
        &self,
        id: SlabId,
        device: GpuUuid,
        slab_bytes: u64,
        user: u32,
        maker_pid: u32,
    ) -> bool {
        let holding = Holding::new(device, slab_bytes, user);
        let Some(maker) = Processes::default().identity(maker_pid) else { return false };
        let mut inner = self.lock();
        let Inner { charges, accounts } = &mut *inner;
        let Payer::Group(group) = charges.payer_of(user) else { return false };
        let has =
            accounts.of(&group).is_ok_and(|it| has_charged(it, &maker, device, holding.units));
        has && charges.charge_made(accounts, id, holding).is_ok()
    }

    /// Charges a slab for whose owner no group pays, if nobody else is at the accounts. The event loop
    /// may ask: no file is touched, and nothing is waited for.
    pub fn charge_at_once(&self, id: SlabId, device: GpuUuid, slab_bytes: u64, user: u32) -> bool {
        let Ok(mut inner) = self.inner.try_lock() else { return false };
        let Inner { charges, accounts } = &mut *inner;
        let is_free = matches!(charges.payer_of(user), Payer::User(_));
        let holding = Holding::new(device, slab_bytes, user);
        is_free && charges.charge(accounts, self.now_ms(), id, holding).is_ok()
    }

    /// A slab is gone, or was not made.
    pub fn give_back(&self, id: SlabId) {
        let mut inner = self.lock();
        let Inner { charges, accounts } = &mut *inner;
        if let Err((group, error)) = charges.give_back(accounts, self.now_ms(), id) {
            tracing::warn!(%group, "a slab is still charged: {error}");
        }
    }

    pub fn held_by_users(&self, users: &[u32], device: GpuUuid) -> u64 {
        self.lock().charges.held_by_users(users, device)
    }

    /// Puts right what a group is charged with. Returns whether anything was wrong.
    ///
    /// # Errors
    /// What the ledger says.
    pub fn recount(&self, group: &GroupName, devices: &[GpuUuid]) -> Result<bool, LedgerError> {
        let mut inner = self.lock();
        let Inner { charges, accounts } = &mut *inner;
        if !accounts.0.contains_key(group) {
            // It was just made, and pays for nobody.
            return Ok(false);
        }
        charges.recount(accounts, group, devices)
    }
}

/// Whether a group has charged a process with so much.
fn has_charged(account: &Account, process: &Identity, device: GpuUuid, units: u64) -> bool {
    let mut found = false;
    let known = account.book.members(|member| {
        if member.alive && member.kind == SlotKind::Process && process.is(&member) {
            let reading = account.book.reading(member.slot, device.0);
            found |= reading.is_ok_and(|reading| reading.used >= units);
        }
    });
    known.is_ok() && found
}

/// The accounts of all groups, as of the last change of who pays for whom.
#[derive(Debug, Default)]
struct Accounts(HashMap<GroupName, Arc<Account>>);

impl Accounts {
    fn of(&self, group: &GroupName) -> Result<&Account, LedgerError> {
        self.0.get(group).map(|account| &**account).ok_or(LedgerError::Gone)
    }

    fn answer(&self, refused: Refused<LedgerError>, device: GpuUuid, slab_bytes: u64) -> OverLimit {
        match refused {
            Refused::ByGroup(group, Refusal::Limit { soon }) => match self.of(&group) {
                Ok(account) => OverLimit { answer: over_limit(account, device, slab_bytes), soon },
                Err(error) => OverLimit { answer: cannot_ask(&group, error), soon: false },
            },
            Refused::ByGroup(group, Refusal::Broken(error)) => {
                OverLimit { answer: cannot_ask(&group, error), soon: false }
            }
            Refused::Promised { left, soon } => {
                OverLimit { answer: promised(device, slab_bytes, left), soon }
            }
            Refused::Unread => OverLimit { answer: not_read(device), soon: true },
        }
    }
}

impl Ledgers for Accounts {
    type Error = LedgerError;

    fn charge(
        &mut self,
        group: &GroupName,
        device: GpuUuid,
        units: u64,
    ) -> Result<(), Refusal<LedgerError>> {
        let account = self.of(group).map_err(Refusal::Broken)?;
        // A limit is an answer, not an error of the files.
        let charged =
            account.locked(|book, patience| match book.reserve_pond(device.0, units, patience) {
                Ok(()) => Ok(Ok(())),
                Err(PondRefused::Limit { soon }) => Ok(Err(Refusal::Limit { soon })),
                Err(PondRefused::Broken(error)) => Err(error),
            });
        charged.unwrap_or_else(|error| Err(Refusal::Broken(error)))
    }

    fn give_back(
        &mut self,
        group: &GroupName,
        device: GpuUuid,
        units: u64,
    ) -> Result<(), LedgerError> {
        self.of(group)?.locked(|book, patience| book.release_pond(device.0, units, patience))
    }

    fn charged(&mut self, group: &GroupName, device: GpuUuid) -> Result<u64, LedgerError> {
        Ok(self.of(group)?.budget(device)?.pond)
    }

    fn set_charged(
        &mut self,
        group: &GroupName,
        device: GpuUuid,
        units: u64,
    ) -> Result<(), LedgerError> {
        self.of(group)?.locked(|book, patience| book.set_pond(device.0, units, patience))
    }
}

fn not_read(device: GpuUuid) -> Failure {
    let message = format!("the driver has not yet reported the memory in use on {device}");
    Failure::new(ErrorKind::Later, message)
        .hint("try again in a moment; `millpond status` shows the memory in use")
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
        "no room for {} on {device}: {} are left after memory in use and memory promised to groups",
        format_bytes(slab_bytes),
        format_bytes(bytes(left)),
    );
    let mut failure = Failure::new(ErrorKind::GpuFull, message)
        .hint("delete something, or lower a promise (MIN in `millpond group ls`) with `group set`");
    failure.requested_bytes = Some(slab_bytes);
    failure.free_bytes = Some(bytes(left));
    failure
}

fn cannot_ask(group: &GroupName, error: LedgerError) -> Failure {
    match error {
        LedgerError::Busy => Failure::new(
            ErrorKind::Later,
            format!(
                "group '{group}' cannot be charged: one of its processes holds the ledger's lock"
            ),
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
