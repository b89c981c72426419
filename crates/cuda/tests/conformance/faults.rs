//! Uses that lose a context or are plainly wrong, each in a process of its own.

use crate::child::{Child, Peer, import};
use crate::support::{Gpu, invalid, observe_text, read, status};
use millpond_cuda::sys::Status;
use millpond_cuda::{Access, CudaError, Mapping, Stream, result};
use std::os::fd::AsFd;
use std::time::Duration;

fn name(result: &Result<(), CudaError>) -> Status {
    result.as_ref().map_or_else(|error| error.status, |()| Status::SUCCESS)
}

/// Runs a role that ends by itself and returns what it reports. Its memory moves the readings of
/// other tests, so they wait.
fn report(_gpu: &Gpu, role: &str) -> String {
    let child = Child::spawn(role);
    let (text, _) = child.peer.receive();
    child.finish();
    text
}

#[test]
fn a_kernel_writing_to_a_read_only_mapping_loses_its_context_only() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let allocation = gpu.create(unit);
    let mapping = gpu.map(&allocation, Access::ReadWrite);
    mapping.memset(0, unit, 3).unwrap();
    let fd = allocation.export().unwrap();
    let child = Child::spawn("write_read_only");
    child.peer.send_with("here", &[fd.as_fd()]);
    let lost = Status::ILLEGAL_ADDRESS;
    child.peer.expect(&format!("kernel {lost}, then {lost}"));
    child.finish();
    assert!(read(&mapping).iter().all(|byte| *byte == 3), "nothing was written");
}

pub fn write_read_only(peer: &Peer) {
    let gpu = Gpu::take();
    let fd = peer.expect_fd("here");
    let unit = gpu.unit();
    let target = gpu.map(&import(&gpu, &fd, unit), Access::ReadOnly);
    let source = gpu.memory(unit);
    let stream = Stream::new(&gpu.context()).unwrap();
    let kernel = gpu.kernel();
    // Reading it is fine.
    kernel.touch(&stream, &target, &source, Duration::ZERO).unwrap();
    stream.synchronize().unwrap();
    kernel.touch(&stream, &source, &target, Duration::ZERO).unwrap();
    let error = stream.synchronize().unwrap_err();
    assert!(error.is_sticky());
    let later = status(gpu.context().synchronize());
    peer.send(&format!("kernel {}, then {later}", error.status));
}

#[test]
fn a_kernel_reading_unmapped_addresses_loses_its_context() {
    let lost = Status::ILLEGAL_ADDRESS;
    assert_eq!(report(&Gpu::take(), "read_unmapped"), format!("kernel {lost}, then {lost}"));
}

pub fn read_unmapped(peer: &Peer) {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let source = gpu.memory(unit);
    let target = gpu.memory(unit);
    let (address, kernel) = (source.pointer(), gpu.kernel());
    let range = source.range().clone();
    let stream = Stream::new(&gpu.context()).unwrap();
    kernel.touch(&stream, &source, &target, Duration::ZERO).unwrap();
    stream.synchronize().unwrap();
    source.unmap().unwrap();
    // SAFETY: the target is mapped; that the source is not is what is tested.
    unsafe { kernel.launch(&stream, address, unit, target.pointer(), unit, Duration::ZERO) }
        .unwrap();
    let error = stream.synchronize().unwrap_err();
    let later = status(gpu.context().memory_info());
    peer.send(&format!("kernel {}, then {later}", error.status));
    drop(range);
}

/// The driver neither waits nor refuses: the kernel faults. The process that did it must not harm
/// another one, and its memory must come back.
#[test]
fn unmapping_under_a_running_kernel_loses_its_context() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    assert_eq!(
        report(&gpu, "unmap_under_kernel"),
        format!("unmap {} (at once), kernel {}", Status::SUCCESS, Status::ILLEGAL_ADDRESS)
    );
    gpu.assert_freed(before);
    assert!(read(&gpu.memory(gpu.unit())).iter().all(|byte| *byte == 0));
}

pub fn unmap_under_kernel(peer: &Peer) {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let (source, target) = (gpu.memory(unit), gpu.memory(unit));
    let kernel = gpu.kernel();
    let stream = Stream::new(&gpu.context()).unwrap();
    kernel.touch(&stream, &source, &target, Duration::from_millis(300)).unwrap();
    let start = std::time::Instant::now();
    let unmap = source.unmap();
    let took = start.elapsed();
    let end = stream.synchronize();
    let waited = if took > Duration::from_millis(200) { "waited" } else { "at once" };
    peer.send(&format!("unmap {} ({waited}), kernel {}", name(&unmap), name(&end)));
}

/// The call returns before the card has written. It is a race (an H200 lost it within 11 rounds in
/// four tries of four), so nothing is asserted. `Mapping::copy_from_host` waits, as tested elsewhere.
#[test]
fn unmapping_right_after_a_raw_copy() {
    observe_text("cuMemUnmap right after cuMemcpyHtoD", report(&Gpu::take(), "unmap_after_copy"));
}

pub fn unmap_after_copy(peer: &Peer) {
    const ROUNDS: u32 = 100;
    let gpu = Gpu::take();
    let (context, allocation) = (gpu.context(), gpu.create(gpu.unit()));
    let bytes = vec![1_u8; 1 << 20];
    let _bound = context.bind().unwrap();
    let (table, from) = (gpu.driver.table(), bytes.as_ptr().cast());
    for round in 1..=ROUNDS {
        let memory = gpu.map(&allocation, Access::ReadWrite);
        let to = memory.pointer().0;
        // SAFETY: both ends have that many bytes; that nobody waits is what is tested.
        unsafe { result::copy::host_to_device(table, to, from, bytes.len()) }.unwrap();
        memory.unmap().unwrap();
        if let Err(error) = context.synchronize() {
            peer.send(&format!("{} in round {round}", error.status));
            return;
        }
    }
    peer.send(&format!("context kept in {ROUNDS} rounds"));
}

#[test]
fn copying_from_unmapped_addresses_fails() {
    assert_eq!(
        report(&Gpu::take(), "copy_unmapped"),
        format!("{}, context kept", Status::INVALID_VALUE)
    );
}

pub fn copy_unmapped(peer: &Peer) {
    let gpu = Gpu::take();
    let range = gpu.reserve(gpu.unit());
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let mut bytes = [0_u8; 64];
    let host = bytes.as_mut_ptr().cast();
    // SAFETY: the target is an array of that size; that the source is unmapped is what is tested.
    let copy =
        unsafe { result::copy::device_to_host(gpu.driver.table(), host, range.start().0, 64) };
    let code = status(copy);
    let lost = context.synchronize().is_err();
    peer.send(&format!("{code}, context {}", if lost { "lost" } else { "kept" }));
}

#[test]
fn copying_without_access_rights_fails() {
    assert_eq!(
        report(&Gpu::take(), "copy_without_access"),
        format!("{}, context kept", Status::INVALID_VALUE)
    );
}

pub fn copy_without_access(peer: &Peer) {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let allocation = gpu.create(unit);
    let range = gpu.reserve(unit);
    let (table, start) = (gpu.driver.table(), range.start().0);
    let size = usize::try_from(unit).unwrap();
    // SAFETY: the range is ours and the handle is alive.
    unsafe { result::mem::map(table, start, size, 0, allocation.raw()) }.unwrap();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let mut bytes = [0_u8; 64];
    let host = bytes.as_mut_ptr().cast();
    // SAFETY: the target is an array of that size; the missing right is what is tested.
    let code = status(unsafe { result::copy::device_to_host(table, host, start, 64) });
    let lost = context.synchronize().is_err();
    // SAFETY: the mapping is ours and unused.
    unsafe { result::mem::unmap(table, start, size) }.unwrap();
    peer.send(&format!("{code}, context {}", if lost { "lost" } else { "kept" }));
}

#[test]
fn releasing_a_handle_twice_fails() {
    assert_eq!(report(&Gpu::take(), "release_twice"), Status::INVALID_VALUE.to_string());
}

pub fn release_twice(peer: &Peer) {
    let gpu = Gpu::take();
    let allocation = gpu.create(gpu.unit());
    let (table, handle) = (gpu.driver.table(), allocation.raw());
    allocation.release().unwrap();
    // SAFETY: a stale handle is what is tested; nothing else in this process uses handles.
    let code = status(unsafe { result::mem::release(table, handle) });
    peer.send(&code.to_string());
}

#[test]
fn freeing_addresses_under_a_mapping_fails() {
    assert_eq!(report(&Gpu::take(), "free_while_mapped"), Status::INVALID_VALUE.to_string());
}

pub fn free_while_mapped(peer: &Peer) {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let size = usize::try_from(unit).unwrap();
    let allocation = gpu.create(unit);
    let table = gpu.driver.table();
    let start = result::mem::reserve(table, size, 0, 0).unwrap();
    // SAFETY: the range is ours and the handle is alive; freeing it early is what is tested.
    let code = unsafe {
        result::mem::map(table, start, size, 0, allocation.raw()).unwrap();
        status(result::mem::free(table, start, size))
    };
    peer.send(&code.to_string());
}

/// The card maps across the border of two reservations, or past the last one; so the safe layer
/// checks. In a process of its own, because what lies behind is anybody's.
#[test]
fn mapping_across_the_end_of_a_range() {
    observe_text("cuMemMap across the end of a range", report(&Gpu::take(), "map_across_the_end"));
}

pub fn map_across_the_end(peer: &Peer) {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let size = usize::try_from(2 * unit).unwrap();
    let (range, allocation) = (gpu.reserve(4 * unit), gpu.create(2 * unit));
    let start = range.start().0 + 3 * unit;
    // SAFETY: nothing else in this process uses device addresses.
    let result = unsafe { result::mem::map(gpu.driver.table(), start, size, 0, allocation.raw()) };
    peer.send(&name(&result).to_string());
}

#[test]
fn a_mapping_of_another_process_is_not_touched_by_ours() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let mapping = gpu.memory(unit);
    mapping.memset(0, unit, 1).unwrap();
    let lost = Status::ILLEGAL_ADDRESS;
    assert_eq!(report(&gpu, "read_unmapped"), format!("kernel {lost}, then {lost}"));
    assert!(read(&mapping).iter().all(|byte| *byte == 1));
    let range = gpu.reserve(unit);
    let other = gpu.create(unit);
    let context = gpu.context();
    let second = Mapping::map(&context, &range, 0, &other, Access::ReadWrite).unwrap();
    second.copy_from_host(0, b"still well").unwrap();
    let twice = Mapping::map(&context, &range, 0, &other, Access::ReadWrite);
    invalid("cuMemMap of the same handle twice at one address", twice);
}
