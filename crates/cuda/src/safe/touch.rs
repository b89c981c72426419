//! A kernel for tests and probes: reads one range, writes another, takes as long as it is told.

use super::context::Context;
use super::mapped_range::MappedRange;
use super::module::{Function, LaunchConfig, Module};
use super::pointer::DevicePtr;
use super::span::DeviceSpan;
use super::stream::Stream;
use crate::error::CudaError;
use std::ffi::{CStr, c_void};
use std::ops::Range;
use std::time::Duration;

/// The text that the driver compiles; the software driver knows the entry point by its name.
const PTX: &str = concat!(include_str!("touch.ptx"), "\0");

/// The kernel `millpond_touch`.
///
/// It reads its source again and again until the time is over, reads it once more, and writes the
/// wrapping sum of its little-endian 64-bit words to the start of the target. A tail of less than
/// 8 bytes is not read.
#[derive(Clone, Debug)]
pub struct TouchKernel {
    function: Function,
}

impl TouchKernel {
    /// Name of the entry point.
    pub const NAME: &'static CStr = c"millpond_touch";

    /// Compiles and loads the kernel.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn load(context: &Context) -> Result<Self, CudaError> {
        let ptx = CStr::from_bytes_with_nul(PTX.as_bytes())
            .map_err(|error| CudaError::refused("TouchKernel::load", error.to_string()))?;
        Ok(Self { function: Module::load_ptx(context, ptx)?.function(Self::NAME)? })
    }

    /// The entry point itself, to be launched in another shape.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Queues the kernel over addresses.
    ///
    /// # Errors
    /// Errors of earlier work. A fault of this work shows when the stream is waited for.
    ///
    /// # Safety
    /// Source and target are aligned to 8 bytes, `target_bytes` is at least 8, and writing 8 bytes
    /// to the target harms nobody. This value lives until the kernel has ended. (Addresses that
    /// are not mapped fault on the device and lose the context, which is what some tests want.)
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        source: DevicePtr,
        source_bytes: u64,
        target: DevicePtr,
        target_bytes: u64,
        duration: Duration,
    ) -> Result<(), CudaError> {
        let microseconds = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let mut values = [source.0, source_bytes, target.0, target_bytes, microseconds];
        let mut parameters =
            values.each_mut().map(|value| std::ptr::from_mut(value).cast::<c_void>());
        let config = LaunchConfig { grid: [1; 3], block: [256, 1, 1], shared_bytes: 0 };
        // SAFETY: five addresses of `u64` for the kernel's five parameters; the caller vouches
        // for the memory.
        unsafe { self.function.launch(stream, config, &mut parameters) }
    }

    /// Queues the kernel over memory, reading the whole source and writing the first 8 bytes
    /// of the target. Both must stay until it is done, and so must this value; see
    /// [`Mapping`](super::Mapping).
    ///
    /// # Errors
    /// Errors of earlier work. A fault of this work shows when the stream is waited for.
    pub fn touch<'a>(
        &self,
        stream: &Stream,
        source: impl Into<DeviceSpan<'a>>,
        target: impl Into<DeviceSpan<'a>>,
        duration: Duration,
    ) -> Result<(), CudaError> {
        let source = source.into();
        self.touch_part(stream, source, 0..source.bytes(), target, 0, duration)
    }

    /// As [`Self::touch`] over a part of the source, with the sum at an offset of the target; both
    /// begin at multiples of eight bytes.
    ///
    /// # Errors
    /// As [`Self::touch`]; parts that are not inside, or not so aligned.
    pub fn touch_part<'a>(
        &self,
        stream: &Stream,
        source: impl Into<DeviceSpan<'a>>,
        part: Range<u64>,
        target: impl Into<DeviceSpan<'a>>,
        target_offset: u64,
        duration: Duration,
    ) -> Result<(), CudaError> {
        let bytes = part.end.saturating_sub(part.start);
        let from = source.into().at(part.start, bytes)?;
        let to = target.into().at(target_offset, 8)?;
        if !(from.0 | to.0).is_multiple_of(8) {
            let why = "the parts must begin at multiples of 8 bytes".to_owned();
            return Err(CudaError::refused("TouchKernel::touch_part", why));
        }
        // SAFETY: both ranges are inside their memory and aligned. If the memory goes first, the
        // device faults; host memory is not involved. The driver waits for running kernels before
        // it unloads a module.
        unsafe { self.launch(stream, from, bytes, to, 8, duration) }
    }

    /// As [`Self::touch_part`] inside one range: reads a part of it and writes the sum to another
    /// place of it. What is unmapped while the kernel runs faults, and the context is lost.
    ///
    /// # Errors
    /// As [`Self::touch_part`]; parts that are not mapped.
    pub fn touch_range(
        &self,
        stream: &Stream,
        range: &MappedRange,
        part: Range<u64>,
        target_offset: u64,
        duration: Duration,
    ) -> Result<(), CudaError> {
        let bytes = part.end.saturating_sub(part.start);
        let from = range.at(part.start, bytes)?;
        let to = range.at(target_offset, 8)?;
        if !(from.0 | to.0).is_multiple_of(8) {
            let why = "the parts must begin at multiples of 8 bytes".to_owned();
            return Err(CudaError::refused("TouchKernel::touch_range", why));
        }
        // SAFETY: as for `touch_part`.
        unsafe { self.launch(stream, from, bytes, to, 8, duration) }
    }
}
