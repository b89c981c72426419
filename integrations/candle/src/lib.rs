//! Elastic memory of Millpond as tensors of Candle, under the names of the crate `candle-cuda-vmm`.
//!
//! A [`VirtualMemoryPool`] is a range of device addresses that never moves, under which pages come
//! and go. [`VirtualMemoryPool::tensor`] makes a part of it a [`candle_core::Tensor`], so that a KV
//! cache grows in place while Candle computes over it.
//!
//! ```no_run
//! use candle_cuda_vmm::{VirtualMemoryPool, Result};
//! use candle_core::Device;
//!
//! fn main() -> Result<()> {
//!     let device = Device::new_cuda(0)?;
//!
//!     // Create a pool with 128GB virtual capacity, 2MB pages
//!     let mut pool = VirtualMemoryPool::new(
//!         128 * 1024 * 1024 * 1024, // 128GB virtual
//!         2 * 1024 * 1024,          // 2MB pages
//!         device,
//!     )?;
//!
//!     // Allocate 1GB of physical memory on-demand
//!     let addr = pool.allocate(0, 1024 * 1024 * 1024)?;
//!     println!("Allocated at virtual address: 0x{:x}", addr);
//!
//!     // Physical memory usage: ~1GB
//!     println!("Physical usage: {} bytes", pool.physical_memory_usage());
//!
//!     // Deallocate when done
//!     pool.deallocate(0, 1024 * 1024 * 1024)?;
//!
//!     Ok(())
//! }
//! ```
//!
//! The engine is `millpond-elastic`. With the feature `candle`, which is on by default, [`Device`] is
//! Candle's, Candle's errors turn into [`VmmError`], and pools have tensors. Without it [`Device`] is this
//! crate's, and nothing needs a CUDA toolkit.
//!
//! # The key decision: who frees
//!
//! Candle frees the memory of a tensor with its last clone, by `cuMemFreeAsync`. The driver refuses
//! an address of a pool there, and cudarc reports that refusal at some later call of Candle. Candle
//! does not look the function up: the linker binds its name. So this crate defines that symbol, and
//! `cuMemFree_v2` beside it, in front of the driver's. The definition looks whether a tensor of a pool
//! begins at the address. If so, that tensor is gone, and nothing is freed. Everything else goes on to
//! the driver.
//!
//! So it makes no difference how often a tensor was cloned, narrowed or reshaped, which thread drops
//! the last of these, and whether the pool is still there:
//!
//! - a part of a pool under a tensor is not deallocated: that is an error, [`VmmError::InUse`];
//! - the pages live as long as the pool or a tensor over it, and go with the last of them;
//! - dropping a tensor is never an error of the driver, and leaves nothing behind.
//!
//! The first [`VirtualMemoryPool::tensor`] of a process shows that Candle's calls arrive here. Where
//! they do not, it is an error, [`VmmError::FreesElsewhere`], and no tensor is made.
//!
//! # What was refused
//!
//! - An anchor: the pool keeps a clone of each tensor, so that Candle never frees, and forgets it at
//!   the end. Candle does not tell how many clones there are, so the pool could not say when a part
//!   is unused, and each tensor would leak its storage, its events and a use of the context.
//! - A wrapper that derefs to a tensor and frees with its own drop: `clone`, `narrow` and every other
//!   operation of Candle answer a plain tensor, which may live longer.
//! - Letting the call fail, and clearing the error: it hides errors of others, and another thread can
//!   meet it first.
//! - A fork of cudarc with memory that is not freed: every program would have to build with it.

#![deny(unsafe_code)]
#![deny(missing_docs)]

#[allow(unsafe_code, reason = "raw calls of the driver")]
pub mod cuda_ffi;
#[cfg_attr(feature = "candle", path = "candle_device.rs")]
mod device;
mod driver;
pub mod error;
#[cfg(feature = "candle")]
#[allow(unsafe_code, reason = "in front of functions of the driver")]
mod frees;
#[cfg(feature = "candle")]
mod in_use;
#[allow(unsafe_code, reason = "raw addresses")]
pub mod mapping;
#[allow(unsafe_code, reason = "raw handles")]
pub mod physical_memory;
#[cfg(feature = "candle")]
mod shape;
mod shared_memory;
#[cfg(feature = "candle")]
#[allow(unsafe_code, reason = "tensors over raw addresses")]
mod tensor;
pub mod virtual_memory;

pub use cuda_ffi::AccessFlags;
pub use device::Device;
pub use error::{Result, VmmError};
pub use mapping::{VirtualAddressRange, map_memory, set_memory_access, unmap_memory};
pub use physical_memory::PhysicalMemoryHandle;
pub use virtual_memory::{GlobalMemoryStats, MemoryStats, SharedMemoryPool, VirtualMemoryPool};

#[cfg(all(doctest, feature = "candle"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Whether there is a driver whose first device has virtual memory management. Without a driver it is
/// false.
#[must_use]
pub fn is_vmm_supported() -> bool {
    driver::device(0).is_ok() && cuda_ffi::get_recommended_granularity(0).is_ok()
}

#[cfg(not(target_pointer_width = "64"))]
compile_error!("sizes of a device do not fit into less than 64 bits");

/// Counts are `u64` in the engine and `usize` here; both have 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "other pointer widths do not compile")]
pub(crate) const fn index(count: u64) -> usize {
    count as usize
}
