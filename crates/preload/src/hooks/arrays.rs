//! Arrays and mipmaps.
//!
//! Their size on the card is the driver's secret, but it tells it for a twin whose memory is left to
//! the program ("deferred mapping"): the twin takes nothing. Small arrays of a context share blocks of
//! 2 MiB that nobody can see, so they are charged together, by the most blocks that they needed at once.

use core::ffi::{c_int, c_uint};
use core::sync::atomic::{AtomicU64, Ordering};

use millpond_ledger::units_for;

use super::context_table::current_number;
use super::linear::{BLOCK, Entry, Kind};
use super::reserve::{Reservation, Reserve};
use super::{key, written};
use crate::account::{self, Account};
use crate::driver::{self, Called, others, real};
use crate::state;
use crate::types::{
    Array3DDescription, Array3DDescription32, ArrayDescription, ArrayDescription32,
    MemoryRequirements, Status, status,
};

/// `CUDA_ARRAY3D_SPARSE` and `CUDA_ARRAY3D_DEFERRED_MAPPING`: arrays without memory of their own.
const SPARSE: u32 = 0x40;
const DEFERRED: u32 = 0x80;
const BLOCK_UNITS: u32 = units_for(BLOCK);

/// What an array takes, by its twin; by arithmetic where the driver has no twins. `None` when the
/// driver refuses such a shape.
fn bytes_of(
    description: &Array3DDescription,
    levels: Option<c_uint>,
    ordinal: c_int,
) -> Option<u64> {
    if description.flags & (SPARSE | DEFERRED) != 0 {
        return Some(0);
    }
    let twin = Array3DDescription { flags: description.flags | DEFERRED, ..*description };
    let mut array = 0;
    let mut needs = MemoryRequirements::default();
    // SAFETY: pointers to values of the right types.
    let made = unsafe {
        match levels {
            None => real::cuArray3DCreate_v2(&raw mut array, &raw const twin),
            Some(levels) => real::cuMipmappedArrayCreate(&raw mut array, &raw const twin, levels),
        }
    };
    // What a twin's shape is refused for, the array's is. A driver without twins refuses them all.
    if made == status::INVALID_VALUE && driver::has(Called::cuArrayGetMemoryRequirements) {
        return None;
    }
    // SAFETY: as above; the twin is destroyed as what it was made.
    let told = made == status::SUCCESS
        && unsafe {
            let needs = &raw mut needs;
            let told = match levels {
                None => others::cuArrayGetMemoryRequirements(needs, array, ordinal),
                Some(_) => others::cuMipmappedArrayGetMemoryRequirements(needs, array, ordinal),
            };
            match levels {
                None => real::cuArrayDestroy(array),
                Some(_) => real::cuMipmappedArrayDestroy(array),
            };
            told == status::SUCCESS
        };
    Some(if told { account::bytes(needs.size) } else { computed_bytes(description, levels) })
}

/// Rows in tiles of 64 bytes, heights in eights, and a third more for a mipmap's other levels.
fn computed_bytes(description: &Array3DDescription, levels: Option<c_uint>) -> u64 {
    let extent = |value: usize| account::bytes(value).max(1);
    let row = extent(description.width)
        .saturating_mul(element_bytes(description.format))
        .saturating_mul(u64::from(description.channels.max(1)));
    let row = row.checked_next_multiple_of(64).unwrap_or(u64::MAX);
    let height = match description.height {
        0 => 1,
        height => extent(height).checked_next_multiple_of(8).unwrap_or(u64::MAX),
    };
    let bytes = row.saturating_mul(height).saturating_mul(extent(description.depth));
    match levels {
        Some(levels) if levels > 1 => bytes.saturating_add(bytes / 2),
        _ => bytes,
    }
}

/// Bytes of one channel of a format. A format that nobody knows is taken for a large one.
fn element_bytes(format: u32) -> u64 {
    match format {
        0x01 | 0x08 => 1,
        0x02 | 0x09 | 0x10 => 2,
        0x03 | 0x0a | 0x20 => 4,
        // Normalised formats carry their channels in the format.
        0xc0 | 0xc6 => 1,
        0xc1 | 0xc7 | 0xc3 | 0xc9 => 2,
        0xc2 | 0xc8 | 0xc4 | 0xca => 4,
        0xc5 | 0xcb => 8,
        _ => 16,
    }
}

/// The word of small arrays: how many, their units of 4 KiB, their blocks.
fn unpack(word: u64) -> (u64, u64, u64) {
    (word >> 44, word >> 16 & 0xfff_ffff, word & 0xffff)
}

fn pack(count: u64, units: u64, blocks: u64) -> u64 {
    count << 44 | (units & 0xfff_ffff) << 16 | (blocks & 0xffff)
}

/// Where a context's small arrays are counted.
fn small_of(ordinal: c_int, context: u16) -> Option<&'static AtomicU64> {
    match usize::from(context).checked_sub(1) {
        Some(place) => state::get()?.contexts.get(place).map(|known| &known.small_arrays),
        None => account::device_state(ordinal).map(|device| &device.small_arrays),
    }
}

/// Adds a small array to the others of its context; `false` means out of memory.
fn join_small(ordinal: c_int, context: u16, units: u32) -> bool {
    let (Some(small), Some(account)) = (small_of(ordinal, context), Account::of(ordinal)) else {
        return false;
    };
    loop {
        let word = small.load(Ordering::Acquire);
        let (count, sum, blocks) = unpack(word);
        // More than the word can count.
        if count + 1 >= 1 << 20 {
            return false;
        }
        let sum = sum + u64::from(units);
        let needed = sum.div_ceil(u64::from(BLOCK_UNITS)).max(blocks);
        let more = u32::try_from(needed - blocks).unwrap_or(u32::MAX).saturating_mul(BLOCK_UNITS);
        if !account.reserve_or_say(more) {
            return false;
        }
        let next = pack(count + 1, sum, needed);
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        if small.compare_exchange(word, next, order.0, order.1).is_ok() {
            return true;
        }
        account.release(more);
    }
}

/// Takes a small array out. The blocks go back with the last.
fn leave_small(ordinal: c_int, context: u16, units: u32) {
    let Some(small) = small_of(ordinal, context) else { return };
    loop {
        let word = small.load(Ordering::Acquire);
        let (count, sum, blocks) = unpack(word);
        let next = match count {
            0 | 1 => 0,
            _ => pack(count - 1, sum.saturating_sub(u64::from(units)), blocks),
        };
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        if small.compare_exchange(word, next, order.0, order.1).is_ok() {
            if next == 0 {
                let blocks = u32::try_from(blocks).unwrap_or(0);
                account::release(ordinal, blocks.saturating_mul(BLOCK_UNITS));
            }
            return;
        }
    }
}

/// Makes an array between reservation and note.
///
/// # Safety
/// `array` may be read after `call` has succeeded.
unsafe fn create(
    array: *mut usize,
    description: &Array3DDescription,
    levels: Option<c_uint>,
    call: impl FnOnce() -> Status,
) -> Status {
    let Some(ordinal) = account::current_device() else { return call() };
    let context = current_number();
    let note = |units: u32, kind: Kind| {
        if let Some(state) = state::get() {
            let entry = Entry { ordinal, units, context, kind, handed: false };
            // SAFETY: only called after `call` has succeeded.
            state.arrays.insert(key(unsafe { written(array) }), entry.pack());
        }
    };
    let Some(bytes) = bytes_of(description, levels, ordinal) else {
        let status = call();
        if status == status::SUCCESS
            && let Some(account) = Account::of(ordinal)
        {
            // It is there all the same.
            let bytes = computed_bytes(description, levels);
            let units = units_for(bytes.checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX));
            account.charge(units);
            note(units, Kind::Own);
        }
        return status;
    };
    if bytes == 0 {
        return call();
    }
    if bytes < BLOCK {
        let units = units_for(bytes);
        if !join_small(ordinal, context, units) {
            return status::OUT_OF_MEMORY;
        }
        let status = call();
        if status == status::SUCCESS {
            note(units, Kind::Small);
        } else {
            leave_small(ordinal, context, units);
        }
        return status;
    }
    let Some(rounded) = bytes.checked_next_multiple_of(BLOCK) else { return status::OUT_OF_MEMORY };
    let Some(reservation) = Reservation::new(ordinal, rounded) else {
        return status::OUT_OF_MEMORY;
    };
    let status = call();
    if status == status::SUCCESS {
        note(reservation.keep(), Kind::Own);
    }
    status
}

fn leave(entry: Entry) {
    match entry.kind {
        Kind::Own => account::release(entry.ordinal, entry.units),
        Kind::Small => leave_small(entry.ordinal, entry.context, entry.units),
    }
}

/// Forgets what a context held: it has ended, and its arrays with it.
pub(crate) fn forget_context(number: u16) {
    if number != 0
        && let Some(state) = state::get()
    {
        state.arrays.sweep_keys(
            |word| Entry::unpack(word).context == number,
            |_, word| leave(Entry::unpack(word)),
        );
    }
}

pub(crate) unsafe fn cuArrayCreate_v2(
    array: *mut usize,
    description: *const ArrayDescription,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuArrayCreate_v2(array, description) };
    if array.is_null() || description.is_null() {
        return call();
    }
    // SAFETY: not null, and a struct as the caller promised.
    let small = unsafe { written(description) };
    let full = Array3DDescription {
        width: small.width,
        height: small.height,
        depth: 0,
        format: small.format,
        channels: small.channels,
        flags: 0,
    };
    // SAFETY: as the caller promised.
    unsafe { create(array, &full, None, call) }
}

pub(crate) unsafe fn cuArray3DCreate_v2(
    array: *mut usize,
    description: *const Array3DDescription,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuArray3DCreate_v2(array, description) };
    if array.is_null() || description.is_null() {
        return call();
    }
    // SAFETY: not null, and a struct as the caller promised.
    unsafe { create(array, &written(description), None, call) }
}

pub(crate) unsafe fn cuMipmappedArrayCreate(
    array: *mut usize,
    description: *const Array3DDescription,
    levels: c_uint,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuMipmappedArrayCreate(array, description, levels) };
    if array.is_null() || description.is_null() {
        return call();
    }
    // SAFETY: not null, and a struct as the caller promised.
    unsafe { create(array, &written(description), Some(levels), call) }
}

pub(crate) unsafe fn cuArrayCreate(
    array: *mut usize,
    description: *const ArrayDescription32,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuArrayCreate(array, description) };
    if array.is_null() || description.is_null() {
        return call();
    }
    // SAFETY: not null, and a struct as the caller promised.
    let old = unsafe { written(description) };
    let full = widened(old.width, old.height, 0, old.format, old.channels, 0);
    // SAFETY: as the caller promised.
    unsafe { create(array, &full, None, call) }
}

pub(crate) unsafe fn cuArray3DCreate(
    array: *mut usize,
    description: *const Array3DDescription32,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuArray3DCreate(array, description) };
    if array.is_null() || description.is_null() {
        return call();
    }
    // SAFETY: not null, and a struct as the caller promised.
    let old = unsafe { written(description) };
    let full = widened(old.width, old.height, old.depth, old.format, old.channels, old.flags);
    // SAFETY: as the caller promised.
    unsafe { create(array, &full, None, call) }
}

fn widened(
    width: u32,
    height: u32,
    depth: u32,
    format: u32,
    channels: u32,
    flags: u32,
) -> Array3DDescription {
    let wide = |extent: u32| usize::try_from(extent).unwrap_or(usize::MAX);
    Array3DDescription {
        width: wide(width),
        height: wide(height),
        depth: wide(depth),
        format,
        channels,
        flags,
    }
}

fn destroy(array: usize, call: impl FnOnce() -> Status) -> Status {
    let taken = state::get().and_then(|state| state.arrays.take(key(array)));
    let status = call();
    if let Some(word) = taken {
        if status == status::SUCCESS {
            leave(Entry::unpack(word));
        } else if let Some(state) = state::get() {
            state.arrays.insert(key(array), word);
        }
    }
    status
}

pub(crate) unsafe fn cuArrayDestroy(array: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    destroy(array, || unsafe { real::cuArrayDestroy(array) })
}

pub(crate) unsafe fn cuMipmappedArrayDestroy(array: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    destroy(array, || unsafe { real::cuMipmappedArrayDestroy(array) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computed(width: usize, height: usize, depth: usize, format: u32, channels: u32) -> u64 {
        let description = Array3DDescription { width, height, depth, format, channels, flags: 0 };
        computed_bytes(&description, None)
    }

    #[test]
    fn sizes_without_a_twin_are_no_less_than_the_cards() {
        let blocks = |bytes: u64| bytes.div_ceil(BLOCK) * 2;
        assert_eq!(blocks(computed(1000, 1000, 0, 0x20, 4)), 16);
        assert_eq!(blocks(computed(65536, 1, 0, 0x20, 4)), 8);
        assert_eq!(blocks(computed(3, 60000, 0, 1, 1)), 4);
        assert!(blocks(computed(4097, 4097, 0, 0x10, 1)) >= 34);
        assert_eq!(computed(usize::MAX, usize::MAX, usize::MAX, 99, 4), u64::MAX);
    }

    #[test]
    fn words_of_small_arrays() {
        assert_eq!(unpack(pack(3, 1000, 2)), (3, 1000, 2));
        assert_eq!(unpack(0), (0, 0, 0));
    }
}
