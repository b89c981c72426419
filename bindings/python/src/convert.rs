//! What callers write, as what the client takes: dtypes, shapes, GPUs, times.

use std::sync::OnceLock;
use std::time::Duration;

use millpond::cuda::{Driver, DriverChoice};
use millpond::{Audience, Dtype, GpuUuid, IntoTarget, Life, Mode, Target, TransportKind};
use millpond_view::size::ByteSize;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyType};

use crate::dtype_words;
use crate::ending::detached;
use crate::errors;
use crate::info::TensorInfo;
use crate::interrupt::ask;
use crate::tensor::Tensor;

/// A dtype as numpy and torch call it.
pub(crate) fn spelling(dtype: Dtype) -> &'static str {
    dtype.aliases().first().copied().unwrap_or_else(|| dtype.name())
}

/// A dtype in any spelling: text, torch's, numpy's objects and classes.
pub(crate) fn dtype(given: &Bound<'_, PyAny>) -> PyResult<Dtype> {
    let py = given.py();
    let text = dtype_text(given)?;
    if given.is_instance_of::<PyString>()
        && let Some((message, hint)) = dtype_words::refusal(&text)
    {
        return Err(errors::invalid(py, &message, Some(&hint)));
    }
    text.parse::<Dtype>().map_err(|error| errors::invalid(py, &error.to_string(), None))
}

fn dtype_text(given: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(text.to_cow()?.into_owned());
    }
    if let Ok(class) = given.cast::<PyType>() {
        let (module, name) = (class.module()?, class.name()?);
        // `float` is 64 bits to numpy and 32 to torch.
        if module.to_cow()? == "builtins" && name.to_cow()? != "bool" {
            let message = format!("'{}' has no size of its own: say \"float32\" or the like", name);
            return Err(PyTypeError::new_err(message));
        }
        return Ok(name.to_cow()?.trim_end_matches('_').to_owned());
    }
    // numpy's: its name does not tell the order of bytes.
    if let Ok(native) = given.getattr("isnative") {
        if !native.is_truthy()? {
            let message = format!("dtype {} has the other order of bytes", given.str()?);
            let hint = "convert it with astype first";
            return Err(errors::invalid(given.py(), &message, Some(hint)));
        }
        return given.getattr("name")?.extract();
    }
    given.str()?.extract()
}

/// A dtype of any spelling, as numpy and torch call it.
#[pyfunction(name = "_dtype_name")]
pub(crate) fn dtype_name(given: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    dtype(given).map(spelling)
}

/// A shape: one extent, or a sequence of them.
pub(crate) fn shape(given: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let py = given.py();
    let extent = |one: &Bound<'_, PyAny>| -> PyResult<u64> {
        // numpy's integers are no `int`, but say which one they are.
        let number = one.call_method0("__index__").map_err(|_| {
            let message = format!("a shape is made of whole numbers, and {one} is none");
            PyTypeError::new_err(message)
        })?;
        number.extract::<u64>().map_err(|_| {
            errors::invalid(py, &format!("dimension {number}: dimensions must be positive"), None)
        })
    };
    if given.hasattr("__index__")? && !given.hasattr("__len__")? {
        return Ok(vec![extent(given)?]);
    }
    given.try_iter()?.map(|one| extent(&one?)).collect()
}

/// A number of bytes, or a size as in `"2MiB"`.
pub(crate) fn bytes(what: &str, given: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(bytes) = given.extract::<u64>() {
        return Ok(bytes);
    }
    let refused = |message: &str| {
        let hint = "a size is a number of bytes, or text as in \"2MiB\" and \"1.5G\"";
        errors::invalid(given.py(), message, Some(hint))
    };
    let Ok(text) = given.cast::<PyString>() else {
        return Err(refused(&format!("{what} cannot be {given}")));
    };
    text.to_cow()?
        .parse::<ByteSize>()
        .map(|ByteSize(bytes)| bytes)
        .map_err(|error| refused(&format!("{what}: {error}")))
}

/// A number of seconds; infinity is for ever.
pub(crate) fn seconds(what: &str, given: f64) -> PyResult<Duration> {
    if given.is_nan() || given < 0.0 {
        return Err(PyValueError::new_err(format!("{what} cannot be {given} seconds")));
    }
    Ok(Duration::try_from_secs_f64(given).unwrap_or(Duration::MAX))
}

fn milliseconds(what: &str, given: Option<f64>) -> PyResult<Option<u64>> {
    let Some(given) = given else { return Ok(None) };
    let time = seconds(what, given)?;
    Ok(Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
}

/// How long a tensor lives.
pub(crate) fn life(
    ttl: Option<f64>,
    linger: Option<f64>,
    max_accesses: Option<u64>,
) -> PyResult<Life> {
    Ok(Life {
        ttl_ms: milliseconds("ttl", ttl)?,
        linger_ms: milliseconds("linger", linger)?,
        accesses: max_accesses,
    })
}

/// One of the words for whom something is shared with.
pub(crate) fn audience(py: Python<'_>, given: &str) -> PyResult<Audience> {
    Audience::ALL.iter().copied().find(|one| one.to_string() == given).ok_or_else(|| {
        let message = format!("there is no audience '{given}'");
        errors::invalid(py, &message, Some("it is \"user\", \"group\" or \"everybody\""))
    })
}

/// One of the words for how memory is shared.
pub(crate) fn transport(py: Python<'_>, given: &str) -> PyResult<TransportKind> {
    given.parse().map_err(|_| {
        let message = format!("there is no transport '{given}'");
        errors::invalid(py, &message, Some("it is \"vmm\", \"mempool\" or \"ipc\""))
    })
}

/// One of the words for how memory is mapped.
pub(crate) fn mode(py: Python<'_>, given: &str) -> PyResult<Mode> {
    Mode::ALL.iter().copied().find(|one| one.to_string() == given).ok_or_else(|| {
        let message = format!("there is no mode '{given}'");
        errors::invalid(py, &message, Some("it is \"ro\" or \"rw\""))
    })
}

/// A name, an identity, a tensor that is at hand, or what the pond has said about one.
pub(crate) fn target(given: &Bound<'_, PyAny>) -> PyResult<Target> {
    if let Ok(tensor) = given.cast::<Tensor>() {
        return Ok(Target::Id(tensor.get().id));
    }
    if let Ok(info) = given.cast::<TensorInfo>() {
        return Ok(Target::Id(info.get().0.id.0));
    }
    let text = given.cast::<PyString>().map_err(|_| {
        let message = "a tensor is named by text, by a Tensor or by a TensorInfo";
        PyTypeError::new_err(message)
    })?;
    let text = text.to_cow()?;
    (&*text).into_target().map_err(|error| errors::raise(given.py(), &error))
}

/// A GPU: its place in the pond's list, its UUID, or `cuda:N` for this process's own number.
pub(crate) fn device(
    pond: &millpond::Pond,
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<GpuUuid>> {
    let Some(given) = given else { return Ok(None) };
    let py = given.py();
    if given.cast::<PyInt>().is_ok() {
        let index = given.extract::<usize>()?;
        return ask(py, || pond.device_at(index)).map(Some);
    }
    let text = given.str()?;
    let text = text.to_cow()?;
    let own = match &*text {
        "cuda" => Some(Ok(0)),
        other => other.strip_prefix("cuda:").map(str::parse::<i32>),
    };
    match own {
        Some(Ok(ordinal)) => own_device(py, ordinal).map(Some),
        _ => text.parse::<GpuUuid>().map(Some).map_err(|_| {
            let hint = "a GPU is its index in `millpond status`, its UUID, or \"cuda:0\"";
            errors::invalid(py, &format!("there is no GPU '{text}'"), Some(hint))
        }),
    }
}

/// The GPU with this number in this process.
fn own_device(py: Python<'_>, ordinal: i32) -> PyResult<GpuUuid> {
    detached(py, || own_device_of(ordinal)).map_err(|error| errors::raise(py, &error))
}

/// The driver that this process maps memory with.
pub(crate) fn own_driver() -> millpond::Result<Driver> {
    Ok(Driver::open(DriverChoice::from_env(), Some(&millpond_softgpu::PROVIDER))?)
}

/// This process's GPUs in its own order, which stays.
static OWN: OnceLock<Vec<GpuUuid>> = OnceLock::new();

/// As numbers differ between processes, the pond is asked by UUID.
pub(crate) fn own_device_of(ordinal: i32) -> millpond::Result<GpuUuid> {
    let devices = match OWN.get() {
        Some(devices) => devices,
        None => {
            let found = own_driver()?.devices()?.iter().map(|one| GpuUuid(one.uuid().0)).collect();
            OWN.get_or_init(|| found)
        }
    };
    let index = usize::try_from(ordinal).unwrap_or(usize::MAX);
    let count = devices.len();
    devices.get(index).copied().ok_or(millpond::Error::NoSuchIndex { index, count })
}
