//! Answers about memory: the limit is the size of the card.
//!
//! `total = min(limit, card)`, `free = min(limit - what the group holds, what the card has free)`.
//! A question that the driver answers is never turned into an error.

use core::ffi::{c_char, c_int, c_uint};
use core::sync::atomic::Ordering;

use millpond_ledger::{NO_LIMIT, Observer, UNIT, Uuid};

use super::{exports, written};
use crate::account::{self, Account};
use crate::driver::{others, real};
use crate::settings::{self, Settings, Source};
use crate::state;
use crate::types::{NvmlMemory, NvmlMemoryV2, Status, status};

/// Limit and what the group holds on a GPU, in bytes; `None` when nothing is limited there.
fn reading(uuid: Uuid, total: u64) -> Option<(u64, u64)> {
    let settings = settings::get()?;
    match &settings.source {
        Source::None => return None,
        // No memory is given, and that is what is shown.
        Source::Bad(_) => return Some((0, 0)),
        Source::Ledger(_) | Source::Stated => {}
    }
    let number = account::number_of(uuid, settings);
    let folder = account::folder_for_reading(settings)?;
    // A stated limit whose group nobody has made yet: nothing is held.
    let Ok(observer) = Observer::open(folder.as_c_str()) else {
        return stated(settings, number, total);
    };
    let cap = settings::least(&settings.caps(number), total).map_or(NO_LIMIT, |cap| cap.1 / UNIT);
    let limit = observer.budget(uuid).map_or(0, |budget| budget.effective.min(cap));
    let used = observer.used(uuid).unwrap_or(0);
    (limit != NO_LIMIT).then(|| (limit.saturating_mul(UNIT), used.saturating_mul(UNIT)))
}

fn stated(settings: &Settings, number: Option<usize>, total: u64) -> Option<(u64, u64)> {
    match settings.source {
        Source::Stated => {
            let least = settings::least(&settings.stated.on(number), total)?;
            Some((least.1 / UNIT * UNIT, 0))
        }
        Source::None => None,
        Source::Ledger(_) | Source::Bad(_) => Some((0, 0)),
    }
}

/// The same for a GPU by its CUDA number, from this process's own slot where it has one.
fn reading_of(ordinal: c_int, total: u64) -> Option<(u64, u64)> {
    let attached = state::get().is_some_and(|state| state.attached.load(Ordering::Acquire) == 2);
    if attached && let Some(account) = Account::of(ordinal) {
        exports::look_at_all();
        let mut reading = account.reading();
        let others = reading.1 > account.own_used().saturating_mul(UNIT);
        if others && account::look_for_the_dead() {
            reading = account.reading();
        }
        return (reading.0 != u64::MAX).then_some(reading);
    }
    reading(account::uuid_of(ordinal)?, total)
}

/// Total and free under a limit. What others than the group hold is only seen on a card that is
/// smaller than the limit.
fn limited(reading: (u64, u64), total: u64, free: u64) -> (u64, u64) {
    let (limit, used) = reading;
    (total.min(limit), free.min(limit.saturating_sub(used)))
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

pub(crate) unsafe fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMemGetInfo_v2(free, total) };
    if status != status::SUCCESS || free.is_null() || total.is_null() {
        return status;
    }
    // SAFETY: not null, and the driver has written both.
    let (all, left) = unsafe { (account::bytes(written(total)), account::bytes(written(free))) };
    if let Some(reading) = account::current_device().and_then(|device| reading_of(device, all)) {
        let (all, left) = limited(reading, all, left);
        // SAFETY: not null, and the driver has written both.
        unsafe {
            total.write_unaligned(size(all));
            free.write_unaligned(size(left));
        }
    }
    status
}

pub(crate) unsafe fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuDeviceTotalMem_v2(bytes, device) };
    if status != status::SUCCESS || bytes.is_null() {
        return status;
    }
    // SAFETY: not null, and the driver has written it.
    let total = unsafe { written(bytes) };
    if let Some((limit, _)) = reading_of(device, account::bytes(total)) {
        // SAFETY: as above.
        unsafe { bytes.write_unaligned(total.min(size(limit))) };
    }
    status
}

/// Writes the name from the settings over the real one.
///
/// # Safety
/// `name` has room for `len` bytes when the call has succeeded.
unsafe fn rename(status: Status, name: *mut c_char, len: usize) {
    let Some(settings) = settings::get() else { return };
    let own = settings.device_name.as_bytes();
    if status != status::SUCCESS || own.is_empty() || name.is_null() || len == 0 {
        return;
    }
    let count = own.len().min(len - 1);
    // SAFETY: `count` bytes and a zero fit.
    unsafe {
        core::ptr::copy_nonoverlapping(own.as_ptr(), name.cast(), count);
        name.add(count).write(0);
    }
}

pub(crate) unsafe fn cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        let status = real::cuDeviceGetName(name, len, device);
        rename(status, name, usize::try_from(len).unwrap_or(0));
        status
    }
}

pub(crate) unsafe fn nvmlDeviceGetName(device: usize, name: *mut c_char, len: c_uint) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        let status = real::nvmlDeviceGetName(device, name, len);
        rename(status, name, usize::try_from(len).unwrap_or(0));
        status
    }
}

/// The reading of a GPU by its NVML handle: by UUID, because NVML counts GPUs in its own way.
fn nvml_reading(device: usize, total: u64) -> Option<(u64, u64)> {
    let mut text = [0_u8; 96];
    // SAFETY: the pointer is to as many bytes as are said.
    let status = unsafe { others::nvmlDeviceGetUUID(device, text.as_mut_ptr().cast(), 96) };
    if status != status::SUCCESS {
        return None;
    }
    reading(parse_uuid(&text)?, total)
}

/// `GPU-…` or `MIG-…` and 32 hexadecimal digits with dashes.
fn parse_uuid(text: &[u8]) -> Option<Uuid> {
    let digits = text.strip_prefix(b"GPU-").or_else(|| text.strip_prefix(b"MIG-"))?;
    let mut uuid = [0_u8; 16];
    let mut digits = digits.iter().take_while(|byte| **byte != 0).filter(|byte| **byte != b'-');
    for place in &mut uuid {
        for _ in 0..2 {
            let digit = char::from(*digits.next()?).to_digit(16)?;
            *place = *place << 4 | u8::try_from(digit).ok()?;
        }
    }
    digits.next().is_none().then_some(uuid)
}

pub(crate) unsafe fn nvmlDeviceGetMemoryInfo(device: usize, memory: *mut NvmlMemory) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::nvmlDeviceGetMemoryInfo(device, memory) };
    if status != status::SUCCESS || memory.is_null() {
        return status;
    }
    // SAFETY: not null, and NVML has written it.
    let was = unsafe { written(memory) };
    if let Some(reading) = nvml_reading(device, was.total)
        && reading.0 < was.total
    {
        let (total, free) = limited(reading, was.total, was.free);
        let shown = NvmlMemory { total, free, used: reading.1.min(total) };
        // SAFETY: as above.
        unsafe { memory.write_unaligned(shown) };
    }
    status
}

pub(crate) unsafe fn nvmlDeviceGetMemoryInfo_v2(
    device: usize,
    memory: *mut NvmlMemoryV2,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::nvmlDeviceGetMemoryInfo_v2(device, memory) };
    if status != status::SUCCESS || memory.is_null() {
        return status;
    }
    // SAFETY: not null, and NVML has written it.
    let was = unsafe { written(memory) };
    if let Some(reading) = nvml_reading(device, was.total)
        && reading.0 < was.total
    {
        let (total, free) = limited(reading, was.total, was.free);
        let used = reading.1.min(total);
        let shown = NvmlMemoryV2 { total, free, used, reserved: 0, ..was };
        // SAFETY: as above.
        unsafe { memory.write_unaligned(shown) };
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_size_of_the_card() {
        assert_eq!(limited((100, 30), 1000, 900), (100, 70));
        assert_eq!(limited((100, 30), 1000, 50), (100, 50));
        assert_eq!(limited((100, 130), 1000, 900), (100, 0));
        assert_eq!(limited((5000, 30), 1000, 900), (1000, 900));
    }

    #[test]
    fn uuids_of_nvml() {
        let text = b"GPU-00112233-4455-6677-8899-aabbccddeeff\0rest";
        let uuid = parse_uuid(text).unwrap_or_default();
        assert_eq!((uuid[0], uuid[1], uuid[15]), (0, 0x11, 0xff));
        assert_eq!(parse_uuid(b"GPU-0011\0"), None);
        assert_eq!(parse_uuid(b"xyz"), None);
    }
}
