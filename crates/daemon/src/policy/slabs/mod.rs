//! Slabs: which exist, whose they are, what is free in them.
//!
//! A slab has one owner and one audience for its whole life, because whoever got its descriptor can
//! see all of it for ever. So tensors share a slab only with tensors of the same class.

mod class;
mod counts;
mod life;
mod pending;
mod ranges;
mod totals;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use millpond_wire::message::Counts;
use millpond_wire::record::{Record, SlabRecord};
use millpond_wire::{Backing, ClientId, GpuUuid, HANDLE_BYTES, HostId, SlabId, Transport};

pub(super) use class::{GRANULARITY, SlabClass, SlabSize};
use counts::SlabCounts;
pub(super) use pending::{PendingSlab, PendingSlabs};
use ranges::Ranges;
pub(super) use totals::Totals;
use totals::TotalsByDevice;

use super::borrowers::Borrowers;
use super::owner::Caller;

/// The process that keeps memory which no descriptor keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Home {
    Host(HostId),
    /// The process that announced it.
    Owner(ClientId),
}

impl Home {
    fn recorded(backing: &Backing, home: Option<uuid::Uuid>) -> Option<Self> {
        match (backing.transport, backing.adopted) {
            (Transport::Ipc(_), false) => Some(Home::Host(HostId(home?))),
            (Transport::Ipc(_), true) => Some(Home::Owner(ClientId(home?))),
            _ => None,
        }
    }

    fn uuid(self) -> uuid::Uuid {
        match self {
            Home::Host(host) => host.0,
            Home::Owner(client) => client.0,
        }
    }
}

/// Memory that was made, and how others reach it.
#[derive(Clone, Debug)]
pub(super) struct Made<F> {
    pub backing: Backing,
    pub fd: Option<F>,
    pub home: Option<Home>,
    pub event: Option<[u8; HANDLE_BYTES]>,
}

impl<F> Made<F> {
    /// Memory whose descriptor is all there is to it.
    pub(super) fn of_descriptor(fd: F) -> Self {
        Self { backing: Backing::default(), fd: Some(fd), home: None, event: None }
    }
}

/// One allocation of the driver.
#[derive(Clone, Debug)]
pub(super) struct Slab<F> {
    /// What it can be used for.
    pub class: SlabClass,
    pub bytes: u64,
    pub backing: Backing,
    /// The descriptor that belongs to the backing; `None` if it did not survive.
    pub fd: Option<F>,
    pub home: Option<Home>,
    pub event: Option<[u8; HANDLE_BYTES]>,
    /// The process that kept it is gone.
    pub orphan: bool,
    /// Tensors in it, deleted ones with leases included.
    pub tensors: u32,
    /// It has had tensors before.
    was_used: bool,
    pub tensor_bytes: u64,
    /// A lease on it ended by death: nothing new goes into it.
    pub tainted: bool,
    /// It is older than this daemon, so clients that have not claimed yet may hold it.
    pub recovered: bool,
    borrowers: Borrowers,
    ranges: Ranges,
    /// It is among those that may have room.
    listed: bool,
}

impl<F> Slab<F> {
    /// A slab that the driver made just now.
    pub(super) fn new(class: SlabClass, bytes: u64, made: Made<F>) -> Self {
        let Made { backing, fd, home, event } = made;
        Self {
            class,
            bytes,
            backing,
            fd,
            home,
            event,
            orphan: false,
            tensors: 0,
            was_used: false,
            tensor_bytes: 0,
            tainted: false,
            recovered: false,
            borrowers: Borrowers::none(true),
            ranges: ranges_of(&backing, bytes),
            listed: false,
        }
    }

    /// A slab of an earlier daemon. Nobody knows which of its bytes were never used.
    pub(super) fn recovered(class: SlabClass, made: &SlabRecord, fd: Option<F>) -> Self {
        let mut ranges = ranges_of(&made.backing, made.bytes);
        ranges.forget_freshness();
        Self {
            class,
            bytes: made.bytes,
            backing: made.backing,
            fd,
            home: Home::recorded(&made.backing, made.home),
            event: made.event,
            orphan: false,
            tensors: 0,
            was_used: true,
            tensor_bytes: 0,
            tainted: false,
            recovered: true,
            borrowers: Borrowers::none(made.borrowers_recorded),
            ranges,
            listed: false,
        }
    }

    pub(super) fn record(&self, id: SlabId) -> Record {
        Record::SlabMade(SlabRecord {
            slab: id,
            device: self.class.device,
            bytes: self.bytes,
            class: self.class.size as u8,
            tenant: self.class.owner.tenant.to_string(),
            user: self.class.owner.user,
            group: self.class.owner.group,
            audience: self.class.audience,
            backing: self.backing,
            borrowers_recorded: self.borrowers.are_recorded(),
            home: self.home.map(Home::uuid),
            event: self.event,
        })
    }

    /// The records of those who have had a lease on it, beside its owner.
    pub(super) fn borrowed(&self, id: SlabId) -> impl Iterator<Item = Record> {
        self.borrowers.users().map(move |user| Record::SlabBorrowed { slab: id, user })
    }

    /// Whether a client of an earlier daemon may hold it, as long as it has not said what it holds.
    pub(super) fn may_be_held_by(&self, caller: &Caller) -> bool {
        self.borrowers.may_hold(caller, &self.class.owner, self.class.audience)
    }

    /// Of earlier daemons.
    pub(super) fn earlier_borrowers(&self) -> Borrowers {
        self.borrowers.of_earlier_daemons()
    }

    /// Whether the record survived and the memory did not.
    pub(super) fn is_lost(&self) -> bool {
        match self.backing.transport.has_descriptor() {
            true => self.fd.is_none(),
            // No process is known that would keep it.
            false => self.home.is_none(),
        }
    }

    /// Whether tensors may be put into it. One that cannot be used again is for those who wait for it.
    fn is_open(&self) -> bool {
        let is_new = !self.recovered && !self.backing.adopted;
        (self.is_recyclable() || is_new) && !self.tainted && !self.is_lost()
    }

    /// Whether it is of use when it is empty.
    pub(super) fn is_recyclable(&self) -> bool {
        self.class.is_recyclable() && !self.backing.adopted
    }
}

/// A tensor in adopted memory begins and ends where its program put it.
fn ranges_of(backing: &Backing, bytes: u64) -> Ranges {
    match backing.adopted {
        true => Ranges::new(bytes.saturating_add(2 * ranges::ALIGNMENT)),
        false => Ranges::new(bytes),
    }
}

/// Slabs by class.
type Listed = HashMap<SlabClass, Vec<SlabId>>;

/// A slab may have room from now on, if it may ever.
fn list<F>(open: &mut Listed, id: SlabId, slab: &mut Slab<F>) {
    if !slab.listed && slab.is_open() {
        slab.listed = true;
        open.entry(slab.class.clone()).or_default().push(id);
    }
}

#[derive(Debug)]
pub(super) struct Slabs<F> {
    slabs: BTreeMap<SlabId, Slab<F>>,
    totals: TotalsByDevice,
    /// Slabs of a class that may have room, newest last. A slab for one tensor that has one is taken out
    /// when it is met, and comes back when it is empty.
    open: Listed,
    /// Tainted, but the journal does not say so yet.
    untold: BTreeSet<SlabId>,
    /// When a slab was last given back, on the clock that never jumps.
    gave_back_ms: Option<u64>,
    /// Which slabs a process keeps.
    kept: BTreeMap<Home, BTreeSet<SlabId>>,
    /// Memory of hosts that nobody has any more, and that its host does not know of yet.
    unkept: Vec<(HostId, SlabId)>,
    counts: SlabCounts,
}

impl<F> Default for Slabs<F> {
    fn default() -> Self {
        Self {
            slabs: BTreeMap::new(),
            totals: TotalsByDevice::default(),
            open: HashMap::new(),
            untold: BTreeSet::new(),
            gave_back_ms: None,
            kept: BTreeMap::new(),
            unkept: Vec::new(),
            counts: SlabCounts::default(),
        }
    }
}

impl<F> Slabs<F> {
    pub(super) fn insert(&mut self, id: SlabId, mut slab: Slab<F>) {
        list(&mut self.open, id, &mut slab);
        if let Some(home) = slab.home {
            self.kept.entry(home).or_default().insert(id);
        }
        self.totals.add(&slab);
        if let Some(before) = self.slabs.insert(id, slab) {
            self.totals.take(&before);
        }
    }

    pub(super) fn get(&self, id: SlabId) -> Option<&Slab<F>> {
        self.slabs.get(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SlabId, &Slab<F>)> {
        self.slabs.iter().map(|(id, slab)| (*id, slab))
    }

    /// Those that come after one in their order.
    pub(super) fn after(&self, id: Option<SlabId>) -> impl Iterator<Item = (SlabId, &Slab<F>)> {
        let from = id.map_or(Bound::Unbounded, Bound::Excluded);
        self.slabs.range((from, Bound::Unbounded)).map(|(id, slab)| (*id, slab))
    }

    pub(super) fn len(&self) -> usize {
        self.slabs.len()
    }

    /// Puts a tensor into a slab of the class that has room for it.
    pub(super) fn place(
        &mut self,
        class: &SlabClass,
        bytes: u64,
        fresh: bool,
    ) -> Option<(SlabId, u64)> {
        let open = self.open.get_mut(class)?;
        if class.size == SlabSize::Own {
            open.retain(|id| {
                let Some(slab) = self.slabs.get_mut(id) else { return false };
                slab.listed = slab.tensors == 0;
                slab.listed
            });
        }
        // Newest first: older ones are more likely to be full.
        for id in open.iter().rev() {
            let Some(slab) = self.slabs.get_mut(id) else { continue };
            // A slab of one's own is not shared, and not taken by something much smaller.
            let alone = slab.tensors == 0 && slab.bytes == class.slab_bytes(bytes);
            if class.size == SlabSize::Own && !alone {
                continue;
            }
            if let Some(offset) = slab.ranges.take(bytes, fresh) {
                self.counts.place_in(slab);
                self.totals.change(slab, |slab| {
                    slab.tensors += 1;
                    slab.tensor_bytes += bytes;
                });
                return Some((*id, offset));
            }
        }
        None
    }

    /// An empty slab of an earlier daemon that a new one of this class replaces: nothing of it counts
    /// as fresh.
    pub(super) fn replaceable(&self, class: &SlabClass, bytes: u64) -> Option<SlabId> {
        let is_empty = |slab: &Slab<F>| slab.recovered && slab.tensors == 0;
        let mut open = self.open.get(class)?.iter().copied();
        open.find(|id| {
            let slab = self.slabs.get(id).filter(|slab| is_empty(slab));
            slab.is_some_and(|slab| slab.bytes == class.slab_bytes(bytes))
        })
    }

    /// Takes all of an empty slab; false if it is not there or not empty.
    pub(super) fn take_whole(&mut self, id: SlabId) -> bool {
        let Some(slab) = self.slabs.get_mut(&id).filter(|slab| slab.tensors == 0) else {
            return false;
        };
        let taken = slab.ranges.take(slab.bytes, false).is_some();
        if taken {
            self.counts.place_in(slab);
            self.totals.change(slab, |slab| {
                slab.tensors = 1;
                slab.tensor_bytes = slab.bytes;
            });
        }
        taken
    }

    /// Takes exactly these bytes, as the journal says; false if they are not free.
    pub(super) fn take_at(&mut self, id: SlabId, offset: u64, bytes: u64) -> bool {
        let Some(slab) = self.slabs.get_mut(&id) else { return false };
        let taken = slab.ranges.take_at(offset, bytes);
        if taken {
            self.totals.change(slab, |slab| {
                slab.tensors += 1;
                slab.tensor_bytes += bytes;
            });
        }
        taken
    }

    /// Gives a tensor's range back; true when the slab is empty now.
    pub(super) fn give(&mut self, id: SlabId, offset: u64, bytes: u64) -> bool {
        let Some(slab) = self.slabs.get_mut(&id) else { return false };
        slab.ranges.give(offset, bytes);
        self.totals.change(slab, |slab| {
            slab.tensors = slab.tensors.saturating_sub(1);
            slab.tensor_bytes = slab.tensor_bytes.saturating_sub(bytes);
        });
        let empty = slab.tensors == 0;
        if empty {
            slab.borrowers.forget();
        }
        // Also where its end cannot be recorded.
        if empty && !slab.is_recyclable() {
            self.close(id);
        } else if empty {
            list(&mut self.open, id, slab);
        }
        empty
    }

    /// The process that kept it is gone; true if that is news.
    pub(super) fn mark_orphan(&mut self, id: SlabId) -> bool {
        let slab = self.slabs.get_mut(&id);
        let news = slab.is_some_and(|slab| !std::mem::replace(&mut slab.orphan, true));
        if news {
            self.close(id);
        }
        news
    }

    /// No tensor is put into it any more.
    fn close(&mut self, id: SlabId) {
        if let Some(slab) = self.slabs.get_mut(&id).filter(|slab| slab.listed)
            && let Some(open) = self.open.get_mut(&slab.class)
        {
            slab.listed = false;
            open.retain(|other| *other != id);
        }
    }

    /// Slabs that a process keeps.
    pub(super) fn kept_by(&self, home: Home) -> impl Iterator<Item = (SlabId, &Slab<F>)> {
        let kept = self.kept.get(&home).into_iter().flatten();
        kept.filter_map(|id| Some((*id, self.slabs.get(id)?)))
    }

    /// Whether a process keeps memory of a tensor.
    pub(super) fn has_tensors_in(&self, home: Home) -> bool {
        self.kept_by(home).any(|(_, slab)| slab.tensors > 0)
    }

    /// The processes that keep slabs.
    pub(super) fn homes(&self) -> impl Iterator<Item = Home> {
        self.kept.keys().copied()
    }

    /// Nothing new goes into this slab; true if that is news.
    pub(super) fn mark_tainted(&mut self, id: SlabId) -> bool {
        let Some(slab) = self.slabs.get_mut(&id) else { return false };
        let news = !std::mem::replace(&mut slab.tainted, true);
        if news {
            self.close(id);
        }
        news
    }

    /// What the journal says about a borrower.
    pub(super) fn replay_borrower(&mut self, id: SlabId, user: u32) {
        if let Some(slab) = self.slabs.get_mut(&id) {
            slab.borrowers.replay(user);
        }
    }

    /// Takes a slab out of the books.
    pub(super) fn remove(&mut self, id: SlabId) -> Option<Slab<F>> {
        let slab = self.slabs.remove(&id)?;
        self.totals.take(&slab);
        self.untold.remove(&id);
        if let Some(home) = slab.home
            && let Some(kept) = self.kept.get_mut(&home)
        {
            kept.remove(&id);
            if kept.is_empty() {
                self.kept.remove(&home);
            }
        }
        if let Some(open) = self.open.get_mut(&slab.class) {
            open.retain(|other| *other != id);
            if open.is_empty() {
                self.open.remove(&slab.class);
            }
        }
        Some(slab)
    }

    /// Takes a slab out because it is given back.
    fn give_back(&mut self, id: SlabId, now_ms: u64) -> Option<Slab<F>> {
        let slab = self.remove(id)?;
        self.gave_back_ms = Some(now_ms);
        self.counts.given_back.add(slab.bytes);
        Some(slab)
    }

    /// What has become of slabs since this daemon began, among the other counters.
    pub(super) fn count_into(&self, counts: &mut Counts) {
        self.counts.count_into(counts);
    }

    /// Takes out what hosts are to free.
    pub(super) fn take_unkept(&mut self) -> Vec<(HostId, SlabId)> {
        std::mem::take(&mut self.unkept)
    }

    /// It is not time yet.
    pub(super) fn keep_unkept(&mut self, host: HostId, slab: SlabId) {
        self.unkept.push((host, slab));
    }

    /// Memory beside slabs is given back.
    pub(super) fn gives_back(&mut self, now_ms: u64) {
        self.gave_back_ms = Some(now_ms);
    }

    /// When memory was last given back.
    pub(super) fn gave_back_ms(&self) -> Option<u64> {
        self.gave_back_ms
    }

    /// The journal has, or has not, taken that a slab is tainted.
    fn taint_is_recorded(&mut self, id: SlabId, recorded: bool) {
        match recorded {
            true => self.untold.remove(&id),
            false => self.untold.insert(id),
        };
    }

    /// Tainted, and the journal does not say so.
    pub(super) fn is_untold(&self, id: SlabId) -> bool {
        self.untold.contains(&id)
    }

    pub(super) fn are_untold(&self) -> bool {
        !self.untold.is_empty()
    }

    /// What all slabs on a GPU have together.
    pub(super) fn totals_on(&self, device: GpuUuid) -> Totals {
        self.totals.on(device)
    }

    /// Whether the totals are those of the slabs, counted anew.
    pub(super) fn totals_are_right(&self) -> bool {
        let mut anew = TotalsByDevice::default();
        self.slabs.values().for_each(|slab| anew.add(slab));
        anew == self.totals
    }

    /// GPUs with slabs.
    pub(super) fn devices(&self) -> impl Iterator<Item = GpuUuid> {
        self.totals.devices()
    }

    /// Slabs on a GPU.
    pub(super) fn on(&self, device: GpuUuid) -> impl Iterator<Item = (SlabId, &Slab<F>)> {
        self.iter().filter(move |(_, slab)| slab.class.device == device)
    }

    /// Empty slabs on a GPU that are kept for their owner.
    pub(super) fn recycled_on(&self, device: GpuUuid) -> impl Iterator<Item = (SlabId, &Slab<F>)> {
        self.on(device).filter(|(_, slab)| slab.tensors == 0)
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::{Audience, TransportKind};

    use super::*;
    use crate::policy::owner::Owner;

    fn class(user: u32, audience: Audience) -> SlabClass {
        SlabClass {
            device: GpuUuid([1; 16]),
            owner: Owner { tenant: "local".into(), user, group: 1 },
            audience,
            size: SlabSize::Small,
            transport: TransportKind::Vmm,
        }
    }

    fn slab(class: SlabClass) -> Slab<()> {
        Slab::new(class, GRANULARITY, Made::of_descriptor(()))
    }

    #[test]
    fn a_slab_of_ones_own_is_recycled_whole() {
        let own = SlabClass { size: SlabSize::Own, ..class(1, Audience::User) };
        let bytes = 80 << 20;
        let mut slabs = Slabs::default();
        let id = SlabId::random();
        slabs.insert(id, Slab::new(own.clone(), bytes, Made::of_descriptor(())));
        assert_eq!(slabs.place(&own, 40 << 20, false), None, "half of it would be wasted");
        assert_eq!(slabs.place(&own, bytes - 5, false), Some((id, 0)));
        assert_eq!(slabs.place(&own, bytes, false), None);
    }

    #[test]
    fn slabs_of_ones_own_are_looked_at_only_while_they_are_empty() {
        let own = SlabClass { size: SlabSize::Own, ..class(1, Audience::User) };
        let bytes = 80 << 20;
        let mut slabs = Slabs::default();
        let ids: Vec<SlabId> = (0..100).map(|_| SlabId::random()).collect();
        for id in &ids {
            slabs.insert(*id, Slab::new(own.clone(), bytes, Made::of_descriptor(())));
            assert_eq!(slabs.place(&own, bytes, false), Some((*id, 0)));
            assert_eq!(slabs.open[&own].len(), 1, "those in use are not among them");
        }
        for empty in [ids[7], ids[70], ids[99]] {
            assert!(slabs.give(empty, 0, bytes));
        }
        assert!(slabs.mark_tainted(ids[70]));
        let found = [(); 3].map(|()| slabs.place(&own, bytes, false));
        assert!(found.contains(&Some((ids[7], 0))) && found.contains(&Some((ids[99], 0))));
        assert_eq!(found[2], None);
        // One that is not among them does not come back when nothing may be put into it.
        assert!(slabs.mark_tainted(ids[3]) && slabs.give(ids[3], 0, bytes));
        assert!(slabs.mark_orphan(ids[4]));
        assert_eq!(slabs.place(&own, bytes, false), None);
        for id in ids {
            slabs.remove(id);
        }
        assert!(slabs.open.is_empty());
    }

    #[test]
    fn tensors_share_a_slab_only_inside_a_class_and_never_a_tainted_one() {
        let mut slabs = Slabs::default();
        let id = SlabId::random();
        let mine = class(1, Audience::User);
        slabs.insert(id, slab(mine.clone()));
        assert_eq!(slabs.place(&mine, 100, false), Some((id, 0)));
        assert_eq!(slabs.place(&class(2, Audience::User), 100, false), None);
        assert_eq!(slabs.place(&class(1, Audience::Everybody), 100, false), None);
        assert_eq!(slabs.place(&mine, GRANULARITY, false), None);
        assert!(slabs.mark_tainted(id));
        assert!(!slabs.mark_tainted(id));
        assert_eq!(slabs.place(&mine, 100, false), None);
        assert!(slabs.give(id, 0, 100));
        assert_eq!(slabs.totals_on(GpuUuid([1; 16])).bytes, GRANULARITY);
        assert!(slabs.remove(id).is_some());
        assert_eq!(slabs.totals_on(GpuUuid([1; 16])).bytes, 0);
    }
}
