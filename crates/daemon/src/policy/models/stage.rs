//! A version begins: all its slabs at once, its own and those that it shares.

use std::collections::BTreeMap;

use millpond_view::units::bytes as format_bytes;
use millpond_view::units::count;
use millpond_wire::message::{EventKind, RequestBody, VersionStage};
use millpond_wire::record::{Record, VersionRecord};
use millpond_wire::{
    Audience, ErrorKind, Failure, LeaseId, Mode, TransportKind, VersionId, VersionTag,
};

use super::Version;
use super::making::{Making, MakingKey};
use crate::accounts::{Charge, Resource};
use crate::policy::answer::{Answer, Answered, from_port, gone};
use crate::policy::catalog::NameKey;
use crate::policy::leases::Wanted;
use crate::policy::parked::{RequestId, Until, Wish};
use crate::policy::pond::Pond;
use crate::policy::ports::{ConnId, Ports};
use crate::policy::slabs::{SlabClass, SlabSize};

impl<P: Ports> Pond<P> {
    pub(in crate::policy) fn stage(
        &mut self,
        ports: &mut P,
        by: RequestId,
        mut stage: VersionStage,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(by.conn)?;
        let id = stage.version;
        let begins = MakingKey { version: id, place: None };
        if self.models.making.contains_key(&begins) {
            return self.join_making(ports, by, begins);
        }
        if let Some(version) = self.models.versions.get(&id) {
            if version.creator != client {
                let message = format!("version {id} belongs to another process");
                return Err(Failure::new(ErrorKind::Denied, message));
            }
            return self.answer_stage(ports, by.conn, id, stage.lease);
        }
        if self.catalog.is_buried(id) {
            let message = format!("version {id} was staged and is gone");
            return Err(Failure::new(ErrorKind::NotFound, message));
        }
        if self.catalog.has(id.0) {
            let message = format!("{id} is a tensor");
            return Err(Failure::new(ErrorKind::Invalid, message));
        }
        self.may_take(&caller, &stage.model)?;
        let Some(device) = self.gpus.choose(stage.device)? else {
            return self.wait_for_gpus(ports, by, RequestBody::VersionStage(stage));
        };
        let owner = caller.owner.clone();
        if stage.model.is_public() {
            stage.audience = Audience::Everybody;
        }
        let model = NameKey::new(&owner, &stage.model);
        stage.tag = Some(self.free_tag(&model, &owner, stage.tag.take())?);
        let class = SlabClass {
            transport: TransportKind::Vmm,
            device,
            owner: owner.clone(),
            audience: stage.audience,
            size: SlabSize::Own,
        };
        let wanted = self.check_parts(&mut stage, &class)?;
        let account = self.account(&owner);
        if let Err(refused) = account.check(Resource::Versions, 1) {
            return Err(self.cap_reached(ports, &account, refused));
        }
        if self.catalog.len() + wanted.len() > self.caps.tensors {
            let message = format!("at most {} tensors and slabs are allowed", self.caps.tensors);
            return Err(Failure::new(ErrorKind::TooMany, message)
                .hint("raise `limits.tensors` in the configuration"));
        }
        if let Some(lease) = stage.lease {
            let on = (id.into(), Mode::ReadWrite);
            self.room_for_lease(ports, client, lease, Some(on))?;
        }
        // Its end must be noticed by whichever daemon there is then.
        self.record_client(ports, client)?;
        // Who does not map it has it filled.
        if stage.lease.is_none() && !wanted.is_empty() {
            self.expect_moves(ports, device);
        }
        for part in stage.parts.iter().filter_map(|part| part.shared) {
            self.models.having.entry(part).or_default().insert(id);
        }
        let making = Making {
            client,
            class,
            stage: Some(stage),
            has: BTreeMap::new(),
            awaits: BTreeMap::new(),
            _charge: Some(Charge::new(&account, Resource::Versions, 1)),
        };
        self.make_slabs(ports, by, begins, making, wanted)
    }

    /// A repeat waits for the same slabs.
    pub(super) fn join_making(
        &mut self,
        ports: &mut P,
        by: RequestId,
        key: MakingKey,
    ) -> Answer<P::Fd> {
        let (client, _) = self.client_of(by.conn)?;
        let Some(making) = self.models.making.get(&key) else {
            return Err(gone("version", key.version));
        };
        if making.client != client {
            let message = format!("version {} belongs to another process", key.version);
            return Err(Failure::new(ErrorKind::Denied, message));
        }
        let message = "the same request was sent again, and that one gets the answer";
        let earlier = self.parked.first(Until::Slabs(key));
        self.answer_parked(ports, earlier, Err(Failure::new(ErrorKind::Invalid, message)));
        self.park(by, Wish::Slabs(key), None);
        Ok(Answered::Parked)
    }

    /// All slabs are there: they become parts, and the parts a version.
    pub(super) fn staged(
        &mut self,
        ports: &mut P,
        by: Option<RequestId>,
        id: VersionId,
        mut making: Making,
    ) -> Answer<P::Fd> {
        let Some(stage) = making.stage.clone() else { return Err(gone("version", id)) };
        let mut parts = Vec::new();
        let mut made = Vec::new();
        let mut result = Ok(());
        for (place, part) in stage.parts.iter().enumerate() {
            match (part.shared, making.has.get(&place).copied()) {
                (Some(shared), _) => parts.push(shared),
                (None, Some(reserved)) => match self.make_part(ports, &making, reserved) {
                    Ok(part) => {
                        // From here on it is the part that has the slab.
                        making.has.remove(&place);
                        parts.push(part);
                        made.push(part);
                    }
                    Err(failure) => {
                        result = Err(failure);
                        break;
                    }
                },
                (None, None) => {
                    result = Err(Failure::new(ErrorKind::Internal, "a slab is missing"));
                    break;
                }
            }
        }
        let record = VersionRecord {
            version: id,
            model: stage.model.clone(),
            tag: stage.tag.clone().unwrap_or_else(|| VersionTag::numbered(1)),
            tenant: making.class.owner.tenant.to_string(),
            user: making.class.owner.user,
            group: making.class.owner.group,
            device: making.class.device,
            audience: stage.audience,
            parts,
            creator: making.client,
            created_unix_ms: ports.now_ms(),
            borrowers_recorded: true,
        };
        let journalled = result.and_then(|()| {
            ports.journal(&Record::VersionStaged(record.clone())).map_err(from_port)
        });
        if let Err(failure) = journalled {
            for part in made {
                self.drop_part_if_unused(ports, part);
            }
            self.unmake(ports, MakingKey { version: id, place: None }, making);
            return Err(failure);
        }
        let version = Version::recorded(&record, making.class.owner.clone(), false);
        let (owner, name) = (version.owner.clone(), version.model.name.clone());
        self.models.insert(id, version);
        let text = self.staged_text(id, stage.parts.len() - made.len());
        let on = Some(id.into());
        self.counts.versions_staged += 1;
        self.happened(ports, EventKind::VersionStaged, on, Some(name), Some(owner.user), text);
        // If nobody waits any more, the repeat finds it.
        let Some(by) = by else { return Ok(Answered::Sent) };
        self.answer_stage(ports, by.conn, id, stage.lease)
    }

    fn staged_text(&self, id: VersionId, shared: usize) -> String {
        let Some(version) = self.models.versions.get(&id) else { return String::new() };
        let bytes = format_bytes(self.slab_bytes_of(version));
        let mut text =
            format!("{}: {}, {bytes}", version.tag, count(version.parts.len() as u64, "slab"));
        if shared > 0 {
            text.push_str(&format!(", {shared} of them shared"));
        }
        if let Some(by) = self.clients.get(version.creator) {
            text.push_str(&format!(", by {}", by.label()));
        }
        text
    }

    fn answer_stage(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        id: VersionId,
        lease: Option<LeaseId>,
    ) -> Answer<P::Fd> {
        match lease {
            Some(lease) => {
                let on = Wanted { lease, mode: Mode::ReadWrite, asked: 0 };
                self.grant_version(ports, conn, id.into(), on)
            }
            None => self.answer_version(id),
        }
    }
}
