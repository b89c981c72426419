//! Where memory is: on a device, in the host's memory, or managed.

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
    /// The locations of host memory: any node, a node by number, the calling thread's node.
    pub const HOST_KINDS: std::ops::RangeInclusive<u32> = 2..=4;

    /// Whether it is a part of host memory.
    #[must_use]
    pub fn is_host(self) -> bool {
        Self::HOST_KINDS.contains(&self.kind)
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
}
