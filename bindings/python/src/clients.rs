//! Who is connected, and what happens.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use millpond::{EventKind, LeaseTarget, TensorName};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::convert;
use crate::errors::{self, Special};
use crate::interrupt::{Interrupt, ask};

/// A lease that a process has.
#[pyclass(frozen, get_all, from_py_object, module = "millpond")]
#[derive(Clone)]
pub(crate) struct LeaseInfo {
    tensor: String,
    name: Option<String>,
    version: Option<String>,
    mode: &'static str,
    bytes: u64,
    since_unix_ms: u64,
    client: String,
    pid: u32,
    program: String,
}

/// The tags of versions, by the identity that their leases name.
type Tags = HashMap<LeaseTarget, String>;

impl LeaseInfo {
    fn new(lease: millpond::LeaseInfo, tags: &Tags) -> Self {
        Self {
            version: tags.get(&lease.target).cloned(),
            tensor: lease.target.to_string(),
            name: lease.name.map(|name| name.to_string()),
            mode: lease.mode.name(),
            bytes: lease.bytes,
            since_unix_ms: lease.since_unix_ms,
            client: lease.client.to_string(),
            pid: lease.pid,
            program: lease.program,
        }
    }
}

#[pymethods]
impl LeaseInfo {
    fn __repr__(&self) -> String {
        let name = self.name.as_ref().unwrap_or(&self.tensor);
        format!("LeaseInfo('{name}', {}, pid {})", self.mode, self.pid)
    }
}

/// A process that is connected to the pond, or holds something of it.
#[pyclass(frozen, get_all, module = "millpond")]
pub(crate) struct ClientInfo {
    id: String,
    pid: u32,
    user: u32,
    program: String,
    since_unix_ms: u64,
    silent: bool,
    mover: bool,
    held_bytes: u64,
    leases: Vec<LeaseInfo>,
}

impl ClientInfo {
    fn new(client: millpond::ClientInfo, tags: &Tags) -> Self {
        let mut seen = HashSet::new();
        // What several leases are on counts once.
        let once = client.leases.iter().filter(|lease| seen.insert(lease.target));
        Self {
            id: client.client.to_string(),
            pid: client.pid,
            user: client.user,
            held_bytes: once.map(|lease| lease.bytes).sum(),
            program: client.program,
            since_unix_ms: client.since_unix_ms,
            silent: client.silent,
            mover: client.mover,
            leases: client.leases.into_iter().map(|lease| LeaseInfo::new(lease, tags)).collect(),
        }
    }
}

#[pymethods]
impl ClientInfo {
    fn __repr__(&self) -> String {
        format!("ClientInfo({}, pid {}, {} leases)", self.program, self.pid, self.leases.len())
    }
}

/// Something that happened in the pond.
#[pyclass(frozen, get_all, module = "millpond")]
pub(crate) struct Event {
    sequence: u64,
    unix_ms: u64,
    kind: &'static str,
    tensor: Option<String>,
    name: Option<String>,
    user: Option<u32>,
    text: String,
}

impl From<millpond::Event> for Event {
    fn from(event: millpond::Event) -> Self {
        Self {
            sequence: event.sequence,
            unix_ms: event.unix_ms,
            kind: event.kind.name(),
            tensor: event.target.map(|id| id.to_string()),
            name: event.name.map(|name| name.to_string()),
            user: event.user,
            text: event.text,
        }
    }
}

#[pymethods]
impl Event {
    fn __repr__(&self) -> String {
        let name = self.name.as_ref().map_or_else(String::new, |name| format!(", '{name}'"));
        format!("Event({}, {}{name}, {:?})", self.sequence, self.kind, self.text)
    }
}

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
        Ok(interrupt.end(py, taken)?.map(Event::from))
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
        let holds_any = clients.iter().any(|client| !client.leases.is_empty());
        let models = if holds_any { pond.models("")? } else { Vec::new() };
        let versions = models.iter().flat_map(|model| &model.versions);
        let tags = versions.map(|info| (info.version.into(), info.tag.to_string()));
        Ok((clients, tags.collect::<Tags>()))
    })?;
    Ok(clients.into_iter().map(|client| ClientInfo::new(client, &tags)).collect())
}
