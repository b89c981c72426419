//! Errors of pools, tensors and raw calls.
//!
//! The list is that of `millpond-elastic`, with what only tensors and Candle can meet. It is a type of
//! its own because Candle's errors turn into it, which only the crate of one of the two types can say.

use candle_core::DType;

/// What this crate answers.
pub type Result<T> = std::result::Result<T, VmmError>;

millpond_elastic::vmm_error! {
    /// Something that a pool or a raw call refused, or the driver or Candle did.
    #[derive(Debug, thiserror::Error)]
    pub enum VmmError {
        /// Candle failed.
        #[error("Candle failed: {0}")]
        CandleError(#[from] candle_core::Error),
        /// A device without CUDA.
        #[error("a pool needs a CUDA device, and this is {0}")]
        NotCuda(String),
        /// Candle and the pool would work in two contexts.
        #[error("Candle's context of device {ordinal} is not its primary context in the driver {driver}")]
        OtherContext {
            /// The device's number.
            ordinal: usize,
            /// The library of the pool's driver.
            driver: String,
        },
        /// A tensor stands on pages that were to be freed.
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
        #[error("the bytes of a tensor of {} with the shape {shape:?} cannot be counted", dtype.as_str())]
        OversizedTensor {
            /// The type of its elements.
            dtype: DType,
            /// Its shape.
            shape: Vec<usize>,
        },
        /// A tensor without any element.
        #[error("a tensor of {} with the shape {shape:?} has no element", dtype.as_str())]
        EmptyTensor {
            /// The type of its elements.
            dtype: DType,
            /// Its shape.
            shape: Vec<usize>,
        },
        /// A type whose elements are not whole bytes.
        #[error("elements of {} are not whole bytes, so there is no tensor of them over a pool", dtype.as_str())]
        NoWholeBytes {
            /// The type.
            dtype: DType,
        },
        /// A call of this crate's functions ended at somebody else's.
        #[error(
            "Candle frees memory by a {0} that is not this crate's, so a tensor over a pool could not be \
             dropped: link libcuda as Candle does, and nothing else that defines {0}"
        )]
        FreesElsewhere(&'static str),
    }
}

impl From<millpond_elastic::VmmError> for VmmError {
    fn from(error: millpond_elastic::VmmError) -> Self {
        use millpond_elastic::VmmError as Engine;
        match error {
            Engine::CudaError(text) => Self::CudaError(text),
            Engine::OutOfVirtualMemory { requested, available } => {
                Self::OutOfVirtualMemory { requested, available }
            }
            Engine::OutOfPhysicalMemory { requested, available } => {
                Self::OutOfPhysicalMemory { requested, available }
            }
            Engine::InvalidOffset { offset, size, capacity } => {
                Self::InvalidOffset { offset, size, capacity }
            }
            Engine::MappingFailed(text) => Self::MappingFailed(text),
            Engine::UnmappingFailed(text) => Self::UnmappingFailed(text),
            Engine::InvalidAlignment { actual, required } => {
                Self::InvalidAlignment { actual, required }
            }
            Engine::AlreadyMapped { offset, size } => Self::AlreadyMapped { offset, size },
            Engine::NotMapped { offset, size } => Self::NotMapped { offset, size },
            Engine::InvalidPageSize(size) => Self::InvalidPageSize(size),
            Engine::UnsupportedDevice => Self::UnsupportedDevice,
            Engine::ModelNotFound(name) => Self::ModelNotFound(name),
            Engine::ModelAlreadyExists(name) => Self::ModelAlreadyExists(name),
            Engine::Other(text) => Self::Other(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_candle() -> Result<()> {
        Err(candle_core::Error::msg("a message of Candle"))?
    }

    fn of_the_engine() -> Result<()> {
        Err(millpond_elastic::VmmError::NotMapped { offset: 7, size: 2 })?
    }

    #[test]
    fn errors_of_candle_and_of_the_engine_turn_into_ours_and_keep_their_words() {
        let candle = of_candle().unwrap_err();
        assert!(matches!(candle, VmmError::CandleError(_)));
        assert!(candle.to_string().contains("a message of Candle"), "{candle}");
        let engine = of_the_engine().unwrap_err();
        assert!(matches!(engine, VmmError::NotMapped { offset: 7, size: 2 }));
        let words = millpond_elastic::VmmError::NotMapped { offset: 7, size: 2 }.to_string();
        assert_eq!(engine.to_string(), words);
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
