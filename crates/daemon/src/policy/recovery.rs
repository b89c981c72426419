//! A pond comes back from its journal and the held descriptors.
//!
//! A descriptor without a record is dropped; a record without a descriptor is reported as lost.
//! Clients come back silent: those that live reconnect and claim, those that died are noticed by
//! their pidfds.

use std::collections::{BTreeMap, HashMap};

use millpond_wire::message::EventKind;
use millpond_wire::record::Record;
use millpond_wire::{Epoch, LeaseTarget, PondId, SlabId, VersionId, limits};

use super::accounts::Device;
use super::clients::Client;
use super::create::{slab_record, tensor_of};
use super::events::Events;
use super::hello::client_record;
use super::models::Models;
use super::movers::Movers;
use super::owner::{Caller, Owner};
use super::pond::{About, DriverState, Limits, Pond};
use super::ports::{Held, PortError, Ports};
use super::ranges::Ranges;
use super::slabs::{Pool, Slab, SlabClass, Slabs};
use super::tokens::TokenKey;
use super::words::count;

/// Deleted identities that a compacted journal still remembers.
const REMEMBERED_DELETES: usize = 1024;

/// No slab is larger: all elements that a tensor may have, of the widest dtype. Sums of slabs are
/// far from overflow then.
const SLAB_BYTES: u64 = limits::TENSOR_ELEMENTS * 8;

/// What recovery found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Tensors that are there.
    pub tensors: usize,
    /// Versions of models, lost ones included.
    pub versions: usize,
    /// Tensors and versions whose memory is not.
    pub lost_tensors: usize,
    /// Clients that were known.
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
    pub fn new(
        ports: &mut P,
        key: [u8; 16],
        epoch: Epoch,
        limits: Limits,
    ) -> Result<Self, PortError> {
        let (id, created_ms) = (PondId(ports.random_id()), ports.now_ms());
        ports.journal(&Record::Opened { pond: id, key, created_unix_ms: created_ms })?;
        Ok(Self::empty(id, key, created_ms, epoch, limits, ports.now_ms()))
    }

    fn empty(
        id: PondId,
        key: [u8; 16],
        created_ms: u64,
        epoch: Epoch,
        limits: Limits,
        now_ms: u64,
    ) -> Self {
        Self {
            id,
            key: TokenKey(key),
            created_ms,
            epoch,
            started_ms: now_ms,
            limits,
            driver: DriverState::Starting,
            devices: Vec::new(),
            slabs: Slabs::default(),
            catalog: super::catalog::Catalog::default(),
            clients: super::clients::Clients::default(),
            pending_slabs: BTreeMap::new(),
            before_driver: Vec::new(),
            waiters: Vec::new(),
            status_waiters: Vec::new(),
            movers: Movers::default(),
            models: Models::default(),
            events: Events::new(epoch),
            ends: super::life::Ends::default(),
            ended: super::ended::EndedNames::default(),
            now_ms: 0,
            unfreed: super::unfreed::Unfreed::default(),
            listings: super::listings::Listings::default(),
            limits_told: BTreeMap::new(),
            complaints: super::complaints::Complaints::default(),
            group_readings: Vec::new(),
            charged_users: std::collections::BTreeSet::new(),
            gave_back_ms: None,
            draining: false,
            lost_tensors: 0,
            loading: String::new(),
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
        limits: Limits,
    ) -> Result<(Self, Recovered), PortError> {
        let mut records = records.into_iter();
        let Some(Record::Opened { pond, key, created_unix_ms }) = records.next() else {
            return Err(PortError("the journal does not begin with its opening record".to_owned()));
        };
        let now_ms = ports.now_ms();
        let mut state = Self::empty(pond, key, created_unix_ms, epoch, limits, now_ms);
        let mut found = Recovered::default();
        let mut held = held;
        for record in records {
            state.replay(record, &mut held, &mut found);
        }
        state.settle(ports, held, &mut found);
        Ok((state, found))
    }

    fn replay(&mut self, record: Record, held: &mut HashMap<Held, P::Fd>, found: &mut Recovered) {
        match record {
            Record::Opened { .. } => {}
            Record::ClientSeen(seen) => {
                let Some(pidfd) = held.remove(&Held::Client(seen.client)) else { return };
                let tenant = self.clients.tenant(&seen.tenant);
                let owner = Owner { tenant, user: seen.user, group: seen.group };
                // A mover may have had anything mapped.
                let caller = Caller { owner, groups: seen.groups.into(), admin: seen.mover };
                self.clients.insert(
                    seen.client,
                    Client {
                        caller,
                        pid: seen.pid,
                        program: seen.program,
                        since_ms: seen.since_unix_ms,
                        pidfd: Some(pidfd),
                        conn: None,
                        unclaimed: true,
                        recorded: true,
                        announced: true,
                        leases: BTreeMap::new(),
                        mover: seen.mover,
                    },
                );
            }
            Record::ClientGone(id) => {
                let Some(client) = self.clients.remove(id) else { return };
                for (lease, on) in client.leases {
                    let on = on.target.tensor().and_then(|on| self.catalog.get_mut(on));
                    if let Some(tensor) = on {
                        tensor.leases.remove(&(id, lease));
                    }
                }
                if let Some(pidfd) = client.pidfd {
                    held.insert(Held::Client(id), pidfd);
                }
            }
            Record::SlabMade(made) => {
                let class = SlabClass::from_code(made.class);
                let Some(class) = class.filter(|_| made.bytes <= SLAB_BYTES) else {
                    found.unknown_records += 1;
                    return;
                };
                // Said twice, it must not take the descriptor from the one that is there.
                if self.slabs.get(made.slab).is_some() {
                    return;
                }
                let tenant = self.clients.tenant(&made.tenant);
                let owner = Owner { tenant, user: made.user, group: made.group };
                let mut ranges = Ranges::new(made.bytes);
                ranges.forget_freshness();
                let pool = Pool { device: made.device, owner, audience: made.audience, class };
                self.slabs.insert(
                    made.slab,
                    Slab {
                        pool,
                        bytes: made.bytes,
                        backing: made.backing,
                        fd: held.remove(&Held::Slab(made.slab)),
                        ranges,
                        tensors: 0,
                        tensor_bytes: 0,
                        tainted: false,
                        recovered: true,
                    },
                );
            }
            Record::SlabTainted(id) => {
                self.slabs.taint(id);
            }
            Record::SlabGone(id) => {
                // A slab goes after its tensors: what a damaged journal leaves in it is kept, and
                // is lost if the descriptor is.
                if self.slabs.get(id).is_some_and(|slab| slab.tensors > 0) {
                    return;
                }
                if let Some(Slab { fd: Some(fd), .. }) = self.slabs.remove(id) {
                    held.insert(Held::Slab(id), fd);
                }
            }
            Record::TensorMade(made) => {
                let Some(slab) = self.slabs.get_mut(made.slab) else { return };
                let version = VersionId(made.tensor.0);
                if self.catalog.get(made.tensor).is_some()
                    || self.models.versions.contains_key(&version)
                {
                    return;
                }
                if slab.ranges.take_at(made.offset, made.bytes) {
                    slab.tensors += 1;
                    slab.tensor_bytes += made.bytes;
                    let owner = slab.pool.owner.clone();
                    let mut tensor = tensor_of(&made, true);
                    // A damaged journal may have the version before its part. Said here and not
                    // at the end, or the part were another thing once the version is gone.
                    let mut versions = self.models.with_part(made.tensor);
                    tensor.ready |=
                        tensor.part && versions.any(|(_, version)| version.ready.is_some());
                    drop(versions);
                    self.catalog.insert(made.tensor, &owner, tensor);
                }
            }
            published @ Record::TensorPublished { .. } => self.published(&published),
            Record::TensorAccessed { tensor: id, accesses_left, lease } => {
                if let Some(tensor) = self.catalog.get_mut(id) {
                    tensor.accesses_left = Some(accesses_left);
                }
                if let Some(lease) = lease {
                    self.replay_lease(id, lease);
                }
            }
            Record::TensorDeleted(id) => {
                let slab = self.catalog.get(id).and_then(|tensor| self.slabs.get(tensor.slab));
                if let Some(owner) = slab.map(|slab| slab.pool.owner.clone()) {
                    self.catalog.delete(id, &owner);
                }
            }
            Record::TensorFreed(id) => {
                let slab = self.catalog.get(id).and_then(|tensor| self.slabs.get(tensor.slab));
                let owner = slab.map(|slab| slab.pool.owner.clone());
                match owner.and_then(|owner| self.catalog.remove(id, &owner)) {
                    Some(tensor) => {
                        for (client, lease) in tensor.leases {
                            // Who died with it is recorded as gone after it.
                            if let Some(client) = self.clients.clients.get_mut(&client) {
                                client.leases.remove(&lease);
                            }
                        }
                        self.slabs.give(tensor.slab, tensor.offset, tensor.bytes);
                    }
                    None => self.catalog.bury(id),
                }
            }
            Record::DeviceSeen(seen) => {
                self.devices.retain(|known| known.uuid != seen.device);
                self.devices.push(Device::recorded(seen));
            }
            version @ (Record::VersionStaged(_)
            | Record::VersionReady(_)
            | Record::VersionCurrent { .. }
            | Record::VersionDraining(_)
            | Record::VersionGone(_)) => self.replay_version(version, held),
            Record::Renamed { object, name, token } => self.replay_rename(object, name, token),
            Record::Unknown => found.unknown_records += 1,
        }
    }

    fn settle(&mut self, ports: &mut P, orphans: HashMap<Held, P::Fd>, found: &mut Recovered) {
        let mut orphans: Vec<_> = orphans.into_iter().collect();
        orphans.sort_by_key(|(what, _)| *what);
        for (what, fd) in orphans {
            found.dropped += 1;
            ports.let_go(what, Some(fd));
        }
        found.clients = self.clients.clients.len();
        for (id, client) in &self.clients.clients {
            let Some(pidfd) = &client.pidfd else { continue };
            ports.watch(*id, pidfd);
            if client.mover {
                // It obeys nobody any more, and holds what others wait for.
                ports.kill(pidfd);
            }
        }
        let is_lost = |slab: SlabId| self.slabs.get(slab).is_none_or(|slab| slab.is_lost());
        let tensors = self.catalog.iter().filter(|(_, tensor)| !tensor.part);
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
        orphaned.retain(|creator| !self.clients.clients.contains_key(creator));
        for creator in orphaned {
            self.delete_ephemeral(ports, creator);
        }
        self.resume_lives(ports);
        // A version that is lost is one loss, however many slabs it had.
        found.lost_tensors += self.settle_versions(ports);
        found.versions = self.models.versions.len();
        self.lost_tensors = u32::try_from(found.lost_tensors).unwrap_or(u32::MAX);
        self.resume_deleted(ports);
        let Recovered { tensors, versions, lost_tensors, clients, .. } = found;
        let (tensors, clients) =
            (count(*tensors as u64, "tensor"), count(*clients as u64, "client"));
        let mut text = format!("{tensors}, {lost_tensors} lost, {clients}");
        if *versions > 0 {
            text.push_str(&format!(", {} of models", count(*versions as u64, "version")));
        }
        self.happened(ports, EventKind::Recovered, None, None, None, text);
    }

    /// The keeper was replaced.
    pub fn keeper_replaced(&mut self, ports: &mut P, pid: u32) {
        self.about.keeper_pid = pid;
        let text = format!("pid {pid}; the one before it is gone");
        self.happened(ports, EventKind::KeeperReplaced, None, None, None, text);
    }

    /// The records that a new journal needs to say the same.
    #[must_use]
    pub fn snapshot(&self) -> Vec<Record> {
        let mut records = vec![Record::Opened {
            pond: self.id,
            key: self.key.0,
            created_unix_ms: self.created_ms,
        }];
        records.extend(self.devices.iter().map(Device::record));
        let recorded = self.clients.clients.iter().filter(|(_, client)| client.recorded);
        records.extend(recorded.map(|(id, client)| client_record(*id, client)));
        for (id, slab) in self.slabs.iter() {
            records.push(slab_record(id, slab));
        }
        for (id, tensor) in self.catalog.iter() {
            records.push(Record::TensorMade(super::catalog::record_of(id, tensor)));
            records.extend(self.counted_leases(id, tensor));
        }
        // After the tensors: a tainted slab still has those that were put there before.
        let tainted = self.slabs.iter().filter(|(_, slab)| slab.tainted);
        records.extend(tainted.map(|(id, _)| Record::SlabTainted(id)));
        records.extend(self.version_records());
        let buried = self.catalog.buried(REMEMBERED_DELETES);
        records.extend(buried.filter_map(|gone| match gone {
            LeaseTarget::Tensor(id) => {
                self.catalog.get(id).is_none().then_some(Record::TensorFreed(id))
            }
            LeaseTarget::Version(id) => {
                (!self.models.versions.contains_key(&id)).then_some(Record::VersionGone(id))
            }
        }));
        records
    }
}
