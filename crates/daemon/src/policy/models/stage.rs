//! A version begins: all its slabs at once, its own and those that it shares.

use std::collections::{BTreeMap, BTreeSet};

use millpond_view::units::bytes as format_bytes;
use millpond_wire::message::{EventKind, PartSpec, ReplyBody, VersionStage, VersionState};
use millpond_wire::record::{Record, VersionRecord};
use millpond_wire::{
    Audience, ClientId, ErrorKind, Failure, GpuUuid, LeaseId, Mode, TensorId, VersionId,
    VersionTag, limits,
};

use super::making::Making;
use super::{PendingStage, Version};
use crate::policy::catalog::{NameKey, key};
use crate::policy::owner::Owner;
use crate::policy::pond::{Answer, Pond, from_port};
use crate::policy::ports::{ConnId, Ports};
use crate::policy::slabs::{GRANULARITY, Pool, SlabClass};
use crate::policy::words::count;

/// Versions that are named when a GPU is full.
const NAMED: usize = 8;

impl<P: Ports> Pond<P> {
    pub(in crate::policy) fn stage(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        number: u64,
        mut stage: VersionStage,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(conn)?;
        let id = stage.version;
        if self.models.making.contains_key(&(id, None)) {
            return self.join_making(ports, conn, number, (id, None));
        }
        if let Some(version) = self.models.versions.get(&id) {
            if version.creator != client {
                let message = format!("version {id} is another process's");
                return Err(Failure::new(ErrorKind::Denied, message));
            }
            return self.answer_stage(ports, conn, id, stage.lease);
        }
        if self.catalog.is_buried(id) {
            let message = format!("version {id} was staged and is gone");
            return Err(Failure::new(ErrorKind::NotFound, message));
        }
        if self.catalog.get(TensorId(id.0)).is_some() {
            let message = format!("{id} is a tensor");
            return Err(Failure::new(ErrorKind::Invalid, message));
        }
        let Some(device) = self.device_for(stage.device)? else {
            self.models.before_driver.push(PendingStage { conn, number, stage });
            return Ok(None);
        };
        let owner = caller.owner.clone();
        if stage.model.is_public() {
            stage.audience = Audience::Everybody;
        }
        let model = key(&owner, &stage.model);
        stage.tag = Some(self.free_tag(&model, &owner, stage.tag.take())?);
        let pool =
            Pool { device, owner: owner.clone(), audience: stage.audience, class: SlabClass::Own };
        let wanted = self.check_parts(&mut stage, &pool)?;
        let versions = self.models.count_of(&owner);
        if versions >= self.limits.versions_per_user {
            let what = format!("{versions} versions of models");
            return Err(self.limit_reached(ports, &owner, &what, "limits.versions_per_user"));
        }
        if self.catalog.len() + wanted.len() > self.limits.tensors {
            let message = format!("{} tensors and slabs are the limit", self.limits.tensors);
            return Err(Failure::new(ErrorKind::TooMany, message)
                .hint("raise `limits.tensors` in the configuration"));
        }
        if let Some(lease) = stage.lease {
            let on = (id.into(), Mode::ReadWrite);
            self.room_for_lease(ports, client, lease, Some(on))?;
        }
        // Its end must be noticed by whichever daemon there is then.
        self.record_client(ports, client)?;
        for part in stage.parts.iter().filter_map(|part| part.shared) {
            self.models.having.entry(part).or_default().insert(id);
        }
        let making = Making {
            conn,
            number,
            client,
            pool,
            stage: Some(stage),
            has: BTreeMap::new(),
            awaits: BTreeMap::new(),
        };
        self.make_slabs(ports, (id, None), making, wanted)
    }

    /// Once more, now that the driver has said which GPUs there are.
    pub(in crate::policy) fn retry_stage(&mut self, ports: &mut P, pending: PendingStage) {
        let PendingStage { conn, number, stage } = pending;
        let answer = self.stage(ports, conn, number, stage);
        self.answer_making(ports, conn, number, answer);
    }

    /// A repeat waits for the same slabs.
    pub(super) fn join_making(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        number: u64,
        key: super::making::MakingKey,
    ) -> Answer<P::Fd> {
        let (client, _) = self.client_of(conn)?;
        let Some(making) = self.models.making.get_mut(&key) else { return Ok(None) };
        if making.client != client {
            let message = format!("version {} is another process's", key.0);
            return Err(Failure::new(ErrorKind::Denied, message));
        }
        let before = std::mem::replace(&mut making.conn, conn);
        let earlier = std::mem::replace(&mut making.number, number);
        if self.clients.conns.contains_key(&before) {
            let message = "the same was asked for again; that request gets the answer";
            let body = ReplyBody::Failure(Failure::new(ErrorKind::Invalid, message));
            self.answer_later(ports, before, earlier, body, Vec::new());
        }
        Ok(None)
    }

    /// The tag that a new version of a model gets.
    fn free_tag(
        &self,
        model: &NameKey,
        owner: &Owner,
        wanted: Option<VersionTag>,
    ) -> Result<VersionTag, Failure> {
        let name = &model.2;
        let making = || {
            let stages = self.models.making.values();
            stages.filter_map(|making| {
                let stage = making.stage.as_ref()?;
                let same = key(&making.pool.owner, &stage.model) == *model;
                same.then_some((making, stage.tag.as_ref()?))
            })
        };
        let known = self.models.models.get(model);
        let of_another = known.is_some_and(|model| model.owner.user != owner.user)
            || making().any(|(making, _)| making.pool.owner.user != owner.user);
        if of_another {
            let message = format!("model '{name}' belongs to another user");
            return Err(Failure::new(ErrorKind::Denied, message)
                .hint("take another name, or your own part of the names"));
        }
        let Some(tag) = wanted else {
            let versions = known.into_iter().flat_map(|model| &model.versions);
            let tags = versions.filter_map(|id| self.models.versions.get(id)).map(|it| &it.tag);
            let all = tags.chain(making().map(|(_, tag)| tag));
            let numbers = all.filter_map(|tag| tag.as_str().strip_prefix('v')?.parse::<u32>().ok());
            return Ok(VersionTag::numbered(u64::from(numbers.max().unwrap_or(0)) + 1));
        };
        let pid = |client: ClientId| self.clients.clients.get(&client).map(|client| client.pid);
        let taken = known.and_then(|model| self.models.tagged(model, &tag));
        let state = match taken.and_then(|id| self.models.versions.get(&id)) {
            Some(version) if version.state == VersionState::Staging => Err(pid(version.creator)),
            Some(version) => Ok(version.state),
            None => match making().find(|(_, other)| **other == tag) {
                Some((making, _)) => Err(pid(making.client)),
                None => return Ok(tag),
            },
        };
        let message = match state {
            Err(Some(pid)) => format!("{name}@{tag} is being staged by pid {pid}"),
            Err(None) => format!("{name}@{tag} is being staged"),
            Ok(state) => format!("{name}@{tag} exists already and is {}", state.name()),
        };
        Err(Failure::new(ErrorKind::Exists, message).hint(format!(
            "`millpond retire {name} {tag}` gives it up, or take another `--version`"
        )))
    }

    /// Checks the slabs that are wanted; returns those that are to be made, by place.
    fn check_parts(
        &self,
        stage: &mut VersionStage,
        pool: &Pool,
    ) -> Result<Vec<(usize, u64)>, Failure> {
        let invalid = |message: String| Err(Failure::new(ErrorKind::Invalid, message));
        if !(1..=limits::PARTS).contains(&stage.parts.len()) {
            let count = stage.parts.len();
            return invalid(format!("a version has 1 to {} slabs, not {count}", limits::PARTS));
        }
        let mut wanted = Vec::new();
        let mut sum: u64 = 0;
        let mut seen = BTreeSet::new();
        for (place, part) in stage.parts.iter_mut().enumerate() {
            let bytes = part.bytes.checked_next_multiple_of(GRANULARITY);
            let Some(bytes) = bytes.filter(|bytes| (1..=limits::TENSOR_ELEMENTS).contains(bytes))
            else {
                return invalid(format!("slab {place} cannot have {} bytes", part.bytes));
            };
            part.bytes = bytes;
            match part.shared {
                None => {
                    // No overflow: at most PARTS of them, each far below.
                    sum += bytes;
                    wanted.push((place, bytes));
                }
                Some(id) if !seen.insert(id) => {
                    return invalid(format!("slab {place} is in the version already"));
                }
                Some(id) => self.may_share(place, id, part, pool)?,
            }
        }
        if sum > limits::TENSOR_ELEMENTS {
            return invalid(format!("{sum} bytes are more than any GPU has"));
        }
        Ok(wanted)
    }

    fn may_share(
        &self,
        place: usize,
        id: TensorId,
        spec: &PartSpec,
        pool: &Pool,
    ) -> Result<(), Failure> {
        let invalid = |why: String| {
            let message = format!("slab {place} cannot be shared: {why}");
            Err(Failure::new(ErrorKind::Invalid, message).hint("load it instead"))
        };
        let found = self.catalog.get(id).filter(|tensor| tensor.part && !tensor.deleted);
        let found = found.and_then(|tensor| Some((tensor, self.slabs.get(tensor.slab)?)));
        // What another user has is not told.
        let Some((tensor, slab)) = found.filter(|(_, slab)| slab.pool.owner == pool.owner) else {
            return invalid(format!("no version of yours has {id}"));
        };
        if self.models.with_part(id).next().is_none() {
            return invalid(format!("no version has {id} any more"));
        }
        if slab.is_lost() {
            return invalid("its memory is lost".to_owned());
        }
        slab.backing.supported()?;
        if slab.pool.device != pool.device {
            return invalid(format!("it lies on {}", slab.pool.device));
        }
        if slab.pool.audience != pool.audience {
            let audience = slab.pool.audience;
            return invalid(format!("it is shared with {audience}, not {}", pool.audience));
        }
        if tensor.bytes != spec.bytes {
            return invalid(format!("it has {} bytes, not {}", tensor.bytes, spec.bytes));
        }
        Ok(())
    }

    /// All slabs are there: they become parts, and the parts a version.
    pub(super) fn staged(
        &mut self,
        ports: &mut P,
        id: VersionId,
        mut making: Making,
    ) -> Answer<P::Fd> {
        let Some(stage) = making.stage.clone() else { return Ok(None) };
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
            tenant: making.pool.owner.tenant.to_string(),
            user: making.pool.owner.user,
            group: making.pool.owner.group,
            device: making.pool.device,
            audience: stage.audience,
            parts,
            creator: making.client,
            created_unix_ms: ports.now_ms(),
        };
        let journalled = result.and_then(|()| {
            ports.journal(&Record::VersionStaged(record.clone())).map_err(from_port)
        });
        if let Err(failure) = journalled {
            for part in made {
                self.drop_part_if_unused(ports, part);
            }
            self.unmake(ports, (id, None), making);
            return Err(failure);
        }
        let version = version_of(&record, making.pool.owner.clone(), false);
        let (owner, name) = (version.owner.clone(), version.model.2.clone());
        self.models.insert(id, version);
        let text = self.staged_text(id, stage.parts.len() - made.len());
        let on = Some(id.into());
        self.happened(ports, EventKind::VersionStaged, on, Some(name), Some(owner.user), text);
        if !self.clients.conns.contains_key(&making.conn) {
            // The repeat finds it.
            return Ok(None);
        }
        self.answer_stage(ports, making.conn, id, stage.lease)
    }

    fn staged_text(&self, id: VersionId, shared: usize) -> String {
        let Some(version) = self.models.versions.get(&id) else { return String::new() };
        let bytes = format_bytes(self.slab_bytes_of(version));
        let mut text =
            format!("{}: {}, {bytes}", version.tag, count(version.parts.len() as u64, "slab"));
        if shared > 0 {
            text.push_str(&format!(", {shared} of them shared"));
        }
        if let Some(by) = self.clients.clients.get(&version.creator) {
            text.push_str(&format!(", by {} (pid {})", by.program, by.pid));
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
            Some(lease) => self.grant_version(ports, conn, id, (lease, Mode::ReadWrite)),
            None => self.answer_version(id),
        }
    }

    /// A slab that a staged version shares becomes its own.
    pub(in crate::policy) fn own_part(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        number: u64,
        id: VersionId,
        index: u32,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(conn)?;
        let version = self.staged_by(client, &caller, id)?;
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(part) = version.parts.get(place).copied() else {
            let message =
                format!("{} has {}", version.label(), count(version.parts.len() as u64, "slab"));
            return Err(Failure::new(ErrorKind::Invalid, message));
        };
        let (owner, audience, device) = (version.owner.clone(), version.audience, version.device);
        let label = version.label();
        let key = (id, Some(place));
        if self.models.making.contains_key(&key) {
            return self.join_making(ports, conn, number, key);
        }
        let wanted_by_others = self.models.having.get(&part).is_some_and(|having| having.len() > 1);
        if !wanted_by_others {
            return self.answer_slabs(id, index, 1);
        }
        let Some(bytes) = self.catalog.get(part).map(|tensor| tensor.bytes) else {
            let message = format!("slab {index} of {label} is lost");
            return Err(Failure::new(ErrorKind::Lost, message));
        };
        if self.catalog.len() >= self.limits.tensors {
            let message = format!("{} tensors and slabs are the limit", self.limits.tensors);
            return Err(Failure::new(ErrorKind::TooMany, message)
                .hint("raise `limits.tensors` in the configuration"));
        }
        self.device_for(Some(device))?;
        let pool = Pool { device, owner, audience, class: SlabClass::Own };
        let (has, awaits) = (BTreeMap::new(), BTreeMap::new());
        let making = Making { conn, number, client, pool, stage: None, has, awaits };
        self.make_slabs(ports, key, making, vec![(place, bytes)])
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
            self.unmake(ports, (id, Some(place)), making);
            return Err(Failure::new(ErrorKind::Retired, format!("version {id} was given up")));
        };
        let mut record = record_of(id, version);
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
            self.unmake(ports, (id, Some(place)), making);
            return Err(failure);
        }
        self.models.set_parts(id, record.parts);
        self.let_former_go(ports, id);
        self.answer_slabs(id, u32::try_from(place).unwrap_or(u32::MAX), 1)
    }

    /// The version, if it is staged by this client.
    pub(super) fn staged_by(
        &self,
        client: ClientId,
        caller: &crate::policy::owner::Caller,
        id: VersionId,
    ) -> Result<&Version<P::Fd>, Failure> {
        let target = millpond_wire::VersionTarget::Id(id);
        self.find_version(caller, &target)?;
        let Some(version) = self.models.versions.get(&id) else {
            return Err(Failure::new(ErrorKind::NotFound, format!("version {id} not found")));
        };
        let label = version.label();
        if version.creator != client {
            let message = format!("{label} is staged by another process");
            return Err(Failure::new(ErrorKind::Denied, message));
        }
        match version.state {
            VersionState::Staging => Ok(version),
            VersionState::Ready => {
                let message = format!("{label} is ready, and never changes again");
                Err(Failure::new(ErrorKind::Exists, message).hint("stage another version"))
            }
            VersionState::Draining => Err(super::retired(&label, None)),
        }
    }

    /// Says which models hold a GPU that is full.
    pub(super) fn with_models(&self, failure: Failure, making: &Making) -> Failure {
        if failure.kind != ErrorKind::GpuFull {
            return failure;
        }
        let owner = &making.pool.owner;
        let caller = self.clients.clients.get(&making.client).map(|client| client.caller.clone());
        let caller = caller.unwrap_or_else(|| crate::policy::owner::Caller {
            owner: owner.clone(),
            groups: [].into(),
            admin: false,
        });
        let on = |version: &&Version<P::Fd>| is_on(version, making.pool.device);
        let versions = self.models.versions.values().filter(on);
        let seen = versions.filter(|version| caller.may_use(&version.owner, version.audience));
        let mut largest: Vec<(u64, String)> =
            seen.map(|version| (self.slab_bytes_of(version), version.label())).collect();
        if largest.is_empty() {
            return failure;
        }
        largest.sort_by(|a, b| b.cmp(a));
        largest.truncate(NAMED);
        let named: Vec<String> = largest
            .into_iter()
            .map(|(bytes, label)| format!("{label} {}", format_bytes(bytes)))
            .collect();
        let hint = failure.hint.clone().unwrap_or_default();
        let models = format!("models here: {}; `millpond retire` gives one back", named.join(", "));
        failure.hint(format!("{models}; {hint}"))
    }
}

fn is_on<F>(version: &Version<F>, device: GpuUuid) -> bool {
    version.device == device
}

/// A version as its record says.
pub(super) fn version_of<F>(record: &VersionRecord, owner: Owner, recovered: bool) -> Version<F> {
    Version {
        model: key(&owner, &record.model),
        tag: record.tag.clone(),
        owner,
        device: record.device,
        audience: record.audience,
        creator: record.creator,
        created_ms: record.created_unix_ms,
        parts: record.parts.clone(),
        former: BTreeSet::new(),
        state: VersionState::Staging,
        ready: None,
        manifest: None,
        recovered,
        leases: BTreeSet::new(),
    }
}

/// The record that says the same.
pub(super) fn record_of<F>(id: VersionId, version: &Version<F>) -> VersionRecord {
    VersionRecord {
        version: id,
        model: version.model.2.clone(),
        tag: version.tag.clone(),
        tenant: version.owner.tenant.to_string(),
        user: version.owner.user,
        group: version.owner.group,
        device: version.device,
        audience: version.audience,
        parts: version.parts.clone(),
        creator: version.creator,
        created_unix_ms: version.created_ms,
    }
}
