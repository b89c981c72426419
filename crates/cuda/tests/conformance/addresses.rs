//! What an address is, and how the memory there is shared.

use crate::alone::alone;
use crate::child::{Child, Peer};
use crate::ipc::{from_text, to_text};
use crate::support::{Gpu, MIB, invalid, is_soft, observe, observe_text, status};
use millpond_cuda::sys::{Status, constants};
use millpond_cuda::{
    Access, Allocation, DeviceAttribute, DevicePtr, ForeignMemory, LinearMemory, Mapping,
    MemoryKind, MemoryPool, MemoryRange, OpenedMemory, PinnedBuffer, PoolMemory, SharedPool,
    Stream, result, share,
};
use std::os::fd::AsFd;

fn range(gpu: &Gpu, at: DevicePtr) -> MemoryRange {
    let range = MemoryRange::of(&gpu.driver, at).unwrap();
    assert_eq!(range.device, gpu.device.uuid());
    range
}

fn driver_says(gpu: &Gpu, at: DevicePtr) -> Result<(DevicePtr, u64), Status> {
    let found = result::pointer::address_range(gpu.driver.table(), at.0);
    found.map(|(base, bytes)| (DevicePtr(base), bytes as u64)).map_err(|error| error.status)
}

fn further(at: DevicePtr, bytes: u64) -> DevicePtr {
    at.checked_add(bytes).unwrap()
}

#[test]
fn memory_is_told_apart_by_its_address() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let linear = LinearMemory::alloc(&context, 3 * MIB).unwrap();
    let found = range(&gpu, further(linear.pointer(), 77));
    assert_eq!((found.kind, found.access), (MemoryKind::Linear, Some(Access::ReadWrite)));
    assert_eq!((found.base, found.bytes), (linear.pointer(), 3 * MIB));
    assert_eq!(driver_says(&gpu, further(linear.pointer(), 77)), Ok((found.base, found.bytes)));

    let stream = Stream::new(&context).unwrap();
    let shared = SharedPool::make(&context, 2 * MIB).unwrap();
    let private = MemoryPool::new(&gpu.device).unwrap();
    let ordinary = private.alloc(MIB, &stream).unwrap();
    stream.synchronize().unwrap();
    for (at, bytes) in [(shared.pointer(), 2 * MIB), (ordinary, MIB)] {
        let found = range(&gpu, further(at, 8));
        assert_eq!((found.kind, found.base, found.bytes), (MemoryKind::Pool, at, bytes));
        assert_eq!(driver_says(&gpu, at), Ok((at, bytes)));
    }
    // SAFETY: the memory is freed once, and nothing uses it.
    unsafe { result::pool::free_async(table, ordinary.0, stream.raw()) }.unwrap();

    let managed = result::linear::alloc_managed(table, 4 << 20, constants::ATTACH_GLOBAL).unwrap();
    assert_eq!(range(&gpu, DevicePtr(managed)).kind, MemoryKind::Managed);
    // SAFETY: as above.
    unsafe { result::linear::free(table, managed) }.unwrap();

    let pinned = PinnedBuffer::new(&context, 8192).unwrap();
    let at = DevicePtr(pinned.as_ptr().addr() as u64);
    let found = MemoryRange::of(&gpu.driver, at).unwrap();
    assert_eq!(found.kind, MemoryKind::Host);
    assert_eq!(driver_says(&gpu, further(at, 77)), Ok((at, 8192)));
    assert_eq!(driver_says(&gpu, further(at, 8192)), Err(Status::NOT_FOUND));
    let plain = vec![0_u8; 4096];
    let plain = DevicePtr(plain.as_ptr().addr() as u64);
    invalid("memory that the driver does not know", MemoryRange::of(&gpu.driver, plain));
    stream.synchronize().unwrap();
}

/// A card has told the handle, and in another case the whole reservation; when it does which is not
/// known.
#[test]
fn mapped_memory_is_told_by_its_handle_or_its_reservation() {
    let gpu = Gpu::take();
    let (context, unit) = (gpu.context(), gpu.unit());
    let _bound = context.bind().unwrap();
    let addresses = gpu.reserve(8 * unit);
    let first = gpu.create(unit);
    let second = gpu.create(2 * unit);
    let both = [&first, &second];
    let mapping = Mapping::map_all(&context, &addresses, unit, &both, Access::ReadWrite).unwrap();
    let private = Allocation::create_private(&gpu.device, unit).unwrap();
    let other = Mapping::map(&context, &addresses, 5 * unit, &private, Access::ReadOnly).unwrap();
    // The mapping keeps what it shows; the handles are not needed.
    drop((first, second, private));
    let second_at = further(mapping.pointer(), unit);
    let starts = [addresses.start(), mapping.pointer(), second_at, other.pointer()];
    let told = |what: &str, handle: DevicePtr, bytes: u64| {
        let at = further(handle, bytes - 8);
        let found = range(&gpu, at);
        let called = driver_says(&gpu, at).unwrap();
        for (asked, (base, size)) in
            [("attributes", (found.base, found.bytes)), ("cuMemGetAddressRange", called)]
        {
            let before = handle.0.checked_sub(base.0).unwrap();
            let what = format!("{what}, by {asked}");
            observe_text(&what, format!("{size} bytes, {before} before it"));
            assert!(starts.contains(&base) && at.0 - base.0 < size, "{what}");
            assert!((base, size) == (handle, bytes) || !is_soft(), "{what}");
        }
        found
    };
    let of_first = told("the first of two mapped handles", mapping.pointer(), unit);
    let exportable = MemoryKind::Virtual { exportable: true };
    assert_eq!((of_first.kind, of_first.access), (exportable, Some(Access::ReadWrite)));
    let of_second = told("the second of two mapped handles", second_at, 2 * unit);
    assert_eq!((of_second.kind, of_second.access), (exportable, Some(Access::ReadWrite)));
    let of_other = told("a handle mapped by itself", other.pointer(), unit);
    assert_eq!(of_other.kind, MemoryKind::Virtual { exportable: false });
    assert_eq!(of_other.access, Some(Access::ReadOnly));

    mapping.memset(unit, 2 * unit, 9).unwrap();
    let fd = share::export_virtual(&gpu.driver, second_at).unwrap();
    let again = Allocation::import(&gpu.driver, fd.as_fd(), 2 * unit).unwrap();
    drop(mapping);
    let again = gpu.map(&again, Access::ReadWrite);
    let mut byte = [0];
    again.copy_to_host(2 * unit - 1, &mut byte).unwrap();
    assert_eq!(byte, [9]);
    invalid("memory that was imported", share::export_virtual(&gpu.driver, again.pointer()));
    invalid("memory without a handle type", share::export_virtual(&gpu.driver, other.pointer()));
}

/// Opens and imports what it is sent, and reads it.
pub fn look_at_foreign(peer: &Peer) {
    let gpu = Gpu::take();
    let context = gpu.context();
    let linear = OpenedMemory::open(&context, &from_text(&peer.receive().0)).unwrap();
    let (data, fds) = peer.receive();
    let pooled = PoolMemory::import(&context, fds[0].as_fd(), &from_text(&data)).unwrap();
    let mut bytes = [[0; 16]; 2];
    linear.span().copy_to_host(linear.bytes() - 16, &mut bytes[0]).unwrap();
    pooled.span().copy_to_host(pooled.bytes() - 16, &mut bytes[1]).unwrap();
    assert_eq!(bytes, [[4; 16], [5; 16]]);
    let without_context = driver_says(&gpu, linear.pointer());
    assert_eq!(without_context, Err(Status::INVALID_CONTEXT), "this call needs one");
    for (what, at, size) in [
        ("opened memory", linear.pointer(), linear.bytes()),
        ("imported memory of a pool", pooled.pointer(), pooled.bytes()),
    ] {
        let found = range(&gpu, further(at, 8));
        observe_text(what, format!("{:?}", found.kind));
        assert!(what != "opened memory" || found.kind == MemoryKind::Unknown);
        assert_eq!((found.base, found.bytes), (at, size), "{what}");
        let bound = context.bind().unwrap();
        assert_eq!(driver_says(&gpu, further(at, 8)), Ok((at, size)), "{what}");
        drop(bound);
        invalid(what, share::export_linear(&gpu.driver, at));
        invalid(what, share::export_virtual(&gpu.driver, at));
        invalid(what, share::export_pool_pointer(&gpu.driver, at));
    }
    assert_eq!((linear.bytes(), pooled.bytes()), (3 * MIB, 5 * MIB));
    let kernel = gpu.kernel();
    let stream = Stream::new(&context).unwrap();
    kernel.touch(&stream, &linear, &pooled, std::time::Duration::ZERO).unwrap();
    stream.synchronize().unwrap();
    pooled.release().unwrap();
    linear.close().unwrap();
    peer.send("read");
}

#[test]
fn memory_of_the_program_is_shared_by_its_address() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let linear = LinearMemory::alloc(&context, 3 * MIB).unwrap();
    let pooled = SharedPool::make(&context, 5 * MIB).unwrap();
    let foreign = ForeignMemory::find(&context, linear.pointer(), 3 * MIB).unwrap();
    foreign.span().memset(0, foreign.bytes(), 4).unwrap();
    pooled.span().memset(0, 5 * MIB, 5).unwrap();
    let part = foreign.span().part(MIB, 8).unwrap();
    assert_eq!((part.pointer(), part.bytes()), (further(linear.pointer(), MIB), 8));
    invalid("a part that is not inside", part.part(4, 8));
    invalid("a copy that is not inside", part.copy_from_host(1, &[0; 8]));
    let beyond = ForeignMemory::find(&context, linear.pointer(), 3 * MIB + 1);
    invalid("more than there is", beyond);
    let handle = share::export_linear(&gpu.driver, linear.pointer()).unwrap();
    assert_eq!(handle, linear.ipc_handle().unwrap());
    let (fd, data) = share::export_pool_pointer(&gpu.driver, pooled.pointer()).unwrap();
    invalid("plain memory", share::export_pool_pointer(&gpu.driver, linear.pointer()));
    let child = Child::spawn("look_at_foreign");
    child.peer.send(&to_text(&handle));
    child.peer.send_with(&to_text(&data), &[fd.as_fd()]);
    child.peer.expect("read");
    child.finish();
    let mut word = [0; 8];
    pooled.span().copy_to_host(0, &mut word).unwrap();
    let all = crate::support::sum_of_words(&vec![4; usize::try_from(3 * MIB).unwrap()]);
    assert_eq!(u64::from_le_bytes(word), all);
}

/// Every H200 that was asked claims fabric handles and makes none: that needs a channel of IMEX.
#[test]
fn fabric_handles_are_claimed_and_refused() {
    let gpu = Gpu::take();
    let claimed = gpu.device.attribute(DeviceAttribute::FABRIC_HANDLES).unwrap();
    let made = share::try_fabric(&gpu.device);
    observe_text("the device claims fabric handles", claimed);
    observe("memory with a fabric handle", &made);
    if is_soft() {
        assert_eq!(status(made), Status::NOT_PERMITTED);
    }
}
