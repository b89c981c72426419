//! The handle of a tensor, for programs that know only CUDA IPC.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::convert;
use crate::errors::{self, Special};
use crate::lease::{Counted, Counters};
use crate::shown::visible;

/// What keeps the memory.
struct Held {
    _handle: millpond::TensorHandle,
    _counted: Counted,
}

/// The handle of a tensor, and the lease that keeps its memory.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct TensorHandle {
    memory: [u8; 64],
    event: Option<[u8; 64]>,
    info: millpond::TensorInfo,
    held: Mutex<Option<Held>>,
}

impl TensorHandle {
    pub(crate) fn new(handle: millpond::TensorHandle, counters: &Arc<Counters>) -> Self {
        let info = handle.info().clone();
        let counted = Counted::new(counters, info.bytes);
        Self {
            memory: *handle.memory(),
            event: handle.event().copied(),
            info,
            held: Mutex::new(Some(Held { _handle: handle, _counted: counted })),
        }
    }

    fn is_released(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Old bytes may open other memory by now.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_released() {
            return Ok(());
        }
        let message = "the handle was released, and may open other memory by now";
        Err(errors::special(
            py,
            Special::Closed,
            message,
            "ask for it again: millpond.handle(NAME)",
        ))
    }
}

#[pymethods]
impl TensorHandle {
    #[getter]
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.check(py)?;
        Ok(PyBytes::new(py, &self.memory))
    }

    #[getter]
    fn event<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.check(py)?;
        Ok(self.event.map(|event| PyBytes::new(py, &event)))
    }

    #[getter]
    fn device(&self) -> String {
        self.info.device.to_string()
    }

    #[getter]
    fn offset(&self) -> u64 {
        self.info.offset
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.info.bytes
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        convert::spelling(self.info.dtype)
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.info.shape.dims())
    }

    #[getter]
    fn released(&self) -> bool {
        self.is_released()
    }

    /// Ends the lease: the memory goes when nobody else has it.
    fn release(&self) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(held);
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyAny>) {
        self.release();
    }

    /// Without the bytes: whoever has them has the memory.
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let own = slf.get();
        let name = own.info.name.as_ref();
        let label = name.map_or_else(|| own.info.tensor.to_string(), |name| format!("'{name}'"));
        let (shape, dtype) = (own.shape(slf.py())?, own.dtype());
        let released = if own.is_released() { ", released" } else { "" };
        Ok(visible(&format!("TensorHandle({label}, {shape}, {dtype}{released})")))
    }
}
