//! Who is connected, and what happens.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use millpond::{EventKind, TensorName};
use millpond_view as view;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::convert;
use crate::errors::{self, Special};
use crate::interrupt::{Interrupt, ask};
use crate::shown::{info_class, visible};

view::lease_fields!(
    info_class,
    /// A lease that a process has.
    LeaseInfo(view::Lease) {
        fn __repr__(&self) -> String {
            let view::Lease { name, tensor, mode, pid, .. } = &self.0;
            let name = name.as_ref().map_or_else(|| tensor.to_string(), ToString::to_string);
            let pid = view::pid_text(*pid);
            visible(&format!("LeaseInfo('{name}', {mode}, pid {pid})"))
        }
    }
);

view::client_fields!(
    info_class,
    /// A process that is connected to the pond, or holds something of it.
    ClientInfo(view::Client) {
        fn __repr__(&self) -> String {
            let view::Client { program, pid, leases, .. } = &self.0;
            let (pid, leases) = (view::pid_text(*pid), leases.len());
            visible(&format!("ClientInfo({program}, pid {pid}, {leases} leases)"))
        }
    }
);

view::event_fields!(
    info_class,
    /// Something that happened in the pond.
    Event(view::Event) {
        fn __repr__(&self) -> String {
            let view::Event { name, sequence, kind, text, .. } = &self.0;
            let name = name.as_ref().map_or_else(String::new, |name| format!(", '{name}'"));
            visible(&format!("Event({sequence}, {kind}{name}, {text:?})"))
        }
    }
);

/// Which events are wanted.
pub(crate) struct Wanted {
    kinds: Option<Vec<EventKind>>,
    prefix: String,
    model: Option<TensorName>,
}

impl Wanted {
    pub(crate) fn new(
        py: Python<'_>,
        kind: Option<&Bound<'_, PyAny>>,
        prefix: &str,
        model: Option<&str>,
    ) -> PyResult<Self> {
        let words: Option<Vec<String>> = match kind {
            None => None,
            Some(one) if one.is_instance_of::<PyString>() => Some(vec![one.extract()?]),
            Some(several) => Some(several.extract()?),
        };
        let kinds = words.map(|words| {
            words.iter().map(|word| known(py, word)).collect::<PyResult<Vec<EventKind>>>()
        });
        let model = model.map(TensorName::new).transpose();
        let model = model.map_err(|error| errors::raise(py, &error.into()))?;
        Ok(Self { kinds: kinds.transpose()?, prefix: prefix.to_owned(), model })
    }

    fn has(&self, event: &millpond::Event) -> bool {
        // Whoever looks for some events wants to know that some of them may be missing.
        if event.kind == EventKind::Gap {
            return true;
        }
        let named = |name: &TensorName| name.as_str().starts_with(&self.prefix);
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&event.kind))
            && (self.prefix.is_empty() || event.name.as_ref().is_some_and(named))
            && (self.model.is_none() || (event.name == self.model && is_of_model(event.kind)))
    }
}

fn known(py: Python<'_>, word: &str) -> PyResult<EventKind> {
    EventKind::ALL.iter().copied().find(|kind| kind.name() == word).ok_or_else(|| {
        let kinds: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
        let hint = format!("kinds: {}", kinds.join(", "));
        errors::invalid(py, &format!("there is no kind of event '{word}'"), Some(&hint))
    })
}

fn is_of_model(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::VersionStaged
            | EventKind::VersionReady
            | EventKind::ModelSwapped
            | EventKind::VersionDraining
            | EventKind::VersionGone
    )
}

/// What happens in the pond, as it happens: an iterator.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct Events {
    /// Locked without the interpreter only: whoever waits for an event holds it.
    source: Mutex<Source>,
    wanted: Wanted,
    follow: bool,
    closed: Arc<AtomicBool>,
}

struct Source {
    events: millpond::Events,
    /// What the pond had kept.
    kept: VecDeque<millpond::Event>,
    asked: bool,
}

impl Events {
    pub(crate) fn begin(
        py: Python<'_>,
        pond: &millpond::Pond,
        since: Option<u64>,
        wanted: Wanted,
        follow: bool,
    ) -> PyResult<Self> {
        // Without more to come, what was kept is what is wanted.
        let from = since.unwrap_or(if follow { 0 } else { 1 });
        let events = ask(py, || pond.events(from))?;
        let source = Source { events, kept: VecDeque::new(), asked: follow };
        Ok(Self { source: Mutex::new(source), wanted, follow, closed: Arc::default() })
    }

    fn take(&self, py: Python<'_>, timeout: Option<Duration>) -> PyResult<Option<Event>> {
        let closed = || errors::special(py, Special::Closed, "the events were closed", "ask anew");
        if self.closed.load(Ordering::Acquire) {
            return Err(closed());
        }
        let interrupt = Interrupt::until(Arc::clone(&self.closed));
        let taken = interrupt.run(py, || self.lock().next(&self.wanted, self.follow, timeout));
        if self.closed.load(Ordering::Acquire) && taken.is_err() {
            return Err(closed());
        }
        Ok(interrupt.end(py, taken)?.as_ref().map(Event::of))
    }

    fn lock(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source {
    fn next(
        &mut self,
        wanted: &Wanted,
        follow: bool,
        timeout: Option<Duration>,
    ) -> millpond::Result<Option<millpond::Event>> {
        if !self.asked {
            self.kept = self.events.kept()?.into();
            self.asked = true;
        }
        while let Some(event) = self.kept.pop_front() {
            if wanted.has(&event) {
                return Ok(Some(event));
            }
        }
        if !follow {
            return Ok(None);
        }
        let begun = std::time::Instant::now();
        loop {
            let left = timeout.map(|timeout| timeout.saturating_sub(begun.elapsed()));
            match self.events.next_timeout(left.unwrap_or(Duration::MAX))? {
                Some(event) if wanted.has(&event) => return Ok(Some(event)),
                None if left.is_some() => return Ok(None),
                _ => {}
            }
        }
    }
}

#[pymethods]
impl Events {
    /// The next event; `None` if none came within so many seconds, or there are no more to come.
    #[pyo3(signature = (timeout=None))]
    fn next(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Event>> {
        let timeout = timeout.map(|time| convert::seconds("timeout", time)).transpose()?;
        self.take(py, timeout)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Event>> {
        match self.take(py, None) {
            Err(_) if self.closed.load(Ordering::Acquire) => Ok(None),
            other => other,
        }
    }

    /// Ends it, also for a thread that waits for the next event.
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyAny>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        let closed = if self.closed.load(Ordering::Acquire) { "closed" } else { "open" };
        format!("Events({closed})")
    }
}

/// Everybody who is connected, or silent and alive.
pub(crate) fn list(py: Python<'_>, pond: &millpond::Pond) -> PyResult<Vec<ClientInfo>> {
    let (clients, tags) = ask(py, || {
        let clients = pond.clients()?;
        let tags = view::Tags::of_clients(&clients, || pond.models(""))?;
        Ok((clients, tags))
    })?;
    Ok(clients.iter().map(|client| ClientInfo(view::Client::new(client, &tags))).collect())
}
