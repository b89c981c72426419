//! The stream-ordered pool over a modelled card, which notices every broken promise.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are tests too"
)]

mod captures;
mod faults;
mod gate;
mod ground;
mod ladder;
mod machine;
mod model;
mod mutations;
mod pictures;
mod rules;
mod schedules;
mod support;
mod threads;
