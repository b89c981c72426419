//! Memory limits for unmodified CUDA programs: the hooks that the preloaded library puts before
//! the driver's functions.
//!
//! The key decision: **memory is reserved in the group's ledger before the driver is asked for it**,
//! so no interleaving of processes passes the limit; and hooks are found **by the address** that the
//! driver itself answers, so versions and stream variants are always the driver's choice. Refused:
//! substitution by name (a program gets a function of another signature), check and then allocate
//! (two processes pass the limit together), and replacing memory by managed memory.
//!
//! It runs inside strangers' programs: no heap, no lock, no handler, no constructor, no exit, no
//! panic. Without a limit in the environment nothing is hooked.
//!
//! This crate exports no C symbol, so tools may link it; `library/` makes the shared library.

#![cfg_attr(not(test), no_std)]

mod account;
mod config_file;
pub mod coverage;
mod driver;
mod environment;
pub mod hooks;
mod list;
mod message;
mod refusal;
pub mod resolve;
mod settings;
mod state;
mod table;
mod twins;
pub mod types;

pub use config_file::{
    CONFIG_FILE_BYTES, CONFIG_FILE_NAME, ConfigFile, LIMIT_KEYS, NAME_KEYS, NotUnderstood, Problem,
    parse_config_file,
};
pub use driver::{Action, hooked_names};
pub use environment::{ENVIRONMENT, EnvironmentVariable, NOT_READ, NotRead};
pub use message::Level;

/// The version that `millpond_preload_version` answers.
pub const VERSION: &core::ffi::CStr =
    match core::ffi::CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes())
    {
        Ok(version) => version,
        Err(_) => c"",
    };
