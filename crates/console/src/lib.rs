//! How the programs of Millpond speak to people: global flags, help, tables, errors, exit codes.
//!
//! The `millpond` command and its companion programs share this, so that a command looks the same
//! wherever it lives. What a single command prints stays with the command.

pub mod args;
pub mod companions;
mod connect;
pub mod error;
pub mod exit;
mod json;
pub mod layout;
mod log;
pub mod printer;
pub mod shown;
mod styles;
pub mod table;
pub mod usage;
pub mod users;

pub use connect::connect;
pub use log::log_everything;
pub use styles::STYLES;
