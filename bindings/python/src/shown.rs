//! Classes for what the pond says about things: each holds data of `millpond-view` and has its
//! fields as attributes, under the same names.

use std::fmt::Display;

use millpond::{
    Audience, CacheId, ClientId, Dtype, EventKind, GpuUuid, GroupName, LeaseTarget, Mode, PondId,
    SlabId, Survives, TensorId, TensorName, TensorState, TransportKind, VersionId, VersionState,
    VersionTag,
};
use millpond_view::{Digest, Dims, Text};
use millpond_wire::HostId;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::convert;

/// What `repr` says: names and programs are other users' texts, and must not turn or hide a line.
pub(crate) fn visible(text: &str) -> String {
    millpond_wire::characters::shown(text).into_owned()
}

/// A field of the data as Python has it.
pub(crate) trait Shown {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

macro_rules! as_it_is {
    ($($type:ty),*) => {
        $(impl Shown for $type {
            fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.clone().into_bound_py_any(py)
            }
        })*
    };
}
as_it_is!(bool, u32, u64, i64, f64, String, &'static str);

/// What is its text in Python too.
trait Plain: Display {}

macro_rules! plain {
    ($($type:ty),*) => { $(impl Plain for $type {})* };
}
plain!(
    Audience,
    CacheId,
    ClientId,
    EventKind,
    GpuUuid,
    GroupName,
    HostId,
    LeaseTarget,
    Mode,
    PondId,
    SlabId,
    Survives,
    TensorId,
    TensorName,
    TensorState,
    TransportKind,
    VersionId,
    VersionState,
    VersionTag
);

impl<T: Plain> Shown for Text<T> {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_string().shown(py)
    }
}

/// In numpy's and torch's spelling.
impl Shown for Text<Dtype> {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::spelling(self.0).shown(py)
    }
}

impl Shown for Dims {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyTuple::new(py, self.0.dims())?.into_any())
    }
}

/// Text that is empty as long as there is no hash.
impl Shown for Digest {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.map(|hash| hash.to_string()).unwrap_or_default().shown(py)
    }
}

impl<T: Shown> Shown for Option<T> {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Some(value) => value.shown(py),
            None => Ok(py.None().into_bound(py)),
        }
    }
}

impl<T: Shown> Shown for Vec<T> {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let items = self.iter().map(|item| item.shown(py)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, items)?.into_any())
    }
}

/// A class with the fields that a macro of `millpond-view` hands over, and with what Python has
/// beside them. A class may hold something more than its data.
macro_rules! info_class {
    ([$($fields:tt)*] $(#[$outer:meta])* $class:ident($data:ty) { $($method:tt)* }) => {
        $crate::shown::info_class! {
            [$($fields)*] $(#[$outer])* struct $class(pub(crate) $data); { $($method)* }
        }

        impl $class {
            #[allow(dead_code, reason = "some are only a part of others")]
            pub(crate) fn of(data: impl Into<$data>) -> Self {
                Self(data.into())
            }
        }

        impl $crate::shown::Shown for $data {
            fn shown<'py>(
                &self,
                py: pyo3::Python<'py>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                Ok(pyo3::Bound::new(py, $class(self.clone()))?.into_any())
            }
        }
    };
    ([$($fields:tt)*] $(#[$outer:meta])* $class:ident($data:ty, $more:ty) { $($method:tt)* }) => {
        $crate::shown::info_class! {
            [$($fields)*]
            $(#[$outer])* struct $class(pub(crate) $data, pub(crate) $more);
            { $($method)* }
        }
    };
    (
        [$( $(#[doc = $doc:literal])* $field:ident )*]
        $(#[$outer:meta])* struct $class:ident $held:tt;
        { $($method:tt)* }
    ) => {
        $(#[$outer])*
        #[pyo3::pyclass(frozen, module = "millpond")]
        pub(crate) struct $class $held;

        #[pyo3::pymethods]
        impl $class {
            $(
                $(#[doc = $doc])*
                #[getter]
                fn $field<'py>(
                    &self,
                    py: pyo3::Python<'py>,
                ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                    $crate::shown::Shown::shown(&self.0.$field, py)
                }
            )*

            $($method)*
        }
    };
}
pub(crate) use info_class;
