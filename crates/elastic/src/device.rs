//! The device that pools live on, and the driver of this process.

use crate::error::{Result, VmmError};
use millpond_cuda::sys::Provider;
use millpond_cuda::{Context, DeviceAttribute, Driver, DriverChoice};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A CUDA device, by value as pools take it. Cheap to clone.
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
        let devices = driver()?.devices()?;
        let count = devices.len();
        let device = devices.into_iter().nth(ordinal).ok_or_else(|| {
            VmmError::cuda(format!("there is no device {ordinal}: the driver has {count}"))
        })?;
        Self::checked(device, None)
    }

    /// The device of a context that somebody else made, which pools then use.
    ///
    /// # Errors
    /// A device without virtual memory management.
    pub fn from_context(context: Context) -> Result<Self> {
        Self::checked(context.device().clone(), Some(context))
    }

    fn checked(device: millpond_cuda::Device, context: Option<Context>) -> Result<Self> {
        if device.attribute(DeviceAttribute::VIRTUAL_MEMORY)? != 1 {
            return Err(VmmError::UnsupportedDevice);
        }
        Ok(Self { device, context: Arc::new(Mutex::new(context)) })
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
        let mut context = lock(&self.context);
        if let Some(context) = &*context {
            return Ok(context.clone());
        }
        Ok(context.insert(Context::primary(&self.device)?).clone())
    }
}

/// The driver of this process, opened once. One that could not be opened is tried again.
pub(crate) fn driver() -> Result<Driver> {
    static DRIVER: Mutex<Option<Driver>> = Mutex::new(None);
    let mut opened = lock(&DRIVER);
    if let Some(driver) = &*opened {
        return Ok(driver.clone());
    }
    let driver = Driver::open(DriverChoice::from_env(), soft())
        .map_err(|error| VmmError::cuda(error.to_string()))?;
    driver.init()?;
    Ok(opened.insert(driver).clone())
}

#[cfg(feature = "soft")]
const fn soft() -> Option<&'static Provider> {
    Some(&millpond_softgpu::PROVIDER)
}

#[cfg(not(feature = "soft"))]
const fn soft() -> Option<&'static Provider> {
    None
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
