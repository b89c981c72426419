//! Whether memory may be made: the arithmetic of every limit, keyed by payer.
//!
//! A payer is a group, or a user for whom no group pays. Every slab is on the account of one payer,
//! and every question about more memory is answered here: [`Room`] knows what the pond may take of a
//! card and what it can give back first, [`Charges`] who pays for which slab, [`Card`] what groups
//! leave to each other, [`drift`] whether a process holds what it says.
//!
//! The key decision: a group's ledger has the last word, because its members take from the same
//! limit without asking anybody. [`Charges`] asks for a charge through [`Ledgers`], records what the
//! ledger answers, and counts anew what a death has left between the two. A copy of the ledger's
//! numbers was refused: it would be wrong whenever a member allocates.
//!
//! Nothing in here reads a clock, a file or a card, takes a lock or starts a thread: the policy, the
//! book thread and the kill harness run the same code.

mod charges;
pub mod drift;
mod payer;
pub mod pressure;
mod room;
mod share;
mod tally;

pub use charges::{Charges, FIRST_READING_MS, Ledgers, Refusal, Refused};
pub use payer::{Payer, Payers};
pub use room::{Room, Verdict};
pub use share::{Card, STEP, Share, TooManyPromises, fits};
pub use tally::{Holding, Tally, holders};
