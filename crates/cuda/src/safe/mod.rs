//! The upper layer: values that own what they stand for and give it back when dropped.
//!
//! Lifetimes are kept by counting, not by borrowing: a [`Stream`] holds its [`Context`], a
//! [`Mapping`] its [`AddressRange`] and context, so values may be stored and sent as one likes.
//! A [`Drop`] that fails is logged and otherwise ignored; where failing matters there is a method
//! that returns it, such as [`Mapping::unmap`].

mod allocation;
mod broken;
mod capture;
mod choice;
mod context;
mod device;
mod driver;
mod event;
mod fill_graph;
mod linear;
mod mapped_range;
mod mapping;
mod module;
mod nvml;
mod opened;
mod pending;
mod pinned;
mod pointer;
mod pool;
mod range;
pub mod share;
mod shared_pool;
mod span;
mod stream;
mod stream_buffer;
mod touch;
mod uuid;

pub use allocation::{Allocation, AllocationInfo, Granularity};
pub use broken::broken_driver;
pub use capture::CaptureModeGuard;
pub use choice::DriverChoice;
pub use context::{Context, ContextGuard, MemoryInfo, PrimaryState};
pub use device::{Device, DeviceAttribute};
pub use driver::{Driver, DriverKind, DriverVersion};
pub use event::Event;
pub use fill_graph::FillGraph;
pub use linear::LinearMemory;
pub use mapped_range::MappedRange;
pub use mapping::{Access, Mapping};
pub use module::{Function, LaunchConfig, Module};
pub use nvml::{Nvml, NvmlBusy, NvmlDevice, NvmlMemoryInfo, NvmlProcess};
pub use opened::{IpcEvent, OpenedMemory};
pub use pending::PendingCopy;
pub use pinned::{HostPages, PinnedBuffer};
pub use pointer::DevicePtr;
pub use pool::MemoryPool;
pub use range::AddressRange;
pub use share::{ForeignMemory, MemoryKind, MemoryRange};
pub use shared_pool::{PoolMemory, SharedPool};
pub use span::DeviceSpan;
pub use stream::Stream;
pub use stream_buffer::StreamBuffer;
pub use touch::TouchKernel;
pub use uuid::{DeviceUuid, ParseUuidError};

use crate::error::CudaError;
use crate::sys::Status;

/// Logs what a destructor could not return. At the end of a process the driver is gone first, and
/// in a lost context everything fails: neither is news.
fn report_drop(result: Result<(), CudaError>) {
    if let Err(error) = result {
        if error.status == Status::DEINITIALIZED || error.is_sticky() {
            tracing::debug!(%error, "not given back to the driver");
        } else {
            tracing::warn!(%error, "not given back to the driver");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_may_move_between_threads() {
        fn check<T: Send + Sync>() {}
        check::<(Driver, Device, Context, Allocation, AddressRange, Mapping, LinearMemory)>();
        check::<(Stream, Event, Module, Function, TouchKernel, PinnedBuffer, PendingCopy, HostPages)>(
        );
        check::<(Nvml, NvmlDevice, MemoryPool, MappedRange)>();
        check::<(OpenedMemory, IpcEvent, SharedPool, PoolMemory, ForeignMemory, DeviceSpan<'_>)>();
    }
}
