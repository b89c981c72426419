//! `cuMemCreate`: charged until the last handle is released and the last mapping is gone.

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::Ordering;

use millpond_ledger::{Column, UNIT, units_for};

use super::reserve::Reservation;
use super::{exports, written};
use crate::account::{self, Account};
use crate::driver::real;
use crate::state::{self, OBJECTS, Object, State};
use crate::types::{AllocationProperties, ArrayMapInfo, Status, status};

const MARK: u64 = 1 << 63;

/// How an object is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counted {
    /// Charged to this process.
    Charged = 1,
    /// Imported: charged when its size is known, which is when it is mapped.
    Imported = 2,
    /// Imported, and somebody else pays: shown only.
    Shared = 3,
}

fn kind_word(counted: Counted, ordinal: c_int) -> u32 {
    (counted as u32) << 8 | (ordinal.unsigned_abs() & 0xff)
}

fn kind_of(word: u32) -> (Counted, c_int) {
    let [ordinal, counted, ..] = word.to_le_bytes();
    let counted = match counted {
        2 => Counted::Imported,
        3 => Counted::Shared,
        _ => Counted::Charged,
    };
    (counted, c_int::from(ordinal))
}

/// Takes a free place for an object with one holder.
fn new_object(state: &State, counted: Counted, ordinal: c_int, units: u32) -> Option<usize> {
    let start = state.next_object.fetch_add(1, Ordering::Relaxed);
    (0..OBJECTS).map(|step| start.wrapping_add(step) % OBJECTS).find(|place| {
        let Some(object) = state.objects.get(*place) else { return false };
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        if object.holders.load(Ordering::Relaxed) != 0
            || object.holders.compare_exchange(0, 1, order.0, order.1).is_err()
        {
            return false;
        }
        object.kind.store(kind_word(counted, ordinal), Ordering::Relaxed);
        object.exports.store(0, Ordering::Relaxed);
        object.units.store(units, Ordering::Release);
        true
    })
}

/// `Object::holders`: somebody else pays for what was made here. It is in the word that says who
/// holds the memory, because the last holder must know who paid.
const HANDED: u32 = 1 << 31;

/// One holder less; the last one gives the memory back.
pub(crate) fn drop_holder(state: &State, place: usize) {
    let Some(object) = state.objects.get(place) else { return };
    let mut holders = object.holders.load(Ordering::Acquire);
    while holders > 0 {
        let (units, kind) =
            (object.units.load(Ordering::Acquire), object.kind.load(Ordering::Acquire));
        let order = (Ordering::AcqRel, Ordering::Acquire);
        let is_last = holders & !HANDED <= 1;
        let left = if is_last { 0 } else { holders - 1 };
        match object.holders.compare_exchange(holders, left, order.0, order.1) {
            Ok(_) if is_last => {
                let (counted, ordinal) = kind_of(kind);
                let Some(account) = Account::of(ordinal) else { return };
                if counted == Counted::Shared || holders & HANDED != 0 {
                    account.add_column(Column::Shared, -i64::from(units));
                } else {
                    account.release(units);
                }
                return;
            }
            Ok(_) => return,
            Err(now) => holders = now,
        }
    }
}

/// Says who pays for the object that is mapped at an address: somebody else, or this process. `false`
/// when none that was made here is, or a smaller one.
pub(super) fn set_payer(state: &State, at: u64, bytes: u64, elsewhere: bool) -> bool {
    let Some(place) = mapped_at(state, at) else { return false };
    let Some(object) = state.objects.get(place).filter(|object| hold(object)) else { return false };
    // Held, so that its end finds in the account what this has put there.
    let done = set_payer_of(object, bytes, elsewhere);
    drop_holder(state, place);
    done
}

fn set_payer_of(object: &Object, bytes: u64, elsewhere: bool) -> bool {
    let (counted, ordinal) = kind_of(object.kind.load(Ordering::Acquire));
    let units = object.units.load(Ordering::Acquire);
    if counted != Counted::Charged || units < units_for(bytes) {
        return false;
    }
    let Some(account) = Account::of(ordinal) else { return false };
    if elsewhere {
        if object.holders.fetch_or(HANDED, Ordering::AcqRel) & HANDED == 0 {
            account.hand_over(units);
        }
    } else if object.holders.fetch_and(!HANDED, Ordering::AcqRel) & HANDED != 0 {
        account.take_back(units);
    }
    true
}

/// The object of the mapping that an address is in.
fn mapped_at(state: &State, at: u64) -> Option<usize> {
    let place = |at: u64| state.mappings.get(at).map(mapping_place);
    place(at).or_else(|| place(super::linear::base_at(at)?))
}

/// What imports of memory are charged on a device. It looks at every place, so it is for rare moments.
#[cold]
pub(super) fn imported_units(ordinal: c_int) -> u32 {
    let Some(state) = state::get() else { return 0 };
    let imported = kind_word(Counted::Imported, ordinal);
    let units = state.objects.iter().filter_map(|object| {
        let held = object.holders.load(Ordering::Acquire) > 0;
        (held && object.kind.load(Ordering::Relaxed) == imported)
            .then(|| object.units.load(Ordering::Relaxed))
    });
    units.fold(0, u32::saturating_add)
}

/// One holder more, unless the last one has gone.
pub(crate) fn hold(object: &Object) -> bool {
    let most = |holders: u32| holders | HANDED == u32::MAX;
    let more = |holders: u32| (holders > 0).then(|| holders.wrapping_add((!most(holders)).into()));
    object.holders.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
}

/// The object of a handle.
pub(crate) fn object_of(state: &State, handle: u64) -> Option<usize> {
    state.handles.get(handle).map(place_of)
}

/// Counts of a handle, below the bits that are the table's.
const COUNTS: u64 = 0xff_ffff;
const ONE_COUNT: u64 = 1 << 32;

fn handle_word(place: usize, count: u64) -> u64 {
    MARK | (count & COUNTS) << 32 | (u64::try_from(place).unwrap_or(0) & 0xffff_ffff)
}

fn place_of(word: u64) -> usize {
    usize::try_from(word & 0xffff_ffff).unwrap_or(usize::MAX)
}

fn handle_count(word: u64) -> u64 {
    word >> 32 & COUNTS
}

/// Notes a new handle of an object.
pub(crate) fn note_handle(handle: u64, counted: Counted, ordinal: c_int, units: u32) -> bool {
    let Some(state) = state::get() else { return false };
    let Some(place) = new_object(state, counted, ordinal, units) else { return false };
    if state.handles.insert_counted(handle, handle_word(place, 1)) {
        return true;
    }
    if let Some(object) = state.objects.get(place) {
        object.holders.store(0, Ordering::Release);
    }
    false
}

pub(crate) unsafe fn cuMemCreate(
    handle: *mut u64,
    bytes: usize,
    properties: *const AllocationProperties,
    flags: u64,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuMemCreate(handle, bytes, properties, flags) };
    if handle.is_null() || properties.is_null() {
        return call();
    }
    // SAFETY: not null, and a struct as the caller promised.
    let Some(ordinal) = unsafe { written(properties) }.location.device() else { return call() };
    if ordinal < 0 || ordinal >= account::device_count() {
        return call();
    }
    let Some(reservation) = Reservation::new(ordinal, account::bytes(bytes)) else {
        return status::OUT_OF_MEMORY;
    };
    let status = call();
    if status != status::SUCCESS {
        return status;
    }
    // SAFETY: the call has succeeded.
    let made = unsafe { written(handle) };
    if note_handle(made, Counted::Charged, ordinal, reservation.units()) {
        reservation.keep();
        return status;
    }
    // There is no place to remember it: better none than one that nobody counts.
    // SAFETY: the handle was just made, and the program has not seen it.
    unsafe {
        real::cuMemRelease(made);
        handle.write_unaligned(0);
    }
    status::OUT_OF_MEMORY
}

pub(crate) unsafe fn cuMemRelease(handle: u64) -> Status {
    let Some(state) = state::get() else {
        // SAFETY: the caller's arguments, unchanged.
        return unsafe { real::cuMemRelease(handle) };
    };
    // The note goes first: the driver may give the same handle to another thread at once.
    let taken = state.handles.update(handle, |word| match handle_count(word) {
        0 | 1 => None,
        _ => Some(word - ONE_COUNT),
    });
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMemRelease(handle) };
    let Some(word) = taken else { return status };
    if status == status::SUCCESS {
        exports::look_again(state, place_of(word));
        drop_holder(state, place_of(word));
    } else {
        hold_again(state, handle, place_of(word));
    }
    status
}

/// One more count of a handle.
fn hold_again(state: &State, handle: u64, place: usize) {
    let more = |word: u64| Some(word + ONE_COUNT);
    if state.handles.update(handle, more).is_none() {
        state.handles.insert_counted(handle, handle_word(place, 1));
    }
}

pub(crate) unsafe fn cuMemRetainAllocationHandle(handle: *mut u64, address: *mut c_void) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMemRetainAllocationHandle(handle, address) };
    if status != status::SUCCESS {
        return status;
    }
    let Some(state) = state::get() else { return status };
    // SAFETY: the call has succeeded.
    let retained = unsafe { written(handle) };
    let at = u64::try_from(address.addr()).unwrap_or(0);
    // Its last handle may be gone while it is mapped: then the mapping says which it is.
    let place = state.handles.get(retained).map(place_of).or_else(|| mapped_at(state, at));
    if let Some(place) = place
        && state.objects.get(place).is_some_and(hold)
    {
        hold_again(state, retained, place);
    }
    status
}

fn mapping_word(place: usize, units: u32) -> u64 {
    MARK | (u64::try_from(place).unwrap_or(0) & 0xff_ffff) << 32 | u64::from(units)
}

fn mapping_place(word: u64) -> usize {
    usize::try_from(word >> 32 & 0xff_ffff).unwrap_or(usize::MAX)
}

fn mapping_bytes(word: u64) -> u64 {
    (word & u64::from(u32::MAX)) * UNIT
}

pub(crate) unsafe fn cuMemMap(
    pointer: u64,
    bytes: usize,
    offset: usize,
    handle: u64,
    flags: u64,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuMemMap(pointer, bytes, offset, handle, flags) };
    let Some(state) = state::get() else { return call() };
    let known = state.handles.get(handle).map(place_of);
    // Held before the call: another thread may release the handle as soon as it is mapped.
    let Some((place, object)) = known
        .and_then(|place| Some((place, state.objects.get(place)?)))
        .filter(|(_, object)| hold(object))
    else {
        return call();
    };
    let units = units_for(account::bytes(bytes));
    let (counted, ordinal) = kind_of(object.kind.load(Ordering::Acquire));
    // An import says its size by what is mapped of it: as far as anybody has.
    let extent = units_for(account::bytes(offset).saturating_add(account::bytes(bytes)));
    let mut charge = None;
    if counted == Counted::Imported {
        let more = extent.saturating_sub(object.units.load(Ordering::Acquire));
        let Some(reservation) = Reservation::new(ordinal, u64::from(more) * UNIT) else {
            drop_holder(state, place);
            return status::OUT_OF_MEMORY;
        };
        charge = Some(reservation);
    }
    let status = call();
    if status != status::SUCCESS {
        drop_holder(state, place);
        return status;
    }
    state.mappings.insert(pointer, mapping_word(place, units));
    if counted != Counted::Charged {
        let more = extent.saturating_sub(object.units.fetch_max(extent, Ordering::AcqRel));
        match charge {
            Some(reservation) => reservation.keep_exactly(more),
            None => {
                if let Some(account) = Account::of(ordinal) {
                    account.add_column(Column::Shared, i64::from(more));
                }
            }
        }
    }
    status
}

pub(crate) unsafe fn cuMemUnmap(pointer: u64, bytes: usize) -> Status {
    const AT_ONCE: usize = 256;
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuMemUnmap(pointer, bytes) };
    let Some(state) = state::get() else { return call() };
    let end = pointer.saturating_add(account::bytes(bytes));
    let mut taken = [(0_u64, 0_u64); AT_ONCE];
    let mut count = 0;
    let mut at = pointer;
    // Notes go first: the address may be mapped again by another thread at once.
    while at < end && count < AT_ONCE {
        match state.mappings.take(at) {
            Some(word) => {
                if let Some(place) = taken.get_mut(count) {
                    *place = (at, word);
                }
                count += 1;
                at = at.saturating_add(mapping_bytes(word).max(UNIT));
            }
            None => at = at.saturating_add(super::linear::BLOCK),
        }
    }
    let status = call();
    let taken = taken.get(..count).unwrap_or(&[]);
    if status != status::SUCCESS {
        for (at, word) in taken {
            state.mappings.insert(*at, *word);
        }
        return status;
    }
    for (_, word) in taken {
        exports::look_again(state, mapping_place(*word));
        drop_holder(state, mapping_place(*word));
    }
    while at < end {
        match state.mappings.take(at) {
            Some(word) => {
                drop_holder(state, mapping_place(word));
                at = at.saturating_add(mapping_bytes(word).max(UNIT));
            }
            None => at = at.saturating_add(super::linear::BLOCK),
        }
    }
    status
}

/// An array's part holds the memory from now on, and says at no time that it ends: such memory stays
/// charged until the process ends.
fn pin(handle: u64) {
    if let Some(state) = state::get()
        && let Some(object) =
            state.handles.get(handle).and_then(|word| state.objects.get(place_of(word)))
    {
        hold(object);
    }
}

/// Maps memory into arrays; what is mapped stays charged.
///
/// # Safety
/// `list` has `count` entries when the driver has accepted it.
pub(super) unsafe fn map_arrays(
    list: *const ArrayMapInfo,
    count: c_uint,
    call: impl FnOnce() -> Status,
) -> Status {
    const MAP: u32 = 1;
    let status = call();
    if status != status::SUCCESS || list.is_null() {
        return status;
    }
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: as the caller promised.
        let info = unsafe { written(list.add(index)) };
        if info.operation == MAP {
            pin(info.handle);
        }
    }
    status
}

/// Where a binding is noted: beside all addresses, by its multicast object, offset and device. Each
/// device binds memory of its own at the same offset.
fn binding_key(multicast: u64, offset: usize, device: c_int) -> u64 {
    let device = u64::from(device.unsigned_abs() & 0xff) << 1;
    multicast.rotate_left(20) ^ account::bytes(offset) ^ device | 1
}

/// A multicast object holds this memory from now on.
fn bind(state: &State, place: usize, multicast: u64, offset: usize, bytes: usize) {
    let Some(object) = state.objects.get(place) else { return };
    let (_, device) = kind_of(object.kind.load(Ordering::Acquire));
    if hold(object) {
        let word = mapping_word(place, units_for(account::bytes(bytes)));
        state.mappings.insert(binding_key(multicast, offset, device), word);
    }
}

fn bind_memory(multicast: u64, offset: usize, handle: u64, bytes: usize) {
    if let Some(state) = state::get()
        && let Some(place) = state.handles.get(handle).map(place_of)
    {
        bind(state, place, multicast, offset, bytes);
    }
}

fn bind_address(multicast: u64, offset: usize, pointer: u64, bytes: usize) {
    if let Some(state) = state::get()
        && let Some(place) = state.mappings.get(pointer).map(mapping_place)
    {
        bind(state, place, multicast, offset, bytes);
    }
}

pub(crate) unsafe fn cuMulticastBindMem(
    multicast: u64,
    multicast_offset: usize,
    handle: u64,
    offset: usize,
    bytes: usize,
    flags: u64,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe {
        real::cuMulticastBindMem(multicast, multicast_offset, handle, offset, bytes, flags)
    };
    if status == status::SUCCESS {
        bind_memory(multicast, multicast_offset, handle, bytes);
    }
    status
}

pub(crate) unsafe fn cuMulticastBindMem_v2(
    multicast: u64,
    device: c_int,
    multicast_offset: usize,
    handle: u64,
    offset: usize,
    bytes: usize,
    flags: u64,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe {
        real::cuMulticastBindMem_v2(
            multicast,
            device,
            multicast_offset,
            handle,
            offset,
            bytes,
            flags,
        )
    };
    if status == status::SUCCESS {
        bind_memory(multicast, multicast_offset, handle, bytes);
    }
    status
}

pub(crate) unsafe fn cuMulticastBindAddr(
    multicast: u64,
    multicast_offset: usize,
    pointer: u64,
    bytes: usize,
    flags: u64,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status =
        unsafe { real::cuMulticastBindAddr(multicast, multicast_offset, pointer, bytes, flags) };
    if status == status::SUCCESS {
        bind_address(multicast, multicast_offset, pointer, bytes);
    }
    status
}

pub(crate) unsafe fn cuMulticastBindAddr_v2(
    multicast: u64,
    device: c_int,
    multicast_offset: usize,
    pointer: u64,
    bytes: usize,
    flags: u64,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe {
        real::cuMulticastBindAddr_v2(multicast, device, multicast_offset, pointer, bytes, flags)
    };
    if status == status::SUCCESS {
        bind_address(multicast, multicast_offset, pointer, bytes);
    }
    status
}

pub(crate) unsafe fn cuMulticastUnbind(
    multicast: u64,
    device: c_int,
    offset: usize,
    bytes: usize,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMulticastUnbind(multicast, device, offset, bytes) };
    if status == status::SUCCESS
        && let Some(state) = state::get()
        && let Some(word) = state.mappings.take(binding_key(multicast, offset, device))
    {
        drop_holder(state, mapping_place(word));
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_bind_at_one_offset() {
        let keys = [binding_key(7, 0, 0), binding_key(7, 0, 1), binding_key(7, 1 << 21, 0)];
        assert!(keys[0] != keys[1] && keys[0] != keys[2] && keys[1] != keys[2]);
    }

    #[test]
    fn words_of_handles() {
        let word = handle_word(OBJECTS - 1, 1);
        assert_eq!((place_of(word), handle_count(word)), (OBJECTS - 1, 1));
        let word = (word | crate::table::LIFE) + ONE_COUNT;
        assert_eq!((place_of(word), handle_count(word)), (OBJECTS - 1, 2));
    }
}
