//! Reserving memory before the driver is asked for it.
//!
//! The account only counts. What this process could give back before it is refused, its hooks know.

use core::ffi::c_int;

use millpond_ledger::{Refused, units_for};

use super::{exports, pool_registry};
use crate::account::{Account, complain};
use crate::refusal;
use crate::state;

pub(super) trait Reserve {
    /// Reserves; when refused, asks this process's own pools for what they do not use and tries once
    /// more.
    fn reserve(self, units: u32) -> bool;

    /// The same; a refusal is said.
    fn reserve_or_say(self, units: u32) -> bool;

    /// Reserves without a second try.
    fn reserve_once(self, units: u32) -> bool;
}

impl Reserve for Account {
    #[inline]
    fn reserve(self, units: u32) -> bool {
        if units == 0 {
            return true;
        }
        match self.try_reserve(units) {
            Ok(()) => true,
            Err(refused) => reserve_again(self, units, refused),
        }
    }

    #[inline]
    fn reserve_or_say(self, units: u32) -> bool {
        let granted = self.reserve(units);
        if !granted {
            refusal::note(self, units);
        }
        granted
    }

    fn reserve_once(self, units: u32) -> bool {
        units == 0 || self.try_reserve(units).is_ok()
    }
}

#[cold]
fn reserve_again(account: Account, units: u32, refused: Refused) -> bool {
    if let Refused::Broken(error) = refused {
        if let Some(state) = state::get() {
            complain(state, format_args!("{error}; this program gets no more GPU memory"));
        }
        return false;
    }
    pool_registry::give_back_unused(account.ordinal());
    account.reserve_once(units) || (exports::look_at_all() && account.reserve_once(units))
}

/// Memory that is promised and not there yet. Dropped, it goes back.
pub(super) struct Reservation {
    account: Account,
    units: u32,
}

impl Reservation {
    /// `None` means out of memory.
    #[inline(always)]
    pub(super) fn new(ordinal: c_int, bytes: u64) -> Option<Self> {
        let account = Account::of(ordinal)?;
        let units = units_for(bytes);
        // Only when granted: a reservation that goes gives back.
        account.reserve_or_say(units).then(|| Self { account, units })
    }

    pub(super) fn units(&self) -> u32 {
        self.units
    }

    /// The memory is there: it is charged until somebody releases it.
    pub(super) fn keep(mut self) -> u32 {
        core::mem::take(&mut self.units)
    }

    /// The memory is there, and more or less than was thought.
    #[inline]
    pub(super) fn keep_exactly(mut self, units: u32) {
        let held = core::mem::take(&mut self.units);
        if units > held {
            self.account.charge(units - held);
        } else {
            self.account.release(held - units);
        }
    }
}

impl Drop for Reservation {
    #[inline]
    fn drop(&mut self) {
        self.account.release(self.units);
    }
}
