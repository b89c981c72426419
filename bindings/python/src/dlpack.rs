//! DLPack: memory in a structure that every array library knows.
//!
//! A capsule owns a box with the structure, its shape, and a part of the lease's reference count.
//! Whoever takes it over calls the deleter when done, on any thread and perhaps while the
//! interpreter ends: so that only drops the box, which touches nothing of Python's.

use std::ffi::{CStr, c_void};
use std::sync::Arc;

use millpond::Dtype;
use millpond::cuda::{Context, Stream, sys};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::convert;
use crate::lease::Memory;
use crate::view::{Layout, Place};

const CPU: i32 = 1;
const CUDA: i32 = 2;
const READ_ONLY: u64 = 1;
/// The newest version whose structures these are; only major numbers change them.
const VERSION: (u32, u32) = (1, 1);

const LEGACY: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

#[repr(C)]
struct DlDevice {
    device_type: i32,
    device_id: i32,
}

#[repr(C)]
struct DlDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: DlDevice,
    ndim: i32,
    dtype: DlDataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Legacy {
    tensor: DlTensor,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Legacy)>,
}

#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// What a capsule points to. The structure is first, so that its address is the box's.
#[repr(C)]
struct Owned<T> {
    managed: T,
    extents: Extents,
    _memory: Arc<dyn Memory>,
}

struct Extents {
    shape: Vec<i64>,
    strides: Vec<i64>,
}

impl Extents {
    fn of(layout: &Layout) -> PyResult<Self> {
        let signed = |numbers: &[u64]| {
            numbers.iter().map(|one| i64::try_from(*one)).collect::<Result<Vec<_>, _>>()
        };
        match (signed(&layout.shape), signed(&layout.strides())) {
            (Ok(shape), Ok(strides)) => Ok(Self { shape, strides }),
            _ => Err(PyBufferError::new_err("the extents are too large for DLPack")),
        }
    }
}

/// Where the memory is, in DLPack's words.
pub(crate) fn device(layout: &Layout) -> PyResult<(i32, i32)> {
    match layout.place {
        Place::Host => Ok((CPU, 0)),
        Place::Gpu(ordinal) => Ok((CUDA, ordinal)),
        Place::Hidden => Err(PyBufferError::new_err(
            "with MILLPOND_SOFT_STRICT the software driver's memory is out of reach; \
             unset it, or use tobytes() and copy_()",
        )),
    }
}

/// The dtype's code, where DLPack has one for this way of packing.
fn data_type(dtype: Dtype) -> PyResult<DlDataType> {
    let code = match dtype {
        Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => 0,
        Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => 1,
        Dtype::F16 | Dtype::F32 | Dtype::F64 => 2,
        Dtype::Bf16 => 4,
        Dtype::C64 => 5,
        Dtype::Bool => 6,
        Dtype::F8E4M3 => 10,
        Dtype::F8E4M3Fnuz => 11,
        Dtype::F8E5M2 => 12,
        Dtype::F8E5M2Fnuz => 13,
        Dtype::F8E8M0 => 14,
        Dtype::F4 | Dtype::F6E2M3 | Dtype::F6E3M2 => {
            let name = convert::spelling(dtype);
            let message = format!("DLPack cannot express packed {name}: take view(\"uint8\")");
            return Err(PyBufferError::new_err(message));
        }
    };
    let bits = u8::try_from(dtype.bits()).unwrap_or(0);
    Ok(DlDataType { code, bits, lanes: 1 })
}

fn tensor(layout: &Layout, extents: &mut Extents) -> PyResult<DlTensor> {
    let (device_type, device_id) = device(layout)?;
    let address = usize::try_from(layout.address).unwrap_or(0);
    Ok(DlTensor {
        data: std::ptr::with_exposed_provenance_mut(address),
        device: DlDevice { device_type, device_id },
        ndim: i32::try_from(extents.shape.len()).unwrap_or(0),
        dtype: data_type(layout.dtype)?,
        shape: extents.shape.as_mut_ptr(),
        strides: extents.strides.as_mut_ptr(),
        byte_offset: 0,
    })
}

/// A capsule of the newest kind that the consumer takes.
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    layout: &Layout,
    memory: Arc<dyn Memory>,
    max_version: Option<(u32, u32)>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut extents = Extents::of(layout)?;
    // The vectors' buffers stay where they are when the vectors move into the box.
    let tensor = tensor(layout, &mut extents)?;
    let manager = std::ptr::null_mut();
    match max_version.filter(|version| version.0 >= VERSION.0) {
        Some((major, minor)) => {
            let (major, minor) = (major, minor).min(VERSION);
            let flags = if layout.readonly { READ_ONLY } else { 0 };
            let deleter = Some(delete::<Versioned> as _);
            let managed = Versioned { major, minor, manager, deleter, flags, tensor };
            wrap(py, VERSIONED, Owned { managed, extents, _memory: memory }, drop_versioned)
        }
        // Also what is read-only: a consumer that knows no flag still shares memory.
        None => {
            let managed = Legacy { tensor, manager, deleter: Some(delete::<Legacy> as _) };
            wrap(py, LEGACY, Owned { managed, extents, _memory: memory }, drop_legacy)
        }
    }
}

fn wrap<'py, T>(
    py: Python<'py>,
    name: &'static CStr,
    owned: Owned<T>,
    destructor: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    let raw = Box::into_raw(Box::new(owned));
    // SAFETY: the pointer is not null, and name and destructor live for ever.
    let made = unsafe { ffi::PyCapsule_New(raw.cast(), name.as_ptr(), Some(destructor)) };
    // SAFETY: it is a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, made) }.inspect_err(|_| {
        // SAFETY: no capsule was made, so the box is still ours.
        drop(unsafe { Box::from_raw(raw) });
    })
}

/// The deleter: lets go of the lease.
///
/// # Safety
/// `managed` is what a capsule of ours held, and nobody uses it after this.
unsafe extern "C" fn delete<T>(managed: *mut T) {
    if !managed.is_null() {
        // SAFETY: the structure is the first part of a box that `wrap` made.
        drop(unsafe { Box::from_raw(managed.cast::<Owned<T>>()) });
    }
}

/// Frees what nobody has taken over: who did has renamed the capsule.
///
/// # Safety
/// `capsule` is a capsule that is being destroyed.
unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: the caller vouches for the capsule.
    unsafe { drop_unused::<Versioned>(capsule, VERSIONED) }
}

/// As [`drop_versioned`].
///
/// # Safety
/// As for [`drop_versioned`].
unsafe extern "C" fn drop_legacy(capsule: *mut ffi::PyObject) {
    // SAFETY: the caller vouches for the capsule.
    unsafe { drop_unused::<Legacy>(capsule, LEGACY) }
}

/// # Safety
/// `capsule` is a capsule, and under this name it holds an [`Owned`] of this kind.
unsafe fn drop_unused<T>(capsule: *mut ffi::PyObject, name: &CStr) {
    // SAFETY: both calls take any object, and the name outlives them.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 1 {
            delete::<T>(ffi::PyCapsule_GetPointer(capsule, name.as_ptr()).cast());
        }
    }
}

/// A stream that another library made, by its handle.
pub(crate) fn foreign_stream(context: &Context, handle: u64) -> Stream {
    let handle = usize::try_from(handle).unwrap_or(0);
    let raw: sys::CUstream = std::ptr::with_exposed_provenance_mut(handle);
    // SAFETY: the caller of `publish` vouches for the handle, as for every library that takes one;
    // the value does not outlive that call.
    unsafe { Stream::from_raw(context, raw) }
}
