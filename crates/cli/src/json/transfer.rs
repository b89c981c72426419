//! Transfers and collections as JSON.

use std::time::Duration;

use millpond::Collected;
use serde::Serialize;

use super::TensorJson;
use crate::units;

/// `tensor put`, `get`, `copy` and `zero`: the tensor's fields, and what was moved.
#[derive(Debug, Serialize)]
pub struct TransferJson {
    /// The tensor.
    #[serde(flatten)]
    tensor: TensorJson,
    /// The file that was written, with its header; `null` where none was.
    file_bytes: Option<u64>,
    /// How long it took.
    elapsed_ms: f64,
}

impl TransferJson {
    /// Of this tensor.
    pub fn new(tensor: TensorJson, file_bytes: Option<u64>, elapsed: Duration) -> Self {
        Self { tensor, file_bytes, elapsed_ms: units::millis(elapsed) }
    }
}

/// `gc`.
#[derive(Debug, Serialize)]
pub struct CollectedJson {
    /// Nothing was done.
    dry_run: bool,
    /// Tensors that were deleted.
    tensors: Vec<TensorJson>,
    /// Their bytes.
    tensor_bytes: u64,
    /// Empty slabs that went back to their GPU.
    slabs: u32,
    /// Their bytes.
    slab_bytes: u64,
}

impl CollectedJson {
    /// Of this collection.
    pub fn new(collected: &Collected, dry_run: bool) -> Self {
        Self {
            dry_run,
            tensors: collected.tensors.iter().map(TensorJson::from).collect(),
            tensor_bytes: collected.tensors.iter().map(|info| info.bytes).sum(),
            slabs: collected.slabs,
            slab_bytes: collected.slab_bytes,
        }
    }
}
