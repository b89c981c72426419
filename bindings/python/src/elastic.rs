//! The caches of a group: where they are reserved.

use std::time::Duration;

use millpond::ReserveSpec;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyString};

use crate::elastic_cache::ElasticCache;
use crate::elastic_errors;
use crate::elastic_layout::CacheShape;
use crate::hints::Call;
use crate::interrupt::ask_in;
use crate::shown::visible;
use crate::{convert, errors};

/// A wait for ever, where times are added up.
const LONGEST_WAIT: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// The caches of one group, in this process.
#[pyclass(frozen, module = "millpond")]
pub(crate) struct Elastic {
    elastic: millpond::Elastic,
    pond: millpond::Pond,
}

impl Elastic {
    pub(crate) fn of(py: Python<'_>, pond: &millpond::Pond, group: &str) -> PyResult<Self> {
        let elastic = ask_in(py, Call::Elastic { group }, || pond.elastic(group))?;
        Ok(Self { elastic, pond: pond.clone() })
    }
}

#[pymethods]
impl Elastic {
    /// The group's name.
    #[getter]
    fn group(&self) -> String {
        self.elastic.group().to_string()
    }

    /// Whether this program runs in the group, so that its own limit pays.
    #[getter]
    fn is_limited(&self) -> bool {
        self.elastic.is_limited()
    }

    /// Reserves addresses for a tensor whose memory comes and goes. It costs no memory of the GPU.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     How people and the pond call it.
    /// shape : sequence of int
    ///     The most that there can ever be.
    /// dtype
    ///     Any spelling that ``millpond.create`` takes, but no packed one.
    /// grow_along : int
    ///     The dimension of the blocks. The dimensions before it are segments, each of which begins
    ///     on a granule; those after it are one block.
    /// granule : int or str
    ///     The size of a page. A commit grows by a page of every segment.
    /// min : int or str
    ///     What other caches of the group leave this one.
    /// weight : int
    ///     Its part of the rest, when caches compete.
    /// wait : float
    ///     How many seconds a commit waits for others to give way, at most 60; 0 asks nobody.
    /// ahead : pair of int or str, optional
    ///     Pages are made ahead: with fewer idle bytes than the first, until there are as many as the
    ///     second.
    /// largest_handle : int or str, optional
    ///     Growth uses handles of up to this size, 64 MiB unless said. A handle is given back whole.
    /// null_page : bool
    ///     One page, which costs a granule of the budget, is under everything that is not committed: it may
    ///     be read and written, and what is read there is undefined.
    /// device : optional
    ///     The GPU; the pond's first unless said.
    ///
    /// Returns
    /// -------
    /// ElasticCache
    ///
    /// Raises
    /// ------
    /// Invalid
    ///     A shape or a size that cannot be.
    /// DriverError
    ///     The GPU driver refused.
    #[pyo3(signature = (
        name, shape, dtype, grow_along=0, *, granule=None, min=None, weight=1, wait=1.0, ahead=None,
        largest_handle=None, null_page=false, device=None
    ), text_signature = "(self, name, shape, dtype, grow_along=0, *, granule='2MiB', min=0, weight=1, \
wait=1.0, ahead=None, largest_handle=None, null_page=False, device=None)")]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn reserve<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        shape: &Bound<'py, PyAny>,
        dtype: &Bound<'py, PyAny>,
        grow_along: i64,
        granule: Option<&Bound<'py, PyAny>>,
        min: Option<&Bound<'py, PyAny>>,
        weight: u32,
        wait: f64,
        ahead: Option<&Bound<'py, PyAny>>,
        largest_handle: Option<&Bound<'py, PyAny>>,
        null_page: bool,
        device: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<ElasticCache> {
        let shape = CacheShape::new(convert::dtype(dtype)?, convert::shape(shape)?, grow_along)
            .map_err(|(message, hint)| errors::invalid(py, &message, Some(hint)))?;
        let mut spec = ReserveSpec::of_blocks(shape.blocks, shape.block_bytes)
            .segments(shape.segments)
            .weight(weight)
            .null_page(null_page)
            .wait(convert::seconds("wait", wait)?.min(LONGEST_WAIT));
        if let Some(size) = granule {
            spec = spec.granule(convert::bytes("granule", size)?);
        }
        if let Some(size) = min {
            spec = spec.min(convert::bytes("min", size)?);
        }
        if let Some(size) = largest_handle {
            spec = spec.largest_handle(convert::bytes("largest_handle", size)?);
        }
        if let Some(marks) = ahead {
            let (low, high) = pair(marks)?;
            spec = spec.ahead(low, high);
        }
        if let Some(device) = convert::device(&self.pond, device)? {
            spec = spec.device(device);
        }
        let cache = elastic_errors::ask(py, name, || self.elastic.reserve(name, spec))?;
        Ok(ElasticCache::new(cache, shape))
    }

    fn __repr__(&self) -> String {
        visible(&format!("Elastic('{}')", self.elastic.group()))
    }
}

/// The marks between which pages are made ahead.
fn pair(given: &Bound<'_, PyAny>) -> PyResult<(u64, u64)> {
    let refused = || {
        let message = format!("ahead cannot be {given}");
        errors::invalid(given.py(), &message, Some("it is a pair: ahead=(\"64MiB\", \"256MiB\")"))
    };
    if given.is_instance_of::<PyString>() {
        return Err(refused());
    }
    let [low, high] = given.extract::<[Bound<'_, PyAny>; 2]>().map_err(|_| refused())?;
    Ok((convert::bytes("ahead", &low)?, convert::bytes("ahead", &high)?))
}
