//! The driver of this process.

use crate::error::{Result, VmmError};
use millpond_cuda::sys::Provider;
use millpond_cuda::{Device, DeviceAttribute, Driver, DriverChoice};
use std::sync::{Mutex, PoisonError};

/// The driver of this process, opened once. One that could not be opened is tried again.
pub(crate) fn driver() -> Result<Driver> {
    static DRIVER: Mutex<Option<Driver>> = Mutex::new(None);
    let mut opened = DRIVER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(driver) = &*opened {
        return Ok(driver.clone());
    }
    let driver = Driver::open(DriverChoice::from_env(), soft())
        .map_err(|error| VmmError::cuda(error.to_string()))?;
    driver.init()?;
    Ok(opened.insert(driver).clone())
}

/// The device of a number.
///
/// # Errors
/// No driver, no such device, or one without virtual memory management.
pub(crate) fn device(ordinal: usize) -> Result<Device> {
    let devices = driver()?.devices()?;
    let count = devices.len();
    let device = devices.into_iter().nth(ordinal).ok_or_else(|| {
        VmmError::cuda(format!("there is no device {ordinal}: the driver has {count}"))
    })?;
    check(&device)?;
    Ok(device)
}

/// Refuses a device without virtual memory management.
pub(crate) fn check(device: &Device) -> Result<()> {
    match device.attribute(DeviceAttribute::VIRTUAL_MEMORY)? {
        1 => Ok(()),
        _ => Err(VmmError::UnsupportedDevice),
    }
}

#[cfg(feature = "soft")]
const fn soft() -> Option<&'static Provider> {
    Some(&millpond_softgpu::PROVIDER)
}

#[cfg(not(feature = "soft"))]
const fn soft() -> Option<&'static Provider> {
    None
}
