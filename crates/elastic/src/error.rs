//! Errors of pools and of the raw calls, under the names of `candle-cuda-vmm`.
//!
//! Its variant for errors of Candle is missing: this crate does not depend on Candle. The list of the
//! others is a macro, so that the crate which does (`integrations/candle`) makes a type of its own of
//! the same list.

use crate::elastic_error::ElasticError;
use crate::pages::PageError;
use millpond_cuda::CudaError;

/// What pools and raw calls answer.
pub type Result<T> = std::result::Result<T, VmmError>;

/// The one list of errors: an enum of this name with all of them, and with those that are added.
/// Who uses it derives `thiserror::Error`.
#[doc(hidden)]
#[macro_export]
macro_rules! vmm_error {
    ($(#[$about:meta])* pub enum $name:ident { $($more:tt)* }) => {
        $(#[$about])*
        pub enum $name {
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
            $($more)*
        }

        impl $name {
            /// An error of the driver's layer.
            #[must_use]
            pub fn from_cuda_result(error: $crate::CudaError) -> Self {
                $crate::VmmError::from(error).into()
            }

            /// An error of the driver, in words.
            pub fn cuda<S: Into<String>>(message: S) -> Self {
                Self::CudaError(message.into())
            }

            /// Any other error, in words.
            pub fn other<S: Into<String>>(message: S) -> Self {
                Self::Other(message.into())
            }
        }
    };
}

vmm_error! {
    /// Something that a pool or a raw call refused, or the driver did.
    #[derive(Debug, thiserror::Error)]
    pub enum VmmError {}
}

impl VmmError {
    /// An error of the engine about a pool with pages of this size; `free` is what the card has.
    pub(crate) fn of_pool(error: ElasticError, page: usize, free: u64) -> Self {
        use crate::index;
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
