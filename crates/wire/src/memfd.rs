//! Sealed memfds: how something larger than a datagram travels.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, SealFlags};

/// A memfd with these bytes that nobody can change any more.
///
/// # Errors
/// What the kernel says, for example when memory is short.
pub fn sealed(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let fd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let file = File::from(fd);
    file.write_all_at(bytes, 0)?;
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}

/// Whether nobody can change this memfd any more, and it has at most `max` bytes.
///
/// # Errors
/// What is wrong with it.
pub fn check_sealed(fd: impl AsFd, max: u64) -> io::Result<()> {
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    let seals = rustix::fs::fcntl_get_seals(&fd)
        .map_err(|_| invalid("the descriptor is not a memfd".to_owned()))?;
    let all = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    if !seals.contains(all) {
        return Err(invalid("the memfd is not sealed".to_owned()));
    }
    let length = u64::try_from(rustix::fs::fstat(&fd)?.st_size).unwrap_or(u64::MAX);
    if length == 0 || length > max {
        return Err(invalid(format!("the memfd has {length} bytes, 1 to {max} are possible")));
    }
    Ok(())
}

/// Reads a sealed memfd of exactly `bytes` bytes.
///
/// # Errors
/// If it is larger than `max`, not of that length, or not sealed against shrinking and writing:
/// the sender could change it under the reader.
pub fn read_sealed(fd: impl AsFd, bytes: u64, max: u64) -> io::Result<Vec<u8>> {
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    let seals = rustix::fs::fcntl_get_seals(&fd)
        .map_err(|_| invalid("the descriptor is not a memfd".to_owned()))?;
    if !seals.contains(SealFlags::SHRINK | SealFlags::WRITE) {
        return Err(invalid("the memfd is not sealed".to_owned()));
    }
    let file = File::from(fd.as_fd().try_clone_to_owned()?);
    let length = file.metadata()?.len();
    if length != bytes || length > max {
        return Err(invalid(format!(
            "the memfd has {length} bytes, {bytes} were announced, {max} are possible"
        )));
    }
    let size =
        usize::try_from(length).map_err(|_| invalid(format!("{length} bytes are too many")))?;
    let mut contents = vec![0; size];
    file.read_exact_at(&mut contents, 0)?;
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sealed_memfd_of_the_right_length_is_read() {
        let fd = sealed("test", b"pond").unwrap();
        assert_eq!(read_sealed(&fd, 4, 100).unwrap(), b"pond");
        assert!(read_sealed(&fd, 5, 100).is_err());
        assert!(read_sealed(&fd, 4, 3).is_err());
        let open =
            rustix::fs::memfd_create("open", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
                .unwrap();
        assert!(read_sealed(&open, 0, 100).unwrap_err().to_string().contains("not sealed"));
        assert!(read_sealed(File::open("/dev/null").unwrap(), 0, 100).is_err());
        assert!(check_sealed(&fd, 4).is_ok());
        assert!(check_sealed(&fd, 3).is_err());
        assert!(check_sealed(&open, 100).is_err());
        assert!(check_sealed(sealed("empty", b"").unwrap(), 100).is_err());
        assert!(check_sealed(File::open("/dev/null").unwrap(), 100).is_err());
    }
}
