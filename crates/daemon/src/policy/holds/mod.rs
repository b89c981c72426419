//! Holds: tensors that are kept for processes which have no connection to the pond.
//!
//! A hold is in the journal, with the process that it is for: its number and when it started, which
//! together are never another process's. So a hold outlives every daemon, and ends with its process
//! whichever daemon there is then. A process that could not be found is as good as nobody: such
//! holds last until they are given up or the tensor is deleted.

mod asks;
mod ends;
mod told;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use millpond_wire::TensorId;
use millpond_wire::record::{HoldRecord, HoldTold, HolderProcess, Record};

use crate::accounts::{Accounts, Charge, Resource};
pub(super) use asks::no_hold_left;
use told::Told;

/// For whom a tensor is held; `None` is nobody in particular.
pub(super) type Holder = Option<HolderProcess>;

/// Whether the end of a holder is noticed.
fn is_watched(holder: Holder) -> bool {
    holder.is_some_and(|process| process.started.is_some())
}

/// The holds of one user for one holder on one tensor.
#[derive(Debug)]
struct Entry {
    count: u64,
    _charge: Charge,
}

/// What one user holds for a process that is watched.
#[derive(Debug)]
struct OfProcess {
    tensors: BTreeSet<TensorId>,
    _charge: Charge,
}

#[derive(Debug)]
pub(super) struct Holds {
    accounts: Accounts,
    /// Tensors with at least one hold.
    tensors: BTreeMap<TensorId, BTreeMap<(Holder, u32), Entry>>,
    /// Processes that are watched, with what each user holds for them.
    processes: BTreeMap<HolderProcess, BTreeMap<u32, OfProcess>>,
    told: Told,
    /// Processes that are gone, and whose holds have not all ended.
    gone: VecDeque<HolderProcess>,
}

impl Holds {
    pub(super) fn new(accounts: Accounts) -> Self {
        Self {
            accounts,
            tensors: BTreeMap::new(),
            processes: BTreeMap::new(),
            told: Told::default(),
            gone: VecDeque::new(),
        }
    }

    pub(super) fn are_on(&self, id: TensorId) -> bool {
        self.tensors.contains_key(&id)
    }

    /// How many there are on a tensor.
    pub(super) fn count_on(&self, id: TensorId) -> u64 {
        self.on(id).fold(0, |sum, (_, _, count)| sum.saturating_add(count))
    }

    /// Who holds a tensor, on whose account, and how often.
    fn on(&self, id: TensorId) -> impl Iterator<Item = (Holder, u32, u64)> {
        let entries = self.tensors.get(&id).into_iter().flatten();
        entries.map(|((holder, user), entry)| (*holder, *user, entry.count))
    }

    /// Whose account each is on, and the process that it is for.
    pub(super) fn holders_on(&self, id: TensorId) -> impl Iterator<Item = (u32, Option<u32>)> {
        self.on(id).map(|(holder, user, _)| (user, holder.map(|process| process.pid)))
    }

    fn count_of(&self, id: TensorId, holder: Holder, user: u32) -> u64 {
        let entries = self.tensors.get(&id);
        entries.and_then(|entries| entries.get(&(holder, user))).map_or(0, |entry| entry.count)
    }

    fn knows(&self, process: HolderProcess) -> bool {
        self.processes.contains_key(&process)
    }

    /// Whether this user holds anything for a process.
    fn holds_for(&self, process: HolderProcess, user: u32) -> bool {
        self.processes.get(&process).is_some_and(|users| users.contains_key(&user))
    }

    /// From now on there are so many. What was checked is charged to the user's account.
    fn set(&mut self, id: TensorId, tenant: &Rc<str>, (holder, user): (Holder, u32), count: u64) {
        if count == 0 {
            return self.end(id, holder, user);
        }
        let charge = |resource| Charge::new(&self.accounts.of(tenant, user), resource, 1);
        let entries = self.tensors.entry(id).or_default();
        let new = || Entry { count, _charge: charge(Resource::Holds) };
        entries.entry((holder, user)).or_insert_with(new).count = count;
        if let Some(process) = holder.filter(|_| is_watched(holder)) {
            let new = || OfProcess { tensors: BTreeSet::new(), _charge: charge(Resource::Holders) };
            let users = self.processes.entry(process).or_default();
            users.entry(user).or_insert_with(new).tensors.insert(id);
        }
    }

    fn end(&mut self, id: TensorId, holder: Holder, user: u32) {
        let Some(entries) = self.tensors.get_mut(&id) else { return };
        entries.remove(&(holder, user));
        if entries.is_empty() {
            self.tensors.remove(&id);
        }
        let Some(process) = holder else { return };
        let Some(users) = self.processes.get_mut(&process) else { return };
        if let Some(held) = users.get_mut(&user) {
            held.tensors.remove(&id);
            if held.tensors.is_empty() {
                users.remove(&user);
            }
        }
        if users.is_empty() {
            self.processes.remove(&process);
        }
    }

    /// The tensor is deleted: what would last for ever ends now. Processes keep the memory until
    /// they end.
    pub(super) fn tensor_deleted(&mut self, id: TensorId) {
        let unwatched: Vec<_> = self.on(id).filter(|(holder, ..)| !is_watched(*holder)).collect();
        for (holder, user, _) in unwatched {
            self.end(id, holder, user);
        }
    }

    /// The journal says that the tensor is freed.
    pub(super) fn tensor_freed(&mut self, id: TensorId) {
        let all: Vec<_> = self.on(id).collect();
        for (holder, user, _) in all {
            self.end(id, holder, user);
        }
    }

    /// The records of the holds on a tensor, for a new journal.
    pub(super) fn records_on(&self, id: TensorId) -> impl Iterator<Item = Record> {
        self.on(id).map(move |(process, user, count)| {
            Record::HoldChanged(HoldRecord { tensor: id, process, user, count, told: None })
        })
    }

    /// The journal says that this request was done.
    pub(super) fn remember(&mut self, told: HoldTold) {
        self.told.remember(told);
    }

    /// The requests that a new journal has to remember.
    pub(super) fn told_records(&self) -> impl Iterator<Item = Record> {
        self.told.all().map(Record::HoldTold)
    }

    /// Whose account each is on, to count anew.
    pub(super) fn users(&self) -> impl Iterator<Item = (u32, Resource)> {
        let holds = self.tensors.values().flat_map(BTreeMap::keys);
        let holders = self.processes.values().flat_map(BTreeMap::keys);
        let holds = holds.map(|(_, user)| (*user, Resource::Holds));
        holds.chain(holders.map(|user| (*user, Resource::Holders)))
    }

    /// Whether processes and tensors say the same of each other.
    pub(super) fn are_consistent(&self) -> bool {
        let of_tensors = self.tensors.iter().flat_map(|(id, entries)| {
            let watched = entries.keys().filter(|(holder, _)| is_watched(*holder));
            watched.filter_map(|(holder, user)| Some(((*holder)?, *user, *id)))
        });
        let of_processes = self.processes.iter().flat_map(|(process, users)| {
            users.iter().flat_map(|(user, held)| {
                held.tensors.iter().map(|tensor| (*process, *user, *tensor))
            })
        });
        of_tensors.collect::<BTreeSet<_>>() == of_processes.collect::<BTreeSet<_>>()
    }
}
