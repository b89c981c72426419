//! Tensors that are made when they are asked for, and then kept.

use pyo3::exceptions::PyKeyError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySet};

use crate::taken::Taken;

/// What `Lazy` of `_models.py` is made on: the one method of it that is called for each of tens of
/// thousands of names.
#[pyclass(frozen, subclass, module = "millpond", name = "_Made")]
pub(crate) struct Made {
    source: Py<PyAny>,
    makes: Makes,
    made: Py<PyDict>,
    deleted: Py<PySet>,
}

/// What has a tensor for each name.
enum Makes {
    Taken(Py<Taken>),
    Other(Py<PyAny>),
}

#[pymethods]
impl Made {
    /// `makes` has a tensor for each name of the source.
    #[new]
    fn new(py: Python<'_>, source: Py<PyAny>, makes: Py<PyAny>) -> PyResult<Self> {
        let (made, deleted) = (PyDict::new(py).unbind(), PySet::empty(py)?.unbind());
        let makes = match makes.bind(py).cast::<Taken>() {
            Ok(taken) => Makes::Taken(taken.clone().unbind()),
            Err(_) => Makes::Other(makes),
        };
        Ok(Self { source, makes, made, deleted })
    }

    #[getter]
    fn _source(&self, py: Python<'_>) -> Py<PyAny> {
        self.source.clone_ref(py)
    }

    #[getter]
    fn _made(&self, py: Python<'_>) -> Py<PyDict> {
        self.made.clone_ref(py)
    }

    #[getter]
    fn _deleted(&self, py: Python<'_>) -> Py<PySet> {
        self.deleted.clone_ref(py)
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let made = self.made.bind(py);
        if let Some(tensor) = made.get_item(name)? {
            return Ok(tensor);
        }
        if self.deleted.bind(py).contains(name)? {
            return Err(PyKeyError::new_err(name.clone().unbind()));
        }
        let tensor = match &self.makes {
            Makes::Taken(taken) => taken.get().tensor(py, name)?,
            Makes::Other(other) => other.bind(py).get_item(name)?,
        };
        made.set_item(name, &tensor)?;
        Ok(tensor)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.source)?;
        match &self.makes {
            Makes::Taken(taken) => visit.call(taken)?,
            Makes::Other(other) => visit.call(other)?,
        }
        visit.call(&self.made)?;
        visit.call(&self.deleted)
    }
}
