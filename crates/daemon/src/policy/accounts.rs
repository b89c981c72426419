//! The pond's GPUs, and the answers where no more memory may be made on one.

use millpond_view::units::bytes as format_bytes;
use millpond_wire::record::{DeviceRecord, Record};
use millpond_wire::{ErrorKind, Failure, GpuUuid, TransportKind};

use super::hosts::HostClass;
use super::pond::Pond;
use super::ports::{DriverFailure, Ports};
use super::slabs::SlabClass;
use crate::budget::{Room, Verdict, holders};

/// One GPU of the pond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub uuid: GpuUuid,
    /// Place in the driver's list, for people.
    pub index: u32,
    /// What the driver calls it.
    pub name: String,
    pub total_bytes: u64,
    /// Bytes that the pond may take.
    pub capacity_bytes: u64,
    /// The card's own reading.
    pub physical_used_bytes: Option<u64>,
}

impl Device {
    pub(super) fn record(&self) -> Record {
        Record::DeviceSeen(DeviceRecord {
            device: self.uuid,
            index: self.index,
            name: self.name.clone(),
            total_bytes: self.total_bytes,
            capacity_bytes: self.capacity_bytes,
        })
    }

    /// One that only a slab tells of.
    pub(super) fn unseen(uuid: GpuUuid, index: u32) -> Self {
        let name = "not seen by the driver".to_owned();
        Self { uuid, index, name, total_bytes: 0, capacity_bytes: 0, physical_used_bytes: None }
    }

    pub(super) fn recorded(record: DeviceRecord) -> Self {
        Self {
            uuid: record.device,
            index: record.index,
            name: record.name,
            total_bytes: record.total_bytes,
            capacity_bytes: record.capacity_bytes,
            physical_used_bytes: None,
        }
    }
}

impl<P: Ports> Pond<P> {
    /// What the pond may take of a GPU, and has of it.
    fn room_on(&self, device: GpuUuid, wanted: Option<&HostClass>) -> Room {
        let totals = self.slabs.totals_on(device);
        let (contexts, idle_contexts) = self.host_contexts(device, wanted);
        Room {
            capacity: self.gpus.get(device).map_or(0, |known| known.capacity_bytes),
            held: totals.bytes.saturating_add(contexts),
            pending: self.pending_slabs.bytes_on(device) + self.adoptions.bytes_on(device),
            recycled: totals.recycled_bytes.saturating_add(idle_contexts),
        }
    }

    /// Checks that a slab or a context fits. Gives back unused memory if that helps, but for
    /// the host that is to make memory of the class that is wanted.
    pub(super) fn make_room(
        &mut self,
        ports: &mut P,
        device: GpuUuid,
        bytes: u64,
        wanted: Option<&HostClass>,
    ) -> Result<(), Failure> {
        let room = self.room_on(device, wanted);
        let (capacity, available) = (room.capacity, room.available());
        match room.admit(bytes) {
            Verdict::Fits => Ok(()),
            Verdict::AfterGivingBack(back) => {
                if self.give_back_unused(ports, device, back, None, wanted) >= back {
                    return Ok(());
                }
                let message = format!("unused memory on {device} could not be given back");
                Err(Failure::new(ErrorKind::Internal, message))
            }
            Verdict::Never => {
                let message = format!(
                    "{} never fits on {device}: the pond may take {} of it",
                    format_bytes(bytes),
                    format_bytes(capacity)
                );
                let mut failure = Failure::new(ErrorKind::GpuFull, message).hint(
                    "`capacity` in the configuration is the limit; `millpond status` shows it",
                );
                failure.requested_bytes = Some(bytes);
                failure.free_bytes = Some(available);
                failure.capacity_bytes = Some(capacity);
                Err(failure)
            }
            Verdict::Full => {
                let (wanted, there) = apart(bytes, available);
                let message = format!(
                    "{device} has no room for {wanted}: {there} of {} are free",
                    format_bytes(capacity)
                );
                Err(self.full(device, bytes, available, capacity, message))
            }
        }
    }

    /// The failure when the driver itself had no memory, or another reason.
    pub(super) fn slab_failure(
        &self,
        class: &SlabClass,
        bytes: u64,
        failure: &DriverFailure,
    ) -> Failure {
        if let Some(over_limit) = &failure.over_limit {
            return over_limit.answer.clone();
        }
        if class.transport == TransportKind::Fabric {
            let message = format!("the driver makes no memory for a fabric: {}", failure.text);
            return Failure::new(ErrorKind::Unsupported, message)
                .hint("use the transport 'vmm'; other nodes cannot map it");
        }
        if !failure.out_of_memory {
            let message =
                format!("the driver made no slab of {}: {}", format_bytes(bytes), failure.text);
            return Failure::new(ErrorKind::Driver, message).hint("run `millpond doctor`");
        }
        let room = self.room_on(class.device, None);
        let message = format!(
            "{} is full: {} were requested, and other programs use the rest of the card",
            class.device,
            format_bytes(bytes)
        );
        let free = room.free().min(bytes.saturating_sub(1));
        self.full(class.device, bytes, free, room.capacity, message)
    }

    fn full(
        &self,
        device: GpuUuid,
        requested: u64,
        free: u64,
        capacity: u64,
        message: String,
    ) -> Failure {
        let mut failure = Failure::new(ErrorKind::GpuFull, message).hint(
            "`millpond tensor ls` shows what can be deleted; `capacity` in the configuration is the limit",
        );
        failure.requested_bytes = Some(requested);
        failure.free_bytes = Some(free);
        failure.capacity_bytes = Some(capacity);
        let slabs = self.slabs.on(device);
        let slabs = slabs.map(|(_, slab)| (slab.class.owner.user, slab.bytes, slab.tensors));
        let contexts = self.hosts.contexts_on(device).map(|(user, bytes)| (user, bytes, 0));
        failure.holders = holders(slabs.chain(contexts));
        failure
    }
}

/// Two sizes for people, exact where they would look the same.
fn apart(one: u64, other: u64) -> (String, String) {
    let (short, shorter) = (format_bytes(one), format_bytes(other));
    if one == other || short != shorter {
        return (short, shorter);
    }
    (format!("{short} ({one} bytes)"), format!("{shorter} ({other} bytes)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_look_the_same_are_told_exactly() {
        assert_eq!(apart(3 << 30, 1 << 30), ("3 GiB".to_owned(), "1 GiB".to_owned()));
        let (wanted, there) = apart((3 << 29) + 4096, 3 << 29);
        assert_eq!(wanted, "1.5 GiB (1610616832 bytes)");
        assert_eq!(there, "1.5 GiB (1610612736 bytes)");
    }
}
