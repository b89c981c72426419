//! Which name is which function, and `cuGetProcAddress`'s version logic.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};
use std::ptr;
use std::sync::OnceLock;

use millpond_cuda::sys::{
    CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdevice, CUdeviceptr, CUevent,
    CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUmemAccessDesc, CUmemAllocationProp,
    CUmemGenericAllocationHandle, CUmemLocation, CUmemPoolProps, CUmemPoolPtrExportData,
    CUmemoryPool, CUmodule, CUstream, CUuuid, NvmlDevice, NvmlMemory, NvmlProcessInfo, NvmlStatus,
    Status,
};

/// The CUDA version that the driver speaks.
pub const CUDA_VERSION: c_int = 13_000;

/// Makes a table from a list; each function is checked to have exactly the listed signature.
macro_rules! table {
    ($names:ident, $address:ident, $status:ty; $($name:ident($($arg:ident: $type:ty),* $(,)?);)*) => {
        const $names: &[&str] = &[$(stringify!($name)),*];

        fn $address(name: &str) -> Option<*const c_void> {
            match name {
                $(stringify!($name) => {
                    let function: unsafe extern "C" fn($($type),*) -> $status = super::$name;
                    Some(function as *const c_void)
                })*
                _ => None,
            }
        }
    };
}
macro_rules! cuda_table { ($($list:tt)*) => { table!(CUDA, cuda_address, Status; $($list)*); } }
macro_rules! extra_table { ($($list:tt)*) => { table!(EXTRA, extra_address, Status; $($list)*); } }
macro_rules! nvml_table { ($($list:tt)*) => { table!(NVML, nvml_address, NvmlStatus; $($list)*); } }
millpond_cuda::cuda_entry_points!(cuda_table);
millpond_cuda::nvml_entry_points!(nvml_table);
crate::extra_entry_points!(extra_table);

macro_rules! aliases { ($($alias:ident = $name:ident($($arg:ident: $type:ty),*);)*) => { &[$((stringify!($alias), stringify!($name))),*] } }
const ALIASES: &[(&str, &str)] = crate::alias_entry_points!(aliases);
const NVML_ALIASES: &[(&str, &str)] = crate::nvml_alias_entry_points!(aliases);

fn through_alias<'a>(name: &'a str, aliases: &'static [(&str, &str)]) -> &'a str {
    aliases.iter().find(|alias| alias.0 == name).map_or(name, |alias| alias.1)
}

/// The address of a `cu*` function by the name that `dlsym` would find, or null.
#[must_use]
pub fn cuda_symbol(name: &str) -> *const c_void {
    let name = through_alias(name, ALIASES);
    cuda_address(name).or_else(|| extra_address(name)).unwrap_or(ptr::null())
}

/// The same for `nvml*`.
#[must_use]
pub fn nvml_symbol(name: &str) -> *const c_void {
    nvml_address(through_alias(name, NVML_ALIASES)).unwrap_or(ptr::null())
}

/// The full name of a function given with or without its version.
#[must_use]
pub fn full_name(name: &str) -> Option<&'static str> {
    let all = || CUDA.iter().chain(EXTRA).chain(NVML).copied();
    all().find(|full| *full == name).or_else(|| all().find(|full| base(full) == name))
}

/// A look-up from exported name to address.
pub type Exports = fn(&str) -> *const c_void;

static EXPORTS: OnceLock<Exports> = OnceLock::new();

/// Tells where a shared library has its own copies of the functions, so that `cuGetProcAddress`
/// answers the same addresses as `dlsym`.
pub fn announce_exports(exports: Exports) {
    let _ = EXPORTS.set(exports);
}

fn base(symbol: &str) -> &str {
    symbol.strip_suffix("_v2").or_else(|| symbol.strip_suffix("_v3")).unwrap_or(symbol)
}

/// The CUDA version that brought a function, where it is later than anybody asks for.
fn introduced(symbol: &str) -> c_int {
    match symbol {
        "cuDevicePrimaryCtxRelease_v2"
        | "cuDevicePrimaryCtxSetFlags_v2"
        | "cuMemRetainAllocationHandle" => 11_000,
        "cuGetProcAddress" => 11_030,
        "cuDeviceGetUuid_v2" => 11_040,
        "cuGetProcAddress_v2" => 12_000,
        "cuDeviceGetUuid" => 9_020,
        "cuThreadExchangeStreamCaptureMode" => 10_010,
        "cuMemAddressReserve"
        | "cuMemAddressFree"
        | "cuMemCreate"
        | "cuMemRelease"
        | "cuMemMap"
        | "cuMemUnmap"
        | "cuMemSetAccess"
        | "cuMemGetAccess"
        | "cuMemExportToShareableHandle"
        | "cuMemImportFromShareableHandle"
        | "cuMemGetAllocationGranularity"
        | "cuMemGetAllocationPropertiesFromHandle" => 10_020,
        "cuMemAllocAsync"
        | "cuMemAllocFromPoolAsync"
        | "cuMemFreeAsync"
        | "cuMemPoolCreate"
        | "cuMemPoolDestroy"
        | "cuMemPoolTrimTo"
        | "cuMemPoolSetAttribute"
        | "cuMemPoolGetAttribute"
        | "cuMemPoolSetAccess"
        | "cuMemPoolGetAccess"
        | "cuMemPoolExportToShareableHandle"
        | "cuMemPoolImportFromShareableHandle"
        | "cuMemPoolExportPointer"
        | "cuMemPoolImportPointer"
        | "cuDeviceGetDefaultMemPool"
        | "cuDeviceGetMemPool"
        | "cuDeviceSetMemPool" => 11_020,
        "cuStreamGetCaptureInfo_v2" => 11_030,
        "cuGraphAddMemAllocNode"
        | "cuGraphAddMemFreeNode"
        | "cuGraphMemAllocNodeGetParams"
        | "cuGraphMemFreeNodeGetParams"
        | "cuGraphInstantiateWithFlags"
        | "cuDeviceGetGraphMemAttribute"
        | "cuDeviceSetGraphMemAttribute"
        | "cuDeviceGraphMemTrim" => 11_040,
        "cuGraphUpload" => 11_010,
        "cuGraphInstantiateWithParams" => 12_000,
        "cuMemPrefetchAsync_v2" | "cuMemAdvise_v2" => 12_020,
        "cuStreamGetCaptureInfo_v3" => 12_030,
        "cuStreamBeginCapture_v2" => 10_010,
        "cuStreamEndCapture"
        | "cuStreamIsCapturing"
        | "cuGraphCreate"
        | "cuGraphDestroy"
        | "cuGraphAddMemsetNode"
        | "cuGraphGetNodes"
        | "cuGraphNodeGetType"
        | "cuGraphLaunch"
        | "cuGraphExecDestroy" => 10_000,
        "cuMemAllocManaged" => 6_000,
        "cuDevicePrimaryCtxRetain" | "cuDevicePrimaryCtxGetState" => 7_000,
        "cuMemHostRegister_v2" => 6_050,
        "cuGetErrorName" | "cuGetErrorString" => 6_000,
        _ => 4_000,
    }
}

/// Functions of which the real driver has a second one for the per-thread default stream.
fn has_per_thread_variant(base: &str) -> bool {
    [
        "cuMemcpy",
        "cuMemset",
        "cuStreamSynchronize",
        "cuStreamQuery",
        "cuStreamWaitEvent",
        "cuEventRecord",
        "cuLaunchKernel",
        "cuMemAllocAsync",
        "cuMemAllocFromPoolAsync",
        "cuMemFreeAsync",
        "cuMemPrefetchAsync",
        "cuStreamBeginCapture",
        "cuStreamEndCapture",
        "cuStreamIsCapturing",
        "cuStreamGetCaptureInfo",
        "cuGraphLaunch",
        "cuGraphUpload",
        "cuGraphInstantiateWithParams",
    ]
    .iter()
    .any(|prefix| base.starts_with(prefix))
}

/// What a look-up found.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// The full name of the function.
    Symbol(&'static str),
    /// There is no such function.
    Absent,
    /// There is one, but later than the version asked for.
    TooNew,
}

/// `cuGetProcAddress`: the newest function of a base name that the caller's version knows.
pub fn resolve(name: &str, version: c_int, flags: u64) -> Result<Found, Status> {
    const PER_THREAD: u64 = 2;
    if flags > PER_THREAD || version > CUDA_VERSION + 999 {
        return Err(Status::INVALID_VALUE);
    }
    let candidates: Vec<&'static str> =
        CUDA.iter().chain(EXTRA).copied().filter(|symbol| base(symbol) == name).collect();
    if candidates.is_empty() || (flags == PER_THREAD && has_per_thread_variant(name)) {
        return Ok(Found::Absent);
    }
    let known = candidates.into_iter().filter(|symbol| introduced(symbol) <= version);
    Ok(known.max_by_key(|symbol| introduced(symbol)).map_or(Found::TooNew, Found::Symbol))
}

/// The address that the program gets for a full name.
pub fn exported_address(symbol: &str) -> *const c_void {
    match EXPORTS.get() {
        Some(exports) => exports(symbol),
        None => cuda_symbol(symbol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_function_has_an_address() {
        for name in CUDA.iter().chain(EXTRA).chain(ALIASES.iter().map(|alias| &alias.0)) {
            assert!(!cuda_symbol(name).is_null(), "{name}");
        }
        for name in NVML.iter().chain(NVML_ALIASES.iter().map(|alias| &alias.0)) {
            assert!(!nvml_symbol(name).is_null(), "{name}");
        }
        assert!(cuda_symbol("cuNothing").is_null() && nvml_symbol("nvmlNothing").is_null());
    }

    #[test]
    fn versions_choose_the_function() {
        assert_eq!(resolve("cuMemAlloc", 12_000, 0), Ok(Found::Symbol("cuMemAlloc_v2")));
        assert_eq!(resolve("cuMemAlloc_v2", 12_000, 0), Ok(Found::Absent));
        assert_eq!(resolve("cuMemCreate", 9_000, 0), Ok(Found::TooNew));
        assert_eq!(resolve("cuMemCreate", 99_000, 0), Err(Status::INVALID_VALUE));
        assert_eq!(resolve("cuDeviceGetUuid", 9_020, 0), Ok(Found::Symbol("cuDeviceGetUuid")));
        assert_eq!(resolve("cuDeviceGetUuid", 11_040, 0), Ok(Found::Symbol("cuDeviceGetUuid_v2")));
        assert_eq!(resolve("cuMemcpyHtoD", 12_000, 2), Ok(Found::Absent));
        assert_eq!(resolve("cuMemAlloc", 12_000, 2), Ok(Found::Symbol("cuMemAlloc_v2")));
    }

    #[test]
    fn fault_plans_may_leave_the_version_out() {
        assert_eq!(full_name("cuMemAlloc"), Some("cuMemAlloc_v2"));
        assert_eq!(full_name("cuMemAlloc_v2"), Some("cuMemAlloc_v2"));
        assert_eq!(full_name("nvmlInit"), Some("nvmlInit_v2"));
        assert_eq!(full_name("cuMem"), None);
    }
}
