//! One sample of every message and record, the same each time.
//!
//! Unit tests send them there and back, the golden files are their bytes, and the fuzzers begin
//! with them. A sample's name is its file's name.

#![allow(clippy::unwrap_used, reason = "a sample that cannot be made is a bug of its test")]

mod cache;
mod group;
mod manifest;
mod pond;
mod record;
mod tensor;
mod version;

use uuid::Uuid;

use crate::message::{ReplyBody, RequestBody};
use crate::{GpuUuid, HANDLE_BYTES, Transport};

pub use manifest::manifests;
pub use record::records;
pub use tensor::info as tensor_info;

pub type Sample<T> = (&'static str, T);

#[must_use]
pub fn requests() -> Vec<Sample<RequestBody>> {
    let mut all = pond::requests();
    all.extend(tensor::requests());
    all.extend(version::requests());
    all.extend(cache::requests());
    all.extend(group::requests());
    all
}

#[must_use]
pub fn replies() -> Vec<Sample<ReplyBody>> {
    let mut all = pond::replies();
    all.extend(tensor::replies());
    all.extend(version::replies());
    all.extend(cache::replies());
    all.extend(group::replies());
    all
}

const GPU: GpuUuid = GpuUuid([3; 16]);
const MEMPOOL: Transport = Transport::Mempool([6; HANDLE_BYTES]);
const IPC: Transport = Transport::Ipc([7; HANDLE_BYTES]);

/// An identity of its own for each number.
const fn id(number: u64) -> Uuid {
    Uuid::from_u64_pair(0x1111_2222_3333_4444, 0x5555_6666_7777_0000 + number)
}
