//! Files that users pass: read and written by place, and never trusted.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

/// A file of a user, checked once, by whoever needs it first: even asking may hang.
#[derive(Debug)]
pub(crate) struct UserFile {
    fd: OwnedFd,
    checked: OnceLock<Result<(), &'static str>>,
}

/// Why a file could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileFailure {
    /// It ended after this many of the wanted bytes.
    Ended(usize),
    /// In words.
    Other(String),
}

impl UserFile {
    pub(crate) fn new(fd: OwnedFd) -> UserFile {
        UserFile { fd, checked: OnceLock::new() }
    }

    /// Refuses what has no bytes at places: pipes, sockets, folders, devices.
    pub(crate) fn check(&self) -> Result<(), FileFailure> {
        let checked = self.checked.get_or_init(|| {
            let status = rustix::fs::fstat(&self.fd).map_err(|_| "the file cannot be looked at")?;
            if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
                return Err("this is not a regular file");
            }
            let flags = rustix::fs::fcntl_getfl(&self.fd).unwrap_or(OFlags::empty());
            if flags.contains(OFlags::APPEND) {
                return Err("the file is open for appending, so nothing can be written at a place");
            }
            Ok(())
        });
        checked.map_err(|text| FileFailure::Other(text.to_owned()))
    }

    /// Fills the buffer from a place of the file.
    pub(crate) fn read(&self, mut buffer: &mut [u8], mut offset: u64) -> Result<(), FileFailure> {
        let wanted = buffer.len();
        while !buffer.is_empty() {
            match rustix::io::pread(&self.fd, &mut *buffer, offset) {
                Ok(0) => return Err(FileFailure::Ended(wanted - buffer.len())),
                Ok(count) => {
                    buffer = &mut buffer[count..];
                    offset += count as u64;
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(failure("reading", errno)),
            }
        }
        Ok(())
    }

    /// Writes the buffer at a place of the file.
    pub(crate) fn write(&self, mut buffer: &[u8], mut offset: u64) -> Result<(), FileFailure> {
        while !buffer.is_empty() {
            match rustix::io::pwrite(&self.fd, buffer, offset) {
                Ok(0) => return Err(failure("writing", Errno::NOSPC)),
                Ok(count) => {
                    buffer = &buffer[count..];
                    offset += count as u64;
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(failure("writing", errno)),
            }
        }
        Ok(())
    }
}

fn failure(what: &str, errno: Errno) -> FileFailure {
    FileFailure::Other(format!("{what} the file: {}", std::io::Error::from(errno)))
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};

    use super::*;

    #[test]
    fn only_regular_files_that_can_be_written_at_a_place_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let open = |options: &mut OpenOptions| UserFile::new(options.open(&path).unwrap().into());
        assert!(open(OpenOptions::new().write(true).create_new(true)).check().is_ok());
        assert!(open(OpenOptions::new().append(true)).check().is_err());
        for path in [folder.path().to_str().unwrap(), "/dev/null"] {
            assert!(UserFile::new(File::open(path).unwrap().into()).check().is_err(), "{path}");
        }
        let (reader, _writer) = std::io::pipe().unwrap();
        assert!(UserFile::new(reader.into()).check().is_err());
    }

    #[test]
    fn the_end_is_told_by_the_bytes_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"pond").unwrap();
        let file = UserFile::new(File::open(&path).unwrap().into());
        let mut buffer = [0; 4];
        assert_eq!(file.read(&mut buffer, 0), Ok(()));
        assert_eq!(&buffer, b"pond");
        assert_eq!(file.read(&mut buffer, 1), Err(FileFailure::Ended(3)));
        assert_eq!(file.read(&mut buffer, 9), Err(FileFailure::Ended(0)));
        let refused = file.write(b"x", 0).unwrap_err();
        assert!(
            matches!(refused, FileFailure::Other(text) if text.starts_with("writing the file"))
        );
    }
}
