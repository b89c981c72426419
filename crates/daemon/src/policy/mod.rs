//! The brain: what a pond does, as pure code over [`Ports`].
//!
//! One [`Pond`] owns all state; the event loop tells it what happened and it answers through the
//! ports. Nothing in here knows a socket, a file or a driver.

mod accounts;
mod catalog;
mod clients;
mod collect;
mod complaints;
mod create;
mod delete;
mod ended;
mod events;
mod get;
mod groups;
mod hello;
mod life;
mod limits;
mod listing;
mod listings;
mod models;
mod movers;
mod owner;
mod pond;
mod ports;
mod publish;
mod ranges;
mod recovery;
mod release;
mod rename;
mod slabs;
#[cfg(test)]
mod tests;
mod tokens;
mod unfreed;
pub(crate) mod words;

pub use accounts::Device;
pub use groups::{GroupAsk, GroupCaller, GroupReading, GroupWork};
pub use listing::in_order;
pub use movers::MoverLimits;
pub use owner::{Caller, Owner};
pub use pond::{DriverState, Limits, Pond};
pub use ports::{ConnId, DriverFailure, Held, OverLimit, PortError, Ports};
pub use recovery::Recovered;
