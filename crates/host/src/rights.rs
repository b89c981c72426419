//! Which rights a host has: none beside those of its user.
//!
//! It reads no file and serves no other user, so it needs less than a mover. What the driver ties to a
//! user it ties to the host's.

use millpond_channel::child;
use rustix::thread::CapabilitySet;

use crate::error::HostError;

const NONE: CapabilitySet = CapabilitySet::empty();

/// Gives up every right that the log does not need, for this thread and those that it starts from now
/// on: to be called before there is a second one.
///
/// # Errors
/// What the system says.
pub fn give_up_rights() -> Result<(), HostError> {
    child::give_up_rights(NONE).map_err(HostError::io("giving up rights"))
}

/// Gives up what the log needed too.
pub(crate) fn give_up_all() -> Result<(), HostError> {
    child::keep_rights(NONE).map_err(HostError::io("giving up rights"))
}

#[cfg(test)]
mod tests {
    use rustix::thread::capabilities;

    use super::*;

    /// What opens a log file in a folder that is not root's.
    const OPEN_LOG: CapabilitySet =
        CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::DAC_READ_SEARCH);

    #[test]
    fn no_right_stays() {
        // In a thread of its own: what a thread gives up is gone.
        let body = || {
            give_up_rights().unwrap();
            let permitted = capabilities(None).unwrap().permitted;
            assert!(OPEN_LOG.contains(permitted));
            give_up_all().unwrap();
            let sets = capabilities(None).unwrap();
            assert!(sets.permitted.is_empty() && sets.effective.is_empty());
            assert!(sets.inheritable.is_empty());
            assert!(rustix::thread::no_new_privs().unwrap());
        };
        std::thread::spawn(body).join().unwrap();
    }
}
