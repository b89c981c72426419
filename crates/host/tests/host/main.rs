//! A real host process, on the driver that `MILLPOND_DRIVER` names, else on the software driver.
//!
//! Every test runs in a process of its own, with its own software devices: memory can be counted,
//! and tests may run side by side. On a card use `--test-threads=1`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "helpers of tests are tests too"
)]

mod ending;
mod holding;
mod sealing;
mod world;
