//! What a worker process is told and what it answers: one line of JSON each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a worker is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Open the driver, without a context; answered by [`Answer::Card`].
    OpenCard,
    /// Read the used bytes of the card that was opened; answered by [`Answer::Used`].
    ReadUsed,
    /// Read what one process uses of it; answered by [`Answer::Process`].
    ReadProcess {
        /// Which process.
        pid: u32,
    },
    /// Make a context on this GPU; answered by [`Answer::Done`].
    MakeContext {
        /// The GPU's UUID.
        device: String,
    },
    /// Make a tensor, write it, publish it and let go; answered by [`Answer::Done`].
    Write {
        /// Its name.
        name: String,
        /// Its bytes.
        bytes: u64,
        /// What the bytes are made from.
        seed: u64,
    },
    /// Map tensors read-only; answered by [`Answer::Times`], one for each.
    Map {
        /// Their names.
        names: Vec<String>,
    },
    /// Read all that is mapped; answered by [`Answer::Sums`], one for each.
    Check,
    /// Read on and on until told otherwise; answered by [`Answer::Done`] at once.
    Spin,
    /// Stop that; answered by [`Answer::Spun`].
    Rest,
    /// Unmap everything and tell the pond; answered by [`Answer::Done`].
    LetGo,
    /// Measure something for the bench; answered by [`Answer::Times`].
    Measure(Measure),
}

/// What a worker measures, and how often.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Map tensors and let go of all.
    Attach {
        /// Their names; a round is all of them.
        names: Vec<String>,
        /// One that stays mapped meanwhile.
        beside: Option<String>,
        /// How often.
        rounds: u32,
    },
    /// The same with the bare driver calls on the descriptors of the same slabs.
    AttachRaw {
        /// The GPU's UUID.
        device: String,
        /// The tensors' names.
        names: Vec<String>,
        /// How often.
        rounds: u32,
    },
    /// Publish one tensor again and again.
    Publish {
        /// How often.
        rounds: u32,
    },
    /// Make and map a tensor in a slab that is there and mapped.
    Create {
        /// Its bytes.
        bytes: u64,
        /// How often.
        rounds: u32,
    },
    /// Connect and say hello; the connections stay until the worker ends.
    Connect {
        /// How many.
        connections: u32,
    },
    /// The same, each with a lease.
    Hold {
        /// On this tensor.
        name: String,
        /// How many.
        clients: u32,
    },
    /// Wait until the daemon is gone, then have all of these connect and claim.
    Claim,
    /// Have the pond move bytes between a file and a tensor that has a slab of its own.
    Move(Move),
    /// The same with a bare pinned ring.
    MoveRaw {
        /// The GPU's UUID.
        device: String,
        /// What.
        what: Move,
    },
}

/// A move of all bytes of a tensor, several times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Move {
    /// The tensor's name.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The tensor's bytes.
    pub bytes: u64,
    /// From the file to the tensor, or back.
    pub put: bool,
    /// How often.
    pub rounds: u32,
}

/// What a worker answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is done.
    Done,
    /// The card.
    Card(Card),
    /// Bytes of the card that are in use, over all processes.
    Used(u64),
    /// Bytes of the card that one process uses; nothing where nobody says so.
    Process(Option<u64>),
    /// How long each took, in nanoseconds.
    Times(Vec<u64>),
    /// A checksum each.
    Sums(Vec<u64>),
    /// What happened while spinning.
    Spun(Spun),
    /// It did not work.
    Failed(String),
}

/// What is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Card {
    /// Whether it is the software driver.
    pub soft: bool,
    /// The driver's name and version.
    pub driver: String,
    /// The GPU's UUID.
    pub device: String,
    /// The GPU's name.
    pub name: String,
    /// The GPU's memory.
    pub total_bytes: u64,
    /// Who says how much is used: `NVML` or `cuMemGetInfo`.
    pub reading: String,
}

/// What a reader saw while it read on and on.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Spun {
    /// Reads.
    pub reads: u64,
    /// Those that gave other bytes than the first time.
    pub wrong: u64,
    /// Those that failed.
    pub failed: u64,
    /// The longest time from the end of one read to the end of the next, in nanoseconds.
    pub longest_pause_ns: u64,
}
