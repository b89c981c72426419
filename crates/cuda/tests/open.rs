//! Opening drivers: choices, missing libraries and symbols, with a provider made for the test.

use millpond_cuda::sys::{NvmlStatus, Provider, Status};
use millpond_cuda::{Driver, DriverChoice, DriverError, DriverKind, Nvml};
use std::ffi::c_void;

/// Answers every call with "not supported", except those that a test needs.
mod fake {
    use super::{NvmlStatus, Status, c_void};
    use millpond_cuda::sys::*;
    use std::ffi::{c_char, c_int, c_uchar, c_uint};

    macro_rules! cuda_functions {
        ($( $name:ident ( $( $argument:ident : $type:ty ),* ); )*) => {
            #[allow(non_snake_case, unused_variables, reason = "the C symbols of the list")]
            mod cuda {
                use super::*;
                $( pub extern "C" fn $name($( $argument: $type ),*) -> Status { Status(801) } )*
            }
            pub fn cuda_symbol(name: &str) -> *const c_void {
                match name {
                    "cuInit" => init as extern "C" fn(c_uint) -> Status as *const c_void,
                    "cuDriverGetVersion" => version as extern "C" fn(_) -> Status as *const c_void,
                    $( stringify!($name) => cuda::$name as extern "C" fn($( $type ),*) -> Status as *const c_void, )*
                    _ => std::ptr::null(),
                }
            }
        };
    }
    millpond_cuda::cuda_entry_points!(cuda_functions);

    macro_rules! nvml_functions {
        ($( $name:ident ( $( $argument:ident : $type:ty ),* ); )*) => {
            #[allow(non_snake_case, unused_variables, reason = "the C symbols of the list")]
            mod nvml {
                use super::*;
                $( pub extern "C" fn $name($( $argument: $type ),*) -> NvmlStatus { NvmlStatus(3) } )*
            }
            pub fn nvml_symbol(name: &str) -> *const c_void {
                match name {
                    $( stringify!($name) => nvml::$name as extern "C" fn($( $type ),*) -> NvmlStatus as *const c_void, )*
                    _ => std::ptr::null(),
                }
            }
        };
    }
    millpond_cuda::nvml_entry_points!(nvml_functions);

    extern "C" fn init(_flags: c_uint) -> Status {
        Status::SUCCESS
    }

    extern "C" fn version(version: *mut c_int) -> Status {
        // SAFETY: the caller passes a valid out-pointer.
        unsafe { *version = 13_000 };
        Status::SUCCESS
    }
}

static WHOLE: Provider =
    Provider { name: "fake", cuda_symbol: fake::cuda_symbol, nvml_symbol: fake::nvml_symbol };

static OLD: Provider = Provider {
    name: "old",
    cuda_symbol: |name| if name == "cuMemMap" { std::ptr::null() } else { fake::cuda_symbol(name) },
    nvml_symbol: |_| std::ptr::null(),
};

#[test]
fn a_provider_is_a_soft_driver() {
    let driver = Driver::open(DriverChoice::Soft, Some(&WHOLE)).unwrap();
    assert_eq!(driver.kind(), DriverKind::Soft);
    assert_eq!(driver.name(), "fake");
    assert_eq!(driver.version().to_string(), "13.0");
    driver.init().unwrap();
    driver.init().unwrap();
    let error = driver.devices().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cuDeviceGetCount: CUDA_ERROR_NOT_SUPPORTED (801): operation not supported"
    );
    let error = Nvml::open(&driver).unwrap_err();
    assert_eq!(error.to_string(), "nvmlInit_v2: NVML_ERROR_NOT_SUPPORTED (3): not supported");
}

#[test]
fn a_missing_symbol_is_named_with_library_and_version() {
    let error = Driver::open(DriverChoice::Soft, Some(&OLD)).unwrap_err();
    assert_eq!(error.to_string(), "old has no symbol `cuMemMap` (CUDA 13.0)");
}

#[test]
fn a_missing_library_names_the_paths() {
    let path = "/nowhere/libcuda.so.1";
    let error = Driver::open(DriverChoice::Path(path.into()), Some(&WHOLE)).unwrap_err();
    assert!(error.to_string().starts_with("cannot load the CUDA driver: /nowhere/libcuda.so.1 ("));
}

#[test]
fn a_library_that_is_no_driver_is_an_error() {
    let error = Driver::open(DriverChoice::Path("libc.so.6".into()), None).unwrap_err();
    assert_eq!(error.to_string(), "libc.so.6 has no symbol `cuInit`");
}

#[test]
fn soft_without_a_provider_is_an_error() {
    assert_eq!(Driver::open(DriverChoice::Soft, None).unwrap_err(), DriverError::NoSoftDriver);
}

#[test]
fn auto_finds_some_driver_when_there_is_a_soft_one() {
    let driver = Driver::open(DriverChoice::Auto, Some(&WHOLE)).unwrap();
    assert!(driver.kind() == DriverKind::Cuda || driver.name() == "fake");
}
