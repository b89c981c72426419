//! Pools of several models under one limit.

use crate::cuda_ffi;
use crate::device::{Device, ordinal_of};
use crate::error::{Result, VmmError};
use crate::index;
#[cfg(feature = "candle")]
use crate::tensor;
use crate::virtual_memory::{MemoryStats, VirtualMemoryPool};
#[cfg(feature = "candle")]
use candle_core::{DType, Shape, Tensor};
use millpond_elastic::LocalCredit;
use std::collections::HashMap;

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
    pools: HashMap<String, VirtualMemoryPool>,
    credit: LocalCredit,
    device: Device,
    page_size: usize,
}

/// A shared pool at one moment.
#[derive(Debug, Clone)]
pub struct GlobalMemoryStats {
    /// What all models may hold.
    pub physical_limit: usize,
    /// What they hold.
    pub physical_usage: usize,
    /// How many there are.
    pub num_models: usize,
}

impl SharedMemoryPool {
    /// A pool without any model. Its pages have the device's recommended size.
    ///
    /// # Errors
    /// A device without CUDA; what the driver answers.
    pub fn new(physical_limit: usize, device: Device) -> Result<Self> {
        let page_size = cuda_ffi::get_recommended_granularity(ordinal_of(&device)?)?;
        let credit = LocalCredit::new(physical_limit as u64, "shared pool");
        Ok(Self { pools: HashMap::new(), credit, device, page_size })
    }

    /// Reserves the addresses of a model.
    ///
    /// # Errors
    /// A name that is taken; a capacity as for [`VirtualMemoryPool::new`].
    pub fn register_model(&mut self, model_id: &str, virtual_capacity: usize) -> Result<()> {
        if self.pools.contains_key(model_id) {
            return Err(VmmError::ModelAlreadyExists(model_id.to_owned()));
        }
        let credit = self.credit.holder(model_id);
        let pool =
            VirtualMemoryPool::with_credit(virtual_capacity, self.page_size, &self.device, credit)?;
        self.pools.insert(model_id.to_owned(), pool);
        Ok(())
    }

    /// Puts pages under the lowest addresses of a model that are free and suffice, and answers the
    /// first.
    ///
    /// # Errors
    /// No such model; a size of 0; no such gap in its addresses; no room under the limit or on the
    /// card. Nothing is allocated then.
    pub fn allocate_for_model(&mut self, model_id: &str, size: usize) -> Result<usize> {
        let pool = self.pool(model_id)?;
        let offset = pool.place(size)?;
        pool.allocate(offset, size)
    }

    /// Takes pages of a model away. The offset is that of an address from the model's
    /// [base](SharedMemoryPool::model_base_address).
    ///
    /// # Errors
    /// No such model; as for [`VirtualMemoryPool::deallocate`].
    pub fn deallocate_for_model(
        &mut self,
        model_id: &str,
        offset: usize,
        size: usize,
    ) -> Result<()> {
        self.pool(model_id)?.deallocate(offset, size)
    }

    /// A tensor over allocated pages of a model. The offset is that of an address from the model's
    /// [base](SharedMemoryPool::model_base_address). What its pages hold is under the limit until
    /// they are gone.
    ///
    /// # Errors
    /// No such model; as for [`VirtualMemoryPool::tensor`](crate::VirtualMemoryPool::tensor).
    #[cfg(feature = "candle")]
    pub fn tensor_for_model<S: Into<Shape>>(
        &self,
        model_id: &str,
        offset: usize,
        shape: S,
        dtype: DType,
    ) -> Result<Tensor> {
        self.known(model_id)?.tensor(offset, shape, dtype)
    }

    /// The pool of a model; `None` for one that is not registered.
    #[must_use]
    pub fn model(&self, model_id: &str) -> Option<&VirtualMemoryPool> {
        self.pools.get(model_id)
    }

    /// The first address of a model.
    #[must_use]
    pub fn model_base_address(&self, model_id: &str) -> Option<usize> {
        self.pools.get(model_id).map(VirtualMemoryPool::base_address)
    }

    /// One model at this moment; `None` for one that is not registered.
    #[must_use]
    pub fn get_model_stats(&self, model_id: &str) -> Option<MemoryStats> {
        self.pools.get(model_id).map(VirtualMemoryPool::stats)
    }

    /// All models at this moment.
    #[must_use]
    pub fn global_stats(&self) -> GlobalMemoryStats {
        GlobalMemoryStats {
            physical_limit: index(self.credit.limit()),
            physical_usage: index(self.credit.used()),
            num_models: self.pools.len(),
        }
    }

    /// Changes what all models may hold.
    ///
    /// # Errors
    /// Less than they hold now; the limit is as it was then.
    pub fn set_physical_limit(&mut self, physical_limit: usize) -> Result<()> {
        let used = index(self.credit.used());
        if physical_limit < used {
            return Err(VmmError::OutOfPhysicalMemory {
                requested: used,
                available: physical_limit,
            });
        }
        self.credit.set_limit(physical_limit as u64);
        Ok(())
    }

    /// Ends a model: waits for the device, and gives back everything that the model has.
    ///
    /// # Errors
    /// No such model; a tensor over its pages that is not dropped yet.
    pub fn unregister_model(&mut self, model_id: &str) -> Result<()> {
        #[cfg(feature = "candle")]
        tensor::check_unused(self.known(model_id)?, 0, self.known(model_id)?.capacity())?;
        let pool = self.pools.remove(model_id);
        pool.map(drop).ok_or_else(|| VmmError::ModelNotFound(model_id.to_owned()))
    }

    fn pool(&mut self, model_id: &str) -> Result<&mut VirtualMemoryPool> {
        let pool = self.pools.get_mut(model_id);
        pool.ok_or_else(|| VmmError::ModelNotFound(model_id.to_owned()))
    }

    #[cfg(feature = "candle")]
    fn known(&self, model_id: &str) -> Result<&VirtualMemoryPool> {
        self.model(model_id).ok_or_else(|| VmmError::ModelNotFound(model_id.to_owned()))
    }
}
