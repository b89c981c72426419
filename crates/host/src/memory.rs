//! What a host needs of a GPU.

use millpond_cuda::CudaError;

use crate::channel::Handle;

/// Memory of one GPU. The real one is `Card`; tests have one that fails when they say so.
pub(crate) trait Memory {
    /// Memory with the event that belongs to it.
    type Block;

    /// Makes memory and says what opens it.
    ///
    /// # Errors
    /// [`NotMade`].
    fn allocate(&self, bytes: u64, zero: bool) -> Result<(Self::Block, Handles), NotMade>;

    /// Makes ready what the next allocation needs, while nobody waits.
    fn prepare(&self) {}

    /// Gives memory back.
    ///
    /// # Errors
    /// What the driver answers. The block is gone all the same.
    fn free(&self, block: Self::Block) -> Result<(), CudaError>;
}

/// What opens a block in other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handles {
    pub(crate) memory: Handle,
    pub(crate) event: Handle,
}

/// Why there is no block.
#[derive(Debug)]
pub(crate) struct NotMade {
    pub(crate) error: CudaError,
    /// Whether there was memory already, which has been freed.
    pub(crate) freed: bool,
}
