//! The harness of the end-to-end tests: real ponds, real processes, real kills.
//!
//! A [`TestPond`] is a `millpond serve` of its own. The test's process itself never opens a driver:
//! whatever maps memory is a [`Worker`], that is a `pondtool` process that does what it is told
//! line by line. So one test executable can have many ponds on the software driver at once, each
//! with devices of its own, and the same executables run on a GPU machine without Rust:
//!
//! ```text
//! MILLPOND_BIN=./millpond PONDTOOL=./pondtool MILLPOND_DRIVER=cuda ./kills
//! ```
//!
//! Without `MILLPOND_DRIVER` the software driver is used. On a card there is one pond per GPU, so
//! ponds of one executable wait for each other there.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are tests too"
)]

pub mod accounts;
pub mod binaries;
mod budget;
mod chance;
pub mod checkpoint;
mod command;
pub mod content;
pub mod desk;
pub mod driver;
mod folder;
pub mod market;
pub mod namespace;
mod options;
pub mod place;
mod pond;
pub mod process;
pub mod raw;
mod rest;
pub mod stderr;
pub mod storm;
mod tenant;
pub mod tool;
mod town;
mod wait;
mod worker;

pub use accounts::Accounts;
pub use budget::{Budget, Preload, uuid};
pub use chance::Chance;
pub use command::Said;
pub use driver::{Kind, driver, is_soft};
pub use folder::Folder;
pub use market::Market;
pub use options::Options;
pub use place::Place;
pub use pond::TestPond;
pub use process::Process;
pub use raw::Raw;
pub use rest::Rest;
pub use stderr::Stderr;
pub use tenant::Tenant;
pub use town::{Citizen, Town};
pub use wait::{PATIENCE, eventually, eventually_equal, say, skip};
pub use worker::Worker;
