//! Sizes as people write them: `10G`, `10GB` and `10GiB` are the same; `50%` is a part of a card.

use crate::error::BadSize;

/// A size as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A number of bytes.
    Bytes(u64),
    /// A part of the card, in thousandths.
    Part(u32),
}

/// Reads a size: a number, an optional fraction, and a unit (`K`, `M`, `G`, `T`, each also with `B`
/// or `iB`, in either case; all of them powers of 1,024) or `%`. A bare number is bytes.
pub fn parse_size(text: &[u8]) -> Result<Size, BadSize> {
    let _ = text;
    Err(BadSize::NotANumber)
}

/// [`parse_size`] where only bytes make sense.
pub fn parse_bytes(text: &[u8]) -> Result<u64, BadSize> {
    match parse_size(text)? {
        Size::Bytes(bytes) => Ok(bytes),
        Size::Part(_) => Err(BadSize::Percent),
    }
}
