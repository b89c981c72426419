//! Making a group's folder: by the first member where there is no daemon, or by the operator.

use core::ffi::CStr;

use crate::error::{LedgerError, while_moving};
use crate::file::{Head, Memory};
use crate::layout::Uuid;
use crate::limits::{Budget, Limits};
use crate::lock::Locked;
use crate::path::Path;
use crate::sys;

/// A limit stated in the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitOf {
    /// The GPU, or every GPU that no other entry names.
    pub device: Option<Uuid>,
    /// In units, or [`crate::NO_LIMIT`].
    pub units: u64,
}

/// What [`establish`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Established {
    /// The group is new, with these limits.
    Made,
    /// The group was there, with the same limits.
    Joined,
    /// The group was there with other limits; those hold.
    JoinedWithOtherLimits,
}

/// Makes the folder (and its parents that are missing, for this user only) and both files, unless
/// they are there. Safe against any number of processes that do the same at once. Allocates nothing.
pub fn establish(
    folder: &CStr,
    name: &[u8],
    limits: &[LimitOf],
) -> Result<Established, LedgerError> {
    let access = Access { owner: None, everyone: false, explicit: false };
    let mut wanted = Limits::new(name)?;
    for limit in limits {
        let budget = Budget { asked: limit.units, effective: limit.units, ..Budget::default() };
        wanted.set(limit.device.as_ref(), &budget)?;
    }
    // Somebody may be taking away the folder of the same name, which nobody was in.
    let (made, found) = while_moving(|| {
        make_folders(folder)?;
        check_ours(folder)?;
        make_files(folder, wanted.clone(), Memory::Segment, access, Locked::from_fd_waiting)
    })?;
    if made {
        return Ok(Established::Made);
    }
    let same = limits.iter().all(|limit| {
        found.entry(limit.device.as_ref()).is_some_and(|budget| budget.asked == limit.units)
    });
    Ok(if same { Established::Joined } else { Established::JoinedWithOtherLimits })
}

/// Who may use the files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub owner: Option<u32>,
    pub everyone: bool,
    /// Whether modes are set against the umask: the operator's choice, never a stranger's program.
    pub explicit: bool,
}

/// Makes what is missing of the two files, under the lock; says whether the ledger is new, and
/// which limits hold.
pub(crate) fn make_files(
    folder: &CStr,
    mut wanted: Limits,
    memory: Memory,
    access: Access,
    lock: impl FnOnce(sys::Fd) -> Result<Locked, LedgerError>,
) -> Result<(bool, Limits), LedgerError> {
    let opened = |errno| LedgerError::System { call: "open", errno };
    let create = libc::O_RDWR | libc::O_CREAT;
    let ledger = sys::open(Path::join(folder, c"ledger")?.as_c(), create, 0o600).map_err(opened)?;
    if access.explicit && ledger.status()?.size == 0 {
        if let Some(owner) = access.owner.filter(|owner| *owner != sys::user()) {
            ledger.set_owner(owner)?;
        }
        ledger.set_mode(if access.everyone { 0o666 } else { 0o600 })?;
    }
    let locked = lock(ledger)?;
    let head = Head::read(locked.fd())?;
    let mode = if access.explicit { 0o644 } else { 0o600 };
    let limits = sys::open(Path::join(folder, c"limits")?.as_c(), create, mode).map_err(opened)?;
    let found = if limits.status()?.size == 0 {
        if access.explicit {
            limits.set_mode(mode)?;
        }
        wanted.write(&limits)?;
        wanted
    } else {
        Limits::read(&limits)?
    };
    let made = head.is_none();
    if made {
        Head::found(locked.fd(), memory, access.owner, access.everyone)?;
    }
    Ok((made, found))
}

/// Every folder on the way, without help from anything that allocates.
fn make_folders(folder: &CStr) -> Result<(), LedgerError> {
    let path = folder.to_bytes();
    let slashes = path.iter().enumerate().filter(|(at, byte)| *at > 0 && **byte == b'/');
    for end in slashes.map(|(at, _)| at).chain([path.len()]) {
        let part = Path::of(&[path.get(..end).unwrap_or(&[])])?;
        match sys::mkdir(part.as_c(), 0o700) {
            Ok(()) | Err(libc::EEXIST | libc::EROFS | libc::EACCES) => {}
            Err(errno) => return Err(LedgerError::System { call: "mkdir", errno }),
        }
    }
    Ok(())
}

/// The folder must be ours, and the one above it ours or root's: `/dev/shm` is open to all, and
/// whoever was there first could have left a folder for us.
fn check_ours(folder: &CStr) -> Result<(), LedgerError> {
    let path = folder.to_bytes();
    let slash = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    let above = Path::of(&[path.get(..slash.max(1)).unwrap_or(b"/")])?;
    let user = sys::user();
    for (path, root_too) in [(above.as_c(), true), (folder, false)] {
        // Not by opening: another user's folder need not be readable, and may be a link.
        let owner =
            sys::owner_of(path).map_err(|errno| LedgerError::System { call: "stat", errno })?;
        if owner != user && !(root_too && owner == 0) {
            return Err(LedgerError::NotOurs { owner });
        }
    }
    sys::open(folder, libc::O_RDONLY | libc::O_DIRECTORY, 0)
        .map_err(|errno| LedgerError::System { call: "open", errno })?;
    Ok(())
}
