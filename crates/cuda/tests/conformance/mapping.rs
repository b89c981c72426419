//! Address ranges, mappings, access rights.

use crate::support::{Gpu, invalid, observe, observe_text, pattern, read, status};
use millpond_cuda::sys::Status;
use millpond_cuda::{Access, AddressRange, DevicePtr, Mapping, result};

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap()
}

#[test]
fn ranges_are_reserved_as_asked() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let first = gpu.reserve(4 * unit);
    assert_ne!(first.start(), DevicePtr(0));
    assert_eq!(first.start().0 % unit, 0);
    let aligned = AddressRange::reserve_at(&gpu.driver, unit, 64 * unit, DevicePtr(0)).unwrap();
    assert_eq!(aligned.start().0 % (64 * unit), 0);
    let place = first.start();
    drop(first);
    let again = AddressRange::reserve_at(&gpu.driver, 4 * unit, 0, place).unwrap();
    observe_text(
        "cuMemAddressReserve gives a free address that was wished for",
        again.start() == place,
    );
    let taken = AddressRange::reserve_at(&gpu.driver, 4 * unit, 0, again.start()).unwrap();
    assert_ne!(taken.start(), again.start(), "a wish for taken addresses is answered elsewhere");
    for bytes in [0, 1, unit / 2 + 1] {
        let result = AddressRange::reserve(&gpu.driver, bytes);
        assert_eq!(status(result), Status::INVALID_VALUE, "{bytes} bytes");
    }
    invalid(
        "cuMemAddressReserve with an alignment of 3",
        AddressRange::reserve_at(&gpu.driver, unit, 3, DevicePtr(0)),
    );
}

#[test]
fn a_range_much_larger_than_the_card_costs_nothing() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let unit = gpu.unit();
    let bytes = (2 * gpu.device.total_bytes()).next_multiple_of(unit);
    let range = gpu.reserve(bytes);
    let last = gpu.create(unit);
    let mapping =
        Mapping::map(&gpu.context(), &range, bytes - unit, &last, Access::ReadWrite).unwrap();
    gpu.assert_taken(before, unit);
    mapping.copy_from_host(unit - 4, b"last").unwrap();
    mapping.unmap().unwrap();
}

#[test]
fn freeing_addresses_is_checked() {
    let gpu = Gpu::take();
    let (table, unit) = (gpu.driver.table(), size(gpu.unit()));
    let address = result::mem::reserve(table, 2 * unit, 0, 0).unwrap();
    // SAFETY: nothing is mapped in the range; it is freed wrongly, rightly, and once too often.
    unsafe {
        invalid("cuMemAddressFree of half a range", result::mem::free(table, address, unit));
        result::mem::free(table, address, 2 * unit).unwrap();
        invalid("cuMemAddressFree twice", result::mem::free(table, address, 2 * unit));
    }
}

#[test]
fn what_is_written_is_read() {
    let gpu = Gpu::take();
    let memory = gpu.memory(2 * gpu.unit());
    let bytes = pattern(memory.bytes(), 1);
    memory.copy_from_host(0, &bytes).unwrap();
    assert_eq!(read(&memory), bytes);
    memory.copy_from_host(12_345, b"in the middle").unwrap();
    let mut part = [0; 13];
    memory.copy_to_host(12_345, &mut part).unwrap();
    assert_eq!(&part, b"in the middle");
    memory.memset(100, 50, 7).unwrap();
    let all = read(&memory);
    assert_eq!((all[99], all[150]), (bytes[99], bytes[150]));
    assert!(all[100..150].iter().all(|byte| *byte == 7));
}

/// `cuMemcpyHtoD` from pageable memory returns before the card has written, so a copy that does
/// not wait would write to addresses that are gone.
#[test]
fn a_copy_is_over_when_it_returns() {
    let gpu = Gpu::take();
    let allocation = gpu.create(gpu.unit());
    let bytes = pattern(gpu.unit(), 9);
    for round in 0..30 {
        for len in [10, 4096, 64 << 10, bytes.len()] {
            let mapping = gpu.map(&allocation, Access::ReadWrite);
            mapping.copy_from_host(0, &bytes[..len]).unwrap();
            mapping.unmap().unwrap();
            assert_eq!(gpu.context().synchronize(), Ok(()), "round {round}, {len} bytes");
            let mapping = gpu.map(&allocation, Access::ReadWrite);
            mapping.memset(0, len as u64, 1).unwrap();
            mapping.unmap().unwrap();
            assert_eq!(gpu.context().synchronize(), Ok(()), "round {round}, {len} bytes");
        }
    }
}

#[test]
fn checked_copies_stay_inside() {
    let gpu = Gpu::take();
    let memory = gpu.memory(gpu.unit());
    let end = memory.bytes();
    for (offset, bytes) in [(end, 1), (end - 1, 2), (u64::MAX, 1), (0, end + 1)] {
        assert_eq!(status(memory.memset(offset, bytes, 0)), Status::INVALID_VALUE);
    }
    assert_eq!(status(memory.copy_from_host(end - 3, b"four")), Status::INVALID_VALUE);
    assert_eq!(status(memory.copy_to_host(end - 3, &mut [0; 4])), Status::INVALID_VALUE);
    memory.copy_from_host(end, b"").unwrap();
}

#[test]
fn a_handle_is_mapped_whole_or_not_at_all() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let allocation = gpu.create(2 * unit);
    let range = gpu.reserve(4 * unit);
    let (table, start) = (gpu.driver.table(), range.start().0);
    // SAFETY: the range is ours and the handle is alive; refused maps map nothing.
    unsafe {
        let part = result::mem::map(table, start, size(unit), 0, allocation.raw());
        assert_eq!(status(part), Status::NOT_SUPPORTED, "smaller");
        let rest = result::mem::map(table, start, size(unit), size(unit), allocation.raw());
        assert_eq!(status(rest), Status::NOT_SUPPORTED, "with an offset");
        let more = result::mem::map(table, start, size(3 * unit), 0, allocation.raw());
        assert_eq!(status(more), Status::NOT_SUPPORTED, "larger");
        let odd = result::mem::map(table, start + 4096, size(2 * unit), 0, allocation.raw());
        invalid("cuMemMap at an odd address", odd);
    }
    let mapping = Mapping::map(&gpu.context(), &range, 0, &allocation, Access::ReadWrite).unwrap();
    mapping.copy_from_host(0, b"whole").unwrap();
}

#[test]
fn occupied_addresses_are_refused() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let (first, second) = (gpu.create(2 * unit), gpu.create(2 * unit));
    let range = gpu.reserve(4 * unit);
    let context = gpu.context();
    let mapping = Mapping::map(&context, &range, 0, &first, Access::ReadWrite).unwrap();
    mapping.copy_from_host(0, b"first").unwrap();
    let same = Mapping::map(&context, &range, 0, &second, Access::ReadWrite);
    invalid("cuMemMap over a mapping", same);
    let across = Mapping::map(&context, &range, unit, &second, Access::ReadWrite);
    invalid("cuMemMap across the end of a mapping", across);
    let mut bytes = [0; 5];
    mapping.copy_to_host(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"first");
}

#[test]
fn access_needs_a_mapping() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let range = gpu.reserve(unit);
    let (table, start) = (gpu.driver.table(), range.start().0);
    let ordinal = gpu.device.ordinal();
    // SAFETY: the range is ours and nothing uses it.
    let result = unsafe { result::mem::set_access(table, start, size(unit), ordinal, true) };
    invalid("cuMemSetAccess where nothing is mapped", result);
    let access = result::mem::access(table, start, ordinal);
    invalid("cuMemGetAccess where nothing is mapped", access);
}

#[test]
fn access_can_be_changed() {
    let gpu = Gpu::take();
    let memory = gpu.memory(gpu.unit());
    assert_eq!(memory.access(), Ok(Some(Access::ReadWrite)));
    memory.copy_from_host(0, b"one").unwrap();
    memory.set_access(Access::ReadOnly).unwrap();
    assert_eq!(memory.access(), Ok(Some(Access::ReadOnly)));
    invalid("cuMemcpyHtoD into a read-only mapping", memory.copy_from_host(0, b"two"));
    let mut bytes = [0; 3];
    memory.copy_to_host(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"one");
    memory.set_access(Access::ReadWrite).unwrap();
    memory.copy_from_host(0, b"two").unwrap();
}

#[test]
fn only_whole_mappings_are_unmapped() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let memory = gpu.memory(2 * unit);
    memory.copy_from_host(0, b"whole").unwrap();
    let (table, start) = (gpu.driver.table(), memory.pointer().0);
    // SAFETY: the mapping is ours and nothing uses it; a refused unmap unmaps nothing.
    unsafe {
        invalid("cuMemUnmap of half a mapping", result::mem::unmap(table, start, size(unit)));
    }
    let mut bytes = [0; 5];
    memory.copy_to_host(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"whole");
    let range = gpu.reserve(unit);
    // SAFETY: the range is ours and nothing is mapped in it.
    let nothing = unsafe { result::mem::unmap(table, range.start().0, size(unit)) };
    observe("cuMemUnmap where nothing is mapped", &nothing);
}

#[test]
fn one_allocation_at_two_addresses_is_one_memory() {
    let gpu = Gpu::take();
    let allocation = gpu.create(gpu.unit());
    let writer = gpu.map(&allocation, Access::ReadWrite);
    let reader = gpu.map(&allocation, Access::ReadOnly);
    assert_ne!(writer.pointer(), reader.pointer());
    let bytes = pattern(writer.bytes(), 2);
    writer.copy_from_host(0, &bytes).unwrap();
    assert_eq!(read(&reader), bytes);
    writer.unmap().unwrap();
    assert_eq!(read(&reader), bytes);
}

#[test]
fn memory_moves_between_addresses() {
    let gpu = Gpu::take();
    let allocation = gpu.create(gpu.unit());
    let first = gpu.map(&allocation, Access::ReadWrite);
    let bytes = pattern(first.bytes(), 3);
    first.copy_from_host(0, &bytes).unwrap();
    first.unmap().unwrap();
    let second = gpu.map(&allocation, Access::ReadWrite);
    assert_eq!(read(&second), bytes);
}

#[test]
fn allocations_side_by_side_are_one_mapping() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let all = [gpu.create(unit), gpu.create(2 * unit), gpu.create(unit)];
    let range = gpu.reserve(6 * unit);
    let parts: Vec<_> = all.iter().collect();
    let context = gpu.context();
    let span = Mapping::map_all(&context, &range, unit, &parts, Access::ReadWrite).unwrap();
    assert_eq!(span.bytes(), 4 * unit);
    let bytes = pattern(span.bytes(), 4);
    span.copy_from_host(0, &bytes).unwrap();
    assert_eq!(read(&span), bytes);
    span.unmap().unwrap();
    let middle = gpu.map(&all[1], Access::ReadOnly);
    assert_eq!(read(&middle), bytes[size(unit)..size(3 * unit)]);
    // What was unmapped by one call is free again.
    let again = Mapping::map_all(&context, &range, unit, &parts, Access::ReadOnly).unwrap();
    assert_eq!(read(&again), bytes);
}

#[test]
fn a_failed_span_leaves_nothing_mapped() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let (first, second, blocker) = (gpu.create(unit), gpu.create(unit), gpu.create(unit));
    let range = gpu.reserve(2 * unit);
    let context = gpu.context();
    let wall = Mapping::map(&context, &range, unit, &blocker, Access::ReadWrite).unwrap();
    let span = Mapping::map_all(&context, &range, 0, &[&first, &second], Access::ReadWrite);
    status(span);
    let alone = Mapping::map(&context, &range, 0, &first, Access::ReadWrite).unwrap();
    drop((wall, alone));
}

#[test]
fn mapping_outside_of_the_range_is_refused() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let allocation = gpu.create(2 * unit);
    let range = gpu.reserve(2 * unit);
    for offset in [unit, 2 * unit, u64::MAX] {
        let result = Mapping::map(&gpu.context(), &range, offset, &allocation, Access::ReadWrite);
        assert_eq!(status(result), Status::INVALID_VALUE);
    }
    let nothing = Mapping::map_all(&gpu.context(), &range, 0, &[], Access::ReadWrite);
    assert_eq!(status(nothing), Status::INVALID_VALUE);
}
