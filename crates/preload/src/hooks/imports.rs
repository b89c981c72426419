//! Memory that other processes made: charged to whoever imports it, unless somebody else in the
//! group pays.

use core::ffi::{CStr, c_int, c_uint, c_void};

use millpond_ledger::{Column, units_for};

use super::context_table::current_number;
use super::physical::{Counted, note_handle};
use super::reserve::Reservation;
use super::{key, linear, written};
use crate::account::{self, Account};
use crate::driver::{others, real};
use crate::settings::{self, Text};
use crate::state;
use crate::types::{AllocationProperties, ExternalMemory, IpcHandle, Location, Status, status};

/// What was opened or imported outside of handles: units, device, context, how often it is open, and
/// whether somebody else pays. The bits between are the table's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Opened {
    units: u32,
    ordinal: c_int,
    /// In which context, or 0.
    context: u16,
    shared: bool,
}

const MARK: u64 = 1 << 63;
const SHARED: u64 = 1 << 62;
const ONE_OPEN: u64 = 1 << 46;
/// So many opens are not counted down any more: such memory is charged until its context ends.
const MOST_OPENS: u64 = 0x3ff;

impl Opened {
    fn pack(self) -> u64 {
        MARK | ONE_OPEN
            | if self.shared { SHARED } else { 0 }
            | (u64::from(self.context & 0x3ff) << 36)
            | (u64::from(self.ordinal.unsigned_abs() & 0xf) << 32)
            | u64::from(self.units)
    }

    fn unpack(word: u64) -> Self {
        let [a, b, c, d, ..] = word.to_le_bytes();
        Self {
            units: u32::from_le_bytes([a, b, c, d]),
            ordinal: c_int::try_from(word >> 32 & 0xf).unwrap_or(0),
            context: u16::try_from(word >> 36 & 0x3ff).unwrap_or(0),
            shared: word & SHARED != 0,
        }
    }

    fn opens(word: u64) -> u64 {
        (word / ONE_OPEN) & MOST_OPENS
    }

    fn once_more(word: u64) -> u64 {
        if Self::opens(word) < MOST_OPENS { word + ONE_OPEN } else { word }
    }

    /// Nobody has it open any more.
    fn leave(self) {
        if !self.shared {
            account::release(self.ordinal, self.units);
        } else if let Some(account) = Account::of(self.ordinal) {
            account.add_column(Column::Shared, -i64::from(self.units));
        }
    }
}

/// Forgets what was opened in a context: it has ended, and that with it.
pub(crate) fn forget_context(number: u16) {
    if number != 0
        && let Some(state) = state::get()
    {
        state.others.sweep_keys(
            |word| Opened::unpack(word).context == number,
            |_, word| Opened::unpack(word).leave(),
        );
    }
}

/// The device of an imported allocation; `None` when it is not on a device.
fn device_of(handle: u64) -> Option<c_int> {
    let mut properties = AllocationProperties {
        kind: 0,
        handle_types: 0,
        location: Location { kind: 0, id: 0 },
        win32: 0,
        flags: 0,
    };
    // SAFETY: the pointer is to a struct of the right layout; the handle was just imported.
    let status =
        unsafe { others::cuMemGetAllocationPropertiesFromHandle(&raw mut properties, handle) };
    if status == status::SUCCESS { properties.location.device() } else { account::current_device() }
}

unsafe fn import(handle: *mut u64, os_handle: *mut c_void, kind: u32, counted: Counted) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMemImportFromShareableHandle(handle, os_handle, kind) };
    if status != status::SUCCESS {
        return status;
    }
    // SAFETY: the call has succeeded.
    let imported = unsafe { written(handle) };
    let Some(ordinal) = device_of(imported) else { return status };
    if note_handle(imported, counted, ordinal, 0) {
        return status;
    }
    // SAFETY: the handle was just made, and the program has not seen it.
    unsafe {
        real::cuMemRelease(imported);
        handle.write_unaligned(0);
    }
    status::OUT_OF_MEMORY
}

pub(crate) unsafe fn cuMemImportFromShareableHandle(
    handle: *mut u64,
    os_handle: *mut c_void,
    kind: u32,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe { import(handle, os_handle, kind, Counted::Imported) }
}

/// Imports memory for which somebody else pays: the pond's.
///
/// # Safety
/// As CUDA documents for `cuMemImportFromShareableHandle`.
pub unsafe fn import_shared(handle: *mut u64, os_handle: *mut c_void, kind: u32) -> Status {
    if settings::limited() {
        // SAFETY: as the caller promised.
        unsafe { import(handle, os_handle, kind, Counted::Shared) }
    } else {
        // SAFETY: as the caller promised.
        unsafe { real::cuMemImportFromShareableHandle(handle, os_handle, kind) }
    }
}

/// Legacy handles that members of the group have exported, by hash: a file beside the ledger, read
/// and written by position, so that whatever happens to it can only lose notes. Handles are never
/// given twice, so an old note is harmless. A member that cannot write it loses a discount only.
struct Exports {
    fd: c_int,
}

impl Exports {
    const PLACES: u64 = 1 << 14;

    fn open(create: bool) -> Option<Self> {
        let folder: Text<1024> = account::folder_for_reading(settings::get()?)?;
        let mut path = [0_u8; 1100];
        let folder = folder.as_bytes();
        let name = b"/exports";
        path.get_mut(..folder.len())?.copy_from_slice(folder);
        path.get_mut(folder.len()..folder.len() + name.len())?.copy_from_slice(name);
        let path = CStr::from_bytes_until_nul(&path).ok()?;
        let create = if create { libc::O_CREAT } else { 0 };
        let flags = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW | create;
        // SAFETY: the path ends with a zero.
        let fd = unsafe { libc::open(path.as_ptr(), flags, 0o600) };
        (fd >= 0).then_some(Self { fd })
    }

    fn place(hash: u64) -> libc::off_t {
        libc::off_t::try_from(hash % Self::PLACES * 8).unwrap_or(0)
    }

    fn add(&self, hash: u64) {
        let bytes = hash.to_le_bytes();
        // SAFETY: the buffer is ours.
        unsafe { libc::pwrite(self.fd, bytes.as_ptr().cast(), 8, Self::place(hash)) };
    }

    fn has(&self, hash: u64) -> bool {
        let mut bytes = [0_u8; 8];
        // SAFETY: the buffer is ours.
        let read = unsafe { libc::pread(self.fd, bytes.as_mut_ptr().cast(), 8, Self::place(hash)) };
        read == 8 && u64::from_le_bytes(bytes) == hash
    }
}

impl Drop for Exports {
    fn drop(&mut self) {
        // SAFETY: our own descriptor.
        unsafe { libc::close(self.fd) };
    }
}

fn hash_of(handle: &IpcHandle) -> u64 {
    let hash = handle.bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash ^ hash >> 29 | 1
}

pub(crate) unsafe fn cuIpcGetMemHandle(handle: *mut IpcHandle, pointer: u64) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuIpcGetMemHandle(handle, pointer) };
    if status == status::SUCCESS {
        // SAFETY: the call has succeeded.
        let hash = hash_of(&unsafe { written(handle) });
        if let Some(exports) = Exports::open(true)
            && !exports.has(hash)
        {
            exports.add(hash);
        }
    }
    status
}

pub(super) unsafe fn open(
    pointer: *mut u64,
    handle: &IpcHandle,
    call: impl FnOnce() -> Status,
) -> Status {
    let is_paid_for = || Exports::open(false).is_some_and(|exports| exports.has(hash_of(handle)));
    // SAFETY: as the caller promised.
    unsafe { open_unless(pointer, is_paid_for, call) }
}

/// Opens memory for which somebody else pays: the pond's.
///
/// # Safety
/// As CUDA documents for `cuIpcOpenMemHandle`.
pub unsafe fn open_shared(pointer: *mut u64, handle: IpcHandle, flags: c_uint) -> Status {
    // SAFETY: as the caller promised.
    let call = || unsafe { real::cuIpcOpenMemHandle_v2(pointer, handle, flags) };
    if settings::limited() {
        // SAFETY: as the caller promised.
        unsafe { open_unless(pointer, || true, call) }
    } else {
        call()
    }
}

unsafe fn open_unless(
    pointer: *mut u64,
    is_paid_for: impl FnOnce() -> bool,
    call: impl FnOnce() -> Status,
) -> Status {
    let status = call();
    if status != status::SUCCESS {
        return status;
    }
    let Some(state) = state::get() else { return status };
    // SAFETY: the call has succeeded.
    let at = unsafe { written(pointer) };
    // The same handle opened again is the same pointer: opens are counted.
    if state.others.update(at, |word| Some(Opened::once_more(word))).is_some() {
        return status;
    }
    let Some(ordinal) = account::current_device() else { return status };
    let bytes = linear::size_at(at).unwrap_or(0);
    let units = units_for(bytes.checked_next_multiple_of(linear::BLOCK).unwrap_or(u64::MAX));
    let opened = Opened { units, ordinal, context: current_number(), shared: false };
    if is_paid_for() {
        state.others.insert_counted(at, Opened { shared: true, ..opened }.pack());
        if let Some(account) = Account::of(ordinal) {
            account.add_column(Column::Shared, i64::from(units));
        }
        return status;
    }
    // It already exists, so asking after the fact takes nothing from the card.
    match Reservation::new(ordinal, u64::from(units) * millpond_ledger::UNIT) {
        Some(reservation) => {
            reservation.keep();
            state.others.insert_counted(at, opened.pack());
            status
        }
        None => {
            // SAFETY: just opened, and the program has not seen it.
            unsafe {
                real::cuIpcCloseMemHandle(at);
                pointer.write_unaligned(0);
            }
            status::OUT_OF_MEMORY
        }
    }
}

pub(crate) unsafe fn cuIpcCloseMemHandle(pointer: u64) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuIpcCloseMemHandle(pointer) };
    let Some(state) = state::get() else { return call() };
    let less = |word: u64| match Opened::opens(word) {
        0 | 1 => None,
        MOST_OPENS => Some(word),
        _ => Some(word - ONE_OPEN),
    };
    // The note goes first: another thread may open something else at the same address at once.
    let taken = state.others.update(pointer, less);
    let status = call();
    let Some(word) = taken else { return status };
    if status != status::SUCCESS {
        if state.others.update(pointer, |word| Some(Opened::once_more(word))).is_none() {
            state.others.insert_counted(pointer, Opened::unpack(word).pack());
        }
        return status;
    }
    if Opened::opens(word) <= 1 {
        Opened::unpack(word).leave();
    }
    status
}

pub(crate) unsafe fn cuMemPoolImportPointer(
    pointer: *mut u64,
    pool: usize,
    data: *mut c_void,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe { import_pointer(pointer, pool, data, false) }
}

/// Imports memory of a pool for which somebody else pays: the pond's.
///
/// # Safety
/// As CUDA documents for `cuMemPoolImportPointer`.
pub unsafe fn import_pointer_shared(pointer: *mut u64, pool: usize, data: *mut c_void) -> Status {
    // SAFETY: as the caller promised.
    unsafe {
        match settings::limited() {
            true => import_pointer(pointer, pool, data, true),
            false => real::cuMemPoolImportPointer(pointer, pool, data),
        }
    }
}

unsafe fn import_pointer(
    pointer: *mut u64,
    pool: usize,
    data: *mut c_void,
    shared: bool,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMemPoolImportPointer(pointer, pool, data) };
    if status != status::SUCCESS {
        return status;
    }
    let Some(ordinal) = account::current_device() else { return status };
    // SAFETY: the call has succeeded.
    let at = unsafe { written(pointer) };
    let bytes = linear::size_at(at).unwrap_or(0);
    if shared {
        let (units, kind) = (units_for(bytes), linear::Kind::Own);
        let entry = linear::Entry { ordinal, units, context: 0, kind, handed: true };
        linear::put_back(at, entry);
        if let Some(account) = Account::of(ordinal) {
            account.add_column(Column::Shared, i64::from(units));
        }
        return status;
    }
    match Reservation::new(ordinal, bytes) {
        Some(reservation) => {
            let units = reservation.keep();
            let kind = linear::Kind::Own;
            let entry = linear::Entry { ordinal, units, context: 0, kind, handed: false };
            linear::put_back(at, entry);
            status
        }
        None => {
            // SAFETY: just imported, and the program has not seen it.
            unsafe {
                real::cuMemFree_v2(at);
                pointer.write_unaligned(0);
            }
            status::OUT_OF_MEMORY
        }
    }
}

pub(crate) unsafe fn cuImportExternalMemory(
    memory: *mut usize,
    description: *const ExternalMemory,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { real::cuImportExternalMemory(memory, description) };
    if memory.is_null() || description.is_null() {
        return call();
    }
    let Some(ordinal) = account::current_device() else { return call() };
    // SAFETY: not null, and a struct as the caller promised.
    let bytes = unsafe { written(description) }.bytes;
    let Some(reservation) = Reservation::new(ordinal, bytes) else {
        return status::OUT_OF_MEMORY;
    };
    let status = call();
    if status == status::SUCCESS
        && let Some(state) = state::get()
    {
        let opened = Opened { units: reservation.keep(), ordinal, context: 0, shared: false };
        // SAFETY: the call has succeeded.
        state.others.insert(key(unsafe { written(memory) }), opened.pack());
    }
    status
}

pub(crate) unsafe fn cuDestroyExternalMemory(memory: usize) -> Status {
    let taken = state::get().and_then(|state| state.others.take(key(memory)));
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuDestroyExternalMemory(memory) };
    if let Some(word) = taken {
        if status == status::SUCCESS {
            Opened::unpack(word).leave();
        } else if let Some(state) = state::get() {
            state.others.insert(key(memory), word);
        }
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_what_is_open() {
        let opened = Opened { units: u32::MAX, ordinal: 15, context: 512, shared: true };
        let mut word = opened.pack() | crate::table::LIFE;
        assert_eq!((Opened::unpack(word), Opened::opens(word)), (opened, 1));
        for _ in 0..2000 {
            word = Opened::once_more(word);
        }
        assert_eq!((Opened::unpack(word), Opened::opens(word)), (opened, MOST_OPENS));
        assert!(!Opened::unpack(Opened { shared: false, ..opened }.pack()).shared);
    }
}
