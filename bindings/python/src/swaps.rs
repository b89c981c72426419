//! Callbacks that are told when another version of a model is current.
//!
//! One thread for a model that has any. It waits for the pond's events without the interpreter and
//! takes that only to call. It holds neither the model nor its lease, and ends soon after both are
//! gone. What is raised in a callback goes to `sys.unraisablehook`, and the next one is called.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::Duration;

use millpond::{Error, EventKind, Events, Pond, TensorName, VersionId};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use crate::ending;

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
        subject: &Subject,
        callback: Py<PyAny>,
    ) -> Result<u64, Error> {
        let events = match self.lock().watched {
            true => None,
            // Which one is current is asked after that: a swap in between shows in the events.
            false => Some((subject.pond.events(0)?, subject.current().map(|(now, _)| now))),
        };
        let mut told = self.lock();
        told.last += 1;
        let number = told.last;
        told.callbacks.push((number, callback));
        if let (false, Some((events, now))) = (told.watched, events) {
            let (swaps, subject) = (Arc::downgrade(self), subject.clone());
            let begun = thread::Builder::new()
                .name("millpond-swaps".to_owned())
                .spawn(move || watch(&swaps, &subject, events, now));
            if let Err(error) = begun {
                told.callbacks.retain(|(other, _)| *other != number);
                let message = format!("starting a thread that waits for swaps: {error}");
                return Err(millpond::Failure::new(millpond::ErrorKind::Internal, message).into());
            }
            told.watched = true;
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

    fn tell(&self, tag: &str) {
        if let Some(_inside) = ending::enter() {
            Python::try_attach(|py| {
                let called: Vec<Py<PyAny>> =
                    self.lock().callbacks.iter().map(|(_, one)| one.clone_ref(py)).collect();
                for callback in called {
                    if let Err(error) = callback.call1(py, (tag,)) {
                        error.write_unraisable(py, Some(callback.bind(py)));
                    }
                }
            });
        }
    }
}

/// `last` is what was current when it began, or was told last: after a gap in the events this is
/// compared with what is current.
fn watch(swaps: &Weak<Swaps>, subject: &Subject, mut events: Events, mut last: Option<VersionId>) {
    loop {
        let happened = events.next_timeout(SLICE);
        let Some(swaps) = swaps.upgrade() else { return };
        {
            let mut told = swaps.lock();
            if told.callbacks.is_empty() {
                told.watched = false;
                return;
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
        let own = event.name.as_ref() == Some(&subject.model) && event.user == Some(subject.user);
        let told = match event.kind {
            EventKind::ModelSwapped if own => match event.tensor.map(|id| VersionId(id.0)) {
                Some(version) => subject.tag_of(version).or_else(|| subject.current()),
                None => subject.current(),
            },
            EventKind::Gap => subject.current().filter(|(version, _)| Some(*version) != last),
            _ => None,
        };
        if let Some((version, tag)) = told {
            last = Some(version);
            swaps.tell(&tag);
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
