//! What a daemon asks its driver thread, and what that says.

use millpond_daemon::policy::DriverFailure;
use millpond_wire::SlabId;

use crate::card::Fd;

/// What the driver thread is asked.
#[derive(Debug)]
pub enum Ask {
    Make {
        slab: SlabId,
        bytes: u64,
        user: u32,
        /// Its payer had room when it was asked for.
        had_room: bool,
    },
    /// Charge for memory that somebody else makes, or has.
    Charge {
        slab: SlabId,
        bytes: u64,
        user: u32,
        had_room: bool,
    },
    /// Count memory that is there, whatever its owner may have.
    Count {
        slab: SlabId,
        bytes: u64,
        user: u32,
    },
    /// A slab is gone: all its descriptors were closed before.
    SlabGone(SlabId),
    /// Read what is in use.
    Read,
    Close(Fd),
}

#[derive(Debug)]
pub enum Told {
    /// A slab, or why not.
    Made(SlabId, Result<Fd, DriverFailure>),
    /// Its owner pays for memory that somebody else makes, or does not.
    Charged(SlabId, Result<(), DriverFailure>),
    Used(u64),
}
