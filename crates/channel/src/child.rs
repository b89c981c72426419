//! What a process does with itself that was started with its channel: it gives up rights, and ends with
//! the channel.

use rustix::process::{Signal, getpid, kill_process};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs,
};

/// What opens a log file in a folder that is not root's.
const OPEN_LOG: CapabilitySet = CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::DAC_READ_SEARCH);

/// Gives up every right but these and those that the log needs, for this thread and those that it starts
/// from now on: to be called before there is a second one.
///
/// # Errors
/// What the system says.
pub fn give_up_rights(but: CapabilitySet) -> rustix::io::Result<()> {
    set_no_new_privs(true)?;
    // Also without leave to change it, which a service has not: what was given up does not come back.
    for number in 0..u64::BITS {
        let bit = CapabilitySet::from_bits_retain(1 << number);
        if !but.contains(bit) && capability_is_in_bounding_set(bit).unwrap_or(false) {
            let _ = remove_capability_from_bounding_set(bit);
        }
    }
    clear_ambient_capability_set()?;
    keep_rights(but.union(OPEN_LOG))
}

/// Gives up every right of this thread but these.
///
/// # Errors
/// What the system says.
pub fn keep_rights(most: CapabilitySet) -> rustix::io::Result<()> {
    let permitted = capabilities(None)?.permitted.intersection(most);
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: permitted, permitted, inheritable })
}

/// The other end of the channel is gone. Killed and not exited: exit handlers of a driver may wait for a
/// thread that hangs in it, and nobody is left to wait for a code.
pub fn end_with_channel() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    std::process::abort()
}
