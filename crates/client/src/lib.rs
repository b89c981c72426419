//! GPU memory that belongs to no process.
//!
//! A pond keeps tensors outside the programs that use them: one program makes a tensor and gives
//! it a name, others map the same bytes by that name, and all of them may come, go and crash
//! without the memory being lost or leaked. This crate is how a Rust program takes part.
//!
//! ```no_run
//! use std::time::Duration;
//! use millpond::{Dtype, GetOptions, Pond, TensorSpec};
//!
//! # fn main() -> Result<(), millpond::Error> {
//! // The producer.
//! let pond = Pond::connect()?;
//! let x = pond.create(TensorSpec::new("acts/x", Dtype::F32, [1024, 1024]))?;
//! x.fill(0)?; // or any kernel on `x.device_ptr()`
//! x.publish()?;
//!
//! // A consumer, usually another process.
//! let x = pond.get_with("acts/x", GetOptions::read_only().wait(Duration::from_secs(5)))?;
//! let bytes = x.to_vec()?;
//! # drop(bytes);
//! # Ok(())
//! # }
//! ```
//!
//! # The key decision: a lease ends only after the work
//!
//! A kernel may still read a tensor when its [`Tensor`] goes out of scope. So dropping one neither
//! unmaps nor talks to anybody: it only puts the lease on a list. A thread beside the program
//! waits until the device has done all work that was submitted before, unmaps, and only then tells
//! the pond that the lease has ended. Dropping never blocks and never fails, and nothing is ever
//! unmapped under running work. (Waiting in `drop` was refused: it would turn every end of scope
//! into a synchronisation of the device.)
//!
//! # What happens when the pond restarts
//!
//! Mapped memory stays mapped and valid. The connection is made anew, the leases are claimed, and
//! requests that were under way are repeated with the same identities, so that nothing happens
//! twice. A call simply takes a little longer. [`Tensor::is_lost`] tells when a new pond does not
//! know a tensor any more.
//!
//! # Threads and processes
//!
//! A [`Pond`] is cheap to clone and may be used from all threads at once; the process has one
//! connection per pond. There is no reader thread: a thread that waits for its answer reads the
//! socket itself and hands other threads theirs, so a call costs no switch between threads.
//! After `fork` the child gets a connection of its own with its first call; tensors of the parent
//! are not the child's, and dropping them there does nothing.
//!
//! # Models
//!
//! A model is a named set of tensors in versions. [`Pond::attach`] maps a whole version, whatever
//! number of tensors it has, in about the time that the driver needs; [`Model::refresh`] follows
//! when another version becomes current; [`Pond::stage`] makes the next one.
//!
//! # Without a GPU
//!
//! With the feature `soft` (on by default) and no working CUDA driver, tensors live in host memory
//! behind the same calls; see `MILLPOND_DRIVER` in [`cuda::DriverChoice`]. Calls that map nothing
//! ([`Pond::reserve`], [`Pond::list`], [`Pond::status`] and so on) need no driver at all.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod adopt;
mod answer;
mod builder;
mod cancel;
mod connection;
mod core;
mod cuda_side;
mod elastic;
mod error;
mod establish;
mod events;
mod expected;
mod get;
mod grant;
mod groups;
mod handle;
mod holds;
mod lead;
mod lease_guard;
mod line;
mod link;
mod memo;
mod model;
pub mod npy;
mod pond;
mod process;
mod program;
mod registry;
mod retire;
mod shown;
mod slab_map;
mod spec;
mod target;
mod tensor;
mod tensor_pages;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod transfer;
mod users;
mod watch;
mod weights;

pub use adopt::{AdoptRefusal, AdoptSpec};
pub use builder::PondBuilder;
pub use cancel::Cancel;
pub use elastic::{
    BlockTable, Elastic, ElasticCache, GroupCredit, GroupPages, Offer, PoolBlock, PoolGraphMemory,
    PoolGround, PoolSpec, Prepared, PressureAsk, ReserveSpec, StreamPool,
};
pub use error::Error;
pub use events::Events;
pub use groups::GroupSeat;
pub use handle::{HandleParts, TensorHandle};
/// The driver that tensors are mapped with.
pub use millpond_cuda as cuda;
pub use millpond_cuda::DevicePtr;
/// The engine of elastic caches.
pub use millpond_elastic as engine;
pub use millpond_elastic::{
    CapChange, ElasticError, Geometry, Occupancy, PoolError, PoolSnapshot, PoolStats,
};
/// Patterns over names, as plans and the command line have them.
pub use millpond_weights::Glob;
/// Which part of a checkpoint is loaded.
pub use millpond_weights::{Plan, PlanError};
pub use millpond_wire::message::{
    CacheInfo, ClientInfo, DeviceInfo, Event, EventKind, GroupDetails, GroupDevice, GroupInfo,
    GroupLimit, GroupSet, LeaseInfo, Life, MemberDevice, MemberInfo, ModelInfo, MoverInfo,
    PartInfo, Status, Target, TensorInfo, VersionInfo,
};
pub use millpond_wire::{
    Audience, CacheId, ClientId, ContentHash, Dtype, Epoch, ErrorKind, Failure, GpuUuid, GroupName,
    GroupNameError, Holder, LeaseId, LeaseTarget, Mode, ModelNameError, ModelRef, NameError,
    PondId, Remedy, Shape, ShapeError, SlabId, Survives, TensorId, TensorName, TensorRef,
    TensorState, Token, TransportKind, UnknownDtype, VersionId, VersionState, VersionTag,
    VersionTarget, manifest, runtime_dir,
};
pub use model::{
    AttachOptions, IntoVersion, ManifestMap, Model, ModelTensor, StageSpec, StagedTensor, Staging,
    Swap, VersionView,
};
pub use pond::Pond;
pub use spec::{GetOptions, TensorDetails, TensorSpec};
pub use target::IntoTarget;
pub use tensor::Tensor;
pub use tensor_pages::TensorPages;
pub use transfer::{Collected, Lease, Progress, PutSpec, Sink, Source, Transferred};
pub use users::UnknownUser;
pub use weights::{
    GoOn, Like, LoadPhase, LoadProgress, LoadSpec, Loaded, SaveOptions, Saved, Unshared,
    UnsharedWhy, Verified, temporary_name,
};

/// What every call of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The Rust on the pages is compiled with the tests of the documentation.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/getting-started.md")]
    struct GettingStarted;
    #[doc = include_str!("../../../docs/rust-client.md")]
    struct RustClient;
    #[doc = include_str!("../../../docs/from-cuda-ipc-memory-manager.md")]
    struct FromCudaIpcMemoryManager;
    #[doc = include_str!("../../../docs/elastic.md")]
    struct Elastic;
    #[doc = include_str!("../../../docs/pool.md")]
    struct Pool;
}
