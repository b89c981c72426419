//! Moves bytes between files and slabs, in a process of its own.
//!
//! The mover holds the only CUDA context of the core. The key decision is that it is **disposable**:
//! one for each GPU, started by the daemon when there is work, told everything through one
//! [`channel`], and holding nothing that is not somewhere else too. A context that is lost, a file
//! that never answers, a driver that hangs: the daemon kills the mover and starts the next one.
//! So there is no watchdog here, no second try and no clean-up after an error. Doing the same in
//! threads of the daemon was refused: a lost context would take the catalog's process with it.
//!
//! - [`channel`]: what daemon and mover say to each other
//! - [`run_from_stdin`]: the mover itself
//! - [`settings`]: the ring's size, its defaults and its limits
//! - [`raw`]: the plainest ring that does the same, to be measured against
//!
//! # How bytes move
//!
//! A job is cut into blocks. Each thread owns a few pinned buffers and a stream, takes the next
//! block of the first job that has one left, of the user whose turn it is, and waits for a buffer only when it needs it again.
//! The next job's first block follows the last job's last one without a pause. Pieces are hashed in
//! the buffer, between file and slab, while the processor's cache has them. Memory is the ring
//! and nothing else, however large a job is. A user's file is read and written with `pread` and
//! `pwrite`, never mapped: whoever shortens a mapped file kills its reader.
//!
//! # Order
//!
//! Users take turns, block by block: what one has queued delays another's next block by one block.
//! The jobs of one user run in their order, side by side at their ends: a job that needs another
//! one's bytes is sent after its `Done`.
//!
//! # Rights
//!
//! A user's file is read and written with that user's rights, as far as the mover may take them.

#![forbid(unsafe_code)]

pub mod channel;
mod cuts;
mod end;
mod error;
mod fault;
mod file;
mod job;
mod kernel_files;
mod meter;
mod queue;
pub mod raw;
mod rights;
mod serve;
pub mod settings;
mod slab;
mod worker;

pub use error::MoverError;
pub use rights::give_up_rights;
pub use serve::run_from_stdin;
