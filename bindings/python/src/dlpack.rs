//! DLPack: memory in a structure that every array library knows.
//!
//! A capsule owns a box with the structure, its shape, and a part of the lease's reference count.
//! Whoever takes it over calls the deleter when done, on any thread and perhaps while the
//! interpreter ends: so that only drops the box, which touches nothing of Python's.

use std::ffi::{CStr, c_void};
use std::sync::Arc;

use millpond::cuda::{Context, Event, Stream, sys};
use millpond::{Dtype, ElasticCache};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::convert;
use crate::lease::{Memory, ModelLease};
use crate::view::Place;

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
    _keeper: Keeper,
}

/// What must live as long as somebody has the memory.
pub(crate) enum Keeper {
    Memory {
        _memory: Arc<dyn Memory>,
    },
    /// One for all tensors of a model: its reference count is all that a tensor adds.
    Model {
        _lease: Arc<ModelLease>,
    },
    /// The addresses of a cache stay with it; its pages come and go.
    Cache {
        _cache: ElasticCache,
    },
}

/// Memory as a capsule describes it.
pub(crate) struct Span<'a> {
    pub(crate) address: u64,
    pub(crate) dtype: Dtype,
    pub(crate) shape: &'a [u64],
    /// In elements; row-major unless said.
    pub(crate) strides: Option<&'a [u64]>,
    pub(crate) place: Place,
    pub(crate) readonly: bool,
}

/// The shape, and after it the strides: those of most tensors without an allocation of their own.
enum Extents {
    Few([i64; 2 * FEW]),
    Many(Box<[i64]>),
}

/// More dimensions than this are rare.
const FEW: usize = 4;

impl Extents {
    fn of(shape: &[u64], given: Option<&[u64]>) -> Option<Self> {
        let mut own = if shape.len() <= FEW {
            Self::Few([1; 2 * FEW])
        } else {
            Self::Many(vec![1; 2 * shape.len()].into_boxed_slice())
        };
        let (extents, strides) = own.split(shape.len());
        let mut stride = 1_i64;
        for (place, extent) in shape.iter().enumerate().rev() {
            extents[place] = i64::try_from(*extent).ok()?;
            strides[place] = stride;
            // The first extent is no part of a stride.
            if place > 0 {
                stride = stride.checked_mul(extents[place])?;
            }
        }
        for (stride, given) in strides.iter_mut().zip(given.unwrap_or_default()) {
            *stride = i64::try_from(*given).ok()?;
        }
        Some(own)
    }

    /// Shape and strides of so many dimensions.
    fn split(&mut self, dimensions: usize) -> (&mut [i64], &mut [i64]) {
        let both: &mut [i64] = match self {
            Self::Few(few) => few,
            Self::Many(many) => many,
        };
        let (shape, rest) = both.split_at_mut(dimensions);
        (shape, &mut rest[..dimensions])
    }
}

/// Where the memory is, in DLPack's words.
pub(crate) fn device(place: Place) -> PyResult<(i32, i32)> {
    match place {
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

/// The dtype of a code, where the pond has it.
fn known(data: &DlDataType) -> Option<Dtype> {
    let same = |dtype: &&Dtype| {
        data_type(**dtype).is_ok_and(|known| (known.code, known.bits) == (data.code, data.bits))
    };
    Dtype::ALL.iter().find(same).copied().filter(|_| data.lanes == 1)
}

/// Memory of another library, as its capsule describes it.
pub(crate) struct Described {
    /// Kind and number.
    pub(crate) device: (i32, i32),
    pub(crate) address: u64,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<i64>,
    /// In elements; none where it is row-major.
    pub(crate) strides: Option<Vec<i64>>,
}

/// What a capsule describes that nobody has taken over. Whoever keeps the capsule keeps the memory.
pub(crate) fn described(capsule: &Bound<'_, PyAny>) -> PyResult<Described> {
    let raw = capsule.as_ptr();
    // SAFETY: any object may be asked, and the names live for ever. Under its name a capsule holds
    // the structure of that name, which stays as long as the capsule does: the reference above.
    let tensor = unsafe {
        if ffi::PyCapsule_IsValid(raw, VERSIONED.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(raw, VERSIONED.as_ptr()).cast::<Versioned>();
            if (*managed).major != VERSION.0 {
                let message = format!("DLPack {} is not known here", (*managed).major);
                return Err(PyBufferError::new_err(message));
            }
            &raw const (*managed).tensor
        } else if ffi::PyCapsule_IsValid(raw, LEGACY.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(raw, LEGACY.as_ptr()).cast::<Legacy>();
            &raw const (*managed).tensor
        } else {
            return Err(PyBufferError::new_err("this is no DLPack capsule, or it was taken over"));
        }
    };
    // SAFETY: as above.
    let tensor = unsafe { &*tensor };
    let dimensions = usize::try_from(tensor.ndim).unwrap_or(0);
    let extents = |first: *mut i64| {
        // SAFETY: where it is not null it points to a number for each dimension.
        (!first.is_null())
            .then(|| unsafe { std::slice::from_raw_parts(first, dimensions) }.to_vec())
    };
    let dtype = known(&tensor.dtype).ok_or_else(|| {
        let DlDataType { code, bits, lanes } = tensor.dtype;
        let message =
            format!("the pond has no dtype for DLPack's {code}, {bits} bits, {lanes} lanes");
        PyBufferError::new_err(message)
    })?;
    Ok(Described {
        device: (tensor.device.device_type, tensor.device.device_id),
        address: (tensor.data.expose_provenance() as u64).saturating_add(tensor.byte_offset),
        dtype,
        shape: extents(tensor.shape).unwrap_or_default(),
        strides: extents(tensor.strides),
    })
}

/// Without its extents, which come when they have their place.
fn tensor(span: &Span<'_>) -> PyResult<DlTensor> {
    let (device_type, device_id) = device(span.place)?;
    let address = usize::try_from(span.address).unwrap_or(0);
    Ok(DlTensor {
        data: std::ptr::with_exposed_provenance_mut(address),
        device: DlDevice { device_type, device_id },
        ndim: i32::try_from(span.shape.len()).unwrap_or(0),
        dtype: data_type(span.dtype)?,
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    })
}

/// The structures that have a tensor in them.
trait Managed {
    const NAME: &'static CStr;
    const DESTRUCTOR: unsafe extern "C" fn(*mut ffi::PyObject);
    fn tensor(&mut self) -> &mut DlTensor;
}

impl Managed for Versioned {
    const NAME: &'static CStr = VERSIONED;
    const DESTRUCTOR: unsafe extern "C" fn(*mut ffi::PyObject) = drop_versioned;
    fn tensor(&mut self) -> &mut DlTensor {
        &mut self.tensor
    }
}

impl Managed for Legacy {
    const NAME: &'static CStr = LEGACY;
    const DESTRUCTOR: unsafe extern "C" fn(*mut ffi::PyObject) = drop_legacy;
    fn tensor(&mut self) -> &mut DlTensor {
        &mut self.tensor
    }
}

/// A capsule of the newest kind that the consumer takes.
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    span: &Span<'_>,
    keeper: Keeper,
    max_version: Option<(u32, u32)>,
) -> PyResult<Bound<'py, PyAny>> {
    let too_large = || PyBufferError::new_err("the extents are too large for DLPack");
    let extents = Extents::of(span.shape, span.strides).ok_or_else(too_large)?;
    let tensor = tensor(span)?;
    let manager = std::ptr::null_mut();
    match max_version.filter(|version| version.0 >= VERSION.0) {
        Some((major, minor)) => {
            let (major, minor) = (major, minor).min(VERSION);
            let flags = if span.readonly { READ_ONLY } else { 0 };
            let deleter = Some(delete::<Versioned> as _);
            let managed = Versioned { major, minor, manager, deleter, flags, tensor };
            wrap(py, span.shape.len(), Owned { managed, extents, _keeper: keeper })
        }
        // Also what is read-only: a consumer that knows no flag still shares memory.
        None => {
            let managed = Legacy { tensor, manager, deleter: Some(delete::<Legacy> as _) };
            wrap(py, span.shape.len(), Owned { managed, extents, _keeper: keeper })
        }
    }
}

fn wrap<'py, T: Managed>(
    py: Python<'py>,
    dimensions: usize,
    owned: Owned<T>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut owned = Box::new(owned);
    // Where they are now they stay: the box's contents do not move again.
    let Owned { managed, extents, .. } = &mut *owned;
    let (shape, strides) = extents.split(dimensions);
    let tensor = managed.tensor();
    (tensor.shape, tensor.strides) = (shape.as_mut_ptr(), strides.as_mut_ptr());
    let raw = Box::into_raw(owned);
    // SAFETY: the pointer is not null, and name and destructor live for ever.
    let made = unsafe { ffi::PyCapsule_New(raw.cast(), T::NAME.as_ptr(), Some(T::DESTRUCTOR)) };
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

/// Whether a consumer may have the memory as it asks for it: where it is, and never as a copy.
pub(crate) fn check_request(
    place: Place,
    stream: Option<&Bound<'_, PyAny>>,
    wanted: Option<(i32, i32)>,
    copy: Option<bool>,
) -> PyResult<()> {
    let device = device(place)?;
    if let Some(wanted) = wanted
        && wanted != device
    {
        let message = format!("the memory is on DLPack device {device:?}, not on {wanted:?}");
        return Err(PyBufferError::new_err(message));
    }
    if copy == Some(true) {
        let message = "a view is never a copy: import it without copy=True, and copy then";
        return Err(PyBufferError::new_err(message));
    }
    if matches!(place, Place::Gpu(_))
        && stream.is_some_and(|stream| stream.extract::<i64>().is_ok_and(|raw| raw == 0))
    {
        let message = "stream 0 is ambiguous: 1 is the legacy default stream, 2 the thread's";
        return Err(PyBufferError::new_err(message));
    }
    Ok(())
}

/// A stream that another library made, by its handle.
pub(crate) fn foreign_stream(context: &Context, handle: u64) -> Stream {
    let handle = usize::try_from(handle).unwrap_or(0);
    let raw: sys::CUstream = std::ptr::with_exposed_provenance_mut(handle);
    // SAFETY: whoever passes `stream=` vouches for the handle, as for every library that takes one;
    // the value does not outlive that call.
    unsafe { Stream::from_raw(context, raw) }
}

/// A mark behind all work that another library's stream has queued so far.
pub(crate) fn mark(context: &Context, handle: u64) -> millpond::Result<Event> {
    let event = Event::new(context)?;
    event.record(&foreign_stream(context, handle))?;
    // In a stream that is being captured it is a part of the graph, and nobody can ever ask for it:
    // the driver says so now, before anything depends on it.
    event.is_done()?;
    Ok(event)
}
