//! What a cache needs of a driver.

use millpond_cuda::CudaError;
use thiserror::Error;

/// The part of a driver that a cache stands on: memory, addresses, and whether work is done. The
/// addresses are those of one reserved range, by offset. Methods are called from any thread, and
/// never for one place by two threads at once.
pub trait PageDriver: Send + Sync {
    /// Physical memory. Dropping one may leak it: a cache always calls [`PageDriver::release`].
    type Handle: Send;
    /// A mark in the work of a device, which the device passes once.
    type Fence: Send + Sync;

    /// The address of offset 0.
    fn base(&self) -> u64;

    /// Makes memory.
    ///
    /// # Errors
    /// A card without room answers an error that [is out of memory](PageError::is_out_of_memory).
    fn create(&self, bytes: u64) -> Result<Self::Handle, PageError>;

    /// Gives memory back that is mapped nowhere.
    ///
    /// # Errors
    /// The memory may still be the process's then.
    fn release(&self, handle: Self::Handle) -> Result<(), PageError>;

    /// Maps whole handles side by side, readable and writable.
    ///
    /// # Errors
    /// Nothing of the call is mapped then, unless the error [is stuck](PageError::is_stuck).
    fn map(&self, offset: u64, handles: &[&Self::Handle]) -> Result<(), PageError>;

    /// Unmaps a run of whole handles that no work uses any more.
    ///
    /// # Errors
    /// All of it is mapped still.
    fn unmap(&self, offset: u64, bytes: u64) -> Result<(), PageError>;

    /// Whether the host can see that the device has passed a fence.
    ///
    /// # Errors
    /// What the work before it met.
    fn is_passed(&self, fence: &Self::Fence) -> Result<bool, PageError>;

    /// Waits until all work that was submitted before this call is done.
    ///
    /// # Errors
    /// What the work met.
    fn settle(&self) -> Result<(), PageError>;
}

/// A call of the driver that failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{cuda}")]
pub struct PageError {
    #[source]
    cuda: CudaError,
    stuck: bool,
}

impl PageError {
    /// What the driver said.
    #[must_use]
    pub fn cuda(&self) -> &CudaError {
        &self.cuda
    }

    /// The card has no room.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.cuda.is_out_of_memory()
    }

    /// The context is lost, and no work of it runs any more.
    #[must_use]
    pub fn is_sticky(&self) -> bool {
        self.cuda.is_sticky()
    }

    /// The driver has shut down, or the context was destroyed.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.cuda.is_gone()
    }

    /// A map that failed could not be undone: its addresses are occupied.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.stuck
    }

    /// The same error of a map that could not be undone.
    #[must_use]
    pub fn stuck(mut self) -> Self {
        self.stuck = true;
        self
    }
}

impl From<CudaError> for PageError {
    fn from(cuda: CudaError) -> Self {
        Self { cuda, stuck: false }
    }
}
