//! Tensors as JSON.

use millpond_wire::message::{Life, TensorInfo};
use serde::Serialize;

use super::LeaseJson;

/// One tensor: `tensor create`, and one of `tensor ls`.
#[derive(Debug, Serialize)]
pub struct TensorJson {
    /// Identity.
    id: String,
    /// Name inside its owner's part; `null` for a tensor that has none.
    name: Option<String>,
    /// Owner's user id.
    user: u32,
    /// Element type in safetensors' spelling.
    dtype: &'static str,
    /// Extents.
    shape: Vec<u64>,
    /// Its bytes.
    bytes: u64,
    /// UUID of its GPU.
    device: String,
    /// `writing`, `ready` or `deleted`.
    state: &'static str,
    /// Counts publishes.
    generation: u64,
    /// `user`, `group` or `everybody`.
    share: &'static str,
    /// Ends with its creator's process.
    ephemeral: bool,
    /// When it was made.
    created_unix_ms: u64,
    /// The slab it lies in.
    slab: String,
    /// That slab's bytes.
    slab_bytes: u64,
    /// Where in the slab it begins.
    slab_offset_bytes: u64,
    /// How many leases there are on it.
    lease_count: u32,
    /// What is left of its life.
    life: LifeJson,
}

/// What ends a tensor beside being deleted; `null` where nothing was said.
#[derive(Debug, Serialize)]
struct LifeJson {
    /// Until its time is over.
    ttl_left_ms: Option<u64>,
    /// Without a lease.
    linger_left_ms: Option<u64>,
    /// Gets that will be answered.
    accesses_left: Option<u64>,
}

impl From<Life> for LifeJson {
    fn from(life: Life) -> Self {
        Self {
            ttl_left_ms: life.ttl_ms,
            linger_left_ms: life.linger_ms,
            accesses_left: life.accesses,
        }
    }
}

impl From<&TensorInfo> for TensorJson {
    fn from(info: &TensorInfo) -> Self {
        Self {
            id: info.tensor.to_string(),
            name: info.name.as_ref().map(ToString::to_string),
            user: info.user,
            dtype: info.dtype.name(),
            shape: info.shape.dims().to_vec(),
            bytes: info.bytes,
            device: info.device.to_string(),
            state: info.state.name(),
            generation: info.generation,
            share: info.audience.name(),
            ephemeral: info.ephemeral,
            created_unix_ms: info.created_unix_ms,
            slab: info.slab.to_string(),
            slab_bytes: info.slab_bytes,
            slab_offset_bytes: info.offset,
            lease_count: info.leases,
            life: info.life.into(),
        }
    }
}

/// `tensor create`: the tensor's fields, and whether it was made.
#[derive(Debug, Serialize)]
pub struct CreatedJson {
    /// The tensor.
    #[serde(flatten)]
    pub tensor: TensorJson,
    /// It already existed: nothing was made.
    pub existed: bool,
}

/// `tensor ls`.
#[derive(Debug, Serialize)]
pub struct TensorsJson {
    /// Sorted as the daemon sends them.
    pub tensors: Vec<TensorJson>,
}

/// `inspect`: the tensor's fields and its leases.
#[derive(Debug, Serialize)]
pub struct DetailsJson {
    /// The tensor.
    #[serde(flatten)]
    pub tensor: TensorJson,
    /// Who holds it.
    pub leases: Vec<LeaseJson>,
}
