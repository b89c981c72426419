//! A tensor of a model, mapped or being staged.

use std::sync::Arc;

use millpond::cuda::Context;
use millpond::{ContentHash, DevicePtr, Error, StagedTensor};
use pyo3::prelude::*;

use crate::lease::{Counted, Memory};
use crate::view::{Layout, Place, View};

/// Of what is complete.
const WAY_TO_WRITE: &str =
    "a version never changes: write the next one with millpond.stage(name, like=version)";

/// One tensor of a mapped model, or of a version that is being staged (then writable).
#[pyclass(frozen, extends = View, module = "millpond")]
pub(crate) struct ModelTensor {
    offset: u64,
    hash: Option<ContentHash>,
    code: &'static str,
}

/// What all tensors of one mapping have in common.
#[derive(Clone)]
pub(crate) struct Mapped {
    /// One lease, however many tensors there are.
    pub(crate) counted: Arc<Counted>,
    pub(crate) place: Place,
    pub(crate) owner: u32,
}

/// A tensor that is read.
struct Reading {
    tensor: millpond::ModelTensor,
    _counted: Arc<Counted>,
}

impl Memory for Reading {
    fn read(&self, offset: u64, target: &mut [u8]) -> millpond::Result<()> {
        self.tensor.copy_to_host(offset, target)
    }

    fn write(&self, _offset: u64, _source: &[u8]) -> millpond::Result<()> {
        Err(Error::ReadOnly { tensor: format!("'{}'", self.tensor.name()) })
    }

    fn context(&self) -> &Context {
        self.tensor.context()
    }

    fn way_to_write(&self) -> &'static str {
        WAY_TO_WRITE
    }
}

/// A tensor that is written.
struct Writing {
    tensor: StagedTensor,
    _counted: Arc<Counted>,
}

impl Memory for Writing {
    fn read(&self, offset: u64, target: &mut [u8]) -> millpond::Result<()> {
        self.tensor.copy_to_host(offset, target)
    }

    fn write(&self, offset: u64, source: &[u8]) -> millpond::Result<()> {
        self.tensor.copy_from_host(offset, source)
    }

    fn context(&self) -> &Context {
        self.tensor.context()
    }

    fn way_to_write(&self) -> &'static str {
        WAY_TO_WRITE
    }
}

impl ModelTensor {
    pub(crate) fn read<'py>(
        py: Python<'py>,
        tensor: millpond::ModelTensor,
        mapped: &Mapped,
    ) -> PyResult<Bound<'py, Self>> {
        let hash = Some(tensor.hash());
        let layout = layout(&tensor, mapped, true);
        let own = Self { offset: tensor.arena_offset(), hash, code: tensor.dtype().name() };
        let memory = Reading { tensor, _counted: Arc::clone(&mapped.counted) };
        Self::new(py, own, layout, Arc::new(memory))
    }

    pub(crate) fn write<'py>(
        py: Python<'py>,
        tensor: StagedTensor,
        mapped: &Mapped,
    ) -> PyResult<Bound<'py, Self>> {
        let layout = layout(&tensor, mapped, false);
        let own = Self { offset: tensor.arena_offset(), hash: None, code: tensor.dtype().name() };
        let memory = Writing { tensor, _counted: Arc::clone(&mapped.counted) };
        Self::new(py, own, layout, Arc::new(memory))
    }

    fn new(
        py: Python<'_>,
        own: Self,
        layout: Layout,
        memory: Arc<dyn Memory>,
    ) -> PyResult<Bound<'_, Self>> {
        Bound::new(py, PyClassInitializer::from(View::new(layout, memory)).add_subclass(own))
    }
}

fn layout(tensor: &millpond::ModelTensor, mapped: &Mapped, readonly: bool) -> Layout {
    let DevicePtr(address) = tensor.device_ptr();
    Layout {
        name: Some(tensor.name().to_owned()),
        label: format!("'{}'", tensor.name()),
        dtype: tensor.dtype(),
        shape: tensor.shape().dims().to_vec(),
        bytes: tensor.bytes(),
        device: tensor.device(),
        place: mapped.place,
        address,
        readonly,
        owner: mapped.owner,
    }
}

#[pymethods]
impl ModelTensor {
    /// Where in the arena it begins.
    #[getter]
    fn offset(&self) -> u64 {
        self.offset
    }

    /// The hash of its bytes as committed; none while it is staged.
    #[getter]
    fn hash(&self) -> Option<String> {
        self.hash.map(|hash| hash.to_string())
    }

    /// Its dtype in safetensors' spelling.
    #[getter]
    fn _code(&self) -> &'static str {
        self.code
    }
}
