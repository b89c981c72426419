//! What the bench measured, as JSON.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct BenchJson {
    /// Name and version of the driver.
    pub driver: String,
    pub software_driver: bool,
    pub device: String,
    pub device_name: String,
    /// Whether fewer rounds were made.
    pub quick: bool,
    /// One for each number.
    pub rows: Vec<RowJson>,
    /// Whether no goal was missed.
    pub met: bool,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Microseconds,
    PerSecond,
    GigabytesPerSecond,
    Bytes,
}

/// One number beside its limit.
#[derive(Clone, Debug, Serialize)]
pub struct RowJson {
    /// A stable name, as in `request/ping`.
    pub name: &'static str,
    pub what: String,
    /// What the numbers count.
    pub unit: Unit,
    /// How many were measured.
    pub rounds: u64,
    /// Half of them were better.
    pub median: f64,
    /// 9 of 10 were better, where there are enough to say so.
    pub p90: Option<f64>,
    /// 99 of 100 were better, where there are enough to say so.
    pub p99: Option<f64>,
    /// The limit of this machine, measured in the same run.
    pub floor: Option<f64>,
    /// What the limit is.
    pub floor_what: Option<&'static str>,
    pub ratio: Option<f64>,
    /// What it should be, in words.
    pub goal: Option<String>,
    /// The same in numbers: the stricter one where there are two.
    pub goal_value: Option<f64>,
    /// Whether it is; `null` where there is no goal, or where it is one for a real GPU only.
    pub met: Option<bool>,
}
