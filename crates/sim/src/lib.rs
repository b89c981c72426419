//! Keeper, daemon and clients in one process, over simulated sockets, journal, driver and clock,
//! under a scheduler that does what its seed says and kills anybody at any step.
//!
//! The key decision is what is real: the policy ([`millpond_daemon::policy::Pond`]), the budget
//! ([`millpond_daemon::budget`]), the ledger's arithmetic, the bytes of requests, replies, records,
//! journal frames and keeper messages. Simulated is what has an effect: processes, sockets, memory,
//! files, the driver, time. The same seed gives the same schedule, step by
//! step, so a failure is a number.
//!
//! A schedule ends with everything coming to rest and every invariant checked, and then with
//! everybody gone and everything deleted, when nothing may be left. That the checks can fail is
//! checked too: each [`Mutation`] breaks one rule, and must be noticed.

#![forbid(unsafe_code)]

mod book;
mod caches;
mod card;
mod checks;
mod client;
mod clients;
mod daemon;
mod driver_thread;
mod groups;
mod holders;
mod homes;
mod hosts;
mod keeper;
mod kills;
mod ledger;
mod legacy;
mod movers;
mod mutation;
mod oracle;
mod ports;
mod pressure;
mod rng;
pub mod run;
mod settle;
mod shelf;
mod sleepers;
mod socket;
mod thieves;
mod threads;
mod tools;
mod trace;
mod versions;
mod world;

pub use mutation::Mutation;
pub use oracle::Violation;
