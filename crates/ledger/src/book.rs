//! The operator's side of a group: daemon and command line.

use core::ffi::CStr;
use core::time::Duration;

use crate::error::{LedgerError, PondRefused};
use crate::establish::{Access, make_files};
use crate::file::{Head, Memory};
use crate::layout::{Column, DeviceReading, SlotIndex, SlotKind, Totals, Uuid};
use crate::limits::{Budget, Limits, Name};
use crate::liveness::{self, Life, own_namespace};
use crate::lock::Locked;
use crate::member::Wait;
use crate::path::Path;
use crate::protocol::{self, Outcome, Sound};
use crate::region::Region;
use crate::sys;
use crate::view::View;

/// How long opening a book waits for the lock, which it needs only when all members have ended.
const OPENING: Patience = Patience(Duration::from_secs(1));

/// How long to wait for a group's lock. A stopped member can hold it for ever, and the operator
/// must not wait for that: [`LedgerError::Busy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience(pub Duration);

/// What a new group is like.
#[derive(Debug, Clone, Copy)]
pub struct BookSettings<'a> {
    /// The group's name.
    pub name: &'a [u8],
    /// The user who owns the ledger, when it is not this process's: its members.
    pub owner: Option<u32>,
    /// Whether every user may be a member.
    pub everyone: bool,
    /// Where the members' slots are. Segments are safe from truncation; only files reach into
    /// containers that have an IPC namespace of their own.
    pub memory: Memory,
}

/// Marks on a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u32);

impl Flags {
    /// NVML sees more than the members say.
    pub const LYING: Flags = Flags(1);
    /// Ends with its last process.
    pub const ANONYMOUS: Flags = Flags(2);
    /// A member that does not answer when memory is asked of it may be ended.
    pub const ENDS_SILENT: Flags = Flags(4);

    /// Whether all of `other` is set.
    pub fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One process of a group, as its slot says. The member wrote it: it is a claim, not a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberReading {
    /// Its slot.
    pub slot: SlotIndex,
    /// What that counts.
    pub kind: SlotKind,
    /// Its process id, in its own pid namespace.
    pub pid: i32,
    /// The inode of its pid namespace; 0 when it did not know.
    pub pid_namespace: u64,
    /// Whether that is the caller's pid namespace.
    pub same_namespace: bool,
    /// When it started, in clock ticks since boot.
    pub start_ticks: u64,
    /// Its program's short name, ended by zeroes.
    pub program: [u8; 16],
    /// Whether it lives. A dead one still counts until [`Book::reap`] or the next grant.
    pub alive: bool,
}

/// A group, for whoever sets its limits. Calls that change something take the group's lock with
/// the given patience; the others never wait.
#[derive(Debug)]
pub struct Book {
    region: Region,
    ledger: Path,
    limits: Path,
}

impl Book {
    /// Makes the folder and its two files. What is there and readable is kept: then it is
    /// [`Book::open`]. The folder above must exist.
    pub fn create(folder: &CStr, settings: BookSettings<'_>) -> Result<Book, LedgerError> {
        match sys::mkdir(folder, 0o755) {
            Ok(()) | Err(libc::EEXIST) => {}
            Err(errno) => return Err(LedgerError::System { call: "mkdir", errno }),
        }
        let access = Access { owner: settings.owner, everyone: settings.everyone, explicit: true };
        let limits = Limits::new(settings.name)?;
        make_files(folder, limits, settings.memory, access, |fd| {
            Locked::from_fd_within(fd, OPENING)
        })?;
        Self::open(folder)
    }

    /// Opens a group that exists.
    pub fn open(folder: &CStr) -> Result<Book, LedgerError> {
        let ledger = Path::join(folder, c"ledger")?;
        let limits = Path::join(folder, c"limits")?;
        Limits::load(limits.as_c())?;
        let file = Locked::without(ledger.as_c())?;
        let head = Head::require(file.fd())?;
        let region = match Region::reach(&head, false)? {
            Some(region) => region,
            None => {
                let lock = || {
                    let locked = Locked::within(ledger.as_c(), OPENING)?;
                    let head = Head::require(locked.fd())?;
                    Ok((locked, head))
                };
                Wait::for_a_region(lock)?.1
            }
        };
        Ok(Self { region, ledger, limits })
    }

    /// The group's name.
    pub fn name(&self) -> Result<Name, LedgerError> {
        Ok(self.load()?.name())
    }

    /// The entry of one GPU, or the one for every GPU (`None`); `None` when there is none.
    pub fn entry(&self, device: Option<Uuid>) -> Result<Option<Budget>, LedgerError> {
        Ok(self.load()?.entry(device.as_ref()))
    }

    /// The `n`th entry, for listing: device (`None` is every GPU) and budget.
    pub fn nth_entry(&self, n: usize) -> Result<Option<(Option<Uuid>, Budget)>, LedgerError> {
        Ok(self.load()?.entries().nth(n))
    }

    /// The budget that holds on this GPU: its own, or the one for every GPU, or none.
    pub fn budget(&self, device: Uuid) -> Result<Budget, LedgerError> {
        Ok(self.load()?.budget(&device))
    }

    /// Changes (or makes) an entry, then takes back unused credit, so that a lower limit holds from
    /// the next allocation on. `change` sees the entry as it is under the lock. A new entry of one
    /// GPU begins as a copy of the one for every GPU; changing the latter leaves the former alone.
    pub fn change(
        &self,
        device: Option<Uuid>,
        patience: Patience,
        change: impl FnOnce(&mut Budget),
    ) -> Result<Budget, LedgerError> {
        let (locked, fd, mut limits) = self.edit(patience)?;
        let view = self.region.view(locked.fd(), patience);
        let mut budget =
            limits.entry(device.as_ref()).or_else(|| limits.entry(None)).unwrap_or_default();
        change(&mut budget);
        limits.set(device.as_ref(), &budget)?;
        limits.write(&fd)?;
        settle(&view, &limits);
        view.whole()?;
        Ok(budget)
    }

    /// Sets the limit that members obey on this GPU; see [`Book::change`].
    pub fn set_effective(
        &self,
        device: Uuid,
        units: u64,
        patience: Patience,
    ) -> Result<(), LedgerError> {
        self.change(Some(device), patience, |budget| budget.effective = units).map(|_| ())
    }

    /// Charges the group for pond memory before it is made. All or nothing. It is in the limits
    /// file when this returns, so it outlives the daemon. Where [`crate::Member::reserve`] waits for
    /// members that are ending, this says so instead.
    pub fn reserve_pond(
        &self,
        device: Uuid,
        units: u64,
        patience: Patience,
    ) -> Result<(), PondRefused> {
        let (locked, fd, mut limits) = self.edit(patience)?;
        let view = self.region.view(locked.fd(), patience);
        let mut budget = limits.budget(&device);
        let index = view.find_device(&device);
        let limit = budget.for_members();
        let refused = match index {
            None => (units > limit).then_some(false),
            Some(index) => protocol::room_for_pond(
                units,
                limit,
                || {
                    let owed = view.owed(index, None, sys::monotonic_nanos());
                    view.sums(index).0.saturating_add(owed)
                },
                || view.reap(locked.fd(), false),
                |missing| view.strip::<Sound>(index, None, missing),
                |reaped| view.claims_of(&reaped.dying, index),
            )?,
        };
        view.whole()?;
        if let Some(soon) = refused {
            return Err(PondRefused::Limit { soon });
        }
        budget.pond = budget.pond.saturating_add(units);
        limits.set(Some(&device), &budget)?;
        limits.write(&fd)?;
        Ok(())
    }

    /// Takes back what [`Book::reserve_pond`] charged.
    pub fn release_pond(
        &self,
        device: Uuid,
        units: u64,
        patience: Patience,
    ) -> Result<(), LedgerError> {
        self.set_pond_by(device, patience, |pond| pond.saturating_sub(units))
    }

    /// Sets what the pond holds, as counted after a restart.
    pub fn set_pond(
        &self,
        device: Uuid,
        units: u64,
        patience: Patience,
    ) -> Result<(), LedgerError> {
        self.set_pond_by(device, patience, |_| units)
    }

    /// What the group has on this GPU.
    pub fn totals(&self, device: Uuid) -> Result<Totals, LedgerError> {
        let pond = self.budget(device)?.pond;
        let (credit, used) = self
            .look(|view| Ok(view.find_device(&device).map_or((0, 0), |index| view.sums(index))))?;
        Ok(Totals { credit, used, pond })
    }

    /// Takes back all unused credit on this GPU, so that `credit` in [`Book::totals`] is `used`; for
    /// when other groups need what this one was promised. Says how many units that were.
    pub fn take_back(&self, device: Uuid, patience: Patience) -> Result<u64, LedgerError> {
        let locked = self.lock(patience)?;
        let view = self.region.view(locked.fd(), patience);
        let index = view.find_device(&device);
        let found = index.map_or(0, |index| view.strip::<Sound>(index, None, u64::MAX));
        view.whole()?;
        Ok(found)
    }

    /// Notes that a slot's owner waits for `units`: until then nobody else gets them. A slot waits for
    /// one thing at a time: its owner takes what it was assigned, and says so with
    /// [`crate::Member::waited`], before it waits again.
    pub fn want(
        &self,
        slot: SlotIndex,
        device: Uuid,
        units: u64,
        time: Duration,
        patience: Patience,
    ) -> Result<(), LedgerError> {
        let locked = self.lock(patience)?;
        let view = self.region.view(locked.fd(), patience);
        require(&view, slot)?;
        let device = view.claim_device(&device)?;
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let until = sys::monotonic_nanos().saturating_add(nanos);
        // Nobody sees the new number under an old time that is over.
        view.set_wanted(slot.get(), device, units);
        view.set_until(slot.get(), device, until);
        view.whole()
    }

    /// Gives a waiter the credit that it waits for, from what is free, from the dead, then from what
    /// others do not use: all of it, or says how much is missing. Others who wait are passed over, so
    /// the caller asks for the first of them first. A second call changes nothing.
    pub fn assign(
        &self,
        slot: SlotIndex,
        device: Uuid,
        patience: Patience,
    ) -> Result<Option<u64>, LedgerError> {
        let locked = self.lock(patience)?;
        let view = self.region.view(locked.fd(), patience);
        require(&view, slot)?;
        let limit = self.load()?.budget(&device).for_members();
        let device = view.claim_device(&device)?;
        let place = slot.get();
        let (wanted, kept) = view.line(place, device).wait(sys::monotonic_nanos());
        view.whole()?;
        if wanted == 0 {
            return Ok(None);
        }
        let units = u32::try_from(wanted).unwrap_or(u32::MAX);
        let attempt = || {
            let room = protocol::room(limit, view.sums(device).0);
            protocol::assign(&view.held(place, device), units, room)
        };
        let mut outcome = attempt();
        if outcome != Outcome::Done {
            view.reap(locked.fd(), false)?;
            outcome = attempt();
        }
        if let Outcome::Short(missing) = outcome {
            view.strip::<Sound>(device, Some(place), missing);
            outcome = attempt();
        }
        view.whole()?;
        match outcome {
            Outcome::Short(missing) => Ok(Some(missing)),
            Outcome::Done => {
                // In this order: whoever is killed in between leaves a waiter that is assigned again.
                // What was assigned for an earlier wait may not be taken yet.
                view.set_kept(place, device, wanted.max(kept));
                view.set_wanted(place, device, 0);
                view.whole()?;
                Ok(None)
            }
        }
    }

    /// A slot's owner waits no longer. What it was assigned before, for another wait, stays its own
    /// until it has taken that ([`crate::Member::waited`]) or its time is over.
    pub fn unwant(
        &self,
        slot: SlotIndex,
        device: Uuid,
        patience: Patience,
    ) -> Result<(), LedgerError> {
        let locked = self.lock(patience)?;
        let view = self.region.view(locked.fd(), patience);
        require(&view, slot)?;
        if let Some(device) = view.find_device(&device) {
            view.set_wanted(slot.get(), device, 0);
        }
        view.whole()
    }

    /// Calls `each` for every process that has a slot.
    pub fn members(&self, mut each: impl FnMut(MemberReading)) -> Result<(), LedgerError> {
        let file = Locked::without(self.ledger.as_c())?;
        Head::same_life(file.fd(), self.region.nonce())?;
        let view = self.region.view(file.fd(), Patience(Duration::ZERO));
        let namespace = own_namespace();
        let taken = view.taken();
        for index in taken.slots() {
            let owner = view.identity(index);
            view.whole()?;
            let life = liveness::life_of(file.fd(), index, &owner, namespace)?;
            each(MemberReading {
                slot: SlotIndex {
                    index: u16::try_from(index).unwrap_or(u16::MAX),
                    serial: owner.serial,
                },
                kind: owner.kind,
                pid: owner.pid,
                pid_namespace: owner.namespace,
                same_namespace: namespace != 0 && owner.namespace == namespace,
                start_ticks: owner.start,
                program: owner.program,
                alive: life == Life::Living,
            });
        }
        view.whole()
    }

    /// What one process has on one GPU.
    pub fn reading(&self, slot: SlotIndex, device: Uuid) -> Result<DeviceReading, LedgerError> {
        self.look(|view| {
            require(view, slot)?;
            let device = view.find_device(&device);
            Ok(device
                .map_or_else(DeviceReading::default, |device| view.reading(slot.get(), device)))
        })
    }

    /// Adds to what a process is charged (or takes back what was added before): what NVML sees and
    /// the member did not count. Never takes back more than was added.
    pub fn fold(
        &self,
        slot: SlotIndex,
        device: Uuid,
        units: i64,
        patience: Patience,
    ) -> Result<(), LedgerError> {
        let locked = self.lock(patience)?;
        let view = self.region.view(locked.fd(), patience);
        require(&view, slot)?;
        let limit = self.load()?.budget(&device).for_members();
        let device = view.claim_device(&device)?;
        // Nobody else writes this word, and only under the lock.
        let now = view.reading(slot.get(), device).folded;
        view.set_column(slot.get(), device, Column::Folded, now.saturating_add_signed(units));
        view.settle(device, limit);
        view.whole()
    }

    /// Gives back what dead processes had; says how many slots that freed. A process counts for a
    /// grace of 50 to 100 ms after somebody first saw that it has ended, because the driver gives
    /// its memory back that much later: called often, this is what sees it first.
    pub fn reap(&self, patience: Patience) -> Result<usize, LedgerError> {
        let locked = self.lock(patience)?;
        Ok(self.region.view(locked.fd(), patience).reap(locked.fd(), false)?.freed)
    }

    /// The group's marks.
    pub fn flags(&self) -> Result<Flags, LedgerError> {
        Ok(Flags(self.load()?.flags()))
    }

    /// Changes the group's marks.
    pub fn set_flags(&self, flags: Flags, patience: Patience) -> Result<(), LedgerError> {
        let (_locked, fd, mut limits) = self.edit(patience)?;
        limits.set_flags(flags.0);
        limits.write(&fd)
    }

    /// The users whose pond memory this group pays for; says how many were written to `into`.
    pub fn owners(&self, into: &mut [u32]) -> Result<usize, LedgerError> {
        let limits = self.load()?;
        Ok(into.iter_mut().zip(limits.owners()).map(|(place, owner)| *place = owner).count())
    }

    /// Sets the users whose pond memory this group pays for, at most [`crate::OWNERS`].
    pub fn set_owners(&self, owners: &[u32], patience: Patience) -> Result<(), LedgerError> {
        let (_locked, fd, mut limits) = self.edit(patience)?;
        limits.set_owners(owners);
        limits.write(&fd)
    }

    /// Counts up with every change of the limits file: cheap to watch.
    pub fn generation(&self) -> Result<u64, LedgerError> {
        Ok(self.load()?.generation())
    }

    /// What a member has measured for a context on this GPU, in bytes.
    pub fn context_bytes(&self, device: Uuid) -> Option<u64> {
        let context = |view: &View<'_>| Ok(view.find_device(&device).map(|it| view.context(it)));
        self.look(context).ok().flatten().filter(|bytes| *bytes > 0)
    }

    fn load(&self) -> Result<Limits, LedgerError> {
        Limits::load(self.limits.as_c())
    }

    /// Reads without the lock.
    fn look<T>(
        &self,
        work: impl FnOnce(&View<'_>) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.region.look(&self.ledger, Patience(Duration::ZERO), work)
    }

    fn lock(&self, patience: Patience) -> Result<Locked, LedgerError> {
        let locked = Locked::within(self.ledger.as_c(), patience)?;
        Head::same_life(locked.fd(), self.region.nonce())?;
        Ok(locked)
    }

    /// The limits file, to be changed under the lock.
    fn edit(&self, patience: Patience) -> Result<(Locked, sys::Fd, Limits), LedgerError> {
        let locked = self.lock(patience)?;
        let fd = Limits::open(self.limits.as_c(), true)?;
        let limits = Limits::read(&fd)?;
        Ok((locked, fd, limits))
    }

    fn set_pond_by(
        &self,
        device: Uuid,
        patience: Patience,
        change: impl FnOnce(u64) -> u64,
    ) -> Result<(), LedgerError> {
        let (locked, fd, mut limits) = self.edit(patience)?;
        let view = self.region.view(locked.fd(), patience);
        let mut budget = limits.budget(&device);
        budget.pond = change(budget.pond);
        limits.set(Some(&device), &budget)?;
        limits.write(&fd)?;
        settle(&view, &limits);
        view.whole()
    }
}

/// Makes the limits hold from the next allocation on. Only under the lock.
fn settle(view: &View<'_>, limits: &Limits) {
    for device in crate::slots::devices() {
        let budget = limits.budget(&view.uuid(device));
        view.settle(device, budget.for_members());
    }
}

/// A slot has another owner by now when its serial is another.
fn require(view: &View<'_>, slot: SlotIndex) -> Result<(), LedgerError> {
    let owner = view.owner(slot.get());
    view.whole()?;
    match owner {
        Some(owner) if owner.serial == slot.serial => Ok(()),
        _ => Err(LedgerError::Gone),
    }
}
