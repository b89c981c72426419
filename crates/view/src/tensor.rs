//! Tensors.

use millpond_wire::message::{self, TensorInfo};
use millpond_wire::{
    Audience, Dtype, GpuUuid, SlabId, Survives, TensorId, TensorName, TensorState, TransportKind,
};
use serde::Serialize;

use crate::{Dims, Lease, Text};

data! { $
    /// One tensor: `tensor create`, and one of `tensor ls`.
    pub struct Tensor as tensor_fields {
        /// Identity.
        id: Text<TensorId>,
        /// Name inside its owner's scope; nothing for a tensor that has none.
        name: Option<Text<TensorName>>,
        /// Owner's user id.
        user: u32,
        /// Element type.
        dtype: Text<Dtype>,
        /// Extents.
        shape: Dims,
        /// Its bytes.
        bytes: u64,
        /// UUID of its GPU.
        device: Text<GpuUuid>,
        /// `writing`, `ready`, `deleted`, or `orphan`: the process that kept its memory is gone.
        state: Text<TensorState>,
        /// Counts publishes.
        generation: u64,
        /// `user`, `group` or `everybody`.
        share: Text<Audience>,
        /// Ends with its creator's process.
        ephemeral: bool,
        /// When it was made.
        created_unix_ms: u64,
        /// The slab it lies in.
        slab: Text<SlabId>,
        /// That slab's bytes.
        slab_bytes: u64,
        /// Where in the slab it begins.
        slab_offset_bytes: u64,
        /// How many leases there are on it.
        lease_count: u32,
        /// What is left of its life.
        life: Life,
        /// How its memory is shared: `vmm`, `mempool` or `ipc`.
        transport: Text<TransportKind>,
        /// Another program made the memory, and the pond took it in.
        adopted: bool,
        /// What its memory survives: `everything`, everything but the end of its `host`, or everything
        /// but the end of its `owner`.
        survives: Text<Survives>,
        /// The process that keeps its memory; nothing where descriptors do.
        home_pid: Option<u32>,
        /// How many holds keep it; nothing where it was not made to be held.
        holds: Option<u64>,
    }
}

data! { $
    /// What ends a tensor beside being deleted; nothing where no end was set.
    pub struct Life as life_fields {
        /// Until its time is over.
        ttl_left_ms: Option<u64>,
        /// Without a lease.
        linger_left_ms: Option<u64>,
        /// Gets that will be answered.
        accesses_left: Option<u64>,
    }
}

impl From<message::Life> for Life {
    fn from(life: message::Life) -> Self {
        Self {
            ttl_left_ms: life.ttl_ms,
            linger_left_ms: life.linger_ms,
            accesses_left: life.accesses,
        }
    }
}

impl From<&TensorInfo> for Tensor {
    fn from(info: &TensorInfo) -> Self {
        Self {
            id: Text(info.tensor),
            name: info.name.clone().map(Text),
            user: info.user,
            dtype: Text(info.dtype),
            shape: Dims(info.shape.clone()),
            bytes: info.bytes,
            device: Text(info.device),
            state: Text(info.state),
            generation: info.generation,
            share: Text(info.audience),
            ephemeral: info.ephemeral,
            created_unix_ms: info.created_unix_ms,
            slab: Text(info.slab),
            slab_bytes: info.slab_bytes,
            slab_offset_bytes: info.offset,
            lease_count: info.leases,
            life: info.life.into(),
            transport: Text(info.transport),
            adopted: info.adopted,
            survives: Text(info.survives),
            home_pid: (info.home_pid != 0).then_some(info.home_pid),
            holds: info.holds,
        }
    }
}

/// `tensor create`: the tensor's fields, and whether it was made.
#[derive(Clone, Debug, Serialize)]
pub struct Created {
    /// The tensor.
    #[serde(flatten)]
    pub tensor: Tensor,
    /// It already existed: nothing was made.
    pub existed: bool,
}

/// `tensor ls`.
#[derive(Clone, Debug, Serialize)]
pub struct Tensors {
    /// Sorted as the daemon sends them.
    pub tensors: Vec<Tensor>,
}

/// `inspect` of a tensor: its fields and its leases.
#[derive(Clone, Debug, Serialize)]
pub struct TensorDetails {
    /// The tensor.
    #[serde(flatten)]
    pub tensor: Tensor,
    /// Who holds it.
    pub leases: Vec<Lease>,
}
