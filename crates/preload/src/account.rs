//! Reserving and giving back, in the ledger's name.
//!
//! A call that takes memory is made between [`Reservation::new`] and [`Reservation::keep`]: what is
//! not kept goes back when the reservation is dropped. Without a usable ledger there is no memory.

use core::ffi::{CStr, c_int};
use core::fmt::Write as _;
use core::sync::atomic::Ordering;

use millpond_ledger::{
    Column, DeviceIndex, Established, HOME, LedgerError, LimitOf, NO_LIMIT, Name, REST, Refused,
    UNIT, Uuid, sweep_abandoned,
};

use crate::config_file::CONFIG_FILE_BYTES;
use crate::driver::others;
use crate::message::{Level, Line, Shown, say};
use crate::settings::{self, Bad, Source, Stated, Text, Why};
use crate::state::{self, DEVICES, State};
use crate::twins::Member;
use crate::types::status;

const NONE: u32 = 0;
const BUSY: u32 = 1;
const ATTACHED: u32 = 2;
const BROKEN: u32 = 3;

/// The user's folder: where there is no daemon, groups are in it.
pub(crate) struct Home;

impl core::fmt::Display for Home {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // SAFETY: no conditions.
        write!(f, "{HOME}{}", unsafe { libc::geteuid() })
    }
}

/// This process's slot; `None` when there is none to be had, which means no memory.
#[inline]
pub(crate) fn member() -> Option<&'static Member> {
    member_of(state::get()?)
}

#[inline]
fn member_of(state: &'static State) -> Option<&'static Member> {
    if state.attached.load(Ordering::Acquire) == ATTACHED {
        // SAFETY: written before `ATTACHED` was stored, and never again.
        return Some(unsafe { (*state.member.get()).assume_init_ref() });
    }
    attach(state)
}

/// Gives back what members that have died held, where no daemon does: ten times a second at most,
/// and never waiting for anybody. Whether something came back.
pub(crate) fn look_for_the_dead() -> bool {
    const EVERY_MS: u64 = 100;
    let (Some(state), Some(settings)) = (state::get(), settings::get()) else { return false };
    if !matches!(settings.source, Source::Stated) {
        return false;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let now = seconds * 1000 + u64::try_from(time.tv_nsec).unwrap_or(0) / 1_000_000;
    let last = state.reaped.load(Ordering::Relaxed);
    let order = (Ordering::Relaxed, Ordering::Relaxed);
    if now.saturating_sub(last) < EVERY_MS
        || state.reaped.compare_exchange(last, now, order.0, order.1).is_err()
    {
        return false;
    }
    member().is_some_and(|member| member.reap().is_ok_and(|freed| freed > 0))
}

#[cold]
fn attach(state: &'static State) -> Option<&'static Member> {
    let order = (Ordering::AcqRel, Ordering::Acquire);
    loop {
        match state.attached.compare_exchange(NONE, BUSY, order.0, order.1) {
            Ok(_) => break,
            // SAFETY: as in `member`.
            Err(ATTACHED) => return Some(unsafe { (*state.member.get()).assume_init_ref() }),
            Err(BROKEN) => return None,
            // Another thread is at it.
            // SAFETY: no conditions.
            Err(_) => unsafe {
                libc::sched_yield();
            },
        }
    }
    // Before the driver is there, nobody can say which cards a limit by card means.
    let ready = |settings: &&settings::Settings| !settings.needs_devices() || device_count() > 0;
    let next = match settings::get().filter(ready).map(|settings| join(state, settings)) {
        None => NONE,
        Some(None) => BROKEN,
        Some(Some(Ok(member))) => {
            // SAFETY: `BUSY` is ours, so nobody else reads or writes the place.
            unsafe { (*state.member.get()).write(member) };
            ATTACHED
        }
        Some(Some(Err(error))) => {
            match (error, settings::get().map(|settings| &settings.source)) {
                (_, Some(Source::Ledger(folder))) => complain(
                    state,
                    format_args!(
                        "MILLPOND_LEDGER='{}': {error}; this program gets no GPU memory",
                        Shown(folder.as_bytes())
                    ),
                ),
                (LedgerError::NotOurs { owner }, _) => complain(
                    state,
                    format_args!(
                        "'{Home}' belongs to user {owner}, who could change the limit; remove it \
                         as root (`rm -r {Home}`), or use a pond (`millpond serve`); this program \
                         gets no GPU memory"
                    ),
                ),
                _ => complain(state, format_args!("{error}; this program gets no GPU memory")),
            }
            // A full or busy group may have room later.
            if matches!(error, LedgerError::Full | LedgerError::Busy) { NONE } else { BROKEN }
        }
    };
    state.attached.store(next, Ordering::Release);
    // SAFETY: written above.
    (next == ATTACHED).then(|| unsafe { (*state.member.get()).assume_init_ref() })
}

/// Says one error for this process, the first.
pub(crate) fn complain(state: &State, text: core::fmt::Arguments<'_>) {
    if state.said.swap(1, Ordering::Relaxed) == 0 {
        say(Level::Error, text);
    }
}

/// A slot in the group that the settings mean, which is made when they state a limit; `None` when they
/// mean none, which was said.
fn join(state: &State, settings: &settings::Settings) -> Option<Result<Member, LedgerError>> {
    match &settings.source {
        Source::None => None,
        Source::Ledger(folder) => Some(Member::attach_as(folder.as_c_str())),
        Source::Bad(bad) => {
            complain_of(state, bad);
            None
        }
        Source::Stated => {
            let limits = stated_limits(&settings.stated);
            let (folder, name) = stated_folder(settings, &limits)?;
            let limits = limits.entries.get(..limits.count)?;
            let joined = Member::join_as(folder.as_c_str(), name.as_bytes(), limits);
            Some(joined.map(|(how, member)| {
                match how {
                    Established::JoinedWithOtherLimits => say(
                        Level::Warn,
                        format_args!(
                            "the group '{}' exists with other limits; those hold",
                            Shown(name.as_bytes())
                        ),
                    ),
                    // Who makes a group takes away those that nobody is in any more.
                    Established::Made => sweep(),
                    Established::Joined => {}
                }
                member
            }))
        }
    }
}

/// Says which limit is not understood.
fn complain_of(state: &State, bad: &Bad) {
    let (place, text) = (bad.place, Shown(bad.text.as_bytes()));
    let none = "this program gets no GPU memory";
    match bad.why {
        Why::Size(why) => complain(state, format_args!("{place}='{text}': {why}; {none}")),
        Why::TooLong => complain(state, format_args!("{place} is too long; {none}")),
        Why::File => complain(
            state,
            format_args!(
                "{place} cannot be read, or has more than {CONFIG_FILE_BYTES} bytes; {none}"
            ),
        ),
        Why::Line(line, problem) => complain(
            state,
            format_args!(
                "{place}:{line}: '{text}': {problem}; {none}; `millpond doctor` shows what to write"
            ),
        ),
        Why::Name => {
            complain(state, format_args!("{place}='{text}' is not a group's name; {none}"));
        }
    }
}

/// Takes away this user's groups that nobody is in, nor has come to for some time.
fn sweep() {
    let mut above = Line::new();
    let _ = write!(above, "{Home}\0");
    if let Ok(above) = CStr::from_bytes_until_nul(above.as_bytes()) {
        sweep_abandoned(above, REST);
    }
}

/// The folder of a stated limit, without making it: for processes that only look.
pub(crate) fn folder_for_reading(settings: &settings::Settings) -> Option<Text<1024>> {
    match &settings.source {
        Source::Ledger(folder) => Some(*folder),
        Source::Stated => {
            let limits = stated_limits(&settings.stated);
            stated_folder(settings, &limits).map(|found| found.0)
        }
        Source::None | Source::Bad(_) => None,
    }
}

struct Limits {
    entries: [LimitOf; DEVICES + 1],
    count: usize,
}

impl Limits {
    fn push(&mut self, limit: LimitOf) {
        if let Some(place) = self.entries.get_mut(self.count) {
            *place = limit;
            self.count += 1;
        }
    }
}

/// The stated limits by UUID: a CUDA number means something in this process only.
fn stated_limits(stated: &Stated) -> Limits {
    let none = LimitOf { device: None, units: NO_LIMIT };
    let mut limits = Limits { entries: [none; DEVICES + 1], count: 0 };
    if let Some(bytes) = stated.same_everywhere() {
        limits.push(LimitOf { device: None, units: bytes / UNIT });
        return limits;
    }
    let mut smallest = NO_LIMIT;
    for ordinal in 0..device_count() {
        let Some(uuid) = uuid_of(ordinal) else { continue };
        let total = real_total(ordinal);
        let least = |of: &[_]| settings::least(of, total).map_or(NO_LIMIT, |found| found.1 / UNIT);
        limits.push(LimitOf { device: Some(uuid), units: least(&stated.on(number(ordinal))) });
        smallest = smallest.min(least(&stated.on(None)));
    }
    // A member that sees other cards than the first one must not be without a limit there.
    if smallest != NO_LIMIT {
        limits.push(LimitOf { device: None, units: smallest });
    }
    limits
}

/// A CUDA number as a place in a list.
pub(crate) fn number(ordinal: c_int) -> Option<usize> {
    usize::try_from(ordinal).ok()
}

/// The CUDA number of a card, where limits differ by it and the program sees the card.
pub(crate) fn number_of(uuid: Uuid, settings: &settings::Settings) -> Option<usize> {
    if !settings.stated.differs_by_number() {
        return None;
    }
    (0..device_count()).find(|ordinal| uuid_of(*ordinal) == Some(uuid)).and_then(number)
}

fn stated_folder(settings: &settings::Settings, limits: &Limits) -> Option<(Text<1024>, Text<64>)> {
    let mut name = Line::new();
    let group = settings.group.as_bytes();
    if !group.is_empty() {
        let _ = write!(name, "{}", Shown(group));
    } else if let Some(bytes) = settings.stated.same_everywhere() {
        let _ = write!(name, "limit-{bytes}");
    } else {
        // Limits of single cards: named by what they are.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for limit in limits.entries.get(..limits.count).unwrap_or(&[]) {
            let device = limit.device.unwrap_or([0; 16]);
            for byte in device.into_iter().chain(limit.units.to_le_bytes()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        let _ = write!(name, "limits-{hash:016x}");
    }
    let mut folder = Line::new();
    let _ = write!(folder, "{Home}/{}", Shown(name.as_bytes()));
    Some((Text::new(folder.as_bytes())?, Text::new(name.as_bytes())?))
}

/// How many GPUs the program sees.
#[inline]
pub(crate) fn device_count() -> c_int {
    let Some(state) = state::get() else { return 0 };
    match state.device_count.load(Ordering::Relaxed) {
        0 => count_devices(state),
        known => known.cast_signed(),
    }
}

#[cold]
fn count_devices(state: &State) -> c_int {
    let mut count = 0;
    // SAFETY: the pointer is to an int.
    let status = unsafe { others::cuDeviceGetCount(&raw mut count) };
    if status != status::SUCCESS {
        return 0;
    }
    state.device_count.store(u32::try_from(count).unwrap_or(0), Ordering::Relaxed);
    count
}

pub(crate) fn uuid_of(ordinal: c_int) -> Option<Uuid> {
    let mut uuid = [0_u8; 16];
    // SAFETY: the pointer is to 16 bytes.
    let mut status = unsafe { others::cuDeviceGetUuid_v2(&raw mut uuid, ordinal) };
    if status == status::NOT_INITIALIZED {
        // SAFETY: as above; a driver before 11.4 has this one only.
        status = unsafe { others::cuDeviceGetUuid(&raw mut uuid, ordinal) };
    }
    (status == status::SUCCESS).then_some(uuid)
}

/// The card's own size.
pub(crate) fn real_total(ordinal: c_int) -> u64 {
    let mut bytes = 0_usize;
    // SAFETY: the pointer is to a size.
    let status = unsafe { crate::driver::real::cuDeviceTotalMem_v2(&raw mut bytes, ordinal) };
    if status == status::SUCCESS { u64::try_from(bytes).unwrap_or(u64::MAX) } else { 0 }
}

/// The device of the current context; `None` when there is none.
#[inline]
pub(crate) fn current_device() -> Option<c_int> {
    // With one GPU there is nothing to ask: without a context the call itself fails.
    if device_count() == 1 { Some(0) } else { ask_current_device() }
}

fn ask_current_device() -> Option<c_int> {
    let mut device = 0;
    // SAFETY: the pointer is to an int.
    let status = unsafe { others::cuCtxGetDevice(&raw mut device) };
    (status == status::SUCCESS).then_some(device)
}

/// What is known about a GPU.
#[inline]
pub(crate) fn device_state(ordinal: c_int) -> Option<&'static state::Device> {
    state::get()?.device(ordinal)
}

/// What holds on a GPU besides the group's limit, in units.
fn cap(ordinal: c_int) -> u64 {
    settings::get().map_or(NO_LIMIT, |settings| {
        let caps = settings.caps(number(ordinal));
        // The size of a card is asked for where a limit is a part of it.
        let total =
            if settings.stated.same_everywhere().is_some() { 0 } else { real_total(ordinal) };
        settings::least(&caps, total).map_or(NO_LIMIT, |found| found.1 / UNIT)
    })
}

/// `state::Device::known`: a thread is writing the number, the number is there.
const WRITING: u32 = 1;
const KNOWN: u32 = 2;

/// The GPU's number in the ledger.
#[inline]
fn device_index(state: &State, member: &Member, ordinal: c_int) -> Option<DeviceIndex> {
    let device = state.device(ordinal)?;
    if device.known.load(Ordering::Acquire) == KNOWN {
        // SAFETY: written before `KNOWN` was stored, and never again.
        return Some(unsafe { (*device.index.get()).assume_init() });
    }
    find_index(member, device, ordinal)
}

#[cold]
fn find_index(member: &Member, device: &state::Device, ordinal: c_int) -> Option<DeviceIndex> {
    match member.device(uuid_of(ordinal)?) {
        Ok(index) => {
            member.set_cap(index, cap(ordinal));
            let order = (Ordering::Acquire, Ordering::Relaxed);
            if device.known.compare_exchange(0, WRITING, order.0, order.1).is_ok() {
                // SAFETY: `WRITING` is ours, and nobody reads before `KNOWN`.
                unsafe { (*device.index.get()).write(index) };
                device.known.store(KNOWN, Ordering::Release);
            }
            Some(index)
        }
        Err(error) => {
            if let Some(state) = state::get() {
                complain(
                    state,
                    format_args!("{error}; this program gets no memory of GPU {ordinal}"),
                );
            }
            None
        }
    }
}

/// A process's right to some memory of one GPU.
#[derive(Clone, Copy)]
pub(crate) struct Account {
    member: &'static Member,
    device: DeviceIndex,
    ordinal: c_int,
}

impl Account {
    /// `None` when no memory can be given.
    #[inline]
    pub(crate) fn of(ordinal: c_int) -> Option<Self> {
        Self::in_state(state::get()?, ordinal)
    }

    /// [`Account::of`] for who has the state at hand.
    #[inline]
    pub(crate) fn in_state(state: &'static State, ordinal: c_int) -> Option<Self> {
        let member = member_of(state)?;
        Some(Self { member, device: device_index(state, member, ordinal)?, ordinal })
    }

    pub(crate) fn ordinal(self) -> c_int {
        self.ordinal
    }

    /// Reserves, or says why not.
    #[inline]
    pub(crate) fn try_reserve(self, units: u32) -> Result<(), Refused> {
        self.member.reserve(self.device, units)
    }

    #[inline]
    pub(crate) fn release(self, units: u32) {
        if units > 0 {
            self.member.release(self.device, units);
        }
    }

    pub(crate) fn charge(self, units: u32) {
        if units > 0 {
            self.member.charge(self.device, units);
        }
    }

    /// Somebody else pays for memory of this process from now on: it is shown.
    pub(crate) fn hand_over(self, units: u32) {
        self.add_column(Column::Shared, i64::from(units));
        self.release(units);
        self.member.give_back(self.device);
    }

    /// Nobody else pays for it any more. It is there, so nobody is asked.
    pub(crate) fn take_back(self, units: u32) {
        self.charge(units);
        self.add_column(Column::Shared, -i64::from(units));
    }

    pub(crate) fn add_column(self, column: Column, units: i64) {
        self.member.add_column(column, self.device, units);
    }

    pub(crate) fn context_bytes(self) -> Option<u64> {
        self.member.context_bytes(self.device)
    }

    pub(crate) fn note_context_bytes(self, bytes: u64) {
        self.member.note_context_bytes(self.device, bytes);
    }

    pub(crate) fn own_used(self) -> u64 {
        self.member.own_used(self.device)
    }

    pub(crate) fn group(self) -> Result<Name, LedgerError> {
        self.member.group()
    }

    /// The variable or the file that states the limit which holds; `None` when the group has it.
    pub(crate) fn limit_place(self) -> Option<&'static str> {
        let settings = settings::get()?;
        let (limit, _) = self.member.reading(self.device);
        let (number, total) = (number(self.ordinal), real_total(self.ordinal));
        let found = [settings.caps(number), settings.stated.on(number)];
        let mut found = found.iter().filter_map(|of| settings::least(of, total));
        found.find(|(_, bytes)| bytes / UNIT == limit).map(|(place, _)| place)
    }

    /// Limit and what the group holds, in bytes; the limit is `u64::MAX` when there is none.
    pub(crate) fn reading(self) -> (u64, u64) {
        let (limit, used) = self.member.reading(self.device);
        let limit = if limit == NO_LIMIT { u64::MAX } else { limit.saturating_mul(UNIT) };
        (limit, used.saturating_mul(UNIT))
    }
}

/// Gives memory back that the driver has back.
#[inline]
pub(crate) fn release(ordinal: c_int, units: u32) {
    if units > 0
        && let Some(account) = Account::of(ordinal)
    {
        account.release(units);
    }
}

/// Bytes as C counts them.
pub(crate) fn bytes(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}
