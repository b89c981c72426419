//! Descriptors of other programs, looked at from outside.

use std::os::fd::AsFd;
use std::sync::OnceLock;

use millpond_wire::{TransportKind, fd};
use rustix::fs::FileType;

use crate::driver::SharedFd;

/// What an exported descriptor looks like: all of one driver look alike to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Looks {
    kind: FileType,
    /// The device of a character device, and the file system of a file.
    place: u64,
}

impl Looks {
    fn of(fd: &impl AsFd) -> Result<Self, String> {
        let status = rustix::fs::fstat(fd).map_err(|error| error.to_string())?;
        let kind = FileType::from_raw_mode(status.st_mode);
        let place = match kind {
            FileType::CharacterDevice => status.st_rdev,
            _ => status.st_dev,
        };
        Ok(Self { kind, place })
    }
}

static OURS: OnceLock<Looks> = OnceLock::new();

/// Remembers what this process's own driver exports.
pub(crate) fn remember(fd: &impl AsFd) {
    if let Ok(looks) = Looks::of(fd) {
        let _ = OURS.set(looks);
    }
}

/// Whether a descriptor looks like what the driver exports. A pool of the software driver is a file
/// of another kind than its memory.
pub(crate) fn check(fd: &SharedFd, transport: TransportKind) -> Result<(), String> {
    let looks = Looks::of(&**fd)?;
    let Some(ours) = OURS.get() else {
        return Err("the driver has exported nothing that it could be compared with".to_owned());
    };
    let alike = match transport {
        TransportKind::Mempool => looks.kind == ours.kind,
        _ => looks == *ours,
    };
    match alike {
        true => Ok(()),
        false => Err(format!("the descriptor is a {:?}, not what the driver exports", looks.kind)),
    }
}

/// Whether two descriptors are of the same memory. Descriptors of a card have one inode for all
/// memory: only copies of one descriptor can be told there. Memory of the software driver is a file.
pub(crate) fn is_same(one: &SharedFd, other: &SharedFd) -> bool {
    if fd::is_same_description(&**one, &**other) {
        return true;
    }
    let Ok([one, other]) =
        rustix::fs::fstat(&**one).and_then(|one| Ok([one, rustix::fs::fstat(&**other)?]))
    else {
        return false;
    };
    FileType::from_raw_mode(one.st_mode) == FileType::RegularFile
        && (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn copies_of_a_descriptor_and_descriptors_of_one_file_are_the_same_and_devices_are_not() {
        let open = |path: &str| -> SharedFd { Arc::new(File::open(path).unwrap().into()) };
        let device = open("/dev/null");
        let copy: SharedFd = Arc::new(device.try_clone().unwrap());
        assert!(is_same(&device, &copy));
        assert!(!is_same(&device, &open("/dev/null")), "a device says nothing of the memory");
        let file = open("/proc/self/exe");
        assert!(is_same(&file, &open("/proc/self/exe")));
        assert!(!is_same(&file, &device));
    }
}
