//! What the bench measured, as JSON.

use serde::Serialize;

/// `bench`.
#[derive(Debug, Serialize)]
pub struct BenchJson {
    /// Name and version of the driver.
    pub driver: String,
    /// Whether that is the software driver.
    pub software_driver: bool,
    /// The GPU's UUID.
    pub device: String,
    /// The GPU's name.
    pub device_name: String,
    /// Whether fewer rounds were made.
    pub quick: bool,
    /// Bytes of the tensor that was attached.
    pub attach_bytes: u64,
    /// Times, each beside its raw limit of the same run.
    pub timings: Vec<TimingJson>,
    /// Memory, in bytes.
    pub memory: Vec<MemoryJson>,
    /// Whether no goal was missed.
    pub ok: bool,
}

/// One time.
#[derive(Clone, Debug, Serialize)]
pub struct TimingJson {
    /// A stable name.
    pub name: &'static str,
    /// In words.
    pub what: String,
    /// How many were measured.
    pub rounds: u64,
    /// Half of them were faster.
    pub median_us: f64,
    /// Nine of ten were faster.
    pub p90_us: f64,
    /// The limit of this machine, measured in the same run.
    pub raw_median_us: Option<f64>,
    /// Nine of ten of these were faster.
    pub raw_p90_us: Option<f64>,
    /// `median_us` over `raw_median_us`.
    pub ratio: Option<f64>,
    /// What it should be, in words.
    pub goal: String,
    /// Whether it is.
    pub ok: bool,
}

/// One size.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryJson {
    /// A stable name.
    pub name: &'static str,
    /// In words, with how it was read.
    pub what: String,
    /// `null` where nobody says.
    pub bytes: Option<u64>,
    /// What it should be at most.
    pub goal_bytes: Option<u64>,
    /// Whether it is; true where there is no goal.
    pub ok: bool,
}
