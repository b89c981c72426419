//! Memory made visible at addresses.

use super::allocation::Allocation;
use super::context::Context;
use super::pointer::DevicePtr;
use super::range::AddressRange;
use super::report_drop;
use crate::error::CudaError;
use crate::sys::constants;
use crate::{result, to_usize};

/// What a device may do with a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A kernel's write faults and the context is lost.
    ReadOnly,
    /// Everything.
    ReadWrite,
}

/// One or more whole allocations, mapped side by side.
///
/// Dropping unmaps without waiting for work that may still use the addresses, which then faults:
/// call [`Mapping::unmap`] when the work is known to be done.
#[derive(Debug)]
pub struct Mapping {
    context: Context,
    range: AddressRange,
    start: DevicePtr,
    bytes: u64,
    mapped: bool,
}

impl Mapping {
    /// Maps an allocation whole at an offset of a range. The allocation's own reference is not
    /// needed any longer: the mapping keeps the memory alive.
    ///
    /// # Errors
    /// `NOT_SUPPORTED` or `INVALID_VALUE` when the allocation's size is not what was said;
    /// the driver's answer to a range that is occupied.
    pub fn map(
        context: &Context,
        range: &AddressRange,
        offset: u64,
        allocation: &Allocation,
        access: Access,
    ) -> Result<Self, CudaError> {
        Self::map_all(context, range, offset, &[allocation], access)
    }

    /// Maps allocations side by side from an offset on, with one call for their access: cheaper
    /// than one by one, and unmapped by one call.
    ///
    /// # Errors
    /// As for [`Mapping::map`]; nothing stays mapped then.
    pub fn map_all(
        context: &Context,
        range: &AddressRange,
        offset: u64,
        allocations: &[&Allocation],
        access: Access,
    ) -> Result<Self, CudaError> {
        const CALL: &str = "Mapping::map";
        let bytes = allocations.iter().try_fold(0_u64, |sum, one| sum.checked_add(one.bytes()));
        let place = bytes.and_then(|bytes| Some((range.at(offset, bytes)?, bytes)));
        let Some((start, bytes)) = place.filter(|(_, bytes)| *bytes > 0) else {
            let room = range.bytes();
            let detail = format!("{bytes:?} bytes at offset {offset} of a range of {room} bytes");
            return Err(CudaError::refused(CALL, detail));
        };
        let mut mapping =
            Self { context: context.clone(), range: range.clone(), start, bytes: 0, mapped: true };
        for allocation in allocations {
            let address = start.0 + mapping.bytes;
            let size = to_usize(allocation.bytes());
            // SAFETY: the addresses are inside a reservation that `mapping` keeps, and the handle
            // is alive. On an error, dropping `mapping` unmaps what was mapped so far.
            unsafe { result::mem::map(context.table(), address, size, 0, allocation.raw()) }?;
            mapping.bytes += allocation.bytes();
        }
        debug_assert_eq!(mapping.bytes, bytes);
        mapping.set_access(access)?;
        Ok(mapping)
    }

    /// Changes what the context's device may do.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn set_access(&self, access: Access) -> Result<(), CudaError> {
        let ordinal = self.context.device().ordinal();
        let writable = access == Access::ReadWrite;
        let size = to_usize(self.bytes);
        let table = self.context.table();
        // SAFETY: the whole span is our mapping. Running work that loses a right faults on the
        // device, which harms nothing of the host.
        unsafe { result::mem::set_access(table, self.start.0, size, ordinal, writable) }
    }

    /// What the context's device may do; `None` when nothing.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn access(&self) -> Result<Option<Access>, CudaError> {
        let ordinal = self.context.device().ordinal();
        Ok(match result::mem::access(self.context.table(), self.start.0, ordinal)? {
            constants::ACCESS_READ => Some(Access::ReadOnly),
            constants::ACCESS_READ_WRITE => Some(Access::ReadWrite),
            _ => None,
        })
    }

    /// Unmaps. The caller has seen that no work uses the addresses any more: what still does
    /// faults, and the context is lost.
    ///
    /// # Errors
    /// What the driver answers; it is not tried again.
    pub fn unmap(mut self) -> Result<(), CudaError> {
        self.unmap_once()
    }

    /// As [`Mapping::unmap`], but what the driver refuses to unmap is handed back: it is still
    /// there.
    ///
    /// # Errors
    /// What the driver answers, with the mapping.
    pub fn unmap_or_keep(mut self) -> Result<(), (Self, CudaError)> {
        match self.unmap_once() {
            Ok(()) => Ok(()),
            Err(error) => {
                self.mapped = true;
                Err((self, error))
            }
        }
    }

    fn unmap_once(&mut self) -> Result<(), CudaError> {
        if !std::mem::take(&mut self.mapped) || self.bytes == 0 {
            return Ok(());
        }
        // SAFETY: the whole span is our mapping, and `mapped` lets this happen once.
        unsafe { result::mem::unmap(self.context.table(), self.start.0, to_usize(self.bytes)) }
    }

    /// First address.
    #[must_use]
    pub fn pointer(&self) -> DevicePtr {
        self.start
    }

    /// Size of all that is mapped.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The context that copies run in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The range that the mapping lies in.
    #[must_use]
    pub fn range(&self) -> &AddressRange {
        &self.range
    }

    /// The address at an offset.
    ///
    /// # Errors
    /// `INVALID_VALUE` unless `bytes` from there on lie inside the mapping.
    pub fn at(&self, offset: u64, bytes: u64) -> Result<DevicePtr, CudaError> {
        self.span().at(offset, bytes)
    }

    /// As [`DeviceSpan::copy_from_host`](super::DeviceSpan::copy_from_host).
    ///
    /// # Errors
    /// As there.
    pub fn copy_from_host(&self, offset: u64, source: &[u8]) -> Result<(), CudaError> {
        self.span().copy_from_host(offset, source)
    }

    /// As [`DeviceSpan::copy_to_host`](super::DeviceSpan::copy_to_host).
    ///
    /// # Errors
    /// As there.
    pub fn copy_to_host(&self, offset: u64, target: &mut [u8]) -> Result<(), CudaError> {
        self.span().copy_to_host(offset, target)
    }

    /// As [`DeviceSpan::memset`](super::DeviceSpan::memset).
    ///
    /// # Errors
    /// As there.
    pub fn memset(&self, offset: u64, bytes: u64, value: u8) -> Result<(), CudaError> {
        self.span().memset(offset, bytes, value)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        report_drop(self.unmap_once());
    }
}
