//! The ends of a mover other than a return from its main function.

use millpond_channel::child;
use millpond_cuda::CudaError;

use crate::channel::{FromMover, MoverEnd, Why};

/// The exit code after a driver call failed.
const DRIVER_EXIT: i32 = 70;

/// The driver failed under a job. Nothing that this process says about GPU memory counts any more,
/// so it says this one thing and is gone.
pub(crate) fn driver_failed(channel: &MoverEnd, job: u64, error: &CudaError) -> ! {
    tracing::error!(job, %error, "the driver failed under a job");
    let text = error.to_string();
    // If the daemon is gone it does not need to know.
    let _ = channel.send(&FromMover::JobFailed { job, why: Why::Driver, text });
    millpond_log::flush(millpond_log::FLUSH_WITHIN);
    std::process::exit(DRIVER_EXIT)
}

/// The driver failed beside the jobs.
pub(crate) fn lost(what: &str, error: &CudaError) -> ! {
    tracing::error!(%error, "{what}");
    millpond_log::flush(millpond_log::FLUSH_WITHIN);
    std::process::exit(DRIVER_EXIT)
}

pub(crate) fn hung_up() -> ! {
    tracing::debug!("the daemon hung up");
    child::end_with_channel()
}

/// Ends the process with a thread that panics: its blocks would never be done.
pub(crate) struct PanicEndsAll;

impl Drop for PanicEndsAll {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}
