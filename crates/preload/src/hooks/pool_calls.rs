//! The calls that make, end, trim and choose pools.

use core::ffi::{c_int, c_void};
use core::slice::from_ref;
use core::sync::atomic::Ordering;

use millpond_ledger::units_for;

use super::pending::{self, Stream};
use super::pool_readings::Relaxed;
use super::pool_registry::{ENDED, MADE, changing, destroy, find, learn, pool_device, settle_pool};
use super::pools::STEP;
use super::settle::charged_units;
use super::written;
use crate::account;
use crate::driver::{others, real};
use crate::state::{self, Pool, State};
use crate::types::{Location, PoolProperties, Status, status};

const PINNED: u32 = 1;
const USED_NOW: u32 = 7;
const RELEASE_THRESHOLD: u32 = 4;

pub(crate) unsafe fn cuMemPoolCreate(
    pool: *mut usize,
    properties: *const PoolProperties,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMemPoolCreate(pool, properties) };
    if status == status::SUCCESS {
        // SAFETY: the driver has read one and written the other.
        let (handle, properties) = unsafe { (written(pool), written(properties)) };
        learn(handle, properties.kind, properties.location.device());
        if properties.kind == PINNED
            && properties.location.device().is_some()
            && let Some(known) = state::get().and_then(|state| find(state, handle))
        {
            known.life.store(MADE, Ordering::Release);
        }
    }
    status
}

pub(crate) unsafe fn cuMemPoolDestroy(pool: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuMemPoolDestroy(pool) };
    let Some(state) = state::get() else { return call() };
    let Some(known) = find(state, pool) else { return call() };
    if known.life.load(Ordering::Acquire) & ENDED != 0 {
        return status::INVALID_VALUE;
    }
    settle_pool(state, known);
    let used = used_bytes(state, pool);
    if used.is_none_or(|used| used > 0) && put_off(state, known, pool) {
        return status::SUCCESS;
    }
    let ordinal = pool_device(known, || Some(0));
    let Some(status) = destroy(state, known, pool, call) else { return status::INVALID_VALUE };
    if status == status::SUCCESS {
        let word = known.charged.swap(0, Ordering::AcqRel);
        known.handle.store(0, Ordering::Release);
        // What is still in use lives on without a pool to ask: it stays charged. The rest goes when
        // the streams that freed it are there.
        let used = used.unwrap_or(u64::MAX);
        let stays = units_for(used.checked_next_multiple_of(STEP).unwrap_or(u64::MAX));
        if let Some(ordinal) = ordinal {
            let goes = charged_units(word).saturating_sub(stays);
            pending::add(ordinal, goes, Stream::several(ordinal));
        }
    }
    status
}

/// What of a pool is in use, in bytes.
fn used_bytes(state: &State, pool: usize) -> Option<u64> {
    let _relaxed = Relaxed::new(state);
    let mut used = 0_u64;
    // SAFETY: the pointer is to a number of 64 bits, as this attribute wants.
    let status = unsafe { others::cuMemPoolGetAttribute(pool, USED_NOW, &raw mut used) };
    (status == status::SUCCESS).then_some(used)
}

/// Keeps a pool whose memory is in use until that is freed, as the driver itself does with a pool
/// that was destroyed, but with a handle that can be asked. It keeps nothing that is free, and is no
/// device's pool any more. `false` when that cannot be done.
#[cold]
fn put_off(state: &State, known: &Pool, pool: usize) -> bool {
    let Some(ordinal) = pool_device(known, || Some(0)) else { return false };
    if known.life.load(Ordering::Acquire) != MADE {
        return false;
    }
    let (mut current, mut default, mut nothing) = (0, 0, 0_u64);
    let _relaxed = Relaxed::new(state);
    // SAFETY: pointers to values of the right types, and a pool that is there.
    let done = changing(state.device(ordinal).map_or(&[], from_ref), || unsafe {
        real::cuDeviceGetMemPool(&raw mut current, ordinal) == status::SUCCESS
            && (current != pool
                || real::cuDeviceGetDefaultMemPool(&raw mut default, ordinal) == status::SUCCESS
                    && real::cuDeviceSetMemPool(ordinal, default) == status::SUCCESS)
            && others::cuMemPoolSetAttribute(pool, RELEASE_THRESHOLD, &raw mut nothing)
                == status::SUCCESS
    });
    if done {
        known.life.store(MADE | ENDED, Ordering::Release);
    }
    done
}

pub(crate) unsafe fn cuMemPoolTrimTo(pool: usize, keep: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMemPoolTrimTo(pool, keep) };
    if status == status::SUCCESS
        && let Some(state) = state::get()
    {
        let known = find(state, pool);
        if let Some(known) = known {
            settle_pool(state, known);
        }
    }
    status
}

pub(crate) unsafe fn cuDeviceSetMemPool(device: c_int, pool: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    changing_on(device, || unsafe { real::cuDeviceSetMemPool(device, pool) })
}

pub(crate) unsafe fn cuMemSetMemPool(location: *const Location, kind: u32, pool: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuMemSetMemPool(location, kind, pool) };
    if location.is_null() {
        return call();
    }
    // SAFETY: not null, and a struct as the caller promised.
    match unsafe { written(location) }.device() {
        Some(device) => changing_on(device, call),
        None => call(),
    }
}

/// [`changing`] for one device.
fn changing_on(ordinal: c_int, call: impl FnOnce() -> Status) -> Status {
    changing(account::device_state(ordinal).map_or(&[], from_ref), call)
}

pub(crate) unsafe fn cuDeviceGetDefaultMemPool(pool: *mut usize, device: c_int) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuDeviceGetDefaultMemPool(pool, device) };
    // SAFETY: written where the driver said so.
    unsafe { learn_answer(status, pool, PINNED, Some(device)) };
    status
}

pub(crate) unsafe fn cuDeviceGetMemPool(pool: *mut usize, device: c_int) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuDeviceGetMemPool(pool, device) };
    // SAFETY: written where the driver said so.
    unsafe { learn_answer(status, pool, PINNED, Some(device)) };
    status
}

pub(crate) unsafe fn cuMemGetDefaultMemPool(
    pool: *mut usize,
    location: *mut Location,
    kind: u32,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMemGetDefaultMemPool(pool, location, kind) };
    if status == status::SUCCESS {
        // SAFETY: the driver has read the one and written the other.
        unsafe { learn_answer(status, pool, kind, written(location).device()) };
    }
    status
}

pub(crate) unsafe fn cuMemGetMemPool(
    pool: *mut usize,
    location: *mut Location,
    kind: u32,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMemGetMemPool(pool, location, kind) };
    if status == status::SUCCESS {
        // SAFETY: the driver has read the one and written the other.
        unsafe { learn_answer(status, pool, kind, written(location).device()) };
    }
    status
}

/// # Safety
/// `pool` may be read when the status is success.
unsafe fn learn_answer(status: Status, pool: *const usize, kind: u32, location: Option<c_int>) {
    if status == status::SUCCESS && !pool.is_null() {
        // SAFETY: as the caller promised.
        learn(unsafe { written(pool) }, kind, location);
    }
}

pub(crate) unsafe fn cuMemPoolImportFromShareableHandle(
    pool: *mut usize,
    handle: *mut c_void,
    kind: u32,
    flags: u64,
) -> Status {
    // Nothing can be allocated from it; pointers imported through it are charged one by one.
    // SAFETY: the caller's arguments, unchanged.
    unsafe { real::cuMemPoolImportFromShareableHandle(pool, handle, kind, flags) }
}
