//! Pitched and managed memory.

use crate::alone::alone;
use crate::extra::{Extra, need};
use crate::support::{Gpu, MIB, invalid, is_soft, observe, observe_text, skip};
use millpond_cuda::sys::{Status, constants};
use millpond_cuda::{Stream, result};

/// What a card's kernel driver takes when the first pages of managed memory come to it: 126 MiB on
/// an H200, nobody's, and kept while any process uses the card.
fn kept() -> u64 {
    if is_soft() { 0 } else { 192 * MIB }
}

#[test]
fn rows_of_pitched_memory_are_apart() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    for (width, height) in [(1, 1), (513, 7), (100_000, 40)] {
        let (address, pitch) = result::linear::alloc_pitch(table, width, height, 4).unwrap();
        observe_text(&format!("pitch of rows of {width} bytes"), pitch);
        assert!(pitch >= width && pitch.is_multiple_of(256) && address.is_multiple_of(256));
        let bytes = pitch * (height - 1) + width;
        let mut last = [0_u8];
        // SAFETY: the range lies inside what was allocated, which is freed once.
        unsafe {
            result::copy::fill_u8(table, address, 6, bytes).unwrap();
            let end = address + u64::try_from(bytes).unwrap() - 1;
            result::copy::device_to_host(table, last.as_mut_ptr().cast(), end, 1).unwrap();
            result::linear::free(table, address).unwrap();
        }
        assert_eq!(last, [6]);
    }
}

#[test]
fn pitched_memory_is_counted() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let before = gpu.free_bytes();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let (address, pitch) = result::linear::alloc_pitch(table, 65_536, 1024, 16).unwrap();
    gpu.assert_taken(before, pitch as u64 * 1024);
    // SAFETY: allocated above, and no work uses it.
    unsafe { result::linear::free(table, address) }.unwrap();
    gpu.assert_freed(before);
}

#[test]
fn pitched_memory_that_cannot_be() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    for (what, width, height, element) in [
        ("elements of 3 bytes", 64, 64, 3),
        ("no rows", 64, 0, 4),
        ("empty rows", 0, 64, 4),
        ("rows longer than the largest pitch", 1 << 32, 1, 4),
    ] {
        let answer = result::linear::alloc_pitch(table, width, height, element);
        observe(&format!("pitched memory with {what}"), &answer);
        if let Ok((address, _)) = answer {
            // SAFETY: just allocated; null where there was nothing to allocate.
            unsafe { result::linear::free(table, address) }.unwrap();
        }
    }
    let rows = usize::try_from(gpu.device.total_bytes() / MIB).unwrap();
    let error = result::linear::alloc_pitch(table, 2 << 20, rows, 4).unwrap_err();
    assert!(error.is_out_of_memory(), "{error}");
}

#[test]
fn managed_memory_is_seen_by_host_and_device() {
    alone!(keeps: kept());
    let gpu = Gpu::take();
    let context = gpu.context();
    let before = gpu.free_bytes();
    let stream = Stream::new(&context).unwrap();
    let copy = gpu.memory(gpu.unit());
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let address = result::linear::alloc_managed(table, 64 << 20, constants::ATTACH_GLOBAL).unwrap();
    if is_soft() {
        gpu.assert_taken(before, 64 * MIB);
    }
    let host = std::ptr::with_exposed_provenance_mut::<u8>(usize::try_from(address).unwrap());
    let mut managed = 0_u32;
    let data = (&raw mut managed).cast();
    // SAFETY: the host may touch managed memory while no work uses it; ranges are inside.
    unsafe {
        host.write_volatile(41);
        result::copy::device_to_device_async(table, copy.pointer().0, address, 1, stream.raw())
            .unwrap();
        result::copy::fill_u8_async(table, address, 42, 4096, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(host.add(4095).read_volatile(), 42);
        let is_managed = 8;
        assert!((table.cuPointerGetAttribute)(data, is_managed, address).is_success());
    }
    let mut seen = [0_u8];
    copy.copy_to_host(0, &mut seen).unwrap();
    assert_eq!((seen, managed), ([41], 1));
    // SAFETY: no work uses it any more.
    unsafe { result::linear::free(table, address) }.unwrap();
    gpu.assert_freed(before.saturating_sub(kept()));
    observe_text("bytes kept after managed memory", before.saturating_sub(gpu.free_bytes()));
}

#[test]
fn managed_memory_that_cannot_be() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    invalid("no flags", result::linear::alloc_managed(table, 4096, 0));
    invalid("unknown flags", result::linear::alloc_managed(table, 4096, 64));
    invalid("nothing", result::linear::alloc_managed(table, 0, constants::ATTACH_GLOBAL));
}

#[test]
fn advice_is_taken_for_managed_memory_only() {
    alone!(keeps: kept());
    let gpu = Gpu::take();
    let context = gpu.context();
    let extra = Extra::find();
    let (Some(advise), Some(prefetch)) = (extra.cuMemAdvise_v2, extra.cuMemPrefetchAsync_v2) else {
        skip("cuMemAdvise_v2, cuMemPrefetchAsync_v2: this driver is older than CUDA 12.2");
        return;
    };
    let plain = gpu.memory(gpu.unit());
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let address = result::linear::alloc_managed(table, 1 << 20, constants::ATTACH_GLOBAL).unwrap();
    // A location in its eight bytes: a device, and its ordinal.
    let device = u64::from(constants::LOCATION_DEVICE);
    let device = device | (u64::from(gpu.device.ordinal().cast_unsigned()) << 32);
    let (prefer, null) = (3, std::ptr::null_mut());
    // SAFETY: the addresses are known to the driver or refused.
    unsafe {
        assert_eq!(advise(address, 1 << 20, prefer, device), Status::SUCCESS);
        assert_eq!(advise(address, 1 << 20, 99, device), Status::INVALID_VALUE);
        assert_eq!(prefetch(address, 1 << 20, device, 0, null), Status::SUCCESS);
        context.synchronize().unwrap();
        let other = prefetch(plain.pointer().0, 4096, device, 0, null);
        observe_text("prefetch of memory that is not managed", other);
        assert_ne!(other, Status::SUCCESS);
        result::linear::free(table, address).unwrap();
    }
}

#[test]
fn a_range_of_managed_memory_tells_what_was_advised() {
    alone!(keeps: kept());
    let gpu = Gpu::take();
    let context = gpu.context();
    let extra = Extra::find();
    let advise = need!(extra, cuMemAdvise_v2);
    let ask = need!(extra, cuMemRangeGetAttribute);
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let (half, bytes) = (2 << 20, 4 << 20);
    let address = result::linear::alloc_managed(table, bytes, constants::ATTACH_GLOBAL).unwrap();
    let ordinal = gpu.device.ordinal();
    let device = u64::from(constants::LOCATION_DEVICE) | (u64::from(ordinal.cast_unsigned()) << 32);
    let (read_mostly, prefer, accessed_by) = (1, 3, 5);
    let told = |attribute: u32, count: usize| {
        let mut value = -77_i32;
        // SAFETY: every attribute that is asked for is one number.
        let answer = unsafe { ask((&raw mut value).cast(), 4, attribute, address, count) };
        assert_eq!(answer, Status::SUCCESS);
        value
    };
    let (no_device, asked_read_mostly, asked_preferred, asked_accessed) = (-2, 1, 2, 3);
    assert_eq!((told(asked_read_mostly, bytes), told(asked_preferred, bytes)), (0, no_device));
    // SAFETY: the ranges are managed memory of this process.
    unsafe {
        assert_eq!(advise(address, half, read_mostly, device), Status::SUCCESS);
        assert_eq!(advise(address, bytes, prefer, device), Status::SUCCESS);
        assert_eq!(advise(address, bytes, accessed_by, device), Status::SUCCESS);
    }
    assert_eq!((told(asked_read_mostly, half), told(asked_read_mostly, bytes)), (1, 0));
    assert_eq!((told(asked_preferred, bytes), told(asked_accessed, bytes)), (ordinal, ordinal));
    // SAFETY: no work uses it.
    unsafe { result::linear::free(table, address) }.unwrap();
}
