//! Checkpoints, and how their bytes become a version: everything that needs no pond.
//!
//! A load is [`Checkpoint::open`], [`Plan::apply`], [`Layout::new`], then [`pieces::batches`] for
//! the moves and [`TensorHashes`] for the manifest. The key decision is that all of this runs in
//! the loader, a client: a hostile file is read by the program of the person who has it, and what
//! the daemon and the mover get are checked numbers. Nothing is allocated by what a file says
//! before what it says was compared with the file's size.

#![forbid(unsafe_code)]

pub mod checkpoint;
mod hashes;
pub mod header;
pub mod layout;
pub mod pieces;
pub mod plan;
pub mod ties;
pub mod writer;

pub use checkpoint::{Checkpoint, CheckpointError, OtherFormat, SourceFile, SourceTensor};
pub use hashes::{Hashes, MissingHash, TensorHashes, piece_count};
pub use layout::{DEFAULT_SLAB_BYTES, LaidTensor, Layout, LayoutError};
pub use plan::{Glob, Plan, PlanError, PlannedTensor};

/// A name from outside, fit to be printed.
fn shown(name: &str) -> String {
    const MOST: usize = 80;
    let mut text: String = name.chars().take(MOST).flat_map(char::escape_debug).collect();
    if name.chars().nth(MOST).is_some() {
        text.push('…');
    }
    text
}
