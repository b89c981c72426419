//! Readings: what there is.

use millpond_wire::message::{
    Counters, DeviceInfo, ReplyBody, RequestBody, Status, TensorInfo, TensorState,
};
use millpond_wire::{ErrorKind, Failure, TensorId};

use super::accounts::Device;
use super::answer::{Answer, Answered, now};
use super::catalog::Tensor;
use super::gpus::DriverState;
use super::owner::Caller;
use super::parked::{RequestId, Until, Wish};
use super::pond::Pond;
use super::ports::Ports;
use super::slabs::Slab;

/// How long a status waits for the card's own readings.
const READING_MS: u64 = 1000;

impl<P: Ports> Pond<P> {
    pub(super) fn info(&self, id: TensorId, now_ms: u64) -> Result<TensorInfo, Failure> {
        let tensor = self.catalog.get(id);
        let found = tensor.and_then(|tensor| Some((tensor, self.slabs.get(tensor.slab)?)));
        match found {
            Some((tensor, slab)) => Ok(self.describe(id, tensor, slab, now_ms)),
            None => Err(Failure::new(ErrorKind::NotFound, format!("tensor {id} not found"))),
        }
    }

    fn describe(
        &self,
        id: TensorId,
        tensor: &Tensor,
        slab: &Slab<P::Fd>,
        now_ms: u64,
    ) -> TensorInfo {
        let leases = self.leases.count_on(id);
        TensorInfo {
            tensor: id,
            name: tensor.name.clone(),
            dtype: tensor.dtype,
            shape: tensor.shape.clone(),
            device: slab.class.device,
            bytes: tensor.bytes,
            state: if slab.orphan { TensorState::Orphan } else { tensor.state() },
            generation: tensor.publishes.generation,
            user: slab.class.owner.user,
            audience: slab.class.audience,
            ephemeral: tensor.is_ephemeral(),
            created_unix_ms: tensor.created_ms,
            slab: tensor.slab,
            slab_bytes: slab.bytes,
            offset: tensor.offset,
            leases: count(leases),
            life: super::life::left(tensor, self.is_in_use(id), now_ms),
            transport: slab.backing.transport.kind(),
            adopted: slab.backing.adopted,
            survives: slab.backing.survives(),
            home_pid: slab.home.map_or(0, |home| self.home_pid(home)),
            holds: tensor.is_held().then(|| self.holds.count_on(id)),
        }
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
        let slab = self.slabs.get(tensor.slab).filter(|_| named && !tensor.is_part())?;
        let shared = caller.may_use(&slab.class.owner, slab.class.audience);
        shared.then(|| self.describe(id, tensor, slab, now_ms))
    }

    /// With fresh readings of the card where the driver can give them, but not for ever: a driver
    /// hangs just when somebody asks.
    pub(super) fn status_or_wait(&mut self, ports: &mut P, by: RequestId) -> Answer<P::Fd> {
        if self.awaits_gpus() {
            return self.wait_for_gpus(ports, by, RequestBody::PondStatus);
        }
        if !matches!(self.gpus.driver(), DriverState::Ready(_)) {
            return now(ReplyBody::Status(Box::new(self.status(ports))));
        }
        let is_first = !self.parked.is_awaited(Until::Reading);
        let until_ms = ports.monotonic_ms().saturating_add(READING_MS);
        self.park(by, Wish::Status, Some(until_ms));
        if is_first {
            ports.read_physical();
        }
        Ok(Answered::Parked)
    }

    pub(super) fn status(&self, ports: &P) -> Status {
        let mut counters = Counters { counts: self.counts, ..Counters::default() };
        self.slabs.count_into(&mut counters.counts);
        ports.count_into(&mut counters);
        Status {
            pond: self.identity.pond,
            epoch: self.identity.epoch,
            daemon_version: env!("CARGO_PKG_VERSION").to_owned(),
            daemon_pid: self.about.daemon_pid,
            keeper_pid: self.about.keeper_pid,
            driver: match self.gpus.driver() {
                DriverState::Starting => Status::STARTING.to_owned(),
                DriverState::Ready(name) => name.clone(),
                DriverState::Failed(text) => format!("failed: {text}"),
            },
            driver_ready: matches!(self.gpus.driver(), DriverState::Ready(_)),
            started_unix_ms: self.identity.started_ms,
            devices: self.known_devices().iter().map(|device| self.device_info(device)).collect(),
            clients: count(self.clients.len()),
            silent_clients: count(self.clients.silent()),
            leases: count(self.leases.len()),
            journal_bytes: self.about.journal_bytes,
            preload_library: self.about.preload_library.clone(),
            runtime_dir: self.about.runtime_dir.clone(),
            lost_tensors: self.about.lost_tensors,
            movers: self.mover_list(),
            hosts: self.host_list(),
            program: self.about.program.clone(),
            service: self.about.service.clone(),
            log_file: self.about.log_file.clone(),
            loading: self.about.loading.clone(),
            counters,
            daemon_resident_bytes: ports.resident_bytes(),
        }
    }

    /// The driver's GPUs, and those of slabs that the driver does not show, or has not yet: what is
    /// held is in the accounts in any case.
    fn known_devices(&self) -> Vec<Device> {
        let mut devices = self.gpus.devices().to_vec();
        for uuid in self.slabs.devices() {
            if !devices.iter().any(|device| device.uuid == uuid) {
                let index = count(devices.len());
                devices.push(Device::unseen(uuid, index));
            }
        }
        devices
    }

    fn device_info(&self, device: &Device) -> DeviceInfo {
        let totals = self.slabs.totals_on(device.uuid);
        let (contexts, _) = self.host_contexts(device.uuid, None);
        let own_bytes = totals.bytes.saturating_add(contexts);
        let groups = self.group_readings.iter().find(|reading| reading.device == device.uuid);
        DeviceInfo {
            device: device.uuid,
            index: device.index,
            name: device.name.clone(),
            total_bytes: device.total_bytes,
            capacity_bytes: device.capacity_bytes,
            slab_bytes: totals.bytes,
            tensor_bytes: totals.tensor_bytes,
            recycled_bytes: totals.recycled_bytes,
            physical_used_bytes: device.physical_used_bytes,
            slabs: u32::try_from(totals.slabs).unwrap_or(u32::MAX),
            tensors: u32::try_from(totals.tensors).unwrap_or(u32::MAX),
            charged_bytes: groups.map(|reading| reading.charged_bytes),
            drift_bytes: groups.map(|reading| reading.drift_bytes),
            other_bytes: groups.map(|reading| reading.outside_bytes.saturating_sub(own_bytes)),
        }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
