//! Memory between processes, and after their death.

use crate::child::{Child, Peer, import};
use crate::support::{Gpu, MIB, invalid, pattern, read, status};
use millpond_cuda::sys::Status;
use millpond_cuda::{Access, Allocation, Context};
use std::os::fd::AsFd;

const SHARED_BYTES: u64 = 32 * MIB;
const SEED: u64 = 77;

#[test]
fn memory_is_made_and_exported_without_a_context() {
    let gpu = Gpu::take();
    let child = Child::spawn("create_without_context");
    let fd = child.peer.expect_fd("created and released, no context");
    child.finish();
    let allocation = import(&gpu, &fd, SHARED_BYTES);
    let mapping = gpu.map(&allocation, Access::ReadWrite);
    assert!(read(&mapping).iter().all(|byte| *byte == 0));
    mapping.copy_from_host(0, b"the fd was all that was left").unwrap();
}

pub fn create_without_context(peer: &Peer) {
    let gpu = Gpu::take();
    let allocation = gpu.create(SHARED_BYTES);
    let fd = allocation.export().unwrap();
    allocation.release().unwrap();
    assert!(!Context::primary_state(&gpu.device).unwrap().active);
    assert_eq!(Context::current(&gpu.driver).unwrap(), None);
    peer.send_with("created and released, no context", &[fd.as_fd()]);
}

#[test]
fn memory_survives_its_killed_creator() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let mut child = Child::spawn("create_and_fill");
    let fd = child.peer.expect_fd("filled");
    child.kill();

    let allocation = import(&gpu, &fd, SHARED_BYTES);
    let mapping = gpu.map(&allocation, Access::ReadOnly);
    assert_eq!(read(&mapping), pattern(SHARED_BYTES, SEED));
    let orphan = allocation.export();
    assert_eq!(status(orphan), Status::INVALID_VALUE, "also after the owner died");
    drop((mapping, allocation));
    gpu.assert_taken(before, SHARED_BYTES);
    drop(fd);
    gpu.assert_freed(before);
}

pub fn create_and_fill(peer: &Peer) {
    let gpu = Gpu::take();
    let allocation = gpu.create(SHARED_BYTES);
    let mapping = gpu.map(&allocation, Access::ReadWrite);
    mapping.copy_from_host(0, &pattern(SHARED_BYTES, SEED)).unwrap();
    let fd = allocation.export().unwrap();
    peer.send_with("filled", &[fd.as_fd()]);
    drop(fd);
    peer.wait_for_the_end();
}

#[test]
fn leftovers_of_a_killed_process_are_not_handed_out() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let mut child = Child::spawn("create_and_fill");
    drop(child.peer.expect_fd("filled"));
    child.kill();
    gpu.assert_freed(before);
    let fresh = gpu.memory(SHARED_BYTES);
    assert!(read(&fresh).iter().all(|byte| *byte == 0));
}

#[test]
fn an_importer_reads_and_writes_but_cannot_export() {
    let gpu = Gpu::take();
    let allocation = gpu.create(SHARED_BYTES);
    let mapping = gpu.map(&allocation, Access::ReadWrite);
    mapping.copy_from_host(0, &pattern(SHARED_BYTES, SEED)).unwrap();
    let fd = allocation.export().unwrap();
    let child = Child::spawn("import_and_export");
    child.peer.send_with("here", &[fd.as_fd()]);
    let invalid = Status::INVALID_VALUE;
    child.peer.expect(&format!("export {invalid}, after retain {invalid}"));
    let mut answer = [0; 6];
    mapping.copy_to_host(0, &mut answer).unwrap();
    assert_eq!(&answer, b"answer");
    child.finish();
}

pub fn import_and_export(peer: &Peer) {
    let gpu = Gpu::take();
    let fd = peer.expect_fd("here");
    let allocation = import(&gpu, &fd, SHARED_BYTES);
    let mapping = gpu.map(&allocation, Access::ReadWrite);
    assert_eq!(read(&mapping), pattern(SHARED_BYTES, SEED));
    mapping.copy_from_host(0, b"answer").unwrap();
    let export = status(allocation.export());
    let retained = Allocation::retain(&gpu.driver, mapping.pointer(), SHARED_BYTES).unwrap();
    let again = status(retained.export());
    peer.send(&format!("export {export}, after retain {again}"));
}

#[test]
fn a_process_without_cuda_keeps_memory_alive_and_passes_it_on() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let mut child = Child::spawn("hold_without_cuda");
    let fd = {
        let allocation = gpu.create(SHARED_BYTES);
        gpu.map(&allocation, Access::ReadWrite).copy_from_host(0, b"held").unwrap();
        allocation.export().unwrap()
    };
    child.peer.send_with("hold", &[fd.as_fd()]);
    child.peer.expect("held");
    drop(fd);
    gpu.assert_taken(before, SHARED_BYTES);

    child.peer.send("give");
    let fd = child.peer.expect_fd("given");
    let mapping = gpu.map(&import(&gpu, &fd, SHARED_BYTES), Access::ReadOnly);
    let mut bytes = [0; 4];
    mapping.copy_to_host(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"held");
    drop((mapping, fd));
    gpu.assert_taken(before, SHARED_BYTES);
    child.kill();
    gpu.assert_freed(before);
}

pub fn hold_without_cuda(peer: &Peer) {
    let fd = peer.expect_fd("hold");
    peer.send("held");
    peer.expect("give");
    peer.send_with("given", &[fd.as_fd()]);
    peer.wait_for_the_end();
}

#[test]
fn an_fd_in_flight_keeps_memory_alive() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let (sender, receiver) = Peer::pair();
    sender.send_with("in flight", &[gpu.create(SHARED_BYTES).export().unwrap().as_fd()]);
    drop(sender);
    gpu.assert_taken(before, SHARED_BYTES);
    let fd = receiver.expect_fd("in flight");
    drop(import(&gpu, &fd, SHARED_BYTES));
    drop((receiver, fd));
    gpu.assert_freed(before);
}

#[test]
fn all_that_a_killed_process_held_is_freed() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let mut child = Child::spawn("hold_mapped");
    child.peer.expect("holding");
    assert!(gpu.free_bytes() + 2 * SHARED_BYTES <= before);
    child.kill();
    gpu.assert_freed(before);
}

/// Holds one mapping without a handle, one handle without a mapping, and an fd of each.
pub fn hold_mapped(peer: &Peer) {
    let gpu = Gpu::take();
    let mapped = gpu.create(SHARED_BYTES);
    let mapping = gpu.map(&mapped, Access::ReadWrite);
    let first = mapped.export().unwrap();
    drop(mapped);
    let handle = gpu.create(SHARED_BYTES);
    let second = handle.export().unwrap();
    mapping.memset(0, SHARED_BYTES, 1).unwrap();
    peer.send("holding");
    peer.wait_for_the_end();
    drop((first, second, handle, mapping));
}

#[test]
fn a_read_only_import_is_enforced_for_the_importer_only() {
    let gpu = Gpu::take();
    let allocation = gpu.create(gpu.unit());
    let reader = gpu.map(&allocation, Access::ReadOnly);
    let writer = gpu.map(&allocation, Access::ReadWrite);
    let fill = reader.memset(0, 16, 1);
    assert_eq!(status(fill), Status::INVALID_VALUE, "cuMemset of a read-only mapping");
    invalid("cuMemcpyHtoD into a read-only mapping", reader.copy_from_host(0, b"no"));
    let stream = millpond_cuda::Stream::new(&gpu.context()).unwrap();
    invalid("cuMemsetAsync of a read-only mapping", stream.memset(&reader, 0, 16, 1));
    stream.synchronize().unwrap();
    writer.memset(0, 16, 9).unwrap();
    assert_eq!(read(&reader)[..16], [9; 16]);
}
