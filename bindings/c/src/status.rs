//! The pond and its GPUs.

use std::ffi::c_char;
use std::sync::Arc;

use millpond::{DeviceInfo, Status};

use crate::border::{Out, call, required, value, waiting};
use crate::failure::Failure;
use crate::objects::{PONDS, STATUSES};
use crate::pond::millpond_pond;
use crate::result::ResultNumber;
use crate::text::{json, millpond_text};
use crate::uuid::{cut, millpond_uuid};

/// What a pond said about itself at one moment.
pub struct millpond_status {
    _private: [u8; 0],
}

pub(crate) type Snapshot = Status;

/// One GPU of a pond, and its accounts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_gpu {
    /// Its UUID.
    pub uuid: millpond_uuid,
    /// Place in the pond's list; for people only.
    pub index: u32,
    /// How many tensors.
    pub tensors: u32,
    /// How many slabs.
    pub slabs: u32,
    /// 1 for a GPU of the software driver: host memory.
    pub software: u32,
    /// Bytes on the card.
    pub total_bytes: u64,
    /// Bytes that the pond may take.
    pub capacity_bytes: u64,
    /// Bytes of the pond's slabs.
    pub slab_bytes: u64,
    /// Bytes of the tensors in them.
    pub tensor_bytes: u64,
    /// Bytes of slabs without a tensor, kept for their owner.
    pub recycled_bytes: u64,
    /// The driver's own reading for the whole card, all programs together; UINT64_MAX where it is not known.
    pub physical_used_bytes: u64,
    /// What the driver calls it.
    pub name: [c_char; 128],
    /// For later versions; zero.
    pub reserved: [u64; 8],
}

/// The numbers of a pond.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_pond_info {
    /// Which pond.
    pub pond: millpond_uuid,
    /// Which daemon of it; every start has the next number.
    pub epoch: u64,
    /// When this daemon started.
    pub started_unix_ms: u64,
    /// The daemon's process.
    pub daemon_pid: u32,
    /// The keeper's process.
    pub keeper_pid: u32,
    /// Clients that are known.
    pub clients: u32,
    /// Leases that are known.
    pub leases: u32,
    /// 1 if the driver has answered.
    pub driver_ready: u32,
    /// 1 for the software driver: host memory, no GPU.
    pub software: u32,
    /// Version of the daemon's program.
    pub version: [c_char; 32],
    /// Name and version of the driver.
    pub driver: [c_char; 128],
    /// For later versions; zero.
    pub reserved: [u64; 8],
}

fn is_software(name: &str) -> bool {
    millpond_softgpu::is_software(name)
}

impl From<&DeviceInfo> for millpond_gpu {
    fn from(device: &DeviceInfo) -> Self {
        Self {
            uuid: device.device.into(),
            index: device.index,
            tensors: device.tensors,
            slabs: device.slabs,
            software: is_software(&device.name).into(),
            total_bytes: device.total_bytes,
            capacity_bytes: device.capacity_bytes,
            slab_bytes: device.slab_bytes,
            tensor_bytes: device.tensor_bytes,
            recycled_bytes: device.recycled_bytes,
            physical_used_bytes: device.physical_used_bytes.unwrap_or(u64::MAX),
            name: cut(&device.name),
            reserved: [0; 8],
        }
    }
}

/// Asks the pond about itself and its GPUs. Free the status with millpond_status_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_status(
    pond: *const millpond_pond,
    status: Out<'_, *mut millpond_status>,
) -> ResultNumber {
    waiting(|| {
        let out = required(status, "status")?;
        out.write(STATUSES.insert(Arc::new(PONDS.get(pond)?.status()?))?);
        Ok(())
    })
}

/// The numbers of the pond.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_status_info(
    status: *const millpond_status,
    info: Out<'_, millpond_pond_info>,
) -> ResultNumber {
    call(|| {
        let out = required(info, "info")?;
        let status = STATUSES.get(status)?;
        out.write(millpond_pond_info {
            pond: millpond_uuid { bytes: *status.pond.0.as_bytes() },
            epoch: status.epoch.0,
            started_unix_ms: status.started_unix_ms,
            daemon_pid: status.daemon_pid,
            keeper_pid: status.keeper_pid,
            clients: status.clients,
            leases: status.leases,
            driver_ready: status.driver_ready.into(),
            software: status.devices.iter().any(|device| is_software(&device.name)).into(),
            version: cut(&status.daemon_version),
            driver: cut(&status.driver),
            reserved: [0; 8],
        });
        Ok(())
    })
}

/// How many GPUs the pond has; zero while its driver has not answered yet, and for a handle that is no status.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_status_gpu_count(status: *const millpond_status) -> usize {
    value(0, || Ok(STATUSES.get(status)?.devices.len()))
}

/// One GPU of the pond. MILLPOND_NO_DEVICE if there are fewer.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_status_gpu_at(
    status: *const millpond_status,
    index: usize,
    gpu: Out<'_, millpond_gpu>,
) -> ResultNumber {
    call(|| {
        let out = required(gpu, "gpu")?;
        let status = STATUSES.get(status)?;
        let count = status.devices.len();
        let device = status.devices.get(index);
        let device =
            device.ok_or_else(|| Failure::from(millpond::Error::NoSuchIndex { index, count }))?;
        out.write(device.into());
        Ok(())
    })
}

/// Everything that the pond said, as `millpond status --json` shows it. Free the text with millpond_text_free().
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_status_json(
    status: *const millpond_status,
    text: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    call(|| {
        let out = required(text, "text")?;
        out.write(json(&millpond_view::Status::new(&*STATUSES.get(status)?, is_software))?);
        Ok(())
    })
}

/// Frees a status. NULL is nothing.
///
/// Threads: any; the handle is of no use afterwards. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_status_free(status: *mut millpond_status) -> ResultNumber {
    call(|| STATUSES.free(status))
}
