//! A software CUDA driver: the calls of `libcuda.so.1` and `libnvidia-ml.so.1` on host memory.
//!
//! It lets a program that uses CUDA's memory calls run and be tested where there is no GPU, through
//! the same code. It keeps the *semantics* that such programs rely on: physical memory that lives
//! outside of processes and dies with its last holder, handles that travel as file descriptors,
//! reservations, mappings and access rights, streams that run on their own, and faults that lose a
//! context. It runs no kernels, but for one that reads, waits and writes.
//!
//! The key decision: **physical memory is a file, and a lock on its open file description is its
//! life.** The kernel then does the hard part. The lock follows `dup`, `SCM_RIGHTS` and mappings,
//! and ends with the last of them, also when every holder is killed with -9. A central server was
//! refused: it would have to notice deaths, and could die itself.
//!
//! Three parts: the engine (state, no C types), [`bridge`] (the C functions, one file per family) and
//! [`profiles`] (what a device claims to be). Link it and use [`PROVIDER`], or put the two shared
//! libraries on `LD_LIBRARY_PATH`: see `docs/software-driver.md`, and `docs/driver-differences.md`
//! for what a real card does otherwise.

pub mod bridge;
pub mod config;
mod engine;
pub mod faults;
pub mod meter;
pub mod profiles;
pub mod readings;

pub use config::{Config, ConfigError, ENVIRONMENT, EnvironmentVariable, configuration};
pub use engine::refusal;
pub use profiles::{MARK, is_software};

/// The driver as a part of this program: no shared library needed.
pub static PROVIDER: millpond_cuda::sys::Provider = millpond_cuda::sys::Provider {
    name: "soft",
    cuda_symbol: bridge::cuda_symbol,
    nvml_symbol: bridge::nvml_symbol,
};
