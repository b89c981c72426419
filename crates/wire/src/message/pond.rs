//! The pond as a whole: its GPUs, its clients, and what an operator asks of it.

use millpond_schema::message as fb;

use super::counters::{read_counters, write_counters};
use super::list::{Entries, list};
use super::read::{self, Read, id_to_uuid, text, uuid_to_id};
use super::session::{read_lease_info, write_lease_info};
use super::tensor::{read_info, write_info};
use super::{Counters, LeaseInfo, ReplyBody, RequestBody, TensorInfo};
use crate::{Audience, ClientId, Epoch, ErrorKind, Failure, GpuUuid, HostId, PondId, caps};

pub(super) fn write_collect(unleased_for_ms: Option<u64>, dry_run: bool) -> fb::Collect {
    fb::Collect { unleased_for_ms, dry_run }
}

pub(super) fn read_collect(collect: fb::CollectRef<'_>) -> Read<RequestBody> {
    let (unleased_for_ms, dry_run) = (collect.unleased_for_ms()?, collect.dry_run()?);
    Ok(RequestBody::Collect { unleased_for_ms, dry_run })
}

pub(super) fn write_collected(
    tensors: &[TensorInfo],
    slabs: u32,
    slab_bytes: u64,
) -> fb::Collected {
    fb::Collected { tensors: Some(tensors.iter().map(write_info).collect()), slabs, slab_bytes }
}

pub(super) fn read_collected(
    collected: fb::CollectedRef<'_>,
    entries: &Entries,
) -> Read<ReplyBody> {
    Ok(ReplyBody::Collected {
        tensors: list("tensors", collected.tensors()?, entries, read_info)?,
        slabs: collected.slabs()?,
        slab_bytes: collected.slab_bytes()?,
    })
}

pub(super) fn write_upgrade(program: &str) -> fb::Upgrade {
    fb::Upgrade { program: Some(program.to_owned()) }
}

pub(super) fn read_upgrade(upgrade: fb::UpgradeRef<'_>) -> Read<RequestBody> {
    let program = read::text_up_to("program", upgrade.program()?, caps::PATH_BYTES)?;
    Ok(RequestBody::Upgrade { program })
}

pub(super) fn write_upgrading(from_version: &str, from_epoch: Epoch) -> fb::Upgrading {
    fb::Upgrading { from_version: Some(from_version.to_owned()), from_epoch: from_epoch.0 }
}

pub(super) fn read_upgrading(upgrading: fb::UpgradingRef<'_>) -> Read<ReplyBody> {
    let from_version = text("from_version", upgrading.from_version()?)?;
    Ok(ReplyBody::Upgrading { from_version, from_epoch: Epoch(upgrading.from_epoch()?) })
}

pub(super) fn write_start_report(loading: &str, failed: &str) -> fb::StartReport {
    fb::StartReport { loading: Some(loading.to_owned()), failed: Some(failed.to_owned()) }
}

pub(super) fn read_start_report(report: fb::StartReportRef<'_>) -> Read<RequestBody> {
    let loading = read::text_up_to("loading", report.loading()?, caps::NAME_BYTES)?;
    Ok(RequestBody::StartReport { loading, failed: text("failed", report.failed()?)? })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientInfo {
    /// Nobody is told the identities of other users' clients.
    pub client: Option<ClientId>,
    /// Process, as the daemon sees it.
    pub pid: u32,
    pub user: u32,
    /// What it calls itself.
    pub program: String,
    pub since_unix_ms: u64,
    /// Lives, but has no connection: it keeps what it holds.
    pub silent: bool,
    pub leases: Vec<LeaseInfo>,
    /// The pond's own mover, not somebody's program.
    pub mover: bool,
}

pub(super) fn write_client(client: &ClientInfo) -> fb::ClientInfo {
    fb::ClientInfo {
        client: client.client.map(|client| uuid_to_id(client.0)),
        pid: client.pid,
        user: client.user,
        program: Some(client.program.clone()),
        since_unix_ms: client.since_unix_ms,
        silent: client.silent,
        leases: Some(client.leases.iter().map(write_lease_info).collect()),
        mover: client.mover,
    }
}

pub(super) fn read_client(client: fb::ClientInfoRef<'_>, entries: &Entries) -> Read<ClientInfo> {
    Ok(ClientInfo {
        client: client.client()?.map(|id| ClientId(id_to_uuid(id))),
        pid: client.pid()?,
        user: client.user()?,
        program: read::text_up_to("program", client.program()?, caps::PROGRAM_BYTES)?,
        since_unix_ms: client.since_unix_ms()?,
        silent: client.silent()?,
        leases: list("leases", client.leases()?, entries, read_lease_info)?,
        mover: client.mover()?,
    })
}

/// One GPU and its accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    pub device: GpuUuid,
    /// Place in the pond's list; for people only.
    pub index: u32,
    /// What the driver calls it.
    pub name: String,
    pub total_bytes: u64,
    /// Bytes that the pond may take.
    pub capacity_bytes: u64,
    pub slab_bytes: u64,
    pub tensor_bytes: u64,
    /// Bytes of slabs without a tensor, kept for their owner.
    pub recycled_bytes: u64,
    /// The driver's own reading for the whole card.
    pub physical_used_bytes: Option<u64>,
    pub slabs: u32,
    pub tensors: u32,
    /// What the processes of groups are charged with.
    pub charged_bytes: Option<u64>,
    /// What the card says that those processes have more than that; less, if it is negative.
    pub drift_bytes: Option<i64>,
    /// What belongs to nobody whom the pond knows.
    pub other_bytes: Option<u64>,
}

fn write_device(device: &DeviceInfo) -> fb::DeviceInfo {
    fb::DeviceInfo {
        device: Some(device.device.0.to_vec()),
        name: Some(device.name.clone()),
        total_bytes: device.total_bytes,
        capacity_bytes: device.capacity_bytes,
        slab_bytes: device.slab_bytes,
        tensor_bytes: device.tensor_bytes,
        recycled_bytes: device.recycled_bytes,
        physical_used_bytes: device.physical_used_bytes,
        slabs: device.slabs,
        tensors: device.tensors,
        index: device.index,
        charged_bytes: device.charged_bytes,
        drift_bytes: device.drift_bytes,
        other_bytes: device.other_bytes,
    }
}

fn read_device(device: fb::DeviceInfoRef<'_>) -> Read<DeviceInfo> {
    Ok(DeviceInfo {
        device: read::gpu("device", device.device()?)?,
        index: device.index()?,
        name: read::text_up_to("name", device.name()?, caps::NAME_BYTES)?,
        total_bytes: device.total_bytes()?,
        capacity_bytes: device.capacity_bytes()?,
        slab_bytes: device.slab_bytes()?,
        tensor_bytes: device.tensor_bytes()?,
        recycled_bytes: device.recycled_bytes()?,
        physical_used_bytes: device.physical_used_bytes()?,
        slabs: device.slabs()?,
        tensors: device.tensors()?,
        charged_bytes: device.charged_bytes()?,
        drift_bytes: device.drift_bytes()?,
        other_bytes: device.other_bytes()?,
    })
}

/// A mover at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoverInfo {
    pub device: GpuUuid,
    pub pid: u32,
    /// Moves that wait or run.
    pub moves: u32,
    pub moved_bytes: u64,
    /// What its context takes, whatever it has mapped; 0 while that is not known.
    pub context_bytes: u64,
}

fn write_mover(mover: &MoverInfo) -> fb::MoverInfo {
    fb::MoverInfo {
        device: Some(mover.device.0.to_vec()),
        pid: mover.pid,
        moves: mover.moves,
        moved_bytes: mover.moved_bytes,
        context_bytes: mover.context_bytes,
    }
}

fn read_mover(mover: fb::MoverInfoRef<'_>) -> Read<MoverInfo> {
    Ok(MoverInfo {
        device: read::gpu("device", mover.device()?)?,
        pid: mover.pid()?,
        moves: mover.moves()?,
        moved_bytes: mover.moved_bytes()?,
        context_bytes: mover.context_bytes()?,
    })
}

/// A process that owns memory with legacy handles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInfo {
    pub host: HostId,
    pub device: GpuUuid,
    pub user: u32,
    pub audience: Audience,
    pub pid: u32,
    pub tensors: u32,
    /// Of its tensors.
    pub bytes: u64,
    /// What its context takes beside them.
    pub context_bytes: u64,
    /// It has freed memory, and makes no more.
    pub sealed: bool,
}

fn write_host(host: &HostInfo) -> fb::HostInfo {
    fb::HostInfo {
        host: Some(uuid_to_id(host.host.0)),
        device: Some(host.device.0.to_vec()),
        user: host.user,
        audience: host.audience.code(),
        pid: host.pid,
        tensors: host.tensors,
        bytes: host.bytes,
        context_bytes: host.context_bytes,
        sealed: host.sealed,
    }
}

fn read_host(host: fb::HostInfoRef<'_>) -> Read<HostInfo> {
    Ok(HostInfo {
        host: HostId(read::uuid("host", host.host()?)?),
        device: read::gpu("device", host.device()?)?,
        user: host.user()?,
        audience: read::code("audience", host.audience()?, Audience::from_code)?,
        pid: host.pid()?,
        tensors: host.tensors()?,
        bytes: host.bytes()?,
        context_bytes: host.context_bytes()?,
        sealed: host.sealed()?,
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub pond: PondId,
    /// Which daemon of it.
    pub epoch: Epoch,
    pub daemon_version: String,
    pub daemon_pid: u32,
    pub keeper_pid: u32,
    /// Name and version of the driver.
    pub driver: String,
    /// Whether the driver has answered yet.
    pub driver_ready: bool,
    pub started_unix_ms: u64,
    pub devices: Vec<DeviceInfo>,
    pub clients: u32,
    /// Those of them without a connection.
    pub silent_clients: u32,
    pub leases: u32,
    pub journal_bytes: u64,
    /// The library that `millpond run` is to preload, where the daemon has found one.
    pub preload_library: Option<String>,
    pub runtime_dir: String,
    /// Records whose memory was gone at the last recovery.
    pub lost_tensors: u32,
    pub movers: Vec<MoverInfo>,
    pub hosts: Vec<HostInfo>,
    /// The file that the daemon runs from.
    pub program: String,
    /// The unit of the service manager that runs the pond.
    pub service: Option<Service>,
    /// The file that the log goes to; empty means standard error.
    pub log_file: String,
    /// The model of the configuration that is being loaded; empty means none.
    pub loading: String,
    /// What has happened since the daemon's start.
    pub counters: Counters,
    /// Memory that the daemon itself takes of the machine.
    pub daemon_resident_bytes: u64,
}

impl Status {
    /// The pond's GPUs.
    ///
    /// # Errors
    /// Why they are not known: the driver is still starting, or has failed.
    pub fn gpus(&self) -> Result<&[DeviceInfo], Failure> {
        match (self.devices.is_empty() && !self.driver_ready, self.driver.as_str()) {
            (false, _) => Ok(&self.devices),
            (true, Self::STARTING) => Err(Failure::driver_starting()),
            (true, failed) => {
                let message = format!("the pond has no driver: {failed}");
                Err(Failure::new(ErrorKind::Driver, message).hint("run `millpond doctor`"))
            }
        }
    }

    /// The driver's name until it has answered.
    pub const STARTING: &str = "starting";
}

pub(super) fn write_status(status: &Status) -> fb::Status {
    fb::Status {
        pond: Some(uuid_to_id(status.pond.0)),
        epoch: status.epoch.0,
        daemon_version: Some(status.daemon_version.clone()),
        daemon_pid: status.daemon_pid,
        keeper_pid: status.keeper_pid,
        driver: Some(status.driver.clone()),
        driver_ready: status.driver_ready,
        started_unix_ms: status.started_unix_ms,
        devices: Some(status.devices.iter().map(write_device).collect()),
        clients: status.clients,
        silent_clients: status.silent_clients,
        leases: status.leases,
        journal_bytes: status.journal_bytes,
        preload_library: status.preload_library.clone(),
        runtime_dir: Some(status.runtime_dir.clone()),
        lost_tensors: status.lost_tensors,
        movers: Some(status.movers.iter().map(write_mover).collect()),
        hosts: Some(status.hosts.iter().map(write_host).collect()),
        program: Some(status.program.clone()),
        service: status.service.as_ref().map(|service| service.unit.clone()),
        user_service: status.service.as_ref().is_some_and(|service| service.user),
        log_file: Some(status.log_file.clone()),
        loading: Some(status.loading.clone()),
        counters: Some(Box::new(write_counters(&status.counters))),
        daemon_resident_bytes: status.daemon_resident_bytes,
    }
}

pub(super) fn read_status(status: fb::StatusRef<'_>, entries: &Entries) -> Read<Status> {
    Ok(Status {
        pond: PondId(read::uuid("pond", status.pond()?)?),
        epoch: Epoch(status.epoch()?),
        daemon_version: text("daemon_version", status.daemon_version()?)?,
        daemon_pid: status.daemon_pid()?,
        keeper_pid: status.keeper_pid()?,
        driver: text("driver", status.driver()?)?,
        driver_ready: status.driver_ready()?,
        started_unix_ms: status.started_unix_ms()?,
        devices: list("devices", status.devices()?, entries, read_device)?,
        clients: status.clients()?,
        silent_clients: status.silent_clients()?,
        leases: status.leases()?,
        journal_bytes: status.journal_bytes()?,
        preload_library: status
            .preload_library()?
            .map(|path| text("preload_library", Some(path)))
            .transpose()?,
        runtime_dir: text("runtime_dir", status.runtime_dir()?)?,
        lost_tensors: status.lost_tensors()?,
        movers: list("movers", status.movers()?, entries, read_mover)?,
        hosts: list("hosts", status.hosts()?, entries, read_host)?,
        program: text("program", status.program()?)?,
        service: read_service(&status)?,
        log_file: text("log_file", status.log_file()?)?,
        loading: text("loading", status.loading()?)?,
        counters: read_counters(status.counters()?, entries)?,
        daemon_resident_bytes: status.daemon_resident_bytes()?,
    })
}

/// A unit of the service manager.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Service {
    /// Its name, such as `millpond.service`.
    pub unit: String,
    /// Whether it is one of a user, not of the machine.
    pub user: bool,
}

fn read_service(status: &fb::StatusRef<'_>) -> Read<Option<Service>> {
    let unit = text("service", status.service()?)?;
    let user = status.user_service()?;
    Ok((!unit.is_empty()).then_some(Service { unit, user }))
}
