//! Stream-ordered memory: what a pool reserves, when it gives it back, and who may use it again.
//!
//! How much a pool takes at a time is the driver's affair; 32 MiB was measured and is printed.

use crate::alone::alone;
use crate::child::{Child, Peer};
use crate::support::{Gpu, MIB, invalid, is_soft, observe, observe_text, refused, skip, status};
use millpond_cuda::sys::{CUmemLocation, CUstream, PoolProperties, Status, constants};
use millpond_cuda::{
    Context, DevicePtr, Event, LinearMemory, MemoryPool, Stream, StreamBuffer, result,
};
use std::time::Duration;

/// A pool takes at most a request rounded up to this.
const STEP: u64 = 32 * MIB;

fn reserved(pool: &MemoryPool) -> u64 {
    pool.reserved_bytes().unwrap()
}

fn free(gpu: &Gpu, pointer: DevicePtr, stream: &Stream) {
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    // SAFETY: the tests free what they allocated, once, in the order of the stream.
    unsafe { result::pool::free_async(gpu.driver.table(), pointer.0, stream.raw()) }.unwrap();
}

fn fill(gpu: &Gpu, pointer: DevicePtr, bytes: usize, value: u8, stream: CUstream) {
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    // SAFETY: the tests fill what they allocated in the order of the stream.
    unsafe { result::copy::fill_u8_async(gpu.driver.table(), pointer.0, value, bytes, stream) }
        .unwrap();
}

fn first_byte(gpu: &Gpu, pointer: DevicePtr) -> u8 {
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let mut byte = [0_u8];
    let to = byte.as_mut_ptr().cast();
    // SAFETY: the byte is ours, and the address was allocated by the test.
    unsafe { result::copy::device_to_host(gpu.driver.table(), to, pointer.0, 1) }.unwrap();
    byte[0]
}

#[test]
fn a_pool_reserves_in_steps_and_the_device_counts_it() {
    alone!();
    let gpu = Gpu::take();
    let stream = Stream::new(&gpu.context()).unwrap();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    assert_eq!((reserved(&pool), pool.used_bytes().unwrap()), (0, 0));
    let before = gpu.free_bytes();

    let small = pool.alloc(1, &stream).unwrap();
    observe_text("reserved by a pool for 1 byte", reserved(&pool));
    assert_eq!(pool.used_bytes().unwrap(), 1);
    assert!((1..=STEP).contains(&reserved(&pool)));
    gpu.assert_taken(before, reserved(&pool));

    let large = pool.alloc(100 * MIB, &stream).unwrap();
    observe_text("reserved by a pool for 1 byte and 100 MiB", reserved(&pool));
    assert_eq!(pool.used_bytes().unwrap(), 100 * MIB + 1);
    assert!((100 * MIB + 1..=STEP + 128 * MIB).contains(&reserved(&pool)));
    gpu.assert_taken(before, reserved(&pool));

    free(&gpu, small, &stream);
    free(&gpu, large, &stream);
    stream.synchronize().unwrap();
    assert_eq!((reserved(&pool), pool.used_bytes().unwrap()), (0, 0), "the threshold is 0");
    gpu.assert_freed(before);
}

#[test]
fn memory_goes_back_when_its_stream_was_waited_for() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let (stream, other) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let event = Event::new(&context).unwrap();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    let round = || free(&gpu, pool.alloc(MIB, &stream).unwrap(), &stream);

    round();
    let kept = reserved(&pool);
    assert!(kept >= MIB);
    other.synchronize().unwrap();
    pool.trim(0).unwrap();
    assert_eq!(reserved(&pool), kept, "nobody has waited for the free");
    stream.synchronize().unwrap();
    assert_eq!(reserved(&pool), 0, "after the stream");

    round();
    event.record(&stream).unwrap();
    event.synchronize().unwrap();
    assert_eq!(reserved(&pool), 0, "after an event");

    round();
    context.synchronize().unwrap();
    assert_eq!(reserved(&pool), 0, "after the context");

    let pointer = pool.alloc(MIB, &stream).unwrap();
    stream.synchronize().unwrap();
    let _bound = context.bind().unwrap();
    // SAFETY: allocated above, and no work uses it.
    unsafe { result::linear::free(gpu.driver.table(), pointer.0) }.unwrap();
    assert_eq!(reserved(&pool), 0, "after cuMemFree");
}

#[test]
fn the_threshold_keeps_memory_and_trimming_gives_it_back() {
    alone!();
    let gpu = Gpu::take();
    let stream = Stream::new(&gpu.context()).unwrap();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    pool.set_release_threshold(u64::MAX).unwrap();
    let (first, second) =
        (pool.alloc(100 * MIB, &stream).unwrap(), pool.alloc(100 * MIB, &stream).unwrap());
    let both = reserved(&pool);
    observe_text("reserved for two blocks of 100 MiB", both);
    free(&gpu, first, &stream);
    stream.synchronize().unwrap();
    assert_eq!(reserved(&pool), both);

    pool.trim(both).unwrap();
    assert_eq!(reserved(&pool), both);
    pool.trim(0).unwrap();
    let one = reserved(&pool);
    observe_text("reserved when the first was freed and trimmed", one);
    assert!((100 * MIB..both).contains(&one), "only what is not used goes");
    fill(&gpu, second, 1000, 7, stream.raw());
    stream.synchronize().unwrap();
    assert_eq!(first_byte(&gpu, second), 7);

    free(&gpu, second, &stream);
    stream.synchronize().unwrap();
    assert_eq!(reserved(&pool), one);
    pool.trim(MIB).unwrap();
    observe_text("reserved when trimmed to 1 MiB", reserved(&pool));
    assert!((MIB..=one).contains(&reserved(&pool)), "at least what was asked to be kept");
    pool.trim(0).unwrap();
    assert_eq!(reserved(&pool), 0);
}

#[test]
fn freed_memory_is_used_again_without_growth() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let (stream, other) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let pool = MemoryPool::new(&gpu.device).unwrap();
    let first = pool.alloc(20 * MIB, &stream).unwrap();
    let size = reserved(&pool);
    free(&gpu, first, &stream);
    let second = pool.alloc(20 * MIB, &stream).unwrap();
    observe_text("the same address in the same stream", first == second);
    assert_eq!(reserved(&pool), size, "the same stream, at once");
    free(&gpu, second, &stream);
    let third = pool.alloc(20 * MIB, &other).unwrap();
    assert_eq!(reserved(&pool), size, "another stream");
    fill(&gpu, third, 1, 3, other.raw());
    other.synchronize().unwrap();
    assert_eq!(first_byte(&gpu, third), 3);
    free(&gpu, third, &other);
    context.synchronize().unwrap();
}

#[test]
fn another_stream_gets_memory_only_after_the_work_that_used_it() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let (slow, quick) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let (kernel, sum) = (gpu.kernel(), gpu.memory(gpu.unit()));
    let pool = MemoryPool::new(&gpu.device).unwrap();
    let block = pool.alloc(MIB, &slow).unwrap();
    fill(&gpu, block, 1 << 20, 1, slow.raw());
    let (target, time) = (sum.pointer(), Duration::from_millis(200));
    // SAFETY: both ranges are allocated and aligned; the kernel outlives the launch.
    unsafe { kernel.launch(&slow, block, MIB, target, 8, time) }.unwrap();
    free(&gpu, block, &slow);
    let again = pool.alloc(MIB, &quick).unwrap();
    observe_text(
        "memory of running work in another stream",
        if again == block { "waits" } else { "is other memory" },
    );
    fill(&gpu, again, 1 << 20, 2, quick.raw());
    context.synchronize().unwrap();
    let expected = u64::from_le_bytes([1; 8]).wrapping_mul(MIB / 8);
    assert_eq!(crate::support::read_word(&sum), expected, "the kernel saw its own bytes");
    assert_eq!(first_byte(&gpu, again), 2);
    free(&gpu, again, &quick);
    context.synchronize().unwrap();
}

#[test]
fn a_pool_has_its_largest_size() {
    alone!();
    let gpu = Gpu::take();
    let stream = Stream::new(&gpu.context()).unwrap();
    let pool = MemoryPool::with_limit(&gpu.device, 64 * MIB).unwrap();
    pool.set_release_threshold(u64::MAX).unwrap();
    let mut held = Vec::new();
    let error = loop {
        match pool.alloc(8 * MIB, &stream) {
            Ok(pointer) => held.push(pointer),
            Err(error) => break error,
        }
        assert!(held.len() <= 8, "more than 64 MiB");
    };
    assert!(error.is_out_of_memory(), "{error}");
    assert_eq!(held.len(), 8);
    assert!(reserved(&pool) <= 64 * MIB);
    free(&gpu, held.remove(0), &stream);
    held.push(pool.alloc(8 * MIB, &stream).unwrap());
    held.into_iter().for_each(|pointer| free(&gpu, pointer, &stream));
    stream.synchronize().unwrap();
}

#[test]
fn an_impossible_request_leaves_the_pool_as_it_was() {
    alone!();
    let gpu = Gpu::take();
    let stream = Stream::new(&gpu.context()).unwrap();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    let pointer = pool.alloc(MIB, &stream).unwrap();
    let size = reserved(&pool);
    let error = pool.alloc(gpu.device.total_bytes() * 2, &stream).unwrap_err();
    assert!(error.is_out_of_memory(), "{error}");
    assert_eq!(reserved(&pool), size);
    let nothing = pool.alloc(0, &stream);
    observe("a stream-ordered allocation of nothing", &nothing);
    if let Ok(nothing) = nothing {
        free(&gpu, nothing, &stream);
    }
    free(&gpu, pointer, &stream);
    stream.synchronize().unwrap();
}

#[test]
fn both_kinds_of_free_take_both_kinds_of_memory() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let table = gpu.driver.table();
    let before = gpu.free_bytes();
    let _bound = context.bind().unwrap();
    // SAFETY: everything is freed once, after its last use in the order of the stream.
    unsafe {
        let linear = result::linear::alloc(table, 64 << 20).unwrap();
        result::copy::fill_u8_async(table, linear, 1, 64 << 20, stream.raw()).unwrap();
        result::pool::free_async(table, linear, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        gpu.assert_freed(before);

        let ordered = result::pool::alloc_async(table, 64 << 20, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        result::linear::free(table, ordered).unwrap();
        gpu.assert_freed(before);
        result::pool::free_async(table, 0, stream.raw()).unwrap_or_else(|error| {
            observe_text("cuMemFreeAsync of null", error.status);
        });
        refused("an unknown address", result::pool::free_async(table, 0x1000, stream.raw()));
    }
}

#[test]
fn stream_ordered_memory_is_known_by_its_address() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    let (first, second) = (pool.alloc(3000, &stream).unwrap(), pool.alloc(MIB, &stream).unwrap());
    assert!(first.0.is_multiple_of(256) && second.0.is_multiple_of(256));
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    for (pointer, bytes) in [(first, 3000), (second, MIB)] {
        let inside = pointer.0 + 2000;
        let kind = result::pointer::memory_type(table, inside);
        assert_eq!(kind, Ok(constants::MEMORY_TYPE_DEVICE));
        assert_eq!(result::pointer::device_ordinal(table, inside), Ok(gpu.device.ordinal()));
        let start = result::pointer::range_start(table, inside).unwrap();
        let size = result::pointer::range_bytes(table, inside).unwrap() as u64;
        let before = pointer.0.wrapping_sub(start);
        observe_text(
            &format!("range around a stream-ordered block of {bytes}"),
            format!("{size}, from {before} before it"),
        );
        assert!(start <= pointer.0 && start + size >= pointer.0 + bytes);
        assert!((before, size) == (0, bytes) || !is_soft());
    }
    free(&gpu, first, &stream);
    free(&gpu, second, &stream);
    stream.synchronize().unwrap();
}

#[test]
fn attributes_of_a_pool() {
    alone!();
    let gpu = Gpu::take();
    let stream = Stream::new(&gpu.context()).unwrap();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    let (table, raw) = (gpu.driver.table(), pool.raw());
    let pointer = pool.alloc(MIB, &stream).unwrap();
    let size = reserved(&pool);
    free(&gpu, pointer, &stream);
    stream.synchronize().unwrap();
    // SAFETY: the pool is alive, and each attribute is asked for with its width.
    unsafe {
        use constants as c;
        for flag in [c::POOL_REUSE_EVENTS, c::POOL_REUSE_OPPORTUNISTIC, c::POOL_REUSE_INTERNAL] {
            assert_eq!(result::pool::flag_attribute(table, raw, flag), Ok(true), "{flag}");
            result::pool::set_flag_attribute(table, raw, flag, false).unwrap();
            assert_eq!(result::pool::flag_attribute(table, raw, flag), Ok(false), "{flag}");
        }
        let get = |attribute| result::pool::bytes_attribute(table, raw, attribute).unwrap();
        assert_eq!((get(c::POOL_RESERVED_HIGH), get(c::POOL_USED_HIGH)), (size, MIB));
        for high in [c::POOL_RESERVED_HIGH, c::POOL_USED_HIGH] {
            let set = |value| result::pool::set_bytes_attribute(table, raw, high, value);
            refused("a high-water mark set to 1", set(1));
            set(0).unwrap();
            assert_eq!(get(high), 0);
        }
        let current = c::POOL_RESERVED_CURRENT;
        refused("reserved bytes set", result::pool::set_bytes_attribute(table, raw, current, 0));
        refused("attribute 99", result::pool::bytes_attribute(table, raw, 99));
        let location = PoolProperties::of_device(gpu.device.ordinal());
        let location = std::ptr::from_ref(&location.location_kind).cast::<CUmemLocation>();
        let access = result::pool::access(table, raw, location.read());
        assert_eq!(access.map(u64::from), Ok(constants::ACCESS_READ_WRITE));
    }
}

#[test]
fn the_current_pool_of_a_device() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let (table, device) = (gpu.driver.table(), gpu.device.raw());
    let default = MemoryPool::default_of(&gpu.device).unwrap();
    assert_eq!(result::pool::current_of(table, device), Ok(default.raw()));
    // SAFETY: refused, which is what is tested.
    refused("the default pool destroyed", unsafe { result::pool::destroy(table, default.raw()) });

    let pool = MemoryPool::new(&gpu.device).unwrap();
    let _bound = context.bind().unwrap();
    // SAFETY: the pool is alive; what is allocated is freed once.
    let pointer = unsafe {
        result::pool::set_current(table, device, pool.raw()).unwrap();
        assert_eq!(result::pool::current_of(table, device), Ok(pool.raw()));
        result::pool::alloc_async(table, 1 << 20, stream.raw()).unwrap()
    };
    assert_eq!(pool.used_bytes().unwrap(), MIB);
    drop(pool);
    assert_eq!(result::pool::current_of(table, device), Ok(default.raw()), "as documented");
    fill(&gpu, DevicePtr(pointer), 1, 5, stream.raw());
    stream.synchronize().unwrap();
    assert_eq!(first_byte(&gpu, DevicePtr(pointer)), 5, "memory outlives its pool");
    free(&gpu, DevicePtr(pointer), &stream);
    stream.synchronize().unwrap();
}

#[test]
fn a_destroyed_pool_gives_its_memory_back_with_the_last_free() {
    alone!();
    let gpu = Gpu::take();
    let stream = Stream::new(&gpu.context()).unwrap();
    let before = gpu.free_bytes();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    let pointer = pool.alloc(100 * MIB, &stream).unwrap();
    let size = reserved(&pool);
    drop(pool);
    gpu.assert_taken(before, size);
    free(&gpu, pointer, &stream);
    stream.synchronize().unwrap();
    gpu.assert_freed(before);
}

#[test]
fn pools_that_cannot_be() {
    let gpu = Gpu::take();
    let properties = PoolProperties::of_device(gpu.device.ordinal());
    for (what, wrong) in [
        ("kind 77", PoolProperties { kind: 77, ..properties }),
        ("location kind 77", PoolProperties { location_kind: 77, ..properties }),
        ("device 99", PoolProperties { location_id: 99, ..properties }),
    ] {
        invalid(&format!("a pool of {what}"), MemoryPool::with_properties(&gpu.device, &wrong));
    }
}

#[test]
fn stream_ordered_memory_needs_a_context() {
    let gpu = Gpu::take();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(Context::current(&gpu.driver).unwrap(), None);
            let table = gpu.driver.table();
            // SAFETY: the null stream of no context: refused.
            let answer = unsafe { result::pool::alloc_async(table, 4096, std::ptr::null_mut()) };
            assert_eq!(status(answer), Status::INVALID_CONTEXT);
        });
    });
}

#[test]
fn the_default_stream_orders_memory_too() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let buffer = LinearMemory::alloc(&context, MIB).unwrap();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let null = std::ptr::null_mut();
    // SAFETY: all ranges are allocated, and used in the order of the stream.
    unsafe {
        let pointer = result::pool::alloc_async(table, 1 << 20, null).unwrap();
        result::copy::fill_u8_async(table, pointer, 9, 1 << 20, null).unwrap();
        result::copy::device_to_device_async(table, buffer.pointer().0, pointer, 1 << 20, null)
            .unwrap();
        result::pool::free_async(table, pointer, null).unwrap();
    }
    context.synchronize().unwrap();
    assert_eq!(first_byte(&gpu, buffer.pointer()), 9);
}

#[test]
fn pools_of_a_killed_process_are_freed() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let mut child = Child::spawn("hold_pools");
    child.peer.expect("holding");
    assert!(gpu.free_bytes() + 164 * MIB <= before);
    child.kill();
    gpu.assert_freed(before);
}

/// Holds memory of two pools, freed and not, and a managed buffer.
pub fn hold_pools(peer: &Peer) {
    let gpu = Gpu::take();
    let stream = Stream::new(&gpu.context()).unwrap();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    pool.alloc(100 * MIB, &stream).unwrap();
    let default = MemoryPool::default_of(&gpu.device).unwrap();
    let pointer = default.alloc(64 * MIB, &stream).unwrap();
    free(&gpu, pointer, &stream);
    peer.send("holding");
    peer.wait_for_the_end();
}

#[test]
fn memory_of_a_stream_is_freed_once_and_reused_in_its_order() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let pool = MemoryPool::default_of(&gpu.device).unwrap();
    let used = pool.used_bytes().unwrap();
    let bound = context.bind().unwrap();
    let first = StreamBuffer::new(&bound, &stream, 2 * MIB).unwrap();
    let address = first.pointer();
    assert_eq!(pool.used_bytes().unwrap(), used + 2 * MIB);
    first.free().unwrap();
    let second = StreamBuffer::new(&bound, &stream, 2 * MIB).unwrap();
    assert_eq!(second.pointer(), address, "the next one in the stream gets the same memory");
    drop(second);
    stream.synchronize().unwrap();
    assert_eq!(pool.used_bytes().unwrap(), used);
}

/// A pool of host or managed memory, or `None` where the driver has none.
fn pool_outside(gpu: &Gpu, what: &str, wanted: &PoolProperties) -> Option<MemoryPool> {
    let pool = MemoryPool::with_properties(&gpu.device, wanted);
    observe(&format!("a pool of {what} memory"), &pool);
    if pool.is_err() {
        skip(&format!("this driver has no pools of {what} memory"));
    }
    pool.ok()
}

#[test]
fn pools_of_host_and_managed_memory_are_open_to_host_and_device() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let device = PoolProperties::of_device(gpu.device.ordinal());
    let numa =
        PoolProperties { location_kind: constants::LOCATION_HOST_NUMA, location_id: 0, ..device };
    let managed = PoolProperties { kind: constants::ALLOCATION_MANAGED, ..device };
    // `CU_MEMORYTYPE_HOST` and `_DEVICE`; whether it is managed.
    for (what, wanted, memory_type, is_managed) in
        [("host", numa, Some(1), 0_u8), ("managed", managed, None, 1)]
    {
        let Some(pool) = pool_outside(&gpu, what, &wanted) else { continue };
        let (first, second) =
            (pool.alloc(MIB, &stream).unwrap(), pool.alloc(MIB, &stream).unwrap());
        fill(&gpu, first, 4096, 5, stream.raw());
        stream.synchronize().unwrap();
        let host = |at: DevicePtr| {
            std::ptr::with_exposed_provenance_mut::<u8>(usize::try_from(at.0).unwrap())
        };
        let _bound = context.bind().unwrap();
        let table = gpu.driver.table();
        let (mut told, mut says_managed) = (0_u32, 7_u8);
        // SAFETY: the host may use this memory while no work does; the attributes have these types.
        unsafe {
            assert_eq!(host(first).add(4095).read_volatile(), 5, "{what}");
            host(second).write_volatile(9);
            let attribute = table.cuPointerGetAttribute;
            assert!(attribute((&raw mut told).cast(), 2, first.0).is_success());
            assert!(attribute((&raw mut says_managed).cast(), 8, first.0).is_success());
        }
        observe_text(&format!("memory type of a pool of {what} memory"), told);
        assert!(memory_type.is_none_or(|expected| expected == told), "{what}: {told}");
        assert_eq!(says_managed, is_managed, "{what}");
        assert_eq!(first_byte(&gpu, second), 9, "{what}");
        free(&gpu, first, &stream);
        free(&gpu, second, &stream);
        stream.synchronize().unwrap();
    }
}

#[test]
fn a_pool_of_host_memory_takes_none_of_the_card() {
    alone!();
    let gpu = Gpu::take();
    let stream = Stream::new(&gpu.context()).unwrap();
    let before = gpu.free_bytes();
    let wanted = PoolProperties {
        location_kind: constants::LOCATION_HOST_NUMA,
        location_id: 0,
        ..PoolProperties::of_device(gpu.device.ordinal())
    };
    let Some(pool) = pool_outside(&gpu, "host", &wanted) else { return };
    let pointer = pool.alloc(64 * MIB, &stream).unwrap();
    gpu.assert_taken(before, 0);
    assert!(reserved(&pool) >= 64 * MIB);
    free(&gpu, pointer, &stream);
    stream.synchronize().unwrap();
}
