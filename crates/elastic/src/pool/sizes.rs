//! Which sizes blocks have.

/// Every block begins on a multiple of this, and its size is one: what loads of kernels are aligned to.
pub(crate) const UNIT: u64 = 512;

/// Blocks up to this size share pages with each other and never with larger ones, so that one small
/// block that stays does not keep a large gap from being used.
pub(crate) const SMALL: u64 = 1 << 20;

/// So many buckets for each doubling of the size: a block is at most a 32nd larger than was asked for.
const BUCKETS: u64 = 32;

/// The two parts of a pool's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Small,
    Large,
}

impl Side {
    pub(crate) const fn of(bytes: u64) -> Self {
        if bytes <= SMALL { Self::Small } else { Self::Large }
    }

    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Small => 0,
            Self::Large => 1,
        }
    }
}

/// The size of the bucket that a request falls into. `None` for sizes that no device has.
pub(crate) fn bucket(bytes: u64) -> Option<u64> {
    let bytes = bytes.max(1);
    let step = (bytes.checked_next_power_of_two()? / 2 / BUCKETS).max(UNIT);
    bytes.checked_next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_close_to_what_is_asked_for() {
        assert_eq!(bucket(0), Some(512));
        assert_eq!(bucket(512), Some(512));
        assert_eq!(bucket(513), Some(1024));
        assert_eq!(bucket(1 << 30), Some(1 << 30));
        assert_eq!(bucket((1 << 30) + 1), Some((1 << 30) + (1 << 25)));
        assert_eq!(bucket(u64::MAX), None);
        for bytes in (1..1 << 22).step_by(977) {
            let size = bucket(bytes).unwrap();
            assert!(size >= bytes && size.is_multiple_of(UNIT), "{bytes} became {size}");
            assert!(size - bytes < UNIT.max(bytes / 16), "{bytes} became {size}");
            assert_eq!(bucket(size), Some(size), "a bucket is its own bucket");
        }
    }
}
