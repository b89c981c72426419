//! Pools of pages under fixed addresses, and tensors over them.

use crate::device::of_candle;
use crate::error::Result;
use crate::tensor;
use candle_core::{CudaDevice, DType, Device, Shape, Tensor};

pub use crate::shared_memory::SharedMemoryPool;
pub use millpond_elastic::{GlobalMemoryStats, MemoryStats};

/// Addresses that stay, and pages under them on demand.
///
/// ```no_run
/// use candle_core::{DType, Device};
/// use candle_cuda_vmm::{Result, VirtualMemoryPool};
///
/// # fn main() -> Result<()> {
/// let device = Device::new_cuda(0)?;
/// let mut pool = VirtualMemoryPool::new(1 << 30, 2 << 20, device)?;
/// pool.allocate(0, 8 << 20)?;
/// let keys = pool.tensor(0, (1024, 8, 128), DType::F32)?;
/// assert!(pool.deallocate(0, 8 << 20).is_err()); // `keys` stands on it
/// drop(keys);
/// pool.deallocate(0, 8 << 20)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct VirtualMemoryPool {
    pool: millpond_elastic::VirtualMemoryPool,
    device: CudaDevice,
}

impl VirtualMemoryPool {
    /// A pool without any page, in the context that Candle uses.
    ///
    /// # Errors
    /// A device without CUDA. A page that is not a power of two or that the device cannot map; a
    /// capacity that is 0, not a multiple of the page, or more than a device can address. What the
    /// driver answers.
    pub fn new(capacity: usize, page_size: usize, device: Device) -> Result<Self> {
        let (device, engine) = of_candle(&device)?;
        let pool = millpond_elastic::VirtualMemoryPool::new(capacity, page_size, engine)?;
        Ok(Self { pool, device })
    }

    /// Puts pages under a part of the addresses, and answers the address of the offset. The part is
    /// widened to whole pages.
    ///
    /// # Errors
    /// A part that is empty or outside, or with a page that is allocated already; no room. Nothing
    /// is allocated then.
    pub fn allocate(&mut self, offset: usize, size: usize) -> Result<usize> {
        Ok(self.pool.allocate(offset, size)?)
    }

    /// Takes the pages of a part away, after the device has done all its work. The part is widened
    /// to whole pages.
    ///
    /// # Errors
    /// A part that is empty or outside, with a page that is not allocated, or with a page under a
    /// tensor that is not dropped yet: nothing is freed then. What the driver answers: the pages are
    /// free, and [`VirtualMemoryPool::compact`] gives them back later.
    pub fn deallocate(&mut self, offset: usize, size: usize) -> Result<()> {
        tensor::check_unused(&self.pool, offset, size)?;
        Ok(self.pool.deallocate(offset, size)?)
    }

    /// A tensor over allocated pages, with what is in them. It is a tensor as any other: clones and
    /// views of it share the memory, and operations may write to it. Tensors over one part share it.
    ///
    /// The pages stay while the tensor, a clone or a view of it lives, also when the pool is dropped.
    ///
    /// # Errors
    /// A type whose elements are not whole bytes; a shape without elements, or with more bytes than
    /// can be counted; an offset between two elements; a part that is outside, or with a page that is
    /// not allocated. A program in which Candle's calls to free do not arrive here.
    pub fn tensor<S: Into<Shape>>(&self, offset: usize, shape: S, dtype: DType) -> Result<Tensor> {
        tensor::over(&self.pool, &self.device, offset, shape.into(), dtype)
    }

    /// Gives back what the pool holds and does not use, and answers how many bytes that were.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn compact(&mut self) -> Result<usize> {
        Ok(self.pool.compact()?)
    }

    /// What the pool holds of the card.
    #[must_use]
    pub fn physical_memory_usage(&self) -> usize {
        self.pool.physical_memory_usage()
    }

    /// Count of addresses.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.pool.capacity()
    }

    /// First address; it never changes.
    #[must_use]
    pub fn base_address(&self) -> usize {
        self.pool.base_address()
    }

    /// Size of a page.
    #[must_use]
    pub fn page_size(&self) -> usize {
        self.pool.page_size()
    }

    /// Whether all pages of a part are allocated; false for a part that is empty or outside.
    #[must_use]
    pub fn is_mapped(&self, offset: usize, size: usize) -> bool {
        self.pool.is_mapped(offset, size)
    }

    /// The pool at this moment.
    #[must_use]
    pub fn stats(&self) -> MemoryStats {
        self.pool.stats()
    }
}
