//! Elastic caches: a large range of addresses in this process, whose pages are paid for by a group
//! of the pond.
//!
//! The pages are this process's own: no message is sent to make one, and none travels to another
//! process. What moves is credit. A commit takes it from the group's ledger, in shared memory; where
//! there is none, the pond asks idle neighbours to give pages back, and this thread waits. The other
//! way round, the pond may ask this process: a thread gives idle pages back and asks the program for
//! more ([`ElasticCache::on_pressure`]).

mod cache;
mod credit;
mod giving;
mod pages;
mod pool;
mod pool_ground;
mod registry;
mod spec;
mod waiter;

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use millpond_wire::{ErrorKind, Failure, GroupName};

pub use cache::{BlockTable, ElasticCache, Prepared};
pub use credit::GroupCredit;
pub use giving::{Offer, PressureAsk};
pub use pages::GroupPages;
pub use pool::{PoolBlock, PoolGraphMemory, PoolSpec, StreamPool};
pub use pool_ground::PoolGround;
pub(crate) use registry::Registry;
pub use spec::ReserveSpec;

use crate::{Error, Pond, Result};

/// Names the ledger of a program that runs under a limit of its own.
const LEDGER: &str = "MILLPOND_LEDGER";

/// The caches of one group, in this process.
#[derive(Clone, Debug)]
pub struct Elastic {
    pond: Pond,
    group: GroupName,
    folder: PathBuf,
    /// This program runs in the group: its driver charges what is made, and it has no second slot.
    limited: bool,
}

impl Pond {
    /// The group whose limit the caches share. `millpond group set NAME --limit SIZE` makes one.
    ///
    /// A program that runs under `millpond run` has caches in its own group only: in another one
    /// they would be a way around its limit.
    ///
    /// # Errors
    /// `not_found`, `denied`, and what else the pond answers.
    pub fn elastic(&self, group: &str) -> Result<Elastic> {
        let name = GroupName::new(group)
            .map_err(|error| Error::from(Failure::new(ErrorKind::Invalid, error.to_string())))?;
        in_group(self, Some(name))
    }
}

/// The caches of a group. Without a name they are on this program's own account: of the group that it
/// runs in, or of one without a limit that ends with it.
fn in_group(pond: &Pond, name: Option<GroupName>) -> Result<Elastic> {
    let own = std::env::var_os(LEDGER).map(PathBuf::from);
    let own_name = own.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    let name = name.or_else(|| own_name.and_then(GroupName::of_folder));
    let seat = pond.join_group(name, None, None)?;
    if let Some(own) = &own
        && *own != seat.folder
    {
        let message = format!(
            "this program runs under a limit of its own, and group '{}' is another one",
            seat.name
        );
        return Err(Failure::new(ErrorKind::Denied, message)
            .hint(format!("start it with `millpond run --group {}`", seat.name))
            .into());
    }
    let limited = own.is_some();
    Ok(Elastic { pond: pond.clone(), group: seat.name, folder: seat.folder, limited })
}

impl Elastic {
    /// The group's name.
    #[must_use]
    pub fn group(&self) -> &GroupName {
        &self.group
    }

    /// Whether this program's own limit pays, because it runs in the group.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.limited
    }

    /// Reserves addresses for a cache. Costs no memory of the card; the process gets a CUDA context,
    /// if it has none.
    ///
    /// # Errors
    /// [`Error::Elastic`] for sizes that are not possible, what the driver answers, and what the
    /// pond answers.
    pub fn reserve(&self, name: &str, spec: ReserveSpec) -> Result<ElasticCache> {
        ElasticCache::reserve(self, name, spec)
    }

    /// A stream-ordered pool on the budget of the group.
    ///
    /// # Errors
    /// As for [`Elastic::reserve`].
    pub fn pool(&self, spec: PoolSpec) -> Result<StreamPool> {
        StreamPool::reserve(self, spec)
    }

    fn ledger(&self) -> Result<CString> {
        CString::new(self.folder.as_os_str().as_bytes()).map_err(|_| {
            Error::Protocol(format!("'{}' is no folder of a group", self.folder.display()))
        })
    }
}
