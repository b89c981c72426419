//! A version of a model, mapped: its tensors by name, and how it follows swaps.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond::{Error, ErrorKind, ModelRef, TensorRef, VersionInfo, VersionTag, VersionTarget};
use millpond_wire::fd::process_number;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyList, PyString, PyTuple};

use crate::ending::calling;
use crate::errors::{self, Special};
use crate::gate::Gate;
use crate::interrupt::ask;
use crate::lease::{Counted, Counters, ModelLease};
use crate::model_tensor::{Mapped, ModelTensor};
use crate::shown::visible;
use crate::similar;
use crate::swaps::{Subject, Swaps};
use crate::taken::Taken;
use crate::view::Place;

/// A version of a model, mapped read-only.
#[pyclass(frozen, mapping, weakref, module = "millpond")]
pub(crate) struct Model {
    shown: Mutex<Shown>,
    /// One refresh at a time. Taken without the interpreter, and nothing takes that inside.
    refreshing: Mutex<()>,
    gate: Arc<Gate>,
    counters: Arc<Counters>,
    swaps: Arc<Swaps>,
}

/// What is mapped now.
struct Shown {
    info: Arc<VersionInfo>,
    /// Absent once it was closed.
    held: Option<Held>,
}

#[derive(Clone)]
struct Held {
    model: millpond::Model,
    mapped: Mapped,
}

impl Held {
    fn new(model: millpond::Model, counters: &Arc<Counters>) -> Self {
        let counted = Arc::new(Counted::new(counters, model.arena_bytes()));
        let (place, owner) = (Place::of(model.context()), process_number());
        Self { model, mapped: Mapped { counted, place, owner } }
    }
}

impl Model {
    pub(crate) fn new(model: millpond::Model, counters: &Arc<Counters>) -> Self {
        let (info, held) = (Arc::new(model.info()), Held::new(model, counters));
        Self::of(info, held, counters, Arc::default())
    }

    fn of(info: Arc<VersionInfo>, held: Held, counters: &Arc<Counters>, gate: Arc<Gate>) -> Self {
        Self {
            shown: Mutex::new(Shown { info, held: Some(held) }),
            refreshing: Mutex::default(),
            gate,
            counters: Arc::clone(counters),
            swaps: Arc::default(),
        }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn info(&self) -> Arc<VersionInfo> {
        Arc::clone(&self.shown().info)
    }

    fn label(&self) -> String {
        let info = self.info();
        format!("'{}@{}'", info.model, info.tag)
    }

    /// What is mapped, if it is this process's and was not closed.
    fn held(&self, py: Python<'_>) -> PyResult<Held> {
        let held = self.shown().held.clone();
        let held = held.ok_or_else(|| {
            let message = format!("{} was closed", self.label());
            errors::special(py, Special::Closed, &message, "attach it again")
        })?;
        if held.mapped.owner != process_number() {
            let error = Error::Forked { tensor: self.label(), owner: held.mapped.owner };
            return Err(errors::raise(py, &error));
        }
        Ok(held)
    }

    /// As [`Model::held`], when nobody changes what is mapped.
    fn passed(&self, py: Python<'_>) -> PyResult<Held> {
        self.held(py)?;
        self.gate.pass(py)?;
        self.held(py)
    }

    /// Puts another version in the place of the one that was mapped; `same` if the addresses are
    /// those of before, which is then one lease as before. Nothing if it was closed meanwhile.
    fn show(&self, model: millpond::Model, same: Option<Mapped>) {
        let info = Arc::new(model.info());
        let new = match same {
            Some(mapped) => Held { model, mapped },
            None => Held::new(model, &self.counters),
        };
        let mut shown = self.shown();
        let old = match &mut shown.held {
            Some(held) => std::mem::replace(held, new),
            None => new,
        };
        shown.info = info;
        drop(shown);
        drop(old);
    }

    fn find<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, ModelTensor>>> {
        let held = self.passed(py)?;
        let Ok(name) = name.cast::<PyString>() else { return Ok(None) };
        match held.model.tensor(&name.to_cow()?) {
            Ok(tensor) => ModelTensor::read(py, tensor, &held.mapped).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(errors::raise(py, &error)),
        }
    }

    fn missing(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyErr {
        let quoted = name.repr().map_or_else(|_| String::new(), |it| it.to_string());
        let message = format!("{} has no tensor {quoted}", self.label());
        let held = self.shown().held.clone();
        let names = held.as_ref().and_then(|held| held.model.names().ok()).unwrap_or_default();
        let similar = similar::to(&name.to_string(), names.iter().copied());
        errors::no_tensor(py, &message, "list(model)", similar)
    }

    /// Of `collections.abc`: a view of the keys, values or items.
    fn abc<'py>(slf: &Bound<'py, Self>, class: &str) -> PyResult<Bound<'py, PyAny>> {
        calling(slf.py(), || slf.py().import("collections.abc")?.getattr(class)?.call1((slf,)))
    }

    /// The same mapping, whatever this one is refreshed to or closed.
    fn fixed(&self, py: Python<'_>) -> PyResult<Self> {
        let held = self.passed(py)?;
        Ok(Self::of(self.info(), held, &self.counters, Arc::clone(&self.gate)))
    }

    fn lazily<'py>(slf: &Bound<'py, Self>, maker: &str) -> PyResult<Bound<'py, PyAny>> {
        let fixed = slf.get().fixed(slf.py())?;
        calling(slf.py(), || slf.py().import("millpond._models")?.call_method1(maker, (fixed,)))
    }
}

#[pymethods]
impl Model {
    #[getter]
    fn name(&self) -> String {
        self.info().model.to_string()
    }

    #[getter]
    fn version(&self) -> String {
        self.info().tag.to_string()
    }

    /// The version's identity.
    #[getter]
    fn id(&self) -> String {
        self.info().version.to_string()
    }

    #[getter]
    fn device(&self) -> String {
        self.info().device.to_string()
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.info().bytes
    }

    #[getter]
    fn layout_hash(&self) -> String {
        self.info().layout.map(|hash| hash.to_string()).unwrap_or_default()
    }

    #[getter]
    fn content_hash(&self) -> String {
        self.info().content.map(|hash| hash.to_string()).unwrap_or_default()
    }

    /// What the checkpoint said about itself.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let held = self.held(py)?;
        let damaged = |error| errors::invalid(py, &format!("{}: {error}", self.label()), None);
        let members = PyDict::new(py);
        for (key, value) in held.model.manifest().metadata().map_err(damaged)? {
            members.set_item(key, value)?;
        }
        Ok(members)
    }

    /// Whether the model's current version is another one.
    #[getter]
    fn stale(&self, py: Python<'_>) -> PyResult<bool> {
        let held = self.held(py)?;
        ask(py, || held.model.is_stale())
    }

    #[getter]
    fn is_lost(&self) -> bool {
        let held = self.shown().held.clone();
        held.is_some_and(|held| held.model.is_lost())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.held(py)?.model.len())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held(py)?;
        let names = held.model.names().map_err(|error| errors::raise(py, &error))?;
        Ok(PyList::new(py, names)?.try_iter()?.into_any())
    }

    fn __contains__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let held = self.held(py)?;
        let Ok(name) = name.cast::<PyString>() else { return Ok(false) };
        let found = held.model.manifest().find_index(&name.to_cow()?);
        Ok(found.is_ok_and(|found| found.is_some()))
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, ModelTensor>> {
        self.find(py, name)?.ok_or_else(|| self.missing(py, name))
    }

    /// A tensor, or the default where there is none.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.find(py, name)?.map(Bound::into_any).or(default))
    }

    fn keys<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::abc(slf, "KeysView")
    }

    fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::abc(slf, "ValuesView")
    }

    fn items<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::abc(slf, "ItemsView")
    }

    /// A lazy dict of torch tensors of the same memory.
    fn torch<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::lazily(slf, "torch_tensors")
    }

    /// A lazy dict of numpy arrays of the same memory, on the software driver.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::lazily(slf, "numpy_arrays")
    }

    /// Its tensors by name: each one's DLPack capsule, given to `take`; or else its name, given to
    /// `otherwise`.
    fn _taken(
        &self,
        py: Python<'_>,
        take: Py<PyAny>,
        max_version: Option<(u32, u32)>,
        otherwise: Py<PyAny>,
    ) -> PyResult<Taken> {
        let Held { model, mapped } = self.passed(py)?;
        let Mapped { counted, place, owner } = mapped;
        let lease = Arc::new(ModelLease { model, _counted: counted });
        let gate = Arc::clone(&self.gate);
        Ok(Taken { lease, place, owner, gate, take, max_version, otherwise })
    }

    /// Has the callback called with the tag of the new current version whenever that changes.
    /// Returns a function that ends this.
    fn on_swap<'py>(
        &self,
        py: Python<'py>,
        callback: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyCFunction>> {
        let held = self.held(py)?;
        if !callback.is_callable() {
            let message = format!("{callback} cannot be called");
            return Err(pyo3::exceptions::PyTypeError::new_err(message));
        }
        let info = self.info();
        let (pond, model, user) = (held.model.pond().clone(), info.model.clone(), info.user);
        let (subject, callback) = (Subject { pond, model, user }, callback.clone().unbind());
        let number = self.swaps.add(py, &subject, callback)?;
        let swaps = Arc::downgrade(&self.swaps);
        PyCFunction::new_closure(
            py,
            Some(c"remove"),
            None,
            move |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
                if let Some(swaps) = swaps.upgrade() {
                    swaps.remove(number);
                }
            },
        )
    }

    /// Moves to the current version, or the one that is named; false if it is the one that is
    /// mapped already.
    #[pyo3(signature = (in_place=false, version=None))]
    fn refresh(&self, py: Python<'_>, in_place: bool, version: Option<&str>) -> PyResult<bool> {
        self.passed(py)?;
        if in_place && version.is_some() {
            let message = "a refresh in place leads to the current version, not to a named one";
            let hint = "swap to it first, or leave out in_place";
            return Err(errors::invalid(py, message, Some(hint)));
        }
        if in_place && !self.gate.is_mine() {
            let message = format!(
                "a refresh of {} in place needs a pause: whoever uses it meanwhile would read two versions",
                self.label()
            );
            let hint = "with model.paused(): model.refresh(in_place=True)";
            return Err(errors::invalid(py, &message, Some(hint)));
        }
        let named = version.map(|tag| self.named(py, tag)).transpose()?;
        ask(py, || {
            let _one = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
            let held = self.shown().held.clone();
            // Closed while this one waited.
            let Some(Held { mut model, mapped }) = held else { return Err(Error::Closed) };
            let moved = match named {
                Some(target) => {
                    let new = model.pond().attach(target)?;
                    let moved = new.version() != model.version();
                    model = new;
                    moved
                }
                None if in_place => model.refresh_in_place()?,
                None => model.refresh()?,
            };
            if moved {
                self.show(model, in_place.then_some(mapped));
            }
            Ok(moved)
        })
    }

    /// Waits for all work of the context, and lets `refresh(in_place=True)` pass inside.
    fn paused(slf: &Bound<'_, Self>) -> PyResult<Paused> {
        slf.get().held(slf.py())?;
        Ok(Paused { model: slf.clone().unbind() })
    }

    /// As a reference: in another process the same version is mapped there.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (PathBuf, String, String))> {
        let held = self.held(py)?;
        let folder = held.model.pond().runtime_dir().to_owned();
        let (info, label) = (self.info(), self.label());
        let attach = py.import("millpond._references")?.getattr("model")?;
        Ok((attach, (folder, info.version.to_string(), label)))
    }

    #[getter]
    fn closed(&self) -> bool {
        self.shown().held.is_none()
    }

    /// Lets go of it. Views that were taken stay valid, and keep the lease.
    fn close(&self) {
        self.swaps.clear();
        let held = self.shown().held.take();
        drop(held);
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyAny>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        let (info, closed) = (self.info(), if self.closed() { ", closed" } else { "" });
        let bytes = millpond_view::units::bytes(info.bytes);
        visible(&format!("Model({}, {} tensors, {bytes}{closed})", self.label(), info.tensors))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.swaps.traverse(&visit)
    }

    fn __clear__(&self) {
        self.swaps.clear();
    }
}

impl Model {
    /// Another version of the same model.
    fn named(&self, py: Python<'_>, tag: &str) -> PyResult<VersionTarget> {
        let tag = VersionTag::new(tag).map_err(|error| errors::raise(py, &error.into()))?;
        let info = self.info();
        let model = TensorRef { user: Some(info.user), name: info.model.clone() };
        Ok(VersionTarget::Name(ModelRef { model, tag: Some(tag) }))
    }
}

/// What `Model.paused` returns: a context manager.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct Paused {
    model: Py<Model>,
}

#[pymethods]
impl Paused {
    fn __enter__(&self, py: Python<'_>) -> PyResult<Py<Model>> {
        let model = self.model.get();
        let held = model.held(py)?;
        model.gate.close(py)?;
        let idle = ask(py, || Ok(held.model.context().synchronize()?));
        if let Err(error) = idle {
            model.gate.open();
            return Err(error);
        }
        Ok(self.model.clone_ref(py))
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyAny>) {
        self.model.get().gate.open();
    }
}
