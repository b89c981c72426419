//! Candle's device, and what the engine knows of it.

use crate::driver;
use crate::error::{Result, VmmError};
use candle_core::{CudaDevice, DeviceLocation};
use millpond_cuda::Context;

pub use candle_core::Device;

/// The device's number.
///
/// # Errors
/// A device without CUDA.
pub(crate) fn ordinal_of(device: &Device) -> Result<i32> {
    let ordinal = candle_of(device)?.cuda_stream().context().ordinal();
    i32::try_from(ordinal).map_err(|_| VmmError::cuda(format!("there is no device {ordinal}")))
}

/// The context that Candle uses, which is the primary one of the device.
///
/// # Errors
/// A device without CUDA or without virtual memory management; no driver; two contexts.
pub(crate) fn context_of(device: &Device) -> Result<Context> {
    let theirs = candle_of(device)?.cuda_stream().context().clone();
    let ordinal = theirs.ordinal();
    let ours = Context::primary(&driver::device(ordinal)?)?;
    if ours.raw().addr() != theirs.cu_ctx().addr() {
        let driver = ours.driver().library().display().to_string();
        return Err(VmmError::OtherContext { ordinal, driver });
    }
    Ok(ours)
}

/// Candle's CUDA device.
///
/// # Errors
/// A device without CUDA.
pub(crate) fn candle_of(device: &Device) -> Result<&CudaDevice> {
    match device {
        Device::Cuda(candle) => Ok(candle),
        _ => Err(VmmError::NotCuda(name(device.location()))),
    }
}

fn name(location: DeviceLocation) -> String {
    match location {
        DeviceLocation::Cpu => "the CPU".to_owned(),
        DeviceLocation::Cuda { gpu_id } => format!("CUDA device {gpu_id}"),
        DeviceLocation::Metal { gpu_id } => format!("Metal device {gpu_id}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_cuda_is_an_error_that_names_it() {
        let error = context_of(&Device::Cpu).unwrap_err();
        assert!(matches!(&error, VmmError::NotCuda(name) if name == "the CPU"), "{error}");
        assert_eq!(name(DeviceLocation::Metal { gpu_id: 1 }), "Metal device 1");
    }
}
