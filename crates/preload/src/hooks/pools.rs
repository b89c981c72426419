//! Stream-ordered memory: charged by what a pool has taken from the card, not by what was asked.
//!
//! The worst that a request can make a pool grow is reserved before the call; after it the pool is
//! asked what it holds, and the rest goes back. No synchronisation, no system call. During a capture
//! such a question would break the capture, unless this thread's mode is relaxed for its length.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};

use millpond_ledger::{UNIT, units_for};

use super::pending::Stream;
use super::waits::{cuCtxSynchronize, cuStreamSynchronize, cuStreamSynchronize_ptsz};
use super::{linear, written};
use crate::account::{self, Account};
use crate::driver::{others, real};
use crate::state::{self, Device, NO_DEVICE, Pool, State};
use crate::types::{Status, status};

/// Pools grow in steps of 32 MiB: at most the request, rounded up to one.
pub(crate) const STEP: u64 = 32 << 20;

/// The largest step that is believed.
const MOST_STEP: u32 = units_for(1 << 30);

const RESERVED_NOW: u32 = 5;
const GRAPH_RESERVED_NOW: u32 = 2;
const MODE_RELAXED: u32 = 2;

/// While it lives, questions about pools do not break this thread's captures.
pub(super) struct Relaxed(Option<u32>);

impl Relaxed {
    pub(super) fn new(state: &State) -> Self {
        if state.captures.load(Ordering::Relaxed) == 0 {
            return Self(None);
        }
        let mut mode = MODE_RELAXED;
        // SAFETY: the pointer is to a mode, which the call exchanges.
        let status = unsafe { others::cuThreadExchangeStreamCaptureMode(&raw mut mode) };
        Self((status == status::SUCCESS).then_some(mode))
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        if let Some(mut mode) = self.0 {
            // SAFETY: as above.
            unsafe { others::cuThreadExchangeStreamCaptureMode(&raw mut mode) };
        }
    }
}

/// Whether a stream is being captured: then its allocations become a graph's.
#[inline]
pub(crate) fn is_capturing(state: &State, stream: usize, per_thread: bool) -> bool {
    state.captures.load(Ordering::Relaxed) != 0 && ask_whether_capturing(stream, per_thread)
}

#[cold]
fn ask_whether_capturing(stream: usize, per_thread: bool) -> bool {
    let mut capturing = 0;
    // SAFETY: the pointer is to a status; the stream is the caller's.
    let status = unsafe {
        if per_thread {
            others::cuStreamIsCapturing_ptsz(stream, &raw mut capturing)
        } else {
            others::cuStreamIsCapturing(stream, &raw mut capturing)
        }
    };
    status == status::SUCCESS && capturing != 0
}

/// What a pool holds, in units.
#[inline]
fn pool_units(state: &State, pool: usize) -> Option<u32> {
    if state.captures.load(Ordering::Relaxed) == 0 {
        return ask_pool(pool);
    }
    pool_units_in_captures(state, pool)
}

#[cold]
fn pool_units_in_captures(state: &State, pool: usize) -> Option<u32> {
    let _relaxed = Relaxed::new(state);
    ask_pool(pool)
}

#[inline]
fn ask_pool(pool: usize) -> Option<u32> {
    let mut bytes = 0_u64;
    // SAFETY: the pointer is to a number of 64 bits, as this attribute wants.
    let status = unsafe { others::cuMemPoolGetAttribute(pool, RESERVED_NOW, &raw mut bytes) };
    (status == status::SUCCESS).then(|| units_for(bytes))
}

/// What graphs hold on a device, in units.
fn graph_units(ordinal: c_int) -> Option<u32> {
    let mut bytes = 0_u64;
    // SAFETY: the pointer is to a number of 64 bits, as this attribute wants.
    let status = unsafe {
        others::cuDeviceGetGraphMemAttribute(ordinal, GRAPH_RESERVED_NOW, &raw mut bytes)
    };
    (status == status::SUCCESS).then(|| units_for(bytes))
}

/// The units in a word of changes and units.
#[inline]
pub(super) fn charged_units(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Brings a charge to what is there now, with `held` units already reserved for it.
#[inline]
fn settle(
    word: &AtomicU64,
    account: Account,
    held: u32,
    taken: bool,
    read: impl Fn() -> Option<u32>,
) {
    match settled(word, held, taken, read, changes_soon) {
        Change::More(units) => account.charge(units),
        Change::Less(units) => account.release(units),
    }
}

/// Whether another thread changes the word in a moment: some microseconds, which is little beside what
/// it takes a pool to grow.
fn changes_soon(word: &AtomicU64, seen: u64) -> bool {
    const SPINS: u32 = 250;
    (0..SPINS).any(|_| {
        core::hint::spin_loop();
        word.load(Ordering::Relaxed) != seen
    })
}

/// What the account needs to say what a word says.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    More(u32),
    Less(u32),
}

/// Writes down what is there now. When it cannot be read, what was reserved for a call that went well
/// (`taken`) stays charged until it can.
///
/// A charge never falls below what is there, although threads read and write in any order. The word's
/// count goes up with each change, so a reading that another change has overtaken is taken again. A
/// call that finds what is charged changes nothing, so it overtakes nobody: therefore who lowers the
/// charge reads once more before anything is given back. If the pool has grown since, either that
/// reading shows it, or the one who made it grow has seen the lower charge.
///
/// More than was charged and held is mostly what other threads hold for calls that are about to settle:
/// they are waited for a moment (`soon`), because charged here it would be counted twice until then.
#[inline]
fn settled(
    word: &AtomicU64,
    held: u32,
    taken: bool,
    read: impl Fn() -> Option<u32>,
    soon: impl Fn(&AtomicU64, u64) -> bool,
) -> Change {
    let before = word.load(Ordering::SeqCst);
    let reading = read();
    if held > 0 && reading == Some(charged_units(before)) {
        return Change::Less(held);
    }
    settled_anew(word, (held, taken), (before, reading), read, soon)
}

/// [`settled`] where the charge changes, or a call failed; `first` are word and pool as it found them.
#[cold]
fn settled_anew(
    word: &AtomicU64,
    (mut held, mut taken): (u32, bool),
    first: (u64, Option<u32>),
    read: impl Fn() -> Option<u32>,
    soon: impl Fn(&AtomicU64, u64) -> bool,
) -> Change {
    let mut first = Some(first);
    let mut patience = 8_u32;
    loop {
        let look = || {
            let before = word.load(Ordering::SeqCst);
            (before, read())
        };
        let (before, reading) = first.take().unwrap_or_else(look);
        let old = charged_units(before);
        let kept = if taken { old.saturating_add(held) } else { old };
        let now = reading.unwrap_or(kept);
        if now == old && held > 0 {
            return Change::Less(held);
        }
        let has = old.saturating_add(held);
        let waits = now > has && patience > 0;
        let noted = if waits { has } else { now };
        let next = ((before >> 32).wrapping_add(1) << 32) | u64::from(noted);
        if word.compare_exchange(before, next, Ordering::SeqCst, Ordering::Relaxed).is_err() {
            continue;
        }
        if waits {
            held = 0;
            patience = if soon(word, next) { patience - 1 } else { 0 };
            continue;
        }
        if now < old && read().is_none_or(|again| again > now) {
            // What it was charged before is in this now, and stays if the pool says nothing more.
            (held, taken) = (has - now, true);
            continue;
        }
        return if now > has { Change::More(now - has) } else { Change::Less(has - now) };
    }
}

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

const ONE_CHANGING: u64 = 1 << 48;

/// A plain allocation was made while another thread chose another pool, so nobody knows which of them
/// it came from: all are looked at, also those that had nothing.
#[cold]
fn settle_any(state: &'static State, ordinal: c_int) {
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
fn known_pools(state: &'static State) -> &'static [Pool] {
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
fn new_entry(state: &'static State, handle: usize, ordinal: c_int) -> Option<&'static Pool> {
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
            && let Some(device) = super::contexts::device_of(context)
        {
            return Some(device);
        }
    }
    account::current_device()
}

/// The pool that plain allocations on a device come from.
#[inline]
fn current_pool(state: &State, ordinal: c_int) -> Option<usize> {
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
    super::contexts::current_number();
    device.pool.store(pool, Ordering::SeqCst);
    // Another thread may have chosen another pool since the driver was asked.
    if device.pool_changes.load(Ordering::SeqCst) != changes {
        device.pool.store(0, Ordering::SeqCst);
    }
    Some(pool)
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

unsafe fn allocate_current(
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

unsafe fn allocate_from(
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

pub(crate) unsafe fn cuMemAllocAsync(pointer: *mut u64, bytes: usize, stream: usize) -> Status {
    // SAFETY: as the caller promised.
    unsafe {
        allocate_current(pointer, bytes, stream, false, move || {
            real::cuMemAllocAsync(pointer, bytes, stream)
        })
    }
}

pub(crate) unsafe fn cuMemAllocAsync_ptsz(
    pointer: *mut u64,
    bytes: usize,
    stream: usize,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe {
        allocate_current(pointer, bytes, stream, true, move || {
            real::cuMemAllocAsync_ptsz(pointer, bytes, stream)
        })
    }
}

pub(crate) unsafe fn cuMemAllocFromPoolAsync(
    pointer: *mut u64,
    bytes: usize,
    pool: usize,
    stream: usize,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe {
        allocate_from(pointer, bytes, pool, stream, false, move || {
            real::cuMemAllocFromPoolAsync(pointer, bytes, pool, stream)
        })
    }
}

pub(crate) unsafe fn cuMemAllocFromPoolAsync_ptsz(
    pointer: *mut u64,
    bytes: usize,
    pool: usize,
    stream: usize,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe {
        allocate_from(pointer, bytes, pool, stream, true, move || {
            real::cuMemAllocFromPoolAsync_ptsz(pointer, bytes, pool, stream)
        })
    }
}

#[inline]
fn free_async(
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

pub(crate) unsafe fn cuMemFreeAsync(pointer: u64, stream: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    free_async(pointer, stream, false, move || unsafe { real::cuMemFreeAsync(pointer, stream) })
}

pub(crate) unsafe fn cuMemFreeAsync_ptsz(pointer: u64, stream: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    free_async(pointer, stream, true, move || unsafe { real::cuMemFreeAsync_ptsz(pointer, stream) })
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

const _: () = assert!(STEP.is_power_of_two() && MOST_STEP.is_power_of_two());

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::cell::Cell;

    /// A word with this charge.
    fn charged(units: u64) -> AtomicU64 {
        AtomicU64::new(7 << 32 | units)
    }

    fn units(word: &AtomicU64) -> u32 {
        charged_units(word.load(Ordering::Relaxed))
    }

    fn settle_alone(
        word: &AtomicU64,
        held: u32,
        taken: bool,
        read: impl Fn() -> Option<u32>,
    ) -> Change {
        settled(word, held, taken, read, |_, _| false)
    }

    #[test]
    fn a_charge_becomes_what_is_there() {
        let word = charged(0);
        assert_eq!(settle_alone(&word, 10, true, || Some(8)), Change::Less(2));
        assert_eq!(settle_alone(&word, 8, true, || Some(8)), Change::Less(8));
        assert_eq!(settle_alone(&word, 8, true, || Some(20)), Change::More(4));
        assert_eq!(settle_alone(&word, 0, true, || Some(4)), Change::Less(16));
        assert_eq!(units(&word), 4);
        // Unreadable: a call that went well keeps what it had, another gives it back.
        assert_eq!(settle_alone(&word, 3, true, || None), Change::Less(0));
        assert_eq!(settle_alone(&word, 3, false, || None), Change::Less(3));
        assert_eq!(units(&word), 7);
    }

    #[test]
    fn what_grows_while_a_charge_is_lowered_stays_charged() {
        // One thread has waited and reads 32 of 64. Before it writes that down, another makes the pool
        // grow again, finds 64 as charged, and gives its reservation back.
        let (word, pool, reads) = (charged(64), Cell::new(32_u32), Cell::new(0));
        let change = settle_alone(&word, 0, true, || {
            let seen = pool.get();
            if reads.replace(reads.get() + 1) == 0 {
                pool.set(64);
                let other = settle_alone(&word, 32, true, || Some(pool.get()));
                assert_eq!(other, Change::Less(32));
            }
            Some(seen)
        });
        assert_eq!((change, units(&word)), (Change::Less(0), 64));
        // After it has written: the other sees the lower charge, and keeps its reservation.
        let (word, pool) = (charged(64), Cell::new(32_u32));
        assert_eq!(settle_alone(&word, 0, true, || Some(pool.get())), Change::Less(32));
        pool.set(64);
        assert_eq!(settle_alone(&word, 32, true, || Some(pool.get())), Change::Less(0));
        assert_eq!(units(&word), 64);
    }

    #[test]
    fn what_others_hold_for_their_growth_is_not_charged_twice() {
        // Two threads have made a pool grow by 32 each, and hold that. The first to look sees both.
        let word = charged(0);
        let first = settled(
            &word,
            32,
            true,
            || Some(64),
            |word, _| {
                assert_eq!(settle_alone(word, 32, true, || Some(64)), Change::Less(0));
                true
            },
        );
        assert_eq!((first, units(&word)), (Change::Less(0), 64));
        // Nobody holds it: then it is charged here.
        let word = charged(0);
        let alone = settled(&word, 32, true, || Some(64), |_, _| false);
        assert_eq!((alone, units(&word)), (Change::More(32), 64));
        // Others that come and go do not keep it for ever.
        let busy = |word: &AtomicU64, _: u64| word.fetch_add(1 << 32, Ordering::Relaxed) != 0;
        let word = charged(0);
        assert_eq!(settled(&word, 32, true, || Some(64), busy), Change::More(32));
    }

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
