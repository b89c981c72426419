//! Requests about groups, on their way to whoever keeps the groups' files and back.
//!
//! The policy knows who asks and who is the operator; the files, and so who may use a group, are
//! known elsewhere. No answer is waited for here: it comes to [`Pond::group_answered`].

use std::collections::{BTreeMap, BTreeSet};

use millpond_wire::message::{CacheGave, CacheOpen, EventKind, GroupJoin, GroupSet, ReplyBody};
use millpond_wire::{CacheId, Failure, GpuUuid, GroupName, SlabId};

use super::answer::{Answer, Answered, now};
use super::owner::{Caller, LOCAL_TENANT};
use super::parked::{RequestId, Until, Wish};
use super::pond::Pond;
use super::ports::{ConnId, Ports};
use super::slabs::Slab;
use crate::accounts::{Refused, Resource};
use crate::budget::Payers;

/// Groups by the user who made them, and by what they count as.
pub type OwnedGroups = BTreeMap<(u32, Resource), usize>;

/// Something about a group that somebody asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupAsk {
    pub conn: ConnId,
    pub number: u64,
    pub by: GroupCaller,
    pub work: GroupWork,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupCaller {
    pub user: u32,
    /// The user's primary group in the system's sense.
    pub gid: u32,
    pub pid: u32,
    pub operator: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupWork {
    /// Make or change one.
    Set(GroupSet),
    /// Give a program a place in one.
    Join(GroupJoin),
    List,
    /// One and its processes.
    Inspect(GroupName),
    Remove(GroupName),
    /// A process has a cache; with its program's name.
    OpenCache(Box<CacheOpen>, String),
    CloseCache(CacheId),
    /// Every cache, or those of one group.
    Caches(Option<GroupName>),
    /// A commit of a cache falls short by so many bytes, and waits for so many milliseconds.
    Want(CacheId, u64, u64),
    /// A cache was asked for pages, and answers.
    Gave(CacheGave),
    /// The connection is gone; nobody waits for an answer.
    HungUp,
    /// A slab for this user needs so many bytes; nobody waits for an answer.
    Press(GpuUuid, u64),
}

/// What groups hold on one GPU, against what the card says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupReading {
    pub device: GpuUuid,
    /// Charged to processes of groups.
    pub charged_bytes: u64,
    /// What the card says that they have more.
    pub drift_bytes: i64,
    /// What the card has in use beside them; the pond's slabs are a part of it.
    pub outside_bytes: u64,
}

impl<P: Ports> Pond<P> {
    /// Passes a request on, with whether the operator asks. Whose a group is, and so who may change
    /// it, is known where its files are.
    pub(super) fn ask_group(
        &mut self,
        ports: &mut P,
        by: RequestId,
        caller: &Caller,
        work: GroupWork,
    ) -> Answer<P::Fd> {
        // Who watches asks for nothing that would change a group.
        let operator = caller.sees_everything() || self.is_operator(caller);
        let changes = matches!(work, GroupWork::Set(_) | GroupWork::Join(_) | GroupWork::Remove(_));
        if changes {
            self.check_draining()?;
        }
        let RequestId { conn, number } = by;
        let pid = self.clients.connection(conn).map_or(0, |connection| connection.process.pid);
        self.park(by, Wish::Group, None);
        let by = GroupCaller { user: caller.owner.user, gid: caller.owner.group, pid, operator };
        ports.ask_group(GroupAsk { conn, number, by, work });
        Ok(Answered::Parked)
    }

    /// The answer to a request about groups.
    pub fn group_answered(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        number: u64,
        answer: Result<ReplyBody, Failure>,
    ) {
        let by = RequestId { conn, number };
        let ticket = self.parked.find(by, Until::Group);
        self.answer_parked(ports, ticket, answer.and_then(now));
    }

    /// Something happened to a group.
    pub fn group_event(
        &mut self,
        ports: &mut P,
        kind: EventKind,
        group: &GroupName,
        user: Option<u32>,
        text: &str,
    ) {
        self.happened(ports, kind, None, group.for_event(), user, text);
    }

    /// How many groups users have made: they are in their accounts.
    pub fn groups_owned(&mut self, owned: OwnedGroups) {
        let before = std::mem::replace(&mut self.owned_groups, owned);
        let keys: BTreeSet<_> = before.keys().chain(self.owned_groups.keys()).copied().collect();
        let tenant = self.tenant(LOCAL_TENANT);
        for key in keys {
            let number = |of: &OwnedGroups| of.get(&key).map_or(0, |number| *number as u64);
            let account = self.accounts.of(&tenant, key.0);
            account.change(key.1, number(&before), number(&self.owned_groups));
        }
    }

    /// A user was refused another group; the answer is on its way.
    pub fn no_more_groups(&mut self, ports: &mut P, user: u32, refused: Refused) {
        let tenant = self.tenant(LOCAL_TENANT);
        let account = self.accounts.of(&tenant, user);
        self.tell_of_cap(ports, &account, refused);
    }

    /// What groups hold on the GPUs, for `status`.
    pub fn group_readings(&mut self, readings: Vec<GroupReading>) {
        self.group_readings = readings;
    }

    /// Which group pays for whom. Its users' slabs that nobody uses any more are not kept for them:
    /// the programs of the group could not have that memory.
    pub fn payers(&mut self, ports: &mut P, payers: Payers) {
        self.payers = payers;
        let is_charged = |slab: &Slab<P::Fd>| self.payers.is_charged(slab.class.owner.user);
        let empty = self.slabs.iter().filter(|(_, slab)| slab.tensors == 0 && is_charged(slab));
        let empty: Vec<SlabId> = empty.map(|(id, _)| id).collect();
        for slab in empty {
            self.slabs.let_go(ports, slab);
        }
    }

    /// The cards that an earlier daemon saw, with their sizes: limits follow before the driver has
    /// answered again.
    #[must_use]
    pub fn known_cards(&self) -> Vec<(GpuUuid, u64)> {
        let seen = self.gpus.devices().iter().filter(|device| device.total_bytes > 0);
        seen.map(|device| (device.uuid, device.total_bytes)).collect()
    }

    /// Every slab with its owner: what is to be in the groups' accounts.
    #[must_use]
    pub fn slab_charges(&self) -> Vec<(SlabId, GpuUuid, u64, u32)> {
        let charge = |(id, slab): (SlabId, &Slab<P::Fd>)| {
            (id, slab.class.device, slab.bytes, slab.class.owner.user)
        };
        self.slabs.iter().map(charge).chain(self.hosts.contexts()).collect()
    }
}
