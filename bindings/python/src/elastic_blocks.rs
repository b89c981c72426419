//! Blocks of a cache that somebody has: handed out one by one, or prepared.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_wire::fd::process_number;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyList, PyRange};

use crate::dlpack;
use crate::elastic_cache::Facts;
use crate::elastic_errors::ask;
use crate::elastic_stats::Occupancy;
use crate::ending::detached;
use crate::errors;
use crate::shown::visible;
use crate::tensor::handle;

/// What the engine has given out, and the cache, which goes after it. In a forked child neither is
/// touched: what another thread had locked there stays locked.
struct Own<T> {
    thing: Option<T>,
    cache: millpond::ElasticCache,
    owner: u32,
}

impl<T> Own<T> {
    fn new(thing: T, cache: millpond::ElasticCache) -> Self {
        Self { thing: Some(thing), cache, owner: process_number() }
    }
}

impl<T> Drop for Own<T> {
    fn drop(&mut self) {
        let thing = self.thing.take();
        if self.owner != process_number() {
            std::mem::forget(thing);
        }
    }
}

/// Hands out the blocks of a cache one by one. Pages follow the blocks.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct BlockTable {
    table: Mutex<Option<Arc<Own<millpond::BlockTable>>>>,
    facts: Arc<Facts>,
}

impl BlockTable {
    pub(crate) fn new(
        table: millpond::BlockTable,
        cache: millpond::ElasticCache,
        facts: &Arc<Facts>,
    ) -> Self {
        let own = Arc::new(Own::new(table, cache));
        Self { table: Mutex::new(Some(own)), facts: Arc::clone(facts) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Own<millpond::BlockTable>>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works with the table without the interpreter, if it is this process's and was not closed.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&millpond::BlockTable, &millpond::ElasticCache) -> millpond::Result<T> + Send,
    ) -> PyResult<T> {
        self.facts.check_process(py)?;
        let closed = || self.facts.closed(py, "the table", "cache.blocks() makes another one");
        let own = self.lock().clone().ok_or_else(closed)?;
        let Own { thing: Some(table), cache, .. } = &*own else { return Err(closed()) };
        ask(py, &self.facts.name, || work(table, cache))
    }
}

#[pymethods]
impl BlockTable {
    /// Takes blocks: so many, or none.
    ///
    /// Parameters
    /// ----------
    /// count : int
    ///     How many.
    ///
    /// Returns
    /// -------
    /// list of int
    ///     Their numbers along ``grow_along``, low ones first where any are free. Their contents are
    ///     undefined.
    ///
    /// Raises
    /// ------
    /// GpuFull
    ///     There is no memory, or fewer blocks are free; see ``ElasticCache.commit``.
    fn take(&self, py: Python<'_>, count: usize) -> PyResult<Vec<u32>> {
        self.ask(py, |table, _| Ok(table.take(count)?))
    }

    /// Gives blocks back.
    ///
    /// Parameters
    /// ----------
    /// blocks : sequence of int, or int
    ///     What ``take`` returned, or a part of it.
    /// stream : int or stream, optional
    ///     Work that uses the blocks is on this stream already: no page goes before that is done.
    ///     Without it, the whole GPU is waited for before a page goes. It does not keep the next
    ///     user of a block from writing to it.
    ///
    /// Raises
    /// ------
    /// Invalid
    ///     A block that is not taken, or is named twice; then none is given back.
    #[pyo3(signature = (blocks, *, stream=None))]
    fn give(
        &self,
        py: Python<'_>,
        blocks: &Bound<'_, PyAny>,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let blocks = numbers(blocks)?;
        let stream = stream.map(handle).transpose()?;
        self.ask(py, |table, cache| {
            let fence = stream.map(|stream| dlpack::mark(cache.context(), stream)).transpose()?;
            Ok(table.give(&blocks, fence)?)
        })
    }

    /// How many blocks nobody has taken.
    #[getter]
    fn free_blocks(&self, py: Python<'_>) -> PyResult<u64> {
        self.ask(py, |table, _| Ok(table.free_blocks()))
    }

    /// How many blocks can be taken without a new page.
    #[getter]
    fn ready_blocks(&self, py: Python<'_>) -> PyResult<u64> {
        self.ask(py, |table, _| Ok(table.ready_blocks()))
    }

    /// How full the pages are, the emptiest first: what an engine evicts to free a page.
    ///
    /// Returns
    /// -------
    /// list of Occupancy
    ///     Pages that are given back together: ``blocks`` is the range of blocks with a byte in them,
    ///     ``taken`` how many of these are taken, ``bytes`` what is given back when none is.
    fn occupancy(&self, py: Python<'_>) -> PyResult<Vec<Occupancy>> {
        self.ask(py, |table, _| Ok(table.occupancy().iter().map(Occupancy::of).collect()))
    }

    #[getter]
    fn closed(&self) -> bool {
        self.lock().is_none()
    }

    /// Ends it: all blocks are given back, after all work of the GPU.
    fn close(&self, py: Python<'_>) {
        let gone = self.lock().take();
        detached(py, move || drop(gone));
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyAny>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        let closed = if self.closed() { ", closed" } else { "" };
        visible(&format!("BlockTable('{}'{closed})", self.facts.name))
    }
}

/// Numbers of blocks, from any sequence of whole numbers or from one.
fn numbers(given: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let number = |one: &Bound<'_, PyAny>| {
        one.extract::<u32>().map_err(|_| {
            let message = format!("{one} is no number of a block");
            errors::invalid(one.py(), &message, Some("pass what take() returned"))
        })
    };
    if let Ok(list) = given.cast::<PyList>() {
        return list.iter().map(|one| number(&one)).collect();
    }
    match given.try_iter() {
        Ok(several) => several.map(|one| number(&one?)).collect(),
        Err(_) => Ok(vec![number(given)?]),
    }
}

/// Blocks whose pages are there, and which are not committed yet.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct Prepared {
    state: Mutex<State>,
    range: Range<u64>,
    facts: Arc<Facts>,
}

enum State {
    Open(Own<millpond::Prepared>),
    Committed,
    Aborted,
}

impl Prepared {
    pub(crate) fn new(
        prepared: millpond::Prepared,
        cache: millpond::ElasticCache,
        range: Range<u64>,
        facts: &Arc<Facts>,
    ) -> Self {
        let state = Mutex::new(State::Open(Own::new(prepared, cache)));
        Self { state, range, facts: Arc::clone(facts) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn over(&self, py: Python<'_>, how: &str) -> PyErr {
        let (Range { start, end }, name) = (&self.range, &self.facts.name);
        let message = format!("range({start}, {end}) of cache '{name}' was {how} already");
        errors::invalid(py, &message, Some("prepare it again"))
    }
}

#[pymethods]
impl Prepared {
    /// The blocks.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyRange>> {
        let place = |block: u64| isize::try_from(block).unwrap_or(isize::MAX);
        PyRange::new(py, place(self.range.start), place(self.range.end))
    }

    /// Commits them, which needs nothing and cannot fail for lack of memory.
    ///
    /// Raises
    /// ------
    /// Invalid
    ///     They were committed or given up already.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.facts.check_process(py)?;
        let mut state = self.lock();
        match std::mem::replace(&mut *state, State::Committed) {
            State::Open(mut own) => {
                drop(state);
                let prepared = own.thing.take();
                detached(py, move || {
                    if let Some(prepared) = prepared {
                        prepared.commit();
                    }
                    drop(own);
                });
                Ok(())
            }
            State::Committed => Err(self.over(py, "committed")),
            State::Aborted => {
                *state = State::Aborted;
                Err(self.over(py, "given up"))
            }
        }
    }

    /// Gives them up. Their pages are idle then.
    ///
    /// Raises
    /// ------
    /// Invalid
    ///     They were committed already.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.facts.check_process(py)?;
        let mut state = self.lock();
        match std::mem::replace(&mut *state, State::Aborted) {
            State::Open(own) => {
                drop(state);
                detached(py, move || drop(own));
                Ok(())
            }
            State::Aborted => Ok(()),
            State::Committed => {
                *state = State::Committed;
                Err(self.over(py, "committed"))
            }
        }
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (kind, *_rest))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<&Bound<'_, PyAny>>,
        _rest: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if !matches!(*self.lock(), State::Open(_)) {
            return Ok(());
        }
        match kind {
            None => self.commit(py),
            Some(_) => self.abort(py),
        }
    }

    fn __repr__(&self) -> String {
        let Range { start, end } = self.range;
        visible(&format!("Prepared('{}', range({start}, {end}))", self.facts.name))
    }
}
