//! Headers of numpy's `.npy` files.
//!
//! A file is a magic, a version, the length of a header, the header, and then the bytes of the
//! array. The header is the text of a Python dict with the keys `descr`, `fortran_order` and
//! `shape`. Python evaluates it; here a small reader accepts just what such a dict can be, so that
//! a file from anybody is read without surprise: nothing in it makes this module take more memory
//! than a few times the header, whose length has a [cap](HEADER_BYTES).
//!
//! ```
//! use millpond::{Dtype, Shape, npy};
//!
//! let shape = Shape::new([2, 3])?;
//! let bytes = npy::write_header(Dtype::F32, &shape)?;
//! let header = npy::Header::parse(&bytes)?;
//! assert_eq!((header.dtype, header.shape), (Dtype::F32, shape));
//! assert_eq!(header.data_offset, bytes.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod descr;
mod dict;
#[cfg(test)]
mod tests;

use millpond_wire::{Dtype, Shape, ShapeError};

/// The longest header that is read, with everything before it. Numpy writes 128 bytes for an
/// array of any dtype that a tensor can have; only fields of structured arrays need more.
pub const HEADER_BYTES: usize = 64 * 1024;

const MAGIC: [u8; 6] = *b"\x93NUMPY";
const FIXED_BYTES: usize = 8;
/// Where numpy lets the array begin, so that it can be mapped.
const ALIGNMENT: usize = 64;

/// What the header of a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The type of the elements.
    pub dtype: Dtype,
    /// The extents; empty for a scalar.
    pub shape: Shape,
    /// Whether the first index is the one that runs fastest. A tensor is always the other way.
    pub fortran_order: bool,
    /// Where the array begins in the file.
    pub data_offset: usize,
}

/// Why a header was not read, or cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    // Give more bytes.
    /// The bytes end inside the header.
    #[error("the .npy header is cut off: {have} bytes of {need}")]
    Cut {
        /// How many bytes there were.
        have: usize,
        /// How many there must be at least, as far as it is known.
        need: usize,
    },

    // Save the array in another way.
    /// The elements are stored with the most significant byte first.
    #[error("descr '{0}' is big-endian; tensors are little-endian")]
    BigEndian(String),
    /// No dtype of a tensor, or more than one, has this name.
    #[error("descr {0} is no dtype of a tensor; supported are {known}", known = descr::known())]
    Descr(String),
    /// The shape is not one that a tensor can have.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Numpy has no name for the elements of this dtype.
    #[error("{0} has no numpy dtype: its elements are packed")]
    NoDescr(Dtype),

    // Take another file: this one is not what its name says, or damaged.
    /// The file does not begin with the magic.
    #[error("this is not a .npy file: it does not begin with \\x93NUMPY")]
    Magic,
    /// A version that is not known here.
    #[error("version {0}.{1} of the .npy format; 1.0, 2.0 and 3.0 are supported")]
    Version(u8, u8),
    /// The header is longer than [`HEADER_BYTES`].
    #[error("the .npy header has {0} bytes; at most {HEADER_BYTES} are read")]
    TooLong(u32),
    /// The header is not the dict that it must be.
    #[error("the .npy header at byte {at}: {what}")]
    Syntax {
        /// Where in the file.
        at: usize,
        /// What is wrong there.
        what: &'static str,
    },
}

impl NpyError {
    /// The way out, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            NpyError::BigEndian(_) => {
                "save it as `array.astype(array.dtype.newbyteorder('<'))` in numpy"
            }
            NpyError::Descr(descr) if descr.contains("V1") => {
                "several 8-bit dtypes have this descr: save the array as \
                 `array.view(numpy.uint8)`, and say the dtype when the tensor is made"
            }
            NpyError::Descr(_) => "save it with `array.astype(...)` in numpy as one of these",
            NpyError::Shape(ShapeError::Empty(_)) => "there is nothing to keep in an empty array",
            NpyError::NoDescr(_) => "keep the bytes as they are, as a file of another format",
            _ => return None,
        })
    }
}

impl Header {
    /// Reads the header at the beginning of a file; what follows it is not looked at. The first
    /// [`HEADER_BYTES`] of a file are always enough.
    ///
    /// # Errors
    /// [`NpyError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, NpyError> {
        let cut = |need| NpyError::Cut { have: bytes.len(), need };
        let common = bytes.len().min(MAGIC.len());
        if bytes[..common] != MAGIC[..common] {
            return Err(NpyError::Magic);
        }
        let Some([major, minor]) = bytes.get(MAGIC.len()..FIXED_BYTES) else {
            return Err(cut(FIXED_BYTES));
        };
        let rest = &bytes[FIXED_BYTES..];
        let (length, begin) = match (major, minor) {
            (1, 0) => {
                let length = rest.first_chunk().ok_or_else(|| cut(FIXED_BYTES + 2))?;
                (u32::from(u16::from_le_bytes(*length)), FIXED_BYTES + 2)
            }
            (2 | 3, 0) => {
                let length = rest.first_chunk().ok_or_else(|| cut(FIXED_BYTES + 4))?;
                (u32::from_le_bytes(*length), FIXED_BYTES + 4)
            }
            (major, minor) => return Err(NpyError::Version(*major, *minor)),
        };
        let end = usize::try_from(length).ok().and_then(|length| begin.checked_add(length));
        let end = end.filter(|end| *end <= HEADER_BYTES).ok_or(NpyError::TooLong(length))?;
        let text = bytes.get(begin..end).ok_or_else(|| cut(end))?;
        let dict = dict::read(text)
            .map_err(|wrong| NpyError::Syntax { at: begin + wrong.at, what: wrong.what })?;
        let dtype = descr::dtype(&dict.descr)?;
        let shape = Shape::new(dict.shape)?;
        shape.bytes(dtype)?;
        Ok(Self { dtype, shape, fortran_order: dict.fortran_order, data_offset: end })
    }
}

/// The header of a file with a tensor of this dtype and shape. The bytes of the tensor follow it.
///
/// A plain numpy reads every dtype that it knows, and BF16 as two opaque bytes, which is how numpy
/// itself writes it. The 8-bit floats are written by their names, which numpy knows as soon as
/// `ml_dtypes` is imported.
///
/// # Errors
/// [`NpyError::NoDescr`] for packed dtypes: numpy has none.
pub fn write_header(dtype: Dtype, shape: &Shape) -> Result<Vec<u8>, NpyError> {
    let descr = descr::of(dtype).ok_or(NpyError::NoDescr(dtype))?;
    let dims: Vec<String> = shape.dims().iter().map(u64::to_string).collect();
    let comma = if dims.len() == 1 { "," } else { "" };
    let shape = format!("({}{comma})", dims.join(", "));
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // At most 16 extents of 20 digits, so two bytes always hold the length.
    let begin = FIXED_BYTES + 2;
    let end = (begin + dict.len() + 1).next_multiple_of(ALIGNMENT);
    let length = u16::try_from(end - begin).unwrap_or(u16::MAX);
    let mut header = Vec::with_capacity(end);
    header.extend_from_slice(&MAGIC);
    header.extend_from_slice(&[1, 0]);
    header.extend_from_slice(&length.to_le_bytes());
    header.extend_from_slice(dict.as_bytes());
    header.resize(end - 1, b' ');
    header.push(b'\n');
    Ok(header)
}
