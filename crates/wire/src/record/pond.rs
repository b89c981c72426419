//! The pond and its GPUs.

use millpond_schema::record as fb;

use super::{FORMAT, Read, Record, id, uuid};
use crate::message::{self, DecodeError};
use crate::{GpuUuid, PondId, caps};

pub(super) fn write_opened(pond: PondId, key: &[u8; 16], created_unix_ms: u64) -> fb::Opened {
    fb::Opened { format: FORMAT, pond: id(pond.0), key: Some(key.to_vec()), created_unix_ms }
}

pub(super) fn read_opened(opened: fb::OpenedRef<'_>) -> Read<Record> {
    let format = opened.format()?;
    if format != FORMAT {
        return Err(DecodeError::BadValue { field: "format", value: format.into() });
    }
    Ok(Record::Opened {
        pond: PondId(uuid("pond", opened.pond()?)?),
        key: message::bytes16("key", message::required("key", opened.key()?)?)?,
        created_unix_ms: opened.created_unix_ms()?,
    })
}

/// A GPU, as the driver described it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRecord {
    pub device: GpuUuid,
    /// Place in the driver's list.
    pub index: u32,
    /// What the driver calls it.
    pub name: String,
    pub total_bytes: u64,
    /// Bytes that the pond may take.
    pub capacity_bytes: u64,
}

pub(super) fn write_device(device: &DeviceRecord) -> fb::DeviceSeen {
    fb::DeviceSeen {
        device: Some(device.device.0.to_vec()),
        index: device.index,
        name: Some(device.name.clone()),
        total_bytes: device.total_bytes,
        capacity_bytes: device.capacity_bytes,
    }
}

pub(super) fn read_device(seen: fb::DeviceSeenRef<'_>) -> Read<DeviceRecord> {
    Ok(DeviceRecord {
        device: message::gpu("device", seen.device()?)?,
        index: seen.index()?,
        name: message::text_up_to("name", seen.name()?, caps::NAME_BYTES)?,
        total_bytes: seen.total_bytes()?,
        capacity_bytes: seen.capacity_bytes()?,
    })
}
