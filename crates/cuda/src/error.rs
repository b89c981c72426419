//! What can go wrong, by what the caller can do about it.

use crate::sys::{LoadError, NvmlStatus, Status};
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// A driver call that failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{call}: {status}{}{}", Suffix(": ", status.text()), Parenthesised(detail.as_deref()))]
pub struct CudaError {
    /// The symbol that was called, or the safe function that refused its arguments.
    pub call: &'static str,
    /// What it returned.
    pub status: Status,
    /// Sizes and addresses that belong to the call.
    pub detail: Option<String>,
}

impl CudaError {
    /// Turns a status into a result.
    ///
    /// # Errors
    /// Every status but success.
    pub const fn check(call: &'static str, status: Status) -> Result<(), Self> {
        if status.is_success() { Ok(()) } else { Err(Self { call, status, detail: None }) }
    }

    /// An argument that the safe layer refuses before the driver sees it.
    pub(crate) fn refused(call: &'static str, detail: String) -> Self {
        Self { call, status: Status::INVALID_VALUE, detail: Some(detail) }
    }

    /// Adds what the call was about.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The device (or its budget) has no room: free something and try again.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.status == Status::OUT_OF_MEMORY
    }

    /// The driver has shut down, or the context was destroyed: nothing is left to give back.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self.status, Status::DEINITIALIZED | Status::CONTEXT_IS_DESTROYED)
    }

    /// The context is lost: only a new process (or context) helps.
    #[must_use]
    pub const fn is_sticky(&self) -> bool {
        self.status.is_sticky()
    }

    /// The work is still running.
    #[must_use]
    pub fn is_not_ready(&self) -> bool {
        self.status == Status::NOT_READY
    }
}

/// An NVML call that failed. NVML is a source of readings: callers can always do without.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{call}: {status}{}", Suffix(": ", status.text()))]
pub struct NvmlError {
    /// The symbol that was called.
    pub call: &'static str,
    /// What it returned.
    pub status: NvmlStatus,
}

impl NvmlError {
    /// Turns a status into a result.
    ///
    /// # Errors
    /// Every status but success.
    pub const fn check(call: &'static str, status: NvmlStatus) -> Result<(), Self> {
        if status.is_success() { Ok(()) } else { Err(Self { call, status }) }
    }
}

/// No driver could be made ready.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DriverError {
    /// No candidate for the library could be opened.
    #[error("cannot load {name}: {}", Tried(tried))]
    Library {
        /// What was looked for, for example `the CUDA driver`.
        name: &'static str,
        /// Each path tried and what the loader said.
        tried: Vec<(PathBuf, String)>,
    },
    /// The library is older than this program, or not what it says.
    #[error("{} has no symbol `{symbol}`{}", library.display(), Parenthesised(version.as_deref()))]
    MissingSymbol {
        /// The symbol of the list.
        symbol: &'static str,
        /// The library, or the name of the provider.
        library: PathBuf,
        /// The driver's version in words, when it could be asked.
        version: Option<String>,
    },
    /// The software driver was asked for in a program that was built without it.
    #[error("the software driver was asked for, but is not part of this program")]
    NoSoftDriver,
    /// The driver works and has no device.
    #[error("{} reports no device", library.display())]
    NoDevice {
        /// The library.
        library: PathBuf,
    },
    /// A driver call failed.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// An NVML call failed.
    #[error(transparent)]
    Nvml(#[from] NvmlError),
}

impl DriverError {
    pub(crate) fn library(name: &'static str, error: LoadError) -> Self {
        Self::Library { name, tried: error.tried }
    }
}

/// Writes a prefix and a text, or nothing.
struct Suffix(&'static str, Option<&'static str>);

impl fmt::Display for Suffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.1.map_or(Ok(()), |text| write!(f, "{}{text}", self.0))
    }
}

/// Writes ` (text)`, or nothing.
struct Parenthesised<'a>(Option<&'a str>);

impl fmt::Display for Parenthesised<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |text| write!(f, " ({text})"))
    }
}

/// Writes the list of paths with the loader's words.
struct Tried<'a>(&'a [(PathBuf, String)]);

impl fmt::Display for Tried<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (path, reason)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{} ({reason})", path.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_has_call_code_text_and_detail() {
        let error = CudaError::check("cuMemCreate", Status::OUT_OF_MEMORY)
            .unwrap_err()
            .with_detail("requested 1073741824 bytes");
        assert_eq!(
            error.to_string(),
            "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory (requested 1073741824 bytes)"
        );
        assert!(error.is_out_of_memory() && !error.is_sticky() && !error.is_not_ready());
        let unknown = CudaError::check("cuInit", Status(12_345)).unwrap_err();
        assert_eq!(unknown.to_string(), "cuInit: CUDA_ERROR (12345)");
    }

    #[test]
    fn driver_errors_name_what_was_tried() {
        let missing = DriverError::MissingSymbol {
            symbol: "cuMemMap",
            library: "/x/libcuda.so.1".into(),
            version: Some("CUDA 10.1".into()),
        };
        assert_eq!(missing.to_string(), "/x/libcuda.so.1 has no symbol `cuMemMap` (CUDA 10.1)");
        let library = DriverError::Library {
            name: "the CUDA driver",
            tried: vec![("a.so".into(), "no".into()), ("b.so".into(), "neither".into())],
        };
        assert_eq!(library.to_string(), "cannot load the CUDA driver: a.so (no); b.so (neither)");
    }
}
