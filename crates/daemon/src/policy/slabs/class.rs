//! Which slabs are exchangeable, and which tensors share one.

use millpond_wire::{Audience, GpuUuid, TransportKind};

use crate::policy::owner::Owner;

/// What the driver hands out at the least, and in multiples of what.
pub(in crate::policy) const GRANULARITY: u64 = 2 << 20;
/// What a memory pool that can be shared takes at the least, and in multiples of what.
const POOL_GRANULARITY: u64 = 32 << 20;

/// How tensors are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(in crate::policy) enum SlabSize {
    /// Tensors under 1 MiB share 2 MiB.
    Small = 1,
    /// Tensors under 32 MiB share 64 MiB.
    Medium = 2,
    /// Larger ones get a slab of their own.
    Own = 3,
}

impl SlabSize {
    /// The size of the slab of a tensor.
    pub(in crate::policy) fn of(tensor_bytes: u64) -> Self {
        match tensor_bytes {
            0..0x10_0000 => SlabSize::Small,
            0x10_0000..0x200_0000 => SlabSize::Medium,
            _ => SlabSize::Own,
        }
    }

    /// The bytes of a slab for such a tensor.
    pub(in crate::policy) fn slab_bytes(self, tensor_bytes: u64) -> u64 {
        match self {
            SlabSize::Small => GRANULARITY,
            SlabSize::Medium => 64 << 20,
            SlabSize::Own => tensor_bytes.next_multiple_of(GRANULARITY),
        }
    }

    /// The size with this number.
    pub(in crate::policy) fn from_code(code: u8) -> Option<Self> {
        [SlabSize::Small, SlabSize::Medium, SlabSize::Own]
            .into_iter()
            .find(|size| *size as u8 == code)
    }
}

/// What slabs must have in common to be exchangeable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::policy) struct SlabClass {
    pub device: GpuUuid,
    pub owner: Owner,
    pub audience: Audience,
    pub size: SlabSize,
    pub transport: TransportKind,
}

impl SlabClass {
    /// The size of the slab of a tensor. Whoever opens a pool or a legacy handle has all that it
    /// shares, and both are memory that outsiders may have: only descriptors are packed.
    pub(in crate::policy) fn size_of(transport: TransportKind, tensor_bytes: u64) -> SlabSize {
        match transport {
            TransportKind::Vmm => SlabSize::of(tensor_bytes),
            _ => SlabSize::Own,
        }
    }

    /// The bytes of a slab for such a tensor.
    pub(in crate::policy) fn slab_bytes(&self, tensor_bytes: u64) -> u64 {
        match self.transport {
            TransportKind::Mempool => tensor_bytes.max(1).next_multiple_of(POOL_GRANULARITY),
            _ => self.size.slab_bytes(tensor_bytes.max(1)),
        }
    }

    /// Whether an empty slab may be used again. What a legacy handle was given out for never is.
    pub(in crate::policy) fn is_recyclable(&self) -> bool {
        matches!(self.transport, TransportKind::Vmm | TransportKind::Mempool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_are_as_large_as_their_tensors_need() {
        assert_eq!(SlabSize::of(1), SlabSize::Small);
        assert_eq!(SlabSize::of((1 << 20) - 1), SlabSize::Small);
        assert_eq!(SlabSize::of(1 << 20), SlabSize::Medium);
        assert_eq!(SlabSize::of((32 << 20) - 1), SlabSize::Medium);
        assert_eq!(SlabSize::of(32 << 20), SlabSize::Own);
        assert_eq!(SlabSize::Own.slab_bytes((32 << 20) + 1), 34 << 20);
        for size in [SlabSize::Small, SlabSize::Medium, SlabSize::Own] {
            assert_eq!(SlabSize::from_code(size as u8), Some(size));
        }
    }
}
