//! Groups: whoever shares a limit.

use millpond::{GpuUuid, GroupLimit, GroupName, GroupSet};
use millpond_view::size::{Size, SizeError};
use millpond_view::{self as view, units};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors;
use crate::hints::Call;
use crate::interrupt::{ask, ask_in};
use crate::shown::{info_class, visible};

view::group_device_fields!(
    info_class,
    /// What a group holds on one GPU.
    GroupDevice(view::GroupDevice) {
        fn __repr__(&self) -> String {
            let view::GroupDevice { device, used_bytes, limit_bytes, .. } = &self.0;
            let limit = limit_bytes.map_or("no limit".to_owned(), units::bytes);
            visible(&format!("GroupDevice({device}, {} of {limit})", units::bytes(*used_bytes)))
        }
    }
);

view::group_fields!(
    info_class,
    /// A group.
    GroupInfo(view::Group) {
        fn __repr__(&self) -> String {
            visible(&format!("GroupInfo('{}', {} processes)", self.0.name, self.0.process_count))
        }
    }
);

view::member_device_fields!(
    info_class,
    /// A process of a group on one GPU.
    MemberDevice(view::MemberDevice) {
        fn __repr__(&self) -> String {
            let view::MemberDevice { device, charged_bytes, .. } = &self.0;
            visible(&format!("MemberDevice({device}, {} charged)", units::bytes(*charged_bytes)))
        }
    }
);

view::member_fields!(
    info_class,
    /// A process of a group.
    MemberInfo(view::Member) {
        fn __repr__(&self) -> String {
            let view::Member { program, pid, own_pid, .. } = &self.0;
            visible(&format!("MemberInfo({program}, pid {})", pid.unwrap_or(*own_pid)))
        }
    }
);

view::group_details_fields!(
    info_class,
    /// Everything about one group.
    GroupDetails(view::GroupDetails) {
        fn __repr__(&self) -> String {
            let view::GroupDetails { group, processes } = &self.0;
            visible(&format!("GroupDetails('{}', {} processes)", group.name, processes.len()))
        }
    }
);

fn named(py: Python<'_>, name: &str) -> PyResult<GroupName> {
    GroupName::new(name).map_err(|error| errors::invalid(py, &error.to_string(), None))
}

pub(crate) fn list(py: Python<'_>, pond: &millpond::Pond) -> PyResult<Vec<GroupInfo>> {
    Ok(ask(py, || pond.groups())?.iter().map(GroupInfo::of).collect())
}

pub(crate) fn inspect(py: Python<'_>, pond: &millpond::Pond, name: &str) -> PyResult<GroupDetails> {
    let name = named(py, name)?;
    let details = ask(py, || {
        let mut details = pond.group(name)?;
        view::call_as_clients(&mut details.members, &pond.clients()?);
        Ok(details)
    })?;
    Ok(GroupDetails::of(&details))
}

pub(crate) fn remove(py: Python<'_>, pond: &millpond::Pond, name: &str) -> PyResult<()> {
    let name = named(py, name)?;
    ask(py, || pond.remove_group(name))
}

/// What a group is to be; what is `None` stays as it is.
pub(crate) struct Change<'a, 'py> {
    pub(crate) name: &'a str,
    pub(crate) limit: Option<&'a Bound<'py, PyAny>>,
    pub(crate) min_bytes: Option<u64>,
    pub(crate) weight: Option<u32>,
    pub(crate) users: Option<Vec<u32>>,
    pub(crate) device: Option<GpuUuid>,
    pub(crate) create: bool,
    pub(crate) ends_silent: Option<bool>,
}

pub(crate) fn set(
    py: Python<'_>,
    pond: &millpond::Pond,
    change: Change<'_, '_>,
) -> PyResult<GroupDetails> {
    let Change { name, limit, min_bytes, weight, users, device, create, ends_silent } = change;
    let set = GroupSet {
        device,
        limit: limit.map(self::limit).transpose()?,
        min_bytes,
        weight,
        users,
        create,
        ends_silent,
        ..GroupSet::of(named(py, name)?)
    };
    Ok(GroupDetails::of(&ask_in(py, Call::Group, || pond.set_group(set))?))
}

/// Bytes, a size as in `"10G"`, a part of the card as in `"25%"`, or infinity.
fn limit(given: &Bound<'_, PyAny>) -> PyResult<GroupLimit> {
    if let Ok(bytes) = given.extract::<u64>() {
        return Ok(GroupLimit::Bytes(bytes));
    }
    if given.extract::<f64>().is_ok_and(|number| number == f64::INFINITY) {
        return Ok(GroupLimit::Unlimited);
    }
    let refused = |message: &str| {
        let hint = "a limit is a number of bytes, a size as in \"10G\", a part of the card as in \
                    \"25%\", or math.inf";
        errors::invalid(given.py(), message, Some(hint))
    };
    let Ok(text) = given.cast::<PyString>() else {
        return Err(refused(&format!("{given} is no limit")));
    };
    let text = text.to_string();
    let size = text
        .parse()
        .map_err(|SizeError { text, why }| refused(&format!("'{text}' is no limit: {why}")));
    size.map(Size::limit)
}
