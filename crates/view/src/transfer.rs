//! Transfers and collections.

use std::time::Duration;

use millpond_wire::message::TensorInfo;
use serde::Serialize;

use crate::{Tensor, units};

/// `tensor put`, `get`, `copy` and `zero`: the tensor's fields, and what was moved.
#[derive(Clone, Debug, Serialize)]
pub struct Transferred {
    /// The tensor.
    #[serde(flatten)]
    pub tensor: Tensor,
    /// The file that was written, with its header; `null` where none was.
    pub file_bytes: Option<u64>,
    /// How long it took.
    pub elapsed_ms: f64,
}

impl Transferred {
    /// A transfer of this tensor.
    #[must_use]
    pub fn new(tensor: &TensorInfo, file_bytes: Option<u64>, elapsed: Duration) -> Self {
        Self { tensor: tensor.into(), file_bytes, elapsed_ms: units::millis(elapsed) }
    }
}

data! { $
    /// `gc`: what was given back, or would be.
    pub struct Collected as collected_fields {
        /// Nothing was done.
        dry_run: bool,
        /// Tensors that were deleted.
        tensors: Vec<Tensor>,
        /// Their bytes.
        tensor_bytes: u64,
        /// Empty slabs that went back to their GPU.
        slabs: u32,
        /// Their bytes.
        slab_bytes: u64,
    }
}

impl Collected {
    /// These tensors, and so many slabs with so many bytes.
    #[must_use]
    pub fn new(dry_run: bool, tensors: &[TensorInfo], slabs: u32, slab_bytes: u64) -> Self {
        Self {
            dry_run,
            tensors: tensors.iter().map(Tensor::from).collect(),
            tensor_bytes: tensors.iter().map(|info| info.bytes).sum(),
            slabs,
            slab_bytes,
        }
    }
}
