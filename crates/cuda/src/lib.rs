//! The CUDA driver as a table of functions, with safe RAII types on top.
//!
//! Three layers, as in `cudarc`: [`sys`] is the raw list of entry points and the tables made from
//! it, [`result`] turns each call into a `Result`, and [`safe`] (re-exported here) owns things.
//!
//! # Why an own table
//!
//! Types and constants come from `cudarc`; its functions do not, for three reasons. Its enums are
//! closed Rust enums, and a driver newer than its headers would return a number that is undefined
//! behaviour to hold: our functions return a transparent [`sys::Status`] and take enums as plain
//! integers. Its loader panics where a symbol or library is missing: ours returns a
//! [`DriverError`] that names the symbol, the library and the version. And a table can be filled
//! from somewhere else than a shared library: the software driver is a [`sys::Provider`] in the
//! same program, so all code above runs unchanged on a machine without a GPU.
//!
//! # Example
//!
//! Memory that outlives its maker: created without a context, kept by its file descriptor.
//!
//! ```no_run
//! use millpond_cuda::{Allocation, Driver, DriverChoice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let driver = Driver::open(DriverChoice::from_env(), None)?;
//! let device = driver.devices()?.remove(0);
//! let slab = Allocation::create(&device, 64 << 20)?;
//! let fd = slab.export()?;
//! drop(slab); // the memory lives as long as the fd
//!
//! let again = Allocation::import(&driver, std::os::fd::AsFd::as_fd(&fd), 64 << 20)?;
//! # drop(again);
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs)]

mod error;
pub mod result;
pub mod safe;
pub mod sys;

pub use error::{CudaError, DriverError, NvmlError};
pub use safe::*;

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("CUDA's virtual memory management with file descriptors is 64-bit Linux only");

/// Device sizes are `u64` everywhere; host sizes are the same width on every supported target.
#[expect(clippy::cast_possible_truncation, reason = "other pointer widths do not compile")]
pub(crate) const fn to_usize(bytes: u64) -> usize {
    bytes as usize
}
