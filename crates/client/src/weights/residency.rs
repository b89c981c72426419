//! Whether a file is in the page cache, and the descriptor to read it with.
//!
//! A file that is cached is read fastest through the cache. One that is not would be copied twice
//! and push everything else out, so it is read past the cache, where its file system can.

use std::fs::File;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags};

/// Places of a file that are looked at.
const PLACES: u64 = 64;
/// What is looked at in each: a page.
const PAGE: usize = 4096;

/// A descriptor of the same file that does not go through the page cache, where more than half of
/// the file is not in it. `None` where it is, or where that is not possible.
pub(super) fn past_the_cache(file: &File, path: &Path, bytes: u64) -> Option<OwnedFd> {
    if !is_cold(file, bytes) {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let direct = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    // Whoever took the file's place was not checked.
    let (checked, opened) = (rustix::fs::fstat(file).ok()?, rustix::fs::fstat(&direct).ok()?);
    ((checked.st_dev, checked.st_ino) == (opened.st_dev, opened.st_ino)).then_some(direct)
}

/// Whether more than half of some evenly spread places would have to be read from the disk.
pub(super) fn is_cold(file: &impl AsFd, bytes: u64) -> bool {
    let places = bytes.div_ceil(PAGE as u64).min(PLACES);
    let mut cold = 0;
    for place in 0..places {
        let offset = bytes / places * place;
        let mut page = [0; PAGE];
        let read = rustix::io::preadv2(
            file,
            &mut [IoSliceMut::new(&mut page)],
            offset,
            ReadWriteFlags::NOWAIT,
        );
        match read {
            Ok(_) => {}
            Err(Errno::AGAIN) => cold += 1,
            // A file system that does not say; the usual way is never wrong.
            Err(_) => return false,
        }
    }
    cold * 2 > places
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_was_just_written_is_not_cold() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        assert!(!is_cold(file.as_file(), 1 << 20));
        assert!(past_the_cache(file.as_file(), file.path(), 1 << 20).is_none());
        assert!(!is_cold(file.as_file(), 0));
    }

    #[test]
    fn what_was_dropped_from_the_cache_is_cold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, vec![7; 4 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        let advice = rustix::fs::Advice::DontNeed;
        rustix::fs::fadvise(&file, 0, None, advice).unwrap();
        if !is_cold(&file, 4 << 20) {
            println!("SKIPPED: this file system keeps what it was told to forget");
            return;
        }
        let Some(direct) = past_the_cache(&file, &path, 4 << 20) else {
            println!("SKIPPED: this file system does not read past the cache");
            return;
        };
        assert!(rustix::fs::fcntl_getfl(&direct).unwrap().contains(OFlags::DIRECT));
        std::fs::rename(&path, folder.path().join("y")).unwrap();
        std::fs::write(&path, b"another").unwrap();
        assert!(past_the_cache(&file, &path, 4 << 20).is_none());
    }
}
