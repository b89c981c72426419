//! The pond's own account book, as far as a kill must not change it.

use millpond::Status;

/// What must be the same before and after any death.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accounts {
    /// Bytes of slabs, of all GPUs.
    pub slab_bytes: u64,
    pub tensor_bytes: u64,
    /// Bytes of slabs without a tensor.
    pub recycled_bytes: u64,
    pub slabs: u32,
    pub tensors: u32,
    pub leases: u32,
    pub lost: u32,
}

impl From<&Status> for Accounts {
    fn from(status: &Status) -> Self {
        let devices = &status.devices;
        Self {
            slab_bytes: devices.iter().map(|device| device.slab_bytes).sum(),
            tensor_bytes: devices.iter().map(|device| device.tensor_bytes).sum(),
            recycled_bytes: devices.iter().map(|device| device.recycled_bytes).sum(),
            slabs: devices.iter().map(|device| device.slabs).sum(),
            tensors: devices.iter().map(|device| device.tensors).sum(),
            leases: status.leases,
            lost: status.lost_tensors,
        }
    }
}
