//! What a client of Millpond decides: when to connect, what to claim, what to send again, which
//! leases to give back.
//!
//! The crate knows no socket, no thread, no clock and no driver. A driver above it owns those: it
//! tells a [`Session`] what happened and at what time, and does what the answers say. The blocking
//! client is one driver; the simulation, which kills everything around it by seed, is another.
//!
//! A request is a [`Call`] that its caller owns. [`Call::next`] says what the caller has to do:
//! connect, send, wait for a reply, pause, or take the answer. State that callers share is in the
//! session. Requests are not queued inside: whoever asks also sends, so a round trip costs one send
//! and one receive.

#![forbid(unsafe_code)]

mod backoff;
mod call;
mod dial;
mod duty;
mod handshake;
mod identity;
mod leases;
mod mutation;
mod retire;
mod session;
#[cfg(test)]
mod tests;

pub use backoff::Backoff;
pub use call::{Ask, Call, End, Ended, Next, Verdict, wait_ms};
pub use dial::{Attempt, Dial, Retry};
pub use duty::Duty;
pub use handshake::{HELLO, Handshake, Progress, Refusal};
pub use identity::Identity;
pub use leases::{Leases, Lost};
pub use mutation::Mutation;
pub use retire::Retiring;
pub use session::{Answer, Arrival, Received, Session, Way};
