//! Checkpoints into the pond and out of it.

use std::path::PathBuf;

use millpond::{
    Audience, GpuUuid, Like, LoadPhase, LoadSpec, Plan, Progress, SaveOptions, VersionTag,
};
use millpond_view::{self as view, units};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::errors;
use crate::hints::Call;
use crate::models::{VersionInfo, target};
use crate::shown::{info_class, visible};
use crate::transfer::Watch;

view::load_fields!(
    info_class,
    /// A load that has ended well.
    LoadReport(view::Load, millpond::Loaded) {
        #[getter]
        fn version(&self) -> VersionInfo {
            VersionInfo::of(&self.1.info)
        }

        /// Bytes of the version's tensors.
        #[getter]
        fn nbytes(&self) -> u64 {
            self.1.info.bytes
        }

        /// Bytes that were copied to the GPU.
        #[getter]
        fn copied_bytes(&self) -> u64 {
            self.1.info.bytes.saturating_sub(self.1.bytes_shared)
        }

        /// The same as `shared_tensor_bytes`.
        #[getter]
        fn shared_bytes(&self) -> u64 {
            self.1.bytes_shared
        }

        #[getter]
        fn seconds(&self) -> f64 {
            self.1.elapsed.as_secs_f64()
        }

        fn __repr__(&self) -> String {
            let (info, shared) = (&self.1.info, self.1.bytes_shared);
            let (name, seconds) = (format!("{}@{}", info.model, info.tag), self.seconds());
            let (bytes, shared) = (units::bytes(info.bytes), units::bytes(shared));
            visible(&format!("LoadReport('{name}', {bytes}, {shared} shared, {seconds:.3} s)"))
        }
    }
);

view::unshared_fields!(
    info_class,
    /// Why a version shares no slab with the one that it is like.
    Unshared(view::Unshared) {
        fn __repr__(&self) -> String {
            visible(&format!("Unshared('{}', {})", self.0.version, self.0.why))
        }
    }
);

view::verify_fields!(
    info_class,
    /// What a check of a version's bytes against its hashes has found.
    VerifyReport(view::Verify, millpond::Verified) {
        #[getter]
        fn nbytes(&self) -> u64 {
            self.1.bytes
        }

        #[getter]
        fn seconds(&self) -> f64 {
            self.1.elapsed.as_secs_f64()
        }

        /// The same as `differing`.
        #[getter]
        fn bad(&self) -> Vec<String> {
            self.0.differing.clone()
        }

        fn __repr__(&self) -> String {
            let (bytes, bad) = (units::bytes(self.1.bytes), self.0.differing.len());
            format!("VerifyReport({bytes}, {bad} tensors differ)")
        }
    }
);

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
    watch.end_in(py, call, ended).map(|loaded| LoadReport((&loaded).into(), loaded))
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
    watch.end(py, ended).map(|verified| VerifyReport((&verified).into(), verified))
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
