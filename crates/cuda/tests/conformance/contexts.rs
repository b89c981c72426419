//! Contexts, this thread's stack of them, plain device memory.

use crate::child::{Child, Peer};
use crate::support::{Gpu, MIB, is_soft, observe_text, status};
use millpond_cuda::sys::{Status, constants};
use millpond_cuda::{Context, LinearMemory, result};

/// Runs in a thread whose context stack is empty.
fn in_fresh_thread(body: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        scope.spawn(body);
    });
}

#[test]
fn the_primary_context_lives_while_it_is_held() {
    let _gpu = Gpu::take();
    let child = Child::spawn("primary_state");
    child.peer.expect("inactive, active, active, inactive");
    child.finish();
}

pub fn primary_state(peer: &Peer) {
    let gpu = Gpu::take();
    let state = || {
        let active = Context::primary_state(&gpu.device).unwrap().active;
        if active { "active" } else { "inactive" }
    };
    let before = state();
    let first = Context::primary(&gpu.device).unwrap();
    let one = state();
    let second = Context::primary(&gpu.device).unwrap();
    assert_eq!(first, second);
    drop(first);
    let two = state();
    drop(second);
    peer.send(&format!("{before}, {one}, {two}, {}", state()));
}

#[test]
fn binding_is_undone_by_dropping() {
    let gpu = Gpu::take();
    let context = gpu.context();
    in_fresh_thread(|| {
        assert_eq!(Context::current(&gpu.driver).unwrap(), None);
        let outer = context.bind().unwrap();
        let current = Context::current(&gpu.driver).unwrap().unwrap();
        assert_eq!(current, context);
        assert_eq!(current.device().uuid(), gpu.device.uuid());
        let inner = context.bind().unwrap();
        drop(inner);
        assert_eq!(Context::current(&gpu.driver).unwrap().as_ref(), Some(&context));
        drop(outer);
        assert_eq!(Context::current(&gpu.driver).unwrap(), None);
    });
    assert!(
        Context::primary_state(&gpu.device).unwrap().active,
        "`current` gave back its own only"
    );
}

#[test]
fn contexts_are_a_stack_of_the_thread() {
    let gpu = Gpu::take();
    let context = gpu.context();
    in_fresh_thread(|| {
        let table = gpu.driver.table();
        assert_eq!(status(result::context::pop(table)), Status::INVALID_CONTEXT);
        let raw = context.raw();
        // SAFETY: the context is alive.
        unsafe { result::context::push(table, raw) }.unwrap();
        // SAFETY: as above.
        unsafe { result::context::push(table, raw) }.unwrap();
        assert_eq!(result::context::pop(table), Ok(raw));
        assert_eq!(result::context::current(table), Ok(raw));
        // SAFETY: null empties the top of the stack.
        unsafe { result::context::set_current(table, std::ptr::null_mut()) }.unwrap();
        assert!(result::context::current(table).unwrap().is_null());
        // SAFETY: the context is alive.
        unsafe { result::context::set_current(table, raw) }.unwrap();
        assert_eq!(result::context::device(table), Ok(gpu.device.raw()));
        assert_eq!(result::context::pop(table), Ok(raw));
        assert!(result::context::current(table).unwrap().is_null());
    });
}

#[test]
fn work_without_a_context_is_refused() {
    let gpu = Gpu::take();
    in_fresh_thread(|| {
        let table = gpu.driver.table();
        assert_eq!(status(result::context::memory_info(table)), Status::INVALID_CONTEXT);
        assert_eq!(status(result::context::device(table)), Status::INVALID_CONTEXT);
        assert_eq!(status(result::context::synchronize(table)), Status::INVALID_CONTEXT);
        assert_eq!(status(result::linear::alloc(table, 4096)), Status::INVALID_CONTEXT);
        assert_eq!(status(result::stream::create(table, 0)), Status::INVALID_CONTEXT);
        assert_eq!(status(result::event::create(table, 0)), Status::INVALID_CONTEXT);
        let mut word = [0_u8; 8];
        // SAFETY: refused before anything is touched, which is what is tested.
        let copy = unsafe {
            result::copy::device_to_host(table, word.as_mut_ptr().cast(), 0x7000_0000_0000, 8)
        };
        assert_eq!(status(copy), Status::INVALID_CONTEXT);
    });
}

#[test]
fn memory_info_agrees_with_the_device() {
    let gpu = Gpu::take();
    let info = gpu.context().memory_info().unwrap();
    let total = gpu.device.total_bytes();
    observe_text(
        "cuMemGetInfo total / cuDeviceTotalMem",
        format!("{} / {total}", info.total_bytes),
    );
    assert!(info.free_bytes <= info.total_bytes);
    assert!(info.total_bytes.abs_diff(total) < total / 20);
}

#[test]
fn plain_memory_is_taken_and_given_back() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let before = gpu.free_bytes();
    let buffer = LinearMemory::alloc(&context, 64 * MIB).unwrap();
    gpu.assert_taken(before, 64 * MIB);
    drop(buffer);
    gpu.assert_freed(before);
}

/// 2 MiB at a time, which small memory shares: the block of an address is its upper bits.
#[test]
fn small_plain_memory_shares_blocks() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let before = gpu.free_bytes();
    let buffers: Vec<_> = (0..600).map(|_| LinearMemory::alloc(&context, 4096).unwrap()).collect();
    let mut blocks: Vec<u64> = buffers.iter().map(|buffer| buffer.pointer().0 >> 21).collect();
    blocks.dedup();
    blocks.sort_unstable();
    blocks.dedup();
    let taken = before.saturating_sub(gpu.free_bytes());
    observe_text("600 buffers of 4 KiB", format!("{} blocks, {taken} bytes", blocks.len()));
    assert!(blocks.len() <= 4 && taken <= 2 * MIB * blocks.len() as u64);
    let kept = buffers.into_iter().next();
    assert!(kept.is_some());
    if is_soft() {
        assert_eq!(before - gpu.free_bytes(), 2 * MIB, "the last of a block gives it back");
    }
    drop(kept);
    gpu.assert_freed(before);
}

#[test]
fn plain_memory_can_be_filled_and_copied() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let buffer = LinearMemory::alloc(&context, MIB).unwrap();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let address = buffer.pointer().0;
    let mut bytes = [0_u8; 16];
    let host = bytes.as_mut_ptr().cast();
    // SAFETY: all ranges lie in the buffer, and the array has 16 bytes.
    unsafe {
        result::copy::fill_u32(table, address, 0x0403_0201, 4).unwrap();
        result::copy::fill_u8(table, address + 4, 0xee, 4).unwrap();
        result::copy::device_to_device(table, address + 8, address, 8).unwrap();
        result::copy::device_to_host(table, host, address, 16).unwrap();
    }
    let half = [1, 2, 3, 4, 0xee, 0xee, 0xee, 0xee];
    assert_eq!(bytes, *[half, half].as_flattened());
}

#[test]
fn plain_memory_errors() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    assert_eq!(status(LinearMemory::alloc(&context, 0)), Status::INVALID_VALUE);
    let error = LinearMemory::alloc(&context, gpu.device.total_bytes() * 2).unwrap_err();
    assert!(error.is_out_of_memory(), "{error}");
    let address = result::linear::alloc(table, 4096).unwrap();
    // SAFETY: freed once, and then freed again to see it refused; nothing uses the memory.
    unsafe {
        result::linear::free(table, address).unwrap();
        assert_eq!(status(result::linear::free(table, address)), Status::INVALID_VALUE);
    }
}

#[test]
fn the_driver_knows_its_addresses() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let buffer = LinearMemory::alloc(&context, 3 * MIB).unwrap();
    let mapping = gpu.memory(gpu.unit());
    for address in [buffer.pointer().0, mapping.pointer().0] {
        let inside = address + 4096;
        let kind = result::pointer::memory_type(table, inside);
        assert_eq!(kind, Ok(constants::MEMORY_TYPE_DEVICE));
        assert_eq!(result::pointer::device_ordinal(table, inside), Ok(gpu.device.ordinal()));
        assert_eq!(result::pointer::range_start(table, inside), Ok(address));
    }
    assert_eq!(result::pointer::range_bytes(table, buffer.pointer().0), Ok(3 << 20));
    let size = result::pointer::range_bytes(table, mapping.pointer().0).unwrap();
    assert_eq!(size as u64, mapping.bytes());
    let unknown = result::pointer::memory_type(table, 0x1000);
    assert_eq!(status(unknown), Status::INVALID_VALUE);
}
