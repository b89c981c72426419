//! Readings: what there is and who holds it.

use millpond_wire::message::{
    ClientInfo, DeviceInfo, LeaseInfo, ReplyBody, Status, Target, TensorInfo, TensorState,
};
use millpond_wire::{ClientId, ErrorKind, Failure, LeaseId, LeaseTarget, TensorId, VersionTarget};

use super::accounts::Device;
use super::catalog::Tensor;
use super::clients::{Client, Lease};
use super::owner::Caller;
use super::pond::{Answer, DriverState, Pond, StatusWaiter, now};
use super::ports::{ConnId, Ports};
use super::slabs::Slab;

/// How long a status waits for the card's own readings.
const READING_MS: u64 = 1000;

impl<P: Ports> Pond<P> {
    pub(super) fn info(&self, id: TensorId, now_ms: u64) -> Result<TensorInfo, Failure> {
        let tensor = self.catalog.get(id);
        let found = tensor.and_then(|tensor| Some((tensor, self.slabs.get(tensor.slab)?)));
        match found {
            Some((tensor, slab)) => Ok(info(id, tensor, slab, now_ms)),
            None => Err(Failure::new(ErrorKind::NotFound, format!("tensor {id} not found"))),
        }
    }

    pub(super) fn inspect(&self, ports: &P, caller: &Caller, target: &Target) -> Answer<P::Fd> {
        let id = self.find(caller, target)?;
        let info = self.info(id, ports.monotonic_ms())?;
        let held = self.catalog.get(id).into_iter().flat_map(|tensor| &tensor.leases);
        let leases = held.filter_map(|(client, lease)| self.held(*client, *lease)).collect();
        now(ReplyBody::Details { info, leases })
    }

    pub(super) fn held(&self, id: ClientId, lease: LeaseId) -> Option<LeaseInfo> {
        let client = self.clients.clients.get(&id)?;
        Some(self.lease_info(id, client, client.leases.get(&lease)?))
    }

    fn lease_info(&self, id: ClientId, client: &Client<P::Fd>, lease: &Lease) -> LeaseInfo {
        let found = match lease.target {
            LeaseTarget::Version(id) => {
                let version = self.models.versions.get(&id);
                version.map(|it| (Some(it.model.2.clone()), self.slab_bytes_of(it)))
            }
            LeaseTarget::Tensor(id) => self.catalog.get(id).map(|it| (it.name.clone(), it.bytes)),
        };
        let (name, bytes) = found.unwrap_or_default();
        LeaseInfo {
            target: lease.target,
            name,
            mode: lease.mode,
            bytes,
            since_unix_ms: lease.since_ms,
            client: id,
            pid: client.pid,
            program: client.program.clone(),
        }
    }

    pub(super) fn tensor_list(&self, ports: &P, caller: &Caller, prefix: &str) -> Vec<TensorInfo> {
        let now_ms = ports.monotonic_ms();
        let listed = |one| self.listed(caller, prefix, one, now_ms);
        let mut found: Vec<TensorInfo> = self.catalog.iter().filter_map(listed).collect();
        in_order(&mut found);
        found
    }

    /// What a listing for this caller says of a tensor, if anything.
    pub(super) fn listed(
        &self,
        caller: &Caller,
        prefix: &str,
        (id, tensor): (TensorId, &Tensor),
        now_ms: u64,
    ) -> Option<TensorInfo> {
        let named = match &tensor.name {
            Some(name) => name.as_str().starts_with(prefix),
            None => prefix.is_empty(),
        };
        let slab = self.slabs.get(tensor.slab).filter(|_| named && !tensor.part)?;
        let shared = caller.may_use(&slab.pool.owner, slab.pool.audience);
        shared.then(|| info(id, tensor, slab, now_ms))
    }

    /// Every client of the tenant is shown; what it holds only where it is shared with the caller.
    pub(super) fn client_list(&self, caller: &Caller) -> Vec<ClientInfo> {
        let mut clients: Vec<ClientInfo> = self
            .clients
            .clients
            .iter()
            .filter(|(_, client)| caller.admin || client.owner().tenant == caller.owner.tenant)
            .map(|(id, client)| ClientInfo {
                client: *id,
                pid: client.pid,
                user: client.owner().user,
                program: client.program.clone(),
                since_unix_ms: client.since_ms,
                silent: client.is_silent(),
                leases: client
                    .leases
                    .values()
                    .filter(|lease| self.may_see(caller, lease.target))
                    .map(|lease| self.lease_info(*id, client, lease))
                    .collect(),
                mover: client.mover,
            })
            .collect();
        clients.sort_by_key(|client| (client.since_unix_ms, client.pid));
        clients
    }

    fn may_see(&self, caller: &Caller, target: LeaseTarget) -> bool {
        match target {
            LeaseTarget::Tensor(id) => self.lookup(caller, &Target::Id(id)).is_some(),
            LeaseTarget::Version(id) => {
                self.lookup_version(caller, &VersionTarget::Id(id)).is_some()
            }
        }
    }

    /// With fresh readings of the card where the driver can give them.
    pub(super) fn status_or_wait(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        number: u64,
    ) -> Answer<P::Fd> {
        if !matches!(self.driver, DriverState::Ready(_)) {
            return now(ReplyBody::Status(Box::new(self.status())));
        }
        let until_ms = ports.monotonic_ms().saturating_add(READING_MS);
        self.status_waiters.push(StatusWaiter { conn, number, until_ms });
        if self.status_waiters.len() == 1 {
            ports.read_physical();
        }
        Ok(None)
    }

    pub(super) fn status(&self) -> Status {
        Status {
            pond: self.id,
            epoch: self.epoch,
            daemon_version: env!("CARGO_PKG_VERSION").to_owned(),
            daemon_pid: self.about.daemon_pid,
            keeper_pid: self.about.keeper_pid,
            driver: match &self.driver {
                DriverState::Starting => "starting".to_owned(),
                DriverState::Ready(name) => name.clone(),
                DriverState::Failed(text) => format!("failed: {text}"),
            },
            driver_ready: matches!(self.driver, DriverState::Ready(_)),
            started_unix_ms: self.started_ms,
            devices: self.known_devices().iter().map(|device| self.device_info(device)).collect(),
            clients: count(self.clients.clients.len()),
            silent_clients: count(self.clients.silent()),
            leases: count(self.clients.leases()),
            journal_bytes: self.about.journal_bytes,
            preload_library: self.about.preload_library.clone(),
            runtime_dir: self.about.runtime_dir.clone(),
            lost_tensors: self.lost_tensors,
            movers: self.mover_list(),
            program: self.about.program.clone(),
            service: self.about.service.clone(),
            log_file: self.about.log_file.clone(),
            loading: self.loading.clone(),
        }
    }

    /// The driver's GPUs, and those of slabs that the driver does not show, or has not yet: what is
    /// held is in the accounts in any case.
    fn known_devices(&self) -> Vec<Device> {
        let mut devices = self.devices.clone();
        for (_, slab) in self.slabs.iter() {
            if !devices.iter().any(|device| device.uuid == slab.pool.device) {
                let index = count(devices.len());
                devices.push(Device::unseen(slab.pool.device, index));
            }
        }
        devices
    }

    fn device_info(&self, device: &Device) -> DeviceInfo {
        let slabs = || self.slabs.on(device.uuid);
        let groups = self.group_readings.iter().find(|reading| reading.device == device.uuid);
        let slab_bytes = self.slabs.bytes_on(device.uuid);
        DeviceInfo {
            device: device.uuid,
            index: device.index,
            name: device.name.clone(),
            total_bytes: device.total_bytes,
            capacity_bytes: device.capacity_bytes,
            slab_bytes,
            tensor_bytes: slabs().map(|(_, slab)| slab.tensor_bytes).sum(),
            recycled_bytes: self.slabs.recycled_on(device.uuid).map(|(_, slab)| slab.bytes).sum(),
            physical_used_bytes: device.physical_used_bytes,
            slabs: count(slabs().count()),
            tensors: slabs().map(|(_, slab)| slab.tensors).sum(),
            charged_bytes: groups.map(|reading| reading.charged_bytes),
            drift_bytes: groups.map(|reading| reading.drift_bytes),
            other_bytes: groups.map(|reading| reading.outside_bytes.saturating_sub(slab_bytes)),
        }
    }
}

/// Puts a listing in the order in which it is sent. Long ones come out of the policy without it:
/// sorting them takes its time.
pub fn in_order(tensors: &mut [TensorInfo]) {
    tensors.sort_unstable_by(|a, b| (&a.name, a.user, a.tensor).cmp(&(&b.name, b.user, b.tensor)));
}

fn info<F>(id: TensorId, tensor: &Tensor, slab: &Slab<F>, now_ms: u64) -> TensorInfo {
    let state = match (tensor.deleted, tensor.ready) {
        (true, _) => TensorState::Deleted,
        (false, true) => TensorState::Ready,
        (false, false) => TensorState::Writing,
    };
    TensorInfo {
        tensor: id,
        name: tensor.name.clone(),
        dtype: tensor.dtype,
        shape: tensor.shape.clone(),
        device: slab.pool.device,
        bytes: tensor.bytes,
        state,
        generation: tensor.generation,
        user: slab.pool.owner.user,
        audience: slab.pool.audience,
        ephemeral: tensor.ephemeral,
        created_unix_ms: tensor.created_ms,
        slab: tensor.slab,
        slab_bytes: slab.bytes,
        offset: tensor.offset,
        leases: count(tensor.leases.len()),
        life: super::life::left(tensor, now_ms),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
