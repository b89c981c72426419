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

/// The default stream that every thread shares, where no other is named.
const LEGACY_STREAM: u64 = 0;

/// A tensor that this process has a lease on, mapped into its address space.
#[pyclass(frozen, extends = View, module = "millpond")]
pub(crate) struct Tensor {
    pub(crate) id: TensorId,
    lease: Mutex<Option<Arc<TensorLease>>>,
    info: millpond::TensorInfo,
    /// Why it is a copy of what was to be adopted.
    copied_because: Option<String>,
}

impl Tensor {
    pub(crate) fn new<'py>(
        py: Python<'py>,
        tensor: millpond::Tensor,
        counters: &Arc<Counters>,
    ) -> PyResult<Bound<'py, Self>> {
        Self::copied(py, tensor, counters, None)
    }

    /// One that may be a copy of what was to be adopted.
    pub(crate) fn copied<'py>(
        py: Python<'py>,
        tensor: millpond::Tensor,
        counters: &Arc<Counters>,
        copied_because: Option<String>,
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
        let own = Self { id, lease: Mutex::new(Some(lease)), info, copied_because };
        Bound::new(py, PyClassInitializer::from(view).add_subclass(own))
    }

    /// The lease, if this process has it and has not closed it.
    fn in_use(slf: &Bound<'_, Self>) -> PyResult<Arc<TensorLease>> {
        let (py, view) = (slf.py(), slf.as_super().get());
        view.memory(py)?;
        slf.get().held().ok_or_else(|| {
            let message = format!("{} was closed", view.layout.label);
            errors::special(py, Special::Closed, &message, "get it again")
        })
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
        let (py, lease) = (slf.py(), Self::in_use(slf)?);
        match stream.map(handle).transpose()? {
            None => ask(py, || lease.tensor.publish()),
            Some(handle) => ask(py, || {
                let stream = dlpack::foreign_stream(lease.context(), handle);
                lease.tensor.publish_after(&stream)
            }),
        }
    }

    /// Marks the work that a stream has queued so far in the tensor's event, which is one for all
    /// processes: the next `wait` is for it.
    #[pyo3(signature = (stream=None))]
    fn record(slf: &Bound<'_, Self>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let (py, lease) = (slf.py(), Self::in_use(slf)?);
        let handle = stream.map(handle).transpose()?.unwrap_or(LEGACY_STREAM);
        ask(py, || lease.tensor.record(&dlpack::foreign_stream(lease.context(), handle)))
    }

    /// Lets later work of a stream wait for what was recorded last, in whatever process.
    #[pyo3(signature = (stream=None))]
    fn wait(slf: &Bound<'_, Self>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let (py, lease) = (slf.py(), Self::in_use(slf)?);
        let handle = stream.map(handle).transpose()?.unwrap_or(LEGACY_STREAM);
        ask(py, || lease.tensor.wait(&dlpack::foreign_stream(lease.context(), handle)))
    }

    #[getter]
    fn transport(&self) -> &'static str {
        self.info.transport.name()
    }

    #[getter]
    fn survives(&self) -> &'static str {
        self.info.survives.name()
    }

    #[getter]
    fn copied_because(&self) -> Option<&str> {
        self.copied_because.as_deref()
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
