//! The exceptions: one family, made from the client's one table of error kinds.

use std::sync::atomic::{AtomicU32, Ordering};

use millpond::{Error, ErrorKind, Failure, Remedy};
use pyo3::exceptions::{
    PyConnectionError, PyException, PyKeyError, PyLookupError, PyMemoryError, PyPermissionError,
    PyTimeoutError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::hints::{self, Call};
use crate::info::Holder;

const MODULE: &str = "millpond";

/// What an elastic cache says about memory that it did not get.
const ELASTIC: [&str; 4] = ["verdict", "asked_bytes", "limit_bytes", "used_bytes"];

/// Kinds whose errors say who holds or uses the memory.
const HAS_HOLDERS: [ErrorKind; 2] = [ErrorKind::GpuFull, ErrorKind::InUse];

/// What is caught on its own although its kind has a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Fork,
    ReadOnly,
    Closed,
    /// Of the kind `not_found`, and what a mapping raises.
    NoTensor,
    /// Memory that cannot be shared as it is.
    Adopt,
}

impl Special {
    const ALL: [(Special, &'static str, &'static str); 5] = [
        (Special::Fork, "ForkError", "The object belongs to the process that forked this one."),
        (Special::ReadOnly, "ReadOnlyError", "The memory is mapped read-only."),
        (Special::Closed, "ClosedError", "The object was closed by this program."),
        (Special::NoTensor, "NoTensor", "The model has no tensor of this name."),
        (Special::Adopt, "AdoptError", "The memory cannot be shared as it is."),
    ];

    fn kind(self) -> ErrorKind {
        match self {
            Special::Fork | Special::ReadOnly | Special::Closed | Special::Adopt => {
                ErrorKind::Invalid
            }
            Special::NoTensor => ErrorKind::NotFound,
        }
    }
}

struct Classes {
    base: Py<PyType>,
    kinds: Vec<(ErrorKind, Py<PyType>)>,
    specials: Vec<(Special, Py<PyType>)>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

/// The process that imported this module.
static IMPORTER: AtomicU32 = AtomicU32::new(0);

fn is_fork() -> bool {
    IMPORTER.load(Ordering::Relaxed) != std::process::id()
}

/// Puts all classes into the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    IMPORTER.store(std::process::id(), Ordering::Relaxed);
    let classes = CLASSES.get_or_try_init(py, || make(py))?;
    let specials = classes.specials.iter().map(|(_, class)| class);
    let kinds = classes.kinds.iter().map(|(_, class)| class);
    for class in std::iter::once(&classes.base).chain(kinds).chain(specials) {
        let class = class.bind(py);
        module.add(class.name()?, class)?;
    }
    Ok(())
}

fn make(py: Python<'_>) -> PyResult<Classes> {
    let above = [py.get_type::<PyException>()];
    let base = class(py, "Error", &above, "Every error of a pond.", ErrorKind::Internal)?;
    let mut kinds = Vec::new();
    for kind in ErrorKind::ALL {
        let mut bases = vec![base.bind(py).clone()];
        bases.extend(builtin(py, *kind));
        kinds.push((*kind, class(py, &class_name(*kind), &bases, kind.describe(), *kind)?));
    }
    let mut specials = Vec::new();
    for (special, name, text) in Special::ALL {
        let kind = special.kind();
        let mut above = vec![find(&kinds, kind).unwrap_or(&base).bind(py).clone()];
        if special == Special::NoTensor {
            above.push(py.get_type::<PyKeyError>());
        }
        specials.push((special, class(py, name, &above, text, kind)?));
    }
    Ok(Classes { base, kinds, specials })
}

fn class(
    py: Python<'_>,
    name: &str,
    bases: &[Bound<'_, PyType>],
    text: &str,
    kind: ErrorKind,
) -> PyResult<Py<PyType>> {
    let members = PyDict::new(py);
    // What every instance has, also one that is made in Python.
    members.set_item("code", kind.name())?;
    members.set_item("remedy", remedy(kind))?;
    members.set_item("message", "")?;
    members.set_item("hint", py.None())?;
    members.set_item("similar", PyTuple::empty(py))?;
    if kind == ErrorKind::NotFound {
        members.set_item("ended_ago_ms", py.None())?;
    }
    if kind == ErrorKind::GpuFull {
        for unknown in ["requested", "free", "capacity"].iter().chain(&ELASTIC) {
            members.set_item(unknown, py.None())?;
        }
    }
    if HAS_HOLDERS.contains(&kind) {
        members.set_item("holders", PyTuple::empty(py))?;
    }
    members.set_item("__module__", MODULE)?;
    members.set_item("__doc__", text)?;
    // `KeyError` would print the text quoted.
    members.set_item("__str__", py.get_type::<PyException>().getattr("__str__")?)?;
    let made = py.get_type::<PyType>().call1((name, PyTuple::new(py, bases)?, members))?;
    Ok(made.cast_into::<PyType>()?.unbind())
}

fn find<K: PartialEq>(classes: &[(K, Py<PyType>)], wanted: K) -> Option<&Py<PyType>> {
    classes.iter().find(|(key, _)| *key == wanted).map(|(_, class)| class)
}

/// `not_found` is `NotFound`; a kind whose word alone says too little is an `Error` by name.
fn class_name(kind: ErrorKind) -> String {
    let mut name = String::new();
    for word in kind.name().split('_') {
        let (first, rest) = word.split_at(word.len().min(1));
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    match kind {
        ErrorKind::Internal
        | ErrorKind::Driver
        | ErrorKind::Protocol
        | ErrorKind::File
        | ErrorKind::Mover => name + "Error",
        _ => name,
    }
}

/// Python's own class for the same thing, so that `except TimeoutError` works too.
fn builtin(py: Python<'_>, kind: ErrorKind) -> Option<Bound<'_, PyType>> {
    match kind {
        ErrorKind::Invalid => Some(py.get_type::<PyValueError>()),
        ErrorKind::NotFound => Some(py.get_type::<PyLookupError>()),
        ErrorKind::Denied => Some(py.get_type::<PyPermissionError>()),
        ErrorKind::GpuFull => Some(py.get_type::<PyMemoryError>()),
        ErrorKind::NoPond => Some(py.get_type::<PyConnectionError>()),
        ErrorKind::Timeout => Some(py.get_type::<PyTimeoutError>()),
        _ => None,
    }
}

fn remedy(kind: ErrorKind) -> &'static str {
    match kind.remedy() {
        Remedy::Change => "change",
        Remedy::Retry => "retry",
        Remedy::Free => "free",
        Remedy::Operator => "operator",
    }
}

/// The client's error as an exception.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    raise_in(py, Call::Plain, error)
}

/// The client's error in this call as an exception.
pub(crate) fn raise_in(py: Python<'_>, call: Call<'_>, error: &Error) -> PyErr {
    let special = match error {
        Error::Forked { .. } => Some(Special::Fork),
        Error::ReadOnly { .. } => Some(Special::ReadOnly),
        Error::Closed => Some(Special::Closed),
        Error::Adopt { .. } => Some(Special::Adopt),
        _ => None,
    };
    // Where the client's way out is written for Rust, Python has its own words.
    let hint = match error {
        Error::ReadOnly { .. } => Some("get it with mode=\"rw\"".to_owned()),
        Error::InUse { .. } => Some("close the tensors and drop their views first".to_owned()),
        Error::Forked { .. } => Some("get it again in this process".to_owned()),
        Error::Driver(_) if is_fork() => Some(
            "a driver that the parent has used does not work in a forked child: start processes \
             with multiprocessing's \"spawn\", or fork before the first tensor"
                .to_owned(),
        ),
        _ => hints::hint(call, error).or_else(|| error.hint()),
    };
    let similar = error.similar().to_vec();
    exception(py, error.kind(), special, &error.to_string(), hint, similar, error.failure())
        .unwrap_or_else(|failed| failed)
}

/// An error that this side has noticed by itself.
pub(crate) fn invalid(py: Python<'_>, message: &str, hint: Option<&str>) -> PyErr {
    let hint = hint.map(str::to_owned);
    exception(py, ErrorKind::Invalid, None, message, hint, Vec::new(), None)
        .unwrap_or_else(|failed| failed)
}

/// What has a class of its own.
pub(crate) fn special(py: Python<'_>, special: Special, message: &str, hint: &str) -> PyErr {
    let hint = Some(hint.to_owned());
    exception(py, special.kind(), Some(special), message, hint, Vec::new(), None)
        .unwrap_or_else(|failed| failed)
}

/// An error of an elastic cache, whose message and way out are in Python's words already.
pub(crate) fn elastic(
    py: Python<'_>,
    kind: ErrorKind,
    special: Option<Special>,
    message: &str,
    hint: Option<String>,
) -> PyErr {
    exception(py, kind, special, message, hint, Vec::new(), None).unwrap_or_else(|failed| failed)
}

/// A name that a model has not, and those that it has and that are like it.
pub(crate) fn no_tensor(py: Python<'_>, message: &str, all: &str, similar: Vec<String>) -> PyErr {
    let hint = match similar.first() {
        Some(first) => format!("did you mean '{first}'? {all} has all names"),
        None => format!("{all} has all names"),
    };
    let special = Special::NoTensor;
    exception(py, special.kind(), Some(special), message, Some(hint), similar, None)
        .unwrap_or_else(|failed| failed)
}

fn exception(
    py: Python<'_>,
    kind: ErrorKind,
    special: Option<Special>,
    message: &str,
    hint: Option<String>,
    similar: Vec<String>,
    failure: Option<&Failure>,
) -> PyResult<PyErr> {
    let classes = CLASSES.get_or_try_init(py, || make(py))?;
    let class = match special {
        Some(special) => find(&classes.specials, special),
        None => find(&classes.kinds, kind),
    };
    // A traceback shows only the text, so the way out is part of it.
    let text = match &hint {
        Some(hint) => format!("{message}\nhint: {hint}"),
        None => message.to_owned(),
    };
    let value = class.unwrap_or(&classes.base).bind(py).call1((text,))?;
    value.setattr("code", kind.name())?;
    value.setattr("message", message)?;
    value.setattr("hint", hint)?;
    value.setattr("remedy", remedy(kind))?;
    value.setattr("similar", PyTuple::new(py, similar)?)?;
    if kind == ErrorKind::NotFound {
        value.setattr("ended_ago_ms", failure.and_then(|failure| failure.ended_ago_ms))?;
    }
    if kind == ErrorKind::GpuFull {
        value.setattr("requested", failure.and_then(|failure| failure.requested_bytes))?;
        value.setattr("free", failure.and_then(|failure| failure.free_bytes))?;
        value.setattr("capacity", failure.and_then(|failure| failure.capacity_bytes))?;
    }
    if HAS_HOLDERS.contains(&kind) {
        let holders = failure.map(|failure| failure.holders.as_slice()).unwrap_or_default();
        let holders: Vec<Holder> = holders.iter().map(Holder::of).collect();
        value.setattr("holders", PyTuple::new(py, holders)?)?;
    }
    Ok(PyErr::from_value(value))
}
