//! Stream-ordered memory: charged by what a pool has taken from the card, not by what was asked.
//!
//! The worst that a request can make a pool grow is reserved before the call; after it the pool is
//! asked what it holds, and the rest goes back.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use millpond_ledger::{UNIT, units_for};

use super::forwards::{cuStreamSynchronize, cuStreamSynchronize_ptsz};
use super::pending::Stream;
use super::pool_readings::{is_capturing, pool_units};
use super::pool_registry::{
    ENDED, ONE_CHANGING, current_pool, find, new_entry, pool_device, settle_any,
};
use super::reserve::Reserve;
use super::settle::{charged_units, settle};
use super::waits::cuCtxSynchronize;
use super::{linear, written};
use crate::account::{self, Account};
use crate::driver::{others, real};
use crate::state::{self, Pool, State};
use crate::types::{Status, status};

/// Pools grow in steps of 32 MiB: at most the request, rounded up to one.
pub(crate) const STEP: u64 = 32 << 20;

/// The largest step that is believed.
const MOST_STEP: u32 = units_for(1 << 30);

/// The stream's device. Only with several GPUs can it be another than the current context's.
#[inline(always)]
pub(crate) fn stream_device(stream: usize) -> Option<c_int> {
    if account::device_count() == 1 { Some(0) } else { one_of_several(stream) }
}

fn one_of_several(stream: usize) -> Option<c_int> {
    // 0, 1 and 2 are the default streams.
    if stream > 2 && account::device_count() > 1 {
        let mut device = 0;
        // SAFETY: the pointer is to an int; the stream is the caller's.
        if unsafe { others::cuStreamGetDevice(stream, &raw mut device) } == status::SUCCESS {
            return Some(device);
        }
        let mut context = 0;
        // SAFETY: the pointer is to a context. Drivers before 12.8 have this one only.
        if unsafe { others::cuStreamGetCtx(stream, &raw mut context) } == status::SUCCESS
            && let Some(device) = super::context_table::device_of(context)
        {
            return Some(device);
        }
    }
    account::current_device()
}

/// An allocation from a pool. One that is known tells where its memory is; for others that is
/// `device`, which may have to ask the driver. `called` runs after the call, while what was reserved is
/// held.
///
/// # Safety
/// `pointer` may be read and written after `call` has succeeded.
#[inline]
unsafe fn allocate(
    state: &'static State,
    handle: usize,
    device: impl Fn() -> Option<c_int>,
    (pointer, bytes): (*mut u64, u64),
    order: Order,
    call: impl FnOnce() -> Status,
    called: impl FnOnce(),
) -> Status {
    let pool = match find(state, handle) {
        Some(pool) => pool,
        None => {
            let Some(ordinal) = device() else { return call() };
            if pool_units(state, handle).is_none() {
                // SAFETY: as the caller promised.
                return unsafe { allocate_nowhere(pointer, order, call) };
            }
            match new_entry(state, handle, ordinal) {
                Some(pool) => pool,
                None => return status::OUT_OF_MEMORY,
            }
        }
    };
    if order.named && pool.life.load(Ordering::Relaxed) & ENDED != 0 {
        return status::INVALID_VALUE;
    }
    let Some(ordinal) = pool_device(pool, device) else {
        let status = call();
        called();
        return status;
    };
    let Some(account) = Account::in_state(state, ordinal) else { return status::OUT_OF_MEMORY };
    let step = u64::from(pool.step.load(Ordering::Relaxed)).saturating_mul(UNIT).max(STEP);
    // A step is a power of two: rounding up to one needs no division.
    let Some(most) = bytes.checked_add(step - 1) else { return status::OUT_OF_MEMORY };
    let worst = units_for(most & !(step - 1));
    if !account.reserve(worst) && !reserve_after_waiting(state, account, worst, order) {
        crate::refusal::note(account, worst);
        return status::OUT_OF_MEMORY;
    }
    let before = charged_units(pool.charged.load(Ordering::Relaxed));
    let status = call();
    called();
    settle(&pool.charged, account, worst, status == status::SUCCESS, || pool_units(state, handle));
    if before == 0 {
        learn_step(pool, worst);
    }
    status
}

/// After a request to an empty pool, for which `worst` was reserved: the driver's steps may be larger
/// than known. Only an empty pool's first growth is surely one request's; later ones may be those of
/// several threads.
#[cold]
fn learn_step(pool: &Pool, worst: u32) {
    let now = charged_units(pool.charged.load(Ordering::Relaxed));
    if now > worst {
        pool.step.store(now.next_power_of_two().min(MOST_STEP), Ordering::Relaxed);
    }
}

/// Where an allocation is ordered: a stream, as a call of that kind means it; and whether the program
/// has named the pool.
#[derive(Clone, Copy)]
struct Order {
    stream: usize,
    per_thread: bool,
    named: bool,
}

/// An allocation from something that does not answer like a pool: the driver says what is wrong. If
/// it should give memory all the same, nobody could count that, so it goes back.
#[cold]
unsafe fn allocate_nowhere(
    pointer: *mut u64,
    order: Order,
    call: impl FnOnce() -> Status,
) -> Status {
    let status = call();
    if status != status::SUCCESS {
        return status;
    }
    // SAFETY: the call has succeeded; the program has not seen what it gave.
    unsafe {
        let given = written(pointer);
        if order.per_thread {
            real::cuMemFreeAsync_ptsz(given, order.stream);
        } else {
            real::cuMemFreeAsync(given, order.stream);
        }
        pointer.write_unaligned(0);
    }
    status::OUT_OF_MEMORY
}

/// At the limit: what was freed in stream order can be given back only when somebody has waited for
/// it, and the other answer would be that there is no memory. To ask the driver all the same is no
/// way: a pool whose room is in pieces grows, and the limit is passed before it can be undone.
#[cold]
fn reserve_after_waiting(state: &State, account: Account, worst: u32, order: Order) -> bool {
    if state.dirty.load(Ordering::Relaxed) == 0 || state.captures.load(Ordering::Relaxed) != 0 {
        return false;
    }
    // SAFETY: the caller's stream.
    let waited = unsafe {
        if order.per_thread {
            cuStreamSynchronize_ptsz(order.stream)
        } else {
            cuStreamSynchronize(order.stream)
        }
    };
    if waited == status::SUCCESS && account.reserve(worst) {
        return true;
    }
    // SAFETY: no conditions.
    unsafe { cuCtxSynchronize() == status::SUCCESS && account.reserve(worst) }
}

pub(super) unsafe fn allocate_current(
    pointer: *mut u64,
    bytes: usize,
    stream: usize,
    per_thread: bool,
    call: impl FnOnce() -> Status,
) -> Status {
    let Some(state) = state::get() else { return status::OUT_OF_MEMORY };
    if pointer.is_null() || bytes == 0 {
        return call();
    }
    if is_capturing(state, stream, per_thread) {
        state.allocation_nodes.store(1, Ordering::Relaxed);
        return call();
    }
    let Some(ordinal) = stream_device(stream) else { return call() };
    let Some(device) = state.device(ordinal) else { return call() };
    let changes = device.pool_changes.load(Ordering::SeqCst);
    // Without a pool the driver has a reason to refuse, and says it.
    let Some(handle) = current_pool(state, ordinal) else { return call() };
    let called = move || {
        let now = device.pool_changes.load(Ordering::SeqCst);
        if now != changes || now >= ONE_CHANGING {
            settle_any(state, ordinal);
        }
    };
    let order = Order { stream, per_thread, named: false };
    let wanted = (pointer, account::bytes(bytes));
    // SAFETY: as the caller promised.
    unsafe { allocate(state, handle, || Some(ordinal), wanted, order, call, called) }
}

pub(super) unsafe fn allocate_from(
    pointer: *mut u64,
    bytes: usize,
    pool: usize,
    stream: usize,
    per_thread: bool,
    call: impl FnOnce() -> Status,
) -> Status {
    let Some(state) = state::get() else { return status::OUT_OF_MEMORY };
    if pointer.is_null() || bytes == 0 || pool == 0 {
        return call();
    }
    if is_capturing(state, stream, per_thread) {
        state.allocation_nodes.store(1, Ordering::Relaxed);
        return call();
    }
    let order = Order { stream, per_thread, named: true };
    // SAFETY: as the caller promised.
    unsafe {
        let bytes = account::bytes(bytes);
        allocate(state, pool, account::current_device, (pointer, bytes), order, call, || ())
    }
}

#[inline]
pub(super) fn free_async(
    pointer: u64,
    stream: usize,
    per_thread: bool,
    call: impl FnOnce() -> Status,
) -> Status {
    let Some(state) = state::get() else { return call() };
    // Memory of `cuMemAlloc` may be freed this way too.
    let status = if state.linear.has(pointer) {
        free_linear_async(pointer, stream, per_thread, call)
    } else {
        call()
    };
    if status == status::SUCCESS && state.dirty.load(Ordering::Relaxed) == 0 {
        state.dirty.store(1, Ordering::Relaxed);
    }
    status
}

#[inline(never)]
fn free_linear_async(
    pointer: u64,
    stream: usize,
    per_thread: bool,
    call: impl FnOnce() -> Status,
) -> Status {
    let taken = linear::take(pointer);
    let status = call();
    match taken {
        Some(entry) if status == status::SUCCESS => {
            linear::release_later(pointer, entry, Stream::of(stream, per_thread));
        }
        Some(entry) => linear::put_back(pointer, entry),
        None => {}
    }
    status
}

const _: () = assert!(STEP.is_power_of_two() && MOST_STEP.is_power_of_two());
