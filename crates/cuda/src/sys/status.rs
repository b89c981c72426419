//! Status codes as the driver returns them: plain numbers, never a closed enum.

use std::fmt;

/// What a `cu*` function returned.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Status(pub u32);

/// What an `nvml*` function returned.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NvmlStatus(pub u32);

/// Makes the constants, the names and the texts of one status type from one list.
macro_rules! status_codes {
    ($type:ident, $fallback:literal, { $( $constant:ident = $number:literal, $name:literal, $text:literal; )* }) => {
        impl $type {
            $(
                #[doc = concat!("`", $name, "`: ", $text, ".")]
                pub const $constant: $type = $type($number);
            )*

            /// Every code that this crate knows.
            pub const KNOWN: &'static [$type] = &[$( Self::$constant ),*];

            /// The constant's name in NVIDIA's header, for codes that this crate knows.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 { $( $number => Some($name), )* _ => None }
            }

            /// What the code means in a few words, for codes that this crate knows.
            #[must_use]
            pub const fn text(self) -> Option<&'static str> {
                match self.0 { $( $number => Some($text), )* _ => None }
            }

            /// True for code 0.
            #[must_use]
            pub const fn is_success(self) -> bool {
                self.0 == 0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} ({})", self.name().unwrap_or($fallback), self.0)
            }
        }
    };
}

status_codes!(Status, "CUDA_ERROR", {
    SUCCESS = 0, "CUDA_SUCCESS", "no error";
    INVALID_VALUE = 1, "CUDA_ERROR_INVALID_VALUE", "invalid argument";
    OUT_OF_MEMORY = 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory";
    NOT_INITIALIZED = 3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error";
    DEINITIALIZED = 4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down";
    STUB_LIBRARY = 34, "CUDA_ERROR_STUB_LIBRARY", "the library is a stub";
    DEVICE_UNAVAILABLE = 46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "device is busy or unavailable";
    NO_DEVICE = 100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected";
    INVALID_DEVICE = 101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal";
    INVALID_IMAGE = 200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid";
    INVALID_CONTEXT = 201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context";
    MAP_FAILED = 205, "CUDA_ERROR_MAP_FAILED", "mapping failed";
    UNMAP_FAILED = 206, "CUDA_ERROR_UNMAP_FAILED", "unmapping failed";
    ALREADY_MAPPED = 208, "CUDA_ERROR_ALREADY_MAPPED", "resource already mapped";
    NO_BINARY_FOR_GPU = 209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image for the device";
    NOT_MAPPED = 211, "CUDA_ERROR_NOT_MAPPED", "resource not mapped";
    ECC_UNCORRECTABLE = 214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error";
    UNSUPPORTED_LIMIT = 215, "CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported on this architecture";
    INVALID_PTX = 218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed";
    NVLINK_UNCORRECTABLE = 220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "uncorrectable NVLink error";
    JIT_COMPILER_NOT_FOUND = 221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler not found";
    UNSUPPORTED_PTX_VERSION = 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "unsupported PTX version";
    CONTAINED = 226, "CUDA_ERROR_CONTAINED", "contained device error";
    INVALID_SOURCE = 300, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid";
    OPERATING_SYSTEM = 304, "CUDA_ERROR_OPERATING_SYSTEM", "an operating system call failed";
    INVALID_HANDLE = 400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle";
    ILLEGAL_STATE = 401, "CUDA_ERROR_ILLEGAL_STATE", "resource not in a valid state";
    NOT_FOUND = 500, "CUDA_ERROR_NOT_FOUND", "named symbol not found";
    NOT_READY = 600, "CUDA_ERROR_NOT_READY", "device not ready";
    ILLEGAL_ADDRESS = 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES = 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch";
    LAUNCH_TIMEOUT = 702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated";
    CONTEXT_IS_DESTROYED = 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed";
    ASSERT = 710, "CUDA_ERROR_ASSERT", "device-side assert triggered";
    HOST_MEMORY_ALREADY_REGISTERED = 712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "host memory is already registered";
    HOST_MEMORY_NOT_REGISTERED = 713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "host memory is not registered";
    HARDWARE_STACK_ERROR = 714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error";
    ILLEGAL_INSTRUCTION = 715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered";
    MISALIGNED_ADDRESS = 716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address";
    INVALID_ADDRESS_SPACE = 717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "operation not supported on this address space";
    INVALID_PC = 718, "CUDA_ERROR_INVALID_PC", "invalid program counter";
    LAUNCH_FAILED = 719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure";
    TENSOR_MEMORY_LEAK = 721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "tensor memory not completely freed";
    NOT_PERMITTED = 800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted";
    NOT_SUPPORTED = 801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported";
    SYSTEM_NOT_READY = 802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized";
    SYSTEM_DRIVER_MISMATCH = 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "driver and library versions do not match";
    MPS_RPC_FAILURE = 806, "CUDA_ERROR_MPS_RPC_FAILURE", "MPS client lost its server";
    MPS_CLIENT_TERMINATED = 810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "MPS client was terminated";
    STREAM_CAPTURE_UNSUPPORTED = 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing";
    STREAM_CAPTURE_INVALIDATED = 901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "a prior error invalidated the capture";
    STREAM_CAPTURE_MERGE = 902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "operation would merge two captures";
    STREAM_CAPTURE_UNMATCHED = 903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture was not begun in this stream";
    STREAM_CAPTURE_UNJOINED = 904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "the capture has work that was not joined to the first stream";
    STREAM_CAPTURE_ISOLATION = 905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "a capture would depend on work outside of it";
    STREAM_CAPTURE_IMPLICIT = 906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "operation would make the legacy stream depend on a capturing blocking stream";
    CAPTURED_EVENT = 907, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream";
    STREAM_CAPTURE_WRONG_THREAD = 908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "the capture was begun by another thread";
    TIMEOUT = 909, "CUDA_ERROR_TIMEOUT", "wait operation timed out";
    UNKNOWN = 999, "CUDA_ERROR_UNKNOWN", "unknown error";
});

status_codes!(NvmlStatus, "NVML_ERROR", {
    SUCCESS = 0, "NVML_SUCCESS", "no error";
    UNINITIALIZED = 1, "NVML_ERROR_UNINITIALIZED", "NVML was not initialized";
    INVALID_ARGUMENT = 2, "NVML_ERROR_INVALID_ARGUMENT", "invalid argument";
    NOT_SUPPORTED = 3, "NVML_ERROR_NOT_SUPPORTED", "not supported";
    NO_PERMISSION = 4, "NVML_ERROR_NO_PERMISSION", "insufficient permissions";
    ALREADY_INITIALIZED = 5, "NVML_ERROR_ALREADY_INITIALIZED", "already initialized";
    NOT_FOUND = 6, "NVML_ERROR_NOT_FOUND", "not found";
    INSUFFICIENT_SIZE = 7, "NVML_ERROR_INSUFFICIENT_SIZE", "insufficient size";
    DRIVER_NOT_LOADED = 9, "NVML_ERROR_DRIVER_NOT_LOADED", "driver not loaded";
    TIMEOUT = 10, "NVML_ERROR_TIMEOUT", "timeout";
    LIBRARY_NOT_FOUND = 12, "NVML_ERROR_LIBRARY_NOT_FOUND", "library not found";
    FUNCTION_NOT_FOUND = 13, "NVML_ERROR_FUNCTION_NOT_FOUND", "function not found";
    GPU_IS_LOST = 15, "NVML_ERROR_GPU_IS_LOST", "GPU is lost";
    LIB_RM_VERSION_MISMATCH = 18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "driver and library versions do not match";
    ARGUMENT_VERSION_MISMATCH = 25, "NVML_ERROR_ARGUMENT_VERSION_MISMATCH", "the structure's version is not known";
    UNKNOWN = 999, "NVML_ERROR_UNKNOWN", "unknown error";
});

impl Status {
    /// True when the context that met the code is lost: every later call in it fails the same way
    /// and only a new process (or context) helps.
    #[must_use]
    pub const fn is_sticky(self) -> bool {
        matches!(
            self,
            Self::ECC_UNCORRECTABLE
                | Self::NVLINK_UNCORRECTABLE
                | Self::CONTAINED
                | Self::ILLEGAL_ADDRESS
                | Self::LAUNCH_TIMEOUT
                | Self::CONTEXT_IS_DESTROYED
                | Self::ASSERT
                | Self::HARDWARE_STACK_ERROR
                | Self::ILLEGAL_INSTRUCTION
                | Self::MISALIGNED_ADDRESS
                | Self::INVALID_ADDRESS_SPACE
                | Self::INVALID_PC
                | Self::LAUNCH_FAILED
                | Self::TENSOR_MEMORY_LEAK
                | Self::MPS_RPC_FAILURE
                | Self::MPS_CLIENT_TERMINATED
        )
    }
}

/// The same text as `Display`: a status is only ever read by people.
impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_shown_with_name_and_number() {
        assert_eq!(Status::OUT_OF_MEMORY.to_string(), "CUDA_ERROR_OUT_OF_MEMORY (2)");
        assert_eq!(format!("{:?}", Status(12_345)), "CUDA_ERROR (12345)");
        assert_eq!(NvmlStatus(7).to_string(), "NVML_ERROR_INSUFFICIENT_SIZE (7)");
    }

    #[test]
    fn only_lost_contexts_are_sticky() {
        assert!(Status::ILLEGAL_ADDRESS.is_sticky());
        assert!(Status(719).is_sticky());
        assert!(!Status::OUT_OF_MEMORY.is_sticky());
        assert!(!Status::SUCCESS.is_sticky());
    }
}
