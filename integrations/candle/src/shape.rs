//! Whether a tensor fits where it is wanted.

use crate::error::{Result, VmmError};
use candle_core::{DType, Shape};

/// The bytes of a tensor at an offset. Whether that is inside of a pool is the pool's question.
///
/// # Errors
/// A type without whole bytes; no element; more bytes than can be counted; an offset between two
/// elements.
pub(crate) fn bytes(offset: usize, shape: &Shape, dtype: DType) -> Result<usize> {
    let size = dtype.size_in_bytes();
    if size == 0 {
        return Err(VmmError::NoWholeBytes { dtype });
    }
    let dims = || shape.dims().to_vec();
    // Candle multiplies without looking.
    let mut bytes = Some(size);
    for &dim in shape.dims() {
        if dim == 0 {
            return Err(VmmError::EmptyTensor { dtype, shape: dims() });
        }
        bytes = bytes.and_then(|bytes| bytes.checked_mul(dim));
    }
    let bytes = bytes.ok_or_else(|| VmmError::OversizedTensor { dtype, shape: dims() })?;
    if !offset.is_multiple_of(size) {
        return Err(VmmError::MisalignedTensor { dtype, offset, size });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(offset: usize, shape: &[usize], dtype: DType) -> Result<usize> {
        bytes(offset, &Shape::from(shape), dtype)
    }

    #[test]
    fn a_tensor_has_the_bytes_of_its_elements() {
        assert_eq!(of(0, &[2, 3, 4], DType::F32).unwrap(), 96);
        assert_eq!(of(6, &[5], DType::BF16).unwrap(), 10);
        assert_eq!(of(7, &[5], DType::U8).unwrap(), 5);
        assert_eq!(of(8, &[], DType::F64).unwrap(), 8, "a scalar");
    }

    #[test]
    fn what_cannot_be_a_tensor_is_an_error_that_says_why() {
        for dtype in [DType::F4, DType::F6E2M3, DType::F6E3M2] {
            assert!(
                matches!(of(0, &[4], dtype), Err(VmmError::NoWholeBytes { dtype: found }) if found == dtype)
            );
        }
        for (offset, dtype, size) in [(2, DType::F32, 4), (12, DType::I64, 8), (1, DType::F16, 2)] {
            let error = of(offset, &[4], dtype).unwrap_err();
            assert!(
                matches!(error, VmmError::MisalignedTensor { size: needed, .. } if needed == size),
                "{error}"
            );
        }
        for shape in [&[0][..], &[4, 0], &[usize::MAX, usize::MAX, 0]] {
            let error = of(0, shape, DType::F32).unwrap_err();
            assert!(matches!(error, VmmError::EmptyTensor { .. }), "{error}");
        }
        for shape in [&[usize::MAX][..], &[1 << 40, 1 << 40], &[1 << 62]] {
            let error = of(0, shape, DType::F32).unwrap_err();
            assert!(matches!(error, VmmError::OversizedTensor { .. }), "{error}");
        }
    }
}
