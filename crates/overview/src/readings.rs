//! What the card says about itself beside its memory.

use std::collections::HashMap;

use millpond_cuda::{DeviceUuid, DriverChoice, Nvml, NvmlDevice};
use millpond_softgpu::PROVIDER;
use serde::{Deserialize, Serialize};

/// Readings of a card. What the driver does not say is nothing, never an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Readings {
    /// Part of the last sample in which a kernel ran, from 0 to 1.
    pub utilisation_ratio: Option<f64>,
    /// Part of the last sample in which memory was read or written, from 0 to 1.
    pub memory_utilisation_ratio: Option<f64>,
    /// Temperature of the GPU.
    pub temperature_celsius: Option<f64>,
    /// Power that the card takes.
    pub power_watts: Option<f64>,
    /// Power that it may take.
    pub power_limit_watts: Option<f64>,
    /// Speed of its fan, from 0 to 1; some cards say more than 1.
    pub fan_ratio: Option<f64>,
}

/// Reads cards through NVML, which needs neither a CUDA context nor the pond.
#[derive(Debug)]
pub struct CardReader {
    nvml: Nvml,
    devices: HashMap<String, Option<NvmlDevice>>,
}

impl CardReader {
    /// Opens NVML, that of `MILLPOND_DRIVER` where it is set; nothing where there is none.
    #[must_use]
    pub fn open() -> Option<Self> {
        match Nvml::of_choice(&DriverChoice::from_env(), Some(&PROVIDER)) {
            Ok(nvml) => Some(Self { nvml, devices: HashMap::new() }),
            Err(error) => {
                tracing::debug!(%error, "no readings of cards");
                None
            }
        }
    }

    /// Readings of the card with this UUID; nothing for a card that NVML does not know.
    pub fn readings(&mut self, uuid: &str) -> Option<Readings> {
        let device = self.device(uuid)?;
        let busy = device.busy().ok();
        let percent = |percent: u32| f64::from(percent) / 100.0;
        let watts = |milliwatts: u32| f64::from(milliwatts) / 1000.0;
        Some(Readings {
            utilisation_ratio: busy.map(|busy| percent(busy.kernels_percent)),
            memory_utilisation_ratio: busy.map(|busy| percent(busy.memory_percent)),
            temperature_celsius: device.temperature_celsius().ok().map(f64::from),
            power_watts: device.power_milliwatts().ok().map(watts),
            power_limit_watts: device.power_limit_milliwatts().ok().map(watts),
            fan_ratio: device.fan_percent().ok().map(percent),
        })
    }

    /// A card's handle is asked for once. One that is not known may be later, after a driver was reset.
    fn device(&mut self, uuid: &str) -> Option<&NvmlDevice> {
        let known = self.devices.entry(uuid.to_owned()).or_default();
        if known.is_none() {
            *known = parse(uuid).and_then(|uuid| self.nvml.device(uuid).ok());
        }
        known.as_ref()
    }
}

fn parse(uuid: &str) -> Option<DeviceUuid> {
    let gpu: millpond::GpuUuid = uuid.parse().ok()?;
    Some(DeviceUuid(gpu.0))
}
