//! What the fuzz targets check, one module for each kind of input.
//!
//! A target is a line in `targets/` that calls a function of this crate with the fuzzer's bytes.
//! The key decision is that memory is part of the check: [`memory::within`] gives each input a
//! budget that grows with its length, because a decoder that turns 64 KiB into gigabytes neither
//! panics nor takes long, and a limit for the whole process would only see the worst of it.

#![forbid(unsafe_code)]

pub mod bytes;
pub mod checkpoint;
pub mod config;
pub mod hosts;
pub mod journal;
pub mod manifest;
pub mod memory;
pub mod messages;
pub mod movers;
pub mod npy;
pub mod planted;
pub mod policy;
pub mod requests;
pub mod world;
