//! Where memory is: on a device, in the host's memory, or managed.

use millpond_cuda::sys::constants;

use super::address::{Access, AccessList};
use crate::config::MAX_DEVICES;

/// `CUmemLocation` with numbers where the binding has closed enums.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// `CUmemLocationType`.
    pub kind: u32,
    /// A device's ordinal or a NUMA node.
    pub id: i32,
}

impl Location {
    /// Whether it is host memory: of any node, of a node by number, or of the calling thread's.
    #[must_use]
    pub fn is_host(self) -> bool {
        matches!(
            self.kind,
            constants::LOCATION_HOST
                | constants::LOCATION_HOST_NUMA
                | constants::LOCATION_HOST_NUMA_CURRENT
        )
    }
}

/// How memory can be reached, and what is charged for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    /// Device memory.
    #[default]
    Device,
    /// Pinned host memory: reachable by the host and every device, charged to no device.
    Host,
    /// Managed memory: reachable likewise, charged to its device.
    Managed,
}

impl Home {
    /// Whether the host may use its addresses.
    #[must_use]
    pub fn is_open_to_host(self) -> bool {
        self != Self::Device
    }

    /// What devices may do with new memory of a device: all of them, or that device alone.
    #[must_use]
    pub fn access(self, device: usize) -> AccessList {
        if self.is_open_to_host() {
            return [Access::ReadWrite; MAX_DEVICES];
        }
        let mut access = [Access::None; MAX_DEVICES];
        if let Some(own) = access.get_mut(device) {
            *own = Access::ReadWrite;
        }
        access
    }
}
