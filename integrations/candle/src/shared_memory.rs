//! Pools of several models under one limit, and tensors over them.

use crate::device::of_candle;
use crate::error::{Result, VmmError};
use crate::tensor;
use crate::virtual_memory::{GlobalMemoryStats, MemoryStats};
use candle_core::{CudaDevice, DType, Device, Shape, Tensor};

/// A pool for each model, and one limit for all of them.
///
/// ```no_run
/// use candle_cuda_vmm::{SharedMemoryPool, Result};
/// use candle_core::Device;
///
/// fn main() -> Result<()> {
///     let device = Device::new_cuda(0)?;
///     let mut shared_pool = SharedMemoryPool::new(
///         32 * 1024 * 1024 * 1024, // 32GB global physical limit
///         device,
///     )?;
///
///     // Register models
///     shared_pool.register_model("llama-7b", 64 * 1024 * 1024 * 1024)?;
///     shared_pool.register_model("gpt2", 32 * 1024 * 1024 * 1024)?;
///
///     // Allocate for specific model
///     let addr = shared_pool.allocate_for_model("llama-7b", 1024 * 1024 * 1024)?;
///
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct SharedMemoryPool {
    pools: millpond_elastic::SharedMemoryPool,
    device: CudaDevice,
}

impl SharedMemoryPool {
    /// A pool without any model, in the context that Candle uses. Its pages have the device's
    /// recommended size.
    ///
    /// # Errors
    /// A device without CUDA; what the driver answers.
    pub fn new(physical_limit: usize, device: Device) -> Result<Self> {
        let (device, engine) = of_candle(&device)?;
        let pools = millpond_elastic::SharedMemoryPool::new(physical_limit, engine)?;
        Ok(Self { pools, device })
    }

    /// Reserves the addresses of a model.
    ///
    /// # Errors
    /// A name that is taken; a capacity as for [`VirtualMemoryPool::new`](crate::VirtualMemoryPool).
    pub fn register_model(&mut self, model_id: &str, virtual_capacity: usize) -> Result<()> {
        Ok(self.pools.register_model(model_id, virtual_capacity)?)
    }

    /// Puts pages under the lowest addresses of a model that are free and suffice, and answers the
    /// first.
    ///
    /// # Errors
    /// No such model; a size of 0; no such gap in its addresses; no room under the limit or on the
    /// card. Nothing is allocated then.
    pub fn allocate_for_model(&mut self, model_id: &str, size: usize) -> Result<usize> {
        Ok(self.pools.allocate_for_model(model_id, size)?)
    }

    /// Takes pages of a model away. The offset is that of an address from the model's
    /// [base](SharedMemoryPool::model_base_address).
    ///
    /// # Errors
    /// No such model; as for [`VirtualMemoryPool::deallocate`](crate::VirtualMemoryPool::deallocate).
    pub fn deallocate_for_model(
        &mut self,
        model_id: &str,
        offset: usize,
        size: usize,
    ) -> Result<()> {
        tensor::check_unused(self.model(model_id)?, offset, size)?;
        Ok(self.pools.deallocate_for_model(model_id, offset, size)?)
    }

    /// A tensor over allocated pages of a model. The offset is that of an address from the model's
    /// [base](SharedMemoryPool::model_base_address). What its pages hold is under the limit until
    /// they are gone.
    ///
    /// # Errors
    /// No such model; as for [`VirtualMemoryPool::tensor`](crate::VirtualMemoryPool::tensor).
    pub fn tensor_for_model<S: Into<Shape>>(
        &self,
        model_id: &str,
        offset: usize,
        shape: S,
        dtype: DType,
    ) -> Result<Tensor> {
        tensor::over(self.model(model_id)?, &self.device, offset, shape.into(), dtype)
    }

    /// The first address of a model.
    #[must_use]
    pub fn model_base_address(&self, model_id: &str) -> Option<usize> {
        self.pools.model_base_address(model_id)
    }

    /// One model at this moment; `None` for one that is not registered.
    #[must_use]
    pub fn get_model_stats(&self, model_id: &str) -> Option<MemoryStats> {
        self.pools.get_model_stats(model_id)
    }

    /// All models at this moment.
    #[must_use]
    pub fn global_stats(&self) -> GlobalMemoryStats {
        self.pools.global_stats()
    }

    /// Changes what all models may hold.
    ///
    /// # Errors
    /// Less than they hold now; the limit is as it was then.
    pub fn set_physical_limit(&mut self, physical_limit: usize) -> Result<()> {
        Ok(self.pools.set_physical_limit(physical_limit)?)
    }

    /// Ends a model: waits for the device, and gives back everything that the model has.
    ///
    /// # Errors
    /// No such model; a tensor over its pages that is not dropped yet.
    pub fn unregister_model(&mut self, model_id: &str) -> Result<()> {
        let pool = self.model(model_id)?;
        tensor::check_unused(pool, 0, pool.capacity())?;
        Ok(self.pools.unregister_model(model_id)?)
    }

    fn model(&self, model_id: &str) -> Result<&millpond_elastic::VirtualMemoryPool> {
        let pool = self.pools.model(model_id);
        pool.ok_or_else(|| VmmError::ModelNotFound(model_id.to_owned()))
    }
}
