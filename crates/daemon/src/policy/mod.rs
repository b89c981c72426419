//! The brain: what a pond does, as pure code over [`Ports`].
//!
//! One [`Pond`] routes what happens to handlers and holds the components that own all state; it
//! answers through the ports. Nothing in here knows a socket, a file or a driver.

mod about;
mod account_check;
mod account_list;
mod accounts;
mod adopt;
mod answer;
mod borrowers;
mod caches;
mod caps;
mod catalog;
mod clients;
mod complaints;
mod create;
mod delete;
mod events;
mod get;
mod gpus;
mod groups;
mod hello;
mod holds;
mod hosts;
mod identity;
mod keeper_room;
mod leases;
mod leaving;
mod life;
mod listing;
mod make_slab;
mod models;
mod movers;
mod owner;
mod parked;
mod pond;
mod ports;
mod process;
mod public;
mod publish;
mod recovery;
mod release;
mod rename;
mod slabs;
#[cfg(test)]
mod tests;
mod tick;
mod tokens;
mod turns;
mod unfreed;

pub use accounts::Device;
pub use caps::Caps;
pub use gpus::DriverState;
pub use groups::{GroupAsk, GroupCaller, GroupReading, GroupWork, OwnedGroups};
pub use movers::MoverLimits;
pub use owner::{Caller, Door, LOCAL_TENANT, Owner};
pub use pond::Pond;
pub use ports::{
    ConnId, DriverFailure, Held, HoldError, HolderSeen, KeeperRoom, OverLimit, PortError, Ports,
};
pub use process::Process;
pub use public::PublicWriter;
pub use recovery::Recovered;
pub use turns::{LONG, entries, in_order};
