//! When memory is freed: after the last handle, fd and mapping, and not before.

use crate::support::{Gpu, MIB, invalid, pattern, read, refused, status};
use millpond_cuda::sys::Status;
use millpond_cuda::{Access, Allocation};
use std::fs::File;
use std::os::fd::AsFd;

#[test]
fn a_mapping_keeps_memory_alive() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let allocation = gpu.create(32 * MIB);
    let mapping = gpu.map(&allocation, Access::ReadWrite);
    let bytes = pattern(mapping.bytes(), 5);
    mapping.copy_from_host(0, &bytes).unwrap();
    allocation.release().unwrap();
    gpu.assert_taken(before, 32 * MIB);
    assert_eq!(read(&mapping), bytes);
    mapping.unmap().unwrap();
    gpu.assert_freed(before);
}

#[test]
fn an_fd_keeps_memory_alive() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let allocation = gpu.create(32 * MIB);
    let mapping = gpu.map(&allocation, Access::ReadWrite);
    let bytes = pattern(mapping.bytes(), 6);
    mapping.copy_from_host(0, &bytes).unwrap();
    let fd = allocation.export().unwrap();
    drop((allocation, mapping));
    gpu.assert_taken(before, 32 * MIB);

    let again = Allocation::import(&gpu.driver, fd.as_fd(), 32 * MIB).unwrap();
    let mapping = gpu.map(&again, Access::ReadOnly);
    assert_eq!(read(&mapping), bytes);
    let copy = fd.try_clone().unwrap();
    drop((again, mapping, fd));
    gpu.assert_taken(before, 32 * MIB);
    drop(copy);
    gpu.assert_freed(before);
}

#[test]
fn every_import_is_a_reference() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let fd = gpu.create(32 * MIB).export().unwrap();
    let imports: Vec<_> =
        (0..3).map(|_| Allocation::import(&gpu.driver, fd.as_fd(), 32 * MIB).unwrap()).collect();
    drop(fd);
    for import in imports {
        gpu.assert_taken(before, 32 * MIB);
        drop(import);
    }
    gpu.assert_freed(before);
}

#[test]
fn memory_exported_twice_is_one_memory() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let allocation = gpu.create(unit);
    let fds = [allocation.export().unwrap(), allocation.export().unwrap()];
    let [first, second] = fds.map(|fd| Allocation::import(&gpu.driver, fd.as_fd(), unit).unwrap());
    let (writer, reader) = (gpu.map(&first, Access::ReadWrite), gpu.map(&second, Access::ReadOnly));
    writer.copy_from_host(0, b"shared").unwrap();
    let mut bytes = [0; 6];
    reader.copy_to_host(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"shared");
}

#[test]
fn exported_fds_do_not_slip_into_children() {
    let gpu = Gpu::take();
    let fd = gpu.create(gpu.unit()).export().unwrap();
    let flags = rustix::io::fcntl_getfd(&fd).unwrap();
    assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
}

#[test]
fn rubbish_fds_are_refused() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let null = File::open("/dev/null").unwrap();
    let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
    let memfd = rustix::fs::memfd_create("rubbish", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&memfd, unit).unwrap();
    for (what, fd) in
        [("/dev/null", null.as_fd()), ("a socket", socket.as_fd()), ("a memfd", memfd.as_fd())]
    {
        let result = Allocation::import(&gpu.driver, fd, unit);
        refused(&format!("cuMemImportFromShareableHandle of {what}"), result);
    }
}

#[test]
fn a_wrong_size_is_found_when_mapping() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let fd = gpu.create(2 * unit).export().unwrap();
    for (what, bytes) in [("smaller", unit), ("larger", 3 * unit)] {
        let import = Allocation::import(&gpu.driver, fd.as_fd(), bytes).unwrap();
        let range = gpu.reserve(bytes);
        let context = gpu.context();
        let result = millpond_cuda::Mapping::map(&context, &range, 0, &import, Access::ReadWrite);
        assert_eq!(status(result), Status::NOT_SUPPORTED, "{what} than it is");
    }
}

#[test]
fn the_creator_importing_its_own_memory() {
    let gpu = Gpu::take();
    let allocation = gpu.create(gpu.unit());
    let fd = allocation.export().unwrap();
    let import = Allocation::import(&gpu.driver, fd.as_fd(), gpu.unit()).unwrap();
    invalid("cuMemExportToShareableHandle of one's own import", import.export());
    assert!(allocation.export().is_ok());
}
