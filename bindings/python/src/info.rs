//! What the pond says about things, as values with attributes.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::{convert, units};

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
    charged_bytes: Option<u64>,
    drift_bytes: Option<i64>,
    other_bytes: Option<u64>,
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
            charged_bytes: info.charged_bytes,
            drift_bytes: info.drift_bytes,
            other_bytes: info.other_bytes,
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

/// A process of the pond that moves bytes.
#[pyclass(frozen, get_all, from_py_object, module = "millpond")]
#[derive(Clone)]
pub(crate) struct MoverInfo {
    device: String,
    pid: u32,
    moves: u32,
    moved_bytes: u64,
}

impl From<millpond::MoverInfo> for MoverInfo {
    fn from(mover: millpond::MoverInfo) -> Self {
        let millpond::MoverInfo { device, pid, moves, moved_bytes } = mover;
        Self { device: device.to_string(), pid, moves, moved_bytes }
    }
}

#[pymethods]
impl MoverInfo {
    fn __repr__(&self) -> String {
        format!("MoverInfo(pid {}, {} moves)", self.pid, self.moves)
    }
}

/// What was given back, or would be.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct Collected {
    collected: millpond::Collected,
    dry_run: bool,
}

impl Collected {
    pub(crate) fn new(collected: millpond::Collected, dry_run: bool) -> Self {
        Self { collected, dry_run }
    }
}

#[pymethods]
impl Collected {
    #[getter]
    fn dry_run(&self) -> bool {
        self.dry_run
    }

    #[getter]
    fn tensors(&self) -> Vec<TensorInfo> {
        self.collected.tensors.iter().cloned().map(TensorInfo).collect()
    }

    #[getter]
    fn tensor_bytes(&self) -> u64 {
        self.collected.tensors.iter().map(|info| info.bytes).sum()
    }

    #[getter]
    fn slabs(&self) -> u32 {
        self.collected.slabs
    }

    #[getter]
    fn slab_bytes(&self) -> u64 {
        self.collected.slab_bytes
    }

    fn __repr__(&self) -> String {
        let (tensors, slabs) = (self.collected.tensors.len(), self.collected.slabs);
        let bytes = units::bytes(self.collected.slab_bytes);
        format!("Collected({tensors} tensors, {slabs} slabs, {bytes})")
    }
}

/// The pond, its GPUs and accounts.
#[pyclass(frozen, get_all, module = "millpond")]
pub(crate) struct Status {
    pond: String,
    epoch: u64,
    version: String,
    daemon_version: String,
    daemon_pid: u32,
    keeper_pid: u32,
    driver: String,
    software: bool,
    driver_ready: bool,
    started_unix_ms: u64,
    runtime_dir: String,
    preload_library: Option<String>,
    clients: u32,
    silent_clients: u32,
    leases: u32,
    journal_bytes: u64,
    lost_tensors: u32,
    movers: Vec<MoverInfo>,
    program: String,
    service: Option<String>,
    user_service: bool,
    log_file: Option<String>,
    loading: Option<String>,
    devices: Vec<DeviceInfo>,
}

impl From<millpond::Status> for Status {
    fn from(status: millpond::Status) -> Self {
        let said = |text: String| Some(text).filter(|text| !text.is_empty());
        let software = |device: &millpond::DeviceInfo| millpond_softgpu::is_software(&device.name);
        Self {
            software: status.devices.iter().any(software),
            preload_library: status.preload_library,
            user_service: status.service.as_ref().is_some_and(|service| service.user),
            service: status.service.map(|service| service.unit),
            log_file: said(status.log_file),
            loading: said(status.loading),
            pond: status.pond.to_string(),
            epoch: status.epoch.0,
            version: status.daemon_version.clone(),
            daemon_version: status.daemon_version,
            daemon_pid: status.daemon_pid,
            keeper_pid: status.keeper_pid,
            driver: status.driver,
            driver_ready: status.driver_ready,
            started_unix_ms: status.started_unix_ms,
            runtime_dir: status.runtime_dir,
            clients: status.clients,
            silent_clients: status.silent_clients,
            leases: status.leases,
            journal_bytes: status.journal_bytes,
            lost_tensors: status.lost_tensors,
            movers: status.movers.into_iter().map(MoverInfo::from).collect(),
            program: status.program,
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
