//! What every driver must do: one body of tests for the real driver and the software driver.
//!
//! The driver under test is named by `MILLPOND_DRIVER` (`soft` unless set). The executable needs
//! nothing but itself, so it can be carried to a machine with a GPU and without Rust:
//!
//! ```text
//! MILLPOND_DRIVER=cuda ./conformance --test-threads=1
//! ```
//!
//! Where NVIDIA's answer is known (measured, `gpu-facts`) the assertion is exact. Where it is not,
//! the test asserts what matters and prints a line `observed: what -> code`, so that each run on a
//! card teaches something. Nothing is skipped silently: [`support::skip`] counts and prints.
//!
//! Tests that lose a context, that need other processes or that kill one run this same executable
//! again with a role; see [`child`]. Tests that could spoil the ones behind them run in a process of
//! their own altogether; see [`alone`].

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

mod addresses;
mod alone;
mod arrays;
mod asked_above;
mod capture;
mod child;
mod contexts;
mod devices;
mod extra;
mod faults;
mod graphs;
mod ipc;
mod launches;
mod lifetime;
mod lookup;
mod managed;
mod mapped_ranges;
mod mapping;
mod modules;
mod nvml;
mod own_contexts;
mod physical;
mod pinned;
mod pools;
mod processes;
mod shared_events;
mod shared_pools;
mod streams;
mod support;
mod threads;
