//! Memory pools.

use super::device::Device;
use super::pointer::DevicePtr;
use super::report_drop;
use super::stream::Stream;
use crate::error::CudaError;
use crate::sys::{CUmemoryPool, PoolProperties, constants};
use crate::{result, to_usize};
use std::os::fd::{AsRawFd, BorrowedFd};

/// A pool of stream-ordered memory: the program's own, or a device's default one.
///
/// What it has *reserved* is taken from the device, whether it is used or not.
#[derive(Debug)]
pub struct MemoryPool {
    device: Device,
    raw: CUmemoryPool,
    owned: bool,
}

// SAFETY: a pool is a handle that any thread may use; the driver locks inside.
unsafe impl Send for MemoryPool {}
// SAFETY: as above.
unsafe impl Sync for MemoryPool {}

impl MemoryPool {
    /// A pool of the program's own.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn new(device: &Device) -> Result<Self, CudaError> {
        Self::with_properties(device, &PoolProperties::of_device(device.ordinal()))
    }

    /// A pool that never reserves more than so many bytes, which the driver may round up.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn with_limit(device: &Device, bytes: u64) -> Result<Self, CudaError> {
        let mut properties = PoolProperties::of_device(device.ordinal());
        properties.max_bytes = to_usize(bytes);
        Self::with_properties(device, &properties)
    }

    /// A pool with all properties as given.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn with_properties(
        device: &Device,
        properties: &PoolProperties,
    ) -> Result<Self, CudaError> {
        let raw = result::pool::create(device.driver().table(), properties)?;
        Ok(Self { device: device.clone(), raw, owned: true })
    }

    /// A pool of this device that was made to be shared with other processes by descriptor.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn exportable(device: &Device) -> Result<Self, CudaError> {
        let mut properties = PoolProperties::of_device(device.ordinal());
        properties.handle_types = constants::HANDLE_POSIX_FD;
        Self::with_properties(device, &properties)
    }

    /// Takes part in a pool of another process. The fd stays the caller's.
    ///
    /// # Errors
    /// What the driver answers to an fd that is none of its pools.
    pub(super) fn import(device: &Device, fd: BorrowedFd<'_>) -> Result<Self, CudaError> {
        let table = device.driver().table();
        let raw = result::pool::import_fd(table, fd.as_raw_fd(), constants::HANDLE_POSIX_FD)?;
        Ok(Self { device: device.clone(), raw, owned: true })
    }

    /// The pool that a device has from the start.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn default_of(device: &Device) -> Result<Self, CudaError> {
        let raw = result::pool::default_of(device.driver().table(), device.raw())?;
        Ok(Self { device: device.clone(), raw, owned: false })
    }

    /// The raw pool of the `result` layer.
    #[must_use]
    pub fn raw(&self) -> CUmemoryPool {
        self.raw
    }

    /// Memory for the work that follows in a stream. It is not owned by anything: see
    /// [`result::pool::free_async`].
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub fn alloc(&self, bytes: u64, stream: &Stream) -> Result<DevicePtr, CudaError> {
        let _bound = stream.context().bind()?;
        let table = self.device.driver().table();
        // SAFETY: pool and stream are alive.
        unsafe { result::pool::alloc_from_pool(table, to_usize(bytes), self.raw, stream.raw()) }
            .map(DevicePtr)
    }

    /// Bytes that the pool has from its device.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_UNSUPPORTED` while a stream captures.
    pub fn reserved_bytes(&self) -> Result<u64, CudaError> {
        self.attribute(constants::POOL_RESERVED_CURRENT)
    }

    /// Bytes of it that are allocated.
    ///
    /// # Errors
    /// As [`Self::reserved_bytes`].
    pub fn used_bytes(&self) -> Result<u64, CudaError> {
        self.attribute(constants::POOL_USED_CURRENT)
    }

    fn attribute(&self, attribute: u32) -> Result<u64, CudaError> {
        // SAFETY: the pool is alive, and the callers above ask for 64-bit attributes.
        unsafe { result::pool::bytes_attribute(self.device.driver().table(), self.raw, attribute) }
    }

    /// How much may stay reserved when the program waits for the pool's streams; 0 at first.
    ///
    /// # Errors
    /// As [`Self::reserved_bytes`].
    pub fn set_release_threshold(&self, bytes: u64) -> Result<(), CudaError> {
        let table = self.device.driver().table();
        let attribute = constants::POOL_RELEASE_THRESHOLD;
        // SAFETY: the pool is alive, and the attribute has 64 bits.
        unsafe { result::pool::set_bytes_attribute(table, self.raw, attribute, bytes) }
    }

    /// Gives memory that nobody uses back to the device, but for so many bytes.
    ///
    /// # Errors
    /// As [`Self::reserved_bytes`].
    pub fn trim(&self, keep_bytes: u64) -> Result<(), CudaError> {
        let table = self.device.driver().table();
        // SAFETY: the pool is alive.
        unsafe { result::pool::trim(table, self.raw, to_usize(keep_bytes)) }
    }
}

impl Drop for MemoryPool {
    fn drop(&mut self) {
        if self.owned {
            let table = self.device.driver().table();
            // SAFETY: we own the pool; what is allocated from it lives on until it is freed.
            report_drop(unsafe { result::pool::destroy(table, self.raw) });
        }
    }
}
