//! The header of a safetensors file, checked before a byte of its data is looked at.
//!
//! The `safetensors` crate reads headers too, but it takes the last of two tensors with one name,
//! does not say which tensor is wrong, and copies the header several times on the way.

use std::collections::BTreeMap;
use std::fmt;

use millpond_wire::{Dtype, Shape, ShapeError, caps};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

use crate::shown;

/// A file begins with its header's length in so many bytes.
pub const LENGTH_BYTES: u64 = 8;
/// What the reference reader takes at most.
pub const HEADER_BYTES: u64 = 100_000_000;
/// The one key of a header that is no tensor.
pub const METADATA_KEY: &str = "__metadata__";

/// What a header says; the tensors follow each other from 0 without holes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Header {
    /// In the order of the data.
    pub tensors: Vec<HeaderTensor>,
    /// What the file says about itself.
    pub metadata: BTreeMap<String, String>,
    /// Bytes of all tensors together.
    pub data_bytes: u64,
}

/// A tensor of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderTensor {
    pub name: String,
    pub dtype: Dtype,
    /// Extents; a dimension may be zero.
    pub shape: Shape,
    /// Where it begins, from the end of the header.
    pub start: u64,
    pub bytes: u64,
}

/// Why a header is refused.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// Not even a length is there.
    #[error("it has {0} bytes, too few for a safetensors file")]
    NoLength(u64),
    /// A length that no header has.
    #[error(
        "it says that its header has {0} bytes; at most {HEADER_BYTES} are possible, so it is no safetensors file"
    )]
    TooLong(u64),
    /// The file ends inside the header.
    #[error("it says that its header has {header} bytes, but the file has {file}: it is truncated")]
    BeyondFile { header: u64, file: u64 },
    /// The file has not the bytes that its tensors have.
    #[error("its tensors need {needs} bytes after the header, the file has {has}: it is {what}", what = if has < needs { "truncated" } else { "longer than it may be" })]
    FileSize { needs: u64, has: u64 },
    /// Not JSON, or not of the kind that safetensors writes.
    #[error("its header cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// Two tensors with one name.
    #[error("tensor '{}' appears twice", shown(.0))]
    Duplicate(String),
    /// A name that cannot be kept.
    #[error("tensor '{}' has a name of {} bytes; 1 to {max} are possible", shown(.0), .0.len(), max = caps::NAME_BYTES)]
    Name(String),
    /// A dtype that is not in the table.
    #[error("tensor '{}' has the unknown dtype '{}'", shown(.name), shown(.dtype))]
    Dtype { name: String, dtype: String },
    /// A shape that cannot be.
    #[error("tensor '{}': {error}", shown(.name))]
    Shape { name: String, error: ShapeError },
    /// Shape, dtype and offsets do not agree.
    #[error("tensor '{}' has {has} bytes, but its shape {shape} of {dtype} needs {needs}", shown(.name))]
    Bytes {
        name: String,
        shape: Shape,
        dtype: Dtype,
        /// By shape and dtype.
        needs: u64,
        has: u64,
    },
    /// The end is before the start.
    #[error("tensor '{}' ends at {end}, before it begins at {start}", shown(.name))]
    Backwards { name: String, start: u64, end: u64 },
    /// Bytes that belong to two tensors.
    #[error("tensor '{}' begins at {start}, inside the one before it, which ends at {end}", shown(.name))]
    Overlap {
        name: String,
        start: u64,
        /// Where the one before it ends.
        end: u64,
    },
    /// Bytes that belong to none.
    #[error("tensor '{}' begins at {start}, but the one before it ends at {end}: there is a hole", shown(.name))]
    Hole {
        name: String,
        start: u64,
        /// Where the one before it ends.
        end: u64,
    },
}

/// How long the header is, by the first eight bytes of a file of this size.
///
/// # Errors
/// [`HeaderError`] for a length that is impossible, or beyond the file.
pub fn header_bytes(first: [u8; 8], file_bytes: u64) -> Result<u64, HeaderError> {
    let header = u64::from_le_bytes(first);
    if header > HEADER_BYTES {
        return Err(HeaderError::TooLong(header));
    }
    // No overflow: both are small.
    if LENGTH_BYTES + header > file_bytes {
        return Err(HeaderError::BeyondFile { header, file: file_bytes });
    }
    Ok(header)
}

impl Header {
    /// Reads and checks a header, without the length before it.
    ///
    /// # Errors
    /// [`HeaderError`] that names the first tensor that is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, HeaderError> {
        let raw: Raw = serde_json::from_slice(bytes)?;
        let mut tensors =
            raw.tensors.into_iter().map(RawTensor::check).collect::<Result<Vec<_>, _>>()?;
        refuse_duplicates(&tensors)?;
        tensors.sort_by_key(|tensor| (tensor.start, tensor.bytes));
        let mut end = 0;
        for tensor in &tensors {
            let (name, start) = (|| tensor.name.clone(), tensor.start);
            if start < end {
                return Err(HeaderError::Overlap { name: name(), start, end });
            }
            if start > end {
                return Err(HeaderError::Hole { name: name(), start, end });
            }
            // No overflow: it was read as the end of this tensor.
            end = start + tensor.bytes;
        }
        Ok(Self { tensors, metadata: raw.metadata, data_bytes: end })
    }
}

fn refuse_duplicates(tensors: &[HeaderTensor]) -> Result<(), HeaderError> {
    let mut names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(HeaderError::Duplicate(pair[0].to_owned())),
        None => Ok(()),
    }
}

#[derive(Default)]
struct Raw {
    tensors: Vec<RawTensor>,
    metadata: BTreeMap<String, String>,
}

struct RawTensor {
    name: String,
    info: RawInfo,
}

#[derive(Deserialize)]
struct RawInfo {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

impl RawTensor {
    fn check(self) -> Result<HeaderTensor, HeaderError> {
        let Self { name, info } = self;
        if name.is_empty() || name.len() > caps::NAME_BYTES {
            return Err(HeaderError::Name(name));
        }
        // Other spellings are for people; a file has safetensors' own.
        let dtype = info.dtype.parse().ok().filter(|dtype: &Dtype| dtype.name() == info.dtype);
        let Some(dtype) = dtype else {
            return Err(HeaderError::Dtype { name, dtype: info.dtype });
        };
        let shaped = Shape::new_or_empty(info.shape)
            .and_then(|shape| shape.bytes(dtype).map(|bytes| (shape, bytes)));
        let (shape, needs) = match shaped {
            Ok(shaped) => shaped,
            Err(error) => return Err(HeaderError::Shape { name, error }),
        };
        let [start, end] = info.data_offsets;
        let Some(has) = end.checked_sub(start) else {
            return Err(HeaderError::Backwards { name, start, end });
        };
        if has != needs {
            return Err(HeaderError::Bytes { name, shape, dtype, needs, has });
        }
        Ok(HeaderTensor { name, dtype, shape, start, bytes: has })
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one entry for each tensor")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut raw = Raw::default();
        let mut described = false;
        while let Some(name) = map.next_key::<String>()? {
            if name == METADATA_KEY {
                if std::mem::replace(&mut described, true) {
                    return Err(A::Error::custom(format!("'{METADATA_KEY}' appears twice")));
                }
                // `null` is how some writers say that there is none.
                let metadata = map.next_value::<Option<Metadata>>()?;
                raw.metadata = metadata.map(|texts| texts.0).unwrap_or_default();
                continue;
            }
            if raw.tensors.len() == caps::TENSORS_PER_VERSION {
                let most = caps::TENSORS_PER_VERSION;
                return Err(A::Error::custom(format!("there are more than {most} tensors")));
            }
            let wrong = |error| A::Error::custom(format!("tensor '{}': {error}", shown(&name)));
            let info = map.next_value::<RawInfo>().map_err(wrong)?;
            raw.tensors.push(RawTensor { name, info });
        }
        Ok(raw)
    }
}

type Metadata = UniqueTexts<{ caps::METADATA_ENTRIES }, { caps::METADATA_BYTES }>;

/// An object of texts in which no key is there twice, with at most so many entries and bytes.
#[derive(Debug)]
pub(crate) struct UniqueTexts<const ENTRIES: usize, const BYTES: usize>(
    pub(crate) BTreeMap<String, String>,
);

impl<'de, const E: usize, const B: usize> Deserialize<'de> for UniqueTexts<E, B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TextsVisitor::<E, B>)
    }
}

struct TextsVisitor<const ENTRIES: usize, const BYTES: usize>;

impl<'de, const E: usize, const B: usize> Visitor<'de> for TextsVisitor<E, B> {
    type Value = UniqueTexts<E, B>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of texts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut texts = BTreeMap::new();
        let mut total = 0;
        while let Some((key, value)) = map.next_entry::<String, String>()? {
            total += key.len() + value.len();
            if texts.len() == E || total > B {
                return Err(A::Error::custom("there are more texts than can be kept"));
            }
            if let Some(_earlier) = texts.insert(key.clone(), value) {
                return Err(A::Error::custom(format!("'{}' appears twice", shown(&key))));
            }
        }
        Ok(UniqueTexts(texts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Header::parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn tensors_come_in_the_order_of_the_data() {
        let header = Header::parse(
            br#"{"b":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},
                "__metadata__":{"format":"pt"},
                "none":{"dtype":"F32","shape":[0,3],"data_offsets":[8,8]},
                "a":{"dtype":"I64","shape":[],"data_offsets":[0,8]}}   "#,
        )
        .unwrap();
        let names: Vec<&str> = header.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        assert_eq!((names, header.data_bytes), (vec!["a", "none", "b"], 12));
        assert_eq!(header.metadata["format"], "pt");
        assert_eq!(Header::parse(b"{\"__metadata__\":null}").unwrap(), Header::default());
    }

    #[test]
    fn each_refusal_says_which_tensor() {
        let u8s = |name: &str, start: u64, end: u64| {
            let shape = end.saturating_sub(start);
            format!(r#""{name}":{{"dtype":"U8","shape":[{shape}],"data_offsets":[{start},{end}]}}"#)
        };
        let of = |parts: &[String]| refused(&format!("{{{}}}", parts.join(",")));
        let cases = [
            (refused("[]"), "an object with one entry for each tensor"),
            (refused("{"), "cannot be read"),
            (refused("{} x"), "trailing characters"),
            (of(&[u8s("a", 0, 4), u8s("a", 4, 8)]), "tensor 'a' appears twice"),
            (of(&[u8s("a", 0, 4), u8s("b", 2, 6)]), "tensor 'b' begins at 2, inside the one"),
            (
                of(&[u8s("a", 0, 4), u8s("b", 6, 8)]),
                "tensor 'b' begins at 6, but the one before it ends at 4: there is a hole",
            ),
            (of(&[u8s("a", 4, 8)]), "tensor 'a' begins at 4, but"),
            (of(&[u8s("a", 4, 3)]), "tensor 'a' ends at 3, before it begins at 4"),
            (of(&[u8s("", 0, 4)]), "tensor '' has a name of 0 bytes"),
            (of(&[u8s(&"x".repeat(256), 0, 4)]), "has a name of 256 bytes"),
            (of(&[u8s("a\\u001b[2J", 4, 8)]), "tensor 'a\\u{1b}[2J'"),
            (
                refused(r#"{"w":{"dtype":"F33","shape":[],"data_offsets":[0,4]}}"#),
                "tensor 'w' has the unknown dtype 'F33'",
            ),
            (
                refused(r#"{"w":{"dtype":"float32","shape":[],"data_offsets":[0,4]}}"#),
                "unknown dtype",
            ),
            (
                refused(r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#),
                "tensor 'w' has 4 bytes, but its shape [2] of F32 needs 8",
            ),
            (
                refused(r#"{"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}"#),
                "tensor 'w': invalid value",
            ),
            (
                refused(r#"{"w":{"dtype":"F32","data_offsets":[0,4]}}"#),
                "tensor 'w': missing field `shape`",
            ),
            (
                refused(r#"{"w":{"dtype":"U8","dtype":"U8","shape":[],"data_offsets":[0,1]}}"#),
                "duplicate field",
            ),
            (
                refused(
                    r#"{"w":{"dtype":"U8","shape":[4611686018427387904,4],"data_offsets":[0,0]}}"#,
                ),
                "more than 2^50 elements",
            ),
            (
                refused(r#"{"w":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}}"#),
                "tensor 'w': shape [3] of F4 is 12 bits",
            ),
            (refused(r#"{"__metadata__":{"a":"1","a":"2"}}"#), "'a' appears twice"),
            (refused(r#"{"__metadata__":{},"__metadata__":{}}"#), "'__metadata__' appears twice"),
            (refused(r#"{"__metadata__":{"a":1}}"#), "expected a string"),
        ];
        for (said, message) in cases {
            assert!(said.contains(message), "{said}\nlacks: {message}");
        }
    }

    #[test]
    fn lengths_that_cannot_be() {
        let said = |length: u64, file| header_bytes(length.to_le_bytes(), file).unwrap_err();
        assert!(matches!(said(1 << 60, u64::MAX), HeaderError::TooLong(_)));
        assert!(matches!(said(u64::MAX, u64::MAX), HeaderError::TooLong(_)));
        assert!(matches!(said(100, 107), HeaderError::BeyondFile { header: 100, file: 107 }));
        assert_eq!(header_bytes(100u64.to_le_bytes(), 108).unwrap(), 100);
    }
}
