//! Checkpoints into the pond and out of it: loading, verifying and saving versions of models.
//!
//! The loader reads headers, checks them and makes the layout itself, so that what a hostile file
//! says never reaches the daemon or a mover. It hands over descriptors and numbers; the mover
//! reads the bytes, hashes each piece while it is in its buffer and copies it to the GPU. No byte
//! of a tensor is ever in this process, so a load needs no driver and little memory.
//!
//! A load is in one of three states for everybody else: not there, staging, complete. Whatever
//! ends it before the commit, also the end of this process, gives all of its memory back.

mod calls;
pub(crate) mod contents;
mod files;
mod hold;
mod hub;
mod like;
mod load;
mod residency;
mod save;
mod spec;
mod stop;
mod teller;
#[cfg(test)]
mod tests;
mod ties;
mod unfinished;
mod verify;

pub use self::save::{SaveOptions, Saved};
pub use self::spec::{Like, LoadPhase, LoadProgress, LoadSpec, Loaded, Unshared, UnsharedWhy};
pub use self::stop::GoOn;
pub use self::unfinished::temporary_name;
pub use self::verify::Verified;
