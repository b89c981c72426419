//! Memory as other libraries take it over: what tensors and models' tensors have in common.

use std::sync::{Arc, Mutex, PoisonError};

use millpond::cuda::{Context, DriverKind};
use millpond::{Dtype, Error, GpuUuid};
use millpond_wire::fd::process_number;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PySlice, PyTuple};

use crate::dlpack::{Keeper, Span};
use crate::ending::{calling, detached};
use crate::errors::{self, Special};
use crate::interrupt::ask;
use crate::lease::Memory;
use crate::shown::visible;
use crate::{convert, dlpack};

/// Bytes that are copied from Python at once.
const PIECE: usize = 16 << 20;

/// Where the bytes can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The software driver's memory is the host's.
    Host,
    /// Unless its addresses are strict: then only its own calls reach it.
    Hidden,
    /// On the GPU with this number in this process.
    Gpu(i32),
}

impl Place {
    pub(crate) fn of(context: &Context) -> Self {
        match context.driver().kind() {
            DriverKind::Cuda => Place::Gpu(context.device().ordinal()),
            DriverKind::Soft => match millpond_softgpu::configuration() {
                Ok(config) if !config.strict => Place::Host,
                _ => Place::Hidden,
            },
        }
    }
}

/// What the bytes are, and where.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) name: Option<String>,
    /// How messages call it.
    pub(crate) label: String,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<u64>,
    pub(crate) bytes: u64,
    pub(crate) device: GpuUuid,
    pub(crate) place: Place,
    pub(crate) address: u64,
    pub(crate) readonly: bool,
    /// The process that has it mapped.
    pub(crate) owner: u32,
}

impl Layout {
    /// Row-major, in elements.
    pub(crate) fn strides(&self) -> Vec<u64> {
        let mut strides = vec![1; self.shape.len()];
        for place in (1..self.shape.len()).rev() {
            strides[place - 1] = strides[place] * self.shape[place];
        }
        strides
    }

    fn span(&self) -> Span<'_> {
        let Self { address, dtype, ref shape, place, readonly, .. } = *self;
        Span { address, dtype, shape, strides: None, place, readonly }
    }

    /// The same bytes as another dtype: the last extent changes, or all become one where it cannot.
    fn seen_as(&self, dtype: Dtype) -> Option<Self> {
        let (from, to) = (self.dtype.bits(), dtype.bits());
        let mut shape = self.shape.clone();
        match shape.last_mut() {
            Some(last) if *last * from % to == 0 => *last = *last * from / to,
            None if from == to => {}
            _ if (self.bytes * 8).is_multiple_of(to) => shape = vec![self.bytes * 8 / to],
            _ => return None,
        }
        Some(Self { dtype, shape, ..self.clone() })
    }
}

/// Memory that other libraries take over without a copy. Every view of it keeps the lease.
#[pyclass(frozen, subclass, module = "millpond")]
pub(crate) struct View {
    pub(crate) layout: Layout,
    memory: Mutex<Option<Arc<dyn Memory>>>,
}

impl View {
    pub(crate) fn new(layout: Layout, memory: Arc<dyn Memory>) -> Self {
        Self { layout, memory: Mutex::new(Some(memory)) }
    }

    /// Lets go of this part of the lease; the others stay.
    pub(crate) fn let_go(&self) {
        let taken = self.memory.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(taken);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// The memory, if it is this process's and was not closed.
    pub(crate) fn memory(&self, py: Python<'_>) -> PyResult<Arc<dyn Memory>> {
        let Layout { label, owner, .. } = &self.layout;
        if *owner != process_number() {
            let error = Error::Forked { tensor: label.clone(), owner: *owner };
            return Err(errors::raise(py, &error));
        }
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner).clone();
        memory.ok_or_else(|| {
            errors::special(py, Special::Closed, &format!("{label} was closed"), "get it again")
        })
    }
}

#[pymethods]
impl View {
    #[getter]
    fn name(&self) -> Option<&str> {
        self.layout.name.as_deref()
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.layout.shape)
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        convert::spelling(self.layout.dtype)
    }

    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.layout.strides())
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.layout.bytes
    }

    #[getter]
    fn ptr(&self, py: Python<'_>) -> PyResult<u64> {
        self.memory(py)?;
        Ok(self.layout.address)
    }

    #[getter]
    fn device(&self) -> String {
        self.layout.device.to_string()
    }

    #[getter]
    fn readonly(&self) -> bool {
        self.layout.readonly
    }

    /// The same bytes as another dtype. Where the last extent cannot change for it, there is one
    /// dimension.
    fn view(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<View> {
        let memory = self.memory(py)?;
        let dtype = convert::dtype(dtype)?;
        let seen = self.layout.seen_as(dtype).ok_or_else(|| {
            let (bytes, label) = (self.layout.bytes, &self.layout.label);
            let message = format!("the {bytes} bytes of {label} are no whole number of {dtype}");
            errors::invalid(py, &message, None)
        })?;
        Ok(View::new(seen, memory))
    }

    /// A numpy array of the same memory, on the software driver.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().memory(slf.py())?;
        views(slf.py(), "as_numpy", (slf,))
    }

    /// What numpy asks for: without it, it would make an array of one object.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.get().memory(slf.py())?;
        views(slf.py(), "as_array", (slf, dtype, copy))
    }

    /// What `jax.numpy.asarray` asks for.
    fn __jax_array__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().memory(slf.py())?;
        views(slf.py(), "as_jax", (slf,))
    }

    /// A torch tensor of the same memory.
    fn torch<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().memory(slf.py())?;
        views(slf.py(), "as_torch", (slf,))
    }

    /// A cuda.core `Buffer` of the same memory.
    #[pyo3(signature = (*, allow_readonly=false))]
    fn buffer<'py>(slf: &Bound<'py, Self>, allow_readonly: bool) -> PyResult<Bound<'py, PyAny>> {
        slf.get().memory(slf.py())?;
        views(slf.py(), "as_buffer", (slf, allow_readonly))
    }

    /// A copy of its bytes.
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let memory = self.memory(py)?;
        let size = usize::try_from(self.layout.bytes).unwrap_or(usize::MAX);
        PyBytes::new_with(py, size, |bytes| ask(py, || memory.read(0, bytes)))
    }

    /// Copies from a tensor, an array or bytes of the same size, and waits.
    fn copy_<'py>(
        slf: &Bound<'py, Self>,
        source: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        slf.get().writable(slf.py())?;
        views(slf.py(), "copy_into", (slf, source))?;
        Ok(slf.clone())
    }

    /// Copies from a memoryview of bytes.
    fn _write(&self, source: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = source.py();
        self.writable(py)?;
        let memory = self.memory(py)?;
        let length = source.len()?;
        if u64::try_from(length).ok() != Some(self.layout.bytes) {
            let (label, bytes) = (&self.layout.label, self.layout.bytes);
            let message = format!("{label} takes {bytes} bytes, and these are {length}");
            return Err(errors::invalid(py, &message, None));
        }
        for begin in (0..length).step_by(PIECE) {
            let piece = piece(source, begin, (begin + PIECE).min(length))?;
            let (bytes, offset) = (piece.as_bytes(), begin as u64);
            detached(py, || memory.write(offset, bytes)).map_err(|error| match error {
                // It was staged, and is complete by now.
                Error::ReadOnly { .. } => read_only(py, &error, &*memory),
                other => errors::raise(py, &other),
            })?;
            py.check_signals()?;
        }
        Ok(())
    }

    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let memory = self.memory(py)?;
        dlpack::check_request(self.layout.place, stream, dl_device, copy)?;
        let keeper = Keeper::Memory { _memory: memory };
        dlpack::capsule(py, &self.layout.span(), keeper, max_version)
    }

    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        dlpack::device(self.layout.place)
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Place::Gpu(_) = self.layout.place else {
            return Err(PyAttributeError::new_err("the software driver's memory is the host's"));
        };
        let Some(code) = typestr(self.layout.dtype) else {
            let dtype = convert::spelling(self.layout.dtype);
            let message = format!("numpy has no {dtype}: take it by DLPack, or view(\"uint8\")");
            return Err(PyAttributeError::new_err(message));
        };
        self.memory(py)?;
        let members = PyDict::new(py);
        members.set_item("shape", self.shape(py)?)?;
        members.set_item("typestr", code)?;
        members.set_item("data", (self.layout.address, self.layout.readonly))?;
        members.set_item("strides", py.None())?;
        // Published bytes need no synchronisation.
        members.set_item("stream", py.None())?;
        members.set_item("version", 3)?;
        Ok(members)
    }

    /// A part of something cannot be found by anybody else.
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<()> {
        let label = &slf.get().layout.label;
        let message = format!(
            "{label} cannot be pickled by itself: pickle the Tensor or the Model that it belongs to, \
             or send tobytes()"
        );
        Err(PyTypeError::new_err(message))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let Layout { label, shape, dtype, readonly, .. } = &slf.get().layout;
        let (dtype, mode) = (convert::spelling(*dtype), if *readonly { "ro" } else { "rw" });
        let shape = PyTuple::new(slf.py(), shape)?;
        let closed = if slf.get().is_closed() { ", closed" } else { "" };
        let class = slf.get_type().name()?.to_string();
        Ok(visible(&format!("{class}({label}, {shape}, {dtype}, {mode}{closed})")))
    }
}

impl View {
    fn writable(&self, py: Python<'_>) -> PyResult<()> {
        let memory = self.memory(py)?;
        if self.layout.readonly {
            let error = Error::ReadOnly { tensor: self.layout.label.clone() };
            return Err(read_only(py, &error, &*memory));
        }
        Ok(())
    }
}

fn read_only(py: Python<'_>, error: &Error, memory: &dyn Memory) -> PyErr {
    errors::special(py, Special::ReadOnly, &error.to_string(), memory.way_to_write())
}

/// Calls a function of the half that is written in Python.
pub(crate) fn views<'py>(
    py: Python<'py>,
    name: &str,
    args: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    calling(py, || py.import("millpond._views")?.call_method1(name, args))
}

/// A part of a memoryview of bytes.
pub(crate) fn piece<'py>(
    source: &Bound<'py, PyAny>,
    begin: usize,
    end: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let place = |at: usize| isize::try_from(at).unwrap_or(isize::MAX);
    let part = source.get_item(PySlice::new(source.py(), place(begin), place(end), 1))?;
    Ok(part.call_method0("tobytes")?.cast_into::<PyBytes>()?)
}

/// The dtype in the array interface's spelling, where numpy has it.
fn typestr(dtype: Dtype) -> Option<&'static str> {
    Some(match dtype {
        Dtype::Bool => "|b1",
        Dtype::U8 => "|u1",
        Dtype::I8 => "|i1",
        Dtype::U16 => "<u2",
        Dtype::I16 => "<i2",
        Dtype::F16 => "<f2",
        Dtype::U32 => "<u4",
        Dtype::I32 => "<i4",
        Dtype::F32 => "<f4",
        Dtype::U64 => "<u8",
        Dtype::I64 => "<i8",
        Dtype::F64 => "<f8",
        Dtype::C64 => "<c8",
        _ => return None,
    })
}
