//! What the card says about itself beside its memory.

use serde::{Deserialize, Serialize};

/// Readings of a card. What the driver does not say is nothing, never an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Readings {
    /// Part of the last sample in which a kernel ran, from 0 to 1.
    pub utilisation_ratio: Option<f64>,
    /// Part of the last sample in which memory was read or written, from 0 to 1.
    pub memory_utilisation_ratio: Option<f64>,
    /// Temperature of the GPU.
    pub temperature_celsius: Option<f64>,
    /// Power that the card takes.
    pub power_watts: Option<f64>,
    /// Power that it may take.
    pub power_limit_watts: Option<f64>,
    /// Intended speed of its fan, from 0 to 1 (some cards say more than 1).
    pub fan_ratio: Option<f64>,
}
