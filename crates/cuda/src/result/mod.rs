//! The middle layer: one module per family, verbs inside, every call returning a `Result`.
//!
//! Nothing here owns anything. A function is `unsafe` when it takes a raw handle or address,
//! because the driver trusts most of them; functions that only take numbers it checks are safe.

use crate::error::CudaError;
use std::ffi::c_int;
use std::os::fd::{FromRawFd, OwnedFd};

/// Calls one entry point of a table and turns its status into a result.
macro_rules! call {
    ($table:expr, $name:ident ( $( $argument:expr ),* $(,)? )) => {
        $crate::error::CudaError::check(stringify!($name), ($table.$name)($( $argument ),*))
    };
}

pub mod context;
pub mod copy;
pub mod device;
pub mod driver;
pub mod event;
pub mod graph;
pub mod host;
pub mod ipc;
pub mod linear;
pub mod mem;
pub mod module;
pub mod nvml;
pub mod pointer;
pub mod pool;
pub mod stream;

/// A descriptor that the driver has just opened for us, with close-on-exec set.
fn owned_fd(call: &'static str, fd: c_int) -> Result<OwnedFd, CudaError> {
    if fd < 0 {
        return Err(CudaError::refused(call, format!("fd {fd}")));
    }
    // SAFETY: on success the driver opened the fd for us and keeps no claim to it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    // An fd that slips into a child keeps the memory alive there; drivers differ in what they set.
    rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::CLOEXEC)
        .map_err(|error| CudaError::refused(call, error.to_string()))?;
    Ok(fd)
}

/// Reads the text up to the first NUL of a buffer that C filled.
fn text(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).into_owned()
}
