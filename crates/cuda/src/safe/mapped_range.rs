//! Addresses under which whole allocations come and go.

use super::allocation::Allocation;
use super::context::Context;
use super::mapping::Access;
use super::pointer::DevicePtr;
use super::range::AddressRange;
use super::report_drop;
use crate::error::CudaError;
use crate::sys::Status;
use crate::{result, to_usize};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reserved addresses that stay, and mappings in them that do not.
///
/// [`Mapping`](super::Mapping) stands for one span and dies with it. This is for memory whose
/// addresses must outlive what backs them, such as a cache that grows and shrinks.
///
/// Any thread may map and unmap. The rule that keeps them apart: a call first marks its spans as
/// busy in the book, makes its driver calls without the lock, then writes down what became of them.
/// Whoever meets a busy span is refused, so no span is unmapped twice or mapped over.
///
/// Dropping unmaps everything and then frees the addresses, without waiting for work that may
/// still use them.
#[derive(Debug)]
pub struct MappedRange {
    context: Context,
    range: AddressRange,
    spans: Mutex<Spans>,
}

/// What is mapped, by offset: each entry is one whole allocation.
type Spans = BTreeMap<u64, Span>;

#[derive(Clone, Copy, Debug)]
struct Span {
    bytes: u64,
    /// A call is changing it.
    busy: bool,
}

impl MappedRange {
    /// Reserves addresses; costs no memory. An alignment of 0 is the driver's choice.
    ///
    /// # Errors
    /// `INVALID_VALUE` for odd sizes and alignments; `OUT_OF_MEMORY` without such a gap.
    pub fn reserve(context: &Context, bytes: u64, alignment: u64) -> Result<Self, CudaError> {
        let range = AddressRange::reserve_at(context.driver(), bytes, alignment, DevicePtr(0))?;
        Ok(Self { context: context.clone(), range, spans: Mutex::default() })
    }

    /// Maps allocations whole and side by side from an offset on, with one call for the access of
    /// all. The mapping keeps the memory alive without their handles.
    ///
    /// # Errors
    /// `INVALID_VALUE` outside of the range, for nothing, and where something is mapped; what the
    /// driver answers. Nothing of this call is mapped then. Should the driver refuse even to undo,
    /// the spans stay in the book, and [`Self::unmap`] may be tried again.
    pub fn map(
        &self,
        offset: u64,
        allocations: &[&Allocation],
        access: Access,
    ) -> Result<(), CudaError> {
        const CALL: &str = "MappedRange::map";
        let sum = allocations.iter().try_fold(0_u64, |sum, one| sum.checked_add(one.bytes()));
        let bytes = sum.filter(|bytes| *bytes > 0 && self.range.at(offset, *bytes).is_some());
        let Some(bytes) = bytes else {
            let room = self.range.bytes();
            let detail = format!("{sum:?} bytes at offset {offset} of a range of {room} bytes");
            return Err(CudaError::refused(CALL, detail));
        };
        {
            let mut spans = self.lock();
            if let Some((at, span)) = overlapping(&spans, offset, bytes) {
                let detail = format!("{} bytes are mapped at offset {at}", span.bytes);
                return Err(CudaError::refused(CALL, detail));
            }
            let mut at = offset;
            for one in allocations {
                spans.insert(at, Span { bytes: one.bytes(), busy: true });
                at += one.bytes();
            }
        }
        let mut mapped = 0;
        let done = self.map_spans(offset, allocations, access, &mut mapped);
        let undone = if done.is_err() && mapped > 0 {
            // SAFETY: whole allocations that this call has mapped; nobody was told of them.
            unsafe {
                result::mem::unmap(self.context.table(), self.address(offset), to_usize(mapped))
            }
        } else {
            Ok(())
        };
        let kept = if done.is_ok() || undone.is_err() { offset + mapped } else { offset };
        let mut spans = self.lock();
        spans.retain(|at, _| !(kept..offset + bytes).contains(at));
        spans.range_mut(offset..kept).for_each(|(_, span)| span.busy = false);
        drop(spans);
        report_drop(undone);
        done
    }

    /// Maps one by one, counts the bytes in `mapped`, and gives access to all.
    fn map_spans(
        &self,
        offset: u64,
        allocations: &[&Allocation],
        access: Access,
        mapped: &mut u64,
    ) -> Result<(), CudaError> {
        let table = self.context.table();
        for one in allocations {
            let address = self.address(offset + *mapped);
            // SAFETY: the addresses are ours and free, as the book says; the handle is alive.
            unsafe { result::mem::map(table, address, to_usize(one.bytes()), 0, one.raw()) }?;
            *mapped += one.bytes();
        }
        let (ordinal, writable) = (self.context.device().ordinal(), access == Access::ReadWrite);
        let start = self.address(offset);
        // SAFETY: all of the span was mapped above, and nobody uses it yet.
        unsafe { result::mem::set_access(table, start, to_usize(*mapped), ordinal, writable) }
    }

    /// Unmaps a run of whole allocations with one call. The caller has seen that no work uses
    /// these addresses any more: what still does faults, and the context is lost.
    ///
    /// # Errors
    /// `INVALID_VALUE` unless the run begins and ends with an allocation and has no gap, or while
    /// another thread changes it; what the driver answers. All of it is mapped still.
    pub fn unmap(&self, offset: u64, bytes: u64) -> Result<(), CudaError> {
        self.claim(offset, bytes)?;
        // SAFETY: whole mappings of ours, which `claim` gave to this call alone. Work that still
        // uses them faults on the device, which harms nothing of the host.
        let done = unsafe {
            result::mem::unmap(self.context.table(), self.address(offset), to_usize(bytes))
        };
        let mut spans = self.lock();
        if done.is_ok() {
            spans.retain(|at, _| !(offset..offset + bytes).contains(at));
        } else {
            spans.range_mut(offset..offset + bytes).for_each(|(_, span)| span.busy = false);
        }
        done
    }

    /// Marks the spans of a run as busy, or refuses.
    fn claim(&self, offset: u64, bytes: u64) -> Result<(), CudaError> {
        let mut spans = self.lock();
        let whole = offset.checked_add(bytes).filter(|_| bytes > 0).is_some_and(|end| {
            let mut next = offset;
            for (at, span) in spans.range(offset..end) {
                if *at != next || span.busy {
                    return false;
                }
                next += span.bytes;
            }
            next == end
        });
        if !whole {
            let detail = format!(
                "{bytes} bytes at offset {offset} are not a run of whole mapped allocations"
            );
            return Err(CudaError::refused("MappedRange::unmap", detail));
        }
        spans.range_mut(offset..offset + bytes).for_each(|(_, span)| span.busy = true);
        Ok(())
    }

    /// First address.
    #[must_use]
    pub fn pointer(&self) -> DevicePtr {
        self.range.start()
    }

    /// Count of addresses.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.range.bytes()
    }

    /// How many bytes are mapped, those included that a thread is changing.
    #[must_use]
    pub fn mapped_bytes(&self) -> u64 {
        self.lock().values().map(|span| span.bytes).sum()
    }

    /// The context that copies run in, and whose device has access.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The address at an offset.
    ///
    /// # Errors
    /// `INVALID_VALUE` unless all of the `bytes` from there on are mapped.
    pub fn at(&self, offset: u64, bytes: u64) -> Result<DevicePtr, CudaError> {
        let spans = self.lock();
        let end = offset.checked_add(bytes);
        let mut next = offset;
        let before = spans.range(..=offset).next_back().map(|(at, span)| (*at, *span));
        let after = spans.range(offset..).map(|(at, span)| (*at, *span));
        for (at, span) in before.into_iter().chain(after) {
            if at > next || span.busy || end.is_some_and(|end| next >= end) {
                break;
            }
            next = next.max(at + span.bytes);
        }
        if end.is_some_and(|end| next >= end && end <= self.bytes()) {
            return Ok(DevicePtr(self.address(offset)));
        }
        let detail = format!("{bytes} bytes at offset {offset} are not mapped");
        Err(CudaError::refused("MappedRange::at", detail))
    }

    /// Copies into the device's memory and waits for the device to have done so.
    ///
    /// # Errors
    /// `INVALID_VALUE` where nothing is mapped or only for reading; errors of earlier work.
    pub fn copy_from_host(&self, offset: u64, source: &[u8]) -> Result<(), CudaError> {
        let target = self.at(offset, source.len() as u64)?;
        if source.is_empty() {
            return Ok(());
        }
        let _bound = self.context.bind()?;
        let (table, from) = (self.context.table(), source.as_ptr().cast::<c_void>());
        // SAFETY: the target was checked, and the source is a slice that the call is done with
        // when it returns.
        unsafe { result::copy::host_to_device(table, target.0, from, source.len()) }?;
        self.wait_for_legacy_stream()
    }

    /// Copies out of the device's memory and waits.
    ///
    /// # Errors
    /// `INVALID_VALUE` where nothing is mapped; errors of earlier work.
    pub fn copy_to_host(&self, offset: u64, target: &mut [u8]) -> Result<(), CudaError> {
        let source = self.at(offset, target.len() as u64)?;
        if target.is_empty() {
            return Ok(());
        }
        let _bound = self.context.bind()?;
        let (table, to) = (self.context.table(), target.as_mut_ptr().cast::<c_void>());
        // SAFETY: the source was checked, the target is a slice, and the call waits.
        unsafe { result::copy::device_to_host(table, to, source.0, target.len()) }
    }

    /// Fills bytes and waits for the device to have done so.
    ///
    /// # Errors
    /// `INVALID_VALUE` where nothing is mapped or only for reading; errors of earlier work.
    pub fn memset(&self, offset: u64, bytes: u64, value: u8) -> Result<(), CudaError> {
        let target = self.at(offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let _bound = self.context.bind()?;
        // SAFETY: the target was checked.
        unsafe { result::copy::fill_u8(self.context.table(), target.0, value, to_usize(bytes)) }?;
        self.wait_for_legacy_stream()
    }

    /// A fill, and a copy from memory that is not pinned, return before the device has written.
    fn wait_for_legacy_stream(&self) -> Result<(), CudaError> {
        // SAFETY: null is the legacy stream of the current context.
        unsafe { result::stream::synchronize(self.context.table(), std::ptr::null_mut()) }
    }

    /// The address at an offset that was checked to lie inside.
    fn address(&self, offset: u64) -> u64 {
        self.range.start().0 + offset
    }

    fn lock(&self) -> MutexGuard<'_, Spans> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first span that shares a byte with a run.
fn overlapping(spans: &Spans, offset: u64, bytes: u64) -> Option<(u64, Span)> {
    let (at, span) = spans.range(..offset + bytes).next_back()?;
    (at + span.bytes > offset).then_some((*at, *span))
}

impl Drop for MappedRange {
    fn drop(&mut self) {
        let spans = std::mem::take(self.spans.get_mut().unwrap_or_else(PoisonError::into_inner));
        for (offset, span) in spans {
            let (address, size) = (self.range.start().0 + offset, to_usize(span.bytes));
            // SAFETY: a whole mapping of ours, and nobody can reach it through this value any more.
            let done = unsafe { result::mem::unmap(self.context.table(), address, size) };
            let is_over = done.as_ref().is_err_and(|error| error.status == Status::DEINITIALIZED);
            report_drop(done);
            if is_over {
                return;
            }
        }
    }
}
