//! The engine of elastic caches on a modelled card: what it promises, under failures, threads and
//! rules that are broken on purpose.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are tests too"
)]

mod ahead;
mod cap;
mod machine;
mod model;
mod mutations;
mod rules;
mod table;
mod threads;
