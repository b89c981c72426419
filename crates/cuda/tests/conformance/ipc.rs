//! Plain memory between processes by legacy handles.

use crate::alone::alone;
use crate::child::{Child, Peer};
use crate::extra::{Extra, need};
use crate::support::{Gpu, MIB, is_soft, observe_text, pattern};
use millpond_cuda::sys::{CUdeviceptr, CUipcMemHandle, Status};
use millpond_cuda::{PinnedBuffer, result};
use std::fmt::Write;

const SHARED_BYTES: u64 = 32 * MIB;
const SEED: u64 = 31;
const LAZY_PEER_ACCESS: u32 = 1;

fn to_text(handle: &CUipcMemHandle) -> String {
    handle.reserved.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{:02x}", byte.to_ne_bytes()[0]).unwrap();
        text
    })
}

fn from_text(text: &str) -> CUipcMemHandle {
    let mut handle = CUipcMemHandle { reserved: [0; 64] };
    for (index, byte) in handle.reserved.iter_mut().enumerate() {
        let value = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).unwrap();
        *byte = i8::from_ne_bytes([value]) as _;
    }
    handle
}

fn export(address: CUdeviceptr) -> Result<CUipcMemHandle, Status> {
    let mut handle = CUipcMemHandle { reserved: [0; 64] };
    let get = Extra::find().cuIpcGetMemHandle.unwrap();
    // SAFETY: the out-pointer is valid for the call.
    let status = unsafe { get(&raw mut handle, address) };
    if status.is_success() { Ok(handle) } else { Err(status) }
}

fn open(handle: CUipcMemHandle) -> Result<CUdeviceptr, Status> {
    let mut address = 0;
    let open = Extra::find().cuIpcOpenMemHandle_v2.unwrap();
    // SAFETY: the out-pointer is valid for the call.
    let status = unsafe { open(&raw mut address, handle, LAZY_PEER_ACCESS) };
    if status.is_success() { Ok(address) } else { Err(status) }
}

fn close(address: CUdeviceptr) -> Status {
    let close = Extra::find().cuIpcCloseMemHandle.unwrap();
    // SAFETY: no work uses the memory.
    unsafe { close(address) }
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
fn exporter() -> (Child, CUipcMemHandle) {
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
    let extra = Extra::find();
    let free = gpu.driver.table().cuMemFree_v2;
    let _all = (need!(extra, cuIpcOpenMemHandle_v2), need!(extra, cuIpcCloseMemHandle));
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
    let once_more = close(address);
    observe_text("cuIpcCloseMemHandle once more than opened", once_more);
    assert_ne!(once_more, Status::SUCCESS);
    child.kill();
    gpu.assert_freed(before);
}

#[test]
fn memory_opened_by_a_legacy_handle_outlives_its_exporter() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let _all = need!(Extra::find(), cuIpcOpenMemHandle_v2);
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
    let _all = need!(Extra::find(), cuIpcGetMemHandle);
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
fn only_plain_memory_has_a_legacy_handle() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let _all = need!(Extra::find(), cuIpcGetMemHandle);
    let mapping = gpu.memory(gpu.unit());
    let pinned = PinnedBuffer::new(&context, 4096).unwrap();
    for (what, address) in [
        ("mapped memory", mapping.pointer().0),
        ("pinned memory", pinned.as_ptr().addr() as u64),
        ("nothing", 0x1000),
    ] {
        let refused = export(address).unwrap_err();
        observe_text(&format!("cuIpcGetMemHandle of {what}"), refused);
    }
    let garbage = open(CUipcMemHandle { reserved: [0x55; 64] });
    observe_text("cuIpcOpenMemHandle of garbage", garbage.unwrap_err());
}
