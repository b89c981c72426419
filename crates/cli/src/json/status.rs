//! The pond as JSON.

use millpond_wire::message::{DeviceInfo, MoverInfo, Status};
use serde::Serialize;

/// `status`.
#[derive(Debug, Serialize)]
pub struct StatusJson {
    /// Which pond.
    pond: String,
    /// Which daemon of it; every start has the next number.
    epoch: u64,
    /// Version of the daemon's program.
    version: String,
    /// The daemon's process.
    daemon_pid: u32,
    /// The keeper's process.
    keeper_pid: u32,
    /// Name and version of the driver.
    driver: String,
    /// Whether it is the software driver: host memory, no GPU.
    software: bool,
    /// Whether the driver has answered yet.
    driver_ready: bool,
    /// When this daemon started.
    started_unix_ms: u64,
    /// The pond's folder.
    runtime_dir: String,
    /// The library that `millpond run` preloads.
    preload_library: Option<String>,
    /// Clients that are known.
    clients: u32,
    /// Those of them without a connection.
    silent_clients: u32,
    /// Leases that are known.
    leases: u32,
    /// Size of the journal.
    journal_bytes: u64,
    /// Records whose memory was gone at the last recovery.
    lost_tensors: u32,
    /// Movers that run.
    movers: Vec<MoverJson>,
    /// The file that the daemon runs from.
    program: String,
    /// The systemd unit that runs the pond.
    service: Option<String>,
    /// Whether that is a unit of the user's own service manager.
    user_service: bool,
    /// The file that the log goes to.
    log_file: Option<String>,
    /// The model of the configuration that is being loaded.
    loading: Option<String>,
    /// GPUs.
    devices: Vec<DeviceJson>,
}

/// One mover.
#[derive(Debug, Serialize)]
struct MoverJson {
    /// UUID of its GPU.
    device: String,
    /// Its process.
    pid: u32,
    /// Moves that wait or run.
    moves: u32,
    /// What it has moved.
    moved_bytes: u64,
}

impl From<&MoverInfo> for MoverJson {
    fn from(mover: &MoverInfo) -> Self {
        Self {
            device: mover.device.to_string(),
            pid: mover.pid,
            moves: mover.moves,
            moved_bytes: mover.moved_bytes,
        }
    }
}

/// One GPU and its accounts.
#[derive(Debug, Serialize)]
struct DeviceJson {
    /// Its UUID.
    device: String,
    /// Place in the pond's list; for people only.
    index: u32,
    /// What the driver calls it.
    name: String,
    /// Bytes on the card.
    total_bytes: u64,
    /// Bytes that the pond may take.
    capacity_bytes: u64,
    /// Bytes of the pond's slabs.
    slab_bytes: u64,
    /// Bytes of the tensors in them.
    tensor_bytes: u64,
    /// Bytes of slabs without a tensor, kept for their owner.
    recycled_bytes: u64,
    /// The driver's own reading for the whole card, all programs together.
    physical_used_bytes: Option<u64>,
    /// What the processes of groups are charged with.
    charged_bytes: Option<u64>,
    /// What the card says that they have more than that.
    drift_bytes: Option<i64>,
    /// What belongs to nobody whom the pond knows.
    other_bytes: Option<u64>,
    /// How many slabs.
    slabs: u32,
    /// How many tensors.
    tensors: u32,
}

impl From<&DeviceInfo> for DeviceJson {
    fn from(device: &DeviceInfo) -> Self {
        Self {
            device: device.device.to_string(),
            index: device.index,
            name: device.name.clone(),
            total_bytes: device.total_bytes,
            capacity_bytes: device.capacity_bytes,
            slab_bytes: device.slab_bytes,
            tensor_bytes: device.tensor_bytes,
            recycled_bytes: device.recycled_bytes,
            physical_used_bytes: device.physical_used_bytes,
            charged_bytes: device.charged_bytes,
            drift_bytes: device.drift_bytes,
            other_bytes: device.other_bytes,
            slabs: device.slabs,
            tensors: device.tensors,
        }
    }
}

fn said(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

impl From<&Status> for StatusJson {
    fn from(status: &Status) -> Self {
        Self {
            pond: status.pond.to_string(),
            epoch: status.epoch.0,
            version: status.daemon_version.clone(),
            daemon_pid: status.daemon_pid,
            keeper_pid: status.keeper_pid,
            driver: status.driver.clone(),
            software: crate::commands::status::is_software(status),
            driver_ready: status.driver_ready,
            started_unix_ms: status.started_unix_ms,
            runtime_dir: status.runtime_dir.clone(),
            preload_library: status.preload_library.clone(),
            clients: status.clients,
            silent_clients: status.silent_clients,
            leases: status.leases,
            journal_bytes: status.journal_bytes,
            lost_tensors: status.lost_tensors,
            movers: status.movers.iter().map(MoverJson::from).collect(),
            program: status.program.clone(),
            service: status.service.as_ref().map(|service| service.unit.clone()),
            user_service: status.service.as_ref().is_some_and(|service| service.user),
            log_file: said(&status.log_file),
            loading: said(&status.loading),
            devices: status.devices.iter().map(DeviceJson::from).collect(),
        }
    }
}
