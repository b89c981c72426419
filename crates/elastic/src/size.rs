//! Sizes as people read them.

use std::fmt;

/// Shows bytes in the largest binary unit that leaves a number of at least one.
#[derive(Clone, Copy)]
pub(crate) struct Bytes(pub(crate) u64);

const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((unit, shift)) = UNITS.into_iter().find(|(_, shift)| self.0 >> shift > 0) else {
            return write!(f, "{} bytes", self.0);
        };
        let whole = self.0 >> shift;
        // Two digits behind the point, cut and not rounded: a limit is never shown as more than it is.
        let hundredths = (((self.0 - (whole << shift)) >> (shift - 10)) * 100) >> 10;
        match hundredths {
            0 => write!(f, "{whole} {unit}"),
            some if some % 10 == 0 => write!(f, "{whole}.{} {unit}", some / 10),
            some => write!(f, "{whole}.{some:02} {unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_in_their_largest_unit() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (2 << 20, "2 MiB"),
            (3 << 29, "1.5 GiB"),
            ((64 << 20) + (64 << 10), "64.06 MiB"),
            (u64::MAX, "16777215.99 TiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
