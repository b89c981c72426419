//! Physical memory: what `cuMemCreate` makes and what travels between processes.

use super::device::Device;
use super::driver::Driver;
use super::pointer::DevicePtr;
use super::report_drop;
use crate::error::CudaError;
use crate::sys::{AllocationProperties, CUmemGenericAllocationHandle, constants};
use crate::{result, to_usize};
use std::os::fd::{BorrowedFd, OwnedFd};

/// One reference to physical memory on a device.
///
/// The memory is freed when the last reference, exported fd and mapping, in whichever process, is
/// gone. Dropping this value gives back its reference only.
#[derive(Debug)]
pub struct Allocation {
    driver: Driver,
    handle: CUmemGenericAllocationHandle,
    bytes: u64,
    /// False once the reference was given back.
    held: bool,
}

/// Which of the driver's two units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// Sizes must be a multiple of this.
    Minimum,
    /// Sizes should be a multiple of this.
    Recommended,
}

/// What the driver knows about an allocation. Its size is not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationInfo {
    /// Ordinal of the device, when the memory is on one.
    pub device_ordinal: Option<i32>,
    /// Whether it was made to be exported as a file descriptor.
    pub posix_fd: bool,
    /// Whether it is compressible memory.
    pub compressed: bool,
    /// Whether network cards may reach it.
    pub gpu_direct_rdma: bool,
}

impl Allocation {
    /// Makes memory that can be exported. Needs no context.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`; `INVALID_VALUE` unless `bytes` is a multiple of the minimum granularity.
    pub fn create(device: &Device, bytes: u64) -> Result<Self, CudaError> {
        Self::create_as(device, bytes, &AllocationProperties::exportable(device.ordinal()))
    }

    /// Makes memory that never leaves this process: [`Allocation::export`] refuses it. Needs no
    /// context.
    ///
    /// # Errors
    /// As for [`Allocation::create`].
    pub fn create_private(device: &Device, bytes: u64) -> Result<Self, CudaError> {
        Self::create_as(device, bytes, &AllocationProperties::private(device.ordinal()))
    }

    fn create_as(
        device: &Device,
        bytes: u64,
        properties: &AllocationProperties,
    ) -> Result<Self, CudaError> {
        let driver = device.driver().clone();
        let handle = result::mem::create(driver.table(), to_usize(bytes), properties)?;
        Ok(Self { driver, handle, bytes, held: true })
    }

    /// The unit of sizes on a device.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn granularity(device: &Device, which: Granularity) -> Result<u64, CudaError> {
        let properties = AllocationProperties::exportable(device.ordinal());
        let option = match which {
            Granularity::Minimum => constants::GRANULARITY_MINIMUM,
            Granularity::Recommended => constants::GRANULARITY_RECOMMENDED,
        };
        Ok(result::mem::granularity(device.driver().table(), &properties, option)? as u64)
    }

    /// A file descriptor that keeps the memory alive, also in a process without CUDA.
    ///
    /// # Errors
    /// `INVALID_VALUE` when the memory was imported: only its creator can export it.
    pub fn export(&self) -> Result<OwnedFd, CudaError> {
        // SAFETY: the handle is alive, because we hold a reference.
        unsafe { result::mem::export(self.driver.table(), self.handle) }
    }

    /// Takes a reference to memory that another process exported. The fd stays the caller's.
    ///
    /// The driver does not tell the size, so it must be known. A wrong one is found when mapping.
    ///
    /// # Errors
    /// The driver's answer to an fd that is not an exported allocation.
    pub fn import(driver: &Driver, fd: BorrowedFd<'_>, bytes: u64) -> Result<Self, CudaError> {
        let handle = result::mem::import(driver.table(), fd)?;
        Ok(Self { driver: driver.clone(), handle, bytes, held: true })
    }

    /// Takes a reference to what is mapped at an address, for example by PyTorch's expandable
    /// segments. As with [`Allocation::import`], the size must be known.
    ///
    /// # Errors
    /// `INVALID_VALUE` where no such memory is mapped.
    pub fn retain(driver: &Driver, address: DevicePtr, bytes: u64) -> Result<Self, CudaError> {
        let handle = result::mem::retain(driver.table(), address.0)?;
        Ok(Self { driver: driver.clone(), handle, bytes, held: true })
    }

    /// What the driver knows about it.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn info(&self) -> Result<AllocationInfo, CudaError> {
        // SAFETY: the handle is alive, because we hold a reference.
        let properties = unsafe { result::mem::properties(self.driver.table(), self.handle) }?;
        Ok(AllocationInfo {
            device_ordinal: (properties.location_kind == constants::LOCATION_DEVICE)
                .then_some(properties.location_id),
            posix_fd: properties.handle_types & constants::HANDLE_POSIX_FD != 0,
            compressed: properties.compression != 0,
            gpu_direct_rdma: properties.gpu_direct_rdma != 0,
        })
    }

    /// The size it was created, imported or retained with.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The driver it belongs to.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The raw handle of the `result` layer.
    #[must_use]
    pub fn raw(&self) -> CUmemGenericAllocationHandle {
        self.handle
    }

    /// Gives the reference back and says how that went. The last one may take long: 76 ms for
    /// 100 GiB.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn release(mut self) -> Result<(), CudaError> {
        self.release_once()
    }

    fn release_once(&mut self) -> Result<(), CudaError> {
        if !std::mem::take(&mut self.held) {
            return Ok(());
        }
        // SAFETY: gives back our one reference, and `held` lets this happen once.
        unsafe { result::mem::release(self.driver.table(), self.handle) }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        report_drop(self.release_once());
    }
}
