//! Groups: whoever shares a limit.

use millpond::{GpuUuid, GroupLimit, GroupName, GroupSet};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors;
use crate::hints::Call;
use crate::interrupt::{ask, ask_in};

/// What a group holds on one GPU.
#[pyclass(frozen, get_all, from_py_object, module = "millpond")]
#[derive(Clone)]
pub(crate) struct GroupDevice {
    device: String,
    limit_bytes: Option<u64>,
    effective_bytes: Option<u64>,
    min_bytes: u64,
    weight: u32,
    used_bytes: u64,
    process_bytes: u64,
    pond_bytes: u64,
    context_bytes: u64,
    folded_bytes: u64,
    shared_bytes: u64,
    process_count: u32,
}

impl From<millpond::GroupDevice> for GroupDevice {
    fn from(device: millpond::GroupDevice) -> Self {
        Self {
            device: device.device.to_string(),
            limit_bytes: device.limit_bytes,
            effective_bytes: device.effective_bytes,
            min_bytes: device.min_bytes,
            weight: device.weight,
            used_bytes: device.process_bytes.saturating_add(device.pond_bytes),
            process_bytes: device.process_bytes,
            pond_bytes: device.pond_bytes,
            context_bytes: device.context_bytes,
            folded_bytes: device.folded_bytes,
            shared_bytes: device.shared_bytes,
            process_count: device.processes,
        }
    }
}

/// A group.
#[pyclass(frozen, get_all, from_py_object, module = "millpond")]
#[derive(Clone)]
pub(crate) struct GroupInfo {
    name: String,
    folder: String,
    anonymous: bool,
    owner: Option<u32>,
    users: Vec<u32>,
    process_count: u32,
    lying: bool,
    stuck: bool,
    broken: bool,
    devices: Vec<GroupDevice>,
}

impl From<millpond::GroupInfo> for GroupInfo {
    fn from(group: millpond::GroupInfo) -> Self {
        Self {
            name: group.name.to_string(),
            folder: group.folder,
            anonymous: group.anonymous,
            owner: group.owner,
            users: group.users,
            process_count: group.processes,
            lying: group.lying,
            stuck: group.stuck,
            broken: group.broken,
            devices: group.devices.into_iter().map(GroupDevice::from).collect(),
        }
    }
}

#[pymethods]
impl GroupInfo {
    fn __repr__(&self) -> String {
        format!("GroupInfo('{}', {} processes)", self.name, self.process_count)
    }
}

/// A process of a group on one GPU.
#[pyclass(frozen, get_all, from_py_object, module = "millpond")]
#[derive(Clone)]
pub(crate) struct MemberDevice {
    device: String,
    charged_bytes: u64,
    credit_bytes: u64,
    context_bytes: u64,
    shared_bytes: u64,
    folded_bytes: u64,
    physical_bytes: Option<u64>,
    drift_bytes: Option<i64>,
}

impl From<&millpond::MemberDevice> for MemberDevice {
    fn from(device: &millpond::MemberDevice) -> Self {
        Self {
            device: device.device.to_string(),
            charged_bytes: device.charged_bytes,
            credit_bytes: device.credit_bytes,
            context_bytes: device.context_bytes,
            shared_bytes: device.shared_bytes,
            folded_bytes: device.folded_bytes,
            physical_bytes: device.physical_bytes,
            drift_bytes: device.drift_bytes(),
        }
    }
}

/// A process of a group.
#[pyclass(frozen, get_all, from_py_object, module = "millpond")]
#[derive(Clone)]
pub(crate) struct MemberInfo {
    pid: Option<u32>,
    own_pid: u32,
    slot: u32,
    program: String,
    started_unix_ms: Option<u64>,
    alive: bool,
    devices: Vec<MemberDevice>,
}

impl From<millpond::MemberInfo> for MemberInfo {
    fn from(member: millpond::MemberInfo) -> Self {
        Self {
            pid: member.host_pid,
            own_pid: member.pid,
            slot: member.slot,
            program: member.program,
            started_unix_ms: member.started_unix_ms,
            alive: member.alive,
            devices: member.devices.iter().map(MemberDevice::from).collect(),
        }
    }
}

#[pymethods]
impl MemberInfo {
    fn __repr__(&self) -> String {
        format!("MemberInfo({}, pid {})", self.program, self.pid.unwrap_or(self.own_pid))
    }
}

/// Everything about one group.
#[pyclass(frozen, get_all, module = "millpond")]
pub(crate) struct GroupDetails {
    group: GroupInfo,
    processes: Vec<MemberInfo>,
}

impl From<millpond::GroupDetails> for GroupDetails {
    fn from(details: millpond::GroupDetails) -> Self {
        Self {
            group: details.info.into(),
            processes: details.members.into_iter().map(MemberInfo::from).collect(),
        }
    }
}

#[pymethods]
impl GroupDetails {
    fn __repr__(&self) -> String {
        format!("GroupDetails('{}', {} processes)", self.group.name, self.processes.len())
    }
}

fn named(py: Python<'_>, name: &str) -> PyResult<GroupName> {
    GroupName::new(name).map_err(|error| errors::invalid(py, &error.to_string(), None))
}

pub(crate) fn list(py: Python<'_>, pond: &millpond::Pond) -> PyResult<Vec<GroupInfo>> {
    Ok(ask(py, || pond.groups())?.into_iter().map(GroupInfo::from).collect())
}

pub(crate) fn inspect(py: Python<'_>, pond: &millpond::Pond, name: &str) -> PyResult<GroupDetails> {
    let name = named(py, name)?;
    ask(py, || pond.group(name)).map(GroupDetails::from)
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
}

pub(crate) fn set(
    py: Python<'_>,
    pond: &millpond::Pond,
    change: Change<'_, '_>,
) -> PyResult<GroupDetails> {
    let Change { name, limit, min_bytes, weight, users, device, create } = change;
    let set = GroupSet {
        device,
        limit: limit.map(self::limit).transpose()?,
        min_bytes,
        weight,
        users,
        create,
        ..GroupSet::of(named(py, name)?)
    };
    ask_in(py, Call::Group, || pond.set_group(set)).map(GroupDetails::from)
}

/// Bytes, a part of the card as in `"25%"`, or infinity.
fn limit(given: &Bound<'_, PyAny>) -> PyResult<GroupLimit> {
    if let Ok(bytes) = given.extract::<u64>() {
        return Ok(GroupLimit::Bytes(bytes));
    }
    if given.extract::<f64>().is_ok_and(|number| number == f64::INFINITY) {
        return Ok(GroupLimit::Unlimited);
    }
    let text = given.cast::<PyString>().ok().map(|text| text.to_string());
    let part = text.as_deref().and_then(|text| text.strip_suffix('%')).and_then(thousandths);
    part.map(GroupLimit::Part).ok_or_else(|| {
        let hint = "a limit is a number of bytes, a part of the card as in \"25%\", or math.inf";
        errors::invalid(given.py(), &format!("{given} is no limit"), Some(hint))
    })
}

/// Percent with at most one digit behind the point.
fn thousandths(percent: &str) -> Option<u32> {
    let (whole, tenth) = percent.split_once('.').unwrap_or((percent, "0"));
    let tenth: u32 = if tenth.len() == 1 { tenth.parse().ok()? } else { return None };
    whole.parse::<u32>().ok()?.checked_mul(10)?.checked_add(tenth).filter(|part| *part <= 1000)
}
