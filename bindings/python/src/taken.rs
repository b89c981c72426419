//! A model's tensors as another library's, with the fewest calls: each is taken from a bare capsule.
//!
//! A checkpoint has tens of thousands of tensors. A [`ModelTensor`](crate::model_tensor::ModelTensor)
//! for each, asked for its device and its stream before it is asked for its memory, costs several
//! times what the library's own tensor costs.

use std::sync::Arc;

use millpond::DevicePtr;
use millpond_wire::fd::process_number;
use pyo3::exceptions::{PyException, PyKeyError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::dlpack::{self, Keeper, Span};
use crate::gate::Gate;
use crate::lease::ModelLease;
use crate::view::Place;

/// The tensors of one mapping by name, each taken over anew. It follows no refresh.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct Taken {
    pub(crate) lease: Arc<ModelLease>,
    pub(crate) place: Place,
    pub(crate) owner: u32,
    pub(crate) gate: Arc<Gate>,
    /// Makes a tensor of a capsule.
    pub(crate) take: Py<PyAny>,
    /// The newest version that it takes.
    pub(crate) max_version: Option<(u32, u32)>,
    /// Makes a tensor of a name, for what cannot be taken as it is; or raises the error for it.
    pub(crate) otherwise: Py<PyAny>,
}

impl Taken {
    fn capsule<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let missing = || PyKeyError::new_err(name.clone().unbind());
        if self.owner != process_number() {
            return Err(missing());
        }
        self.gate.pass(py)?;
        let text = name.cast::<PyString>().map_err(|_| missing())?.to_cow()?;
        let tensor = self.lease.model.tensor(&text).map_err(|_| missing())?;
        let DevicePtr(address) = tensor.device_ptr();
        let span = Span {
            address,
            dtype: tensor.dtype(),
            shape: tensor.shape().dims(),
            strides: None,
            place: self.place,
            readonly: true,
        };
        let keeper = Keeper::Model { _lease: Arc::clone(&self.lease) };
        dlpack::capsule(py, &span, keeper, self.max_version)
    }

    /// The tensor of that name, anew.
    pub(crate) fn tensor<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let taken = self.capsule(py, name).and_then(|capsule| self.take.bind(py).call1((capsule,)));
        match taken {
            Err(error) if error.is_instance_of::<PyException>(py) => {
                self.otherwise.bind(py).call1((name,))
            }
            taken => taken,
        }
    }
}

#[pymethods]
impl Taken {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.take)?;
        visit.call(&self.otherwise)
    }
}
