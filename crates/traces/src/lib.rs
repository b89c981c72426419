//! What elastic caches are worth: traces of requests to several models on one card, played with the
//! memory divided in different ways.
//!
//! - A **trace** is a list of requests over time, made from a seed or read from a file.
//! - A **simulation** plays it on a clock that nobody waits for. Elastic memory is the real code of
//!   `millpond-elastic` over a modelled card, whose calls cost what they cost on an H200.
//! - A **replay** plays it in real time, with the real caches of a pond and the memory of its driver.
//!
//! # The key decision
//!
//! One scheduler plays all of them, and knows of memory only what [`Memory`] says. So ways to divide
//! memory differ in nothing else, and what a replay measures is what a simulation claims. Speeds of
//! models are constant: time that is lost is lost for want of memory.
//!
//! Everything in a simulation is counted in whole nanoseconds and bytes, and chance is made of
//! additions, multiplications and divisions, so a result is the same on every machine, and the page that
//! shows it is compared with a new run.
//!
//! # What was refused
//!
//! - A model of batches: tokens a second for each request would depend on who else runs, and a way that
//!   admits more would be charged for it by numbers that are guesses.
//! - Times of served requests only: a way that refuses many would look fast. A refused request counts
//!   with the time that it waited at most.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod args;
pub mod arrivals;
pub mod card;
pub mod cell;
pub mod chance;
pub mod commands;
pub mod counted;
pub mod elastic;
pub mod engine;
pub mod error;
pub mod memory;
pub mod model;
pub mod outcome;
pub mod pace;
pub mod picture;
pub mod replay;
pub mod report;
pub mod svg;
pub mod sweep;
pub mod timeline;
pub mod trace;
pub mod way;

pub use error::TraceError;
pub use memory::Memory;
pub use trace::{Request, Trace};
pub use way::Way;

#[cfg(test)]
mod rules;
