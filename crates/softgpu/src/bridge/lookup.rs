//! Which name is which function, and `cuGetProcAddress`'s version logic.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};
use std::ptr;
use std::sync::OnceLock;

// The lists name every type that some signature uses.
use millpond_cuda::sys::*;

use super::versions::introduced;

/// The CUDA version that the driver speaks.
pub const CUDA_VERSION: c_int = 13_000;

/// Makes a table from a list; each function is checked to have exactly the listed signature.
macro_rules! table {
    ($address:ident, $status:ty; $($name:ident($($arg:ident: $type:ty),* $(,)?);)*) => {
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
macro_rules! named_table {
    ($names:ident, $address:ident, $status:ty; $($name:ident($($args:tt)*);)*) => {
        const $names: &[&str] = &[$(stringify!($name)),*];
        table!($address, $status; $($name($($args)*);)*);
    };
}
macro_rules! cuda_table { ($($list:tt)*) => { named_table!(CUDA, cuda_address, Status; $($list)*); } }
macro_rules! extra_table { ($($list:tt)*) => { named_table!(EXTRA, extra_address, Status; $($list)*); } }
macro_rules! nvml_table { ($($list:tt)*) => { named_table!(NVML, nvml_address, NvmlStatus; $($list)*); } }
macro_rules! nvml_extra_table { ($($list:tt)*) => { named_table!(NVML_EXTRA, nvml_extra_address, NvmlStatus; $($list)*); } }
millpond_cuda::cuda_entry_points!(cuda_table);
millpond_cuda::nvml_entry_points!(nvml_table);
crate::extra_entry_points!(extra_table);
crate::nvml_extra_entry_points!(nvml_extra_table);
macro_rules! twin_table { ($($twin:ident = $name:ident($($args:tt)*);)*) => {
    table!(twin_address, Status; $($twin($($args)*);)*);
    const TWINS: &[(&str, &str)] = &[$((stringify!($twin), stringify!($name))),*];
} }
crate::twin_entry_points!(twin_table);

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
    cuda_address(name)
        .or_else(|| extra_address(name))
        .or_else(|| twin_address(name))
        .unwrap_or(ptr::null())
}

/// The same for `nvml*`.
#[must_use]
pub fn nvml_symbol(name: &str) -> *const c_void {
    let name = through_alias(name, NVML_ALIASES);
    nvml_address(name).or_else(|| nvml_extra_address(name)).unwrap_or(ptr::null())
}

/// The full name of a function given with or without its version.
#[must_use]
pub fn full_name(name: &str) -> Option<&'static str> {
    let all = || CUDA.iter().chain(EXTRA).chain(NVML).chain(NVML_EXTRA).copied();
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
    ["_v2", "_v3", "_v4"].iter().find_map(|end| symbol.strip_suffix(end)).unwrap_or(symbol)
}

/// The function of the same work whose stream 0 is the thread's own, where there is one.
fn twin(symbol: &'static str) -> &'static str {
    TWINS.iter().find(|(_, name)| *name == symbol).map_or(symbol, |(twin, _)| twin)
}

/// What a look-up found.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// The full name of the function.
    Symbol(&'static str),
    /// `cuGraphInstantiate` as it is since CUDA 12, which is exported under no name.
    Instantiate,
    /// There is no such function.
    Absent,
    /// There is one, but later than the version asked for.
    TooNew,
}

/// `cuGetProcAddress`: the newest function of a base name that the caller's version knows.
///
/// A version newer than the driver's is refused, as on the card; both flags together are not.
pub fn resolve(name: &str, version: c_int, flags: u64) -> Result<Found, Status> {
    const LEGACY: u64 = 1;
    const PER_THREAD: u64 = 2;
    if flags & !(LEGACY | PER_THREAD) != 0 || version > CUDA_VERSION {
        return Err(Status::INVALID_VALUE);
    }
    if name == "cuGraphInstantiate" && version >= 12_000 {
        return Ok(Found::Instantiate);
    }
    let of_name = CUDA.iter().chain(EXTRA).copied().filter(|symbol| base(symbol) == name);
    let candidates: Vec<_> =
        of_name.map(|symbol| (introduced(symbol).unwrap_or_default(), symbol)).collect();
    if candidates.is_empty() {
        return Ok(Found::Absent);
    }
    let known = candidates.into_iter().filter(|(since, _)| *since <= version);
    Ok(match known.max_by_key(|(since, _)| *since) {
        None => Found::TooNew,
        Some((_, symbol)) if flags & PER_THREAD != 0 => Found::Symbol(twin(symbol)),
        Some((_, symbol)) => Found::Symbol(symbol),
    })
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
        let others = TWINS.iter().chain(ALIASES).map(|other| &other.0);
        for name in CUDA.iter().chain(EXTRA).chain(others) {
            assert!(!cuda_symbol(name).is_null(), "{name}");
        }
        for name in NVML.iter().chain(NVML_EXTRA).chain(NVML_ALIASES.iter().map(|alias| &alias.0)) {
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
        assert_eq!(resolve("cuMemCreate", CUDA_VERSION + 10, 0), Err(Status::INVALID_VALUE));
        assert_eq!(resolve("cuMemCreate", CUDA_VERSION, 0), Ok(Found::Symbol("cuMemCreate")));
        assert_eq!(resolve("cuDeviceGetUuid", 9_020, 0), Ok(Found::Symbol("cuDeviceGetUuid")));
        assert_eq!(resolve("cuDeviceGetUuid", 11_040, 0), Ok(Found::Symbol("cuDeviceGetUuid_v2")));
        assert_eq!(resolve("cuGetProcAddress", 11_080, 0), Ok(Found::Symbol("cuGetProcAddress")));
        assert_eq!(resolve("cuGraphInstantiate", 12_000, 0), Ok(Found::Instantiate));
        assert_eq!(resolve("cuGraphInstantiate", 11_080, 0), Ok(Found::Absent));
        let second = Ok(Found::Symbol("cuGetProcAddress_v2"));
        assert_eq!(resolve("cuGetProcAddress", 12_000, 0), second);
    }

    #[test]
    fn flags_choose_the_twin() {
        let plain = Ok(Found::Symbol("cuMemcpyHtoD_v2"));
        assert_eq!(resolve("cuMemcpyHtoD", 12_000, 0), plain);
        assert_eq!(resolve("cuMemcpyHtoD", 12_000, 1), plain);
        assert_eq!(resolve("cuMemcpyHtoD", 12_000, 2), Ok(Found::Symbol("cuMemcpyHtoD_v2_ptds")));
        assert_eq!(resolve("cuEventRecord", 12_000, 2), Ok(Found::Symbol("cuEventRecord_ptsz")));
        assert_eq!(resolve("cuMemAlloc", 12_000, 2), Ok(Found::Symbol("cuMemAlloc_v2")));
        assert_eq!(resolve("cuMemcpyHtoD", 12_000, 4), Err(Status::INVALID_VALUE));
        assert_eq!(resolve("cuEventRecord_ptsz", 12_000, 0), Ok(Found::Absent));
    }

    #[test]
    fn twins_are_other_functions_of_known_ones() {
        for (twin, name) in TWINS {
            assert!(CUDA.contains(name) || EXTRA.contains(name), "{name}");
            assert_ne!(cuda_symbol(twin), cuda_symbol(name), "{twin}");
            assert!([format!("{name}_ptsz"), format!("{name}_ptds")].contains(&(*twin).to_owned()));
        }
    }

    #[test]
    fn every_function_has_its_version() {
        for name in CUDA.iter().chain(EXTRA) {
            assert!(introduced(name).is_some(), "{name} is not in versions.rs");
        }
    }

    #[test]
    fn fault_plans_may_leave_the_version_out() {
        assert_eq!(full_name("cuMemAlloc"), Some("cuMemAlloc_v2"));
        assert_eq!(full_name("cuMemAlloc_v2"), Some("cuMemAlloc_v2"));
        assert_eq!(full_name("nvmlInit"), Some("nvmlInit_v2"));
        assert_eq!(full_name("cuMem"), None);
    }
}
