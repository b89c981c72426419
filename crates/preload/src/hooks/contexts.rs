//! Contexts that a program makes itself, and limits that take memory of a context.

use core::ffi::{c_int, c_uint};
use core::sync::atomic::Ordering;

use millpond_ledger::units_for;

use super::context_charge::make;
use super::context_table::{
    FILLING, current_number, end, end_closed, find, note, word_of, work_ended,
};
use super::primary::{drop_primary, hold_primary};
use super::reserve::Reserve;
use super::written;
use crate::account::{self, Account};
use crate::driver::{others, real};
use crate::state;
use crate::types::{Status, status};

pub(super) unsafe fn create(
    context: *mut usize,
    ordinal: c_int,
    call: impl FnOnce() -> Status,
) -> Status {
    if context.is_null() || ordinal < 0 || ordinal >= account::device_count() {
        return call();
    }
    let (status, units) = make(ordinal, call);
    if status == status::SUCCESS {
        // SAFETY: the call has succeeded.
        note(unsafe { written(context) }, ordinal, units);
    }
    status
}

/// Ends a context. Its place is closed first: the driver may give the same handle to another thread
/// at once.
pub(super) fn destroy(context: usize, call: impl FnOnce() -> Status) -> Status {
    let Some(state) = state::get() else { return call() };
    let order = (Ordering::AcqRel, Ordering::Relaxed);
    let closed = find(state, context).filter(|(_, known)| {
        known.handle.compare_exchange(context, FILLING, order.0, order.1).is_ok()
    });
    let status = call();
    match closed {
        Some((number, known)) if status == status::SUCCESS => {
            let (ordinal, _) = word_of(known.word.load(Ordering::Acquire));
            end_closed(number, known);
            work_ended(state, ordinal);
        }
        Some((_, known)) => known.handle.store(context, Ordering::Release),
        None => {}
    }
    status
}

pub(crate) unsafe fn cuCtxAttach(context: *mut usize, flags: c_uint) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuCtxAttach(context, flags) };
    if status == status::SUCCESS
        && let Some(state) = state::get()
        // SAFETY: the call has succeeded.
        && let Some((_, known)) = find(state, unsafe { written(context) })
    {
        known.holds.fetch_add(1, Ordering::AcqRel);
    }
    status
}

pub(crate) unsafe fn cuCtxDetach(context: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuCtxDetach(context) };
    if status == status::SUCCESS
        && let Some(state) = state::get()
        && let Some((_, known)) = find(state, context)
        && known.holds.fetch_sub(1, Ordering::AcqRel) <= 1
    {
        let (ordinal, _) = word_of(known.word.load(Ordering::Acquire));
        end(state, context);
        work_ended(state, ordinal);
    }
    status
}

pub(crate) unsafe fn cuGreenCtxCreate(
    context: *mut usize,
    description: usize,
    device: c_int,
    flags: c_uint,
) -> Status {
    // A green context holds its device's primary context.
    let status = hold_primary(device, || {
        // SAFETY: the caller's arguments, unchanged.
        unsafe { real::cuGreenCtxCreate(context, description, device, flags) }
    });
    if status == status::SUCCESS {
        // SAFETY: the call has succeeded.
        note(unsafe { written(context) }, device, 0);
    }
    status
}

pub(crate) unsafe fn cuGreenCtxDestroy(context: usize) -> Status {
    let ordinal = state::get()
        .and_then(|state| find(state, context))
        .map(|(_, known)| word_of(known.word.load(Ordering::Acquire)).0);
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuGreenCtxDestroy(context) };
    match ordinal {
        Some(ordinal) => drop_primary(ordinal, || destroy(context, call)),
        None => call(),
    }
}

/// Stacks and the heap of kernels: memory that a context takes by a number.
pub(crate) unsafe fn cuCtxSetLimit(limit: u32, value: usize) -> Status {
    const STACK: u32 = 0;
    const HEAP: u32 = 2;
    // What a context has without asking is in its size.
    const STACK_DEFAULT: u64 = 1 << 10;
    const HEAP_DEFAULT: u64 = 8 << 20;
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuCtxSetLimit(limit, value) };
    if limit != STACK && limit != HEAP {
        return call();
    }
    let (Some(ordinal), Some(state)) = (account::current_device(), state::get()) else {
        return call();
    };
    // By its number, which also notes one that no hook has seen.
    let place = usize::from(current_number()).checked_sub(1);
    let Some(known) = place.and_then(|place| state.contexts.get(place)) else { return call() };
    let asked = account::bytes(value);
    let bytes = if limit == STACK {
        asked.saturating_sub(STACK_DEFAULT).saturating_mul(resident_threads(ordinal))
    } else {
        asked.saturating_sub(HEAP_DEFAULT)
    };
    let place = if limit == STACK { &known.stack } else { &known.heap };
    let Some(account) = Account::of(ordinal) else { return call() };
    let units = units_for(bytes);
    let more = units.saturating_sub(place.load(Ordering::Acquire));
    if !account.reserve_or_say(more) {
        return status::OUT_OF_MEMORY;
    }
    let status = call();
    if status == status::SUCCESS {
        // Another thread may have set it meanwhile: what counts is what was noted just now.
        let had = place.swap(units, Ordering::AcqRel).saturating_add(more);
        account.charge(units.saturating_sub(had));
        account.release(had.saturating_sub(units));
    } else {
        account.release(more);
    }
    status
}

/// How many threads have a stack at once.
fn resident_threads(ordinal: c_int) -> u64 {
    const PROCESSORS: u32 = 16;
    const THREADS: u32 = 39;
    let attribute = |which: u32| {
        let mut value = 0;
        // SAFETY: the pointer is to an int.
        let status = unsafe { others::cuDeviceGetAttribute(&raw mut value, which, ordinal) };
        if status == status::SUCCESS { u64::try_from(value).unwrap_or(0) } else { 0 }
    };
    attribute(PROCESSORS).saturating_mul(attribute(THREADS))
}
