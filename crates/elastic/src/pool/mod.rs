//! A stream-ordered pool: blocks of any size, handed out and taken back in the order of streams.
//!
//! A **stream-ordered pool** cuts the pages of a [`Cache`](crate::Cache) into **blocks**. What lies between blocks are
//! **gaps**. A block that is freed on a stream is there for the next request of that stream at once: the
//! device does its work in the same order. Another stream gets it when the host has seen the end of the
//! work, or after it was told to wait for a **mark** behind it.
//!
//! # The key decision
//!
//! Nothing touches a stream that may be dead. Streams die, and their handles go to other streams; so lanes
//! are known by the number of their stream, and a stream that the pool can keep alive is kept while it
//! has frees that no mark covers. A stream of somebody else's is used in calls that were given it, and
//! nowhere else. Marks cover many frees, and a program with one stream records none until its memory
//! is wanted elsewhere.
//!
//! # What was refused
//!
//! - Lists for each size, as most caching allocators have: what is in one list is of no use to another.
//!   Sizes fall into buckets, but a gap is taken by best fit, cut, and joined again.
//! - A pool for each stream: memory that one stream has freed would be lost to the others.
//! - Segments that never join. Pages lie side by side in one range of addresses, so a gap may span
//!   several handles, and when gaps are too small, their pages go back and come again in one piece.
//! - Asking whether an event is passed before each allocation: it costs more than the allocation.

mod block;
mod book;
mod cuda_ground;
mod engine;
mod error;
mod graph;
mod ground;
mod growth;
mod ladder;
mod lanes;
mod marks;
mod monitor;
mod mutation;
mod picture;
mod sizes;
mod snapshot;
mod stats;
mod stretches;

pub use block::Block;
pub use book::Book;
pub use cuda_ground::CudaGround;
pub use engine::{StreamPool, WeakPool};
pub use error::PoolError;
pub use graph::GraphMemory;
pub use ground::{Ground, Patience};
pub use monitor::{Monitor, StdMonitor};
pub use mutation::PoolMutation;
pub use snapshot::{PartKind, PoolPart, PoolSnapshot};
pub use stats::PoolStats;
