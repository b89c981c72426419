//! What a worker process is told and what it answers: one line of JSON each.

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
    ReadProcess { pid: u32 },
    /// Make a context on this GPU; answered by [`Answer::Done`].
    MakeContext { device: String },
    /// Make a tensor, write it, publish it and let go; answered by [`Answer::Done`].
    Write {
        name: String,
        bytes: u64,
        /// What the bytes are made from.
        seed: u64,
    },
    /// Map tensors read-only; answered by [`Answer::Times`], one for each.
    Map { names: Vec<String> },
    /// Read all that is mapped; answered by [`Answer::Sums`], one for each.
    Check,
    /// Read on and on until told otherwise; answered by [`Answer::Done`] at once.
    Spin,
    /// Stop that; answered by [`Answer::Spun`].
    Rest,
    /// Unmap everything and tell the pond; answered by [`Answer::Done`].
    LetGo,
    /// What the program adds to its workers; answered by [`Answer::Times`].
    Measure(serde_json::Value),
}

/// What a worker answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Done,
    Card(Card),
    /// Bytes of the card that are in use, over all processes.
    Used(u64),
    /// Bytes of the card that one process uses; nothing where nobody says so.
    Process(Option<u64>),
    /// How long each took, in nanoseconds.
    Times(Vec<u64>),
    Sums(Vec<u64>),
    /// What happened while spinning.
    Spun(Spun),
    /// It did not work.
    Failed(String),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Card {
    /// Whether it is the software driver.
    pub soft: bool,
    /// The driver's name and version.
    pub driver: String,
    pub device: String,
    pub name: String,
    pub total_bytes: u64,
    /// Who says how much is used: `NVML` or `cuMemGetInfo`.
    pub reading: String,
}

/// What a reader saw while it read on and on.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Spun {
    pub reads: u64,
    /// Those that gave other bytes than the first time.
    pub wrong: u64,
    pub failed: u64,
    /// The longest time from the end of one read to the end of the next, in nanoseconds.
    pub longest_pause_ns: u64,
}
