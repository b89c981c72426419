//! A tensor of a version.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use millpond_cuda::{Context, CudaError, DevicePtr, Mapping};
use millpond_wire::manifest::ManifestTensor;
use millpond_wire::{ContentHash, Dtype, GpuUuid, Shape};

use super::ManifestMap;
use super::attachment::Attachment;
use crate::tensor::zeros;
use crate::{Error, Result};

/// A tensor of an attached version. It holds the version's lease: nothing is unmapped while it
/// lives. Cheap to clone.
#[derive(Clone)]
pub struct ModelTensor {
    attachment: Arc<Attachment>,
    tensor: Arc<ManifestTensor>,
    address: DevicePtr,
}

impl ModelTensor {
    pub(super) fn new(
        attachment: &Arc<Attachment>,
        manifest: &ManifestMap,
        tensor: ManifestTensor,
    ) -> Self {
        let start = manifest.slabs().get(tensor.slab).map_or(0, |slab| slab.arena_offset);
        Self::at(attachment, start, tensor)
    }

    /// In a slab that begins at `start` of the arena.
    pub(super) fn at(attachment: &Arc<Attachment>, start: u64, tensor: ManifestTensor) -> Self {
        Self {
            attachment: Arc::clone(attachment),
            // Inside of the arena, as the manifest was checked.
            address: DevicePtr(attachment.address().0 + start + tensor.offset),
            tensor: Arc::new(tensor),
        }
    }

    /// Its name, in the checkpoint's spelling.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.tensor.name
    }

    /// Its element type.
    #[must_use]
    pub fn dtype(&self) -> Dtype {
        self.tensor.dtype
    }

    /// Its extents; a dimension may be zero.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.tensor.shape
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tensor.bytes
    }

    /// The hash of its bytes, when it was attached.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.tensor.hash
    }

    /// Where it begins in the GPU's address space, for this process.
    #[must_use]
    pub fn device_ptr(&self) -> DevicePtr {
        self.address
    }

    /// Where it begins in the version's arena.
    #[must_use]
    pub fn arena_offset(&self) -> u64 {
        self.address.0 - self.attachment.address().0
    }

    /// The GPU it lies on.
    #[must_use]
    pub fn device(&self) -> GpuUuid {
        self.attachment.device()
    }

    /// The context it is mapped for.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.attachment.context()
    }

    /// Copies out of the tensor, from `offset` bytes on, and waits.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`], [`Error::Forked`], and what the driver answers.
    pub fn copy_to_host(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        self.attachment.with(&self.tensor, offset, target.len() as u64, |mapping, at| {
            mapping.copy_to_host(at, target)
        })
    }

    /// Does something with a part of it that changes it.
    pub(super) fn write(
        &self,
        offset: u64,
        length: u64,
        work: impl FnOnce(&Mapping, u64) -> Result<(), CudaError>,
    ) -> Result<()> {
        if self.attachment.sealed.load(Ordering::Acquire) {
            return Err(Error::ReadOnly { tensor: format!("'{}'", self.name()) });
        }
        self.attachment.with(&self.tensor, offset, length, work)
    }

    /// All of its bytes.
    ///
    /// # Errors
    /// What the driver answers, or if this machine's memory is too small.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut bytes = zeros(self.bytes())
            .map_err(|error| Error::system(format!("a copy of '{}'", self.name()), error))?;
        self.copy_to_host(0, &mut bytes)?;
        Ok(bytes)
    }
}

impl fmt::Debug for ModelTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelTensor")
            .field("name", &self.tensor.name)
            .field("dtype", &self.tensor.dtype)
            .field("shape", &self.tensor.shape)
            .field("device_ptr", &self.address)
            .finish_non_exhaustive()
    }
}
