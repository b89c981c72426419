//! Caches whose addresses stay while GPU memory under them comes and goes.
//!
//! A **cache** is a range of device addresses that never moves. To **commit** blocks puts pages
//! under them; to **uncommit** blocks lets the pages go. What is not used costs nothing, so one card
//! serves many caches that are each as large as the card.
//!
//! - A **granule** is the size of a page. A **segment** is one of the equal parts of a cache, for
//!   example the keys of one layer; it begins on a granule. A **block** is the caller's unit and has
//!   the same place in each segment. A **row** is one granule of every segment.
//! - An **extent** is a few consecutive rows with one handle in each segment. A handle is mapped
//!   whole, so an extent is given back whole. Larger growth makes larger handles: the driver's work
//!   is per handle, and a byte in handles of 64 MiB is mapped forty times faster than in 2 MiB.
//! - The **reserve** are extents that are mapped and that nobody uses. They are **idle**: the next
//!   commit takes them without a call of the driver, and a trim gives them back.
//!
//! # The key decision
//!
//! Uncommitting never unmaps. Page tables are changed by the host and not in the order of streams,
//! so unmapping is right only after the host has seen that work is done. Idle extents therefore
//! remember fences, and are unmapped when somebody needs the memory: first the fence, then unmap,
//! then release, and the credit last. Growth goes the other way: first the credit, then the
//! memory. So whoever adds up credit never counts less than what is held. No lock is held during a
//! call of the driver or the payer; rows in transition are marked instead.
//!
//! # What was refused
//!
//! - A page under everything that is not committed, unless it is asked for
//!   ([`CudaPages::reserve_with_null_page`]): it doubles the calls of each transition, and hides the fault of
//!   who reads what is not there.
//! - Parts of handles: the driver does not map them.
//! - Handing pages to other processes: giving a page back and making another is faster than sending
//!   one, and a page that was sent can never be taken back. Credit travels instead.
//! - Asking the driver how much memory is free: it takes up to milliseconds, and the answer is old
//!   when it arrives.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod ahead;
mod bits;
mod blocks;
mod book;
mod cache;
mod calls;
mod cap;
mod credit;
mod cuda_pages;
mod dismantle;
mod elastic_error;
mod extent;
mod fences;
mod geometry;
mod grow;
mod inner;
mod local_credit;
mod mutation;
mod occupancy;
mod pages;
mod pool;
mod prepared;
mod shrink;
mod size;
mod stats;

pub use ahead::Ahead;
pub use blocks::BlockTable;
pub use cache::Cache;
pub use calls::CallCounts;
pub use cap::CapChange;
pub use credit::{Credit, Holder, Short, Unlimited, Verdict, Why};
pub use cuda_pages::CudaPages;
pub use elastic_error::{ElasticError, User};
pub use geometry::{Geometry, GeometryError, HANDLE_CLASSES};
pub use grow::Refilled;
pub use inner::Marks;
pub use local_credit::LocalCredit;
#[doc(hidden)]
pub use mutation::Mutation;
pub use occupancy::Occupancy;
pub use pages::{PageDriver, PageError};
#[doc(hidden)]
pub use pool::PoolMutation;
pub use pool::{
    Block, Book, CudaGround, GraphMemory, Ground, Monitor, PartKind, Patience, PoolError, PoolPart,
    PoolSnapshot, PoolStats, StdMonitor, StreamPool, WeakPool,
};
pub use prepared::Prepared;
pub use shrink::Trimmed;
pub use stats::{ExtentCount, Stats};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("sizes of a device do not fit into less than 64 bits");

/// Counts are `u64` everywhere; positions are the same width on every supported target.
#[expect(clippy::cast_possible_truncation, reason = "other pointer widths do not compile")]
pub(crate) const fn index(count: u64) -> usize {
    count as usize
}
