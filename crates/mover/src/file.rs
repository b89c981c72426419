//! Files that users pass: read and written by place, and never trusted.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use crate::kernel_files;
use crate::settings::PAGE_BYTES;

/// What an offset, an address and a size of a read past the page cache are multiples of.
const PAGE: usize = PAGE_BYTES as usize;

/// A file of a user, checked once, by whoever needs it first: even asking may hang.
#[derive(Debug)]
pub(crate) struct UserFile {
    fd: OwnedFd,
    /// Whether it is read past the page cache.
    checked: OnceLock<Result<bool, FileFailure>>,
}

/// What is read before it is shown: small enough to be in the processor's second cache then. On an
/// H200's host a load that hashes is as fast as one that does not with this, and 3 % slower with
/// whole blocks.
const SEEN_BYTES: usize = 512 << 10;

/// Why a file could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileFailure {
    /// It ended after this many of the wanted bytes.
    Ended(usize),
    /// Such a file is neither read nor written for anybody.
    Denied(String),
    Other(String),
}

impl UserFile {
    pub(crate) fn new(fd: OwnedFd) -> UserFile {
        UserFile { fd, checked: OnceLock::new() }
    }

    /// Refuses what has no bytes at places: pipes, sockets, folders, devices; and what the kernel
    /// makes up.
    pub(crate) fn check(&self) -> Result<(), FileFailure> {
        let other = |text: &str| FileFailure::Other(text.to_owned());
        let checked = self.checked.get_or_init(|| {
            let unknown = |_| other("the file cannot be examined");
            let status = rustix::fs::fstat(&self.fd).map_err(unknown)?;
            if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
                return Err(other("this is not a regular file"));
            }
            let system = rustix::fs::fstatfs(&self.fd).map_err(unknown)?;
            if let Some(name) = kernel_files::refused(system.f_type) {
                let text = format!(
                    "the file is of the kernel's file system '{name}', not on a disk or in memory"
                );
                return Err(FileFailure::Denied(text));
            }
            let flags = rustix::fs::fcntl_getfl(&self.fd).unwrap_or(OFlags::empty());
            if flags.contains(OFlags::APPEND) {
                return Err(other(
                    "the file is open for appending, so nothing can be written at an offset",
                ));
            }
            Ok(flags.contains(OFlags::DIRECT))
        });
        checked.as_ref().map(drop).map_err(Clone::clone)
    }

    /// Reads what lies at these places of the file, one behind the other, and says where in the
    /// buffer it begins. The buffer has [`crate::settings::SLACK_BYTES`] more than is wanted. What
    /// is there so far is shown on the way, from the first byte on.
    pub(crate) fn read_all(
        &self,
        buffer: &mut [u8],
        extents: impl Iterator<Item = (u64, usize)>,
        mut seen: impl FnMut(&[u8]),
    ) -> Result<usize, FileFailure> {
        if self.checked.get() == Some(&Ok(true)) {
            let at = self.read_all_direct(buffer, extents)?;
            seen(&buffer[at..]);
            return Ok(at);
        }
        let mut end = 0;
        for (mut offset, bytes) in extents {
            let until = end + bytes;
            while end < until {
                let now = SEEN_BYTES.min(until - end);
                let read = self.read(&mut buffer[end..end + now], offset);
                read.map_err(|failure| failure.after(end))?;
                (end, offset) = (end + now, offset + now as u64);
                seen(&buffer[..end]);
            }
        }
        Ok(0)
    }

    /// As [`Self::read_all`] with whole pages. What follows in the file is read where it stays;
    /// each further place is read behind it and moved.
    fn read_all_direct(
        &self,
        buffer: &mut [u8],
        extents: impl Iterator<Item = (u64, usize)>,
    ) -> Result<usize, FileFailure> {
        let first = buffer.as_ptr().align_offset(PAGE);
        let buffer = &mut buffer[first..];
        let (mut start, mut end) = (None, 0_usize);
        for (offset, bytes) in extents {
            let room = end.next_multiple_of(PAGE);
            let before = end - start.unwrap_or(end);
            let lead = self
                .read_direct(&mut buffer[room..], offset, bytes)
                .map_err(|failure| failure.after(before))?;
            let found = room + lead;
            if start.is_none() {
                (start, end) = (Some(found), found + bytes);
            } else {
                buffer.copy_within(found..found + bytes, end);
                end += bytes;
            }
        }
        Ok(first + start.unwrap_or(0))
    }

    /// Reads the pages that have these bytes, and says where in the buffer they begin.
    fn read_direct(
        &self,
        buffer: &mut [u8],
        offset: u64,
        bytes: usize,
    ) -> Result<usize, FileFailure> {
        let page = offset - offset % u64::from(PAGE_BYTES);
        let lead = usize::try_from(offset - page).unwrap_or(0);
        let buffer = &mut buffer[..(lead + bytes).next_multiple_of(PAGE)];
        let mut got = 0;
        while got < lead + bytes {
            // Only the end of a file is not at a page: one more look says whether that was it.
            let from = got - got % PAGE;
            match rustix::io::pread(&self.fd, &mut buffer[from..], page + from as u64) {
                Ok(count) if from + count <= got => {
                    return Err(FileFailure::Ended(got.saturating_sub(lead)));
                }
                Ok(count) => got = from + count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(failure("reading", errno)),
            }
        }
        Ok(lead)
    }

    /// Fills the buffer from a place of the file.
    fn read(&self, mut buffer: &mut [u8], mut offset: u64) -> Result<(), FileFailure> {
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

impl FileFailure {
    /// The mover cannot become the user.
    pub(crate) fn no_rights(user: u32) -> FileFailure {
        FileFailure::Denied(format!("the rights of user {user} cannot be taken"))
    }

    /// As if the disk had failed.
    pub(crate) fn disk() -> FileFailure {
        failure("reading", Errno::IO)
    }

    /// The same, counted from this many bytes earlier.
    fn after(self, bytes: usize) -> FileFailure {
        match self {
            FileFailure::Ended(at) => FileFailure::Ended(bytes + at),
            other => other,
        }
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
