//! Contexts: reserved before they are made, at the size that the group has measured.

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::Ordering;

use millpond_ledger::{Column, UNIT, units_for};

use super::context_size::{Meter, Reading, sizes, taken, with_overhead};
use super::pending::{self, Waited};
use super::{arrays, captures, imports, linear, physical, pools, written};
use crate::account::{self, Account};
use crate::driver::{others, real};
use crate::settings::{self, Source};
use crate::state::{self, CHARGED, Context, Device, State};
use crate::types::{Status, status};

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

/// Charges a context that is there already; says how much.
fn charge_existing(account: Account) -> u32 {
    let units = expected_units(account, account.context_bytes());
    account.charge(units);
    account.add_column(Column::Contexts, i64::from(units));
    units
}

/// Charges a primary context that is there already. The caller is alone.
fn charge_primary(account: Account, device: &Device) {
    let units = charge_existing(account);
    device.primary_charge.store(CHARGED | u64::from(units), Ordering::Release);
}

/// What a context is taken for.
fn expected_units(account: Account, known: Option<u64>) -> u32 {
    let guess = || crate::context_bytes(account::real_total(account.ordinal()));
    units_for(known.unwrap_or_else(guess))
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
fn find(state: &State, context: usize) -> Option<(u16, &Context)> {
    if context == 0 {
        return None;
    }
    (1_u16..)
        .zip(&state.contexts)
        .find(|(_, known)| known.handle.load(Ordering::Acquire) == context)
}

/// The handle of a place that is being filled or emptied: nobody finds it.
const FILLING: usize = usize::MAX;

/// Notes a context. Without a place its memory is counted, but not told apart.
fn note(context: usize, ordinal: c_int, units: u32) {
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
fn word_of(word: u64) -> (c_int, u32) {
    let [a, b, c, d, device, ..] = word.to_le_bytes();
    (c_int::from(device) - 1, u32::from_le_bytes([a, b, c, d]))
}

/// A context has ended: all that was its own goes back.
fn end(state: &State, context: usize) {
    if let Some((number, known)) = find(state, context) {
        end_closed(number, known);
    }
}

fn end_closed(number: u16, known: &Context) {
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
fn forget(number: u16) {
    linear::forget_context(number);
    arrays::forget_context(number);
    imports::forget_context(number);
    captures::forget_context(number);
}

/// After the end of a context: with the last one of a device, all work there has ended, and with any
/// the pools may have given something back.
fn work_ended(state: &State, ordinal: c_int) {
    if state.pending_count.load(Ordering::Acquire) > 0
        && account::device_state(ordinal)
            .is_some_and(|device| device.primary_charge.load(Ordering::Acquire) == 0)
        && !is_known_on(state, ordinal)
    {
        pending::release(state, Waited::Device(ordinal));
    }
    pools::settle_all();
}

/// Whether some context on a device is known.
fn is_known_on(state: &State, ordinal: c_int) -> bool {
    state.contexts.iter().any(|known| {
        known.handle.load(Ordering::Acquire) != 0
            && word_of(known.word.load(Ordering::Acquire)).0 == ordinal
    })
}

/// Makes a context between reservation and note; says what it was charged.
fn make(ordinal: c_int, call: impl FnOnce() -> Status) -> (Status, u32) {
    let Some(account) = Account::of(ordinal) else { return (status::OUT_OF_MEMORY, 0) };
    let known = account.context_bytes().or_else(|| sizes::kept(ordinal));
    let reserved = expected_units(account, known);
    if !account.reserve(reserved) {
        say_why(account, reserved, known.is_some());
        return (status::OUT_OF_MEMORY, 0);
    }
    let meter = known.is_none().then(|| Meter::new(ordinal)).flatten();
    let book = || account.own_used().saturating_sub(u64::from(reserved)).saturating_mul(UNIT);
    let reading = || Reading {
        nvml: meter.as_ref().and_then(Meter::used),
        book: book(),
        imports: u64::from(physical::imported_units(ordinal)).saturating_mul(UNIT),
    };
    let before = if known.is_none() { reading() } else { Reading::default() };
    let status = call();
    if status != status::SUCCESS {
        account.release(reserved);
        return (status, 0);
    }
    let mut units = reserved;
    if known.is_none() {
        // One that cannot be measured stays what it was taken for, and nobody tries again, unless
        // that was for this process's own reasons.
        let guessed = u64::from(reserved).saturating_mul(UNIT);
        let measured = taken(before, reading()).map(with_overhead);
        if let Some(bytes) = measured {
            sizes::keep(ordinal, bytes);
        }
        let bytes = measured.unwrap_or(guessed);
        if bytes > 0 && (measured.is_some() || before.book == 0) {
            account.note_context_bytes(bytes);
        }
        units = units_for(bytes);
        if units > reserved {
            account.charge(units - reserved);
        } else {
            account.release(reserved - units);
        }
    }
    account.add_column(Column::Contexts, i64::from(units));
    (status, units)
}

/// Says once why there is no context: programs show that as a lack of memory in general.
#[cold]
fn say_why(account: Account, units: u32, measured: bool) {
    let (limit, used) = account.reading();
    let (needs, ordinal) = (Mib(u64::from(units) * UNIT), account.ordinal());
    let guess = if measured { "" } else { " (what it is taken for until one was measured)" };
    let (Some(state), Some(settings)) = (state::get(), settings::get()) else { return };
    let how = match settings.source {
        Source::Ledger(_) => " with `millpond group set`",
        _ => "",
    };
    if limit < u64::from(units) * UNIT {
        account::complain(
            state,
            format_args!(
                "the limit of {} on GPU {ordinal} is less than a CUDA context takes, {needs}{guess}; \
                 this program gets no GPU memory: set a larger limit{how}",
                Mib(limit)
            ),
        );
    } else {
        account::complain(
            state,
            format_args!(
                "no room for a CUDA context of {needs}{guess} on GPU {ordinal}: {} of the limit of {} \
                 are in use; end other programs of the group or set a larger limit{how}",
                Mib(used),
                Mib(limit)
            ),
        );
    }
}

/// Bytes as people read them.
struct Mib(u64);

impl core::fmt::Display for Mib {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} MiB", self.0 >> 20)
    }
}

unsafe fn create(context: *mut usize, ordinal: c_int, call: impl FnOnce() -> Status) -> Status {
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

/// While it lives, no other thread makes or ends this device's primary context. Threads that need one
/// at once would otherwise each reserve its size, and one of them be refused for nothing.
struct Alone(&'static Device);

impl Alone {
    fn with(device: &'static Device) -> Self {
        let order = (Ordering::Acquire, Ordering::Relaxed);
        while device.primary_busy.compare_exchange(0, 1, order.0, order.1).is_err() {
            // Making one takes a tenth of a second.
            let nap = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
            // SAFETY: the pointer is to a time; nobody wants what is left of it.
            unsafe {
                let errno = *libc::__errno_location();
                libc::nanosleep(&raw const nap, core::ptr::null_mut());
                *libc::__errno_location() = errno;
            }
        }
        Self(device)
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.0.primary_busy.store(0, Ordering::Release);
    }
}

/// Holds a device's primary context once more; the first one makes it, or the first after a reset.
fn hold_primary(ordinal: c_int, call: impl FnOnce() -> Status) -> Status {
    let Some(device) = account::device_state(ordinal) else { return call() };
    if ordinal >= account::device_count() {
        return call();
    }
    let _alone = Alone::with(device);
    let status = if device.primary_charge.load(Ordering::Acquire) & CHARGED != 0 {
        call()
    } else if primary_is_active(ordinal) == Some(true) {
        // Somebody made it without a hooked call: it is there, and this takes no more.
        let status = call();
        if status == status::SUCCESS
            && let Some(account) = Account::of(ordinal)
        {
            charge_primary(account, device);
        }
        status
    } else {
        let (status, units) = make(ordinal, call);
        if status == status::SUCCESS {
            device.primary_charge.store(CHARGED | u64::from(units), Ordering::Release);
        }
        status
    };
    if status == status::SUCCESS {
        device.primary.fetch_add(1, Ordering::AcqRel);
    }
    status
}

pub(crate) unsafe fn cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int) -> Status {
    hold_primary(device, || {
        // SAFETY: the caller's arguments, unchanged.
        let status = unsafe { real::cuDevicePrimaryCtxRetain(context, device) };
        if status == status::SUCCESS
            && let Some(state) = state::get()
        {
            // Its charge is the device's, so it is noted without one.
            // SAFETY: the call has succeeded.
            let primary = unsafe { written(context) };
            if find(state, primary).is_none() {
                note(primary, device, 0);
            }
            if let Some(known) = account::device_state(device) {
                known.primary_context.store(primary, Ordering::Release);
            }
        }
        status
    })
}

/// The primary context is gone, by its last release or by a reset. The caller is alone.
fn primary_gone(ordinal: c_int, device: &Device) {
    let word = device.primary_charge.swap(0, Ordering::AcqRel);
    let units = u32::try_from(word & u64::from(u32::MAX)).unwrap_or(0);
    if let Some(state) = state::get() {
        end(state, device.primary_context.swap(0, Ordering::AcqRel));
    }
    if let Some(account) = Account::of(ordinal) {
        account.release(units);
        account.add_column(Column::Contexts, -i64::from(units));
        if pools::graphs_charged(ordinal) != 0 {
            pools::settle_graphs(account, 0, true);
        }
    }
    if let Some(state) = state::get() {
        work_ended(state, ordinal);
    }
}

/// Whether the driver has the primary context; `None` when it does not say.
fn primary_is_active(ordinal: c_int) -> Option<bool> {
    let (mut flags, mut active) = (0, 0);
    // SAFETY: pointers to values of the right types.
    let status =
        unsafe { others::cuDevicePrimaryCtxGetState(ordinal, &raw mut flags, &raw mut active) };
    (status == status::SUCCESS).then_some(active != 0)
}

/// Lets go of a device's primary context. Whether that was its end is the driver's to say: it counts
/// holders that came by no hooked call.
fn drop_primary(ordinal: c_int, call: impl FnOnce() -> Status) -> Status {
    let Some(device) = account::device_state(ordinal) else { return call() };
    let _alone = Alone::with(device);
    let status = call();
    if status == status::SUCCESS {
        let less = |count: u32| Some(count.saturating_sub(1));
        let order = (Ordering::AcqRel, Ordering::Acquire);
        let last = device.primary.fetch_update(order.0, order.1, less).is_ok_and(|held| held <= 1);
        if !primary_is_active(ordinal).unwrap_or(!last) {
            primary_gone(ordinal, device);
        }
    }
    status
}

pub(crate) unsafe fn cuDevicePrimaryCtxRelease(device: c_int) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    drop_primary(device, || unsafe { real::cuDevicePrimaryCtxRelease(device) })
}

pub(crate) unsafe fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    drop_primary(device, || unsafe { real::cuDevicePrimaryCtxRelease_v2(device) })
}

/// A reset ends the context and its memory; who held it holds it still, and the next who asks for it
/// makes it anew.
fn reset(ordinal: c_int, call: impl FnOnce() -> Status) -> Status {
    let Some(device) = account::device_state(ordinal) else { return call() };
    let _alone = Alone::with(device);
    let status = call();
    if status != status::SUCCESS {
        return status;
    }
    let held = device.primary.load(Ordering::Acquire) > 0;
    if primary_is_active(ordinal).unwrap_or(held) {
        if let Some(state) = state::get() {
            let primary = device.primary_context.load(Ordering::Acquire);
            let number = find(state, primary).map_or(0, |found| found.0);
            forget(number);
        }
        pools::settle_all();
    } else {
        primary_gone(ordinal, device);
    }
    status
}

pub(crate) unsafe fn cuDevicePrimaryCtxReset(device: c_int) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    reset(device, || unsafe { real::cuDevicePrimaryCtxReset(device) })
}

pub(crate) unsafe fn cuDevicePrimaryCtxReset_v2(device: c_int) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    reset(device, || unsafe { real::cuDevicePrimaryCtxReset_v2(device) })
}

pub(crate) unsafe fn cuCtxCreate(context: *mut usize, flags: c_uint, device: c_int) -> Status {
    // SAFETY: as the caller promised.
    unsafe { create(context, device, || real::cuCtxCreate(context, flags, device)) }
}

pub(crate) unsafe fn cuCtxCreate_v2(context: *mut usize, flags: c_uint, device: c_int) -> Status {
    // SAFETY: as the caller promised.
    unsafe { create(context, device, || real::cuCtxCreate_v2(context, flags, device)) }
}

pub(crate) unsafe fn cuCtxCreate_v3(
    context: *mut usize,
    affinity: *mut c_void,
    count: c_int,
    flags: c_uint,
    device: c_int,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe {
        create(context, device, || real::cuCtxCreate_v3(context, affinity, count, flags, device))
    }
}

pub(crate) unsafe fn cuCtxCreate_v4(
    context: *mut usize,
    parameters: *mut c_void,
    flags: c_uint,
    device: c_int,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe { create(context, device, || real::cuCtxCreate_v4(context, parameters, flags, device)) }
}

pub(crate) unsafe fn cuGLCtxCreate(context: *mut usize, flags: c_uint, device: c_int) -> Status {
    // SAFETY: as the caller promised.
    unsafe { create(context, device, || real::cuGLCtxCreate(context, flags, device)) }
}

pub(crate) unsafe fn cuGLCtxCreate_v2(context: *mut usize, flags: c_uint, device: c_int) -> Status {
    // SAFETY: as the caller promised.
    unsafe { create(context, device, || real::cuGLCtxCreate_v2(context, flags, device)) }
}

pub(crate) unsafe fn cuVDPAUCtxCreate(
    context: *mut usize,
    flags: c_uint,
    device: c_int,
    display: u32,
    lookup: *mut c_void,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe {
        create(context, device, || real::cuVDPAUCtxCreate(context, flags, device, display, lookup))
    }
}

pub(crate) unsafe fn cuVDPAUCtxCreate_v2(
    context: *mut usize,
    flags: c_uint,
    device: c_int,
    display: u32,
    lookup: *mut c_void,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe {
        create(context, device, || {
            real::cuVDPAUCtxCreate_v2(context, flags, device, display, lookup)
        })
    }
}

/// Ends a context. Its place is closed first: the driver may give the same handle to another thread
/// at once.
fn destroy(context: usize, call: impl FnOnce() -> Status) -> Status {
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

pub(crate) unsafe fn cuCtxDestroy(context: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    destroy(context, || unsafe { real::cuCtxDestroy(context) })
}

pub(crate) unsafe fn cuCtxDestroy_v2(context: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    destroy(context, || unsafe { real::cuCtxDestroy_v2(context) })
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
    if !account.reserve(more) {
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
