//! The device of pools in a program without Candle.

use crate::driver;
use crate::error::Result;
use millpond_cuda::Context;
use std::sync::{Arc, Mutex, PoisonError};

/// A CUDA device. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Device {
    device: millpond_cuda::Device,
    /// Made when it is needed: a context costs half a gigabyte of a card.
    context: Arc<Mutex<Option<Context>>>,
}

impl Device {
    /// The device of that number, on the driver that `MILLPOND_DRIVER` names.
    ///
    /// # Errors
    /// No driver, no such device, or one without virtual memory management.
    pub fn new_cuda(ordinal: usize) -> Result<Self> {
        Ok(Self { device: driver::device(ordinal)?, context: Arc::default() })
    }

    /// The device of an existing context, which pools then use.
    ///
    /// # Errors
    /// A device without virtual memory management.
    pub fn from_context(context: Context) -> Result<Self> {
        let device = context.device().clone();
        driver::check(&device)?;
        Ok(Self { device, context: Arc::new(Mutex::new(Some(context))) })
    }

    /// The number in this process.
    #[must_use]
    pub fn ordinal(&self) -> i32 {
        self.device.ordinal()
    }

    /// The device as the driver's layer knows it.
    #[must_use]
    pub fn as_cuda(&self) -> &millpond_cuda::Device {
        &self.device
    }

    /// The context that pools use: the primary one, unless another was given.
    ///
    /// # Errors
    /// The context itself does not fit on the card.
    pub fn context(&self) -> Result<Context> {
        let mut context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = &*context {
            return Ok(context.clone());
        }
        Ok(context.insert(Context::primary(&self.device)?).clone())
    }
}

/// As for Candle's device, which may be none of CUDA's.
#[expect(clippy::unnecessary_wraps, reason = "the same call as with Candle")]
pub(crate) fn ordinal_of(device: &Device) -> Result<i32> {
    Ok(device.ordinal())
}

/// The context in which pools of the device work.
pub(crate) fn context_of(device: &Device) -> Result<Context> {
    device.context()
}
