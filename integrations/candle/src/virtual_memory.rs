//! Pools of pages under fixed addresses.
//!
//! A pool is a [`Cache`] with one segment whose blocks are its pages. Each page has a handle of its own:
//! a handle is given back whole, and a program may free any page alone.

use crate::cuda_ffi;
#[cfg(feature = "candle")]
use crate::device::candle_of;
use crate::device::{Device, context_of, ordinal_of};
use crate::error::{Result, VmmError};
use crate::index;
use crate::mapping::part;
#[cfg(feature = "candle")]
use crate::tensor;
#[cfg(feature = "candle")]
use candle_core::{CudaDevice, DType, Shape, Tensor};
use millpond_cuda::Context;
use millpond_elastic::{
    Cache, CudaPages, ElasticError, Geometry, GeometryError, LocalCredit, Marks,
};
use std::ops::Range;

pub use crate::shared_memory::{GlobalMemoryStats, SharedMemoryPool};

/// Addresses that stay, and pages under them on demand.
///
/// ```no_run
/// use candle_cuda_vmm::{Device, Result, VirtualMemoryPool};
///
/// fn main() -> Result<()> {
///     let device = Device::new_cuda(0)?;
///
///     // Create a pool with 128GB virtual capacity, 2MB pages
///     let mut pool = VirtualMemoryPool::new(
///         128 * 1024 * 1024 * 1024, // 128GB virtual
///         2 * 1024 * 1024,          // 2MB pages
///         device,
///     )?;
///
///     // Allocate 1GB of physical memory on-demand
///     let addr = pool.allocate(0, 1024 * 1024 * 1024)?;
///     println!("Allocated at virtual address: 0x{:x}", addr);
///
///     // Physical memory usage: ~1GB
///     println!("Physical usage: {} bytes", pool.physical_memory_usage());
///
///     // Deallocate when done
///     pool.deallocate(0, 1024 * 1024 * 1024)?;
///
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct VirtualMemoryPool {
    cache: Cache<CudaPages, LocalCredit>,
    context: Context,
    capacity: usize,
    page_size: usize,
    #[cfg(feature = "candle")]
    device: CudaDevice,
}

/// A pool at one moment.
#[derive(Debug, Clone)]
pub struct MemoryStats {
    /// Count of addresses.
    pub virtual_capacity: usize,
    /// What the pool holds of the card.
    pub physical_usage: usize,
    /// Count of allocated pages.
    pub mapped_pages: usize,
    /// The part of the addresses without an allocated page: 1.0 for an empty pool, 0.0 for a full one.
    pub fragmentation_ratio: f32,
}

impl VirtualMemoryPool {
    /// A pool without any page. The capacity is rounded up to whole pages.
    ///
    /// # Errors
    /// A device without CUDA; a page that is not a power of two or that the device cannot map; a
    /// capacity that is 0 or more than a device can address; what the driver answers.
    pub fn new(capacity: usize, page_size: usize, device: Device) -> Result<Self> {
        Self::with_credit(capacity, page_size, &device, LocalCredit::new(u64::MAX, "pool"))
    }

    /// As [`VirtualMemoryPool::new`], on a shared credit.
    pub(crate) fn with_credit(
        capacity: usize,
        page_size: usize,
        device: &Device,
        credit: LocalCredit,
    ) -> Result<Self> {
        let smallest = cuda_ffi::get_minimum_granularity(ordinal_of(device)?)?;
        if !page_size.is_power_of_two() || page_size < smallest {
            return Err(VmmError::InvalidPageSize(page_size));
        }
        let out = |available| VmmError::OutOfVirtualMemory { requested: capacity, available };
        let rounded = capacity.checked_next_multiple_of(page_size).ok_or_else(|| out(1 << 47))?;
        let geometry = Geometry::of_bytes(rounded as u64, 1, page_size as u64);
        let geometry = geometry.map_err(|error| match error {
            GeometryError::TooLarge { .. } => out(1 << 47),
            GeometryError::Granule(_) => VmmError::InvalidPageSize(page_size),
            _ => VmmError::InvalidAlignment { actual: capacity, required: page_size },
        })?;
        let geometry = geometry.with_largest_handle(page_size as u64);
        let context = context_of(device)?;
        let pages = CudaPages::reserve(&context, &geometry)
            .map_err(|error| if error.is_out_of_memory() { out(0) } else { error.into() })?;
        let cache = Cache::new(pages, credit, geometry, Marks::NONE);
        Ok(Self {
            cache,
            context,
            capacity: rounded,
            page_size,
            #[cfg(feature = "candle")]
            device: candle_of(device)?.clone(),
        })
    }

    /// Puts pages under a part of the addresses, and answers the address of the offset. The part is
    /// widened to whole pages.
    ///
    /// # Errors
    /// A part that is empty or outside, or with a page that is allocated already; no room. Nothing
    /// is allocated then.
    pub fn allocate(&mut self, offset: usize, size: usize) -> Result<usize> {
        let pages = self.pages(offset, size)?;
        self.cache.commit_range(pages).map_err(|error| self.refused(error))?;
        Ok(self.base_address() + offset)
    }

    /// Takes the pages of a part away, after the device has done all its work. The part is widened
    /// to whole pages.
    ///
    /// # Errors
    /// A part that is empty or outside, or with a page that is not allocated, or under a tensor that is
    /// not dropped yet: nothing is freed then. What the driver answers: the pages are free, and
    /// [`VirtualMemoryPool::compact`] gives them back later.
    pub fn deallocate(&mut self, offset: usize, size: usize) -> Result<()> {
        let pages = self.pages(offset, size)?;
        #[cfg(feature = "candle")]
        tensor::check_unused(self, offset, size)?;
        self.cache.uncommit(pages, None).map_err(|error| self.refused(error))?;
        self.compact()
    }

    /// Gives back what the pool holds and does not use.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn compact(&mut self) -> Result<()> {
        self.cache.trim_all().map(drop).map_err(|error| self.refused(error))
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
    #[cfg(feature = "candle")]
    pub fn tensor<S: Into<Shape>>(&self, offset: usize, shape: S, dtype: DType) -> Result<Tensor> {
        tensor::over(self, &self.device, offset, shape.into(), dtype)
    }

    /// What the pool holds of the card.
    #[must_use]
    pub fn physical_memory_usage(&self) -> usize {
        index(self.cache.held_bytes())
    }

    /// Count of addresses.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// First address; it never changes.
    #[must_use]
    pub fn base_address(&self) -> usize {
        index(self.cache.base())
    }

    /// Size of a page.
    #[must_use]
    pub fn page_size(&self) -> usize {
        self.page_size
    }

    /// Whether all pages of a part are allocated; false for a part that is empty or outside.
    #[must_use]
    pub fn is_mapped(&self, offset: usize, size: usize) -> bool {
        self.pages(offset, size).is_ok_and(|pages| self.cache.is_committed(pages))
    }

    /// The pool at this moment.
    #[must_use]
    pub fn stats(&self) -> MemoryStats {
        let stats = self.cache.stats();
        let pages = self.cache.geometry().blocks();
        #[allow(clippy::cast_precision_loss, reason = "a ratio for people")]
        let fragmentation_ratio = (pages - stats.committed_blocks) as f32 / pages as f32;
        MemoryStats {
            virtual_capacity: self.capacity,
            physical_usage: index(stats.held_bytes),
            mapped_pages: index(stats.committed_blocks),
            fragmentation_ratio,
        }
    }

    /// The cache underneath, for copies, for events at the end of a use, and for a table of blocks.
    #[must_use]
    pub fn cache(&self) -> &Cache<CudaPages, LocalCredit> {
        &self.cache
    }

    /// The lowest offset at which so many bytes are free.
    pub(crate) fn place(&self, size: usize) -> Result<usize> {
        let pages = size.div_ceil(self.page_size).max(1) as u64;
        let first = self.cache.find_free(pages).map_err(|longest| {
            let available = index(longest) * self.page_size;
            VmmError::OutOfVirtualMemory { requested: size, available }
        })?;
        Ok(index(first) * self.page_size)
    }

    /// The pages of a part.
    fn pages(&self, offset: usize, size: usize) -> Result<Range<u64>> {
        part(offset, size, self.capacity)?;
        let end = (offset + size).div_ceil(self.page_size);
        Ok((offset / self.page_size) as u64..end as u64)
    }

    fn refused(&self, error: ElasticError) -> VmmError {
        let free = match &error {
            ElasticError::CardFull { .. } => self.context.memory_info().map(|info| info.free_bytes),
            _ => Ok(0),
        };
        VmmError::of_pool(error, self.page_size, free.unwrap_or(0))
    }
}
