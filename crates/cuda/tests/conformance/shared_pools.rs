//! Pools between processes: an fd for the pool, 64 bytes for each allocation.

use crate::alone::alone;
use crate::child::{Child, Peer};
use crate::ipc::{from_text, to_text};
use crate::support::{Gpu, MIB, invalid, observe, observe_text, refused, status};
use cudarc::driver::sys::{CUmemAccess_flags, CUmemLocationType};
use millpond_cuda::sys::{
    CUmemAccessDesc, CUmemLocation, CUmemPoolPtrExportData, PoolProperties, Status, constants,
};
use millpond_cuda::{MemoryPool, PoolMemory, SharedPool, Stream, result};
use std::os::fd::{AsFd, AsRawFd};

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
        let fd = result::pool::export_fd(table, pool.raw()).unwrap();
        (fd, result::pool::export_pointer(table, address).unwrap())
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
        let exported = result::pool::export_fd(table, pool.raw());
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

/// Makes a pool with one allocation, sends it and does as it is told.
pub fn make_shared_pool(peer: &Peer) {
    let gpu = Gpu::take();
    let pool = SharedPool::make(&gpu.context(), SHARED_BYTES).unwrap();
    pool.span().memset(0, SHARED_BYTES, 6).unwrap();
    let (fd, data) = pool.export().unwrap();
    assert_eq!(pool.export().unwrap().1, data, "the same name again");
    peer.send_with(&to_text(&data), &[fd.as_fd()]);
    drop(fd);
    peer.expect("destroy");
    drop(pool);
    peer.send("destroyed");
    peer.wait_for_the_end();
}

const SHARED_BYTES: u64 = 66 * MIB;
/// What a pool takes for that: whole steps of 32 MiB.
const RESERVED_BYTES: u64 = 96 * MIB;

fn first_and_last(memory: &PoolMemory) -> [u8; 2] {
    let (mut first, mut last) = ([0], [0]);
    memory.span().copy_to_host(0, &mut first).unwrap();
    memory.span().copy_to_host(memory.bytes() - 1, &mut last).unwrap();
    [first[0], last[0]]
}

#[test]
fn the_descriptor_of_a_pool_alone_keeps_its_memory() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let before = gpu.free_bytes();
    let mut child = Child::spawn("make_shared_pool");
    let (data, mut fds) = child.peer.receive();
    let data = from_text(&data);
    let fd = fds.remove(0);
    child.kill();
    gpu.assert_taken(before, RESERVED_BYTES);
    for _ in 0..2 {
        let memory = PoolMemory::import(&context, fd.as_fd(), &data).unwrap();
        assert_eq!((memory.bytes(), first_and_last(&memory)), (SHARED_BYTES, [6, 6]));
        memory.release().unwrap();
        gpu.assert_taken(before, RESERVED_BYTES);
    }
    let memory = PoolMemory::import(&context, fd.as_fd(), &data).unwrap();
    drop(fd);
    assert_eq!(first_and_last(&memory), [6, 6], "what was imported stays");
    drop(memory);
    gpu.assert_freed(before);
}

#[test]
fn imported_memory_stays_when_its_pool_is_destroyed() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let child = Child::spawn("make_shared_pool");
    let (data, fds) = child.peer.receive();
    let memory = PoolMemory::import(&context, fds[0].as_fd(), &from_text(&data)).unwrap();
    child.peer.send("destroy");
    child.peer.expect("destroyed");
    assert_eq!(first_and_last(&memory), [6, 6]);
    memory.release().unwrap();
}

#[test]
fn what_an_imported_pool_refuses() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let child = Child::spawn("make_shared_pool");
    let (data, fds) = child.peer.receive();
    let data = CUmemPoolPtrExportData { reserved: from_text(&data) };
    let fd_type = constants::HANDLE_POSIX_FD;
    let pool = result::pool::import_fd(table, fds[0].as_raw_fd(), fd_type).unwrap();
    // SAFETY: the pool is alive, the data are of the same one, and the memory is freed once.
    unsafe {
        let address = result::pool::import_pointer(table, pool, data).unwrap();
        let again = result::pool::import_pointer(table, pool, data).unwrap();
        assert_eq!(again, address, "imported twice");
        let location = CUmemLocation {
            type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            id: gpu.device.ordinal(),
        };
        let flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ;
        let read_only =
            result::pool::set_access(table, pool, &[CUmemAccessDesc { location, flags }]);
        assert_eq!(status(read_only), Status::NOT_SUPPORTED);
        invalid("an imported pool exported", result::pool::export_fd(table, pool));
        invalid("an imported pointer exported", result::pool::export_pointer(table, address));
        result::linear::free(table, address).unwrap();
        let twice = result::linear::free(table, address);
        observe("what was imported twice, freed a second time", &twice);
        result::pool::destroy(table, pool).unwrap();
    }
    drop(child);
}

#[test]
fn exportable_pools_take_memory_in_steps() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    for (asked, taken) in [(2 * MIB, 32 * MIB), (SHARED_BYTES, RESERVED_BYTES)] {
        let pool = SharedPool::make(&context, asked).unwrap();
        assert_eq!(pool.pool().reserved_bytes().unwrap(), taken, "for {asked}");
    }
    let stream = Stream::new(&context).unwrap();
    let mut properties = PoolProperties::of_device(gpu.device.ordinal());
    properties.handle_types = constants::HANDLE_POSIX_FD;
    properties.max_bytes = 2 << 20;
    let pool = MemoryPool::with_properties(&gpu.device, &properties).unwrap();
    let address = pool.alloc(2 * MIB, &stream).unwrap();
    assert_eq!(pool.reserved_bytes().unwrap(), 32 * MIB, "also with a largest size");
    let _bound = context.bind().unwrap();
    // SAFETY: the memory is freed once, and nothing uses it.
    unsafe { result::pool::free_async(gpu.driver.table(), address.0, stream.raw()) }.unwrap();
    stream.synchronize().unwrap();
}
