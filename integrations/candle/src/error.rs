//! Errors of pools, raw calls and tensors.

use crate::index;
#[cfg(feature = "candle")]
use candle_core::DType;
use millpond_cuda::CudaError;
use millpond_elastic::{ElasticError, PageError};

/// The result of every function here.
pub type Result<T> = std::result::Result<T, VmmError>;

/// Something that a pool or a raw call refused, or the driver or Candle did. Without the feature
/// `candle` the variants about tensors and Candle are missing.
#[derive(Debug, thiserror::Error)]
pub enum VmmError {
    /// A call of the driver failed.
    #[error("the driver failed: {0}")]
    CudaError(String),
    /// The addresses of a pool, or of the device, do not suffice.
    #[error("{requested} bytes of addresses were asked for, {available} are available")]
    OutOfVirtualMemory {
        /// What was asked for.
        requested: usize,
        /// What there is in one piece.
        available: usize,
    },
    /// The card, or the limit of a shared pool, has no room.
    #[error("{requested} bytes of memory were asked for, {available} are available")]
    OutOfPhysicalMemory {
        /// What was asked for.
        requested: usize,
        /// What there is.
        available: usize,
    },
    /// A part that is empty, or outside of its range.
    #[error("{size} bytes at offset {offset} are not a part of a range of {capacity} bytes")]
    InvalidOffset {
        /// Where the part begins.
        offset: usize,
        /// How long it is.
        size: usize,
        /// How long the range is.
        capacity: usize,
    },
    /// Memory could not be mapped.
    #[error("cannot map memory: {0}")]
    MappingFailed(String),
    /// Memory could not be unmapped.
    #[error("cannot unmap memory: {0}")]
    UnmappingFailed(String),
    /// A size or an alignment that the driver cannot use.
    #[error("{actual} is not a positive multiple of {required}")]
    InvalidAlignment {
        /// What was given.
        actual: usize,
        /// What it must be a multiple of.
        required: usize,
    },
    /// A page is allocated already.
    #[error("the page of {size} bytes at offset {offset} is allocated already")]
    AlreadyMapped {
        /// Where the page begins.
        offset: usize,
        /// How long it is.
        size: usize,
    },
    /// A page is not allocated, or was freed before.
    #[error("the page of {size} bytes at offset {offset} is not allocated")]
    NotMapped {
        /// Where the page begins.
        offset: usize,
        /// How long it is.
        size: usize,
    },
    /// A page that no device has.
    #[error("a page of {0} bytes is not a power of two that the device can map")]
    InvalidPageSize(usize),
    /// The device has no virtual memory management.
    #[error("the device has no virtual memory management")]
    UnsupportedDevice,
    /// No such model.
    #[error("no model '{0}' is registered")]
    ModelNotFound(String),
    /// The name is taken.
    #[error("a model '{0}' is registered already")]
    ModelAlreadyExists(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
    /// Candle failed.
    #[cfg(feature = "candle")]
    #[error("Candle failed: {0}")]
    CandleError(#[from] candle_core::Error),
    /// A device without CUDA.
    #[cfg(feature = "candle")]
    #[error("a pool needs a CUDA device, and this is {0}")]
    NotCuda(String),
    /// Candle and the pool would work in two contexts.
    #[cfg(feature = "candle")]
    #[error(
        "Candle's context of device {ordinal} is not its primary context in the driver {driver}"
    )]
    OtherContext {
        /// The device's number.
        ordinal: usize,
        /// The library of the pool's driver.
        driver: String,
    },
    /// A tensor stands on pages that were to be freed.
    #[cfg(feature = "candle")]
    #[error(
        "{size} bytes at offset {offset} are in use: a tensor of {tensor_size} bytes at offset \
         {tensor_offset} is not dropped yet"
    )]
    InUse {
        /// Where the part begins.
        offset: usize,
        /// How long it is.
        size: usize,
        /// Where the tensor begins.
        tensor_offset: usize,
        /// How long it is.
        tensor_size: usize,
    },
    /// A tensor that does not begin at one of its elements.
    #[cfg(feature = "candle")]
    #[error("a tensor of {} cannot begin at offset {offset}, which is not a multiple of {size}", dtype.as_str())]
    MisalignedTensor {
        /// The type of its elements.
        dtype: DType,
        /// Where it was to begin.
        offset: usize,
        /// The size of an element.
        size: usize,
    },
    /// A tensor of more bytes than can be counted.
    #[cfg(feature = "candle")]
    #[error("the bytes of a tensor of {} with the shape {shape:?} cannot be counted", dtype.as_str())]
    OversizedTensor {
        /// The type of its elements.
        dtype: DType,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// A tensor without any element.
    #[cfg(feature = "candle")]
    #[error("a tensor of {} with the shape {shape:?} has no element", dtype.as_str())]
    EmptyTensor {
        /// The type of its elements.
        dtype: DType,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// A type whose elements are not whole bytes.
    #[cfg(feature = "candle")]
    #[error("elements of {} are not whole bytes, so there is no tensor of them over a pool", dtype.as_str())]
    NoWholeBytes {
        /// The type.
        dtype: DType,
    },
    /// A function of another crate failed.
    #[cfg(feature = "candle")]
    #[error(
        "Candle frees memory by a {0} that is not this crate's, so a tensor over a pool could not be \
         dropped: link libcuda as Candle does, and nothing else that defines {0}"
    )]
    FreesElsewhere(&'static str),
}

impl VmmError {
    /// An error of a driver's calls, for `map_err`.
    pub fn from_cuda_result<E: std::error::Error>(error: E) -> Self {
        Self::CudaError(error.to_string())
    }

    /// An error of the driver, in words.
    pub fn cuda<S: Into<String>>(message: S) -> Self {
        Self::CudaError(message.into())
    }

    /// Any other error, in words.
    pub fn other<S: Into<String>>(message: S) -> Self {
        Self::Other(message.into())
    }

    /// An error of the engine about a pool with pages of this size; `free` is what the card has.
    pub(crate) fn of_pool(error: ElasticError, page: usize, free: u64) -> Self {
        let out = |asked, available| Self::OutOfPhysicalMemory {
            requested: index(asked),
            available: index(available),
        };
        match error {
            ElasticError::NeverFits { asked, limit } => out(asked, limit),
            ElasticError::AfterFreeing { asked, limit, used, .. }
            | ElasticError::OverBudget { asked, limit, used, .. } => {
                out(asked, limit.saturating_sub(used))
            }
            ElasticError::CardFull { asked, .. } => out(asked, free),
            ElasticError::OutOfRange { blocks, count } => Self::InvalidOffset {
                offset: index(blocks.start).saturating_mul(page),
                size: index(blocks.end.saturating_sub(blocks.start)).saturating_mul(page),
                capacity: index(count).saturating_mul(page),
            },
            ElasticError::AlreadyCommitted { block } => {
                Self::AlreadyMapped { offset: index(block) * page, size: page }
            }
            ElasticError::NotCommitted { block } => {
                Self::NotMapped { offset: index(block) * page, size: page }
            }
            ElasticError::Driver(error) => error.into(),
            other => Self::other(other.to_string()),
        }
    }
}

impl From<CudaError> for VmmError {
    fn from(error: CudaError) -> Self {
        match error.call {
            "cuMemMap" | "MappedRange::map" => Self::MappingFailed(error.to_string()),
            "cuMemUnmap" | "MappedRange::unmap" => Self::UnmappingFailed(error.to_string()),
            _ => Self::CudaError(error.to_string()),
        }
    }
}

impl From<PageError> for VmmError {
    fn from(error: PageError) -> Self {
        error.cuda().clone().into()
    }
}

#[cfg(all(test, feature = "candle"))]
mod tests {
    use super::*;

    fn of_candle() -> Result<()> {
        Err(candle_core::Error::msg("a message of Candle"))?
    }

    #[test]
    fn errors_of_candle_turn_into_ours_and_keep_their_words() {
        let candle = of_candle().unwrap_err();
        assert!(matches!(candle, VmmError::CandleError(_)));
        assert!(candle.to_string().contains("a message of Candle"), "{candle}");
    }

    #[test]
    fn an_error_names_the_thing() {
        for (error, words) in [
            (VmmError::NotCuda("the CPU".into()), vec!["CUDA device", "the CPU"]),
            (
                VmmError::InUse { offset: 1, size: 2, tensor_offset: 3, tensor_size: 4 },
                vec!["2 bytes at offset 1", "4 bytes at offset 3", "in use"],
            ),
            (
                VmmError::MisalignedTensor { dtype: DType::F32, offset: 6, size: 4 },
                vec!["f32", "offset 6", "multiple of 4"],
            ),
            (
                VmmError::OversizedTensor { dtype: DType::F64, shape: vec![9, 8] },
                vec!["f64", "[9, 8]"],
            ),
            (VmmError::EmptyTensor { dtype: DType::U8, shape: vec![0] }, vec!["u8", "[0]"]),
            (VmmError::NoWholeBytes { dtype: DType::F4 }, vec!["f4"]),
            (VmmError::FreesElsewhere("cuMemFreeAsync"), vec!["cuMemFreeAsync", "libcuda"]),
        ] {
            let text = error.to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        }
    }
}
