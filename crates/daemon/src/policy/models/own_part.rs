//! A slab that a staged version shares becomes its own.

use std::collections::BTreeMap;

use millpond_view::units::count;
use millpond_wire::message::VersionState;
use millpond_wire::record::Record;
use millpond_wire::{ErrorKind, Failure, TransportKind, VersionId};

use super::making::{Making, MakingKey};
use crate::policy::answer::{Answer, from_port};
use crate::policy::parked::RequestId;
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;
use crate::policy::slabs::{SlabClass, SlabSize};

impl<P: Ports> Pond<P> {
    /// The request for it.
    pub(in crate::policy) fn own_part(
        &mut self,
        ports: &mut P,
        by: RequestId,
        id: VersionId,
        index: u32,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(by.conn)?;
        let version = self.models.staged_by(client, &caller, id)?;
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(part) = version.parts.get(place).copied() else {
            let message =
                format!("{} has {}", version.label(), count(version.parts.len() as u64, "slab"));
            return Err(Failure::new(ErrorKind::Invalid, message));
        };
        let (owner, audience, device) = (version.owner.clone(), version.audience, version.device);
        let label = version.label();
        let key = MakingKey { version: id, place: Some(place) };
        if self.models.making.contains_key(&key) {
            return self.join_making(ports, by, key);
        }
        let wanted_by_others = self.models.having.get(&part).is_some_and(|having| having.len() > 1);
        if !wanted_by_others {
            return self.answer_slabs(id, index, 1);
        }
        let Some(bytes) = self.catalog.get(part).map(|tensor| tensor.bytes) else {
            let message = format!("slab {index} of {label} is lost");
            return Err(Failure::new(ErrorKind::Lost, message));
        };
        if self.catalog.len() >= self.caps.tensors {
            let message = format!("at most {} tensors and slabs are allowed", self.caps.tensors);
            return Err(Failure::new(ErrorKind::TooMany, message)
                .hint("raise `limits.tensors` in the configuration"));
        }
        self.gpus.choose(Some(device))?;
        let class = SlabClass {
            device,
            owner,
            audience,
            size: SlabSize::Own,
            transport: TransportKind::Vmm,
        };
        let (has, awaits) = (BTreeMap::new(), BTreeMap::new());
        let making = Making { client, class, stage: None, has, awaits, _charge: None };
        self.make_slabs(ports, by, key, making, vec![(place, bytes)])
    }

    /// The slab is there: it takes the place of the shared one.
    pub(super) fn replaced_part(
        &mut self,
        ports: &mut P,
        id: VersionId,
        place: usize,
        mut making: Making,
    ) -> Answer<P::Fd> {
        let staged = self.models.versions.get(&id);
        let staged = staged.filter(|version| version.state == VersionState::Staging);
        let (Some(version), Some(reserved)) = (staged, making.has.get(&place).copied()) else {
            self.unmake(ports, MakingKey { version: id, place: Some(place) }, making);
            return Err(Failure::new(ErrorKind::Retired, format!("version {id} was given up")));
        };
        let mut record = version.record(id);
        let made = self.make_part(ports, &making, reserved).and_then(|part| {
            making.has.remove(&place);
            if let Some(at) = record.parts.get_mut(place) {
                *at = part;
            }
            match ports.journal(&Record::VersionStaged(record.clone())) {
                Ok(()) => Ok(()),
                Err(error) => {
                    self.drop_part_if_unused(ports, part);
                    Err(from_port(error))
                }
            }
        });
        if let Err(failure) = made {
            self.unmake(ports, MakingKey { version: id, place: Some(place) }, making);
            return Err(failure);
        }
        self.models.set_parts(id, record.parts);
        self.let_former_go(ports, id);
        self.answer_slabs(id, u32::try_from(place).unwrap_or(u32::MAX), 1)
    }
}
