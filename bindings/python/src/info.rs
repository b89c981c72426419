//! What the pond says about things, as values with attributes.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::convert;

/// Who holds memory of a full GPU.
#[pyclass(frozen, get_all, module = "millpond")]
pub(crate) struct Holder {
    user: u32,
    bytes: u64,
    tensors: u32,
}

impl From<&millpond::Holder> for Holder {
    fn from(holder: &millpond::Holder) -> Self {
        Self { user: holder.user, bytes: holder.bytes, tensors: holder.tensors }
    }
}

#[pymethods]
impl Holder {
    #[new]
    fn new(user: u32, bytes: u64, tensors: u32) -> Self {
        Self { user, bytes, tensors }
    }

    /// An error that names holders can travel to another process.
    fn __getnewargs__(&self) -> (u32, u64, u32) {
        (self.user, self.bytes, self.tensors)
    }

    fn __repr__(&self) -> String {
        format!("Holder(user={}, bytes={}, tensors={})", self.user, self.bytes, self.tensors)
    }
}

/// What the pond knows about a tensor.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct TensorInfo(pub(crate) millpond::TensorInfo);

#[pymethods]
impl TensorInfo {
    #[getter]
    fn id(&self) -> String {
        self.0.tensor.to_string()
    }

    #[getter]
    fn name(&self) -> Option<String> {
        self.0.name.as_ref().map(ToString::to_string)
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        convert::spelling(self.0.dtype)
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.shape.dims())
    }

    #[getter]
    fn device(&self) -> String {
        self.0.device.to_string()
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.bytes
    }

    #[getter]
    fn state(&self) -> String {
        self.0.state.to_string()
    }

    #[getter]
    fn generation(&self) -> u64 {
        self.0.generation
    }

    #[getter]
    fn user(&self) -> u32 {
        self.0.user
    }

    #[getter]
    fn audience(&self) -> String {
        self.0.audience.to_string()
    }

    #[getter]
    fn ephemeral(&self) -> bool {
        self.0.ephemeral
    }

    #[getter]
    fn leases(&self) -> u32 {
        self.0.leases
    }

    fn __repr__(&self) -> String {
        let info = &self.0;
        let name = info.name.as_ref().map_or_else(|| info.tensor.to_string(), ToString::to_string);
        let (dtype, state) = (convert::spelling(info.dtype), info.state);
        format!("TensorInfo('{name}', {:?}, {dtype}, {state})", info.shape.dims())
    }
}

/// A GPU of the pond, and the account of it.
#[pyclass(frozen, get_all, from_py_object, module = "millpond")]
#[derive(Clone)]
pub(crate) struct DeviceInfo {
    device: String,
    index: u32,
    name: String,
    total_bytes: u64,
    capacity_bytes: u64,
    slab_bytes: u64,
    tensor_bytes: u64,
    recycled_bytes: u64,
    physical_used_bytes: Option<u64>,
    slabs: u32,
    tensors: u32,
}

impl From<millpond::DeviceInfo> for DeviceInfo {
    fn from(info: millpond::DeviceInfo) -> Self {
        Self {
            device: info.device.to_string(),
            index: info.index,
            name: info.name,
            total_bytes: info.total_bytes,
            capacity_bytes: info.capacity_bytes,
            slab_bytes: info.slab_bytes,
            tensor_bytes: info.tensor_bytes,
            recycled_bytes: info.recycled_bytes,
            physical_used_bytes: info.physical_used_bytes,
            slabs: info.slabs,
            tensors: info.tensors,
        }
    }
}

#[pymethods]
impl DeviceInfo {
    fn __repr__(&self) -> String {
        format!("DeviceInfo({}, '{}', {})", self.index, self.name, self.device)
    }
}

/// The pond, its GPUs and accounts.
#[pyclass(frozen, get_all, module = "millpond")]
pub(crate) struct Status {
    pond: String,
    epoch: u64,
    daemon_version: String,
    daemon_pid: u32,
    keeper_pid: u32,
    driver: String,
    driver_ready: bool,
    runtime_dir: String,
    clients: u32,
    leases: u32,
    devices: Vec<DeviceInfo>,
}

impl From<millpond::Status> for Status {
    fn from(status: millpond::Status) -> Self {
        Self {
            pond: status.pond.to_string(),
            epoch: status.epoch.0,
            daemon_version: status.daemon_version,
            daemon_pid: status.daemon_pid,
            keeper_pid: status.keeper_pid,
            driver: status.driver,
            driver_ready: status.driver_ready,
            runtime_dir: status.runtime_dir,
            clients: status.clients,
            leases: status.leases,
            devices: status.devices.into_iter().map(DeviceInfo::from).collect(),
        }
    }
}

#[pymethods]
impl Status {
    fn __repr__(&self) -> String {
        let (driver, count) = (&self.driver, self.devices.len());
        format!("Status('{}', {driver}, {count} devices, {} leases)", self.runtime_dir, self.leases)
    }
}
