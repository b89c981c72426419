//! Messages, sockets and file descriptors of the Millpond protocol.
//!
//! One message is one datagram on a `SOCK_SEQPACKET` unix socket, at most 64 KiB with at most 128
//! file descriptors; what is larger travels as a sealed memfd. The bytes are FlatBuffers, so that
//! any language can speak the protocol, but no FlatBuffer is ever passed around inside a program:
//! a received message is read **completely** into the small structs of this crate, with named caps,
//! before anything happens. The generated reader checks each access lazily, and offsets may point
//! to one child many times; a copy of such a message as it stands could be made to fill the memory.
//!
//! Everything that every crate must agree on lives here once: [dtypes](Dtype), [error kinds](ErrorKind),
//! [names](TensorName), [caps], and where a pond is [found](runtime_dir).

#![deny(unsafe_code)]

mod backing;
pub mod caps;
pub mod characters;
pub mod content;
mod dtype;
mod error;
#[allow(unsafe_code)]
pub mod fd;
#[cfg(test)]
mod golden;
mod group_name;
mod ids;
pub mod manifest;
pub mod memfd;
pub mod message;
mod model_name;
mod name;
pub mod page;
pub mod process;
pub mod record;
pub mod runtime_dir;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
mod shape;
pub mod socket;
pub mod trust;
pub mod users;

pub use backing::{Backing, HANDLE_BYTES, Survives, Transport, TransportKind};
pub use content::{ContentHash, Piece, PiecesKind, Run};
pub use dtype::{Dtype, UnknownDtype};
pub use error::{ErrorKind, Failure, Holder, ReachedLimit, Remedy};
pub use group_name::{ANONYMOUS_PREFIX, GroupName, GroupNameError};
pub use ids::{
    CacheId, ClientId, Epoch, GpuUuid, HostId, LeaseId, LeaseTarget, PondId, SlabId, TensorId,
    Token, VersionId,
};
pub use message::{Audience, Mode, TensorState, VersionState};
pub use model_name::{ModelNameError, ModelRef, VersionTag, VersionTarget, model_name};
pub use name::{NameError, TensorName, TensorRef};
pub use shape::{Shape, ShapeError};
