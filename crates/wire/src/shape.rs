//! Shapes, and the bytes they need: checked before anything is allocated.

use std::fmt::{self, Write};
use std::str::FromStr;

use crate::caps;
use crate::dtype::Dtype;

/// The extent of a tensor in each dimension; empty for a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Shape(Vec<u64>);

/// Why a shape is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// More dimensions than [`caps::DIMENSIONS`].
    #[error("{0} dimensions are too many; the limit is {max}", max = caps::DIMENSIONS)]
    TooManyDimensions(usize),
    /// A dimension is zero, so there is nothing to keep.
    #[error("shape {0} has no elements; a tensor needs at least one")]
    Empty(String),
    /// More elements than [`caps::TENSOR_ELEMENTS`], or more than a number can hold.
    #[error("shape {0} has more than 2^50 elements")]
    TooLarge(String),
    /// Packed elements that do not fill their last byte.
    #[error("shape {shape} of {dtype} is {bits} bits, which is not a whole number of bytes")]
    PartialByte { shape: String, dtype: Dtype, bits: u64 },
    /// Not a comma-separated list of numbers.
    #[error("'{0}' is not a shape; write it as 4096,4096")]
    Syntax(String),
}

impl Shape {
    /// Checks number of dimensions and elements.
    ///
    /// # Errors
    /// [`ShapeError`] for too many dimensions, no elements, or too many of them.
    pub fn new(dims: impl Into<Vec<u64>>) -> Result<Self, ShapeError> {
        let shape = Self::new_or_empty(dims)?;
        if shape.0.contains(&0) { Err(ShapeError::Empty(shape.to_string())) } else { Ok(shape) }
    }

    /// As [`Shape::new`], but a dimension may be zero: checkpoints have such tensors.
    ///
    /// # Errors
    /// [`ShapeError`] for too many dimensions or too many elements.
    pub fn new_or_empty(dims: impl Into<Vec<u64>>) -> Result<Self, ShapeError> {
        let shape = Shape(dims.into());
        if shape.0.len() > caps::DIMENSIONS {
            return Err(ShapeError::TooManyDimensions(shape.0.len()));
        }
        // A zero hides nothing: strides are products of the other dimensions.
        let elements =
            shape.0.iter().try_fold(1u64, |product, dim| product.checked_mul(*dim.max(&1)));
        match elements {
            Some(elements) if elements <= caps::TENSOR_ELEMENTS => Ok(shape),
            _ => Err(ShapeError::TooLarge(shape.to_string())),
        }
    }

    #[must_use]
    pub fn dims(&self) -> &[u64] {
        &self.0
    }

    /// How many elements there are; none only after [`Shape::new_or_empty`].
    #[must_use]
    pub fn elements(&self) -> u64 {
        // Cannot overflow: checked by `new`.
        self.0.iter().product()
    }

    /// Bytes of a packed tensor of this shape.
    ///
    /// # Errors
    /// [`ShapeError::PartialByte`] where packed elements do not fill their last byte.
    pub fn bytes(&self, dtype: Dtype) -> Result<u64, ShapeError> {
        let bits = self.elements() * dtype.bits();
        if bits.is_multiple_of(8) {
            Ok(bits / 8)
        } else {
            Err(ShapeError::PartialByte { shape: self.to_string(), dtype, bits })
        }
    }

    /// Row-major strides, in elements.
    #[must_use]
    pub fn strides(&self) -> Vec<u64> {
        let mut strides = vec![1; self.0.len()];
        for index in (1..self.0.len()).rev() {
            strides[index - 1] = strides[index] * self.0[index];
        }
        strides
    }
}

impl Shape {
    fn write_to(&self, out: &mut impl Write) -> fmt::Result {
        out.write_char('[')?;
        for (index, dim) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(out, "{comma}{dim}")?;
        }
        out.write_char(']')
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.width().is_none() && f.precision().is_none() {
            return self.write_to(f);
        }
        let mut text = String::new();
        self.write_to(&mut text)?;
        f.pad(&text)
    }
}

impl FromStr for Shape {
    type Err = ShapeError;

    fn from_str(text: &str) -> Result<Self, ShapeError> {
        let text = text.trim();
        let inside = |open, close| text.strip_prefix(open)?.strip_suffix(close);
        let bare = inside('[', ']').or_else(|| inside('(', ')')).unwrap_or(text).trim();
        // As Python writes a tuple of one.
        let bare = bare.strip_suffix(',').filter(|_| bare != text).unwrap_or(bare);
        if bare.trim().is_empty() {
            return Shape::new([]);
        }
        let dims: Option<Vec<u64>> =
            bare.split([',', 'x']).map(|part| part.trim().parse().ok()).collect();
        Shape::new(dims.ok_or_else(|| ShapeError::Syntax(text.to_owned()))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_written_with_commas_and_padded_as_a_whole() {
        let shape = |dims: &[u64]| Shape::new(dims.to_vec()).unwrap();
        assert_eq!(shape(&[]).to_string(), "[]");
        assert_eq!(shape(&[2, 30, 4]).to_string(), "[2,30,4]");
        assert_eq!(format!("{:>6}{:<6}|", shape(&[7]), shape(&[1, 2])), "   [7][1,2] |");
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        assert!(matches!(Shape::new([0, 3]), Err(ShapeError::Empty(_))));
        assert_eq!(Shape::new_or_empty([0, 3]).unwrap().bytes(Dtype::F32), Ok(0));
        assert!(matches!(Shape::new_or_empty([0, 1 << 60]), Err(ShapeError::TooLarge(_))));
        assert!(matches!(Shape::new([1 << 60]), Err(ShapeError::TooLarge(_))));
        assert!(matches!(Shape::new([u64::MAX, u64::MAX]), Err(ShapeError::TooLarge(_))));
        assert!(matches!(Shape::new(vec![1; 17]), Err(ShapeError::TooManyDimensions(17))));
        assert!(Shape::new(vec![1; 16]).is_ok());
        assert!(Shape::new([caps::TENSOR_ELEMENTS]).is_ok());
        assert!(Shape::new([caps::TENSOR_ELEMENTS + 1]).is_err());
        for bad in ["2,a", "(2,3", "[2)", "2,3,"] {
            assert!(matches!(bad.parse::<Shape>(), Err(ShapeError::Syntax(_))), "{bad}");
        }
        for text in ["2,3", "2x3", "[2,3]", "(2,3)", "(2, 3)", " ( 2,3 ,) "] {
            assert_eq!(text.parse::<Shape>().unwrap().dims(), [2, 3], "{text}");
        }
        assert_eq!("(2,)".parse::<Shape>().unwrap().dims(), [2]);
        assert!(matches!(
            Shape::new([3]).unwrap().bytes(Dtype::F4),
            Err(ShapeError::PartialByte { bits: 12, .. })
        ));
    }

    #[test]
    fn bytes_and_strides() {
        let shape: Shape = "2,3,4".parse().unwrap();
        assert_eq!(shape.strides(), [12, 4, 1]);
        assert_eq!(shape.bytes(Dtype::Bf16).unwrap(), 48);
        assert_eq!(shape.bytes(Dtype::F4).unwrap(), 12);
        assert_eq!(Shape::default().bytes(Dtype::F32).unwrap(), 4);
        assert_eq!(shape.to_string(), "[2,3,4]");
        assert_eq!("4096x2".parse::<Shape>().unwrap().dims(), [4096, 2]);
    }
}
