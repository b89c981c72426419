//! What an elastic cache refuses, in Python's words: which cache, how much is missing, who has it.

use millpond::engine::User;
use millpond::{ElasticError, Error};
use millpond_view as view;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::{self, Special};
use crate::info::Holder;
use crate::interrupt::Interrupt;

/// Calls the pond and the driver without the interpreter. What is refused names the cache.
pub(crate) fn ask<T: Send>(
    py: Python<'_>,
    cache: &str,
    work: impl FnOnce() -> millpond::Result<T> + Send,
) -> PyResult<T> {
    let interrupt = Interrupt::new();
    let answer = interrupt.run(py, work);
    interrupt.end_with(answer, |error| raise(py, cache, error))
}

/// The client's error as an exception.
pub(crate) fn raise(py: Python<'_>, cache: &str, error: &Error) -> PyErr {
    let Error::Elastic(elastic) = error else {
        return errors::raise(py, error);
    };
    let special = match **elastic {
        ElasticError::OtherProcess { .. } => Some(Special::Fork),
        _ => None,
    };
    let message = format!("cache '{cache}': {}", words(elastic));
    let hint = hint(elastic).map(str::to_owned).or_else(|| error.hint());
    let raised = errors::elastic(py, error.kind(), special, &message, hint);
    match Shortage::of(elastic) {
        None => raised,
        Some(shortage) => {
            shortage.tell(py, raised.value(py)).map_or_else(|failed| failed, |()| raised)
        }
    }
}

fn words(error: &ElasticError) -> String {
    match error {
        ElasticError::OutOfRange { blocks, count } => {
            let (start, stop) = (blocks.start, blocks.end);
            format!("range({start}, {stop}) is outside of its {count} blocks")
        }
        other => other.to_string(),
    }
}

fn hint(error: &ElasticError) -> Option<&'static str> {
    Some(match error {
        ElasticError::NeverFits { .. } => {
            "ask for less, or have the limit raised: millpond.set_group(NAME, limit=SIZE)"
        }
        ElasticError::AfterFreeing { .. } => {
            "error.holders has who holds the rest; uncommit or give what is not used, or reserve \
             with a longer wait="
        }
        ElasticError::OverBudget { .. } => {
            "the limit is below what is in use: uncommit blocks and trim(), or have it raised: \
             millpond.set_group(NAME, limit=SIZE)"
        }
        ElasticError::OverCap { .. } => {
            "uncommit or give blocks of this cache, or raise its cap with set_cap()"
        }
        ElasticError::CardFull { .. } => {
            "millpond.status() and `nvidia-smi` show who holds the card's memory"
        }
        ElasticError::InUse(User::Table) => "leave the `with` of its blocks() first",
        ElasticError::InUse(User::Ranges) => "uncommit them first",
        ElasticError::InUse(User::Prepared) => "commit() or abort() them first",
        ElasticError::OtherProcess { .. } => "reserve a cache in this process",
        ElasticError::AlreadyCommitted { .. } => {
            "commit(COUNT) takes blocks that are committed already as they are"
        }
        _ => return None,
    })
}

/// The numbers of memory that was refused.
struct Shortage<'a> {
    verdict: &'static str,
    asked: u64,
    limit: Option<u64>,
    used: Option<u64>,
    holders: &'a [millpond::engine::Holder],
}

impl<'a> Shortage<'a> {
    fn of(error: &'a ElasticError) -> Option<Self> {
        Some(match error {
            ElasticError::NeverFits { asked, limit } => {
                let (asked, limit) = (*asked, Some(*limit));
                Self { verdict: "never", asked, limit, used: None, holders: &[] }
            }
            ElasticError::AfterFreeing { asked, limit, used, holders } => {
                let (asked, limit, used) = (*asked, Some(*limit), Some(*used));
                Self { verdict: "after_freeing", asked, limit, used, holders }
            }
            ElasticError::OverBudget { asked, limit, used, holders } => {
                let (asked, limit, used) = (*asked, Some(*limit), Some(*used));
                Self { verdict: "over_budget", asked, limit, used, holders }
            }
            ElasticError::OverCap { asked, cap, held } => {
                let (asked, limit, used) = (*asked, Some(*cap), Some(*held));
                Self { verdict: "over_cap", asked, limit, used, holders: &[] }
            }
            ElasticError::CardFull { asked, held, .. } => {
                let (asked, used) = (*asked, Some(*held));
                Self { verdict: "card_full", asked, limit: None, used, holders: &[] }
            }
            _ => return None,
        })
    }

    /// Has the exception carry them, also under the names that other full GPUs have.
    fn tell(&self, py: Python<'_>, raised: &Bound<'_, PyAny>) -> PyResult<()> {
        let Self { verdict, asked, limit, used, holders } = *self;
        // No limit is the largest number, and means nothing to a reader.
        let limit = limit.filter(|limit| *limit < u64::MAX);
        raised.setattr("verdict", verdict)?;
        raised.setattr("asked_bytes", asked)?;
        raised.setattr("limit_bytes", limit)?;
        raised.setattr("used_bytes", used)?;
        raised.setattr("requested", asked)?;
        raised.setattr("capacity", limit)?;
        let free = limit.zip(used).map(|(limit, used)| limit.saturating_sub(used));
        raised.setattr("free", free)?;
        let holders = holders.iter().map(|one| holder(py, one)).collect::<PyResult<Vec<_>>>()?;
        raised.setattr("holders", PyTuple::new(py, holders)?)
    }
}

/// Somebody in the way. What has no user is this process's own.
fn holder(py: Python<'_>, one: &millpond::engine::Holder) -> PyResult<Holder> {
    let user = match one.user {
        Some(user) => user,
        None => py.import("os")?.call_method0("geteuid")?.extract()?,
    };
    let is_user = one.name == format!("user {user}");
    let cache = (!is_user).then(|| one.name.clone());
    Ok(Holder(view::Holder { user, bytes: one.bytes, tensors: 0, cache, pid: None }))
}
