//! A process that allocates: its slot, and what it may do with it.

use core::ffi::CStr;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, Ordering};
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
use crate::sys;

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
            let locked = Locked::wait(ledger.as_c())?;
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
            match region.claim(locked.fd(), &own, kind, P::HASTY) {
                // Some of those who are in the way may be dead.
                Err(LedgerError::Full) if wait.may_go_on() => {
                    drop(locked);
                    wait.a_little();
                    locked = Locked::wait(ledger.as_c())?;
                    Head::same_life(locked.fd(), region.nonce())?;
                }
                slot => break slot?,
            }
        };
        let slot = u16::try_from(slot).map_err(|_| LedgerError::Full)?;
        // When somebody last came: a group that nobody is in rests before it is taken away.
        own.touch();
        let liveness = Liveness::keep(own)?;
        let caps = [const { AtomicU64::new(NO_LIMIT) }; DEVICES];
        Ok(Self { region, slot, ledger, limits, caps, _liveness: liveness, _protocol: PhantomData })
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
        if let Some(device) = self.region.find_device(&uuid) {
            return Ok(device);
        }
        let _locked = self.lock()?;
        self.region.claim_device(&uuid)
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
    fn budget(&self, limits: &Limits, device: DeviceIndex) -> Budget {
        let budget = limits.budget(&self.region.uuid(device));
        Budget { effective: budget.effective.min(self.cap(device)), ..budget }
    }

    /// Promises `units` to the caller, who may then ask the driver for them. All or nothing.
    #[inline]
    pub fn reserve(&self, device: DeviceIndex, units: u32) -> Result<(), Refused> {
        match P::reserve(self.word(device), units) {
            Outcome::Done => Ok(()),
            Outcome::Short(_) => self.take(device, units),
        }
    }

    /// Takes back what [`Member::reserve`] or [`Member::charge`] counted. Call it when the driver
    /// has the memory back, never before.
    #[inline]
    pub fn release(&self, device: DeviceIndex, units: u32) {
        protocol::release(self.word(device), units);
    }

    /// Gives unused credit back to the group; says how many units. For who was asked for memory: what
    /// it has released is others' to have at once. What it has waited for and not taken yet stays:
    /// one thread may give while another takes.
    pub fn give_back(&self, device: DeviceIndex) -> u64 {
        let (_, kept) = self.region.wait_of(self.slot(), device, sys::monotonic_nanos());
        protocol::strip(self.word(device), u32::try_from(kept).unwrap_or(u32::MAX)).into()
    }

    /// This process has taken what it had waited for, or waits no longer: what is left of it is
    /// anybody's.
    pub fn waited(&self, device: DeviceIndex) {
        self.region.kept(self.slot(), device).store(0, Ordering::Release);
    }

    /// Says how much of what this slot counts its owner can give back at once.
    pub fn set_idle(&self, device: DeviceIndex, units: u64) {
        self.region.column(self.slot(), device, Column::Idle).store(units, Ordering::Relaxed);
    }

    /// Counts memory that already exists. It may pass the limit: then nobody gets more until it is
    /// below again.
    pub fn charge(&self, device: DeviceIndex, units: u32) {
        if protocol::charge(self.word(device), units) {
            return;
        }
        // The group may be over its limit now; then nobody keeps spare credit. A ledger that
        // cannot be locked refuses everybody anyway.
        if let Ok(_locked) = self.lock()
            && let Ok(limits) = Limits::load(self.limits.as_c())
        {
            self.region.settle(device, self.budget(&limits, device).for_members());
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
    /// most of what either costs.
    pub fn reading(&self, device: DeviceIndex) -> (u64, u64) {
        let (limit, pond) = Limits::load(self.limits.as_c()).map_or((0, 0), |limits| {
            let budget = self.budget(&limits, device);
            (budget.effective, budget.pond)
        });
        (limit, self.region.sums(device).1.saturating_add(pond))
    }

    /// What this process holds, in units, with what the reconciler added.
    pub fn own_used(&self, device: DeviceIndex) -> u64 {
        let reading = self.region.reading(self.slot(), device);
        reading.used.saturating_add(reading.folded)
    }

    /// What a context takes on this GPU, if anybody has measured it.
    pub fn context_bytes(&self, device: DeviceIndex) -> Option<u64> {
        let told = Limits::load(self.limits.as_c())
            .map_or(0, |limits| limits.budget(&self.region.uuid(device)).context);
        let measured = || self.region.context(device).load(Ordering::Relaxed);
        [told, measured()].into_iter().find(|bytes| *bytes > 0)
    }

    /// Notes what a context takes, for the processes that come later.
    pub fn note_context_bytes(&self, device: DeviceIndex, bytes: u64) {
        self.region.context(device).store(bytes, Ordering::Relaxed);
    }

    /// Adds to a column that is only shown. [`Column::Folded`] is the operator's and is left alone.
    pub fn add_column(&self, column: Column, device: DeviceIndex, units: i64) {
        if column == Column::Folded {
            return;
        }
        let _ = self.region.column(self.slot(), device, column).fetch_update(
            Ordering::Relaxed,
            Ordering::Relaxed,
            |now| Some(now.saturating_add_signed(units)),
        );
    }

    /// Gives back what dead members had, unless somebody has the group's lock; says how many slots
    /// that freed. [`crate::Book::reap`] for a process that may not handle signals.
    pub fn reap(&self) -> Result<usize, LedgerError> {
        let locked = Locked::within(self.ledger.as_c(), Patience(Duration::ZERO))?;
        Head::same_life(locked.fd(), self.region.nonce())?;
        Ok(self.region.reap(locked.fd(), P::HASTY)?.freed)
    }

    /// The slot's place, for tests and logs.
    pub fn slot(&self) -> usize {
        usize::from(self.slot)
    }

    /// The slot as other processes can name it.
    pub fn slot_index(&self) -> SlotIndex {
        let serial = self.region.owner(self.slot()).map_or(0, |owner| owner.serial);
        SlotIndex::named(self.slot, serial)
    }

    /// Overwrites this process's own word: how a test plays a member that writes nonsense.
    #[doc(hidden)]
    pub fn scribble(&self, device: DeviceIndex, credit: u32, used: u32) {
        self.word(device).overwrite(Halves { tight: false, credit, used }.pack());
    }

    #[inline]
    fn word(&self, device: DeviceIndex) -> &AtomicU64 {
        self.region.held(self.slot(), device)
    }

    fn lock(&self) -> Result<Locked, LedgerError> {
        let path = self.ledger.as_c();
        let locked = if P::LOCKED { Locked::wait(path)? } else { Locked::without(path)? };
        Head::same_life(locked.fd(), self.region.nonce())?;
        Ok(locked)
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
        let budget = self.budget(&Limits::load(self.limits.as_c())?, device);
        let mut dying = 0;
        let outcome = protocol::take(
            self.word(device),
            units,
            budget.for_members(),
            || {
                let claims = self.region.sums(device).0;
                P::looked();
                let owed = match P::LEAVES_OWED {
                    true => self.region.owed(device, Some(self.slot()), sys::monotonic_nanos()),
                    false => 0,
                };
                claims.saturating_add(owed)
            },
            || {
                let reaped = self.region.reap(locked.fd(), P::HASTY)?;
                dying = self.region.claims_of(&reaped.dying, device);
                Ok::<(), LedgerError>(())
            },
            |missing| self.region.strip::<P>(device, Some(self.slot()), missing),
        )?;
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
