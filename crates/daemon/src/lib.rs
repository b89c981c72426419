//! The only brain of a pond: catalog, leases, accounts, and the process that serves them.
//!
//! The key decision is the border between [`policy`] and [`shell`]. The policy is pure: it is told
//! what happened and answers through [`policy::Ports`], and knows neither socket nor file nor
//! driver; so every rule can be tested, and killed at every step, without any of them. The shell is
//! one event loop that owns the policy and never waits for anything but events; slow driver calls
//! are made by the one thread of [`driver`], and no CUDA context is ever made.
//!
//! Groups and their limits are files that their members obey; the one thread of [`book`] keeps them.
//! Whether memory may be made is arithmetic, and all of it is in [`budget`]; how much of everything
//! else a user may have is in [`accounts`].
//!
//! State is a [`journal`] in a memfd plus the descriptors that the keeper holds. Nothing else
//! survives a daemon, and nothing else needs to.

#![forbid(unsafe_code)]

pub mod accounts;
pub mod book;
pub mod budget;
mod descriptors;
pub mod driver;
mod foreign;
pub mod journal;
pub mod policy;
pub mod shell;
pub mod side_thread;

pub use shell::{DaemonError, run};

/// Runs as the daemon that a keeper started: the channel is on standard input. Clients are told
/// where the library for limits is, if there is one.
///
/// # Errors
/// [`DaemonError`]; the keeper starts the next daemon.
pub fn run_from_stdin(preload_library: Option<String>) -> Result<(), DaemonError> {
    let start = millpond_keeper::daemon_side::connect_stdin()
        .map_err(|error| DaemonError::Handover(error.in_full()))?;
    run(start, preload_library)
}
