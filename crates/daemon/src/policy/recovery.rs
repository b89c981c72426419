//! A pond comes back from its journal and the held descriptors.
//!
//! A descriptor without a record is dropped; a record without a descriptor is reported as lost.
//! Clients come back silent: those that live reconnect and claim, those that died are noticed by
//! their pidfds.

use std::collections::{HashMap, VecDeque};

use millpond_view::units::count;
use millpond_wire::message::{Counts, EventKind};
use millpond_wire::record::{ClientRecord, Record, SlabRecord, TensorRecord};
use millpond_wire::{ClientId, Epoch, LeaseTarget, PondId, SlabId, TensorId, caps};

use super::about::{About, Identity};
use super::accounts::Device;
use super::adopt::Adoptions;
use super::caps::{Caps, CapsTold};
use super::catalog::{Catalog, Tensor};
use super::clients::{Client, Clients};
use super::complaints::Complaints;
use super::events::Events;
use super::gpus::Gpus;
use super::hello::client_record;
use super::holds::Holds;
use super::hosts::Hosts;
use super::leases::LeaseTable;
use super::leaving::Leavers;
use super::models::Models;
use super::movers::Movers;
use super::owner::{Caller, Door, Owner};
use super::parked::ParkedRequests;
use super::pond::Pond;
use super::ports::{Held, PortError, Ports};
use super::process::Process;
use super::slabs::{PendingSlabs, Slab, SlabClass, SlabSize, Slabs};
use super::turns::Turns;
use super::unfreed::Unfreed;
use crate::accounts::Accounts;

/// Deleted identities that a compacted journal still remembers.
const REMEMBERED_DELETES: usize = 1024;

/// No slab is larger: all elements that a tensor may have, of the widest dtype. Sums of slabs are
/// far from overflow then.
const SLAB_BYTES: u64 = caps::TENSOR_ELEMENTS * 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    pub tensors: usize,
    /// Versions of models, lost ones included.
    pub versions: usize,
    /// Tensors and versions whose memory is not.
    pub lost_tensors: usize,
    pub clients: usize,
    /// Descriptors that belonged to nothing.
    pub dropped: usize,
    /// Records that this version does not know.
    pub unknown_records: usize,
}

impl<P: Ports> Pond<P> {
    /// A pond that has never been.
    ///
    /// # Errors
    /// [`PortError`] if its first record cannot be written.
    pub fn new(ports: &mut P, key: [u8; 16], epoch: Epoch, caps: Caps) -> Result<Self, PortError> {
        let (pond, created_ms) = (PondId(ports.random_id()), ports.now_ms());
        ports.journal(&Record::Opened { pond, key, created_unix_ms: created_ms })?;
        let started_ms = ports.now_ms();
        Ok(Self::empty(Identity { pond, created_ms, epoch, started_ms }, key, caps))
    }

    fn empty(identity: Identity, key: [u8; 16], caps: Caps) -> Self {
        let accounts = Accounts::new(caps.terms, caps.own_user);
        Self {
            identity,
            caps,
            gpus: Gpus::default(),
            slabs: Slabs::default(),
            pending_slabs: PendingSlabs::default(),
            unheld_slabs: VecDeque::new(),
            catalog: Catalog::new(accounts.clone()),
            leases: LeaseTable::new(key),
            holds: Holds::new(accounts.clone()),
            clients: Clients::default(),
            parked: ParkedRequests::default(),
            movers: Movers::default(),
            hosts: Hosts::default(),
            adoptions: Adoptions::default(),
            models: Models::new(accounts.clone()),
            events: Events::new(identity.epoch, accounts.clone()),
            accounts,
            unfreed: Unfreed::default(),
            turns: Turns::default(),
            leavers: Leavers::default(),
            caps_told: CapsTold::default(),
            complaints: Complaints::default(),
            group_readings: Vec::new(),
            owned_groups: super::groups::OwnedGroups::new(),
            cache_conns: std::collections::BTreeSet::new(),
            payers: crate::budget::Payers::default(),
            now_ms: 0,
            draining: false,
            counts: Counts::default(),
            public_writers: Vec::new(),
            about: About::default(),
        }
    }

    /// The pond of an earlier daemon.
    ///
    /// # Errors
    /// [`PortError`] if the journal does not begin as one must.
    pub fn recover(
        ports: &mut P,
        records: impl IntoIterator<Item = Record>,
        held: HashMap<Held, P::Fd>,
        epoch: Epoch,
        caps: Caps,
    ) -> Result<(Self, Recovered), PortError> {
        let mut records = records.into_iter();
        let Some(Record::Opened { pond, key, created_unix_ms }) = records.next() else {
            return Err(PortError("the journal does not begin with its opening record".to_owned()));
        };
        let (created_ms, started_ms) = (created_unix_ms, ports.now_ms());
        let identity = Identity { pond, created_ms, epoch, started_ms };
        let mut state = Self::empty(identity, key, caps);
        let mut found = Recovered::default();
        let mut held = held;
        for record in records {
            state.replay(ports, record, &mut held, &mut found);
        }
        state.settle(ports, held, &mut found);
        Ok((state, found))
    }

    fn replay(
        &mut self,
        ports: &P,
        record: Record,
        held: &mut HashMap<Held, P::Fd>,
        found: &mut Recovered,
    ) {
        match record {
            Record::Opened { .. } => {}
            Record::ClientSeen(seen) => self.replay_client(ports, seen, held),
            Record::ClientGone(id) => self.replay_client_gone(id, held),
            Record::SlabMade(made) => match self.replay_slab(&made, held) {
                true => {}
                false => found.unknown_records += 1,
            },
            Record::SlabTainted(id) => {
                self.slabs.mark_tainted(id);
            }
            Record::SlabBorrowed { slab, user } => self.slabs.replay_borrower(slab, user),
            Record::SlabGone(id) => self.replay_slab_gone(id, held),
            Record::TensorMade(made) => self.replay_tensor(&made),
            published @ Record::TensorPublished { .. } => self.published(&published),
            Record::TensorAccessed { tensor: id, accesses_left, lease } => {
                self.catalog.replay_accesses(id, accesses_left);
                if let Some(lease) = lease {
                    self.replay_lease(id, lease);
                }
            }
            Record::TensorDeleted(id) => {
                if let Some(owner) = self.owner_of(id) {
                    self.catalog.delete(id, &owner);
                    self.holds.tensor_deleted(id);
                }
            }
            Record::TensorFreed(id) => self.replay_freed(id),
            Record::DeviceSeen(seen) => self.gpus.replay(seen),
            version @ (Record::VersionStaged(_)
            | Record::VersionReady(_)
            | Record::VersionCurrent { .. }
            | Record::VersionDraining(_)
            | Record::VersionBorrowed { .. }
            | Record::VersionGone(_)) => self.replay_version(version, held),
            Record::Renamed { object, name, token } => self.replay_rename(object, name, token),
            Record::HostMade(made) => self.replay_host(made, held),
            Record::HostGone(id) => self.replay_host_gone(id, held),
            Record::HoldChanged(hold) => self.replay_hold(hold),
            Record::HoldTold(told) => self.holds.remember(told),
            Record::Unknown => found.unknown_records += 1,
        }
    }

    fn replay_client(&mut self, ports: &P, seen: ClientRecord, held: &mut HashMap<Held, P::Fd>) {
        let Some(pidfd) = held.remove(&Held::Client(seen.client)) else { return };
        let tenant = self.clients.tenant(&seen.tenant);
        let owner = Owner { tenant, user: seen.user, group: seen.group };
        let account = match seen.mover {
            true => self.accounts.of_the_pond(),
            false => self.accounts.of(&owner.tenant, owner.user),
        };
        // A mover may have had anything mapped.
        let door = if seen.mover { Door::Operator } else { Door::Users };
        let caller = Caller { owner, groups: seen.groups.into(), door };
        let inode = (seen.pid == 0).then(|| ports.inode(&pidfd));
        let client = Client {
            caller,
            process: Process { pid: seen.pid, inode: inode.unwrap_or(0) },
            program: seen.program,
            since_ms: seen.since_unix_ms,
            pidfd: Some(pidfd),
            conn: None,
            unclaimed: true,
            recorded: true,
            announced: true,
            mover: seen.mover,
            account,
        };
        self.clients.insert(seen.client, client);
    }

    fn replay_client_gone(&mut self, id: ClientId, held: &mut HashMap<Held, P::Fd>) {
        let Some(client) = self.clients.remove(id) else { return };
        self.leases.end_all_of(id);
        if let Some(pidfd) = client.pidfd {
            held.insert(Held::Client(id), pidfd);
        }
    }

    /// False if the record means nothing to this version.
    fn replay_slab(&mut self, made: &SlabRecord, held: &mut HashMap<Held, P::Fd>) -> bool {
        let size = SlabSize::from_code(made.class);
        let Some(size) = size.filter(|_| made.bytes <= SLAB_BYTES) else { return false };
        // Said twice, it must not take the descriptor from the one that is there.
        if self.slabs.get(made.slab).is_some() {
            return true;
        }
        let tenant = self.clients.tenant(&made.tenant);
        let owner = Owner { tenant, user: made.user, group: made.group };
        let transport = made.backing.transport.kind();
        let (device, audience) = (made.device, made.audience);
        let class = SlabClass { device, owner, audience, size, transport };
        let fd = held.remove(&Held::Slab(made.slab));
        self.slabs.insert(made.slab, Slab::recovered(class, made, fd));
        true
    }

    /// A slab goes after its tensors: what a damaged journal leaves in it is kept, and is lost if
    /// the descriptor is.
    fn replay_slab_gone(&mut self, id: SlabId, held: &mut HashMap<Held, P::Fd>) {
        if self.slabs.get(id).is_some_and(|slab| slab.tensors > 0) {
            return;
        }
        if let Some(Slab { fd: Some(fd), .. }) = self.slabs.remove(id) {
            held.insert(Held::Slab(id), fd);
        }
    }

    fn replay_tensor(&mut self, made: &TensorRecord) {
        let id = made.tensor;
        let Some(slab) = self.slabs.get(made.slab) else { return };
        if made.offset.checked_add(made.bytes).is_none_or(|end| end > slab.bytes) {
            return;
        }
        let owner = slab.class.owner.clone();
        let is_known = self.catalog.get(id).is_some() || self.models.has_staged(id.0);
        if is_known || !self.slabs.take_at(made.slab, made.offset, made.bytes) {
            return;
        }
        let tensor = Tensor::recorded(made, true);
        let is_held = tensor.is_held() && !tensor.is_deleted();
        self.catalog.insert(id, &owner, tensor);
        if is_held {
            self.first_hold(id, made.hold);
        }
        // A damaged journal may have the version before its part. Said here and not at the end, or
        // the part were another thing once the version is gone.
        if self.models.with_part(id).any(|(_, version)| version.ready.is_some()) {
            self.catalog.part_is_ready(id);
        }
    }

    fn replay_freed(&mut self, id: TensorId) {
        let owner = self.owner_of(id);
        match owner.and_then(|owner| self.catalog.remove(id, &owner)) {
            Some(tensor) => {
                // Who died with it is recorded as gone after it.
                self.leases.end_all_on(id);
                self.holds.tensor_freed(id);
                self.slabs.give(tensor.slab, tensor.offset, tensor.bytes);
            }
            None => self.catalog.bury(id),
        }
    }

    /// Whose a tensor is.
    fn owner_of(&self, id: TensorId) -> Option<Owner> {
        let slab = self.catalog.get(id).and_then(|tensor| self.slabs.get(tensor.slab));
        slab.map(|slab| slab.class.owner.clone())
    }

    fn settle(&mut self, ports: &mut P, mut orphans: HashMap<Held, P::Fd>, found: &mut Recovered) {
        self.settle_hosts(ports, &mut orphans);
        let mut orphans: Vec<_> = orphans.into_iter().collect();
        orphans.sort_by_key(|(what, _)| *what);
        for (what, fd) in orphans {
            found.dropped += 1;
            ports.let_go(what, Some(fd));
        }
        found.clients = self.clients.len();
        for (id, client) in self.clients.iter() {
            let Some(pidfd) = &client.pidfd else { continue };
            ports.watch(id, pidfd);
            if client.mover {
                // It obeys nobody any more, and holds what others wait for.
                ports.kill(pidfd);
            }
        }
        let is_lost = |slab: SlabId| self.slabs.get(slab).is_none_or(Slab::is_lost);
        let tensors = self.catalog.iter().filter(|(_, tensor)| !tensor.is_part());
        let (lost, there): (Vec<_>, Vec<_>) = tensors.partition(|(_, tensor)| is_lost(tensor.slab));
        (found.lost_tensors, found.tensors) = (lost.len(), there.len());
        // A slab that was empty when the daemon died is either recycled or of no use.
        let empty: Vec<SlabId> =
            self.slabs.iter().filter(|(_, slab)| slab.tensors == 0).map(|(id, _)| id).collect();
        for slab in empty {
            self.recycle_or_drop(ports, slab);
        }
        // Ephemeral tensors of creators that are not known any more.
        let mut orphaned = self.catalog.creators_of_ephemeral();
        orphaned.retain(|creator| !self.clients.knows(*creator));
        for creator in orphaned {
            self.delete_all_ephemeral(ports, creator);
        }
        self.resume_lives(ports);
        self.settle_holds(ports);
        // A version that is lost is one loss, however many slabs it had.
        found.lost_tensors += self.settle_versions(ports);
        found.versions = self.models.len();
        self.about.lost_tensors = u32::try_from(found.lost_tensors).unwrap_or(u32::MAX);
        self.resume_deleted(ports);
        let Recovered { tensors, versions, lost_tensors, clients, .. } = found;
        let (tensors, clients) =
            (count(*tensors as u64, "tensor"), count(*clients as u64, "client"));
        let mut text = format!("{tensors}, {lost_tensors} lost, {clients}");
        if *versions > 0 {
            text.push_str(&format!(", {} of models", count(*versions as u64, "version")));
        }
        self.counts.recoveries = 1;
        self.happened(ports, EventKind::Recovered, None, None, None, text);
    }

    /// The records that a new journal needs to say the same.
    #[must_use]
    pub fn snapshot(&self) -> Vec<Record> {
        let mut records = vec![Record::Opened {
            pond: self.identity.pond,
            key: self.leases.key(),
            created_unix_ms: self.identity.created_ms,
        }];
        records.extend(self.gpus.devices().iter().map(Device::record));
        let recorded = self.clients.iter().filter(|(_, client)| client.recorded);
        records.extend(recorded.map(|(id, client)| client_record(id, client)));
        records.extend(self.hosts.records());
        for (id, slab) in self.slabs.iter() {
            records.push(slab.record(id));
            records.extend(slab.borrowed(id));
        }
        for (id, tensor) in self.catalog.iter() {
            records.push(Record::TensorMade(tensor.record(id)));
            records.extend(self.counted_leases(id, tensor));
            records.extend(self.holds.records_on(id));
        }
        // After the tensors: a tainted slab still has those that were put there before.
        let tainted = self.slabs.iter().filter(|(_, slab)| slab.tainted);
        records.extend(tainted.map(|(id, _)| Record::SlabTainted(id)));
        records.extend(self.models.records());
        records.extend(self.holds.told_records());
        let buried = self.catalog.buried(REMEMBERED_DELETES);
        records.extend(buried.filter_map(|gone| match gone {
            LeaseTarget::Tensor(id) => {
                self.catalog.get(id).is_none().then_some(Record::TensorFreed(id))
            }
            LeaseTarget::Version(id) => {
                self.models.get(id).is_none().then_some(Record::VersionGone(id))
            }
        }));
        records
    }
}
