//! The contexts that are known, and what ends with one of them.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use millpond_ledger::Column;

use super::context_charge::{charge_existing, charge_primary};
use super::pending::{self, Waited};
use super::pool_registry::settle_all;
use super::primary::{Alone, primary_is_active};
use super::{arrays, captures, imports, linear};
use crate::account::{self, Account};
use crate::driver::others;
use crate::state::{self, Context, State};
use crate::types::status;

/// A context's place in the table plus one, or 0: who owns what is allocated now.
#[inline]
pub(crate) fn current_number() -> u16 {
    let mut context = 0;
    // SAFETY: the pointer is to a context.
    let status = unsafe { others::cuCtxGetCurrent(&raw mut context) };
    if status != status::SUCCESS || context == 0 {
        return 0;
    }
    match number_of(context) {
        0 => adopt(context),
        number => number,
    }
}

/// A context that came to be without a hooked call: it is there, so it is charged, unless the device
/// has one that is known; then this is another name of that. Where the primary context is there and
/// not charged, this is taken for it.
#[cold]
fn adopt(context: usize) -> u16 {
    let (Some(state), Some(ordinal)) = (state::get(), account::current_device()) else { return 0 };
    let Some(device) = account::device_state(ordinal) else { return 0 };
    if device.primary_charge.load(Ordering::Acquire) != 0 {
        return 0;
    }
    let _alone = Alone::with(device);
    let number = number_of(context);
    if number != 0 || device.primary_charge.load(Ordering::Acquire) != 0 {
        return number;
    }
    let Some(account) = Account::of(ordinal) else { return 0 };
    if primary_is_active(ordinal) == Some(true) {
        note(context, ordinal, 0);
        device.primary_context.store(context, Ordering::Release);
        charge_primary(account, device);
        return number_of(context);
    }
    if is_known_on(state, ordinal) {
        return 0;
    }
    let units = charge_existing(account);
    note(context, ordinal, units);
    number_of(context)
}

#[inline]
pub(super) fn number_of(context: usize) -> u16 {
    let Some(state) = state::get() else { return 0 };
    find(state, context).map_or(0, |found| found.0)
}

/// The device of a context that is known.
pub(crate) fn device_of(context: usize) -> Option<c_int> {
    let (_, known) = find(state::get()?, context)?;
    Some(word_of(known.word.load(Ordering::Acquire)).0)
}

#[inline]
pub(super) fn find(state: &State, context: usize) -> Option<(u16, &Context)> {
    if context == 0 {
        return None;
    }
    (1_u16..)
        .zip(&state.contexts)
        .find(|(_, known)| known.handle.load(Ordering::Acquire) == context)
}

/// The handle of a place that is being filled or emptied: nobody finds it.
pub(super) const FILLING: usize = usize::MAX;

/// Notes a context. Without a place its memory is counted, but not told apart.
pub(super) fn note(context: usize, ordinal: c_int, units: u32) {
    let Some(state) = state::get() else { return };
    let device = u64::from(ordinal.unsigned_abs()) + 1;
    if let Some((_, known)) = find(state, context) {
        known.holds.fetch_add(1, Ordering::AcqRel);
        return;
    }
    for known in &state.contexts {
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        if known.handle.load(Ordering::Relaxed) == 0
            && known.handle.compare_exchange(0, FILLING, order.0, order.1).is_ok()
        {
            known.word.store(device << 32 | u64::from(units), Ordering::Relaxed);
            known.holds.store(1, Ordering::Relaxed);
            known.stack.store(0, Ordering::Relaxed);
            known.heap.store(0, Ordering::Relaxed);
            known.small_arrays.store(0, Ordering::Relaxed);
            known.handle.store(context, Ordering::Release);
            return;
        }
    }
}

/// The device and units of a context's word.
pub(super) fn word_of(word: u64) -> (c_int, u32) {
    let [a, b, c, d, device, ..] = word.to_le_bytes();
    (c_int::from(device) - 1, u32::from_le_bytes([a, b, c, d]))
}

/// A context has ended: all that was its own goes back.
pub(super) fn end(state: &State, context: usize) {
    if let Some((number, known)) = find(state, context) {
        end_closed(number, known);
    }
}

pub(super) fn end_closed(number: u16, known: &Context) {
    let (ordinal, units) = word_of(known.word.swap(0, Ordering::AcqRel));
    let stack = known.stack.swap(0, Ordering::AcqRel);
    let heap = known.heap.swap(0, Ordering::AcqRel);
    forget(number);
    known.handle.store(0, Ordering::Release);
    if let Some(account) = Account::of(ordinal) {
        account.release(units.saturating_add(stack).saturating_add(heap));
        account.add_column(Column::Contexts, -i64::from(units));
    }
}

/// What a context held is gone.
pub(super) fn forget(number: u16) {
    linear::forget_context(number);
    arrays::forget_context(number);
    imports::forget_context(number);
    captures::forget_context(number);
}

/// After the end of a context: with the last one of a device, all work there has ended, and with any
/// the pools may have given something back.
pub(super) fn work_ended(state: &State, ordinal: c_int) {
    if state.pending_count.load(Ordering::Acquire) > 0
        && account::device_state(ordinal)
            .is_some_and(|device| device.primary_charge.load(Ordering::Acquire) == 0)
        && !is_known_on(state, ordinal)
    {
        pending::release(state, Waited::Device(ordinal));
    }
    settle_all();
}

/// Whether some context on a device is known.
pub(super) fn is_known_on(state: &State, ordinal: c_int) -> bool {
    state.contexts.iter().any(|known| {
        known.handle.load(Ordering::Acquire) != 0
            && word_of(known.word.load(Ordering::Acquire)).0 == ordinal
    })
}
