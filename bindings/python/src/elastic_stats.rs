//! What a cache counts, for Python.

use std::collections::BTreeMap;

use millpond::engine::{CallCounts, Stats};
use millpond_view::units;
use pyo3::prelude::*;
use pyo3::types::PyRange;

/// A cache at one moment. What is held is committed, prepared, wasted, idle or quarantined.
#[pyclass(frozen, get_all, module = "millpond")]
pub(crate) struct ElasticStats {
    /// Addresses; they cost no memory.
    reserved_bytes: u64,
    /// Pages with a committed block.
    committed_bytes: u64,
    /// Pages without one that somebody has prepared.
    prepared_bytes: u64,
    /// Pages that nobody uses, in handles in which somebody uses others.
    wasted_bytes: u64,
    /// Handles that nobody uses: they can be given back.
    idle_bytes: u64,
    /// What the driver refused to take back.
    quarantined_bytes: u64,
    /// All that the driver has given.
    held_bytes: u64,
    /// What the cache may hold; None without a cap.
    cap_bytes: Option<u64>,
    /// Rows in all; a row is one page of each segment.
    rows: u64,
    /// Rows with memory.
    mapped_rows: u64,
    /// Rows with a committed block.
    committed_rows: u64,
    /// Blocks that are committed or taken.
    committed_blocks: u64,
    /// How many handles each segment has, by their bytes.
    handles: BTreeMap<u64, u64>,
    /// How often the driver was called, by kind of call.
    driver_calls: BTreeMap<&'static str, u64>,
    /// What the book-keeping takes of the host's memory.
    book_bytes: u64,
}

impl ElasticStats {
    pub(crate) fn of(stats: Stats) -> Self {
        let CallCounts { create, release, map, unmap, is_passed, settle } = stats.calls;
        let driver_calls = [
            ("create", create),
            ("release", release),
            ("map", map),
            ("unmap", unmap),
            ("is_passed", is_passed),
            ("settle", settle),
        ];
        Self {
            reserved_bytes: stats.reserved_bytes,
            committed_bytes: stats.committed_bytes,
            prepared_bytes: stats.prepared_bytes,
            wasted_bytes: stats.wasted_bytes,
            idle_bytes: stats.idle_bytes,
            quarantined_bytes: stats.quarantined_bytes,
            held_bytes: stats.held_bytes,
            cap_bytes: (stats.cap_bytes < u64::MAX).then_some(stats.cap_bytes),
            rows: stats.rows,
            mapped_rows: stats.mapped_rows,
            committed_rows: stats.committed_rows,
            committed_blocks: stats.committed_blocks,
            handles: stats.extents.iter().map(|one| (one.handle_bytes, one.count)).collect(),
            driver_calls: driver_calls.into(),
            book_bytes: stats.book_bytes,
        }
    }
}

#[pymethods]
impl ElasticStats {
    fn __repr__(&self) -> String {
        let Self { committed_bytes, idle_bytes, held_bytes, .. } = *self;
        let [committed, idle, held] = [committed_bytes, idle_bytes, held_bytes].map(units::bytes);
        format!("ElasticStats({committed} committed, {idle} idle, {held} held)")
    }
}

/// What a new cap has done.
#[pyclass(frozen, get_all, module = "millpond")]
pub(crate) struct CapChange {
    /// "applied", "deferred" or "stale".
    state: &'static str,
    /// What the cache still holds above the cap.
    above_bytes: u64,
    /// The revision in force.
    revision: u64,
}

impl CapChange {
    pub(crate) fn of(change: millpond::CapChange, revision: u64) -> Self {
        use millpond::CapChange as Change;
        let (state, above_bytes, revision) = match change {
            Change::Applied => ("applied", 0, revision),
            Change::Deferred { above_bytes } => ("deferred", above_bytes, revision),
            Change::Stale { revision } => ("stale", 0, revision),
        };
        Self { state, above_bytes, revision }
    }
}

#[pymethods]
impl CapChange {
    fn __repr__(&self) -> String {
        let Self { state, above_bytes, revision } = self;
        format!("CapChange({state}, {above_bytes} bytes above, revision {revision})")
    }
}

/// Pages that are given back together.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct Occupancy(millpond::Occupancy);

impl Occupancy {
    pub(crate) fn of(occupancy: &millpond::Occupancy) -> Self {
        Self(occupancy.clone())
    }
}

#[pymethods]
impl Occupancy {
    /// The blocks with a byte in these pages.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyRange>> {
        let bound = |block: u32| isize::try_from(block).unwrap_or(isize::MAX);
        PyRange::new(py, bound(self.0.blocks.start), bound(self.0.blocks.end))
    }

    /// How many of them are taken.
    #[getter]
    fn taken(&self) -> u64 {
        self.0.taken
    }

    /// What is given back when none is taken.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    fn __repr__(&self) -> String {
        let millpond::Occupancy { blocks, taken, bytes } = &self.0;
        let (start, end) = (blocks.start, blocks.end);
        format!("Occupancy(blocks {start} to {end}, {taken} taken, {bytes} bytes)")
    }
}
