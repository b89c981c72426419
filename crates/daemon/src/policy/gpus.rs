//! The GPUs, and whether the driver can be asked for memory on them.

use millpond_wire::message::{ReplyBody, RequestBody};
use millpond_wire::record::DeviceRecord;
use millpond_wire::{ErrorKind, Failure, GpuUuid};

use super::accounts::Device;
use super::answer::{Answer, Answered, now};
use super::parked::{Parked, RequestId, Until, Wish};
use super::pond::Pond;
use super::ports::Ports;

/// How long a request waits for a driver that starts: less than a client waits for an answer, and
/// longer than a machine with eight cards takes to wake them.
const DRIVER_MS: u64 = 30_000;

/// Whether the driver can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverState {
    /// It has not answered yet.
    Starting,
    /// Its name and version.
    Ready(String),
    Failed(String),
}

/// The driver and its GPUs.
#[derive(Debug)]
pub(super) struct Gpus {
    driver: DriverState,
    devices: Vec<Device>,
}

impl Default for Gpus {
    fn default() -> Self {
        Self { driver: DriverState::Starting, devices: Vec::new() }
    }
}

impl Gpus {
    pub(super) fn driver(&self) -> &DriverState {
        &self.driver
    }

    /// The driver's GPUs; until it has answered, those that an earlier daemon saw.
    pub(super) fn devices(&self) -> &[Device] {
        &self.devices
    }

    pub(super) fn get(&self, device: GpuUuid) -> Option<&Device> {
        self.devices.iter().find(|known| known.uuid == device)
    }

    /// What the journal says about a GPU.
    pub(super) fn replay(&mut self, seen: DeviceRecord) {
        self.devices.retain(|known| known.uuid != seen.device);
        self.devices.push(Device::recorded(seen));
    }

    /// As if the driver had not answered yet.
    #[cfg(test)]
    pub(super) fn forget_driver(&mut self) {
        self.driver = DriverState::Starting;
    }

    /// The GPU that is wanted, or the first; `None` while the driver has not said which there are.
    pub(super) fn choose(&self, wanted: Option<GpuUuid>) -> Result<Option<GpuUuid>, Failure> {
        match &self.driver {
            DriverState::Starting => return Ok(None),
            DriverState::Ready(_) => {}
            DriverState::Failed(text) => {
                return Err(Failure::new(
                    ErrorKind::Driver,
                    format!("no memory can be made: {text}"),
                )
                .hint("run `millpond doctor`"));
            }
        }
        let device = match wanted {
            None => self.devices.first(),
            Some(wanted) => self.get(wanted),
        };
        if let Some(device) = device {
            return Ok(Some(device.uuid));
        }
        let known: Vec<String> =
            self.devices.iter().map(|device| device.uuid.to_string()).collect();
        let message = match wanted {
            Some(wanted) => format!("{wanted} is not in this pond"),
            None => "this pond has no GPU".to_owned(),
        };
        let known = match known.is_empty() {
            true => "none; run `millpond doctor`".to_owned(),
            false => known.join(", "),
        };
        Err(Failure::new(ErrorKind::NoDevice, message).hint(format!("GPUs here: {known}")))
    }
}

impl<P: Ports> Pond<P> {
    /// The driver answered, and these are its GPUs.
    pub fn driver_ready(&mut self, ports: &mut P, name: String, devices: Vec<Device>) {
        self.gpus.driver = DriverState::Ready(name);
        for device in &devices {
            let known = &self.gpus.devices;
            let news = !known.iter().any(|known| known.record() == device.record());
            if news && let Err(error) = ports.journal(&device.record()) {
                // The next daemon only has to wait for the driver then.
                tracing::warn!("could not record a GPU: {error}");
            }
        }
        self.gpus.devices = devices;
        self.resume_after_start(ports);
    }

    /// The driver will never answer: held memory is still served.
    pub fn driver_failed(&mut self, ports: &mut P, text: String) {
        self.gpus.driver = DriverState::Failed(text);
        self.resume_after_start(ports);
    }

    fn resume_after_start(&mut self, ports: &mut P) {
        for parked in self.parked.take_all(Until::Gpus) {
            self.resume(ports, parked);
        }
    }

    /// Whether the GPUs are still unknown. Of a pond that had a daemon before, the journal
    /// knows them.
    pub(super) fn awaits_gpus(&self) -> bool {
        !self.draining && !self.has_driver() && self.gpus.devices().is_empty()
    }

    /// Parks a request until the driver has reported its GPUs.
    pub(super) fn wait_for_gpus(
        &mut self,
        ports: &P,
        by: RequestId,
        body: RequestBody,
    ) -> Answer<P::Fd> {
        let until_ms = ports.monotonic_ms().saturating_add(DRIVER_MS);
        self.park(by, Wish::Gpus(Box::new(body)), Some(until_ms));
        Ok(Answered::Parked)
    }

    /// Tries a parked request once more from the start.
    pub(super) fn resume(&mut self, ports: &mut P, parked: Parked) {
        let by = parked.by;
        let body = match parked.wish {
            Wish::CreateIn(_, create) => RequestBody::TensorCreate(create),
            Wish::Gpus(body) | Wish::Again(body) => *body,
            // The others are answered where they are woken.
            _ => return,
        };
        let answer = self.attempt(ports, by, body, None);
        self.respond(ports, by, answer);
    }

    /// The card's own readings, in bytes used.
    pub fn physical(&mut self, ports: &mut P, used: &[(GpuUuid, u64)]) {
        for (uuid, bytes) in used {
            let devices = &mut self.gpus.devices;
            if let Some(device) = devices.iter_mut().find(|device| device.uuid == *uuid) {
                device.physical_used_bytes = Some(*bytes);
            }
        }
        let waiting = self.parked.take_all(Until::Reading);
        self.answer_status(ports, &waiting);
    }

    pub(super) fn answer_status(&mut self, ports: &mut P, waiting: &[Parked]) {
        if waiting.is_empty() {
            return;
        }
        let status = Box::new(self.status(ports));
        for parked in waiting {
            self.respond(ports, parked.by, now(ReplyBody::Status(status.clone())));
        }
    }

    /// Whether the driver has answered, well or badly.
    #[must_use]
    pub fn has_driver(&self) -> bool {
        *self.gpus.driver() != DriverState::Starting
    }
}
