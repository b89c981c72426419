//! How many descriptors may be used for what.
//!
//! A daemon without a free one can neither start a keeper in the place of a dead one nor a mover,
//! write a new journal or let the operator look. So clients and slabs leave some.

use std::os::fd::{AsFd, AsRawFd};

use rustix::process::{Resource, getrlimit};

/// Most that is left, and which part of a small limit.
const MOST_LEFT: u64 = 512;
const PART_LEFT: u64 = 8;

/// There are too few for one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{used} of the daemon's {limit} descriptors are in use, and the rest are reserved for the pond \
     itself; raise its limit on open files (`ulimit -n`, `LimitNOFILE=`)"
)]
pub(crate) struct Short {
    used: u64,
    limit: u64,
}

/// Whether a slab, or the end of a client's process, can be held with this descriptor, which was
/// just made. The kernel gives the lowest number that is free, so the number says how many are in
/// use.
///
/// # Errors
/// [`Short`]: it is to be closed again.
pub(crate) fn may_hold(fd: impl AsFd) -> Result<(), Short> {
    held(number(fd), limit())
}

/// Whether a client can be served on this socket, which was just accepted, beside so many that
/// connections and watched processes take.
///
/// # Errors
/// As [`may_hold`].
pub(crate) fn may_serve(socket: impl AsFd, others: usize) -> Result<(), Short> {
    served(number(socket), u64::try_from(others).unwrap_or(u64::MAX), limit())
}

/// What one ordinary user may have of connections, and as much of watched processes: a quarter of
/// what there is for both.
pub(crate) fn share() -> u64 {
    share_of(limit())
}

fn share_of(limit: u64) -> u64 {
    ((limit - 2 * left(limit)) / 4).max(1)
}

/// How many may be on their way to clients: the kernel has one count for all that this user sends,
/// and refuses the message to the keeper like any other.
pub(crate) fn in_flight() -> u64 {
    limit() / 4
}

fn limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

fn number(fd: impl AsFd) -> u64 {
    u64::try_from(fd.as_fd().as_raw_fd()).unwrap_or(0)
}

fn left(limit: u64) -> u64 {
    (limit / PART_LEFT).min(MOST_LEFT)
}

fn held(used: u64, limit: u64) -> Result<(), Short> {
    if used < limit - left(limit) { Ok(()) } else { Err(Short { used, limit }) }
}

/// Some are left for slabs, however many connect. And whoever was served by the daemon before fits
/// beside the slabs that were made since.
fn served(used: u64, others: u64, limit: u64) -> Result<(), Short> {
    let left = left(limit);
    let fits = others < limit - 2 * left && used < limit - left / 2;
    if fits { Ok(()) } else { Err(Short { used, limit }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_some_for_slabs_and_both_for_the_pond() {
        for (limit, connections, slabs) in [(256, 192, 224), (1024, 768, 896), (8192, 7168, 7680)] {
            let most = (0..limit).take_while(|others| served(*others, *others, limit).is_ok());
            assert_eq!(most.count(), connections, "{limit}");
            let most = (0..limit).take_while(|used| held(*used, limit).is_ok());
            assert_eq!(most.count(), slabs, "{limit}");
        }
        assert_eq!((share_of(1024), share_of(20_000)), (192, 4744));
        // Made by the daemon before, whose clients come back.
        assert!(served(900, 500, 1024).is_ok());
        assert!(served(960, 500, 1024).is_err());
        assert!(held(1 << 20, u64::MAX).is_ok() && served(1 << 20, 1 << 20, u64::MAX).is_ok());
        let text = held(900, 1024).unwrap_err().to_string();
        assert!(text.starts_with("900 of the daemon's 1024 descriptors are in use"), "{text}");
    }
}
