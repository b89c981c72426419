//! The driver, its GPUs, and whether memory can leave a process: by trying, not by asking.

use std::os::fd::AsFd;

use millpond_cuda::{
    Allocation, CudaError, Device, DeviceAttribute, Driver, DriverChoice, DriverError, DriverKind,
    Granularity, Nvml,
};

use millpond_wire::trust;

use super::check::Check;
use crate::commands::serve::chain;
use crate::units;

const DRIVER: &str = "driver";

/// Everything about the driver that would be used.
pub fn checks() -> Vec<Check> {
    let choice = DriverChoice::from_env();
    if let Err(error) = choice.path().map_or(Ok(()), trust::library) {
        let hint = error.hint().unwrap_or_default();
        return vec![Check::fail(DRIVER, format!("MILLPOND_DRIVER: {error}"), hint)];
    }
    let driver = match Driver::open(choice.clone(), Some(&millpond_softgpu::PROVIDER)) {
        Ok(driver) => driver,
        Err(error) => return vec![no_driver(&choice, &error)],
    };
    let mut checks = vec![chosen(&choice, &driver)];
    match driver.devices() {
        Ok(devices) if devices.is_empty() => checks.push(Check::fail(
            "GPUs",
            "the driver has none",
            "check CUDA_VISIBLE_DEVICES; MILLPOND_DRIVER=soft runs without a GPU",
        )),
        Ok(devices) => {
            for device in &devices {
                checks.extend(of_device(device));
            }
        }
        Err(error) => {
            checks.push(no_gpus(&driver, &error));
            if driver.kind() == DriverKind::Soft {
                // It is one and the same: NVML cannot be there, and nobody can install it.
                return checks;
            }
        }
    }
    checks.push(nvml(&driver));
    checks
}

fn no_gpus(driver: &Driver, error: &CudaError) -> Check {
    match millpond_softgpu::refusal().filter(|_| driver.kind() == DriverKind::Soft) {
        Some(why) => Check::fail(
            "GPUs",
            format!("{error}: {why}"),
            "set the variable that is named, or unset it: docs/software-driver.md lists all",
        ),
        None => Check::fail(
            "GPUs",
            error.to_string(),
            "check that `nvidia-smi` works; MILLPOND_DRIVER=soft runs without a GPU",
        ),
    }
}

fn no_driver(choice: &DriverChoice, error: &DriverError) -> Check {
    Check::fail(
        DRIVER,
        format!("MILLPOND_DRIVER={choice}: {}", chain(error)),
        "install the NVIDIA driver, or run without a GPU: MILLPOND_DRIVER=soft",
    )
}

/// Which driver it is; and, where it is software by default, why not the real one.
fn chosen(choice: &DriverChoice, driver: &Driver) -> Check {
    let library = driver.library().display();
    let found = format!("CUDA {} from {library}", driver.version());
    match (driver.kind(), choice) {
        (DriverKind::Cuda, _) => Check::ok(DRIVER, found),
        (DriverKind::Soft, DriverChoice::Soft) => {
            Check::ok(DRIVER, format!("software driver, as asked ({found})"))
        }
        (DriverKind::Soft, _) => {
            if let Some(reason) = millpond_cuda::broken_driver() {
                return Check::fail(
                    DRIVER,
                    format!("the NVIDIA driver does not work: {reason}"),
                    "make `nvidia-smi` work; until then `serve` uses the software driver, in host \
                     memory",
                );
            }
            let why = match Driver::open(DriverChoice::Cuda, None).map(|real| real.devices()) {
                Err(error) => first_reason(&error),
                Ok(Err(error)) => error.to_string(),
                Ok(Ok(_)) => "it has no GPU".to_owned(),
            };
            Check::warn(
                DRIVER,
                format!("no NVIDIA driver ({why}): the software driver will be used"),
                "nothing to do if this machine has no GPU; otherwise install the NVIDIA driver",
            )
        }
    }
}

/// The first place that was tried says enough.
fn first_reason(error: &DriverError) -> String {
    match error {
        DriverError::Library { tried, .. } => {
            tried.first().map_or_else(|| error.to_string(), |(_, reason)| reason.clone())
        }
        other => other.to_string(),
    }
}

fn of_device(device: &Device) -> Vec<Check> {
    let gpu = format!("GPU {}", device.ordinal());
    let found =
        format!("{}, {}, {}", device.name(), units::bytes(device.total_bytes()), device.uuid());
    vec![Check::ok(gpu.as_str(), found), virtual_memory(device, &gpu), descriptors(device, &gpu)]
}

fn virtual_memory(device: &Device, gpu: &str) -> Check {
    let name = format!("{gpu} virtual memory");
    let claimed = device.attribute(DeviceAttribute::VIRTUAL_MEMORY);
    let tried = Allocation::granularity(device, Granularity::Minimum)
        .and_then(|page| Allocation::create(device, page).map(|memory| memory.bytes()));
    match (claimed, tried) {
        (Ok(1), Ok(page)) => {
            Check::ok(name, format!("supported; {} allocated", units::bytes(page)))
        }
        (claimed, Ok(_)) => Check::ok(name, format!("works (the attribute says {claimed:?})")),
        (_, Err(error)) if error.is_out_of_memory() => Check::warn(
            name,
            "the card is full",
            "`nvidia-smi` shows who uses it; a pond starts, but has no room",
        ),
        (_, Err(error)) => Check::fail(
            name,
            error.to_string(),
            "this GPU or its driver cannot do it: virtual GPUs often cannot",
        ),
    }
}

/// Makes a page, exports it, lets go of it, and takes it again from the descriptor alone.
fn descriptors(device: &Device, gpu: &str) -> Check {
    let name = format!("{gpu} memory as descriptors");
    let round_trip = || -> Result<u64, CudaError> {
        let page = Allocation::granularity(device, Granularity::Minimum)?;
        let memory = Allocation::create(device, page)?;
        let fd = memory.export()?;
        memory.release()?;
        let again = Allocation::import(device.driver(), fd.as_fd(), page)?;
        again.release()?;
        Ok(page)
    };
    match round_trip() {
        Ok(page) => {
            let page = units::bytes(page);
            Check::ok(name, format!("{page} exported, released and imported again"))
        }
        Err(error) if error.is_out_of_memory() => {
            Check::warn(name, "not tried: the card is full", "`nvidia-smi` shows who uses it")
        }
        Err(error) => Check::fail(
            name,
            error.to_string(),
            "in a container, mount /proc anew and give it all of /dev/nvidia*",
        ),
    }
}

fn nvml(driver: &Driver) -> Check {
    match Nvml::open(driver).and_then(|nvml| Ok((nvml.driver_version()?, nvml))) {
        Ok((version, nvml)) => {
            Check::ok("NVML", format!("driver {version} from {}", nvml.library().display()))
        }
        Err(error) => Check::warn(
            "NVML",
            chain(&error),
            "install libnvidia-ml.so.1; without it the memory of other programs is unknown",
        ),
    }
}
