//! Reads a group's ledger without a slot in it: for NVML's answers and for tools.

use core::ffi::CStr;
use core::time::Duration;

use crate::book::Patience;
use crate::error::LedgerError;
use crate::file::Head;
use crate::layout::Uuid;
use crate::limits::{Budget, Limits};
use crate::path::Path;
use crate::region::Region;
use crate::sys;

/// A reader of one group. Each call reads the files anew, so it holds nothing between calls and
/// what happens to them in between cannot hurt it.
#[derive(Debug, Clone, Copy)]
pub struct Observer {
    ledger: Path,
    limits: Path,
}

impl Observer {
    /// Opens a group for reading.
    pub fn open(folder: &CStr) -> Result<Observer, LedgerError> {
        let observer =
            Self { ledger: Path::join(folder, c"ledger")?, limits: Path::join(folder, c"limits")? };
        Limits::load(observer.limits.as_c())?;
        Ok(observer)
    }

    /// The budget that holds on this GPU: its own, or the one for every GPU, or none.
    pub fn budget(&self, device: Uuid) -> Result<Budget, LedgerError> {
        Ok(Limits::load(self.limits.as_c())?.budget(&device))
    }

    /// What the group holds on this GPU, in units, with the pond's part.
    pub fn used(&self, device: Uuid) -> Result<u64, LedgerError> {
        let pond = self.budget(device)?.pond;
        let fd = sys::open(self.ledger.as_c(), libc::O_RDONLY, 0).map_err(|errno| match errno {
            libc::ENOENT | libc::ENOTDIR => LedgerError::NoGroup("ledger"),
            errno => LedgerError::System { call: "open", errno },
        })?;
        let head = Head::require(&fd)?;
        // A segment that is gone ended with its last member.
        let Some(region) = Region::reach(&head, true)? else { return Ok(pond) };
        let view = region.view(&fd, Patience(Duration::ZERO));
        let used = view.find_device(&device).map_or(0, |device| view.sums(device).1);
        view.whole()?;
        Ok(used.saturating_add(pond))
    }
}
