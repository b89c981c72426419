//! The pond, its GPUs, its movers and its hosts.

use millpond_wire::message::{DeviceInfo, HostInfo, MoverInfo};
use millpond_wire::{Audience, GpuUuid, HostId, PondId, message};

use crate::{Counters, Text};

data! { $
    /// `status`.
    pub struct Status as status_fields {
        /// Which pond.
        pond: Text<PondId>,
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
        movers: Vec<Mover>,
        /// Hosts that run.
        hosts: Vec<Host>,
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
        devices: Vec<Device>,
        /// What has happened since the daemon's start.
        counters: Counters,
        /// Memory that the daemon itself takes of the machine.
        daemon_resident_bytes: u64,
    }
}

data! { $
    /// One mover: a process of the pond that moves bytes.
    pub struct Mover as mover_fields {
        /// UUID of its GPU.
        device: Text<GpuUuid>,
        /// Its process.
        pid: u32,
        /// Moves that wait or run.
        moves: u32,
        /// Bytes moved so far.
        moved_bytes: u64,
        /// What its CUDA context takes of the GPU; 0 while that is not known.
        context_bytes: u64,
    }
}

impl From<&MoverInfo> for Mover {
    fn from(mover: &MoverInfo) -> Self {
        Self {
            device: Text(mover.device),
            pid: mover.pid,
            moves: mover.moves,
            moved_bytes: mover.moved_bytes,
            context_bytes: mover.context_bytes,
        }
    }
}

data! { $
    /// One host: a process of the pond that owns the memory of `ipc` tensors.
    pub struct Host as host_fields {
        /// Identity.
        id: Text<HostId>,
        /// UUID of its GPU.
        device: Text<GpuUuid>,
        /// User id of whose tensors it owns.
        user: u32,
        /// Whom those tensors are shared with.
        share: Text<Audience>,
        /// Its process.
        pid: u32,
        /// How many tensors it owns.
        tensors: u32,
        /// Bytes of those tensors.
        bytes: u64,
        /// What its CUDA context takes of the GPU beside them.
        context_bytes: u64,
        /// It has freed memory, and makes no more.
        sealed: bool,
    }
}

impl From<&HostInfo> for Host {
    fn from(host: &HostInfo) -> Self {
        Self {
            id: Text(host.host),
            device: Text(host.device),
            user: host.user,
            share: Text(host.audience),
            pid: host.pid,
            tensors: host.tensors,
            bytes: host.bytes,
            context_bytes: host.context_bytes,
            sealed: host.sealed,
        }
    }
}

data! { $
    /// One GPU and its accounts.
    pub struct Device as device_fields {
        /// Its UUID.
        device: Text<GpuUuid>,
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
        /// Bytes charged to the processes of groups.
        charged_bytes: Option<u64>,
        /// Bytes that those processes have on the card beyond what is charged.
        drift_bytes: Option<i64>,
        /// Bytes of programs that the pond does not know.
        other_bytes: Option<u64>,
        /// How many slabs.
        slabs: u32,
        /// How many tensors.
        tensors: u32,
    }
}

impl From<&DeviceInfo> for Device {
    fn from(device: &DeviceInfo) -> Self {
        Self {
            device: Text(device.device),
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

impl Status {
    /// A pond; `is_software` says of a GPU's name whether it is one of the software driver.
    #[must_use]
    pub fn new(status: &message::Status, is_software: impl Fn(&str) -> bool) -> Self {
        Self {
            pond: Text(status.pond),
            epoch: status.epoch.0,
            version: status.daemon_version.clone(),
            daemon_pid: status.daemon_pid,
            keeper_pid: status.keeper_pid,
            driver: status.driver.clone(),
            software: status.devices.iter().any(|device| is_software(&device.name)),
            driver_ready: status.driver_ready,
            started_unix_ms: status.started_unix_ms,
            runtime_dir: status.runtime_dir.clone(),
            preload_library: status.preload_library.clone(),
            clients: status.clients,
            silent_clients: status.silent_clients,
            leases: status.leases,
            journal_bytes: status.journal_bytes,
            lost_tensors: status.lost_tensors,
            movers: status.movers.iter().map(Mover::from).collect(),
            hosts: status.hosts.iter().map(Host::from).collect(),
            program: status.program.clone(),
            service: status.service.as_ref().map(|service| service.unit.clone()),
            user_service: status.service.as_ref().is_some_and(|service| service.user),
            log_file: said(&status.log_file),
            loading: said(&status.loading),
            devices: status.devices.iter().map(Device::from).collect(),
            counters: Counters::from(&status.counters),
            daemon_resident_bytes: status.daemon_resident_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mover_is_shown_with_what_its_context_takes() {
        let device = GpuUuid([7; 16]);
        let info = MoverInfo { device, pid: 8, moves: 2, moved_bytes: 9, context_bytes: 3 << 20 };
        let shown = serde_json::to_value(Mover::from(&info)).unwrap();
        let expected = serde_json::json!({
            "device": device.to_string(), "pid": 8, "moves": 2, "moved_bytes": 9, "context_bytes": 3 << 20,
        });
        assert_eq!(shown, expected);
    }
}
