//! Checkpoints into the pond and out of it.

use std::path::PathBuf;

use millpond::{
    Audience, GpuUuid, Like, LoadPhase, LoadSpec, Plan, Progress, SaveOptions, VersionTag,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::errors;
use crate::hints::Call;
use crate::models::{VersionInfo, target};
use crate::transfer::Watch;
use crate::units;

/// A load that has ended well.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct LoadReport(millpond::Loaded);

#[pymethods]
impl LoadReport {
    #[getter]
    fn version(&self) -> VersionInfo {
        VersionInfo(self.0.info.clone())
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.info.bytes
    }

    #[getter]
    fn copied_bytes(&self) -> u64 {
        self.0.info.bytes.saturating_sub(self.0.bytes_shared)
    }

    #[getter]
    fn shared_bytes(&self) -> u64 {
        self.0.bytes_shared
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.0.elapsed.as_secs_f64()
    }

    fn __repr__(&self) -> String {
        let (info, shared) = (&self.0.info, self.0.bytes_shared);
        let (name, seconds) = (format!("{}@{}", info.model, info.tag), self.seconds());
        let (bytes, shared) = (units::bytes(info.bytes), units::bytes(shared));
        format!("LoadReport('{name}', {bytes}, {shared} shared, {seconds:.3} s)")
    }
}

/// What a check of a version's bytes against its hashes has found.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct VerifyReport(millpond::Verified);

#[pymethods]
impl VerifyReport {
    #[getter]
    fn ok(&self) -> bool {
        self.0.differing.is_empty()
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.bytes
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.0.elapsed.as_secs_f64()
    }

    #[getter]
    fn bad(&self) -> Vec<String> {
        self.0.differing.clone()
    }

    fn __repr__(&self) -> String {
        let (bytes, bad) = (units::bytes(self.0.bytes), self.0.differing.len());
        format!("VerifyReport({bytes}, {bad} tensors differ)")
    }
}

/// A checkpoint to be loaded.
pub(crate) struct Load<'a, 'py> {
    pub(crate) name: &'a str,
    pub(crate) source: &'a Bound<'py, PyAny>,
    pub(crate) version: Option<&'a str>,
    pub(crate) device: Option<GpuUuid>,
    pub(crate) activate: bool,
    pub(crate) like: Option<&'a Bound<'py, PyAny>>,
    pub(crate) plan: Option<&'a Bound<'py, PyAny>>,
    pub(crate) audience: Audience,
    pub(crate) slab_bytes: Option<u64>,
}

impl Load<'_, '_> {
    fn spec(&self, py: Python<'_>) -> PyResult<LoadSpec> {
        let mut spec = LoadSpec::new(self.name)
            .paths(paths(self.source)?)
            .audience(self.audience)
            .activate(self.activate)
            .like(self.like(py)?);
        if let Some(version) = self.version {
            spec = spec.tag(tag(py, version)?);
        }
        if let Some(device) = self.device {
            spec = spec.device(device);
        }
        if let Some(plan) = self.plan {
            let text: String = plan.getattr("_text")?.extract()?;
            spec = spec.plan(parsed(py, &text)?);
        }
        if let Some(bytes) = self.slab_bytes {
            spec = spec.slab_bytes(bytes);
        }
        Ok(spec)
    }

    fn like(&self, py: Python<'_>) -> PyResult<Like> {
        let Some(like) = self.like else { return Ok(Like::Current) };
        if let Ok(text) = like.cast::<PyString>() {
            return tag(py, &text.to_cow()?).map(Like::Version);
        }
        match like.cast::<PyBool>() {
            Ok(answer) if !answer.is_true() => Ok(Like::Nothing),
            _ => {
                let message = format!("like is the tag of a version, or False, not {like}");
                Err(errors::invalid(py, &message, None))
            }
        }
    }
}

fn tag(py: Python<'_>, text: &str) -> PyResult<VersionTag> {
    VersionTag::new(text).map_err(|error| errors::raise(py, &error.into()))
}

/// One path, or several.
fn paths(source: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    if source.cast::<PyString>().is_ok() || source.hasattr("__fspath__")? {
        return Ok(vec![source.extract::<PathBuf>()?]);
    }
    source.try_iter()?.map(|path| path?.extract::<PathBuf>()).collect()
}

fn parsed(py: Python<'_>, text: &str) -> PyResult<Plan> {
    Plan::parse(text).map_err(|error| errors::invalid(py, &error.to_string(), None))
}

/// Refuses a plan that is none, when it is made.
#[pyfunction(name = "_check_plan")]
pub(crate) fn check_plan(py: Python<'_>, text: &str) -> PyResult<()> {
    parsed(py, text).map(drop)
}

/// Loads a checkpoint.
pub(crate) fn load(
    py: Python<'_>,
    pond: &millpond::Pond,
    load: &Load<'_, '_>,
    progress: Option<Py<PyAny>>,
) -> PyResult<LoadReport> {
    let spec = load.spec(py)?;
    let mut watch = Watch::new(progress);
    let ended = watch.run(py, |watch| {
        pond.load(spec, |so| {
            // What is only compared has not landed.
            let done = if so.phase == LoadPhase::Loading { so.done } else { 0 };
            if so.phase != LoadPhase::Checking {
                watch.told(Progress { done, total: so.total });
            }
            watch.goes_on()
        })
    });
    let call = Call::Make { name: load.name, version: load.version };
    watch.end_in(py, call, ended).map(LoadReport)
}

/// Hashes a version's bytes and compares them with what was committed.
pub(crate) fn verify(
    py: Python<'_>,
    pond: &millpond::Pond,
    name: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<VerifyReport> {
    let target = target(py, name, None)?;
    let mut watch = Watch::new(progress);
    let ended = watch.run(py, |watch| {
        pond.verify(target, |so| {
            watch.told(so);
            watch.goes_on()
        })
    });
    watch.end(py, ended).map(VerifyReport)
}

/// Writes a version out. Returns the files.
pub(crate) fn save(
    py: Python<'_>,
    pond: &millpond::Pond,
    name: &str,
    path: PathBuf,
    options: SaveOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<PathBuf>> {
    let target = target(py, name, None)?;
    let mut watch = Watch::new(progress);
    let ended = watch.run(py, |watch| {
        pond.save(target, path, options, |so| {
            watch.told(so);
            watch.goes_on()
        })
    });
    watch.end(py, ended).map(|saved| saved.files)
}
