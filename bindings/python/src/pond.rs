//! The pond, as a Python program sees it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use millpond::{AttachOptions, Error, GetOptions, Mode, SaveOptions, TensorSpec};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes};

use crate::adopt::Adopt;
use crate::caches::{self, CacheInfo};
use crate::clients::{self, ClientInfo, Events, Wanted};
use crate::elastic::Elastic;
use crate::ending::detached;
use crate::groups::{self, Change, GroupDetails, GroupInfo};
use crate::handle::TensorHandle;
use crate::hints::Call;
use crate::info::{Collected, Status, TensorInfo};
use crate::interrupt::{ask, ask_in, wait as wait_for};
use crate::lease::Counters;
use crate::load::{self, Load, LoadReport, VerifyReport};
use crate::model::Model;
use crate::models::{self, ModelInfo, VersionInfo};
use crate::shown::visible;
use crate::staging::{Stage, Staging};
use crate::tensor::Tensor;
use crate::transfer::{self, Put};
use crate::{convert, errors};

/// A connection to a pond. All threads may use it at once.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct Pond {
    pub(crate) pond: millpond::Pond,
    pub(crate) counters: Arc<Counters>,
}

#[pymethods]
impl Pond {
    #[new]
    #[pyo3(signature = (runtime_dir=None, *, program=None, request_timeout=None, reconnect_timeout=None))]
    fn new(
        py: Python<'_>,
        runtime_dir: Option<PathBuf>,
        program: Option<String>,
        request_timeout: Option<f64>,
        reconnect_timeout: Option<f64>,
    ) -> PyResult<Self> {
        let mut builder = millpond::Pond::builder();
        if let Some(folder) = runtime_dir {
            builder = builder.runtime_dir(folder);
        }
        if let Some(program) = program {
            builder = builder.program(program);
        }
        if let Some(time) = request_timeout {
            builder = builder.request_timeout(convert::seconds("request_timeout", time)?);
        }
        if let Some(time) = reconnect_timeout {
            builder = builder.reconnect_timeout(convert::seconds("reconnect_timeout", time)?);
        }
        let pond = ask(py, || builder.connect())?;
        Ok(Self { pond, counters: Arc::default() })
    }

    #[getter]
    fn runtime_dir(&self) -> PathBuf {
        self.pond.runtime_dir().to_owned()
    }

    /// Makes a tensor and maps it writable; others see it after `publish`.
    #[pyo3(signature = (
        name, shape, dtype, device=None, *, audience="user", ephemeral=false, zero=false, ttl=None,
        linger=None, max_accesses=None, transport="vmm"
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn create<'py>(
        &self,
        py: Python<'py>,
        name: Option<String>,
        shape: &Bound<'py, PyAny>,
        dtype: &Bound<'py, PyAny>,
        device: Option<&Bound<'py, PyAny>>,
        audience: &str,
        ephemeral: bool,
        zero: bool,
        ttl: Option<f64>,
        linger: Option<f64>,
        max_accesses: Option<u64>,
        transport: &str,
    ) -> PyResult<Bound<'py, Tensor>> {
        let (dtype, shape) = (convert::dtype(dtype)?, convert::shape(shape)?);
        let label = name.clone().unwrap_or_default();
        let mut spec = match name {
            Some(name) => TensorSpec::new(name, dtype, shape),
            None => TensorSpec::unnamed(dtype, shape),
        };
        if let Some(device) = convert::device(&self.pond, device)? {
            spec = spec.device(device);
        }
        let spec = spec
            .share(convert::audience(py, audience)?)
            .ephemeral(ephemeral)
            .zero(zero)
            .life(convert::life(ttl, linger, max_accesses)?)
            .transport(convert::transport(py, transport)?);
        let made = ask_in(py, Call::Create { name: &label }, || self.pond.create(spec))?;
        Tensor::new(py, made, &self.counters)
    }

    /// Maps a tensor by name or identity; `wait` is how many seconds to wait for its publish.
    #[pyo3(signature = (name, wait=None, mode="ro"))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        wait: Option<f64>,
        mode: &str,
    ) -> PyResult<Bound<'py, Tensor>> {
        let target = convert::target(name)?;
        let options = match convert::mode(py, mode)? {
            Mode::ReadOnly => GetOptions::read_only(),
            Mode::ReadWrite => GetOptions::read_write(),
        };
        let got = match wait {
            None => ask_in(py, Call::Get, || self.pond.get_with(&target, options))?,
            Some(time) => wait_for(py, Call::Get, convert::seconds("wait", time)?, |slice| {
                self.pond.get_with(&target, options.wait(slice))
            })?,
        };
        Tensor::new(py, got, &self.counters)
    }

    /// The handle of an `ipc` tensor, for programs that know only CUDA IPC. It keeps a lease.
    fn handle(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<TensorHandle> {
        let target = convert::target(name)?;
        let handle = ask_in(py, Call::Handle, || self.pond.handle(target))?;
        Ok(TensorHandle::new(handle, &self.counters))
    }

    /// Gives memory that this program has on a GPU a name, without a copy, and returns it as `get`
    /// does. Where the driver cannot share it, `copy` makes a copy, and `copied_because` says why.
    #[pyo3(signature = (name, tensor, *, share="user", copy=false))]
    fn adopt<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        tensor: &Bound<'py, PyAny>,
        share: &str,
        copy: bool,
    ) -> PyResult<Bound<'py, Tensor>> {
        let audience = convert::audience(py, share)?;
        Adopt { pond: &self.pond, name, audience, copy }.run(tensor, &self.counters)
    }

    /// Deletes a tensor: no new leases, and the memory goes when the last one has ended. With
    /// `unused` it raises `InUse` instead while anybody has one, this process included.
    #[pyo3(signature = (name, *, unused=false))]
    fn delete(&self, py: Python<'_>, name: &Bound<'_, PyAny>, unused: bool) -> PyResult<()> {
        let target = convert::target(name)?;
        ask(py, || match unused {
            true => self.pond.delete_unused(target),
            false => self.pond.delete(target),
        })
    }

    /// Every tensor shared with the caller whose name begins so.
    #[pyo3(signature = (prefix=""))]
    fn list(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<TensorInfo>> {
        let listed = ask(py, || self.pond.list(prefix))?;
        Ok(listed.iter().map(TensorInfo::of).collect())
    }

    /// What the pond knows about one tensor.
    fn info(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<TensorInfo> {
        let target = convert::target(name)?;
        Ok(TensorInfo::of(&ask(py, || self.pond.inspect(target))?.info))
    }

    /// The pond, its GPUs and accounts.
    fn status(&self, py: Python<'_>) -> PyResult<Status> {
        let status = ask(py, || self.pond.status())?;
        Ok(Status(millpond_view::Status::new(&status, millpond_softgpu::is_software)))
    }

    /// Puts a tensor into the pond whole: nobody sees it before all of its bytes are there.
    #[pyo3(signature = (
        name, source, shape=None, dtype=None, device=None, *, audience="user", replace=false,
        ttl=None, linger=None, max_accesses=None, progress=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn put<'py>(
        &self,
        py: Python<'py>,
        name: String,
        source: &Bound<'py, PyAny>,
        shape: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        device: Option<&Bound<'py, PyAny>>,
        audience: &str,
        replace: bool,
        ttl: Option<f64>,
        linger: Option<f64>,
        max_accesses: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<TensorInfo> {
        let put = Put {
            name,
            shape: shape.map(convert::shape).transpose()?,
            dtype: dtype.map(convert::dtype).transpose()?,
            device: convert::device(&self.pond, device)?,
            audience: convert::audience(py, audience)?,
            replace,
            life: convert::life(ttl, linger, max_accesses)?,
        };
        transfer::put(&self.pond, &put, source, progress).map(|info| TensorInfo::of(&info))
    }

    /// Copies a published tensor to a new name: nobody sees the copy before it is complete.
    #[pyo3(signature = (
        source, name, device=None, *, audience="user", replace=false, ttl=None, linger=None,
        max_accesses=None, progress=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn copy<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        name: String,
        device: Option<&Bound<'py, PyAny>>,
        audience: &str,
        replace: bool,
        ttl: Option<f64>,
        linger: Option<f64>,
        max_accesses: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<TensorInfo> {
        let put = Put {
            name,
            shape: None,
            dtype: None,
            device: convert::device(&self.pond, device)?,
            audience: convert::audience(py, audience)?,
            replace,
            life: convert::life(ttl, linger, max_accesses)?,
        };
        let source = convert::target(source)?;
        transfer::copy(py, &self.pond, source, &put, progress).map(|info| TensorInfo::of(&info))
    }

    /// Fills a tensor with zeroes and publishes it.
    #[pyo3(signature = (name, *, progress=None))]
    fn zero(&self, name: &Bound<'_, PyAny>, progress: Option<Py<PyAny>>) -> PyResult<TensorInfo> {
        let target = convert::target(name)?;
        transfer::zero(name.py(), &self.pond, target, progress).map(|info| TensorInfo::of(&info))
    }

    /// Gives back what nobody uses.
    #[pyo3(signature = (unleased_for=None, *, dry_run=false))]
    fn gc(&self, py: Python<'_>, unleased_for: Option<f64>, dry_run: bool) -> PyResult<Collected> {
        let time = unleased_for.map(|time| convert::seconds("unleased_for", time)).transpose()?;
        let collected = ask(py, || self.pond.collect(time, dry_run))?;
        Ok(Collected(collected.view(dry_run)))
    }

    /// Everybody who is connected, or silent and alive, with what they hold.
    fn clients(&self, py: Python<'_>) -> PyResult<Vec<ClientInfo>> {
        clients::list(py, &self.pond)
    }

    /// What happens in the pond: an iterator.
    #[pyo3(signature = (since=None, *, kind=None, prefix="", model=None, follow=true))]
    fn events<'py>(
        &self,
        py: Python<'py>,
        since: Option<u64>,
        kind: Option<&Bound<'py, PyAny>>,
        prefix: &str,
        model: Option<&str>,
        follow: bool,
    ) -> PyResult<Events> {
        let wanted = Wanted::new(py, kind, prefix, model)?;
        Events::begin(py, &self.pond, since, wanted, follow)
    }

    /// Every group, with what it holds on each GPU.
    fn groups(&self, py: Python<'_>) -> PyResult<Vec<GroupInfo>> {
        groups::list(py, &self.pond)
    }

    /// Everything about one group, its processes as well.
    fn group(&self, py: Python<'_>, name: &str) -> PyResult<GroupDetails> {
        groups::inspect(py, &self.pond, name)
    }

    /// Makes or changes a group: what is not named stays as it is.
    #[pyo3(signature = (
        name, limit=None, *, min_bytes=None, weight=None, users=None, device=None, create=true,
        ends_silent=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn set_group<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        limit: Option<&Bound<'py, PyAny>>,
        min_bytes: Option<u64>,
        weight: Option<u32>,
        users: Option<Vec<u32>>,
        device: Option<&Bound<'py, PyAny>>,
        create: bool,
        ends_silent: Option<bool>,
    ) -> PyResult<GroupDetails> {
        let device = convert::device(&self.pond, device)?;
        let change = Change { name, limit, min_bytes, weight, users, device, create, ends_silent };
        groups::set(py, &self.pond, change)
    }

    /// Removes a group that has no processes.
    fn remove_group(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        groups::remove(py, &self.pond, name)
    }

    /// Every elastic cache of groups that the caller may use, or those of one group.
    #[pyo3(signature = (group=None))]
    fn caches(&self, py: Python<'_>, group: Option<&str>) -> PyResult<Vec<CacheInfo>> {
        caches::list(py, &self.pond, group)
    }

    /// The elastic caches of a group, in this process.
    ///
    /// Parameters
    /// ----------
    /// group : str
    ///     The group that pays; ``set_group`` makes one.
    ///
    /// Returns
    /// -------
    /// Elastic
    ///
    /// Raises
    /// ------
    /// NotFound
    ///     There is no such group.
    /// Denied
    ///     The group is not the caller's to use.
    fn elastic(&self, py: Python<'_>, group: &str) -> PyResult<Elastic> {
        Elastic::of(py, &self.pond, group)
    }

    /// Fills a whole tensor that is there, from a file or bytes. Returns the bytes.
    #[pyo3(signature = (name, source, *, progress=None))]
    fn upload(
        &self,
        name: &Bound<'_, PyAny>,
        source: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<u64> {
        transfer::upload(&self.pond, convert::target(name)?, source, progress)
    }

    /// A published tensor's bytes: into a file (then their number is returned), or as bytes.
    #[pyo3(signature = (name, path=None, *, force=false, progress=None))]
    fn download<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        path: Option<PathBuf>,
        force: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let target = convert::target(name)?;
        match path {
            Some(path) => {
                let bytes =
                    transfer::download_file(py, &self.pond, target, &path, force, progress)?;
                Ok(bytes.into_pyobject(py)?.into_any())
            }
            None => {
                let bytes = transfer::download(py, &self.pond, target, progress)?;
                Ok(PyBytes::new(py, &bytes).into_any())
            }
        }
    }

    /// Maps a model read-only: its current version unless one is named. No copy, no load.
    #[pyo3(signature = (name, version=None, *, wait=None))]
    fn attach(
        &self,
        py: Python<'_>,
        name: &str,
        version: Option<&str>,
        wait: Option<f64>,
    ) -> PyResult<Model> {
        let target = models::target(py, name, version)
            .map_err(|error| models::file_perhaps(py, name, error))?;
        let call = Call::Attach { name };
        let attached = match wait {
            None => ask_in(py, call, || self.pond.attach(target))?,
            Some(time) => wait_for(py, call, convert::seconds("wait", time)?, |slice| {
                self.pond.attach_with(&target, AttachOptions::default().wait(slice))
            })?,
        };
        Ok(Model::new(attached, &self.counters))
    }

    /// A model in the manner of safetensors' `safe_open`.
    #[pyo3(signature = (name, framework="pt", device=None))]
    fn safe_open<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        framework: &str,
        device: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = py.import("millpond._models")?.getattr("SafeOpen")?;
        // Before anything is mapped: it may have to import the framework.
        let opened = class.call1((framework, device))?;
        opened.call_method1("_begin", (self.attach(py, name, None, None)?,))?;
        Ok(opened)
    }

    /// Loads a checkpoint into a new version.
    #[pyo3(signature = (
        name, source, version=None, device=None, *, activate=false, like=None, plan=None,
        audience="user", slab_bytes=None, progress=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn load<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        source: &Bound<'py, PyAny>,
        version: Option<&str>,
        device: Option<&Bound<'py, PyAny>>,
        activate: bool,
        like: Option<&Bound<'py, PyAny>>,
        plan: Option<&Bound<'py, PyAny>>,
        audience: &str,
        slab_bytes: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<LoadReport> {
        let device = convert::device(&self.pond, device)?;
        let audience = convert::audience(py, audience)?;
        let load =
            Load { name, source, version, device, activate, like, plan, audience, slab_bytes };
        load::load(py, &self.pond, &load, progress)
    }

    /// A new version that this process writes itself.
    #[pyo3(signature = (
        name, version=None, *, like=None, tensors=None, device=None, activate=false,
        audience=None, metadata=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn stage<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        version: Option<&str>,
        like: Option<&str>,
        tensors: Option<&Bound<'py, PyAny>>,
        device: Option<&Bound<'py, PyAny>>,
        activate: bool,
        audience: Option<&str>,
        metadata: Option<BTreeMap<String, String>>,
    ) -> PyResult<Staging> {
        let stage = Stage { name, version, like, tensors, device, activate, audience, metadata };
        Staging::begin(py, &self.pond, &self.counters, stage)
    }

    /// Every model shared with the caller whose name begins so.
    #[pyo3(signature = (prefix=""))]
    fn models(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<ModelInfo>> {
        let listed = ask(py, || self.pond.models(prefix))?;
        Ok(listed.iter().map(ModelInfo::newest_first).collect())
    }

    /// What the pond knows about a model, or about a version of it.
    fn inspect<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        models::inspect(py, &self.pond, name)
    }

    /// Makes a ready version the current one, in one step.
    fn swap(&self, py: Python<'_>, name: &str, version: &str) -> PyResult<VersionInfo> {
        ask(py, || self.pond.swap(name, version)).map(|swap| VersionInfo::of(&swap.current))
    }

    /// Makes the previous version the current one again.
    fn rollback(&self, py: Python<'_>, name: &str) -> PyResult<VersionInfo> {
        ask(py, || self.pond.rollback(name)).map(|swap| VersionInfo::of(&swap.current))
    }

    /// Stops new leases on a version; its memory goes when the last reader leaves.
    #[pyo3(signature = (name, version, *, wait=None))]
    fn retire(&self, py: Python<'_>, name: &str, version: &str, wait: Option<f64>) -> PyResult<()> {
        models::retire(py, &self.pond, name, version, wait)
    }

    /// Hashes a version's bytes on the GPU and compares them with what was committed.
    #[pyo3(signature = (name, *, progress=None))]
    fn verify(
        &self,
        py: Python<'_>,
        name: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<VerifyReport> {
        load::verify(py, &self.pond, name, progress)
    }

    /// Writes a version out as safetensors. Returns the files.
    #[pyo3(signature = (name, path, *, shard_bytes=None, force=false, progress=None))]
    fn save(
        &self,
        py: Python<'_>,
        name: &str,
        path: PathBuf,
        shard_bytes: Option<u64>,
        force: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<String>> {
        let options = SaveOptions { shard_bytes, force };
        let files = load::save(py, &self.pond, name, path, options, progress)?;
        Ok(files.iter().map(|path| path.display().to_string()).collect())
    }

    /// How many leases this process holds here, those of views included.
    fn live_leases(&self) -> u64 {
        self.counters.read().0
    }

    /// The bytes under those leases.
    fn live_bytes(&self) -> u64 {
        self.counters.read().1
    }

    /// Waits until everything that was let go of is unmapped and the pond knows; false if the time
    /// was over before.
    #[pyo3(signature = (timeout=10.0))]
    fn flush(&self, py: Python<'_>, timeout: f64) -> PyResult<bool> {
        let timeout = convert::seconds("timeout", timeout)?;
        ask(py, || self.pond.flush(timeout))
    }

    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        detached(py, || matches!(self.pond.flush(Duration::ZERO), Err(Error::Closed)))
    }

    /// Waits for what was let go of and says goodbye.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        ask(py, || self.pond.clone().close())
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyAny>) -> PyResult<()> {
        match detached(py, || self.pond.clone().close()) {
            // What is still in use keeps the connection, and it ends with the last of that.
            Ok(()) | Err(Error::InUse { .. } | Error::Closed) => Ok(()),
            Err(error) => Err(errors::raise(py, &error)),
        }
    }

    /// In another process it is a connection of its own to the same pond.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (PathBuf,))> {
        let class = slf.get_type().into_any();
        Ok((class, (slf.get().runtime_dir(),)))
    }

    fn __repr__(&self) -> String {
        visible(&format!("Pond('{}')", self.pond.runtime_dir().display()))
    }
}
