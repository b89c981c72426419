//! The shared libraries export every function of the lists, each with an address of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod libraries;

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_void};

use millpond_cuda::sys::{Library, Status};

macro_rules! names { ($($name:ident($($args:tt)*);)*) => { &[$(stringify!($name)),*] } }
macro_rules! pairs { ($($name:ident = $other:ident($($args:tt)*);)*) => { &[$((stringify!($name), stringify!($other))),*] } }

const CUDA: &[&str] = millpond_cuda::cuda_entry_points!(names);
const EXTRA: &[&str] = millpond_softgpu::extra_entry_points!(names);
const TWINS: &[(&str, &str)] = millpond_softgpu::twin_entry_points!(pairs);
const ALIASES: &[(&str, &str)] = millpond_softgpu::alias_entry_points!(pairs);
const NVML: &[&str] = millpond_cuda::nvml_entry_points!(names);
const NVML_EXTRA: &[&str] = millpond_softgpu::nvml_extra_entry_points!(names);
const NVML_ALIASES: &[(&str, &str)] = millpond_softgpu::nvml_alias_entry_points!(pairs);

fn assert_distinct<'a>(library: &Library, names: impl Iterator<Item = &'a &'static str>) {
    let mut seen = HashMap::new();
    for name in names {
        let address = library.symbol(name);
        assert!(!address.is_null(), "{name} is not exported");
        assert_eq!(seen.insert(address, *name), None, "{name} is another function too");
    }
}

#[test]
fn every_name_is_exported_and_found_at_the_same_address() {
    let folder = tempfile::tempdir().unwrap();
    let (cuda, nvml) = libraries::build(folder.path());
    // SAFETY: both libraries are ours and were just built.
    let (cuda, nvml) =
        unsafe { (Library::open(&[cuda]).unwrap(), Library::open(&[nvml]).unwrap()) };
    let twins = TWINS.iter().map(|pair| &pair.0);
    assert_distinct(&cuda, CUDA.iter().chain(EXTRA).chain(twins));
    assert_distinct(&nvml, NVML.iter().chain(NVML_EXTRA));
    for (library, aliases) in [(&cuda, ALIASES), (&nvml, NVML_ALIASES)] {
        for (alias, _) in aliases {
            assert!(!library.symbol(alias).is_null(), "{alias} is not exported");
        }
    }
    assert!(!nvml.symbol("nvmlErrorString").is_null());

    // SAFETY: the library exports this name with this signature.
    let ask = unsafe {
        std::mem::transmute::<
            *const c_void,
            unsafe extern "C" fn(*const c_char, *mut *mut c_void, c_int, u64, *mut u32) -> Status,
        >(cuda.symbol("cuGetProcAddress_v2"))
    };
    for (twin, name) in TWINS {
        let base = name.trim_end_matches(char::is_numeric).trim_end_matches("_v");
        let newest = CUDA.iter().chain(EXTRA).filter(|known| {
            known.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with("_v"))
        });
        if newest.max() != Some(name) {
            continue;
        }
        let base = CString::new(base).unwrap();
        for (flags, wanted) in [(0, name), (1, name), (2, twin)] {
            let (mut found, mut status) = (std::ptr::null_mut(), 9);
            // SAFETY: the name ends in NUL and the out-pointers are valid for the call.
            let asked =
                unsafe { ask(base.as_ptr(), &raw mut found, 13_000, flags, &raw mut status) };
            assert_eq!((asked, status), (Status::SUCCESS, 0), "{wanted}");
            assert_eq!(found.cast_const(), cuda.symbol(wanted), "{wanted} is found elsewhere");
        }
    }
}
