//! A version that this process writes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond::{Error, ErrorKind, Failure, StageSpec};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::convert;
use crate::ending::detached;
use crate::errors;
use crate::hints::Call;
use crate::interrupt::{ask, ask_in, ask_locked};
use crate::lease::{Counted, Counters};
use crate::model_tensor::{Mapped, ModelTensor};
use crate::models::{VersionInfo, target};
use crate::shown::visible;
use crate::similar;
use crate::view::Place;

/// A version that this process writes. Leaving the `with` block commits it; an exception in the
/// block leaves nothing behind.
#[pyclass(frozen, mapping, weakref, module = "millpond")]
pub(crate) struct Staging {
    pond: millpond::Pond,
    info: millpond::VersionInfo,
    names: Vec<String>,
    activate: bool,
    owner: u32,
    open: Mutex<State>,
}

enum State {
    Open(Box<Open>),
    Committed,
    Aborted,
}

struct Open {
    staging: millpond::Staging,
    counted: Arc<Counted>,
    /// Known with the first tensor.
    mapped: Option<Mapped>,
}

/// What a version is staged from.
pub(crate) struct Stage<'a, 'py> {
    pub(crate) name: &'a str,
    pub(crate) version: Option<&'a str>,
    pub(crate) like: Option<&'a str>,
    pub(crate) tensors: Option<&'a Bound<'py, PyAny>>,
    pub(crate) device: Option<&'a Bound<'py, PyAny>>,
    pub(crate) activate: bool,
    pub(crate) audience: Option<&'a str>,
    pub(crate) metadata: Option<BTreeMap<String, String>>,
}

impl Staging {
    pub(crate) fn begin(
        py: Python<'_>,
        pond: &millpond::Pond,
        counters: &Arc<Counters>,
        stage: Stage<'_, '_>,
    ) -> PyResult<Self> {
        let Stage { name, version, like, tensors, device, activate, audience, metadata } = stage;
        let mut spec = StageSpec::new(name);
        if let Some(tag) = version {
            spec = spec.tag(tag);
        }
        if let Some(device) = convert::device(pond, device)? {
            spec = spec.device(device);
        }
        if let Some(audience) = audience {
            spec = spec.audience(convert::audience(py, audience)?);
        }
        if let Some(metadata) = metadata {
            spec = spec.metadata(metadata);
        }
        spec = match (like, tensors) {
            (Some(like), None) => {
                // A tag of the same model, or a version of any.
                let whole = like.contains('@') || like.len() == 36;
                let like =
                    if whole { target(py, like, None) } else { target(py, name, Some(like)) };
                spec.like(like?)
            }
            (None, Some(tensors)) => {
                let (own, ties) = described(tensors)?;
                ties.into_iter().fold(spec.tensors(own), |spec, (name, to)| spec.tied(name, to))
            }
            _ => {
                let message = format!("a version of '{name}' is staged with `like` or `tensors`");
                let hint = "like=\"v1\", or tensors={\"w\": (\"float32\", (2, 3))}";
                return Err(errors::invalid(py, &message, Some(hint)));
            }
        };
        let call = Call::Make { name, version };
        let staging = ask_in(py, call, || pond.stage(spec))?;
        let info = staging.info().clone();
        let names = staging.names().into_iter().map(str::to_owned).collect();
        let counted = Arc::new(Counted::new(counters, info.slab_bytes));
        let open = Open { staging, counted, mapped: None };
        let (owner, open) = (std::process::id(), Mutex::new(State::Open(Box::new(open))));
        let pond = pond.clone();
        Ok(Self { pond, info, names, activate, owner, open })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn label(&self) -> String {
        format!("'{}@{}'", self.info.model, self.info.tag)
    }

    fn over(&self, state: &State) -> Error {
        let how = if matches!(state, State::Committed) { "committed" } else { "given up" };
        let message = format!("{} was {how} already", self.label());
        Failure::new(ErrorKind::Invalid, message).hint("stage the next version").into()
    }

    /// What cannot be told is no answer: a version must not become current by mistake.
    fn has_current(&self) -> Result<bool, Error> {
        let model = format!("~{}/{}", self.info.user, self.info.model);
        match self.pond.version(model) {
            Ok(_) => Ok(true),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotReady => Ok(false),
                ErrorKind::Lost => Ok(true),
                _ => Err(error),
            },
        }
    }

    /// Only in the process that staged it.
    fn own(&self, py: Python<'_>) -> PyResult<()> {
        if self.owner == std::process::id() {
            return Ok(());
        }
        let error = Error::Forked { tensor: self.label(), owner: self.owner };
        Err(errors::raise(py, &error))
    }

    /// The end of it, one way or the other; `None` if it is over.
    fn take(&self, next: State) -> Option<Open> {
        let mut state = self.lock();
        if !matches!(*state, State::Open(_)) {
            return None;
        }
        match std::mem::replace(&mut *state, next) {
            State::Open(open) => Some(*open),
            State::Committed | State::Aborted => None,
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // To give it up asks the pond, and nobody who waits for that keeps the interpreter.
        if let Some(open) = self.take(State::Aborted) {
            let mut open = Some(open);
            Python::try_attach(|py| detached(py, || drop(open.take())));
        }
    }
}

#[pymethods]
impl Staging {
    #[getter]
    fn name(&self) -> String {
        self.info.model.to_string()
    }

    #[getter]
    fn version(&self) -> String {
        self.info.tag.to_string()
    }

    fn __len__(&self) -> usize {
        self.names.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, &self.names)?.try_iter()?.into_any())
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(name) = name.cast::<PyString>() else { return Ok(false) };
        let name = name.to_cow()?;
        Ok(self.names.binary_search_by(|one| one.as_str().cmp(&name)).is_ok())
    }

    /// The tensor, writable. To ask for it is to say that it is written.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, ModelTensor>> {
        self.own(py)?;
        if !self.__contains__(name)? {
            let message = format!("{} has no tensor {}", self.label(), name.repr()?);
            let similar = similar::to(&name.to_string(), self.names.iter().map(String::as_str));
            return Err(errors::no_tensor(py, &message, "list(staging)", similar));
        }
        let text = name.cast::<PyString>()?.to_cow()?.into_owned();
        let (tensor, mapped) = ask_locked(py, || {
            let mut state = self.lock();
            let State::Open(open) = &mut *state else { return Err(self.over(&state)) };
            let tensor = open.staging.tensor_mut(&text)?;
            let (counted, owner) = (Arc::clone(&open.counted), self.owner);
            let mapped = open.mapped.get_or_insert_with(|| Mapped {
                counted,
                place: Place::of(tensor.context()),
                owner,
            });
            Ok((tensor, mapped.clone()))
        })?;
        ModelTensor::write(py, tensor, &mapped)
    }

    /// A tensor, or the default where there is none.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.__contains__(name)? {
            return self.__getitem__(py, name).map(|found| Some(found.into_any()));
        }
        Ok(default)
    }

    fn keys<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("collections.abc")?.getattr("KeysView")?.call1((slf,))
    }

    fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("collections.abc")?.getattr("ValuesView")?.call1((slf,))
    }

    fn items<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("collections.abc")?.getattr("ItemsView")?.call1((slf,))
    }

    /// Waits for all work, hashes, and makes the version ready; `activate` makes it current too.
    #[pyo3(signature = (activate=None))]
    fn commit(&self, py: Python<'_>, activate: Option<bool>) -> PyResult<VersionInfo> {
        self.own(py)?;
        let info = ask(py, || {
            // As with a load, a model's first version is its current one.
            let activate = match activate {
                Some(activate) => activate,
                None => self.activate || !self.has_current()?,
            };
            let Some(open) = self.take(State::Committed) else {
                return Err(self.over(&self.lock()));
            };
            let committed = open.staging.commit(activate);
            if committed.is_err() {
                *self.lock() = State::Aborted;
            }
            committed
        })?;
        Ok(VersionInfo::of(&info))
    }

    /// Gives everything back.
    fn abort(&self, py: Python<'_>) {
        detached(py, || drop(self.take(State::Aborted)));
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (kind, _error, _trace))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if !kind.is_none() {
            self.abort(py);
        } else if matches!(*self.lock(), State::Open(_)) {
            // Whoever has committed or given it up inside has said what is wanted.
            self.commit(py, None)?;
        }
        Ok(())
    }

    fn __repr__(&self) -> String {
        let state = match &*self.lock() {
            State::Open(_) => "open",
            State::Committed => "committed",
            State::Aborted => "given up",
        };
        visible(&format!("Staging({}, {} tensors, {state})", self.label(), self.names.len()))
    }
}

/// Names, dtypes and shapes; and names that are another tensor's, with that one's.
fn described(tensors: &Bound<'_, PyAny>) -> PyResult<(Vec<Described>, Vec<Tie>)> {
    let items = tensors.call_method0("items")?;
    let (mut own, mut ties) = (Vec::new(), Vec::new());
    for item in items.try_iter()? {
        let (name, what): (String, Bound<'_, PyAny>) = item?.extract()?;
        if let Ok(to) = what.cast::<PyString>() {
            ties.push((name, to.to_cow()?.into_owned()));
            continue;
        }
        let (dtype, shape): (Bound<'_, PyAny>, Bound<'_, PyAny>) = what.extract()?;
        own.push((name, convert::dtype(&dtype)?, convert::shape(&shape)?));
    }
    Ok((own, ties))
}

type Described = (String, millpond::Dtype, Vec<u64>);
type Tie = (String, String);
