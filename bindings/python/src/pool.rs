//! Stream-ordered pools, for Python: what they count, draw and give back. Their blocks are for torch and
//! for C (`pool_allocator.rs`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use millpond::{PoolSpec, PoolStats};
use millpond_view::units;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::convert;
use crate::errors;
use crate::hints::Call;
use crate::interrupt::ask_in;
use crate::pond::Pond;
use crate::pool_allocator;
use crate::shown::visible;

/// Blocks of device memory in the order of streams, on the budget of a group.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct StreamPool {
    pool: millpond::StreamPool,
    /// Which of the exported symbols serve it.
    slot: usize,
}

#[pymethods]
impl StreamPool {
    /// The group that pays.
    #[getter]
    fn group(&self) -> String {
        self.pool.group().to_string()
    }

    /// The GPU.
    #[getter]
    fn device(&self) -> String {
        self.pool.device().to_string()
    }

    /// Which of the symbols for torch serve it.
    #[getter]
    fn _slot(&self) -> usize {
        self.slot
    }

    /// What the pool counts, by name.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Bytes in use, free and held with their peaks, counts of blocks and gaps, and how requests
    ///     were served; ``fragmentation`` is the part of the free bytes outside of the largest gap.
    fn stats(&self, py: Python<'_>) -> PyResult<BTreeMap<&'static str, Py<PyAny>>> {
        let stats = self.pool.stats();
        let mut all = BTreeMap::new();
        for (name, value) in stats.fields() {
            all.insert(name, value.into_pyobject(py)?.into_any().unbind());
        }
        all.insert("fragmentation", stats.fragmentation().into_pyobject(py)?.into_any().unbind());
        Ok(all)
    }

    /// Has the peaks of the statistics begin anew.
    fn reset_peaks(&self) {
        self.pool.reset_peaks();
    }

    /// Gives memory that no block uses back to the group. Returns how many bytes are back.
    ///
    /// Parameters
    /// ----------
    /// nbytes : int or str, optional
    ///     How much; everything unless said.
    /// wait : bool
    ///     Waits for the whole device where that helps. That breaks graphs that are being captured.
    #[pyo3(signature = (nbytes=None, *, wait=false))]
    fn trim(&self, py: Python<'_>, nbytes: Option<&Bound<'_, PyAny>>, wait: bool) -> PyResult<u64> {
        let bytes = nbytes.map_or(Ok(u64::MAX), |size| convert::bytes("nbytes", size))?;
        ask_in(py, Call::Plain, || self.pool.trim(bytes, wait))
    }

    /// All blocks and gaps at this moment, by address.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.pool.snapshot().to_json(),))
    }

    /// Draws all blocks and gaps to scale, as an SVG file.
    fn snapshot_svg(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        ask_in(py, Call::Plain, || self.pool.snapshot_svg(path))
    }

    /// Writes all blocks and gaps to a JSON file.
    fn snapshot_json(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        ask_in(py, Call::Plain, || self.pool.snapshot_json(path))
    }

    fn __repr__(&self) -> String {
        let PoolStats { in_use_bytes, held_bytes, .. } = self.pool.stats();
        let [used, held] = [in_use_bytes, held_bytes].map(units::bytes);
        visible(&format!("StreamPool('{}', {used} of {held} in use)", self.pool.group()))
    }
}

/// The pool of a group on a GPU of this process, made if there is none yet. It stays until the process
/// ends: torch may free what it got at any time.
#[pyfunction(name = "_pool")]
pub(crate) fn pool(
    py: Python<'_>,
    pond: &Bound<'_, Pond>,
    group: &str,
    ordinal: i32,
) -> PyResult<StreamPool> {
    let pond = pond.get().pond.clone();
    let made = ask_in(py, Call::Elastic { group }, || {
        let device = convert::own_device_of(ordinal)?;
        let elastic = pond.elastic(group)?;
        pool_allocator::serve(&elastic, ordinal, PoolSpec::new("torch").device(device))
    })?;
    let (slot, pool) = made.ok_or_else(|| {
        let message = format!("this process has pools of {} groups", pool_allocator::SLOTS);
        errors::invalid(py, &message, Some("use one of those groups"))
    })?;
    Ok(StreamPool { pool, slot })
}
