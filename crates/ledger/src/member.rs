//! A process that allocates: its slot, and what it may do with it.

use core::ffi::CStr;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use core::time::Duration;

use crate::book::Patience;
use crate::error::{LedgerError, REPLACED, Refused, while_moving};
use crate::establish::{Established, LimitOf, establish};
use crate::file::Head;
use crate::layout::{Column, DEVICES, DeviceIndex, NO_LIMIT, SlotIndex, SlotKind, Uuid};
use crate::limits::{Budget, Limits, Name};
use crate::liveness::Liveness;
use crate::lock::Locked;
use crate::path::Path;
use crate::protocol::{self, Halves, Outcome, Protocol, Sound, Word};
use crate::region::Region;
use crate::slots::held_at;
use crate::sys;
use crate::view::{Place, View};

/// How long a member waits for a lock that members of other users can keep. Longer than honest ones
/// need together; then memory is refused.
const PATIENCE: Patience = Patience(Duration::from_secs(5));
/// The same once that was in vain, and for what can be counted later.
const SHORT: Patience = Patience(Duration::from_millis(50));

/// This process's slot in its group's ledger.
///
/// It lasts until it is dropped, or the process ends or calls `exec`. It must be kept in memory
/// that a forked child does not see (`MADV_WIPEONFORK`): the slot's memory is not there in the
/// child, and a child attaches anew. Every call may be made from any thread, at any time.
#[derive(Debug)]
pub struct Member<P: Protocol = Sound> {
    region: Region,
    // As narrow as its numbers are: where a word is needs no check against overflow then.
    slot: u16,
    ledger: Path,
    limits: Path,
    /// What this member obeys besides the group's limit, by device.
    caps: [AtomicU64; DEVICES],
    /// What is not counted in the file yet, by device: more, or less, in units.
    uncounted: [AtomicI64; DEVICES],
    /// Whether a lock was last waited for in vain.
    stuck: AtomicBool,
    // Its drop is what says that this process is gone, so it is dropped after the region.
    _liveness: Liveness,
    _protocol: PhantomData<P>,
}

impl Member {
    /// Takes a slot in the group of this folder.
    pub fn attach(folder: &CStr) -> Result<Member, LedgerError> {
        Self::attach_as(folder)
    }

    /// Takes a slot for the pages of one cache. A process may have several, beside what it holds
    /// otherwise, which the group does not count then.
    pub fn attach_cache(folder: &CStr) -> Result<Member, LedgerError> {
        Self::attach_kind(folder, SlotKind::Cache)
    }

    /// Takes a slot in the group of this folder, which is made when it is missing. Use this where
    /// there is no daemon: a group that nobody is in may be taken away at any time.
    pub fn join(
        folder: &CStr,
        name: &[u8],
        limits: &[LimitOf],
    ) -> Result<(Established, Member), LedgerError> {
        Self::join_as(folder, name, limits)
    }
}

impl<P: Protocol> Member<P> {
    /// [`Member::attach`] with another protocol: for the twins that a test must catch.
    #[doc(hidden)]
    pub fn attach_as(folder: &CStr) -> Result<Self, LedgerError> {
        Self::attach_kind(folder, SlotKind::Process)
    }

    fn attach_kind(folder: &CStr, kind: SlotKind) -> Result<Self, LedgerError> {
        let ledger = Path::join(folder, c"ledger")?;
        let limits = Path::join(folder, c"limits")?;
        Limits::open(limits.as_c(), false)?;
        let own = sys::open(ledger.as_c(), libc::O_RDWR, 0).map_err(|errno| match errno {
            libc::ENOENT | libc::ENOTDIR => LedgerError::NoGroup("ledger"),
            errno => LedgerError::System { call: "open", errno },
        })?;
        let (mut locked, region) = Wait::for_a_region(|| {
            let locked = Locked::within(ledger.as_c(), PATIENCE)?;
            let head = Head::require(locked.fd())?;
            if own.status()?.inode != locked.fd().status()?.inode {
                return Err(LedgerError::Broken { file: "ledger", what: REPLACED });
            }
            // Under the lock: before, somebody may be making it.
            Limits::load(limits.as_c())?;
            Ok((locked, head))
        })?;
        let wait = Wait::new(Wait::FOR_THE_DEAD);
        let slot = loop {
            let claimed =
                region.view(locked.fd(), PATIENCE).claim(locked.fd(), &own, kind, P::HASTY);
            match claimed {
                // Some of those who are in the way may be dead.
                Err(LedgerError::Full) if wait.may_go_on() => {
                    drop(locked);
                    wait.a_little();
                    locked = Locked::within(ledger.as_c(), PATIENCE)?;
                    Head::same_life(locked.fd(), region.nonce())?;
                }
                slot => break slot?,
            }
        };
        let slot = u16::try_from(slot).map_err(|_| LedgerError::Full)?;
        // When somebody last came: a group that nobody is in rests before it is taken away.
        own.touch();
        let liveness = Liveness::keep(own)?;
        Ok(Self {
            region,
            slot,
            ledger,
            limits,
            caps: [const { AtomicU64::new(NO_LIMIT) }; DEVICES],
            uncounted: [const { AtomicI64::new(0) }; DEVICES],
            stuck: AtomicBool::new(false),
            _liveness: liveness,
            _protocol: PhantomData,
        })
    }

    /// [`establish`] and a slot in what it made, again while somebody takes the folder away in
    /// between: as long as nobody has a slot, nobody is in the group.
    #[doc(hidden)]
    pub fn join_as(
        folder: &CStr,
        name: &[u8],
        limits: &[LimitOf],
    ) -> Result<(Established, Self), LedgerError> {
        while_moving(|| {
            let how = establish(folder, name, limits)?;
            Ok((how, Self::attach_as(folder)?))
        })
    }

    /// The number of a GPU in this group.
    pub fn device(&self, uuid: Uuid) -> Result<DeviceIndex, LedgerError> {
        if let Some(device) = self.look(PATIENCE, |view| Ok(view.find_device(&uuid)))? {
            return Ok(device);
        }
        let locked = self.lock()?;
        let view = self.region.view(locked.fd(), PATIENCE);
        let device = view.claim_device(&uuid);
        view.whole()?;
        device
    }

    /// Lowers the limit of a GPU for this member's requests, to so many units: the smaller of this
    /// and the group's limit holds. Call it before the first request.
    pub fn set_cap(&self, device: DeviceIndex, units: u64) {
        if let Some(cap) = self.caps.get(device.get()) {
            cap.store(units, Ordering::Relaxed);
        }
    }

    /// What [`Member::set_cap`] has set, or [`NO_LIMIT`].
    pub fn cap(&self, device: DeviceIndex) -> u64 {
        self.caps.get(device.get()).map_or(NO_LIMIT, |cap| cap.load(Ordering::Relaxed))
    }

    /// The group's name.
    pub fn group(&self) -> Result<Name, LedgerError> {
        Ok(Limits::load(self.limits.as_c())?.name())
    }

    /// The group's budget on a GPU, as this member obeys it.
    fn budget(&self, limits: &Limits, uuid: &Uuid, device: DeviceIndex) -> Budget {
        let budget = limits.budget(uuid);
        Budget { effective: budget.effective.min(self.cap(device)), ..budget }
    }

    /// Promises `units` to the caller, who may then ask the driver for them. All or nothing.
    #[inline]
    pub fn reserve(&self, device: DeviceIndex, units: u32) -> Result<(), Refused> {
        let Some(word) = self.atomic(device) else { return self.reserve_in_file(device, units) };
        match P::reserve(word, units) {
            Outcome::Done => Ok(()),
            Outcome::Short(_) => self.take(device, units),
        }
    }

    /// Takes back what [`Member::reserve`] or [`Member::charge`] counted. Call it when the driver
    /// has the memory back, never before.
    #[inline]
    pub fn release(&self, device: DeviceIndex, units: u32) {
        match self.atomic(device) {
            Some(word) => protocol::release(word, units),
            None => {
                self.count(device, -i64::from(units));
            }
        }
    }

    /// Gives unused credit back to the group; says how many units. For who was asked for memory: what
    /// it has released is others' to have at once. What it has waited for and not taken yet stays:
    /// one thread may give while another takes.
    pub fn give_back(&self, device: DeviceIndex) -> u64 {
        let given = self.look(SHORT, |view| {
            self.count_in(&self.word(view, device), device);
            let (_, kept) = view.line(self.slot(), device).wait(sys::monotonic_nanos());
            let kept = u32::try_from(kept).unwrap_or(u32::MAX);
            Ok(protocol::strip(&self.word(view, device), kept))
        });
        given.map_or(0, u64::from)
    }

    /// This process has taken what it had waited for, or waits no longer: what is left of it is
    /// anybody's.
    pub fn waited(&self, device: DeviceIndex) {
        self.note(|view| view.set_kept(self.slot(), device, 0));
    }

    /// Says how much of what this slot counts its owner can give back at once.
    pub fn set_idle(&self, device: DeviceIndex, units: u64) {
        self.note(|view| view.set_column(self.slot(), device, Column::Idle, units));
    }

    /// Counts memory that already exists. It may pass the limit: then nobody gets more until it is
    /// below again.
    pub fn charge(&self, device: DeviceIndex, units: u32) {
        let had_credit = match self.atomic(device) {
            Some(word) => protocol::charge(word, units),
            None => self.count(device, i64::from(units)),
        };
        if had_credit {
            return;
        }
        // The group may be over its limit now; then nobody keeps spare credit. A ledger that
        // cannot be locked refuses everybody anyway.
        if let Ok(locked) = self.lock()
            && let Ok(limits) = Limits::load(self.limits.as_c())
        {
            let view = self.region.view(locked.fd(), SHORT);
            let limit = self.budget(&limits, &view.uuid(device), device).for_members();
            view.settle(device, limit);
        }
    }

    /// The limit that holds now, in units, or [`crate::NO_LIMIT`]; 0 when the limits file is broken.
    pub fn limit(&self, device: DeviceIndex) -> u64 {
        self.reading(device).0
    }

    /// What the group holds, in units, with the pond's part.
    pub fn group_used(&self, device: DeviceIndex) -> u64 {
        self.reading(device).1
    }

    /// [`Member::limit`] and [`Member::group_used`] together: the limits file is read once, which is
    /// most of what either costs. Of a ledger that cannot be read, everything is used.
    pub fn reading(&self, device: DeviceIndex) -> (u64, u64) {
        let Ok(limits) = Limits::load(self.limits.as_c()) else { return (0, 0) };
        let read = self.look(SHORT, |view| Ok((view.uuid(device), view.sums(device).1)));
        let Ok((uuid, used)) = read else {
            let least = limits.entries().map(|(_, budget)| budget.effective).min();
            let least = least.unwrap_or(NO_LIMIT).min(self.cap(device));
            return (least, least);
        };
        let budget = self.budget(&limits, &uuid, device);
        (budget.effective, used.saturating_add(budget.pond))
    }

    /// What this process holds, in units, with what the reconciler added.
    pub fn own_used(&self, device: DeviceIndex) -> u64 {
        let reading = self.look(SHORT, |view| Ok(view.reading(self.slot(), device)));
        reading.map_or(0, |reading| reading.used.saturating_add(reading.folded))
    }

    /// What a context takes on this GPU, if anybody has measured it.
    pub fn context_bytes(&self, device: DeviceIndex) -> Option<u64> {
        let read = self.look(SHORT, |view| Ok((view.uuid(device), view.context(device))));
        let (uuid, measured) = read.ok()?;
        let told =
            Limits::load(self.limits.as_c()).map_or(0, |limits| limits.budget(&uuid).context);
        [told, measured].into_iter().find(|bytes| *bytes > 0)
    }

    /// Notes what a context takes, for the processes that come later.
    pub fn note_context_bytes(&self, device: DeviceIndex, bytes: u64) {
        self.note(|view| view.set_context(device, bytes));
    }

    /// Adds to a column that is only shown. [`Column::Folded`] is the operator's and is left alone.
    pub fn add_column(&self, column: Column, device: DeviceIndex, units: i64) {
        if column == Column::Folded {
            return;
        }
        self.note(|view| {
            let column = view.column(self.slot(), device, column);
            column.change(|now| now.saturating_add_signed(units));
        });
    }

    /// Gives back what dead members had, unless somebody has the group's lock; says how many slots
    /// that freed. [`crate::Book::reap`] for a process that may not handle signals.
    pub fn reap(&self) -> Result<usize, LedgerError> {
        let locked = Locked::within(self.ledger.as_c(), Patience(Duration::ZERO))?;
        Head::same_life(locked.fd(), self.region.nonce())?;
        let view = self.region.view(locked.fd(), Patience(Duration::ZERO));
        Ok(view.reap(locked.fd(), P::HASTY)?.freed)
    }

    /// The slot's place, for tests and logs.
    pub fn slot(&self) -> usize {
        usize::from(self.slot)
    }

    /// The slot as other processes can name it.
    pub fn slot_index(&self) -> SlotIndex {
        let owner = self.look(PATIENCE, |view| Ok(view.owner(self.slot())));
        let serial = owner.ok().flatten().map_or(0, |owner| owner.serial);
        SlotIndex::named(self.slot, serial)
    }

    /// Overwrites this process's own word: how a test plays a member that writes nonsense.
    #[doc(hidden)]
    pub fn scribble(&self, device: DeviceIndex, credit: u32, used: u32) {
        let nonsense = Halves { tight: false, credit, used }.pack();
        self.note(|view| self.word(view, device).overwrite(nonsense));
    }

    #[inline]
    fn atomic(&self, device: DeviceIndex) -> Option<&AtomicU64> {
        self.region.atomic(held_at(self.slot(), device))
    }

    fn word<'a>(&self, view: &'a View<'_>, device: DeviceIndex) -> Place<'a> {
        view.held(self.slot(), device)
    }

    fn look<T>(
        &self,
        patience: Patience,
        work: impl FnOnce(&View<'_>) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.region.look(&self.ledger, patience, work)
    }

    /// Writes what is only shown, if that can be done.
    fn note(&self, work: impl FnOnce(&View<'_>)) {
        let _ = self.look(SHORT, |view| {
            work(view);
            Ok(())
        });
    }

    fn lock(&self) -> Result<Locked, LedgerError> {
        let path = self.ledger.as_c();
        let locked = match () {
            () if !P::LOCKED => Locked::without(path)?,
            () if self.region.is_segment() => Locked::wait(path)?,
            () => Locked::within(path, self.patience())?,
        };
        Head::same_life(locked.fd(), self.region.nonce())?;
        Ok(locked)
    }

    fn patience(&self) -> Patience {
        if self.stuck.load(Ordering::Relaxed) { SHORT } else { PATIENCE }
    }

    /// [`Member::reserve`] where the slots are in a file. Some calls of the system, so their cost
    /// is what counts and not a jump's.
    #[inline(never)]
    fn reserve_in_file(&self, device: DeviceIndex, units: u32) -> Result<(), Refused> {
        let _errno = sys::Errno::keep();
        let reserved = self.look(self.patience(), |view| {
            let word = self.word(view, device);
            self.count_in(&word, device);
            let outcome = P::reserve(&word, units);
            word.sound()?;
            Ok(outcome)
        });
        let done = match reserved {
            Ok(Outcome::Done) => Ok(()),
            Ok(Outcome::Short(_)) => self.take(device, units),
            Err(error) => Err(error.into()),
        };
        if done == Err(Refused::Broken(LedgerError::Busy)) {
            self.stuck.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Counts more or less used in a file, at the next call at the latest; says whether the credit
    /// was enough.
    #[inline(never)]
    fn count(&self, device: DeviceIndex, change: i64) -> bool {
        if let Some(uncounted) = self.uncounted.get(device.get()) {
            uncounted.fetch_add(change, Ordering::AcqRel);
        }
        let counted = self.look(SHORT, |view| Ok(self.count_in(&self.word(view, device), device)));
        counted.unwrap_or(true)
    }

    fn count_in(&self, word: &Place<'_>, device: DeviceIndex) -> bool {
        let Some(uncounted) = self.uncounted.get(device.get()) else { return true };
        if uncounted.load(Ordering::Acquire) == 0 {
            return true;
        }
        let change = uncounted.swap(0, Ordering::AcqRel);
        let units = u32::try_from(change.unsigned_abs()).unwrap_or(u32::MAX);
        let had_credit = change <= 0 || protocol::charge(word, units);
        if change < 0 {
            protocol::release(word, units);
        }
        if word.is_lost() {
            uncounted.fetch_add(change, Ordering::AcqRel);
        }
        had_credit
    }

    #[cold]
    fn take(&self, device: DeviceIndex, units: u32) -> Result<(), Refused> {
        let wait = Wait::new(Wait::FOR_THE_DEAD);
        loop {
            let dying = match self.take_now(device, units)? {
                (Outcome::Done, _) => return Ok(()),
                (Outcome::Short(missing), dying) => dying >= missing,
            };
            if !dying || !wait.may_go_on() {
                return Err(Refused::Limit);
            }
            wait.a_little();
        }
    }

    /// One attempt under the lock; says also what dying members have, which will be free soon.
    fn take_now(&self, device: DeviceIndex, units: u32) -> Result<(Outcome, u64), LedgerError> {
        let locked = self.lock()?;
        let view = self.region.view(locked.fd(), self.patience());
        let own = self.word(&view, device);
        let limits = Limits::load(self.limits.as_c())?;
        let budget = self.budget(&limits, &view.uuid(device), device);
        let mut dying = 0;
        let outcome = protocol::take(
            &own,
            units,
            budget.for_members(),
            || {
                let claims = view.sums(device).0;
                P::looked();
                let owed = match P::LEAVES_OWED {
                    true => view.owed(device, Some(self.slot()), sys::monotonic_nanos()),
                    false => 0,
                };
                claims.saturating_add(owed)
            },
            || {
                let reaped = view.reap(locked.fd(), P::HASTY)?;
                dying = view.claims_of(&reaped.dying, device);
                Ok::<(), LedgerError>(())
            },
            |missing| view.strip::<P>(device, Some(self.slot()), missing),
        )?;
        self.stuck.store(view.has_waited_in_vain(), Ordering::Relaxed);
        if outcome != Outcome::Done {
            own.sound()?;
            view.whole()?;
        }
        Ok((outcome, dying))
    }
}

/// Waiting for others to end, a step at a time and without the lock.
pub(crate) struct Wait {
    begin: u64,
    most: u64,
}

impl Wait {
    /// An allocation that would be refused only because of the dead waits for longer than any grace.
    const FOR_THE_DEAD: u64 = 250_000_000;
    /// A segment ends with its last member's memory, and that member's lock with its files: some
    /// time later, if a driver has to free much. Until then it looks like a member out of reach.
    const FOR_THE_ENDING: u64 = 2_000_000_000;
    const STEP_NANOS: u32 = 1_000_000;

    /// The group's memory, under the lock that `lock` takes: again while its last member ends.
    pub(crate) fn for_a_region(
        lock: impl Fn() -> Result<(Locked, Head), LedgerError>,
    ) -> Result<(Locked, Region), LedgerError> {
        let ending = Self::new(Self::FOR_THE_ENDING);
        loop {
            let (locked, head) = lock()?;
            match Region::reach_or_make(locked.fd(), &head) {
                Err(LedgerError::OutOfReach) if ending.may_go_on() => {
                    drop(locked);
                    ending.a_little();
                }
                region => return Ok((locked, region?)),
            }
        }
    }

    fn new(most: u64) -> Self {
        Self { begin: sys::monotonic_nanos(), most }
    }

    fn may_go_on(&self) -> bool {
        sys::monotonic_nanos().saturating_sub(self.begin) < self.most
    }

    fn a_little(&self) {
        sys::sleep_nanos(Self::STEP_NANOS);
    }
}
