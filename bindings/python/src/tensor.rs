//! A tensor of the pond.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use millpond::{Mode, TensorId};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::dlpack;
use crate::errors::{self, Special};
use crate::info::TensorInfo;
use crate::interrupt::ask;
use crate::lease::{Counters, Memory, TensorLease};
use crate::view::{Layout, Place, View};

/// What finds it from another process: folder, identity, name and mode.
type Reference = (PathBuf, String, Option<String>, String);

/// A tensor that this process has a lease on, mapped into its address space.
#[pyclass(frozen, extends = View, module = "millpond")]
pub(crate) struct Tensor {
    pub(crate) id: TensorId,
    lease: Mutex<Option<Arc<TensorLease>>>,
    info: millpond::TensorInfo,
}

impl Tensor {
    pub(crate) fn new<'py>(
        py: Python<'py>,
        tensor: millpond::Tensor,
        counters: &Arc<Counters>,
    ) -> PyResult<Bound<'py, Self>> {
        let info = tensor.info().clone();
        let name = info.name.as_ref().map(ToString::to_string);
        let layout = Layout {
            label: name
                .as_ref()
                .map_or_else(|| info.tensor.to_string(), |name| format!("'{name}'")),
            name,
            dtype: info.dtype,
            shape: info.shape.dims().to_vec(),
            bytes: info.bytes,
            device: info.device,
            place: Place::of(tensor.context()),
            address: tensor.device_ptr().0,
            readonly: tensor.mode() == Mode::ReadOnly,
            owner: std::process::id(),
        };
        let id = tensor.id();
        let lease = Arc::new(TensorLease::new(tensor, counters));
        let view = View::new(layout, Arc::<TensorLease>::clone(&lease));
        let own = Self { id, lease: Mutex::new(Some(lease)), info };
        Bound::new(py, PyClassInitializer::from(view).add_subclass(own))
    }

    fn held(&self) -> Option<Arc<TensorLease>> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[pymethods]
impl Tensor {
    #[getter]
    fn id(&self) -> String {
        self.id.to_string()
    }

    #[getter]
    fn generation(&self) -> u64 {
        self.held().map_or(self.info.generation, |lease| lease.tensor.generation())
    }

    #[getter]
    fn is_lost(&self) -> bool {
        self.held().is_some_and(|lease| lease.tensor.is_lost())
    }

    #[getter]
    fn info(&self) -> TensorInfo {
        TensorInfo::of(&self.info)
    }

    /// Waits for the work of a stream, or for all of it, then tells everybody that the bytes are
    /// complete. Returns the generation.
    #[pyo3(signature = (stream=None))]
    fn publish(slf: &Bound<'_, Self>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let py = slf.py();
        slf.as_super().get().memory(py)?;
        let Some(lease) = slf.get().held() else {
            let label = &slf.as_super().get().layout.label;
            let message = format!("{label} was closed");
            return Err(errors::special(py, Special::Closed, &message, "get it again"));
        };
        match stream.map(handle).transpose()? {
            None => ask(py, || lease.tensor.publish()),
            Some(handle) => ask(py, || {
                let stream = dlpack::foreign_stream(lease.context(), handle);
                lease.tensor.publish_after(&stream)
            }),
        }
    }

    /// As a reference: in another process it is mapped there, by its identity.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Reference)> {
        let (py, layout) = (slf.py(), &slf.as_super().get().layout);
        let Some(lease) = slf.get().held() else {
            let message = format!("{} was closed", layout.label);
            return Err(errors::special(py, Special::Closed, &message, "get it again"));
        };
        let tensor = &lease.tensor;
        let (folder, mode) = (tensor.pond().runtime_dir().to_owned(), tensor.mode().to_string());
        let get = py.import("millpond._references")?.getattr("tensor")?;
        Ok((get, (folder, slf.get().id.to_string(), layout.name.clone(), mode)))
    }

    #[getter]
    fn closed(slf: &Bound<'_, Self>) -> bool {
        slf.as_super().get().is_closed()
    }

    /// Lets go of it. Views that were taken stay valid, and keep the lease.
    fn close(slf: &Bound<'_, Self>) {
        let lease = slf.get().lease.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(lease);
        slf.as_super().get().let_go();
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(slf: &Bound<'_, Self>, _error: &Bound<'_, PyAny>) {
        Self::close(slf);
    }
}

/// A stream's handle: a number, or what torch, cupy and others keep it under.
pub(crate) fn handle(stream: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(number) = stream.extract::<u64>() {
        return Ok(number);
    }
    if let Ok(protocol) = stream.getattr("__cuda_stream__") {
        // A property in some libraries' first versions, a method in the protocol.
        let pair = if protocol.is_callable() { protocol.call0()? } else { protocol };
        return Ok(pair.extract::<(u64, u64)>()?.1);
    }
    for name in ["cuda_stream", "ptr", "handle"] {
        if let Ok(number) = stream.getattr(name).and_then(|found| found.extract::<u64>()) {
            return Ok(number);
        }
    }
    Err(PyTypeError::new_err(format!("{stream} is no stream: pass its handle as a number")))
}
