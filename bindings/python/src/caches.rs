//! Elastic caches, as the pond lists them.

use millpond::GroupName;
use millpond_view::{self as view, units};
use pyo3::prelude::*;

use crate::errors;
use crate::interrupt::ask;
use crate::shown::{info_class, visible};

view::cache_fields!(
    info_class,
    /// An elastic cache of a process.
    CacheInfo(view::Cache) {
        fn __repr__(&self) -> String {
            let view::Cache { name, group, pid, held_bytes, reserved_bytes, .. } = &self.0;
            let (held, reserved) = (units::bytes(*held_bytes), units::bytes(*reserved_bytes));
            let pid = view::pid_text(*pid);
            visible(&format!("CacheInfo('{name}', '{group}', pid {pid}, {held} of {reserved})"))
        }
    }
);

/// Every cache of groups that the caller may use, or those of one group.
pub(crate) fn list(
    py: Python<'_>,
    pond: &millpond::Pond,
    group: Option<&str>,
) -> PyResult<Vec<CacheInfo>> {
    let group = group.map(GroupName::new).transpose();
    let group = group.map_err(|error| errors::invalid(py, &error.to_string(), None))?;
    Ok(ask(py, || pond.caches(group))?.iter().map(CacheInfo::of).collect())
}
