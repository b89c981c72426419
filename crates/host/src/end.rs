//! The ends of a host other than a return from its main function.

use millpond_channel::child;

use crate::error::HostError;

/// The exit code after the context was lost, as a mover's.
const DRIVER_EXIT: i32 = 70;

/// The context is lost, and all memory with it. Nothing is given back in order: each call would fail
/// as the last one did, or hang.
pub(crate) fn lost(error: &HostError) -> ! {
    tracing::error!("{error}");
    millpond_log::flush(millpond_log::FLUSH_WITHIN);
    std::process::exit(DRIVER_EXIT)
}

/// Nobody can reach this host any more.
pub(crate) fn hung_up() -> ! {
    tracing::debug!("nobody has the other end of the channel any more");
    child::end_with_channel()
}
