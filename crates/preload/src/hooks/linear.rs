//! `cuMemAlloc` and its kin.
//!
//! The driver takes such memory from the card in blocks of 2 MiB. Small allocations share a block,
//! which goes back with the last of them, so a block is charged once and counted.

use core::ffi::{c_int, c_uint};
use millpond_ledger::{Column, UNIT, units_for};

use super::context_table::current_number;
use super::pool_registry::settle_all;
use super::reserve::Reservation;
use super::{pending, written};
use crate::account::{self, Account};
use crate::driver::{others, real};
use crate::state::{self, State};
use crate::types::{Status, status};

/// What the driver takes from the card at once.
pub(crate) const BLOCK: u64 = 2 << 20;
const BLOCK_UNITS: u32 = units_for(BLOCK);

/// How an allocation is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Own = 1,
    Small = 2,
}

/// An entry of the table: what a pointer stands for.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) ordinal: c_int,
    pub(crate) units: u32,
    pub(crate) context: u16,
    pub(crate) kind: Kind,
    /// Somebody else pays for it.
    pub(crate) handed: bool,
}

const HANDED: u64 = 1 << 58;
const MARK: u64 = 1 << 63;

impl Entry {
    pub(crate) fn pack(self) -> u64 {
        let ordinal = u64::from(self.ordinal.unsigned_abs()) & 0xff;
        MARK | u64::from(self.units)
            | ordinal << 32
            | u64::from(self.context) << 40
            | (self.kind as u64) << 56
            | if self.handed { HANDED } else { 0 }
    }

    pub(crate) fn unpack(word: u64) -> Self {
        let [a, b, c, d, ordinal, low, high, kind] = word.to_le_bytes();
        Self {
            ordinal: c_int::from(ordinal),
            units: u32::from_le_bytes([a, b, c, d]),
            context: u16::from_le_bytes([low, high]),
            kind: if kind & 3 == 2 { Kind::Small } else { Kind::Own },
            handed: word & HANDED != 0,
        }
    }
}

/// Makes an allocation between reservation and note. `bytes` is the most that it can take, and
/// `actual` says what it took once it is there.
///
/// # Safety
/// `pointer` may be read after `call` has succeeded.
#[inline]
unsafe fn allocate(
    pointer: *mut u64,
    bytes: u64,
    call: impl FnOnce() -> Status,
    actual: impl FnOnce() -> u64,
) -> Status {
    if pointer.is_null() || bytes == 0 {
        return call();
    }
    let Some(ordinal) = account::current_device() else { return call() };
    let Some(rounded) = bytes.checked_next_multiple_of(BLOCK) else { return status::OUT_OF_MEMORY };
    let Some(reservation) = Reservation::new(ordinal, rounded) else {
        return status::OUT_OF_MEMORY;
    };
    let status = call();
    if status != status::SUCCESS {
        return status;
    }
    // SAFETY: the call has succeeded.
    let at = unsafe { written(pointer) };
    let context = current_number();
    let actual = actual();
    if actual < BLOCK {
        let units = units_for(actual);
        let entry = Entry { ordinal, units, context, kind: Kind::Small, handed: false };
        note(at, entry);
        if join_block(at, ordinal) {
            reservation.keep_exactly(BLOCK_UNITS);
        }
    } else {
        let units = units_for(actual.next_multiple_of(BLOCK));
        reservation.keep_exactly(units);
        note(at, Entry { ordinal, units, context, kind: Kind::Own, handed: false });
    }
    status
}

/// Notes a pointer. Without a place for it the memory stays charged, which is safe and said.
#[inline(always)]
fn note(at: u64, entry: Entry) {
    let noted = state::get().is_some_and(|state| state.linear.insert(at, entry.pack()));
    if !noted {
        say_full();
    }
}

#[cold]
fn say_full() {
    crate::message::say(
        crate::message::Level::Warn,
        format_args!("too many allocations to remember; one stays charged until the end"),
    );
}

/// Counts a small allocation in its block; whether the block is new.
#[inline(always)]
fn join_block(at: u64, ordinal: c_int) -> bool {
    let Some(state) = state::get() else { return true };
    let block = at >> 21;
    if state.blocks.update(block, |count| Some(count + 1)).is_some() {
        return false;
    }
    new_block(state, block, ordinal);
    true
}

#[cold]
fn new_block(state: &State, block: u64, ordinal: c_int) {
    let value = MARK | u64::from(ordinal.unsigned_abs()) << 32 | 1;
    state.blocks.insert_counted(block, value);
}

/// Takes a small allocation out of its block; whether the block is gone.
#[inline(always)]
fn leave_block(at: u64) -> bool {
    let Some(state) = state::get() else { return false };
    let last = |value: u64| value & u64::from(u32::MAX) <= 1;
    let before = state.blocks.update(at >> 21, |value| (!last(value)).then(|| value - 1));
    before.is_some_and(last)
}

/// Takes a pointer out of the table, before the driver frees it.
#[inline(always)]
pub(crate) fn take(at: u64) -> Option<Entry> {
    state::get()?.linear.take_constant(at).map(Entry::unpack)
}

/// The driver has not freed it after all.
pub(crate) fn put_back(at: u64, entry: Entry) {
    note(at, entry);
}

/// What the account gets back when this allocation goes.
#[inline]
pub(crate) fn leave(at: u64, entry: Entry) -> u32 {
    match entry.kind {
        Kind::Own if entry.handed => {
            if let Some(account) = Account::of(entry.ordinal) {
                account.add_column(Column::Shared, -i64::from(entry.units));
            }
            0
        }
        Kind::Own => entry.units,
        Kind::Small if leave_block(at) => BLOCK_UNITS,
        Kind::Small => 0,
    }
}

/// Says who pays for the allocation that an address is in: somebody else, or this process. `false`
/// for addresses of none, for one that is smaller, and for one that shares its block with others.
pub(super) fn set_payer(state: &State, at: u64, bytes: u64, elsewhere: bool) -> bool {
    let set = |at: u64| {
        let entry = state.linear.get(at).map(Entry::unpack)?;
        if entry.kind != Kind::Own || entry.units < units_for(bytes) {
            return None;
        }
        let account = Account::of(entry.ordinal)?;
        let payer = if elsewhere { HANDED } else { 0 };
        let before = state.linear.replace(at, |word| word & !HANDED | payer)?;
        match (before & HANDED != 0, elsewhere) {
            (false, true) => account.hand_over(entry.units),
            (true, false) => account.take_back(entry.units),
            _ => {}
        }
        Some(())
    };
    set(at).or_else(|| set(base_at(at).filter(|base| *base != at)?)).is_some()
}

/// Forgets what a context held: it has ended, and its memory with it.
pub(crate) fn forget_context(number: u16) {
    let Some(state) = state::get() else { return };
    if number == 0 {
        return;
    }
    state.linear.sweep_keys(
        |word| Entry::unpack(word).context == number,
        |at, word| {
            let entry = Entry::unpack(word);
            account::release(entry.ordinal, leave(at, entry));
        },
    );
}

pub(crate) unsafe fn cuMemAlloc_v2(pointer: *mut u64, bytes: usize) -> Status {
    let size = account::bytes(bytes);
    // SAFETY: as the caller promised.
    unsafe { allocate(pointer, size, move || real::cuMemAlloc_v2(pointer, bytes), || size) }
}

pub(crate) unsafe fn cuMemAllocManaged(pointer: *mut u64, bytes: usize, flags: c_uint) -> Status {
    let size = account::bytes(bytes);
    // It never shares a block: pages of its own come and go.
    let charged = size.checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX);
    // SAFETY: as the caller promised.
    unsafe {
        allocate(pointer, size, || real::cuMemAllocManaged(pointer, bytes, flags), || charged)
    }
}

pub(crate) unsafe fn cuMemAllocPitch_v2(
    pointer: *mut u64,
    pitch: *mut usize,
    width: usize,
    height: usize,
    element: c_uint,
) -> Status {
    let rows = account::bytes(height);
    // The driver rounds rows up to 512 bytes.
    let row = account::bytes(width).checked_next_multiple_of(512).unwrap_or(u64::MAX);
    let most = row.saturating_mul(rows);
    // SAFETY: as the caller promised; a null pitch is refused by the driver before it is read.
    unsafe {
        allocate(
            pointer,
            most,
            || real::cuMemAllocPitch_v2(pointer, pitch, width, height, element),
            || account::bytes(written(pitch)).saturating_mul(rows),
        )
    }
}

/// CUDA 3's functions: they write addresses of 32 bits, so what they give cannot be followed to its
/// end. It is charged for good.
unsafe fn allocate_old(bytes: u64, call: impl FnOnce() -> Status) -> Status {
    let Some(ordinal) = account::current_device() else { return call() };
    let rounded = bytes.max(1).next_multiple_of(BLOCK);
    let Some(reservation) = Reservation::new(ordinal, rounded) else {
        return status::OUT_OF_MEMORY;
    };
    let status = call();
    if status == status::SUCCESS {
        reservation.keep();
    }
    status
}

pub(crate) unsafe fn cuMemAlloc(pointer: usize, bytes: u64) -> Status {
    let size = bytes & u64::from(u32::MAX);
    // SAFETY: the caller's arguments, unchanged.
    unsafe { allocate_old(size, || real::cuMemAlloc(pointer, bytes)) }
}

pub(crate) unsafe fn cuMemAllocPitch(
    pointer: usize,
    pitch: usize,
    width: u64,
    height: u64,
    element: c_uint,
) -> Status {
    let low = u64::from(u32::MAX);
    let size = (width & low).next_multiple_of(512).saturating_mul(height & low).min(1 << 40);
    // SAFETY: the caller's arguments, unchanged.
    unsafe { allocate_old(size, || real::cuMemAllocPitch(pointer, pitch, width, height, element)) }
}

pub(crate) unsafe fn cuMemFree_v2(pointer: u64) -> Status {
    let taken = take(pointer);
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMemFree_v2(pointer) };
    match taken {
        Some(entry) if status == status::SUCCESS => {
            account::release(entry.ordinal, leave(pointer, entry));
        }
        Some(entry) => put_back(pointer, entry),
        // A pool's or a graph's, freed and waited for; or nothing of ours.
        None if status == status::SUCCESS && pointer != 0 => settle_all(),
        None => {}
    }
    status
}

/// Start and size of the allocation or mapping that an address is in.
fn range_at(pointer: u64) -> Option<(u64, u64)> {
    let (mut base, mut bytes) = (0_u64, 0_usize);
    // SAFETY: both pointers are to values of the right types.
    let status = unsafe { others::cuMemGetAddressRange_v2(&raw mut base, &raw mut bytes, pointer) };
    (status == status::SUCCESS).then(|| (base, account::bytes(bytes)))
}

/// The size of the allocation that an address is in.
pub(crate) fn size_at(pointer: u64) -> Option<u64> {
    range_at(pointer).map(|range| range.1)
}

/// Where the mapping that an address is in begins.
pub(crate) fn base_at(pointer: u64) -> Option<u64> {
    range_at(pointer).map(|range| range.0)
}

/// Memory freed in stream order is the driver's once the stream has come there, which waiting for
/// that stream shows.
pub(crate) fn release_later(at: u64, entry: Entry, stream: pending::Stream) {
    pending::add(entry.ordinal, leave(at, entry), stream);
}

const _: () = assert!(BLOCK.is_multiple_of(UNIT));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_what_they_say() {
        let entry = Entry {
            ordinal: 15,
            units: u32::MAX,
            context: 0xabcd,
            kind: Kind::Small,
            handed: false,
        };
        let back = Entry::unpack(entry.pack());
        assert_eq!((back.ordinal, back.units, back.context), (15, u32::MAX, 0xabcd));
        assert!(back.kind == Kind::Small && !back.handed);
        let entry = Entry { handed: true, kind: Kind::Own, ..entry };
        let back = Entry::unpack(entry.pack());
        assert!(back.kind == Kind::Own && back.handed && back.context == 0xabcd);
        let entry = Entry { ordinal: 0, units: 0, context: 0, kind: Kind::Own, handed: false };
        assert!(entry.pack() != 0 && Entry::unpack(entry.pack()).kind == Kind::Own);
    }
}
