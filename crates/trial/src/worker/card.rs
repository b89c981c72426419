//! The card: who reads it, and what it does without a pond.

use millpond_cuda::{Context, Device, Driver, DriverChoice, DriverKind, Nvml, NvmlDevice};

use crate::protocol::Card;
use millpond_console::error::{CommandError, failed, wrong};

/// Who says how much of the card is used.
pub enum Meter {
    /// NVML, which needs no context.
    Nvml(NvmlDevice),
    /// Where there is no NVML: a context of one's own, which itself counts.
    Context(Context),
}

impl Meter {
    /// Opens the first card of a driver.
    pub fn open(driver: &Driver) -> Result<(Self, Card), CommandError> {
        let devices = driver.devices().map_err(|error| failed("listing GPUs", error))?;
        let device = devices.into_iter().next().ok_or_else(|| wrong("there is no GPU"))?;
        let by_nvml = Nvml::open(driver).ok().and_then(|nvml| nvml.device(device.uuid()).ok());
        let software = device.name().ends_with(millpond_softgpu::MARK);
        let (meter, reading) = match by_nvml {
            Some(nvml) if software => (Meter::Nvml(nvml), "the software driver's count"),
            Some(nvml) => (Meter::Nvml(nvml), "NVML"),
            None => (Meter::Context(context(&device)?), "cuMemGetInfo"),
        };
        let card = Card {
            soft: driver.kind() == DriverKind::Soft,
            driver: format!("{} {}", driver.name(), driver.version()),
            device: device.uuid().to_string(),
            name: device.name().to_owned(),
            total_bytes: device.total_bytes(),
            reading: reading.to_owned(),
        };
        Ok((meter, card))
    }

    /// Bytes in use, over all processes.
    pub fn used_bytes(&self) -> Result<u64, CommandError> {
        match self {
            Meter::Nvml(nvml) => {
                let memory = nvml.memory().map_err(|error| failed("reading NVML", error))?;
                Ok(memory.used_bytes)
            }
            Meter::Context(context) => {
                let memory =
                    context.memory_info().map_err(|error| failed("reading the card", error))?;
                Ok(memory.total_bytes.saturating_sub(memory.free_bytes))
            }
        }
    }

    /// Bytes that one process uses, where NVML says so.
    pub fn process_bytes(&self, pid: u32) -> Option<u64> {
        let Meter::Nvml(nvml) = self else { return None };
        let processes = nvml.processes().ok()?;
        let found = processes.iter().find(|process| process.pid == pid);
        found.and_then(|process| process.used_bytes)
    }
}

/// The driver that the environment chooses, the software driver included.
pub fn open_driver() -> Result<Driver, CommandError> {
    Driver::open(DriverChoice::from_env(), Some(&millpond_softgpu::PROVIDER))
        .map_err(|error| failed("opening the driver", error))
}

/// A context of a GPU.
pub fn context(device: &Device) -> Result<Context, CommandError> {
    Context::primary(device).map_err(|error| failed("making a context", error))
}
