//! Devices.

use super::driver::Driver;
use super::uuid::DeviceUuid;
use crate::error::CudaError;
use crate::result;
use crate::sys::CUdevice;

/// One GPU as this process sees it.
#[derive(Clone, Debug)]
pub struct Device {
    driver: Driver,
    ordinal: i32,
    raw: CUdevice,
    uuid: DeviceUuid,
    name: String,
    total_bytes: u64,
}

/// A number that can be asked of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceAttribute(pub u32);

impl DeviceAttribute {
    /// Count of streaming multiprocessors.
    pub const MULTIPROCESSORS: Self = Self(16);
    /// Count of copy engines.
    pub const ASYNC_ENGINES: Self = Self(40);
    /// 1 when host and device share one address space.
    pub const UNIFIED_ADDRESSING: Self = Self(41);
    /// First number of the compute capability.
    pub const COMPUTE_CAPABILITY_MAJOR: Self = Self(75);
    /// Second number of the compute capability.
    pub const COMPUTE_CAPABILITY_MINOR: Self = Self(76);
    /// 1 when `cuMemCreate` and its family work.
    pub const VIRTUAL_MEMORY: Self = Self(102);
    /// 1 when allocations can be exported as file descriptors.
    pub const POSIX_FD_HANDLES: Self = Self(103);
    /// 1 when `cuMemAllocAsync` works.
    pub const MEMORY_POOLS: Self = Self(115);
    /// 1 when the driver claims fabric handles; creating one may still be refused.
    pub const FABRIC_HANDLES: Self = Self(128);
}

impl Device {
    pub(crate) fn new(driver: &Driver, ordinal: i32) -> Result<Self, CudaError> {
        let table = driver.table();
        let raw = result::device::get(table, ordinal)?;
        Ok(Self {
            driver: driver.clone(),
            ordinal,
            raw,
            uuid: DeviceUuid(result::device::uuid(table, raw)?),
            name: result::device::name(table, raw)?,
            total_bytes: result::device::total_bytes(table, raw)? as u64,
        })
    }

    /// The driver that the device belongs to.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The number in this process; it means nothing in another one.
    #[must_use]
    pub fn ordinal(&self) -> i32 {
        self.ordinal
    }

    /// The raw device of the `result` layer.
    #[must_use]
    pub fn raw(&self) -> CUdevice {
        self.raw
    }

    /// The name that all processes agree on.
    #[must_use]
    pub fn uuid(&self) -> DeviceUuid {
        self.uuid
    }

    /// The product's name, for example `NVIDIA H200`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Memory of the card that CUDA can use at most.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Asks for a number.
    ///
    /// # Errors
    /// `INVALID_VALUE` for an attribute that the driver does not know.
    pub fn attribute(&self, attribute: DeviceAttribute) -> Result<i32, CudaError> {
        result::device::attribute(self.driver.table(), attribute.0, self.raw)
    }

    /// The place on the bus, for example `0000:19:00.0`.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn pci_bus_id(&self) -> Result<String, CudaError> {
        result::device::pci_bus_id(self.driver.table(), self.raw)
    }
}
