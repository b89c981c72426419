//! Devices: what they are called and what they claim.

use std::ffi::{c_char, c_int};

use millpond_cuda::sys::{CUdevice, CUuuid, Status};

use super::{Out, entries, put_text};
use crate::engine::board::Device;
use crate::engine::system::to_usize;

/// `CU_DEVICE_ATTRIBUTE_PCI_BUS_ID`: the one attribute in which devices of one board differ.
const PCI_BUS_ID: u32 = 33;

fn bus_number(device: &Device) -> c_int {
    c_int::try_from(device.index).unwrap_or(c_int::MAX)
}

fn uuid(out: *mut CUuuid, device: CUdevice) -> Result<(), Status> {
    let engine = crate::engine::engine()?;
    // SAFETY: the callers below were promised a pointer that is null or valid for writing.
    let out = unsafe { Out::new(out)? };
    let bytes = engine.device(device)?.uuid().map_err(|_| Status::OPERATING_SYSTEM)?;
    out.set(CUuuid { bytes: bytes.map(|byte| c_char::from_ne_bytes([byte])) });
    Ok(())
}

entries! {
    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) |engine| {
        // SAFETY: as the caller promised.
        let device = unsafe { Out::new(device)? };
        engine.device(ordinal)?;
        device.set(ordinal);
        Ok(())
    }

    fn cuDeviceGetCount(count: *mut c_int) |engine| {
        // SAFETY: as the caller promised.
        unsafe { Out::new(count)? }.set(c_int::try_from(engine.visible.len()).unwrap_or(c_int::MAX));
        Ok(())
    }

    fn cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice) |engine| {
        let text = engine.device(device)?.profile.name;
        let len = usize::try_from(len).map_err(|_| Status::INVALID_VALUE)?;
        if name.is_null() || len == 0 {
            return Err(Status::INVALID_VALUE);
        }
        // Longer names are cut, as the real driver does.
        let cut = text.get(..text.len().min(len - 1)).unwrap_or_default();
        // SAFETY: the buffer has `len` bytes, as the caller promised.
        unsafe { put_text(cut, name, len) };
        Ok(())
    }

    fn cuDeviceGetUuid_v2(uuid_out: *mut CUuuid, device: CUdevice) |_engine| { uuid(uuid_out, device) }

    fn cuDeviceGetUuid(uuid_out: *mut CUuuid, device: CUdevice) |_engine| { uuid(uuid_out, device) }

    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice) |engine| {
        // SAFETY: as the caller promised.
        let bytes = unsafe { Out::new(bytes)? };
        let total = engine.device(device)?.registry.total().map_err(|_| Status::OPERATING_SYSTEM)?;
        bytes.set(to_usize(total));
        Ok(())
    }

    fn cuDeviceGetAttribute(value: *mut c_int, attribute: u32, device: CUdevice) |engine| {
        // SAFETY: as the caller promised.
        let value = unsafe { Out::new(value)? };
        let device = engine.device(device)?;
        let known = device.profile.attribute(attribute).ok_or(Status::INVALID_VALUE)?;
        value.set(if attribute == PCI_BUS_ID { bus_number(device) } else { known });
        Ok(())
    }

    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: CUdevice) |engine| {
        // SAFETY: as the caller promised.
        let (major, minor) = unsafe { (Out::new(major)?, Out::new(minor)?) };
        let profile = engine.device(device)?.profile;
        major.set(profile.attribute(75).unwrap_or_default());
        minor.set(profile.attribute(76).unwrap_or_default());
        Ok(())
    }

    fn cuDeviceCanAccessPeer(can: *mut c_int, device: CUdevice, peer: CUdevice) |engine| {
        // SAFETY: as the caller promised.
        let can = unsafe { Out::new(can)? };
        engine.device(device)?;
        engine.device(peer)?;
        can.set(c_int::from(device != peer));
        Ok(())
    }

    fn cuDeviceGetPCIBusId(id: *mut c_char, len: c_int, device: CUdevice) |engine| {
        let device = engine.device(device)?;
        let len = usize::try_from(len).map_err(|_| Status::INVALID_VALUE)?;
        let text = format!("0000:{:02X}:00.0", bus_number(device));
        // SAFETY: the buffer is not null and has `len` bytes, as the caller promised.
        if id.is_null() || !unsafe { put_text(&text, id, len) } {
            return Err(Status::INVALID_VALUE);
        }
        Ok(())
    }
}
