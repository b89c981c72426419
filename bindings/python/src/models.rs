//! What the pond says about models, and the calls that change which version is current.

use millpond::{Error, ErrorKind, Failure, IntoVersion, VersionTarget};
use pyo3::prelude::*;

use crate::hints::Call;
use crate::interrupt::{ask, ask_in};
use crate::{convert, errors, hints};

/// What the pond knows about one version of a model.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct VersionInfo(pub(crate) millpond::VersionInfo);

#[pymethods]
impl VersionInfo {
    #[getter]
    fn model(&self) -> String {
        self.0.model.to_string()
    }

    #[getter]
    fn version(&self) -> String {
        self.0.tag.to_string()
    }

    #[getter]
    fn id(&self) -> String {
        self.0.version.to_string()
    }

    #[getter]
    fn state(&self) -> &'static str {
        self.0.state.name()
    }

    #[getter]
    fn current(&self) -> bool {
        self.0.current
    }

    #[getter]
    fn previous(&self) -> bool {
        self.0.previous
    }

    #[getter]
    fn device(&self) -> String {
        self.0.device.to_string()
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.slab_bytes
    }

    #[getter]
    fn own_bytes(&self) -> u64 {
        self.0.slab_bytes.saturating_sub(self.0.shared_bytes)
    }

    #[getter]
    fn shared_bytes(&self) -> u64 {
        self.0.shared_bytes
    }

    #[getter]
    fn slabs(&self) -> u32 {
        self.0.slabs
    }

    #[getter]
    fn tensors(&self) -> u32 {
        self.0.tensors
    }

    #[getter]
    fn readers(&self) -> u32 {
        self.0.readers
    }

    #[getter]
    fn layout_hash(&self) -> String {
        self.0.layout.map(|hash| hash.to_string()).unwrap_or_default()
    }

    #[getter]
    fn content_hash(&self) -> String {
        self.0.content.map(|hash| hash.to_string()).unwrap_or_default()
    }

    #[getter]
    fn user(&self) -> u32 {
        self.0.user
    }

    #[getter]
    fn audience(&self) -> String {
        self.0.audience.to_string()
    }

    fn __repr__(&self) -> String {
        let info = &self.0;
        let current = if info.current { ", current" } else { "" };
        let (state, tensors) = (info.state.name(), info.tensors);
        format!("VersionInfo('{}@{}', {state}{current}, {tensors} tensors)", info.model, info.tag)
    }
}

/// What the pond knows about a model: its versions, the newest first.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct ModelInfo(pub(crate) millpond::ModelInfo);

impl ModelInfo {
    /// The newest of these.
    fn tag(&self, is: impl Fn(&millpond::VersionInfo) -> bool) -> Option<String> {
        self.0.versions.iter().rev().find(|info| is(info)).map(|info| info.tag.to_string())
    }
}

#[pymethods]
impl ModelInfo {
    #[getter]
    fn name(&self) -> String {
        self.0.name.to_string()
    }

    #[getter]
    fn user(&self) -> u32 {
        self.0.user
    }

    #[getter]
    fn current(&self) -> Option<String> {
        self.tag(|info| info.current)
    }

    #[getter]
    fn previous(&self) -> Option<String> {
        self.tag(|info| info.previous)
    }

    #[getter]
    fn versions(&self) -> Vec<VersionInfo> {
        self.0.versions.iter().rev().cloned().map(VersionInfo).collect()
    }

    fn __repr__(&self) -> String {
        let (name, count) = (&self.0.name, self.0.versions.len());
        let current = self.current().unwrap_or_else(|| "none".to_owned());
        format!("ModelInfo('{name}', {count} versions, current: {current})")
    }
}

/// A model, or a version of it, as text: the tag stands in the name or beside it.
pub(crate) fn target(py: Python<'_>, name: &str, version: Option<&str>) -> PyResult<VersionTarget> {
    let text = match version {
        Some(tag) => format!("{name}@{tag}"),
        None => name.to_owned(),
    };
    text.into_version().map_err(|error| errors::raise(py, &error))
}

/// A name that no model can have may be that of a file, as safetensors' function takes it.
pub(crate) fn file_perhaps(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    match hints::file(name) {
        Some(hint) => {
            errors::invalid(py, &format!("'{name}' cannot be the name of a model"), Some(&hint))
        }
        None => error,
    }
}

/// A model, or a version where one is named.
pub(crate) fn inspect<'py>(
    py: Python<'py>,
    pond: &millpond::Pond,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let target = target(py, name, None)?;
    let model = match &target {
        VersionTarget::Name(named) if named.tag.is_none() => named.model.clone(),
        _ => {
            let found = ask(py, || pond.version(target))?;
            return Ok(Bound::new(py, VersionInfo(found.info))?.into_any());
        }
    };
    let found = ask(py, || {
        // By the rules for names it may be the one under `public/`, or somebody else's.
        let (found, user, error) = match pond.version(&target) {
            Ok(found) => (found.info.model, Some(found.info.user), None),
            // Without a current version it still has those that are being made.
            Err(error) => (model.name.clone(), model.user, Some(error)),
        };
        let listed = pond.models(found.as_str())?;
        let mut own = listed.into_iter();
        let own = own.find(|one| one.name == found && user.is_none_or(|user| one.user == user));
        own.ok_or_else(|| error.unwrap_or_else(|| gone(name)))
    })?;
    Ok(Bound::new(py, ModelInfo(found))?.into_any())
}

fn gone(name: &str) -> Error {
    Failure::new(ErrorKind::NotFound, format!("model '{name}' has just gone")).into()
}

/// Ends a version, and waits until it is gone if so wanted.
pub(crate) fn retire(
    py: Python<'_>,
    pond: &millpond::Pond,
    name: &str,
    tag: &str,
    wait: Option<f64>,
) -> PyResult<()> {
    let target = target(py, name, Some(tag))?;
    let wait = wait.map(|time| convert::seconds("wait", time)).transpose()?;
    let version = ask_in(py, Call::Retire { name }, || {
        let version = pond.version(target)?.info.version;
        pond.retire(version)?;
        Ok(version)
    })?;
    let Some(wait) = wait else { return Ok(()) };
    if ask(py, || pond.wait_gone(version, Some(wait)))? {
        return Ok(());
    }
    let readers = ask(py, || Ok(pond.version(version).map_or(0, |it| it.info.readers)))?;
    let message =
        format!("'{name}@{tag}' drains, but has {readers} readers after {} ms", wait.as_millis());
    let hint = "millpond.clients() shows who they are";
    let error = Failure::new(ErrorKind::Timeout, message).hint(hint);
    Err(errors::raise(py, &error.into()))
}
