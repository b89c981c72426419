//! What Millpond shows: the data of `--json`, of Python and of whatever else exports the pond, and
//! the units and words in which people read and write it.
//!
//! A field has one name and one meaning everywhere, because it is written down once: the structs
//! here are made from the messages of the wire, serialized by the command, and turned into classes
//! by the Python binding, which takes the list of fields from the same macro (see [`Fields`]).
//! Names are stable: fields may be added, none is renamed or removed.
//!
//! Bytes, counts and moments (`_unix_ms`) are integers, GPUs and objects are named by UUID, and
//! what does not exist is `null`. Durations carry their unit in the name.
//!
//! This crate knows the wire and serde and nothing else, so that the keeper and the daemon can use
//! its words. It was refused to serialize the messages themselves: their fields follow the protocol,
//! these follow what people were promised.

#![deny(missing_docs)]

#[macro_use]
mod data;

mod account;
pub mod base64;
mod cache;
mod client;
mod commands;
mod counters;
mod coverage;
mod doctor;
mod error;
mod event;
mod group;
mod handle;
mod lease;
mod model;
mod objects;
mod process;
pub mod size;
pub mod span;
mod status;
mod tensor;
mod ties;
mod transfer;
pub mod units;
mod weights;

pub use millpond_wire::users;

pub use account::{Use, UserUse, Users};
pub use cache::{Cache, Caches};
pub use client::{Client, Clients};
pub use commands::{Program, Stopped, Upgraded};
pub use counters::{Counters, RefusalCount, RequestCount};
pub use coverage::{Coverage, Export};
pub use data::{Digest, Dims, Fields, Text};
pub use doctor::{Check, Doctor};
pub use error::{Failed, Holder, ReachedLimit};
pub use event::Event;
pub use group::{
    Account, Group, GroupDetails, GroupDevice, Groups, Member, MemberDevice, call_as_clients,
    used_bytes,
};
pub use handle::Handle;
pub use lease::{Lease, Tags};
pub use model::{Model, Models, Retired, Slab, Swapped, Version, VersionDetails, Weight};
pub use objects::{Object, Objects, Removed, Renamed};
pub use process::{Process, pid_text, visible};
pub use status::{Device, Host, Mover, Status};
pub use tensor::{Created, Life, Tensor, TensorDetails, Tensors};
pub use ties::Ties;
pub use transfer::{Collected, Transferred};
pub use weights::{Load, Loaded, Saved, Unshared, Verified, Verify};
