//! The callback of a cache that is asked to give memory back.
//!
//! The client asks from a thread of its own, which knows no Python. A thread that Python made, whose
//! loop is `_elastic.py`, calls the callback, so that there is nothing of Rust above it that the end
//! of the interpreter could tear. The client's thread waits for the answer no longer than it helps.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::Instant;

use millpond::Offer;
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::ending::{self, Inside, calling};
use crate::shown::visible;

/// Who is asked. The object of the cache has it, so that the collector sees a callback that holds
/// its cache.
#[derive(Default)]
pub(crate) struct Asked(Mutex<State>);

#[derive(Default)]
struct State {
    callback: Option<Py<PyAny>>,
    /// The thread is there.
    begun: bool,
}

impl Asked {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn callback(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.lock().callback.as_ref().map(|callback| callback.clone_ref(py))
    }

    /// Asks nobody from now on.
    pub(crate) fn clear(&self) {
        // Not under the lock: the end of a callback may run anything.
        let gone = self.lock().callback.take();
        drop(gone);
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let state = match self.0.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        state.callback.as_ref().map_or(Ok(()), |callback| visit.call(callback))
    }
}

/// Has this one called from now on, or nobody.
pub(crate) fn set(
    py: Python<'_>,
    cache: &millpond::ElasticCache,
    asked: &Arc<Asked>,
    callback: Option<Py<PyAny>>,
) -> PyResult<()> {
    let Some(callback) = callback else {
        asked.clear();
        return Ok(());
    };
    if !callback.bind(py).is_callable() {
        let message = format!("{} cannot be called", callback.bind(py));
        return Err(PyTypeError::new_err(message));
    }
    let mut state = asked.lock();
    let (before, begun) =
        (state.callback.replace(callback), std::mem::replace(&mut state.begun, true));
    drop(state);
    drop(before);
    if begun {
        return Ok(());
    }
    let (tell, told) = channel();
    let asks = Asks {
        questions: Mutex::new(told),
        asked: Arc::downgrade(asked),
        open: Mutex::new(None),
        called: Mutex::new(None),
    };
    if let Err(error) = begin(py, asks) {
        asked.lock().begun = false;
        asked.clear();
        return Err(error);
    }
    cache.on_pressure(move |ask| offer(&tell, ask));
    Ok(())
}

/// A question to the thread, and its answer. An answer that is late counts for what was uncommitted
/// until then.
fn offer(tell: &Sender<Question>, ask: &millpond::PressureAsk) -> Offer {
    let (answer, answered) = channel();
    if tell.send(Question { ask: ask.clone(), answer }).is_err() {
        return Offer::Nothing;
    }
    match answered.recv_timeout(ask.until.saturating_duration_since(Instant::now())) {
        Ok(offer) => offer,
        Err(RecvTimeoutError::Timeout) => Offer::Now,
        Err(RecvTimeoutError::Disconnected) => Offer::Nothing,
    }
}

fn begin(py: Python<'_>, asks: Asks) -> PyResult<()> {
    let settings = PyDict::new(py);
    settings.set_item("target", py.import("millpond._elastic")?.getattr("watch")?)?;
    settings.set_item("args", (asks,))?;
    settings.set_item("name", "millpond-pressure")?;
    settings.set_item("daemon", true)?;
    let thread = py.import("threading")?.getattr("Thread")?.call((), Some(&settings))?;
    calling(py, || thread.call_method0("start"))?;
    Ok(())
}

struct Question {
    ask: millpond::PressureAsk,
    answer: Sender<Offer>,
}

/// What the thread asks.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct Asks {
    /// It ends with the cache, whose handler has the other side.
    questions: Mutex<Receiver<Question>>,
    asked: Weak<Asked>,
    /// Where the answer goes that the callback is about to give.
    open: Mutex<Option<Sender<Offer>>>,
    /// The callback is being called: the end of the interpreter waits a while for it.
    called: Mutex<Option<Inside>>,
}

#[pymethods]
impl Asks {
    /// Waits for the next question: what is asked, and who is to be called. `None` if the cache is
    /// gone.
    fn next(&self, py: Python<'_>) -> Option<(PressureAsk, Py<PyAny>)> {
        drop(locked(&self.called).take());
        loop {
            let Question { ask, answer } =
                ending::detached(py, || locked(&self.questions).recv().ok())?;
            let callback = self.asked.upgrade().and_then(|asked| asked.callback(py));
            let Some(callback) = callback else {
                let _ = answer.send(Offer::Nothing);
                continue;
            };
            // Nobody waits any more for a question that stood behind a slow callback.
            if Instant::now() >= ask.until {
                continue;
            }
            *locked(&self.open) = Some(answer);
            *locked(&self.called) = ending::enter();
            return Some((PressureAsk(ask), callback));
        }
    }

    /// What the callback has returned.
    fn answer(&self, given: &Bound<'_, PyAny>) -> PyResult<()> {
        let offer = offered(given)?;
        if let Some(answer) = locked(&self.open).take() {
            let _ = answer.send(offer);
        }
        Ok(())
    }

    /// What the callback has raised, or what is wrong with its answer.
    fn raised(&self, error: Bound<'_, PyAny>, callback: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(answer) = locked(&self.open).take() {
            let _ = answer.send(Offer::Nothing);
        }
        let py = callback.py();
        calling(py, || {
            PyErr::from_value(error).write_unraisable(py, Some(callback));
            Ok(())
        })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn offered(given: &Bound<'_, PyAny>) -> PyResult<Offer> {
    if given.is_none() {
        return Ok(Offer::Nothing);
    }
    if let Ok(word) = given.cast::<PyBool>() {
        return Ok(if word.is_true() { Offer::Now } else { Offer::Nothing });
    }
    if let Ok(word) = given.cast::<PyString>() {
        match &*word.to_cow()? {
            "now" => return Ok(Offer::Now),
            "soon" => return Ok(Offer::Soon),
            _ => {}
        }
    }
    let message = format!(
        "a callback of on_pressure returns True or \"now\", \"soon\", False or None, and not {}",
        given.repr()?
    );
    Err(PyTypeError::new_err(message))
}

/// What a cache is asked for.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct PressureAsk(millpond::PressureAsk);

#[pymethods]
impl PressureAsk {
    /// What is wanted beyond the pages that were idle.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// The same in blocks.
    #[getter]
    fn blocks(&self) -> u64 {
        self.0.blocks
    }

    /// How many seconds are left in which it helps, at the moment of asking.
    #[getter]
    fn until(&self) -> f64 {
        self.0.until.saturating_duration_since(Instant::now()).as_secs_f64()
    }

    /// For whom, and why.
    #[getter]
    fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Counts changes of the group's limits.
    #[getter]
    fn revision(&self) -> u64 {
        self.0.revision
    }

    fn __repr__(&self) -> String {
        let millpond::PressureAsk { bytes, blocks, reason, .. } = &self.0;
        visible(&format!("PressureAsk({bytes} bytes, {blocks} blocks, {reason:?})"))
    }
}
