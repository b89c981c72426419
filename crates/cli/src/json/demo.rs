//! What the demo saw, as JSON.

use serde::Serialize;

/// `demo`: one object. What was not measured is `null`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DemoJson {
    /// Whether every claim was seen to be true.
    pub ok: bool,
    /// Name and version of the driver.
    pub driver: String,
    pub software_driver: bool,
    pub device: String,
    pub device_name: String,
    /// Who read the driver's used bytes: `NVML` or `cuMemGetInfo`.
    pub reading: String,
    pub workers: u64,
    pub tensors: u64,
    pub bytes: u64,
    /// Bytes that the pond took from the GPU for them.
    pub slab_bytes: Option<u64>,
    /// What the driver's used bytes grew by for the tensors, with every worker mapping them; the
    /// workers' contexts are not in it.
    pub physical_bytes: Option<u64>,
    /// What the driver's used bytes grew by while the workers mapped.
    pub mapping_bytes: Option<u64>,
    /// What the driver's used bytes grew by for the context of one worker.
    pub context_bytes: Option<u64>,
    /// `physical_bytes` over `slab_bytes`: how many copies there are. Must be 1.
    pub copies: Option<f64>,
    /// What was killed with -9 without any claim becoming false.
    pub kills_survived: Vec<&'static str>,
    /// Bytes of the tensors that were not what had been written, at the last look.
    pub lost_bytes: Option<u64>,
    /// What the driver's used bytes are more than before the pond was started.
    pub leaked_bytes: Option<u64>,
    pub times: DemoTimes,
    /// Every claim and whether it was true.
    pub claims: Vec<ClaimJson>,
    /// The pond's folder, where `--keep` left it.
    pub kept: Option<String>,
}

/// Times of the demo.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DemoTimes {
    /// From the start of `serve` to its first answer with a driver that is ready.
    pub start_ms: Option<f64>,
    /// Mapping the largest tensor: median of the workers.
    pub attach_us: Option<f64>,
    /// Mapping any tensor: the slowest of all.
    pub attach_slowest_us: Option<f64>,
    /// From the kill of a worker until the pond showed it as silent or gone.
    pub worker_noticed_ms: Option<f64>,
    /// From the kill of a worker until its leases had ended.
    pub worker_leases_ended_ms: Option<f64>,
    /// From the kill of the daemon until the next answer.
    pub daemon_recovery_ms: Option<f64>,
    /// The longest pause of a worker that read on and on meanwhile.
    pub daemon_reader_pause_ms: Option<f64>,
    /// From the kill of the keeper until the next answer of the daemon.
    pub keeper_answer_ms: Option<f64>,
    /// From the kill of the keeper until there was a new one.
    pub keeper_recovery_ms: Option<f64>,
    /// The longest pause of a worker that read on and on meanwhile.
    pub keeper_reader_pause_ms: Option<f64>,
    /// From a second kill of the daemon, under the new keeper, until the next answer.
    pub second_daemon_recovery_ms: Option<f64>,
    /// From SIGTERM until both processes of the pond were gone.
    pub stop_ms: Option<f64>,
    pub total_ms: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ClaimJson {
    pub claim: String,
    /// Whether it was seen to be true.
    pub ok: bool,
}
