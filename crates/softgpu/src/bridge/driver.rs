//! Start, versions, errors, look-ups.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, PoisonError};

use millpond_cuda::sys::{CUgraph, CUgraphExec, CUuuid, Status};

use super::lookup::{CUDA_VERSION, Found, exported_address, resolve};
use super::{Out, guard};
use crate::{engine, faults};

/// `cuInit`: 802 when the environment was refused (ask [`crate::configuration`] why), 304 when the
/// folder cannot be used.
///
/// # Safety
/// None; unsafe only to have the type of the list.
pub unsafe extern "C" fn cuInit(flags: c_uint) -> Status {
    guard(|| {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        engine::start()?;
        faults::meet("cuInit")
    })
}

/// `cuDriverGetVersion`, which needs no `cuInit`.
///
/// # Safety
/// The pointer is null or valid for writing.
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> Status {
    guard(|| {
        // SAFETY: as the caller promised.
        unsafe { Out::new(version)? }.set(CUDA_VERSION);
        Ok(())
    })
}

/// C strings are made once and kept: the program may hold on to them.
fn kept(text: &'static str) -> *const c_char {
    static TEXTS: Mutex<Option<HashMap<&'static str, &'static CStr>>> = Mutex::new(None);
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let kept: &mut &CStr = texts
        .get_or_insert_default()
        .entry(text)
        .or_insert_with(|| Box::leak(CString::new(text).unwrap_or_default().into_boxed_c_str()));
    kept.as_ptr()
}

fn describe(text: Option<&'static str>, out: *mut *const c_char) -> Status {
    guard(|| {
        // SAFETY: the two callers below were promised a pointer that is null or valid for writing.
        let out = unsafe { Out::new(out)? };
        out.set(text.map_or(std::ptr::null(), kept));
        text.map(drop).ok_or(Status::INVALID_VALUE)
    })
}

/// `cuGetErrorName`, which needs no `cuInit`.
///
/// # Safety
/// The pointer is null or valid for writing.
pub unsafe extern "C" fn cuGetErrorName(error: u32, name: *mut *const c_char) -> Status {
    describe(Status(error).name(), name)
}

/// `cuGetErrorString`, which needs no `cuInit`.
///
/// # Safety
/// The pointer is null or valid for writing.
pub unsafe extern "C" fn cuGetErrorString(error: u32, text: *mut *const c_char) -> Status {
    describe(Status(error).text(), text)
}

/// What a look-up finds as `cuGraphInstantiate` since CUDA 12. On the card it is another function than
/// `cuGraphInstantiateWithFlags`; here it is none of the exported ones, the worst case for hooks.
///
/// # Safety
/// As `cuGraphInstantiateWithFlags`.
unsafe extern "C" fn instantiate_of_12(
    exec: *mut CUgraphExec,
    graph: CUgraph,
    flags: u64,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe { super::graphs::cuGraphInstantiateWithFlags(exec, graph, flags) }
}

/// `cuGetProcAddress` of CUDA 12 and later, which needs no `cuInit`.
///
/// # Safety
/// The name is null or a C string; the other pointers are null or valid for writing.
pub unsafe extern "C" fn cuGetProcAddress_v2(
    symbol: *const c_char,
    function: *mut *mut c_void,
    cuda_version: c_int,
    flags: u64,
    status: *mut u32,
) -> Status {
    guard(|| {
        if symbol.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: not null, and a C string as the caller promised.
        let name = unsafe { CStr::from_ptr(symbol) }.to_str().unwrap_or_default();
        // SAFETY: as the caller promised.
        let function = unsafe { Out::new(function)? };
        let (address, code) = match resolve(name, cuda_version, flags)? {
            Found::Symbol(full) => (exported_address(full), 0),
            Found::Instantiate => (instantiate_of_12 as *const c_void, 0),
            Found::Absent => (std::ptr::null(), 1),
            Found::TooNew => (std::ptr::null(), 2),
        };
        function.set(address.cast_mut());
        // SAFETY: as the caller promised.
        if let Ok(status) = unsafe { Out::new(status) } {
            status.set(code);
        }
        Ok(())
    })
}

/// `cuGetProcAddress` of CUDA 11: an unknown name is an error.
///
/// # Safety
/// As [`cuGetProcAddress_v2`].
pub unsafe extern "C" fn cuGetProcAddress(
    symbol: *const c_char,
    function: *mut *mut c_void,
    cuda_version: c_int,
    flags: u64,
) -> Status {
    let mut found = 0;
    // SAFETY: the first four as the caller promised; the last is ours.
    let status =
        unsafe { cuGetProcAddress_v2(symbol, function, cuda_version, flags, &raw mut found) };
    if status == Status::SUCCESS && found != 0 { Status::NOT_FOUND } else { status }
}

/// `cuGetExportTable`: no table is given out. They are NVIDIA's private interfaces, and a program
/// that finds none does without. The answer is the card's for an id that it does not know.
///
/// # Safety
/// The first pointer is null or valid for writing.
pub unsafe extern "C" fn cuGetExportTable(table: *mut *const c_void, _id: *const CUuuid) -> Status {
    guard(|| {
        // SAFETY: as the caller promised.
        unsafe { Out::new(table)? }.set(std::ptr::null());
        Err(Status::INVALID_VALUE)
    })
}
