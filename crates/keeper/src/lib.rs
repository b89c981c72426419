//! Holds Millpond's file descriptors and starts its daemon.
//!
//! The keeper is what makes `kill -9` of the daemon harmless: it holds every descriptor that must
//! outlive a daemon (slabs, the journal, the listening sockets, the locks) and hands them to the
//! next one. The key decision is what it does *not* do: **no CUDA, no client input**. A process
//! that never calls a driver and never reads a byte from a stranger has little to die from, and a
//! few hundred lines can be read in one sitting. Holding the descriptors in the daemon and
//! restarting it with `exec` was refused: that does not survive a crash.
//!
//! - [`channel`]: the protocol between keeper and daemon, used by both
//! - [`run`] and [`adopt_stdin`]: the keeper's two ways to start
//! - [`daemon_side`]: how a daemon takes over what is held, and starts a keeper that died
//! - [`config`]: every setting of `millpond serve`, defined once
//!
//! # Who watches whom
//!
//! Death is never guessed from a timeout: a process is gone when its pidfd has fired, and only
//! then is the next one started, with the next epoch. What a dead daemon had sent is still in the
//! channel and counts: **a hold is durable when `send` returns**.

#![forbid(unsafe_code)]

pub mod channel;
pub mod config;
pub mod daemon_side;
mod handover;
mod keeper;
mod rights;
mod running;
mod service;

pub use handover::in_full;
pub use keeper::{
    About, CHECK_ARGUMENT, ExitReason, FolderHolder, KeeperError, KeeperStart, Launch, PROGRAM,
    Restored, adopt_stdin, restore, run,
};
pub use rights::lay_down_other_users;
pub use running::Running;
pub use service::service;
