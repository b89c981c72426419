//! A tensor of a version that is being written.

use std::ops::Deref;
use std::sync::Arc;

use millpond_wire::manifest::ManifestTensor;

use super::ModelTensor;
use super::attachment::Attachment;
use crate::Result;

/// A tensor of a [`Staging`](super::Staging), mapped read-write. It holds the staging's lease:
/// nothing is unmapped while it lives. Once the version is committed it must not be written any
/// more, through [`device_ptr`](ModelTensor::device_ptr) neither.
#[derive(Clone, Debug)]
pub struct StagedTensor {
    tensor: ModelTensor,
}

impl StagedTensor {
    pub(super) fn new(attachment: &Arc<Attachment>, start: u64, tensor: ManifestTensor) -> Self {
        Self { tensor: ModelTensor::at(attachment, start, tensor) }
    }

    /// Copies into the tensor, from `offset` bytes on, and waits.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds),
    /// [`Error::ReadOnly`](crate::Error::ReadOnly) once the version is committed, and what the
    /// driver answers.
    pub fn copy_from_host(&self, offset: u64, source: &[u8]) -> Result<()> {
        self.tensor
            .write(offset, source.len() as u64, |mapping, at| mapping.copy_from_host(at, source))
    }

    /// Fills the whole tensor with one byte, and waits.
    ///
    /// # Errors
    /// As for [`StagedTensor::copy_from_host`].
    pub fn fill(&self, byte: u8) -> Result<()> {
        let bytes = self.bytes();
        self.tensor.write(0, bytes, |mapping, at| mapping.memset(at, bytes, byte))
    }
}

impl Deref for StagedTensor {
    type Target = ModelTensor;

    fn deref(&self) -> &ModelTensor {
        &self.tensor
    }
}
