//! Structures of NVML's versioned calls.

use std::ffi::{c_char, c_uint, c_ulonglong};

/// `nvmlMemory_v2_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvmlMemoryV2 {
    /// [`NvmlMemoryV2::VERSION`], set by the caller.
    pub version: c_uint,
    /// Bytes on the card.
    pub total: c_ulonglong,
    /// Bytes that the driver keeps for itself.
    pub reserved: c_ulonglong,
    /// Bytes not in use by anybody.
    pub free: c_ulonglong,
    /// Bytes in use, without the reserved ones.
    pub used: c_ulonglong,
}

impl NvmlMemoryV2 {
    /// Version 2 of a structure of 40 bytes.
    pub const VERSION: c_uint = 40 | 2 << 24;
}

impl Default for NvmlMemoryV2 {
    fn default() -> Self {
        Self { version: Self::VERSION, total: 0, reserved: 0, free: 0, used: 0 }
    }
}

/// `nvmlProcessInfo_v1_t`, of the call without a version.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NvmlProcessInfoV1 {
    /// Process id in NVML's own pid namespace.
    pub pid: c_uint,
    /// Bytes used by the process; all ones when the driver does not say.
    pub used_gpu_memory: c_ulonglong,
}

/// `nvmlPciInfo_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvmlPciInfo {
    /// `domain:bus:device.function` with a domain of four digits.
    pub bus_id_legacy: [c_char; 16],
    /// The domain.
    pub domain: c_uint,
    /// The bus.
    pub bus: c_uint,
    /// The device.
    pub device: c_uint,
    /// Device and vendor.
    pub device_id: c_uint,
    /// Sub-system device and vendor.
    pub subsystem_id: c_uint,
    /// The same as `bus_id_legacy` with a domain of eight digits.
    pub bus_id: [c_char; 32],
}

const _: () = {
    assert!(size_of::<NvmlMemoryV2>() == 40);
    assert!(size_of::<NvmlProcessInfoV1>() == 16);
    assert!(size_of::<NvmlPciInfo>() == 68);
};
