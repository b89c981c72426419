//! Pools between processes: an fd for the pool, 64 bytes for each allocation.

use crate::alone::alone;
use crate::child::{Child, Peer};
use crate::support::{Gpu, MIB, observe, observe_text, refused};
use millpond_cuda::sys::{CUmemPoolPtrExportData, PoolProperties, constants};
use millpond_cuda::{MemoryPool, Stream, result};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

const BYTES: usize = 40 << 20;

fn fill(gpu: &Gpu, address: u64, value: u8, bytes: usize) {
    // SAFETY: the tests fill memory that they hold, while nobody else uses it.
    unsafe { result::copy::fill_u8(gpu.driver.table(), address, value, bytes) }.unwrap();
}

fn byte(gpu: &Gpu, address: u64) -> u8 {
    let mut byte = [0_u8];
    let to = byte.as_mut_ptr().cast();
    // SAFETY: the byte is ours, and the tests hold the memory.
    unsafe { result::copy::device_to_host(gpu.driver.table(), to, address, 1) }.unwrap();
    byte[0]
}

#[test]
fn another_process_reads_and_writes_memory_of_a_pool() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let before = gpu.free_bytes();
    let stream = Stream::new(&context).unwrap();
    let mut properties = PoolProperties::of_device(gpu.device.ordinal());
    properties.handle_types = constants::HANDLE_POSIX_FD;
    let pool = MemoryPool::with_properties(&gpu.device, &properties).unwrap();
    let first = pool.alloc(MIB, &stream).unwrap();
    let address = pool.alloc(40 * MIB, &stream).unwrap().0;
    stream.synchronize().unwrap();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    fill(&gpu, address, 1, BYTES);
    context.synchronize().unwrap();
    // SAFETY: pool and allocation are alive, and the new fd is ours.
    let (fd, data) = unsafe {
        let fd = result::pool::export_fd(table, pool.raw(), constants::HANDLE_POSIX_FD).unwrap();
        (OwnedFd::from_raw_fd(fd), result::pool::export_pointer(table, address).unwrap())
    };
    let child = Child::spawn("import_pool");
    let text: String = data.reserved.iter().map(|byte| format!("{byte:02x}")).collect();
    child.peer.send_with(&text, &[fd.as_fd()]);
    child.peer.expect("read and written");
    child.finish();
    assert_eq!((byte(&gpu, address), byte(&gpu, address + BYTES as u64 - 1)), (1, 2));
    // SAFETY: the memory is freed once, and nobody else has it any more.
    unsafe { result::pool::free_async(table, address, stream.raw()) }.unwrap();
    // SAFETY: as above.
    unsafe { result::linear::free(table, first.0) }.unwrap();
    stream.synchronize().unwrap();
    // CUDA's guide says that an exportable pool gives nothing back before it is destroyed.
    let kept = pool.reserved_bytes().unwrap();
    pool.trim(0).unwrap();
    let trimmed = pool.reserved_bytes().unwrap();
    observe_text("an exportable pool keeps when idle, and trimmed", format!("{kept}, {trimmed}"));
    drop((pool, fd));
    gpu.assert_freed(before);
}

pub fn import_pool(peer: &Peer) {
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let (text, fds) = peer.receive();
    let digits = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
    let data = CUmemPoolPtrExportData { reserved: std::array::from_fn(digits) };
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let fd_type = constants::HANDLE_POSIX_FD;
    let pool = result::pool::import_fd(table, fds[0].as_raw_fd(), fd_type).unwrap();
    // SAFETY: the pool is alive, and the data are of the same one.
    let address = unsafe { result::pool::import_pointer(table, pool, data) }.unwrap();
    let last = address + BYTES as u64 - 1;
    assert_eq!((byte(&gpu, address), byte(&gpu, last)), (1, 1));
    fill(&gpu, last, 2, 1);
    context.synchronize().unwrap();
    // SAFETY: the pool is alive; the memory is freed once.
    unsafe {
        let allocated = result::pool::alloc_from_pool(table, 4096, pool, stream.raw());
        refused("an allocation from an imported pool", allocated);
        result::pool::free_async(table, address, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        observe("an imported pool destroyed", &result::pool::destroy(table, pool));
    }
    peer.send("read and written");
}

#[test]
fn what_cannot_be_shared() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    let address = pool.alloc(MIB, &stream).unwrap().0;
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let fd_type = constants::HANDLE_POSIX_FD;
    // SAFETY: the pool is alive; the memory is freed once.
    unsafe {
        let exported = result::pool::export_fd(table, pool.raw(), fd_type);
        refused("a pool that was made without handle types", exported);
        let exported = result::pool::export_pointer(table, address);
        observe("memory of a pool that was made without handle types, exported", &exported);
        refused("fd -1 as a pool", result::pool::import_fd(table, -1, fd_type));
        result::pool::free_async(table, address, stream.raw()).unwrap();
    }
    let (_, other) = Peer::pair();
    refused("a socket as a pool", result::pool::import_fd(table, other.as_raw_fd(), fd_type));
    stream.synchronize().unwrap();
}
