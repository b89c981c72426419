//! The pools that are known: whose memory they hold, whether they live, and which of them plain
//! allocations come from.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use super::pool_readings::{Relaxed, graph_units, pool_units};
use super::settle::{charged_units, settle};
use crate::account::{self, Account};
use crate::driver::real;
use crate::state::{self, Device, NO_DEVICE, Pool, State};
use crate::types::{Status, status};

/// `Pool::life`: the program made it, of memory of a device, and may destroy it.
pub(super) const MADE: u32 = 1;
/// The program has destroyed it, and memory of it is still in use. The driver is told when that has
/// been freed: until then the pool can be asked how much it is.
pub(super) const ENDED: u32 = 2;

/// The handle of a pool that is being destroyed: nobody finds it.
const ENDING: usize = usize::MAX;

/// A pool that stays while it is asked something, although another thread may want to destroy it.
struct Asked {
    pool: &'static Pool,
    handle: usize,
}

impl Asked {
    fn new(pool: &'static Pool) -> Option<Self> {
        pool.readers.fetch_add(1, Ordering::SeqCst);
        let asked = Self { pool, handle: pool.handle.load(Ordering::SeqCst) };
        (asked.handle != 0 && asked.handle != ENDING).then_some(asked)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.pool.readers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Destroys a pool for the driver too. Nobody asks it anything any more when that is done; of several
/// threads one does it.
pub(super) fn destroy(
    state: &State,
    pool: &'static Pool,
    handle: usize,
    call: impl FnOnce() -> Status,
) -> Option<Status> {
    pool.handle.compare_exchange(handle, ENDING, Ordering::SeqCst, Ordering::Relaxed).ok()?;
    while pool.readers.load(Ordering::SeqCst) != 0 {
        // SAFETY: no conditions.
        unsafe { libc::sched_yield() };
    }
    let status = changing(&state.devices, call);
    if status != status::SUCCESS {
        pool.handle.store(handle, Ordering::Release);
        return Some(status);
    }
    pool.device.store(0, Ordering::Relaxed);
    pool.step.store(0, Ordering::Relaxed);
    pool.life.store(0, Ordering::Relaxed);
    Some(status)
}

/// Runs a call after which plain allocations on these devices may come from another pool: the driver
/// is asked again. An allocation of another thread meanwhile finds a different count of changes
/// afterwards, or that somebody is at it.
pub(super) fn changing<T>(devices: &[Device], call: impl FnOnce() -> T) -> T {
    for device in devices {
        device.pool_changes.fetch_add(ONE_CHANGING, Ordering::SeqCst);
    }
    let answer = call();
    for device in devices {
        // Who has asked the driver before this does not keep the answer.
        device.pool_changes.fetch_add(1, Ordering::SeqCst);
        device.pool.store(0, Ordering::SeqCst);
        // Who has read the count and then the old answer knows by this one.
        device.pool_changes.fetch_sub(ONE_CHANGING - 1, Ordering::SeqCst);
    }
    answer
}

pub(super) const ONE_CHANGING: u64 = 1 << 48;

/// A plain allocation was made while another thread chose another pool, so nobody knows which of them
/// it came from: all are looked at, also those that had nothing.
#[cold]
pub(super) fn settle_any(state: &'static State, ordinal: c_int) {
    if let Some(handle) = current_pool(state, ordinal) {
        let _ = entry(state, handle, ordinal);
    }
    for pool in known_pools(state) {
        if let Some(asked) = Asked::new(pool)
            && let Some(account) = pool_device(pool, || Some(ordinal)).and_then(Account::of)
        {
            settle(&pool.charged, account, 0, true, || pool_units(state, asked.handle));
        }
    }
}

/// The pools that are or were known: places are taken from the front.
#[inline]
pub(super) fn known_pools(state: &'static State) -> &'static [Pool] {
    let count = state.pool_count.load(Ordering::Acquire);
    state.pools.get(..count).unwrap_or(&state.pools)
}

#[inline]
pub(super) fn find(state: &'static State, handle: usize) -> Option<&'static Pool> {
    if handle == 0 || handle == ENDING {
        return None;
    }
    known_pools(state).iter().find(|pool| pool.handle.load(Ordering::Acquire) == handle)
}

/// The entry of a pool, made when it is new.
#[inline]
fn entry(state: &'static State, handle: usize, ordinal: c_int) -> Option<&'static Pool> {
    if handle == 0 || handle == ENDING {
        return None;
    }
    find(state, handle).or_else(|| new_entry(state, handle, ordinal))
}

/// Notes a new pool, one thread at a time: of two that come with one handle, the second could find a
/// place that has become free before the first one's, and the pool would be charged twice.
#[cold]
pub(super) fn new_entry(
    state: &'static State,
    handle: usize,
    ordinal: c_int,
) -> Option<&'static Pool> {
    let order = (Ordering::Acquire, Ordering::Relaxed);
    while state.noting_pool.compare_exchange(0, 1, order.0, order.1).is_err() {
        // SAFETY: no conditions.
        unsafe { libc::sched_yield() };
    }
    let entry = find(state, handle).or_else(|| {
        let free = |pool: &&Pool| pool.handle.load(Ordering::Acquire) == 0;
        let place = state.pools.iter().position(|pool| free(&pool))?;
        let pool = state.pools.get(place)?;
        let device = u32::try_from(ordinal).map_or(NO_DEVICE, |ordinal| ordinal + 1);
        pool.device.store(device, Ordering::Relaxed);
        pool.handle.store(handle, Ordering::Release);
        state.pool_count.fetch_max(place + 1, Ordering::AcqRel);
        Some(pool)
    });
    state.noting_pool.store(0, Ordering::Release);
    entry
}

/// The device of a pool; `None` when it has none.
#[inline]
pub(super) fn pool_device(pool: &Pool, fallback: impl FnOnce() -> Option<c_int>) -> Option<c_int> {
    match pool.device.load(Ordering::Acquire) {
        0 => fallback(),
        NO_DEVICE => None,
        device => c_int::try_from(device - 1).ok(),
    }
}

/// Notes where a pool's memory is. Managed memory may have no place: it is the current device's.
pub(super) fn learn(handle: usize, kind: u32, location: Option<c_int>) {
    const MANAGED: u32 = 2;
    let managed = || (kind == MANAGED).then(account::current_device).flatten();
    if let Some(state) = state::get() {
        let _ = entry(state, handle, location.or_else(managed).unwrap_or(-1));
    }
}

/// The pool that plain allocations on a device come from.
#[inline]
pub(super) fn current_pool(state: &State, ordinal: c_int) -> Option<usize> {
    let device = state.device(ordinal)?;
    match device.pool.load(Ordering::Relaxed) {
        0 => ask_current_pool(device, ordinal),
        known => Some(known),
    }
}

#[cold]
fn ask_current_pool(device: &Device, ordinal: c_int) -> Option<usize> {
    let changes = device.pool_changes.load(Ordering::SeqCst);
    let mut pool = 0;
    // SAFETY: the pointer is to a pool.
    let status = unsafe { real::cuDeviceGetMemPool(&raw mut pool, ordinal) };
    if status != status::SUCCESS || pool == 0 {
        return None;
    }
    super::context_table::current_number();
    device.pool.store(pool, Ordering::SeqCst);
    // Another thread may have chosen another pool since the driver was asked.
    if device.pool_changes.load(Ordering::SeqCst) != changes {
        device.pool.store(0, Ordering::SeqCst);
    }
    Some(pool)
}

/// Looks at one pool again.
pub(super) fn settle_pool(state: &'static State, pool: &'static Pool) {
    if charged_units(pool.charged.load(Ordering::Relaxed)) == 0 {
        return;
    }
    let Some(asked) = Asked::new(pool) else { return };
    let handle = asked.handle;
    if let Some(account) = pool_device(pool, || Some(0)).and_then(Account::of) {
        settle(&pool.charged, account, 0, true, || pool_units(state, handle));
    }
    drop(asked);
    if pool.life.load(Ordering::Acquire) & ENDED != 0
        && charged_units(pool.charged.load(Ordering::Acquire)) == 0
    {
        // SAFETY: a pool that the program has destroyed, and whose memory is free.
        let call = || unsafe { real::cuMemPoolDestroy(handle) };
        if destroy(state, pool, handle, call).is_some() {
            pool.life.store(0, Ordering::Relaxed);
            pool.handle.store(0, Ordering::Release);
        }
    }
}

/// Looks at every pool again: some of their memory may have gone back to the card.
pub(crate) fn settle_all() {
    let Some(state) = state::get() else { return };
    known_pools(state).iter().for_each(|pool| settle_pool(state, pool));
}

/// Brings the charge of a device's graphs to what they hold, with `held` units reserved for it.
pub(crate) fn settle_graphs(account: Account, held: u32, taken: bool) {
    if let Some(device) = account::device_state(account.ordinal()) {
        settle(&device.graph, account, held, taken, || graph_units(account.ordinal()));
    }
}

/// What graphs are charged on a device.
pub(crate) fn graphs_charged(ordinal: c_int) -> u32 {
    account::device_state(ordinal)
        .map_or(0, |device| charged_units(device.graph.load(Ordering::Relaxed)))
}

/// Asks the driver for what this process's pools and graphs hold and do not use.
pub(crate) fn give_back_unused(ordinal: c_int) {
    let Some(state) = state::get() else { return };
    for pool in known_pools(state) {
        let charged = charged_units(pool.charged.load(Ordering::Relaxed));
        if charged == 0 || pool_device(pool, || Some(ordinal)) != Some(ordinal) {
            continue;
        }
        if let Some(asked) = Asked::new(pool) {
            let _relaxed = Relaxed::new(state);
            // SAFETY: a pool that the program uses, and the call keeps what is in use.
            unsafe { real::cuMemPoolTrimTo(asked.handle, 0) };
        }
        settle_pool(state, pool);
    }
    if graphs_charged(ordinal) != 0 {
        // SAFETY: no conditions; what graphs use stays.
        unsafe { real::cuDeviceGraphMemTrim(ordinal) };
        if let Some(account) = Account::of(ordinal) {
            settle_graphs(account, 0, true);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn threads_that_come_with_one_pool_note_it_once() {
        let place = state::map::<State>(false).unwrap();
        // SAFETY: all zero is a state, and the mapping stays.
        let state: &'static State = unsafe { &*place.as_ptr() };
        let (first, shared) = (&state.pools[0], 0x2000_usize);
        for _ in 0..20_000 {
            // A place before the free ones, which another thread is about to empty.
            first.handle.store(0x1000, Ordering::Release);
            let begin = std::sync::Barrier::new(3);
            let at = || {
                begin.wait();
                core::ptr::from_ref(new_entry(state, shared, 0).unwrap()).addr()
            };
            let (one, other) = std::thread::scope(|scope| {
                let threads = (scope.spawn(at), scope.spawn(at));
                begin.wait();
                first.handle.store(0, Ordering::Release);
                (threads.0.join().unwrap(), threads.1.join().unwrap())
            });
            assert_eq!(one, other);
            for pool in &state.pools[..3] {
                pool.handle.store(0, Ordering::Release);
            }
        }
    }
}
