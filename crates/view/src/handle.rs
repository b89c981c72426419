//! The handle of a tensor, for programs that know only CUDA IPC.

use millpond_wire::{Dtype, GpuUuid, HANDLE_BYTES};
use serde::Serialize;

use crate::{Dims, Text, base64};

/// `tensor handle`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Handle {
    /// What `cudaIpcOpenMemHandle` takes: 64 bytes, in base64.
    pub memory: String,
    /// What `cudaIpcOpenEventHandle` takes: 64 bytes, in base64; nothing where there is no event.
    pub event: Option<String>,
    /// UUID of the GPU.
    pub device: Text<GpuUuid>,
    /// Where in the opened memory the tensor begins.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Element type.
    pub dtype: Text<Dtype>,
    /// Extents.
    pub shape: Dims,
}

impl Handle {
    /// The handle of the tensor that this is about.
    #[must_use]
    pub fn new(
        memory: &[u8; HANDLE_BYTES],
        event: Option<&[u8; HANDLE_BYTES]>,
        info: &millpond_wire::message::TensorInfo,
    ) -> Self {
        Self {
            memory: base64::encode(memory),
            event: event.map(|event| base64::encode(event)),
            device: Text(info.device),
            offset: info.offset,
            bytes: info.bytes,
            dtype: Text(info.dtype),
            shape: Dims(info.shape.clone()),
        }
    }
}
