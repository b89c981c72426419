//! Candle's device as the engine knows it.

use crate::error::{Result, VmmError};
use candle_core::{CudaDevice, Device, DeviceLocation};

/// Candle's CUDA device, and the engine's device of the same number with the same context.
///
/// # Errors
/// A device without CUDA; no driver; two contexts.
pub(crate) fn of_candle(device: &Device) -> Result<(CudaDevice, millpond_elastic::Device)> {
    let Device::Cuda(candle) = device else {
        return Err(VmmError::NotCuda(name(device.location())));
    };
    let theirs = candle.cuda_stream().context().clone();
    let ordinal = theirs.ordinal();
    let engine = millpond_elastic::Device::new_cuda(ordinal)?;
    let ours = engine.context()?;
    if ours.raw().addr() != theirs.cu_ctx().addr() {
        let driver = ours.driver().library().display().to_string();
        return Err(VmmError::OtherContext { ordinal, driver });
    }
    Ok((candle.clone(), engine))
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
        let error = of_candle(&Device::Cpu).unwrap_err();
        assert!(matches!(&error, VmmError::NotCuda(name) if name == "the CPU"), "{error}");
        assert_eq!(name(DeviceLocation::Metal { gpu_id: 1 }), "Metal device 1");
    }
}
