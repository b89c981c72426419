//! What the pond's account book says.

use std::fmt;

use millpond_wire::message::Status;

use crate::units;

/// The part of a status that must come back to what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Bytes taken from the GPU.
    pub slab_bytes: u64,
    pub tensor_bytes: u64,
    pub tensors: u64,
    pub leases: u64,
}

impl Account {
    /// Of all GPUs together.
    pub fn of(status: &Status) -> Self {
        let devices = || status.devices.iter();
        Self {
            slab_bytes: devices().map(|device| device.slab_bytes).sum(),
            tensor_bytes: devices().map(|device| device.tensor_bytes).sum(),
            tensors: devices().map(|device| u64::from(device.tensors)).sum(),
            leases: u64::from(status.leases),
        }
    }

    pub const EMPTY: Self = Self { slab_bytes: 0, tensor_bytes: 0, tensors: 0, leases: 0 };

    /// The same with fewer leases.
    pub fn without_leases(self, leases: u64) -> Self {
        Self { leases: self.leases.saturating_sub(leases), ..self }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in slabs, {}, {}",
            units::bytes(self.slab_bytes),
            units::count(self.tensors, "tensor"),
            units::count(self.leases, "lease"),
        )
    }
}
