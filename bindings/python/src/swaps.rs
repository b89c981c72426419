//! Callbacks that are told when another version of a model is current.
//!
//! One thread for a model that has any, whose loop is `_swaps.py`. It waits for the pond's events
//! without the interpreter and takes that only to call. It holds neither the model nor its lease, and
//! ends soon after both are gone. What is raised in a callback goes to `sys.unraisablehook`, and the
//! next one is called.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::Duration;

use millpond::{EventKind, Events, LeaseTarget, Pond, TensorName, VersionId};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::ending::{self, Inside, calling};
use crate::interrupt::ask;

/// How often the thread looks whether anybody is left to be told.
const SLICE: Duration = Duration::from_millis(500);
/// Before a pond that does not answer is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// Who is told.
#[derive(Default)]
pub(crate) struct Swaps(Mutex<Told>);

#[derive(Default)]
struct Told {
    callbacks: Vec<(u64, Py<PyAny>)>,
    last: u64,
    watched: bool,
}

/// Whose swaps.
#[derive(Clone)]
pub(crate) struct Subject {
    pub(crate) pond: Pond,
    pub(crate) model: TensorName,
    pub(crate) user: u32,
}

impl Swaps {
    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From when this returns on, every swap is told. Returns what the callback is removed by.
    pub(crate) fn add(
        self: &Arc<Self>,
        py: Python<'_>,
        subject: &Subject,
        callback: Py<PyAny>,
    ) -> PyResult<u64> {
        let mut events = None;
        let (number, watched) = loop {
            let mut told = self.lock();
            if told.watched || events.is_some() {
                told.last += 1;
                let number = told.last;
                told.callbacks.push((number, callback));
                break (number, std::mem::replace(&mut told.watched, true));
            }
            drop(told);
            // Which one is current is asked after that: a swap in between shows in the events.
            events = Some(ask(py, || {
                Ok((subject.pond.events(0)?, subject.current().map(|(now, _)| now)))
            })?);
        };
        // Not under the lock: others run while the thread begins.
        if let (false, Some((events, last))) = (watched, events) {
            let subject = subject.clone();
            let watching = Watching { swaps: Arc::downgrade(self), subject, events, last };
            let watch = Watch { watching: Mutex::new(watching), called: Mutex::new(None) };
            if let Err(error) = begin(py, watch) {
                self.lock().watched = false;
                self.remove(number);
                return Err(error);
            }
        }
        Ok(number)
    }

    pub(crate) fn remove(&self, number: u64) {
        let mut told = self.lock();
        let gone = told.callbacks.iter().position(|(other, _)| *other == number);
        let gone = gone.map(|place| told.callbacks.remove(place));
        // Not under the lock: the end of a callback may run anything.
        drop(told);
        drop(gone);
    }

    pub(crate) fn clear(&self) {
        let gone = std::mem::take(&mut self.lock().callbacks);
        drop(gone);
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let told = match self.0.try_lock() {
            Ok(told) => told,
            Err(TryLockError::Poisoned(told)) => told.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        told.callbacks.iter().try_for_each(|(_, callback)| visit.call(callback))
    }
}

/// A thread that Python made calls the callbacks: there is nothing of Rust above them that the end
/// of the interpreter could tear, however long one takes.
fn begin(py: Python<'_>, watch: Watch) -> PyResult<()> {
    let watch_swaps = py.import("millpond._swaps")?.getattr("watch")?;
    let settings = PyDict::new(py);
    settings.set_item("target", watch_swaps)?;
    settings.set_item("args", (watch,))?;
    settings.set_item("name", "millpond-swaps")?;
    settings.set_item("daemon", true)?;
    let thread = py.import("threading")?.getattr("Thread")?.call((), Some(&settings))?;
    calling(py, || thread.call_method0("start"))?;
    Ok(())
}

/// What the thread asks.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct Watch {
    watching: Mutex<Watching>,
    /// Callbacks are being called: the end of the interpreter waits a while for them.
    called: Mutex<Option<Inside>>,
}

struct Watching {
    swaps: Weak<Swaps>,
    subject: Subject,
    events: Events,
    /// What was current when it began, or was told last: after a gap in the events this is compared
    /// with what is current.
    last: Option<VersionId>,
}

#[pymethods]
impl Watch {
    /// Waits for the next swap: its tag, and who is to be called. `None` if nobody is left.
    fn next(&self, py: Python<'_>) -> Option<(String, Vec<Py<PyAny>>)> {
        drop(self.called.lock().unwrap_or_else(PoisonError::into_inner).take());
        let (swaps, tag) = ending::detached(py, || {
            self.watching.lock().unwrap_or_else(PoisonError::into_inner).next()
        })?;
        let told = swaps.lock();
        let callbacks = told.callbacks.iter().map(|(_, one)| one.clone_ref(py)).collect();
        drop(told);
        *self.called.lock().unwrap_or_else(PoisonError::into_inner) = ending::enter();
        Some((tag, callbacks))
    }

    /// What a callback raised.
    #[staticmethod]
    fn raised(py: Python<'_>, error: Bound<'_, PyAny>, callback: Bound<'_, PyAny>) -> PyResult<()> {
        calling(py, || {
            PyErr::from_value(error).write_unraisable(py, Some(&callback));
            Ok(())
        })
    }
}

impl Watching {
    fn next(&mut self) -> Option<(Arc<Swaps>, String)> {
        loop {
            let happened = self.events.next_timeout(SLICE);
            let swaps = self.swaps.upgrade()?;
            {
                let mut told = swaps.lock();
                if told.callbacks.is_empty() {
                    told.watched = false;
                    return None;
                }
            }
            let event = match happened {
                Ok(Some(event)) => event,
                Ok(None) => continue,
                Err(_) => {
                    drop(swaps);
                    thread::sleep(PAUSE);
                    continue;
                }
            };
            let subject = &self.subject;
            let own =
                event.name.as_ref() == Some(&subject.model) && event.user == Some(subject.user);
            let told = match event.kind {
                EventKind::ModelSwapped if own => match event.target.and_then(LeaseTarget::version)
                {
                    Some(version) => subject.tag_of(version).or_else(|| subject.current()),
                    None => subject.current(),
                },
                EventKind::Gap => {
                    subject.current().filter(|(version, _)| Some(*version) != self.last)
                }
                _ => None,
            };
            if let Some((version, tag)) = told {
                self.last = Some(version);
                return Some((swaps, tag));
            }
        }
    }
}

impl Subject {
    fn tag_of(&self, version: VersionId) -> Option<(VersionId, String)> {
        let found = self.pond.version(version).ok()?;
        Some((version, found.info.tag.to_string()))
    }

    fn current(&self) -> Option<(VersionId, String)> {
        let found = self.pond.version(format!("~{}/{}", self.user, self.model)).ok()?;
        Some((found.info.version, found.info.tag.to_string()))
    }
}
