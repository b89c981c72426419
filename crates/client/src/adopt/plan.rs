//! How memory of this process can be shared, if at all: decided from what the driver says about it.

use millpond_cuda::{Access, DevicePtr, MemoryKind, MemoryRange};
use millpond_wire::Audience;

use super::refusal::AdoptRefusal;

/// The driver hands out memory in pieces of this size: what is smaller shares its piece with other
/// memory of the process, and what is left of a piece belongs to nobody.
const PIECE: u64 = 2 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A descriptor of the handle that is mapped.
    Virtual,
    /// A descriptor of the pool, and the name of the allocation.
    Pool,
    /// The handle of the allocation.
    Linear,
}

/// How, and which part of what is shared the tensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) way: Way,
    pub(super) base: DevicePtr,
    pub(super) slab_bytes: u64,
    pub(super) offset: u64,
}

pub(super) fn plan(
    range: &MemoryRange,
    pointer: DevicePtr,
    bytes: u64,
    audience: Audience,
) -> Result<Plan, AdoptRefusal> {
    let way = match range.kind {
        MemoryKind::Managed => return Err(AdoptRefusal::Managed),
        MemoryKind::Host => return Err(AdoptRefusal::Host),
        MemoryKind::Unknown => return Err(AdoptRefusal::NotOurs),
        MemoryKind::Virtual { .. } if range.access != Some(Access::ReadWrite) => {
            return Err(AdoptRefusal::ReadOnly);
        }
        MemoryKind::Virtual { exportable: false } => return Err(AdoptRefusal::NotExportable),
        MemoryKind::Virtual { exportable: true } => Way::Virtual,
        MemoryKind::Pool => Way::Pool,
        MemoryKind::Linear => Way::Linear,
    };
    let offset = pointer.0.checked_sub(range.base.0).ok_or(AdoptRefusal::NoMemory)?;
    let end = offset.checked_add(bytes);
    let Some(after) = end.and_then(|end| range.bytes.checked_sub(end)) else {
        return Err(match way {
            Way::Virtual => AdoptRefusal::SeveralHandles { handle_bytes: range.bytes },
            _ => AdoptRefusal::TooLarge { bytes, offset, allocation_bytes: range.bytes },
        });
    };
    let alone = offset == 0 && after < PIECE;
    match way {
        Way::Virtual if !alone => {
            return Err(AdoptRefusal::SharesHandle {
                handle_bytes: range.bytes,
                before_bytes: offset,
                after_bytes: after,
            });
        }
        Way::Virtual => {}
        Way::Pool | Way::Linear => {
            let to_others = audience != Audience::User;
            if to_others && (!alone || range.bytes < PIECE) {
                let allocation_bytes = range.bytes;
                return Err(AdoptRefusal::Neighbours { audience, allocation_bytes });
            }
        }
    }
    Ok(Plan { way, base: range.base, slab_bytes: range.bytes, offset })
}

#[cfg(test)]
mod tests {
    use millpond_cuda::DeviceUuid;

    use super::*;

    const MIB: u64 = 1 << 20;
    const BASE: u64 = 0x7000_0000_0000;

    fn range(kind: MemoryKind, bytes: u64) -> MemoryRange {
        let access = Some(Access::ReadWrite);
        MemoryRange { kind, base: DevicePtr(BASE), bytes, device: DeviceUuid([1; 16]), access }
    }

    fn of(kind: MemoryKind, held: u64, offset: u64, bytes: u64) -> Result<Plan, AdoptRefusal> {
        plan(&range(kind, held), DevicePtr(BASE + offset), bytes, Audience::User)
    }

    const EXPORTABLE: MemoryKind = MemoryKind::Virtual { exportable: true };

    #[test]
    fn memory_that_is_not_a_gpus_or_not_ones_own_is_refused() {
        for (kind, reason) in [
            (MemoryKind::Managed, AdoptRefusal::Managed),
            (MemoryKind::Host, AdoptRefusal::Host),
            (MemoryKind::Unknown, AdoptRefusal::NotOurs),
            (MemoryKind::Virtual { exportable: false }, AdoptRefusal::NotExportable),
        ] {
            assert_eq!(of(kind, 2 * MIB, 0, MIB), Err(reason));
        }
        for access in [None, Some(Access::ReadOnly)] {
            let range = MemoryRange { access, ..range(EXPORTABLE, 2 * MIB) };
            let refused = plan(&range, range.base, MIB, Audience::User);
            assert_eq!(refused, Err(AdoptRefusal::ReadOnly));
        }
    }

    #[test]
    fn a_mapped_handle_is_the_tensor_alone() {
        let plan = of(EXPORTABLE, 4 * MIB, 0, 2 * MIB + 1).unwrap();
        assert_eq!((plan.way, plan.offset, plan.slab_bytes), (Way::Virtual, 0, 4 * MIB));
        assert!(of(EXPORTABLE, 4 * MIB, 0, 4 * MIB).is_ok());
        let shares = |before_bytes, after_bytes| {
            Err(AdoptRefusal::SharesHandle { handle_bytes: 4 * MIB, before_bytes, after_bytes })
        };
        assert_eq!(of(EXPORTABLE, 4 * MIB, 0, 2 * MIB), shares(0, 2 * MIB));
        assert_eq!(of(EXPORTABLE, 4 * MIB, 256, 4 * MIB - 256), shares(256, 0));
        let several = Err(AdoptRefusal::SeveralHandles { handle_bytes: 2 * MIB });
        assert_eq!(of(EXPORTABLE, 2 * MIB, 0, 2 * MIB + 1), several);
        assert_eq!(of(EXPORTABLE, 2 * MIB, MIB, 2 * MIB), several);
    }

    #[test]
    fn a_part_of_an_allocation_is_a_tensor_if_it_is_inside() {
        for (kind, way) in [(MemoryKind::Linear, Way::Linear), (MemoryKind::Pool, Way::Pool)] {
            let plan = of(kind, 64 * MIB, 3 * MIB, MIB).unwrap();
            assert_eq!((plan.way, plan.offset, plan.slab_bytes), (way, 3 * MIB, 64 * MIB));
            assert!(of(kind, 64 * MIB, 63 * MIB, MIB).is_ok());
            let large = of(kind, 64 * MIB, 63 * MIB, MIB + 1).unwrap_err();
            assert!(matches!(large, AdoptRefusal::TooLarge { bytes, .. } if bytes == MIB + 1));
            assert!(of(kind, 64 * MIB, 0, u64::MAX).is_err());
        }
        let before = plan(&range(MemoryKind::Linear, MIB), DevicePtr(BASE - 1), 1, Audience::User);
        assert_eq!(before, Err(AdoptRefusal::NoMemory));
    }

    #[test]
    fn other_users_do_not_see_what_lies_beside_a_tensor() {
        let shared = |kind, held, offset, bytes| {
            let range = range(kind, held);
            plan(&range, DevicePtr(BASE + offset), bytes, Audience::Group)
        };
        for kind in [MemoryKind::Linear, MemoryKind::Pool] {
            assert!(shared(kind, 4 * MIB, 0, 4 * MIB).is_ok());
            assert!(
                shared(kind, 4 * MIB, 0, 2 * MIB + 1).is_ok(),
                "the rest of a piece is nobody's"
            );
            for (held, offset, bytes) in
                [(4 * MIB, 0, 2 * MIB), (4 * MIB, 512, 4 * MIB - 512), (MIB, 0, MIB)]
            {
                let refused = shared(kind, held, offset, bytes).unwrap_err();
                assert!(matches!(refused, AdoptRefusal::Neighbours { .. }), "{refused}");
            }
        }
    }
}
