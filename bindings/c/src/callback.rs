//! Functions of C programs that this library calls.

use std::ffi::c_void;

use millpond::Cancel;

use crate::border::Answer;
use crate::cancel;
use crate::failure::Failure;

/// Is told how far something is, in the calling thread. Anything but zero ends it: the call answers
/// MILLPOND_CANCELLED, unless it was complete already. It may call this library. It must return: neither a C++
/// exception nor longjmp() may leave it.
pub type millpond_progress =
    Option<extern "C" fn(done: u64, total: u64, user_data: *mut c_void) -> u32>;

/// Whoever is told how far something is.
#[derive(Clone, Copy)]
pub(crate) struct Told {
    pub(crate) progress: millpond_progress,
    pub(crate) user_data: *mut c_void,
}

impl Told {
    /// Whether it goes on.
    pub(crate) fn goes_on(self, done: u64, total: u64) -> bool {
        self.progress.is_none_or(|progress| progress(done, total, self.user_data) == 0)
    }

    /// Runs work that is told of; a no ends it.
    pub(crate) fn during<T>(self, work: impl FnOnce(&dyn Fn(u64, u64)) -> Answer<T>) -> Answer<T> {
        cancel::stoppable(|cancel: &Cancel| {
            let tell = |done, total| {
                if !self.goes_on(done, total) {
                    cancel.cancel();
                }
            };
            let answer = work(&tell);
            // One that was ended early has no other reason.
            match answer {
                Err(_) if cancel.is_cancelled() => Err(Failure::Cancelled),
                other => other,
            }
        })
    }
}
