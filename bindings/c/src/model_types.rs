//! What is said about models.

use std::ffi::{c_char, c_void};

use millpond::{Dtype, ModelTensor, Shape, VersionInfo};

use crate::tensor_types::{MILLPOND_MAX_DIMENSIONS, MILLPOND_NAME_BYTES};
use crate::uuid::{cut, millpond_uuid};
use crate::words::{AudienceNumber, DtypeNumber, VersionStateNumber};

/// What a pond says about a version of a model.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_version_info {
    /// Identity.
    pub id: millpond_uuid,
    /// UUID of its GPU.
    pub gpu: millpond_uuid,
    /// Its model's name inside the owner's scope.
    pub model: [c_char; MILLPOND_NAME_BYTES],
    /// Its tag.
    pub tag: [c_char; 72],
    /// Owner's user id.
    pub user: u32,
    /// Where it is in its life.
    pub state: VersionStateNumber,
    /// With whom it is shared.
    pub audience: AudienceNumber,
    /// 1: it is the model's current version.
    pub current: u32,
    /// 1: a rollback leads to it.
    pub previous: u32,
    /// 1: its record survived but not its memory.
    pub lost: u32,
    /// How many slabs.
    pub slabs: u32,
    /// How many tensors.
    pub tensors: u32,
    /// Leases on it.
    pub readers: u32,
    /// The process that stages it; zero where none does.
    pub stager_pid: u32,
    /// Bytes of its tensors; zero while it is staged.
    pub bytes: u64,
    /// Bytes of its slabs.
    pub slab_bytes: u64,
    /// Bytes of slabs that other versions have as well.
    pub shared_bytes: u64,
    /// When it was begun.
    pub created_unix_ms: u64,
    /// When it was complete; zero before.
    pub ready_unix_ms: u64,
    /// Hash of where everything lies; all zero before it is ready.
    pub layout_hash: [u8; 16],
    /// Hash of everything; all zero before it is ready.
    pub content_hash: [u8; 16],
    /// For later versions; zero.
    pub reserved: [u64; 8],
}

impl From<&VersionInfo> for millpond_version_info {
    fn from(info: &VersionInfo) -> Self {
        Self {
            id: millpond_uuid { bytes: *info.version.0.as_bytes() },
            gpu: info.device.into(),
            model: cut(info.model.as_str()),
            tag: cut(&info.tag.to_string()),
            user: info.user,
            state: info.state.code().into(),
            audience: info.audience.code().into(),
            current: info.current.into(),
            previous: info.previous.into(),
            lost: info.lost.into(),
            slabs: info.slabs,
            tensors: info.tensors,
            readers: info.readers,
            stager_pid: info.stager_pid.unwrap_or(0),
            bytes: info.bytes,
            slab_bytes: info.slab_bytes,
            shared_bytes: info.shared_bytes,
            created_unix_ms: info.created_unix_ms,
            ready_unix_ms: info.ready_unix_ms.unwrap_or(0),
            layout_hash: info.layout.map_or([0; 16], |hash| hash.0),
            content_hash: info.content.map_or([0; 16], |hash| hash.0),
            reserved: [0; 8],
        }
    }
}

/// A tensor of a version, mapped.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_model_tensor {
    /// Where it begins in the GPU's address space, for this process.
    pub data: *mut c_void,
    /// Its bytes.
    pub bytes: u64,
    /// Where it begins in the version's arena.
    pub arena_offset: u64,
    /// Element type.
    pub dtype: DtypeNumber,
    /// How many extents.
    pub dimensions: u32,
    /// Extents; zero from `dimensions` on.
    pub shape: [u64; MILLPOND_MAX_DIMENSIONS],
    /// Hash of its bytes.
    pub hash: [u8; 16],
    /// Its name in the checkpoint.
    pub name: [c_char; MILLPOND_NAME_BYTES],
    /// For later versions; zero.
    pub reserved: [u64; 4],
}

impl From<&ModelTensor> for millpond_model_tensor {
    fn from(tensor: &ModelTensor) -> Self {
        let address = usize::try_from(tensor.device_ptr().0).unwrap_or(0);
        let (dtype, dimensions, shape) = described(tensor.dtype(), tensor.shape());
        Self {
            data: std::ptr::with_exposed_provenance_mut(address),
            bytes: tensor.bytes(),
            arena_offset: tensor.arena_offset(),
            dtype,
            dimensions,
            shape,
            hash: tensor.hash().0,
            name: cut(tensor.name()),
            reserved: [0; 4],
        }
    }
}

fn described(dtype: Dtype, of: &Shape) -> (DtypeNumber, u32, [u64; MILLPOND_MAX_DIMENSIONS]) {
    let mut shape = [0; MILLPOND_MAX_DIMENSIONS];
    for (to, from) in shape.iter_mut().zip(of.dims()) {
        *to = *from;
    }
    (dtype.code().into(), u32::try_from(of.dims().len()).unwrap_or(0), shape)
}
