//! A cache whose addresses stay while its memory comes and goes.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond::{DevicePtr, Dtype, ElasticError};
use millpond_wire::fd::process_number;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyRange, PyRangeMethods, PyTuple};

use crate::dlpack::{self, Keeper, Span};
use crate::elastic_blocks::{BlockTable, Prepared};
use crate::elastic_errors::{self, ask};
use crate::elastic_layout::CacheShape;
use crate::elastic_stats::{CapChange, ElasticStats};
use crate::ending::{calling, detached};
use crate::errors::{self, Special};
use crate::pressure::Asked;
use crate::shown::visible;
use crate::tensor::handle;
use crate::view::Place;
use crate::{convert, pressure};

/// What never changes of a cache.
pub(crate) struct Facts {
    pub(crate) name: String,
    id: String,
    group: String,
    device: String,
    shape: CacheShape,
    strides: Vec<u64>,
    address: u64,
    place: Place,
    /// The process that reserved it.
    owner: u32,
}

impl Facts {
    /// Refuses a forked child.
    pub(crate) fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        if self.owner == process_number() {
            return Ok(());
        }
        let error = ElasticError::OtherProcess { made_in: self.owner };
        Err(elastic_errors::raise(py, &self.name, &error.into()))
    }

    pub(crate) fn closed(&self, py: Python<'_>, what: &str, hint: &str) -> PyErr {
        let message = format!("{what} of cache '{}' was closed", self.name);
        errors::special(py, Special::Closed, &message, hint)
    }
}

/// A tensor of which only the committed blocks have memory. Its address never changes.
#[pyclass(frozen, weakref, module = "millpond")]
pub(crate) struct ElasticCache {
    cache: Mutex<Option<millpond::ElasticCache>>,
    facts: Arc<Facts>,
    asked: Arc<Asked>,
}

impl ElasticCache {
    pub(crate) fn new(cache: millpond::ElasticCache, shape: CacheShape) -> Self {
        let DevicePtr(address) = cache.device_ptr();
        let facts = Facts {
            name: cache.name().to_string(),
            id: cache.id().to_string(),
            group: cache.group().to_string(),
            device: cache.device().to_string(),
            strides: shape.strides(cache.geometry()),
            shape,
            address,
            place: Place::of(cache.context()),
            owner: process_number(),
        };
        let (facts, asked) = (Arc::new(facts), Arc::default());
        Self { cache: Mutex::new(Some(cache)), facts, asked }
    }

    fn lock(&self) -> MutexGuard<'_, Option<millpond::ElasticCache>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cache, if it is this process's and was not closed.
    fn held(&self, py: Python<'_>) -> PyResult<millpond::ElasticCache> {
        self.facts.check_process(py)?;
        let held = self.lock().clone();
        held.ok_or_else(|| {
            let message = format!("cache '{}' was closed", self.facts.name);
            errors::special(py, Special::Closed, &message, "reserve it again")
        })
    }

    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&millpond::ElasticCache) -> millpond::Result<T> + Send,
    ) -> PyResult<T> {
        let cache = self.held(py)?;
        ask(py, &self.facts.name, || work(&cache))
    }

    /// A range of this cache's blocks.
    fn range(&self, given: &Bound<'_, PyAny>) -> PyResult<Range<u64>> {
        let py = given.py();
        let refused = |message: String| {
            errors::invalid(py, &message, Some("pass range(FIRST, END), with a step of 1"))
        };
        let Ok(range) = given.cast::<PyRange>() else {
            return Err(refused(format!("{given} is no range of blocks")));
        };
        if range.step()? != 1 {
            return Err(refused(format!("{given} has gaps")));
        }
        let (start, stop) = (range.start()?, range.stop()?.max(range.start()?));
        let (Ok(start), Ok(end)) = (u64::try_from(start), u64::try_from(stop)) else {
            return Err(refused(format!("{given} begins before block 0")));
        };
        let count = self.facts.shape.blocks;
        if end > count {
            let error = ElasticError::OutOfRange { blocks: start..end, count };
            return Err(elastic_errors::raise(py, &self.facts.name, &error.into()));
        }
        Ok(start..end)
    }

    fn capsule<'py>(
        &self,
        py: Python<'py>,
        dtype: Dtype,
        max_version: Option<(u32, u32)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let keeper = Keeper::Cache { _cache: self.held(py)? };
        let Facts { address, ref shape, ref strides, place, .. } = *self.facts;
        let span = Span {
            address,
            dtype,
            shape: &shape.extents,
            strides: Some(strides),
            place,
            readonly: false,
        };
        dlpack::capsule(py, &span, keeper, max_version)
    }
}

#[pymethods]
impl ElasticCache {
    #[getter]
    fn name(&self) -> &str {
        &self.facts.name
    }

    #[getter]
    fn id(&self) -> &str {
        &self.facts.id
    }

    #[getter]
    fn group(&self) -> &str {
        &self.facts.group
    }

    #[getter]
    fn device(&self) -> &str {
        &self.facts.device
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.facts.shape.extents)
    }

    /// In elements. Segments begin on a granule, so the dimensions before the one that grows may
    /// have gaps between them.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.facts.strides)
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        convert::spelling(self.facts.shape.dtype)
    }

    /// What all of its elements take, committed or not.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.facts.shape.bytes()
    }

    /// The first address. It never changes.
    fn data_ptr(&self, py: Python<'_>) -> PyResult<u64> {
        self.held(py)?;
        Ok(self.facts.address)
    }

    /// What pages with committed blocks take.
    #[getter]
    fn committed_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.held(py)?.committed_bytes())
    }

    /// What the cache takes of the GPU, idle pages included.
    #[getter]
    fn held_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.held(py)?.held_bytes())
    }

    /// What it could give back.
    #[getter]
    fn idle_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.held(py)?.idle_bytes())
    }

    /// Everything that can be counted.
    fn stats(&self, py: Python<'_>) -> PyResult<ElasticStats> {
        Ok(ElasticStats::of(self.held(py)?.stats()))
    }

    /// Makes blocks usable: the first so many, or those of a range that is not committed yet.
    ///
    /// Parameters
    /// ----------
    /// blocks : int or range
    ///     A number commits the first blocks, and leaves those alone that are committed already. A
    ///     range commits its blocks, none of which may be committed.
    ///
    /// Raises
    /// ------
    /// GpuFull
    ///     There is no memory: ``verdict`` says what would help, ``holders`` who has the rest.
    ///     Nothing has changed then.
    /// Invalid
    ///     Blocks that do not exist, or are committed already.
    /// InUse
    ///     A table or a prepared range has them.
    fn commit(&self, py: Python<'_>, blocks: &Bound<'_, PyAny>) -> PyResult<()> {
        match blocks.extract::<u64>() {
            Ok(count) => self.ask(py, |cache| cache.commit(count)),
            Err(_) => {
                let range = self.range(blocks)?;
                self.ask(py, |cache| cache.commit_range(range))
            }
        }
    }

    /// Ends the use of blocks. Their pages stay for the next commit, and are given back when
    /// somebody needs them.
    ///
    /// Parameters
    /// ----------
    /// blocks : range
    ///     Blocks that are committed.
    /// stream : int or stream, optional
    ///     Work that uses the blocks is on this stream already: no page goes before that is done.
    ///     Without it, the whole GPU is waited for before a page goes. A stream that is being
    ///     captured is refused.
    /// at_step : bool
    ///     The blocks stay committed until ``step()``.
    ///
    /// Raises
    /// ------
    /// Invalid
    ///     Blocks that do not exist or are not committed; then none is uncommitted.
    #[pyo3(signature = (blocks, *, stream=None, at_step=false))]
    fn uncommit(
        &self,
        py: Python<'_>,
        blocks: &Bound<'_, PyAny>,
        stream: Option<&Bound<'_, PyAny>>,
        at_step: bool,
    ) -> PyResult<()> {
        let range = self.range(blocks)?;
        if at_step && stream.is_some() {
            let message = "blocks that go with the step wait for the stream of step()";
            return Err(errors::invalid(py, message, Some("pass stream= to step() instead")));
        }
        match stream.map(handle).transpose()? {
            _ if at_step => {
                self.held(py)?.uncommit_at_step(range);
                Ok(())
            }
            None => self.ask(py, |cache| cache.uncommit_now(range)),
            Some(stream) => {
                self.ask(py, |cache| cache.uncommit(range, &dlpack::mark(cache.context(), stream)?))
            }
        }
    }

    /// All work of a step is submitted: blocks that were uncommitted with ``at_step=True`` go.
    ///
    /// Parameters
    /// ----------
    /// stream : int or stream, optional
    ///     The stream that the work is on; see ``uncommit``.
    ///
    /// Raises
    /// ------
    /// Invalid
    ///     Some of the blocks were not committed; the others are uncommitted.
    #[pyo3(signature = (stream=None))]
    fn step(&self, py: Python<'_>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        match stream.map(handle).transpose()? {
            None => self.ask(py, millpond::ElasticCache::step_now),
            Some(stream) => {
                self.ask(py, |cache| cache.step(&dlpack::mark(cache.context(), stream)?))
            }
        }
    }

    /// Makes pages for blocks, so that their commit cannot fail: for ranks that commit together or
    /// not at all.
    ///
    /// Parameters
    /// ----------
    /// blocks : range
    ///     Blocks that are not committed.
    ///
    /// Returns
    /// -------
    /// Prepared
    ///     The end of its ``with`` block commits, an exception in it gives the blocks up.
    ///
    /// Raises
    /// ------
    /// GpuFull, Invalid, InUse
    ///     As for ``commit``.
    fn prepare(&self, py: Python<'_>, blocks: &Bound<'_, PyAny>) -> PyResult<Prepared> {
        let range = self.range(blocks)?;
        let cache = self.held(py)?;
        let prepared = ask(py, &self.facts.name, || cache.prepare(range.clone()))?;
        Ok(Prepared::new(prepared, cache, range, &self.facts))
    }

    /// Gives idle pages back to the group.
    ///
    /// Parameters
    /// ----------
    /// bytes : int or str, optional
    ///     At least so much, if there is so much; all of it unless said.
    ///
    /// Returns
    /// -------
    /// int
    ///     The bytes that were given back.
    #[pyo3(signature = (bytes=None))]
    fn trim(&self, py: Python<'_>, bytes: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let bytes = bytes.map(|size| convert::bytes("bytes", size)).transpose()?;
        self.ask(py, |cache| cache.trim(bytes.unwrap_or(u64::MAX)))
    }

    /// Sets what the cache may hold of the group's budget. Idle pages above the cap go back at once,
    /// others when no block uses them.
    ///
    /// Parameters
    /// ----------
    /// bytes : int, str or None
    ///     The cap; ``None`` for none.
    /// revision : int
    ///     1 or more, and larger with each change: an older cap changes nothing.
    ///
    /// Returns
    /// -------
    /// CapChange
    ///     ``state`` is ``"applied"``, ``"deferred"`` (``above_bytes`` are still to go) or ``"stale"``
    ///     (``revision`` is in force). A repeat of the cap in force says what is still to go.
    #[pyo3(signature = (bytes, *, revision))]
    fn set_cap(
        &self,
        py: Python<'_>,
        bytes: Option<&Bound<'_, PyAny>>,
        revision: u64,
    ) -> PyResult<CapChange> {
        let bytes = bytes.map(|size| convert::bytes("bytes", size)).transpose()?;
        let change = self.ask(py, |cache| cache.set_cap(bytes.unwrap_or(u64::MAX), revision))?;
        Ok(CapChange::of(change, revision))
    }

    /// Has a function called when pages are wanted back beyond the idle ones.
    ///
    /// Parameters
    /// ----------
    /// callback : callable or None
    ///     Called with a ``PressureAsk``, from a thread of its own, one at a time. It uncommits what
    ///     it can do without and returns ``True`` or ``"now"``; ``"soon"`` if it will do so before the
    ///     time is over; ``False`` or ``None`` for nothing. What it raises goes to
    ///     ``sys.unraisablehook`` and counts as nothing. It takes the place of the last one and is
    ///     called as long as this object exists.
    fn on_pressure(&self, py: Python<'_>, callback: Option<Py<PyAny>>) -> PyResult<()> {
        let cache = self.held(py)?;
        pressure::set(py, &cache, &self.asked, callback)
    }

    /// The table that hands out blocks one by one, whose pages follow them.
    ///
    /// Returns
    /// -------
    /// BlockTable
    ///     The end of its ``with`` block gives all blocks back.
    ///
    /// Raises
    /// ------
    /// InUse
    ///     There is one already, or blocks are committed by their numbers.
    fn blocks(&self, py: Python<'_>) -> PyResult<BlockTable> {
        let cache = self.held(py)?;
        let table = ask(py, &self.facts.name, || cache.blocks())?;
        Ok(BlockTable::new(table, cache, &self.facts))
    }

    /// A numpy array of all of it, on the software driver. What is not committed must not be touched.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().held(slf.py())?;
        seen(slf, "as_numpy")
    }

    /// A torch tensor of all of it. What is not committed must not be touched.
    fn torch<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().held(slf.py())?;
        seen(slf, "as_torch")
    }

    /// What numpy asks for: a view of the memory, and nothing else.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.get().held(slf.py())?;
        let (py, module) = (slf.py(), slf.py().import("millpond._elastic")?);
        calling(py, || module.call_method1("as_array", (slf, dtype, copy)))
    }

    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dlpack::check_request(self.facts.place, stream, dl_device, copy)?;
        self.capsule(py, self.facts.shape.dtype, max_version)
    }

    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        dlpack::device(self.facts.place)
    }

    /// The same memory as whole unsigned numbers, which every library takes.
    fn _plain<'py>(
        &self,
        py: Python<'py>,
        max_version: Option<(u32, u32)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let dtype = match self.facts.shape.dtype.bits() {
            16 => Dtype::U16,
            32 => Dtype::U32,
            64 => Dtype::U64,
            _ => Dtype::U8,
        };
        self.capsule(py, dtype, max_version)
    }

    #[getter]
    fn closed(&self) -> bool {
        self.lock().is_none()
    }

    /// Lets go of it. Views, tables and prepared blocks keep the memory; with the last of them all
    /// of it is given back.
    fn close(&self, py: Python<'_>) {
        self.asked.clear();
        let gone = self.lock().take();
        // It waits for the device.
        detached(py, move || drop(gone));
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyAny>) {
        self.close(py);
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.asked.traverse(&visit)
    }

    fn __clear__(&self) {
        self.asked.clear();
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Facts { name, shape, .. } = &*self.facts;
        let dtype = convert::spelling(shape.dtype);
        let closed = if self.closed() { ", closed" } else { "" };
        let extents = self.shape(py)?;
        Ok(visible(&format!("ElasticCache('{name}', {extents}, {dtype}{closed})")))
    }
}

impl Drop for ElasticCache {
    fn drop(&mut self) {
        let cache = self.cache.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // With the last one the device is waited for, which others need not do.
        if cache.is_some() && self.facts.owner == process_number() {
            let _ = Python::try_attach(move |py| detached(py, move || drop(cache)));
        }
    }
}

/// A view that the half written in Python makes.
fn seen<'py>(cache: &Bound<'py, ElasticCache>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = cache.py();
    calling(py, || py.import("millpond._elastic")?.call_method1(name, (cache,)))
}
