//! Owns memory that is shared by legacy CUDA IPC handles, in a process of its own.
//!
//! Such memory has no descriptor that others could hold: it lives in the process that allocated it,
//! and its 64 bytes open it only while that process lives. So the key decision is that the owner is a
//! process that does nothing else. There is one **host** for each GPU, owner and audience. The daemon
//! starts it and tells it everything through one [`channel`], and it **outlives the daemon**: the
//! keeper holds the other end of the channel too, and the next daemon goes on where the last one was.
//! It ends when it is told to, when the last holder of the other end is gone, or with its context.
//! Owning the memory in the daemon was refused: it would lose all of it with every restart, and have a
//! context.
//!
//! - [`channel`]: what daemon and host say to each other
//! - [`run_from_stdin`]: the host itself
//!
//! # Sealed
//!
//! After `cuMemFree` the bytes of the old handle open whatever the same process allocates next, even
//! at another address: measured on an H200. A reader that comes late with old bytes would see somebody
//! else's memory. So a host never uses memory again: one that has freed something is **sealed** and
//! allocates nothing any more. The daemon starts another one for new memory, and ends a sealed one
//! that holds nothing.
//!
//! # Answers are facts
//!
//! A daemon may die between any two messages and leave answers that nobody has read. Every question
//! can be asked again: its answer says how things are now, and asking changes nothing that is so already.

#![forbid(unsafe_code)]

mod card;
pub mod channel;
mod end;
mod error;
mod memory;
mod owner;
mod rights;
mod serve;

pub use error::HostError;
pub use rights::give_up_rights;
pub use serve::run_from_stdin;
