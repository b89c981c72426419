//! What the pond says about models, and the calls that change which version is current.

use millpond::{Error, ErrorKind, Failure, IntoVersion, VersionTarget};
use millpond_view as view;
use pyo3::prelude::*;

use crate::hints::Call;
use crate::interrupt::{ask, ask_in};
use crate::shown::{info_class, visible};
use crate::{convert, errors, hints};

view::version_fields!(
    info_class,
    /// What the pond knows about one version of a model.
    VersionInfo(view::Version) {
        /// The same as `slab_bytes`.
        #[getter]
        fn nbytes(&self) -> u64 {
            self.0.slab_bytes
        }

        /// The same as `slab_count`.
        #[getter]
        fn slabs(&self) -> u32 {
            self.0.slab_count
        }

        /// The same as `tensor_count`.
        #[getter]
        fn tensors(&self) -> u32 {
            self.0.tensor_count
        }

        /// The same as `share`.
        #[getter]
        fn audience(&self) -> String {
            self.0.share.to_string()
        }

        fn __repr__(&self) -> String {
            let view::Version { model, version, state, tensor_count, .. } = &self.0;
            let current = if self.0.current { ", current" } else { "" };
            visible(&format!("VersionInfo('{model}@{version}', {state}{current}, {tensor_count} tensors)"))
        }
    }
);

view::model_fields!(
    info_class,
    /// What the pond knows about a model: its versions, the newest first.
    ModelInfo(view::Model) {
        /// The tag that a rollback leads to.
        #[getter]
        fn previous(&self) -> Option<String> {
            let previous = self.0.versions.iter().find(|version| version.previous);
            previous.map(|version| version.version.to_string())
        }

        fn __repr__(&self) -> String {
            let (name, count) = (&self.0.name, self.0.versions.len());
            let current =
                self.0.current.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
            visible(&format!("ModelInfo('{name}', {count} versions, current: {current})"))
        }
    }
);

impl ModelInfo {
    pub(crate) fn newest_first(model: &millpond::ModelInfo) -> Self {
        let mut model = view::Model::from(model);
        model.versions.reverse();
        Self(model)
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
            return Ok(Bound::new(py, VersionInfo::of(&found.info))?.into_any());
        }
    };
    let found = ask(py, || {
        // The name may be of everybody, or somebody else's.
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
    Ok(Bound::new(py, ModelInfo::newest_first(&found))?.into_any())
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
