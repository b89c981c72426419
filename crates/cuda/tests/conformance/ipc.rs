//! Plain memory between processes by legacy handles.

use crate::alone::alone;
use crate::child::{Child, Peer};
use crate::support::{Gpu, MIB, driver, invalid, is_soft, observe_text, pattern, status};
use millpond_cuda::sys::{CUdeviceptr, Status, constants};
use millpond_cuda::{
    AddressRange, Context, LinearMemory, OpenedMemory, PinnedBuffer, SharedPool, result,
};
use std::fmt::Write;

const SHARED_BYTES: u64 = 32 * MIB;
const SEED: u64 = 31;

type Handle = [u8; 64];

pub fn to_text(handle: &Handle) -> String {
    handle.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

pub fn from_text(text: &str) -> Handle {
    std::array::from_fn(|index| u8::from_str_radix(&text[2 * index..2 * index + 2], 16).unwrap())
}

fn export(address: CUdeviceptr) -> Result<Handle, Status> {
    result::ipc::memory_handle(driver().table(), address).map_err(|error| error.status)
}

fn open(handle: Handle) -> Result<CUdeviceptr, Status> {
    result::ipc::open_memory(driver().table(), &handle).map_err(|error| error.status)
}

fn close(address: CUdeviceptr) -> Status {
    // SAFETY: no work uses the memory.
    let closed = unsafe { result::ipc::close_memory(driver().table(), address) };
    closed.map_or_else(|error| error.status, |()| Status::SUCCESS)
}

fn read(gpu: &Gpu, address: CUdeviceptr, bytes: u64) -> Vec<u8> {
    let mut host = vec![0_u8; usize::try_from(bytes).unwrap()];
    let table = gpu.driver.table();
    // SAFETY: the buffer has these bytes, and so has the memory.
    unsafe { result::copy::device_to_host(table, host.as_mut_ptr().cast(), address, host.len()) }
        .unwrap();
    host
}

fn write(gpu: &Gpu, address: CUdeviceptr, bytes: &[u8]) {
    let table = gpu.driver.table();
    // SAFETY: the slice has these bytes, and so has the memory.
    unsafe { result::copy::host_to_device(table, address, bytes.as_ptr().cast(), bytes.len()) }
        .unwrap();
}

/// A process with plain memory and its handle.
fn exporter() -> (Child, Handle) {
    let child = Child::spawn("ipc_export");
    let (text, _) = child.peer.receive();
    (child, from_text(&text))
}

pub fn ipc_export(peer: &Peer) {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let bytes = usize::try_from(SHARED_BYTES).unwrap();
    let address = result::linear::alloc(gpu.driver.table(), bytes).unwrap();
    write(&gpu, address, &pattern(SHARED_BYTES, SEED));
    context.synchronize().unwrap();
    peer.send(&to_text(&export(address).unwrap()));
    peer.expect("look");
    assert_eq!(read(&gpu, address, 6), b"answer");
    peer.send("seen");
    peer.wait_for_the_end();
}

/// Tries to open a handle and says what came of it.
pub fn ipc_open(peer: &Peer) {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let (text, _) = peer.receive();
    match open(from_text(&text)) {
        Ok(address) => {
            assert_eq!(read(&gpu, address, SHARED_BYTES), pattern(SHARED_BYTES, SEED));
            assert_eq!(close(address), Status::SUCCESS);
            peer.send("the right bytes");
        }
        Err(status) => peer.send(&status.to_string()),
    }
}

#[test]
fn a_legacy_handle_is_opened_and_counted() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let free = gpu.driver.table().cuMemFree_v2;
    let before = gpu.free_bytes();
    let (mut child, handle) = exporter();
    let address = open(handle).unwrap();
    assert_eq!(read(&gpu, address, SHARED_BYTES), pattern(SHARED_BYTES, SEED));
    assert_eq!(open(handle), Ok(address), "the same address again");
    if is_soft() {
        // CUDA only says what must be called instead. SAFETY: refused, which is what is tested.
        assert_eq!(unsafe { free(address) }, Status::INVALID_VALUE);
    }
    assert_eq!(close(address), Status::SUCCESS);
    write(&gpu, address, b"answer");
    context.synchronize().unwrap();
    child.peer.send("look");
    child.peer.expect("seen");
    assert_eq!(close(address), Status::SUCCESS);
    assert_eq!(close(address), Status::INVALID_VALUE, "once more than opened");
    child.kill();
    gpu.assert_freed(before);
}

#[test]
fn memory_opened_by_a_legacy_handle_outlives_its_exporter() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let before = gpu.free_bytes();
    let (mut child, handle) = exporter();
    let reader = Child::spawn("ipc_open");
    reader.peer.send(&to_text(&handle));
    reader.peer.expect("the right bytes");
    reader.finish();
    let address = open(handle).unwrap();
    child.kill();
    assert_eq!(read(&gpu, address, SHARED_BYTES), pattern(SHARED_BYTES, SEED));
    let late = Child::spawn("ipc_open");
    late.peer.send(&to_text(&handle));
    late.peer.expect(&Status::INVALID_HANDLE.to_string());
    late.finish();
    assert_eq!(read(&gpu, address, SHARED_BYTES), pattern(SHARED_BYTES, SEED));
    gpu.assert_taken(before, SHARED_BYTES);
    assert_eq!(close(address), Status::SUCCESS);
    gpu.assert_freed(before);
}

#[test]
fn ones_own_legacy_handle_cannot_be_opened() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let address = result::linear::alloc(table, 4 << 20).unwrap();
    let handle = export(address).unwrap();
    let same = to_text(&handle) == to_text(&export(address).unwrap());
    observe_text("a legacy handle has the same bytes when asked for again", same);
    assert!(same || !is_soft());
    let own = open(handle);
    observe_text("cuIpcOpenMemHandle of one's own handle", own.err().unwrap_or(Status::SUCCESS));
    assert!(own.is_err() || !is_soft());
    if let Ok(opened) = own {
        assert_eq!(close(opened), Status::SUCCESS);
    }
    // SAFETY: the memory is ours and nothing uses it.
    unsafe { result::linear::free(table, address) }.unwrap();
}

#[test]
fn only_plain_memory_of_ones_own_has_a_legacy_handle() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let mapping = gpu.memory(gpu.unit());
    let pinned = PinnedBuffer::new(&context, 4096).unwrap();
    let pool = SharedPool::make(&context, 2 * MIB).unwrap();
    let managed = result::linear::alloc_managed(table, 4 << 20, constants::ATTACH_GLOBAL).unwrap();
    let (child, handle) = exporter();
    let opened = OpenedMemory::open(&context, &handle).unwrap();
    for (what, address) in [
        ("mapped memory", mapping.pointer().0),
        ("pinned memory", pinned.as_ptr().addr() as u64),
        ("memory of a pool", pool.pointer().0),
        ("managed memory", managed),
        ("opened memory", opened.pointer().0),
        ("nothing", 0x1000),
    ] {
        assert_eq!(export(address), Err(Status::INVALID_VALUE), "{what}");
        if what != "mapped memory" {
            let retained = result::mem::retain(table, address).map_err(|error| error.status);
            assert_eq!(retained, Err(Status::INVALID_VALUE), "{what} has no handle to retain");
        }
    }
    let garbage = open([0x55; 64]);
    observe_text("cuIpcOpenMemHandle of garbage", garbage.unwrap_err());
    // SAFETY: the memory is ours and nothing uses it.
    unsafe { result::linear::free(table, managed) }.unwrap();
    opened.close().unwrap();
    drop(child);
}

/// Shares memory, frees it and allocates again, as it is told.
pub fn ipc_reuse(peer: &Peer) {
    let gpu = Gpu::take();
    let context = gpu.context();
    let memory = LinearMemory::alloc(&context, FIRST_BYTES).unwrap();
    memory.fill(1).unwrap();
    peer.send(&to_text(&memory.ipc_handle().unwrap()));
    peer.expect("free");
    let place = memory.pointer();
    memory.free().unwrap();
    peer.send("freed");
    let (order, _) = peer.receive();
    let occupied = (order == OCCUPY_FIRST)
        .then(|| AddressRange::reserve_at(&gpu.driver, FIRST_BYTES, 0, place).unwrap());
    if let Some(range) = &occupied {
        assert_eq!(range.start(), place, "the addresses are free again");
    }
    let bytes = if order == ANOTHER_SIZE { OTHER_BYTES } else { FIRST_BYTES };
    let next = LinearMemory::alloc(&context, bytes).unwrap();
    assert!(occupied.is_none() || next.pointer() != place);
    next.fill(2).unwrap();
    peer.send("allocated");
    peer.wait_for_the_end();
}

const FIRST_BYTES: u64 = 4 * MIB;
const OTHER_BYTES: u64 = 6 * MIB;

const ALLOCATE: &str = "allocate as much";
const OCCUPY_FIRST: &str = "occupy the addresses, then allocate as much";
const ANOTHER_SIZE: &str = "allocate another size";

/// The handle of memory that its process has freed before it allocated again, in this way.
fn old_handle(context: &Context, order: &str) -> (Child, Handle) {
    let child = Child::spawn("ipc_reuse");
    let handle = from_text(&child.peer.receive().0);
    let opened = OpenedMemory::open(context, &handle).unwrap();
    assert_eq!((opened.bytes(), byte_of(&opened)), (FIRST_BYTES, 1));
    opened.close().unwrap();
    child.peer.send("free");
    child.peer.expect("freed");
    invalid("memory that was freed", OpenedMemory::open(context, &handle));
    child.peer.send(order);
    child.peer.expect("allocated");
    (child, handle)
}

fn byte_of(memory: &OpenedMemory) -> u8 {
    let mut byte = [0];
    memory.span().copy_to_host(memory.bytes() - 1, &mut byte).unwrap();
    byte[0]
}

/// What the pond's rules for shared plain memory rest on: a driver may take the bytes of freed memory for those of what its
/// process allocates next. Two H200s of the same driver version were seen, one of which opened it every time and one of
/// which refused.
#[test]
fn an_old_handle_may_open_the_next_memory_of_its_size_wherever_it_lies() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    for order in [ALLOCATE, OCCUPY_FIRST] {
        let (child, handle) = old_handle(&context, order);
        let opened = OpenedMemory::open(&context, &handle);
        observe_text(&format!("{order}, and the old handle opens the new memory"), opened.is_ok());
        match opened {
            Ok(other) => {
                assert_eq!(byte_of(&other), 2, "{order}: nothing is left of the old memory");
                assert_eq!(other.bytes(), FIRST_BYTES, "{order}");
                other.close().unwrap();
            }
            Err(error) => {
                assert!(!is_soft(), "the software driver is the worst of those seen");
                assert_eq!(error.status, Status::NOT_PERMITTED, "{order}");
            }
        }
        drop(child);
    }
}

#[test]
fn an_old_handle_does_not_open_the_next_memory_of_another_size() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let (child, handle) = old_handle(&context, ANOTHER_SIZE);
    assert_eq!(status(OpenedMemory::open(&context, &handle)), Status::NOT_PERMITTED);
    drop(child);
}

#[test]
fn memory_that_its_exporter_freed_stays_where_it_is_open() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let child = Child::spawn("ipc_reuse");
    let handle = from_text(&child.peer.receive().0);
    // The other process has its context by now.
    let with_it = gpu.free_bytes();
    let opened = OpenedMemory::open(&context, &handle).unwrap();
    child.peer.send("free");
    child.peer.expect("freed");
    assert_eq!(byte_of(&opened), 1);
    gpu.assert_taken(with_it, 0);
    child.peer.send(ANOTHER_SIZE);
    child.peer.expect("allocated");
    assert_eq!(byte_of(&opened), 1, "what is open is the old memory");
    gpu.assert_taken(with_it, OTHER_BYTES);
    opened.close().unwrap();
    gpu.assert_freed(with_it + FIRST_BYTES - OTHER_BYTES);
    assert_eq!(status(OpenedMemory::open(&context, &[0; 64])), Status::INVALID_VALUE);
}

#[test]
fn an_opening_that_cannot_be_closed_is_kept() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let (child, handle) = exporter();
    let opened = OpenedMemory::open(&context, &handle).unwrap();
    let _bound = context.bind().unwrap();
    assert_eq!(close(opened.pointer().0), Status::SUCCESS, "behind its back");
    let (kept, error) = opened.close_or_keep().unwrap_err();
    assert_eq!(error.status, Status::INVALID_VALUE);
    assert_eq!(open(handle), Ok(kept.pointer().0));
    kept.close().unwrap();
    drop(child);
}
