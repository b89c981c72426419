//! Groups that no pond looks after: folders that the first process of a group has made.
//!
//! The ledger's own code reads them, so the numbers are those that the processes obey. Only what a
//! daemon adds is missing: promises between groups, and what the card shows and nobody charged.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use millpond::{GroupDetails, GroupDevice, GroupInfo, GroupLimit, GroupName, GroupSet};
use millpond_cuda::{Driver, DriverChoice, Nvml};
use millpond_ledger::{
    Book, Budget, LedgerError, MemberReading, NO_LIMIT, Patience, REST, Size, SlotKind, UNIT,
    remove_abandoned, sweep_abandoned,
};
use millpond_wire::message::{MemberDevice, MemberInfo};
use millpond_wire::{ErrorKind, Failure, GpuUuid, runtime_dir};

use crate::error::{CommandError, failed};
use crate::users;

/// Nobody holds a group's lock for longer, unless it was stopped.
const PATIENCE: Patience = Patience(Duration::from_secs(2));
/// Ticks of a process's start, a second; the kernel's promise to programs.
const TICKS: u64 = 100;

/// The groups of this user.
#[derive(Debug)]
pub struct Alone {
    folder: PathBuf,
}

/// A card, and who has what on it.
struct Card {
    device: GpuUuid,
    total_bytes: u64,
    readings: Vec<(u32, Option<u64>)>,
}

impl Alone {
    /// Where they are, whether there are any or not.
    pub fn new() -> Self {
        Self { folder: runtime_dir::home() }
    }

    /// Their names. A file beside them is no group: the library notes there what a context takes.
    pub fn names(&self) -> Vec<GroupName> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let names = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut names: Vec<GroupName> = names.collect();
        names.sort_unstable();
        names
    }

    /// Whether there is one of that name.
    pub fn has(&self, name: &GroupName) -> bool {
        self.path(name).join("ledger").exists()
    }

    /// The same, also if its ledger is gone: it is listed, and can be removed.
    pub fn is_left(&self, name: &GroupName) -> bool {
        self.path(name).is_dir()
    }

    /// The folder of one that is there.
    pub fn folder(&self, name: &GroupName) -> Option<PathBuf> {
        self.has(name).then(|| self.path(name))
    }

    /// Those that somebody is in, or nobody can be in, because their files are broken. A folder that
    /// nobody is in any more is only a limit that was stated once, and is taken away after an hour:
    /// the next program states it again.
    pub fn list(&self) -> Vec<GroupInfo> {
        if let Ok(folder) = c_path(&self.folder) {
            sweep_abandoned(&folder, REST);
        }
        let names = self.names();
        let cards = if names.is_empty() { Vec::new() } else { cards() };
        let infos = names.iter().map(|name| self.details(name, &cards).info);
        infos.filter(|info| info.processes > 0 || info.broken).collect()
    }

    pub fn inspect(&self, name: &GroupName) -> Result<GroupDetails, CommandError> {
        if !self.is_left(name) {
            return Err(unknown(name));
        }
        Ok(self.details(name, &cards()))
    }

    pub fn set(&self, set: &GroupSet) -> Result<GroupDetails, CommandError> {
        if !self.has(&set.group) {
            return Err(unknown(&set.group));
        }
        self.set_on(set, &cards())
    }

    fn set_on(&self, set: &GroupSet, cards: &[Card]) -> Result<GroupDetails, CommandError> {
        let name = &set.group;
        let others = set.min_bytes.is_some() || set.weight.is_some() || set.users.is_some();
        if others || set.ends_silent.is_some() {
            let message = "`--min`, `--weight`, `--user` and `--end-silent` need a pond, which looks \
                           after groups";
            return Err(Failure::new(ErrorKind::NoPond, message)
                .hint("start one with `millpond serve`")
                .into());
        }
        let wrong = |error: LedgerError| failed(format!("group '{name}'"), error);
        let book = open(&self.path(name)).map_err(wrong)?;
        let mut places: Vec<Option<GpuUuid>> = vec![set.device];
        if set.device.is_none() {
            // Those with a limit of their own as well: this is for all.
            for index in 0.. {
                match book.nth_entry(index).map_err(wrong)? {
                    None => break,
                    Some((None, _)) => {}
                    Some((Some(device), _)) => places.push(Some(GpuUuid(device))),
                }
            }
        }
        for place in places {
            let card = cards.iter().filter(|card| place.is_none_or(|place| place == card.device));
            let card = card.map(|card| card.total_bytes).min();
            let units = match set.limit {
                None => continue,
                Some(GroupLimit::Unlimited) => NO_LIMIT,
                Some(GroupLimit::Bytes(bytes)) => bytes / UNIT,
                Some(GroupLimit::Permille(part)) => {
                    let card =
                        card.ok_or_else(|| failed("a part of a card", "no card is visible"))?;
                    Size::Permille(part).of(card) / UNIT
                }
            };
            if units == 0 {
                return Err(nothing_runs().into());
            }
            let change = |budget: &mut Budget| (budget.asked, budget.effective) = (units, units);
            book.change(place.map(|place| place.0), PATIENCE, change).map_err(wrong)?;
        }
        Ok(self.details(name, cards))
    }

    /// Sees to it that a program that states this limit gets it. A group that nobody is in has only
    /// a limit that was stated once; one that somebody is in keeps its own.
    pub fn agree(&self, name: &GroupName, limit: crate::size::Size) -> Result<(), CommandError> {
        if !self.has(name) {
            return Ok(());
        }
        self.agree_on(name, limit, &cards())
    }

    fn agree_on(
        &self,
        name: &GroupName,
        limit: crate::size::Size,
        cards: &[Card],
    ) -> Result<(), CommandError> {
        let wrong = |error: LedgerError| failed(format!("group '{name}'"), error);
        let book = open(&self.path(name)).map_err(wrong)?;
        let Some((asked, wanted)) = other_limit(&book, limit, cards).map_err(wrong)? else {
            return Ok(());
        };
        let mut living = false;
        book.members(|member| living |= member.alive).map_err(wrong)?;
        if !living {
            let limit = Some(limit.limit());
            return self.set_on(&GroupSet { limit, ..GroupSet::of(name.clone()) }, cards).map(drop);
        }
        let has = if asked == NO_LIMIT { "no limit".to_owned() } else { shown(asked) };
        let message = format!("group '{name}' has {has}, not {}", shown(wanted));
        let hint = format!("`millpond group set {name} --limit ...` changes it for all");
        Err(Failure::new(ErrorKind::Exists, message).hint(hint).into())
    }

    /// Removes one that nobody is in.
    pub fn remove(&self, name: &GroupName) -> Result<(), CommandError> {
        if !self.is_left(name) {
            return Err(unknown(name));
        }
        let wrong = |error: LedgerError| failed(format!("group '{name}'"), error);
        let mut living = 0u64;
        if let Ok(book) = open(&self.path(name)) {
            book.members(|member| living += u64::from(member.alive)).map_err(wrong)?;
        }
        if living > 0 {
            let count = crate::units::count(living, "process");
            let message = format!("group '{name}' has {count}");
            let hint = format!("end them first; `millpond ps --group {name}` lists them");
            return Err(Failure::new(ErrorKind::InUse, message).hint(hint).into());
        }
        // Under the group's lock, for as long as somebody may still be coming or just going.
        let folder = c_path(&self.path(name)).map_err(wrong)?;
        let end = Instant::now() + PATIENCE.0;
        loop {
            match remove_abandoned(&folder) {
                Ok(true) => return Ok(()),
                // Nobody is making it either.
                Ok(false) if Instant::now() >= end && !self.has(name) => break,
                Ok(false) if Instant::now() >= end => return Err(wrong(LedgerError::Busy)),
                Ok(false) => {
                    if let Ok(book) = open(&self.path(name)) {
                        let _ = book.reap(PATIENCE);
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) if error.has_moved() => return Ok(()),
                // Nobody can be in what is no ledger any more.
                Err(_) => break,
            }
        }
        std::fs::remove_dir_all(self.path(name))
            .map_err(|error| failed(format!("removing '{}'", self.path(name).display()), error))
    }

    fn path(&self, name: &GroupName) -> PathBuf {
        self.folder.join(name.as_str())
    }

    /// What can be read; a group that cannot be is shown as broken.
    fn details(&self, name: &GroupName, cards: &[Card]) -> GroupDetails {
        let info = GroupInfo {
            name: name.clone(),
            folder: self.path(name).display().to_string(),
            anonymous: false,
            owner: Some(users::me()),
            users: Vec::new(),
            processes: 0,
            lying: false,
            stuck: false,
            broken: false,
            devices: Vec::new(),
            ends_silent: false,
        };
        let mut details = GroupDetails { info, members: Vec::new() };
        let read = open(&self.path(name)).and_then(|book| read(&book, cards, &mut details));
        details.info.broken = read.is_err();
        details
    }
}

fn open(folder: &Path) -> Result<Book, LedgerError> {
    Book::open(&c_path(folder)?)
}

fn c_path(path: &Path) -> Result<CString, LedgerError> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| LedgerError::BadName)
}

fn read(book: &Book, cards: &[Card], details: &mut GroupDetails) -> Result<(), LedgerError> {
    let mut members: Vec<MemberReading> = Vec::new();
    book.members(|member| members.push(member))?;
    let started = boot_unix_ms();
    for member in &members {
        let mut devices = Vec::new();
        for card in cards {
            let reading = book.reading(member.slot, card.device.0)?;
            if reading.used == 0 && reading.shared == 0 {
                continue;
            }
            let own =
                card.readings.iter().find(|(pid, _)| i64::from(*pid) == i64::from(member.pid));
            devices.push(MemberDevice {
                device: card.device,
                charged_bytes: bytes(reading.used),
                credit_bytes: bytes(reading.credit),
                context_bytes: bytes(reading.contexts),
                shared_bytes: bytes(reading.shared),
                folded_bytes: bytes(reading.folded),
                // What the card says is of the whole process.
                physical_bytes: own
                    .filter(|_| member.same_namespace && member.kind == SlotKind::Process)
                    .and_then(|(_, used)| *used),
                idle_bytes: bytes(reading.idle.min(reading.used)),
            });
        }
        let pid = u32::try_from(member.pid).unwrap_or_default();
        details.members.push(MemberInfo {
            slot: u32::try_from(member.slot.get()).unwrap_or(u32::MAX),
            pid,
            host_pid: member.same_namespace.then_some(pid),
            program: MemberInfo::program_of(&member.program),
            started_unix_ms: started.and_then(|boot| started_at(boot, member.start_ticks)),
            alive: member.alive,
            devices,
            cache: (member.kind == SlotKind::Cache).then(String::new),
        });
    }
    details.info.processes = living_processes(details.members.iter());
    for card in cards {
        let budget = book.budget(card.device.0)?;
        let (totals, limit) =
            (book.totals(card.device.0)?, |units| (units != NO_LIMIT).then(|| bytes(units)));
        let here = || {
            let devices = details.members.iter().flat_map(|member| &member.devices);
            devices.filter(|device| device.device == card.device)
        };
        let is_here = |device: &MemberDevice| device.device == card.device;
        let on_card = details.members.iter().filter(|member| member.devices.iter().any(is_here));
        let sum = |part: fn(&MemberDevice) -> u64| here().map(part).fold(0u64, u64::saturating_add);
        details.info.devices.push(GroupDevice {
            device: card.device,
            limit_bytes: limit(budget.asked),
            effective_bytes: limit(budget.effective.min(card.total_bytes / UNIT)),
            min_bytes: bytes(budget.min),
            weight: budget.weight,
            process_bytes: bytes(totals.used),
            pond_bytes: bytes(totals.pond),
            context_bytes: sum(|device| device.context_bytes),
            folded_bytes: sum(|device| device.folded_bytes),
            shared_bytes: sum(|device| device.shared_bytes),
            processes: living_processes(on_card),
        });
    }
    Ok(())
}

/// Living processes: one may have several slots, each for a cache.
fn living_processes<'a>(members: impl Iterator<Item = &'a MemberInfo>) -> u32 {
    let one = |member: &MemberInfo| {
        let whole = member.cache.is_none().then_some(member.slot);
        (member.host_pid, member.pid, whole)
    };
    let living = members.filter(|member| member.alive).map(one);
    u32::try_from(living.collect::<BTreeSet<_>>().len()).unwrap_or(u32::MAX)
}

/// When a program started: the member wrote it.
fn started_at(boot_unix_ms: u64, ticks: u64) -> Option<u64> {
    boot_unix_ms.checked_add(ticks.checked_mul(1000)? / TICKS)
}

/// The first limit of a group that is another than this one, and what it would be, in units.
fn other_limit(
    book: &Book,
    limit: crate::size::Size,
    cards: &[Card],
) -> Result<Option<(u64, u64)>, LedgerError> {
    if let GroupLimit::Bytes(bytes) = limit.limit() {
        let asked = book.entry(None)?.map_or(NO_LIMIT, |budget| budget.asked);
        return Ok((asked != bytes / UNIT).then_some((asked, bytes / UNIT)));
    }
    for card in cards {
        let asked = book.budget(card.device.0)?.asked;
        let wanted = limit.on_card(card.total_bytes) / UNIT;
        if asked != wanted {
            return Ok(Some((asked, wanted)));
        }
    }
    Ok(None)
}

fn shown(units: u64) -> String {
    format!("a limit of {}", crate::units::bytes(bytes(units)))
}

fn bytes(units: u64) -> u64 {
    units.saturating_mul(UNIT)
}

/// The cards that this process sees, and NVML's readings.
fn cards() -> Vec<Card> {
    let driver = Driver::open(DriverChoice::from_env(), Some(&millpond_softgpu::PROVIDER));
    let Ok(driver) = driver else { return Vec::new() };
    let nvml = Nvml::open(&driver).ok();
    let readings = |uuid| {
        let processes = nvml.as_ref()?.device(uuid).ok()?.processes().ok()?;
        Some(processes.into_iter().map(|process| (process.pid, process.used_bytes)).collect())
    };
    let devices = driver.devices().unwrap_or_default();
    let card = |device: &millpond_cuda::Device| Card {
        device: GpuUuid(device.uuid().0),
        total_bytes: device.total_bytes(),
        readings: readings(device.uuid()).unwrap_or_default(),
    };
    devices.iter().map(card).collect()
}

/// When this machine was started.
fn boot_unix_ms() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse::<u64>().ok().map(|seconds| seconds * 1000)
}

/// A limit that no program can do anything with; a pond says the same.
pub fn nothing_runs() -> Failure {
    let message = format!("a limit of less than {UNIT} bytes lets nothing run");
    Failure::new(ErrorKind::Invalid, message).hint("write it as 10G, 2G or 50%")
}

fn unknown(name: &GroupName) -> CommandError {
    Failure::new(ErrorKind::NotFound, format!("no group '{name}'")).into()
}

#[cfg(test)]
mod tests {
    use millpond_ledger::{LimitOf, Member, establish};

    use super::*;

    const GPU: GpuUuid = GpuUuid([7; 16]);
    const CARD: u64 = 8 << 30;

    /// A group of this process alone, which holds 64 MiB.
    fn group(folder: &Path) -> (Alone, GroupName, Member) {
        let name: GroupName = "team-a".parse().unwrap();
        let path =
            CString::new(folder.join("team-a").into_os_string().into_encoded_bytes()).unwrap();
        let limit = LimitOf { device: None, units: (1 << 30) / UNIT };
        establish(&path, b"team-a", &[limit]).unwrap();
        let member = Member::attach(&path).unwrap();
        let device = member.device(GPU.0).unwrap();
        member.reserve(device, (64 << 20) / 4096).unwrap();
        (Alone { folder: folder.to_owned() }, name, member)
    }

    fn card(readings: Vec<(u32, Option<u64>)>) -> Card {
        Card { device: GPU, total_bytes: CARD, readings }
    }

    #[test]
    fn a_group_without_a_pond_is_read_from_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let (alone, name, _member) = group(folder.path());
        std::fs::write(folder.path().join("context-GPU-07070707"), [0; 8]).unwrap();
        assert_eq!(alone.names(), std::slice::from_ref(&name), "a file is no group");
        let own = std::process::id();
        let details = alone.details(&name, &[card(vec![(own, Some(65 << 20))])]);
        let device = &details.info.devices[0];
        assert_eq!((device.limit_bytes, device.process_bytes), (Some(1 << 30), 64 << 20));
        assert_eq!((details.info.processes, details.info.broken), (1, false));
        let member = &details.members[0];
        assert_eq!((member.pid, member.host_pid, member.alive), (own, Some(own), true));
        assert_eq!(member.devices[0].drift_bytes(), Some(1 << 20));
        let age = crate::units::now_unix_ms().abs_diff(member.started_unix_ms.unwrap());
        assert!(age < 3_600_000, "{age}");
    }

    #[test]
    fn caches_of_one_process_are_slots_of_their_own_and_one_process() {
        let folder = tempfile::tempdir().unwrap();
        let (alone, name, whole) = group(folder.path());
        drop(whole);
        let path = c_path(&folder.path().join("team-a")).unwrap();
        let caches = [Member::attach_cache(&path).unwrap(), Member::attach_cache(&path).unwrap()];
        for cache in &caches {
            let device = cache.device(GPU.0).unwrap();
            cache.reserve(device, (8 << 20) / 4096).unwrap();
            cache.set_idle(device, (2 << 20) / 4096);
        }
        let details = alone.details(&name, &[card(vec![(std::process::id(), Some(65 << 20))])]);
        assert_eq!((details.info.processes, details.info.devices[0].processes), (1, 1));
        let held: Vec<_> = details.members.iter().filter(|member| member.alive).collect();
        assert_eq!(held.len(), 2);
        for member in held {
            assert_eq!(member.cache.as_deref(), Some(""), "without a pond nobody tells the name");
            let device = &member.devices[0];
            assert_eq!((device.charged_bytes, device.idle_bytes), (8 << 20, 2 << 20));
            assert_eq!(device.physical_bytes, None, "the card reads whole processes");
        }
    }

    #[test]
    fn a_limit_without_a_pond_is_changed_and_promises_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (alone, name, member) = group(folder.path());
        let device = member.device(GPU.0).unwrap();
        assert!(member.reserve(device, (1 << 30) / 4096).is_err());
        let set = |limit| GroupSet { limit: Some(limit), ..GroupSet::of(name.clone()) };
        alone.set(&set(GroupLimit::Bytes(2 << 30))).unwrap();
        member.reserve(device, (1 << 30) / 4096).unwrap();
        member.release(device, (1 << 30) / 4096);
        alone.set(&set(GroupLimit::Bytes(32 << 20))).unwrap();
        assert!(member.reserve(device, 1).is_err(), "more is held than that already");
        let nothing = alone.set(&set(GroupLimit::Bytes(4095))).unwrap_err().to_string();
        assert!(nothing.contains("lets nothing run"), "{nothing}");
        let min = GroupSet { min_bytes: Some(1), ..GroupSet::of(name.clone()) };
        let silent = GroupSet { ends_silent: Some(true), ..GroupSet::of(name.clone()) };
        for set in [&min, &silent] {
            assert!(alone.set(set).unwrap_err().to_string().contains("need a pond"));
        }
        let other = "team-b".parse().unwrap();
        assert!(alone.set(&GroupSet::of(other)).unwrap_err().to_string().contains("'team-b'"));
    }

    #[test]
    fn a_stated_limit_holds_or_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (alone, name, member) = group(folder.path());
        let cards = [card(Vec::new())];
        let agree = |limit: &str| alone.agree_on(&name, limit.parse().unwrap(), &cards);
        agree("1G").unwrap();
        // An eighth of the card is the same.
        agree("12.5%").unwrap();
        for other in ["2G", "25%"] {
            let refused = agree(other).unwrap_err().to_string();
            assert!(refused.contains("has a limit of 1 GiB, not a limit of 2 GiB"), "{refused}");
        }
        drop(member);
        for (other, bytes) in [("2G", 2 << 30), ("50%", CARD / 2)] {
            agree(other).unwrap();
            let device = &alone.details(&name, &cards).info.devices[0];
            assert_eq!(device.limit_bytes, Some(bytes), "nobody was in it");
        }
        alone.agree(&"new".parse().unwrap(), "1G".parse().unwrap()).unwrap();
    }

    #[test]
    fn what_a_member_wrote_of_itself_is_not_trusted() {
        assert_eq!(MemberInfo::program_of(b"py\x1b[2Jthon\n\0rest"), "py[2Jthon");
        assert_eq!(started_at(1000, 250), Some(3500));
        assert_eq!(started_at(1000, u64::MAX), None);
        assert_eq!(started_at(u64::MAX, 100), None);
    }

    #[test]
    fn a_group_goes_when_nobody_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let (alone, name, member) = group(folder.path());
        let refused = alone.remove(&name).unwrap_err().to_string();
        assert!(refused.contains("has 1 process"), "{refused}");
        drop(member);
        std::fs::write(folder.path().join("team-a/ledger"), b"damaged").unwrap();
        assert!(alone.details(&name, &[card(Vec::new())]).info.broken);
        assert_eq!(alone.list().len(), 1, "somebody must know why nothing runs in it");
        alone.remove(&name).unwrap();
        assert!(alone.names().is_empty());
    }

    #[test]
    fn what_is_no_folder_is_no_group_and_a_folder_without_a_ledger_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let alone = Alone { folder: folder.path().to_owned() };
        std::fs::write(folder.path().join("context-GPU-1"), [0; 8]).unwrap();
        assert!(alone.names().is_empty(), "the library's notes");
        let left: GroupName = "left".parse().unwrap();
        std::fs::create_dir(folder.path().join("left")).unwrap();
        std::fs::write(folder.path().join("left/limits"), b"").unwrap();
        assert_eq!(alone.names(), std::slice::from_ref(&left));
        assert!(alone.inspect(&left).unwrap().info.broken);
        alone.remove(&left).unwrap();
        assert!(alone.names().is_empty());
        assert!(alone.remove(&left).is_err());
    }
}
