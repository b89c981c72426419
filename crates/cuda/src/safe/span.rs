//! Device memory as a range of addresses, whoever owns it.

use super::context::Context;
use super::pointer::DevicePtr;
use crate::error::CudaError;
use crate::{result, to_usize};
use std::ffi::c_void;

/// A range of device memory that somebody else owns, with checked copies and fills.
///
/// It borrows what owns the memory, so that the two cannot be parted: [`Mapping`](super::Mapping),
/// [`LinearMemory`](super::LinearMemory), [`OpenedMemory`](super::OpenedMemory),
/// [`SharedPool`](super::SharedPool), [`PoolMemory`](super::PoolMemory) and
/// [`ForeignMemory`](super::ForeignMemory) all have one.
#[derive(Clone, Copy, Debug)]
pub struct DeviceSpan<'a> {
    context: &'a Context,
    start: DevicePtr,
    bytes: u64,
}

impl<'a> DeviceSpan<'a> {
    /// The owner of the memory lends it.
    pub(super) const fn new(context: &'a Context, start: DevicePtr, bytes: u64) -> Self {
        Self { context, start, bytes }
    }

    /// First address.
    #[must_use]
    pub const fn pointer(&self) -> DevicePtr {
        self.start
    }

    /// Size.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The context that copies run in.
    #[must_use]
    pub const fn context(&self) -> &'a Context {
        self.context
    }

    /// The address at an offset.
    ///
    /// # Errors
    /// `INVALID_VALUE` unless `bytes` from there on lie inside.
    pub fn at(&self, offset: u64, bytes: u64) -> Result<DevicePtr, CudaError> {
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        inside.then(|| DevicePtr(self.start.0 + offset)).ok_or_else(|| {
            let size = self.bytes;
            let detail = format!("{bytes} bytes at offset {offset} of memory of {size} bytes");
            CudaError::refused("DeviceSpan::at", detail)
        })
    }

    /// A part of it.
    ///
    /// # Errors
    /// As for [`DeviceSpan::at`].
    pub fn part(&self, offset: u64, bytes: u64) -> Result<Self, CudaError> {
        Ok(Self { start: self.at(offset, bytes)?, bytes, ..*self })
    }

    /// Copies into the device's memory and waits for the device to have done so.
    ///
    /// # Errors
    /// `INVALID_VALUE` outside of the memory and where it is read-only; errors of earlier work.
    pub fn copy_from_host(&self, offset: u64, source: &[u8]) -> Result<(), CudaError> {
        let target = self.at(offset, source.len() as u64)?;
        if source.is_empty() {
            return Ok(());
        }
        let _bound = self.context.bind()?;
        let from = source.as_ptr().cast::<c_void>();
        // SAFETY: the target was checked, and the source is a slice that the call is done with
        // when it returns.
        unsafe {
            result::copy::host_to_device(self.context.table(), target.0, from, source.len())
        }?;
        self.wait_for_legacy_stream()
    }

    /// Copies out of the device's memory and waits.
    ///
    /// # Errors
    /// `INVALID_VALUE` outside of the memory; errors of earlier work.
    pub fn copy_to_host(&self, offset: u64, target: &mut [u8]) -> Result<(), CudaError> {
        let source = self.at(offset, target.len() as u64)?;
        if target.is_empty() {
            return Ok(());
        }
        let _bound = self.context.bind()?;
        let to = target.as_mut_ptr().cast::<c_void>();
        // SAFETY: the source was checked, the target is a slice, and the call waits.
        unsafe { result::copy::device_to_host(self.context.table(), to, source.0, target.len()) }
    }

    /// Fills bytes and waits for the device to have done so.
    ///
    /// # Errors
    /// `INVALID_VALUE` outside of the memory and where it is read-only; errors of earlier work.
    pub fn memset(&self, offset: u64, bytes: u64, value: u8) -> Result<(), CudaError> {
        let target = self.at(offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let _bound = self.context.bind()?;
        let table = self.context.table();
        // SAFETY: the target was checked.
        unsafe { result::copy::fill_u8(table, target.0, value, to_usize(bytes)) }?;
        self.wait_for_legacy_stream()
    }

    /// A fill, and a copy from memory that is not pinned, return before the device has written:
    /// measured on an H200, unmapping right after a "synchronous" copy loses the context.
    fn wait_for_legacy_stream(&self) -> Result<(), CudaError> {
        // SAFETY: null is the legacy stream of the current context.
        unsafe { result::stream::synchronize(self.context.table(), std::ptr::null_mut()) }
    }
}

/// Lets a span be asked for by a reference to what owns the memory.
macro_rules! has_span {
    ($($owner:ty),* $(,)?) => {
        $(
            impl $owner {
                /// The memory as a range of addresses, to copy, fill and touch.
                #[must_use]
                pub fn span(&self) -> $crate::DeviceSpan<'_> {
                    $crate::DeviceSpan::new(self.context(), self.pointer(), self.bytes())
                }
            }

            impl<'a> From<&'a $owner> for $crate::DeviceSpan<'a> {
                fn from(owner: &'a $owner) -> Self {
                    owner.span()
                }
            }
        )*
    };
}

has_span!(
    super::Mapping,
    super::LinearMemory,
    super::OpenedMemory,
    super::SharedPool,
    super::PoolMemory,
    super::ForeignMemory,
);
