//! Pinned host memory and copies that run beside the host.

use crate::extra::{Extra, need};
use crate::support::{Gpu, MIB, pattern, read, status};
use millpond_cuda::sys::{Status, constants};
use millpond_cuda::{HostPages, PinnedBuffer, Stream, result};
use std::time::Duration;

#[test]
fn pinned_memory_is_ordinary_memory() {
    let gpu = Gpu::take();
    let mut buffer = PinnedBuffer::new(&gpu.context(), MIB).unwrap();
    assert_eq!(buffer.len() as u64, MIB);
    assert!(buffer.iter().all(|byte| *byte == 0));
    buffer[100..105].copy_from_slice(b"hello");
    assert_eq!(&buffer[100..105], b"hello");
    assert_eq!(status(PinnedBuffer::new(&gpu.context(), 0)), Status::INVALID_VALUE);
}

#[test]
fn pinned_memory_takes_none_of_the_card() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let buffer = PinnedBuffer::new(&gpu.context(), 64 * MIB).unwrap();
    gpu.assert_taken(before, 0);
    drop(buffer);
}

#[test]
fn there_and_back_again() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let memory = gpu.memory(4 * gpu.unit());
    let bytes = pattern(memory.bytes(), 20);
    let len = bytes.len();
    let stream = Stream::new(&context).unwrap();
    let mut buffer = PinnedBuffer::new(&context, memory.bytes()).unwrap();
    buffer.copy_from_slice(&bytes);
    let pending = stream.copy_from_pinned(&memory, 0, buffer, 0..len).unwrap();
    let mut buffer = pending.wait().unwrap();
    assert_eq!(read(&memory), bytes);

    buffer.fill(0);
    let pending = stream.copy_to_pinned(&memory, 0, buffer, 0..len).unwrap();
    let buffer = pending.wait().unwrap();
    assert_eq!(*buffer, *bytes);
}

#[test]
fn pages_that_were_there_before_their_context_are_pinned_like_others() {
    assert!(HostPages::new(0).is_none());
    let pages = HostPages::new(MIB + 1).unwrap();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let memory = gpu.memory(gpu.unit());
    let mut buffer = PinnedBuffer::of(&context, pages).unwrap();
    assert_eq!(buffer.len() as u64, MIB + 1, "as many as were asked for, not whole pages");
    assert!(buffer.iter().all(|byte| *byte == 0));
    let bytes = pattern(MIB, 21);
    buffer[..bytes.len()].copy_from_slice(&bytes);
    let pending = stream.copy_from_pinned(&memory, 0, buffer, 0..bytes.len()).unwrap();
    let buffer = pending.wait().unwrap();
    assert_eq!(read(&memory)[..bytes.len()], bytes);
    let pages = HostPages::new(MIB).unwrap();
    let other = PinnedBuffer::of(&context, pages).unwrap();
    let outside = stream.copy_from_pinned(&memory, 0, buffer, 0..bytes.len() + 2);
    assert_eq!(status(outside), Status::INVALID_VALUE);
    drop(other);
}

#[test]
fn parts_go_to_offsets() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let memory = gpu.memory(gpu.unit());
    let stream = Stream::new(&context).unwrap();
    let mut buffer = PinnedBuffer::new(&context, 4096).unwrap();
    buffer[8..12].copy_from_slice(b"part");
    let buffer = stream.copy_from_pinned(&memory, 1000, buffer, 8..12).unwrap().wait().unwrap();
    let buffer = stream.copy_to_pinned(&memory, 1002, buffer, 0..2).unwrap().wait().unwrap();
    assert_eq!(&buffer[..2], b"rt");
    let outside = stream.copy_from_pinned(&memory, 0, buffer, 4000..5000);
    assert_eq!(status(outside), Status::INVALID_VALUE);
    let buffer = PinnedBuffer::new(&context, 4096).unwrap();
    let outside = stream.copy_to_pinned(&memory, memory.bytes() - 1, buffer, 0..2);
    assert_eq!(status(outside), Status::INVALID_VALUE);
}

#[test]
fn one_buffer_goes_to_and_comes_from_several_places() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let memory = gpu.memory(gpu.unit());
    let stream = Stream::new(&context).unwrap();
    let mut buffer = PinnedBuffer::new(&context, 4096).unwrap();
    buffer[..9].copy_from_slice(b"millpond.");
    let parts = [(100, 4..8), (7, 0..4), (900, 8..9)];
    let pending = stream.copies_from_pinned(&memory, buffer, parts).unwrap();
    let buffer = pending.wait().unwrap();
    let found = read(&memory);
    assert_eq!((&found[7..11], &found[100..104], found[900]), (&b"mill"[..], &b"pond"[..], b'.'));
    let parts = [(100, 1000..1004), (7, 2000..2003)];
    let buffer = stream.copies_to_pinned(&memory, buffer, parts).unwrap().wait().unwrap();
    assert_eq!((&buffer[1000..1004], &buffer[2000..2004]), (&b"pond"[..], &b"mil\0"[..]));
    let outside = stream.copies_to_pinned(&memory, buffer, [(0, 0..4), (0, 4093..4097)]);
    assert_eq!(status(outside), Status::INVALID_VALUE);
    let buffer = PinnedBuffer::new(&context, 4096).unwrap();
    let none = stream.copies_from_pinned(&memory, buffer, []).unwrap();
    assert_eq!(none.wait().unwrap().len(), 4096);
}

#[test]
fn a_copy_waits_for_its_stream_and_the_host_does_not() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let (busy, memory) = (gpu.memory(gpu.unit()), gpu.memory(gpu.unit()));
    let stream = Stream::new(&context).unwrap();
    let kernel = gpu.kernel();
    kernel.touch(&stream, &busy, &busy, Duration::from_millis(300)).unwrap();
    let mut buffer = PinnedBuffer::new(&context, 4096).unwrap();
    buffer.fill(6);
    let pending = stream.copy_from_pinned(&memory, 0, buffer, 0..4096).unwrap();
    assert_eq!(pending.is_done(), Ok(false));
    // Dropping waits, so the bytes have arrived.
    drop(pending);
    assert_eq!(stream.is_idle(), Ok(true));
    assert_eq!(read(&memory)[4095..4097], [6, 0]);
}

#[test]
fn a_ring_of_buffers() {
    const CHUNK: usize = 64 << 10;
    let gpu = Gpu::take();
    let context = gpu.context();
    let memory = gpu.memory(4 * gpu.unit());
    let bytes = pattern(memory.bytes(), 21);
    let stream = Stream::new(&context).unwrap();
    let mut pending = std::collections::VecDeque::new();
    for (index, chunk) in bytes.chunks(CHUNK).enumerate() {
        let mut buffer = if pending.len() < 4 {
            PinnedBuffer::new(&context, CHUNK as u64).unwrap()
        } else {
            millpond_cuda::PendingCopy::wait(pending.pop_front().unwrap()).unwrap()
        };
        buffer[..chunk.len()].copy_from_slice(chunk);
        let offset = (index * CHUNK) as u64;
        pending
            .push_back(stream.copy_from_pinned(&memory, offset, buffer, 0..chunk.len()).unwrap());
    }
    drop(pending);
    assert_eq!(read(&memory), bytes);
}

#[test]
fn ordinary_memory_can_be_pinned_for_a_while() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let bytes = 1 << 20;
    let mut memory = vec![7_u8; bytes + 4096];
    let address = memory.as_mut_ptr();
    // SAFETY: the alignment keeps the range inside of the vector.
    let address = unsafe { address.add(address.align_offset(4096)) }.cast();
    let flags = constants::HOST_REGISTER_PORTABLE;
    let device = gpu.memory(gpu.unit());
    let stream = Stream::new(&context).unwrap();
    // SAFETY: the vector outlives the registration, and the stream is waited for.
    unsafe {
        result::host::register(table, address, bytes, flags).unwrap();
        assert_eq!(
            status(result::host::register(table, address, bytes, flags)),
            Status::HOST_MEMORY_ALREADY_REGISTERED
        );
        let to = device.pointer().0;
        result::copy::host_to_device_async(table, to, address, bytes, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        result::host::unregister(table, address).unwrap();
        assert_eq!(
            status(result::host::unregister(table, address)),
            Status::HOST_MEMORY_NOT_REGISTERED
        );
    }
    assert_eq!(read(&device)[bytes - 1..=bytes], [7, 0]);
}

#[test]
fn fills_reach_pinned_memory_in_every_width() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let mut buffer = PinnedBuffer::new(&context, 4096).unwrap();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let fill = need!(Extra::find(), cuMemsetD16Async);
    let at = u64::try_from(buffer.as_mut_ptr().expose_provenance()).unwrap();
    // SAFETY: the ranges lie inside the buffer, which stays until the stream is done.
    unsafe {
        result::copy::fill_u8_async(table, at, 7, 8, stream.raw()).unwrap();
        assert_eq!(fill(at + 8, 0x0201, 4, stream.raw()), Status::SUCCESS);
        result::copy::fill_u32_async(table, at + 16, 0x0605_0403, 2, stream.raw()).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(buffer[..8], [7; 8]);
    assert_eq!(buffer[8..16], [1, 2, 1, 2, 1, 2, 1, 2]);
    assert_eq!(buffer[16..24], [3, 4, 5, 6, 3, 4, 5, 6]);
}
