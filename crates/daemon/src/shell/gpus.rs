//! The driver thread speaks: GPUs are there, slabs are made. So does the one that keeps the groups.

use std::path::Path;
use std::sync::Arc;

use millpond_cuda::Nvml;
use millpond_keeper::channel::HoldKey;
use millpond_keeper::config::DeviceChoice;

use super::{DaemonError, Server, gpu_lock};
use crate::book::{self, NvmlCards};
use crate::driver::{FoundDevice, Told};
use crate::policy::Device;

impl Server {
    pub(super) fn driver_event(&mut self) {
        self.world.driver.clear();
        while let Some(told) = self.world.driver.next() {
            match told {
                Told::Ready { name, devices, lock_folder, nvml } => {
                    self.driver_ready(name, devices, &lock_folder, nvml.as_ref());
                }
                // A pond that never was has nothing to serve without a driver.
                Told::Failed(text) if self.first => self.fatal = Some(DaemonError::NoDriver(text)),
                Told::Failed(text) => {
                    tracing::error!("no driver: {text}");
                    self.pond.driver_failed(&mut self.world, text);
                }
                Told::SlabMade { slab, result } => {
                    self.pond.slab_made(&mut self.world, slab, result);
                }
                Told::Charged { slab, result } => {
                    self.pond.slab_charged(&mut self.world, slab, result);
                }
                Told::Physical(used) => self.pond.physical(&mut self.world, &used),
            }
        }
    }

    pub(super) fn book_event(&mut self) {
        self.world.book.clear();
        while let Some(told) = self.world.book.next() {
            match told {
                book::Told::Answer { conn, number, answer } => {
                    self.pond.group_answered(&mut self.world, conn, number, *answer);
                }
                book::Told::Event { kind, group, user, text } => {
                    self.pond.group_event(&mut self.world, kind, &group, user, &text);
                }
                book::Told::Readings(readings) => self.pond.group_readings(readings),
                book::Told::Payers(payers) => self.pond.payers(&mut self.world, payers),
                book::Told::Owned(owned) => self.pond.groups_owned(owned),
                book::Told::Press { conn, request } => {
                    self.pond.press(&mut self.world, conn, *request);
                }
                book::Told::EndSilent { conn } => self.pond.end_silent(&mut self.world, conn),
                book::Told::CapReached { user, refused } => {
                    self.pond.no_more_groups(&mut self.world, user, refused);
                }
            }
        }
    }

    fn driver_ready(
        &mut self,
        name: String,
        found: Vec<FoundDevice>,
        lock_folder: &Path,
        nvml: Option<&Nvml>,
    ) {
        self.surroundings.lock_folder = Some(lock_folder.to_owned());
        let mut devices = Vec::new();
        let mut refused = Vec::new();
        let missing = missing(&self.config.devices, &found);
        missing.iter().for_each(|text| tracing::warn!("{text}"));
        let software = found.iter().any(|device| device.name.ends_with(millpond_softgpu::MARK));
        for device in found {
            if !self.is_chosen(&device) {
                continue;
            }
            match self.lock_gpu(&device, lock_folder) {
                Ok(()) => devices.push(self.device(device)),
                Err(text) => {
                    tracing::warn!("{text}");
                    refused.push(text);
                }
            }
        }
        if devices.is_empty() && !refused.is_empty() {
            // This pond must not run beside the one that has them.
            let text = refused.join("; ");
            self.fatal = Some(if software {
                DaemonError::NoSoftGpu(text)
            } else {
                DaemonError::NoGpu(text)
            });
            return;
        }
        if devices.is_empty() && !missing.is_empty() && self.first {
            // Somebody has mistyped it. Later, what is held is served all the same.
            self.fatal = Some(DaemonError::WrongGpu(missing.join("; ")));
            return;
        }
        tracing::info!(driver = %name, gpus = devices.len(), "the driver is ready");
        let cards = devices.iter().map(|device| (device.uuid, device.total_bytes));
        let cards = NvmlCards::new(nvml, cards);
        self.world.book.ask(book::Ask::Cards(Box::new(cards)));
        self.pond.driver_ready(&mut self.world, name, devices);
        self.world.movers.keep_spare(&mut self.world.watcher);
    }

    fn is_chosen(&self, device: &FoundDevice) -> bool {
        let chosen = &self.config.devices;
        chosen.is_empty() || chosen.iter().any(|choice| means(choice, device))
    }

    fn device(&self, found: FoundDevice) -> Device {
        let capacity =
            self.config.capacity_by_gpu.get(&found.uuid).unwrap_or(&self.config.capacity);
        Device {
            uuid: found.uuid,
            index: found.index,
            name: found.name,
            total_bytes: found.total_bytes,
            capacity_bytes: capacity.of(found.total_bytes),
            physical_used_bytes: None,
        }
    }

    fn lock_gpu(&mut self, device: &FoundDevice, folder: &Path) -> Result<(), String> {
        let key = HoldKey::gpu_lock(device.uuid);
        if self.world.held.contains_key(&key) {
            return Ok(());
        }
        let file = gpu_lock::take(folder, device.uuid, &self.pond.about.runtime_dir)
            .map_err(|error| error.to_string())?;
        self.world.hold_key(key, Arc::new(file.into())).map_err(|error| error.to_string())
    }
}

fn means(choice: &DeviceChoice, device: &FoundDevice) -> bool {
    match choice {
        DeviceChoice::Uuid(uuid) => *uuid == device.uuid,
        DeviceChoice::Index(index) => *index == device.index,
    }
}

/// What `devices` names and the driver does not have, in words.
fn missing(chosen: &[DeviceChoice], found: &[FoundDevice]) -> Vec<String> {
    let there: Vec<String> =
        found.iter().map(|device| format!("{} ({})", device.index, device.uuid)).collect();
    let there = there.join(", ");
    let absent = chosen.iter().filter(|choice| !found.iter().any(|device| means(choice, device)));
    let text = |choice: &DeviceChoice| match choice {
        DeviceChoice::Uuid(uuid) => format!("`devices` names {uuid}; the driver has only {there}"),
        DeviceChoice::Index(index) => {
            format!("`devices` names GPU {index}; the driver has only {there}")
        }
    };
    absent.map(text).collect()
}
