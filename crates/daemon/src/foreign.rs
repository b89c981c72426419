//! Descriptors of other programs, looked at from outside.

use std::os::fd::AsFd;
use std::sync::OnceLock;

use millpond_wire::TransportKind;
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
