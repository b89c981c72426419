//! What bytes are, by hash, and how they are cut for it.

use std::fmt;
use std::str::FromStr;

use twox_hash::XxHash3_128;

/// XXH3-128 of some bytes, in the order in which it is printed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 16]);

impl ContentHash {
    /// The hash of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(XxHash3_128::oneshot(bytes).to_be_bytes())
    }

    /// The hash of a whole from the hashes of its parts: of one part it is that part's.
    #[must_use]
    pub fn of_parts(parts: &[ContentHash]) -> Self {
        match parts {
            [] => Self::of(&[]),
            [only] => *only,
            _ => {
                let mut hasher = XxHash3_128::new();
                for part in parts {
                    hasher.write(&part.0);
                }
                Self(hasher.finish_128().to_be_bytes())
            }
        }
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

/// This is not a hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a hash of 32 hexadecimal digits")]
pub struct NotAHash(pub String);

impl FromStr for ContentHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| digits);
        number.map(|number| Self(number.to_be_bytes())).ok_or_else(|| NotAHash(text.to_owned()))
    }
}

/// What is done with pieces. Each is hashed on the way, from the buffer in which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PiecesKind {
    /// From a file into the tensor.
    Load,
    /// From a file, and no further: only the hashes are wanted.
    HashFile,
    /// From the tensor, and no further.
    Hash,
    /// From the tensor to a file.
    Save,
}

impl PiecesKind {
    /// Whether a file's descriptor comes along.
    #[must_use]
    pub fn has_file(self) -> bool {
        !matches!(self, PiecesKind::Hash)
    }

    /// Whether the tensor is read or written; if not, it is only named.
    #[must_use]
    pub fn touches_slab(self) -> bool {
        !matches!(self, PiecesKind::HashFile)
    }

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PiecesKind::Load => "load",
            PiecesKind::HashFile => "hash of a file",
            PiecesKind::Hash => "hash",
            PiecesKind::Save => "save",
        }
    }
}

/// A part of a tensor that is hashed by itself: at most [`crate::caps::PIECE_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it lies, from the start of the tensor that the move is about.
    pub offset: u64,
    pub bytes: u64,
}

/// Bytes that follow each other in a file. The runs of a move, one after the other, are its
/// pieces, one after the other; a run may begin and end inside a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub file_offset: u64,
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_printed_as_it_is_read() {
        let hash = ContentHash::of(b"pond");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        // The digest of nothing, as the reference program prints it.
        assert_eq!(ContentHash::of(b"").to_string(), "99aa06d3014798d86001c324468d497f");
        for bad in ["", "99aa06d3014798d86001c324468d497", "+9aa06d3014798d86001c324468d497f"] {
            assert!(bad.parse::<ContentHash>().is_err(), "{bad}");
        }
    }

    #[test]
    fn one_part_is_the_whole() {
        let [a, b] = [b"a", b"b"].map(|bytes| ContentHash::of(bytes));
        assert_eq!(ContentHash::of_parts(&[a]), a);
        assert_eq!(ContentHash::of_parts(&[]), ContentHash::of(b""));
        assert_eq!(ContentHash::of_parts(&[a, b]), ContentHash::of(&[a.0, b.0].concat()));
    }
}
