//! The whole pond at once, for the programs that show it to people: the page, the full-screen table,
//! the pictures, the metrics.
//!
//! All of them need the same reading (status, models, groups, caches, processes, tensors) and the same
//! sum: each GPU as a list of [`Segment`]s whose bytes add up to the card's. [`Collector::collect`] asks
//! the pond for the reading, and [`Card::new`] makes the sum, without I/O, a clock or a thread. [`History`]
//! keeps such sums for a day in bounded memory.
//!
//! The key decision: what the card has in use is the driver's word, what the pond holds is the pond's, and
//! a segment never claims more than is left of both. Books that exceed the card are a number of their own
//! ([`Card::excess_bytes`]) and never a segment, so that a picture is to scale whatever the books say. It was
//! refused to ask the daemon for a finished picture: what is shown changes more often than the protocol may.
//!
//! The structs serialize under the names of `--json`, because most of them are those of `millpond-view`.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod card;
mod collector;
pub mod history;
mod names;
mod overview;
mod readings;
#[cfg(test)]
mod samples;
mod tensors;

pub use card::{Card, DeviceParts, Segment, SegmentKind, SharedSlab};
pub use collector::{Collector, Options, connect_to_see};
pub use history::{History, Series};
pub use names::Names;
pub use overview::{GroupMembers, Overview, Sees};
pub use readings::{CardReader, Readings};
pub use tensors::{Selection, TensorGroup};
