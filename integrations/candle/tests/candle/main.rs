//! Tensors over pools, on a card. What only moves bytes runs on the software driver too.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod card;
mod compute;
mod drops;
mod raw;
mod refused;
mod seed;
mod shared;
