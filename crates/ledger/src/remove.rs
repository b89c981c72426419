//! Taking away groups that nobody is in any more, where there is no daemon.
//!
//! A process has no last moment of its own, so whoever makes the next group takes away what others
//! have left. That is done under the group's lock, and the ledger's file goes last: who has opened
//! it meanwhile and waits for its lock finds that it was removed, and begins again.

use core::ffi::CStr;
use core::time::Duration;

use crate::book::Patience;
use crate::error::LedgerError;
use crate::file::{Head, any_member};
use crate::layout::byte;
use crate::path::Path;
use crate::region::Region;
use crate::sys;

/// How long a group that nobody is in stays for those who may come again.
pub const REST: Duration = Duration::from_secs(3600);

/// The most folders that one sweep looks at: the rest is for the next one.
const MOST: usize = 256;

/// Takes a group's folder away if nobody is in it, or has been until just now; says whether it is
/// gone. One whose lock somebody has is left alone, and so is what is no group's.
pub fn remove_abandoned(folder: &CStr) -> Result<bool, LedgerError> {
    let path = Path::join(folder, c"ledger")?;
    let ledger = match sys::open(path.as_c(), libc::O_RDWR, 0) {
        Ok(ledger) => ledger,
        // What a process leaves that is killed in here, or before it has made the file.
        Err(libc::ENOENT) => return Ok(sys::remove_folder(folder).is_ok()),
        Err(errno) => return Err(LedgerError::System { call: "open", errno }),
    };
    if !ledger.lock_try(byte::GROUP, 1)? {
        return Ok(false);
    }
    // The lock goes with the descriptor; a child that another thread forks meanwhile may keep it,
    // of a file that is gone then.
    let free = is_abandoned(&ledger);
    let gone = free.and_then(|free| if free { take_away(folder, path.as_c()) } else { Ok(false) });
    ledger.unlock(byte::GROUP, 1);
    gone
}

/// Whether nobody is in the group. Only under the lock.
fn is_abandoned(ledger: &sys::Fd) -> Result<bool, LedgerError> {
    let head = Head::read(ledger)?;
    if any_member(ledger)? {
        return Ok(false);
    }
    let Some(head) = head else { return Ok(true) };
    let Some(region) = Region::reach(&head, false)? else { return Ok(true) };
    let view = region.view(ledger, Patience(Duration::ZERO));
    // Those who have just ended count until the driver has had its time.
    view.reap(ledger, false)?;
    let free = view.taken().slots().next().is_none();
    view.whole()?;
    Ok(free)
}

/// Only under the lock.
fn take_away(folder: &CStr, ledger: &CStr) -> Result<bool, LedgerError> {
    for name in [c"exports", c"limits"] {
        match sys::remove_file(Path::join(folder, name)?.as_c()) {
            Ok(()) | Err(libc::ENOENT) => {}
            Err(errno) => return Err(LedgerError::System { call: "unlink", errno }),
        }
    }
    sys::remove_file(ledger).map_err(|errno| LedgerError::System { call: "unlink", errno })?;
    // Somebody may be making it anew already.
    let _ = sys::remove_folder(folder);
    Ok(true)
}

/// Whether nobody has come to the group, or changed its limits, for so many seconds.
fn rests(folder: &CStr, seconds: i64) -> Result<bool, LedgerError> {
    let files = [Path::join(folder, c"ledger")?, Path::join(folder, c"limits")?];
    let written = files.iter().filter_map(|file| sys::written_at(file.as_c()));
    let Some(last) = written.chain(sys::written_at(folder)).max() else { return Ok(false) };
    Ok(sys::wall_seconds().saturating_sub(last) >= seconds)
}

/// [`remove_abandoned`] for the groups in this user's folder `above` to which nobody has come for some
/// time, and whose limits nobody has changed; says how many are gone. Allocates nothing, waits for
/// nobody, and looks at a limited number of them.
pub fn sweep_abandoned(above: &CStr, rest: Duration) -> usize {
    let rest = i64::try_from(rest.as_secs()).unwrap_or(i64::MAX);
    let Ok(list) = sys::open(above, libc::O_RDONLY | libc::O_DIRECTORY, 0) else { return 0 };
    if !list.status().is_ok_and(|status| status.owner == sys::user()) {
        return 0;
    }
    let (mut seen, mut gone) = (0_usize, 0_usize);
    sys::each_folder(&list, |name| {
        if let Ok(folder) = Path::join(above, name)
            && rests(folder.as_c(), rest).is_ok_and(|rests| rests)
            && remove_abandoned(folder.as_c()).is_ok_and(|removed| removed)
        {
            gone = gone.saturating_add(1);
        }
        seen = seen.saturating_add(1);
        seen < MOST
    });
    gone
}
