//! Addresses that stay while the memory under them comes and goes.

use crate::support::{Gpu, invalid, observe, pattern, refused, status};
use millpond_cuda::{Access, Allocation, MappedRange, Stream};
use std::sync::Barrier;
use std::time::Duration;

fn pages(gpu: &Gpu, count: usize) -> Vec<Allocation> {
    (0..count).map(|_| Allocation::create_private(&gpu.device, gpu.unit()).unwrap()).collect()
}

#[test]
fn memory_comes_and_goes_under_one_address() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let before = gpu.free_bytes();
    let range = MappedRange::reserve(&gpu.context(), 64 * unit, 8 * unit).unwrap();
    let start = range.pointer();
    assert_eq!((start.0 % (8 * unit), range.bytes(), range.mapped_bytes()), (0, 64 * unit, 0));
    for round in 0..3_u64 {
        let all = pages(&gpu, 4);
        range.map(8 * unit, &all.iter().collect::<Vec<_>>(), Access::ReadWrite).unwrap();
        drop(all);
        gpu.assert_taken(before, 4 * unit);
        let bytes = pattern(4 * unit, round);
        range.copy_from_host(8 * unit, &bytes).unwrap();
        let mut back = vec![0; bytes.len()];
        range.copy_to_host(8 * unit, &mut back).unwrap();
        assert!(back == bytes, "round {round}");
        // Two runs, one call each, cut between allocations.
        range.unmap(8 * unit, unit).unwrap();
        range.unmap(9 * unit, 3 * unit).unwrap();
        gpu.assert_freed(before);
    }
    assert_eq!(range.pointer(), start);
}

#[test]
fn a_span_of_a_range_is_filled_and_read_in_any_part() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let range = MappedRange::reserve(&gpu.context(), 4 * unit, 0).unwrap();
    let all = pages(&gpu, 2);
    range.map(0, &[&all[0]], Access::ReadWrite).unwrap();
    range.map(unit, &[&all[1]], Access::ReadWrite).unwrap();
    range.memset(unit - 8, 16, 7).unwrap();
    let mut back = [0; 18];
    range.copy_to_host(unit - 9, &mut back).unwrap();
    assert_eq!(back[1..17], [7; 16]);
    for (offset, bytes) in [(2 * unit - 8, 9), (2 * unit, 1), (4 * unit, 1), (u64::MAX, 2)] {
        invalid("a part that is not mapped", range.at(offset, bytes));
    }
    invalid("a fill past the mapped part", range.memset(unit, unit + 1, 0));
}

#[test]
fn unmapping_takes_whole_allocations_only() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let range = MappedRange::reserve(&gpu.context(), 8 * unit, 0).unwrap();
    let large = Allocation::create_private(&gpu.device, 2 * unit).unwrap();
    let all = pages(&gpu, 2);
    range.map(unit, &[&large, &all[0]], Access::ReadWrite).unwrap();
    range.map(5 * unit, &[&all[1]], Access::ReadWrite).unwrap();
    range.copy_from_host(unit, b"kept").unwrap();
    let wrong = [(unit, unit), (2 * unit, unit), (0, 2 * unit), (unit, 5 * unit), (unit, 0)];
    for (offset, bytes) in wrong.into_iter().chain([(6 * unit, unit), (u64::MAX, unit)]) {
        invalid("a run that is not of whole allocations", range.unmap(offset, bytes));
    }
    let mut back = [0; 4];
    range.copy_to_host(unit, &mut back).unwrap();
    assert_eq!(&back, b"kept");
    range.unmap(unit, 3 * unit).unwrap();
    invalid("what was unmapped already", range.unmap(unit, 3 * unit));
    assert_eq!(range.mapped_bytes(), unit);
}

#[test]
fn a_map_that_fails_leaves_nothing() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let before = gpu.free_bytes();
    let range = MappedRange::reserve(&gpu.context(), 4 * unit, 0).unwrap();
    let all = pages(&gpu, 2);
    range.map(2 * unit, &[&all[0]], Access::ReadWrite).unwrap();
    let over = range.map(unit, &[&all[1], &all[1]], Access::ReadWrite);
    invalid("a map over what is mapped", over);
    for offset in [3 * unit, 4 * unit, u64::MAX] {
        let outside = range.map(offset, &[&all[1], &all[1]], Access::ReadWrite);
        invalid("a map outside of the range", outside);
    }
    invalid("a map of nothing", range.map(0, &[], Access::ReadWrite));
    // The second handle is smaller than it says: the driver finds that out after the first.
    let lies = {
        let fd = gpu.create(unit).export().unwrap();
        Allocation::import(&gpu.driver, std::os::fd::AsFd::as_fd(&fd), 4 * unit).unwrap()
    };
    let large = MappedRange::reserve(&gpu.context(), 8 * unit, 0).unwrap();
    let half = large.map(0, &[&all[1], &lies], Access::ReadWrite);
    observe("cuMemMap of more than a handle has", &half);
    status(half);
    assert_eq!(large.mapped_bytes(), 0);
    large.map(0, &[&all[1]], Access::ReadWrite).unwrap();
    drop((range, large, all, lies));
    gpu.assert_freed(before);
}

#[test]
fn dropping_a_range_unmaps_everything() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let before = gpu.free_bytes();
    let range = MappedRange::reserve(&gpu.context(), 8 * unit, 0).unwrap();
    let all = pages(&gpu, 3);
    range.map(0, &[&all[0], &all[1]], Access::ReadWrite).unwrap();
    range.map(5 * unit, &[&all[2]], Access::ReadOnly).unwrap();
    drop(all);
    gpu.assert_taken(before, 3 * unit);
    drop(range);
    gpu.assert_freed(before);
}

#[test]
fn private_memory_is_not_exported() {
    let gpu = Gpu::take();
    let page = Allocation::create_private(&gpu.device, gpu.unit()).unwrap();
    assert!(!page.info().unwrap().posix_fd);
    refused("cuMemExportToShareableHandle of memory without a handle type", page.export());
    page.release().unwrap();
}

#[test]
fn a_kernel_reads_what_lies_under_the_range_now() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let range = MappedRange::reserve(&gpu.context(), 4 * unit, 0).unwrap();
    let stream = Stream::new(&gpu.context()).unwrap();
    let kernel = gpu.kernel();
    for value in [1_u64, 2] {
        let all = pages(&gpu, 2);
        range.map(0, &all.iter().collect::<Vec<_>>(), Access::ReadWrite).unwrap();
        range.memset(0, 2 * unit, 0).unwrap();
        range.copy_from_host(unit, &value.to_le_bytes()).unwrap();
        kernel.touch_range(&stream, &range, unit..unit + 64, 8, Duration::from_millis(1)).unwrap();
        stream.synchronize().unwrap();
        let mut sum = [0; 8];
        range.copy_to_host(8, &mut sum).unwrap();
        assert_eq!(u64::from_le_bytes(sum), value);
        range.unmap(0, 2 * unit).unwrap();
    }
    invalid(
        "a kernel over what is not mapped",
        kernel.touch_range(&stream, &range, 0..8, 8, Duration::ZERO),
    );
}

#[test]
fn two_threads_cannot_unmap_one_span_twice() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let range = MappedRange::reserve(&gpu.context(), 8 * unit, 0).unwrap();
    let page = Allocation::create_private(&gpu.device, unit).unwrap();
    for _ in 0..40 {
        range.map(0, &[&page], Access::ReadWrite).unwrap();
        let barrier = Barrier::new(2);
        let race = || {
            barrier.wait();
            range.unmap(0, unit)
        };
        let answers = std::thread::scope(|scope| {
            let other = scope.spawn(race);
            [race(), other.join().unwrap()]
        });
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        assert_eq!(range.mapped_bytes(), 0);
    }
}
