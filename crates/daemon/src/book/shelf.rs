//! All groups of a pond, and what is known of its cards.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_ledger::{Flags, LedgerError, OWNERS, SlotIndex, UNIT};
use millpond_view::units::count;
use millpond_wire::message::{EventKind, GroupJoin, GroupSet, ReplyBody};
use millpond_wire::{ErrorKind, Failure, GpuUuid, GroupName};

use super::Told;
use super::account::{Account, Waits};
use super::charges::ChargedAccounts;
use super::folders::{Folders, Found, Maker, Runner};
use super::processes::{Identity, Processes};
use super::readings::CardReading;
use super::rights::GroupCaps;
use super::set::entries;
use crate::budget::drift::{Ceiling, Memory};
use crate::budget::pressure::Pressure;
use crate::budget::{Card, Payers};
use crate::policy::{GroupAsk, GroupCaller, GroupReading, GroupWork, OwnedGroups};

/// How long an anonymous group waits for a program that was started and has not begun: its runner
/// may be a shell that left it behind.
const GRACE: Duration = Duration::from_secs(5);
/// Names of groups that are close to one that is not there.
const SIMILAR: usize = 3;

#[derive(Debug)]
pub(super) struct Group {
    /// Its files; `Err` says what is wrong with them.
    pub account: Result<Arc<Account>, String>,
    pub anonymous: bool,
    pub runner: Option<Runner>,
    /// Who made it, if it was not the operator.
    pub maker: Option<Maker>,
    /// Whose memory in the pond is charged to it.
    pub users: Vec<u32>,
    pub memories: HashMap<(SlotIndex, GpuUuid), Memory>,
    ceilings: HashMap<GpuUuid, Ceiling>,
    /// An earlier daemon has made it.
    pub found: bool,
    /// GPUs on which its limit was set by this daemon.
    pub set_here: HashSet<GpuUuid>,
    /// GPUs on which it holds more than its limit, and that was said.
    pub over: HashSet<GpuUuid>,
    pub lying: bool,
    stuck_told: bool,
    idle_since: Option<Instant>,
}

/// A card as it was last read.
#[derive(Debug)]
pub(super) struct CardState {
    pub uuid: GpuUuid,
    pub card: Card,
    /// It was read since this daemon began; some cards do not say what is in use even then.
    pub read: bool,
    /// Processes with what they use, in units.
    pub processes: Vec<(u32, Identity, u64)>,
}

pub(super) struct Shelf {
    pub folders: Folders,
    pub processes: Processes,
    pub charges: Arc<ChargedAccounts>,
    pub groups: BTreeMap<GroupName, Group>,
    pub cards: Vec<CardState>,
    /// What is to be said.
    pub told: Vec<Told>,
    /// Whether anybody is there to obey a limit.
    pub has_members: bool,
    pub caps: GroupCaps,
    /// What was last said about who has how many groups.
    pub last_owned: OwnedGroups,
    /// What was last said about the cards.
    pub last_readings: Vec<GroupReading>,
    /// The number of the last group that nobody named.
    pub last_run: u64,
    /// Locks of groups that this look still waits for.
    pub waits: Waits,
    /// Elastic caches, and what moves between them.
    pub pressure: Pressure,
    /// When this thread began: the clock of `pressure`.
    pub began: Instant,
}

impl Shelf {
    /// What an earlier daemon left.
    pub fn open(folders: Folders, charges: Arc<ChargedAccounts>, caps: GroupCaps) -> Self {
        let mut shelf = Self {
            processes: Processes::default(),
            charges,
            groups: BTreeMap::new(),
            cards: Vec::new(),
            told: Vec::new(),
            has_members: true,
            caps,
            last_owned: OwnedGroups::new(),
            last_readings: Vec::new(),
            last_run: 0,
            waits: Waits::default(),
            pressure: Pressure::default(),
            began: Instant::now(),
            folders,
        };
        for Found { name, book, runner, maker } in shelf.folders.scan() {
            let account = match book {
                Ok(book) => Ok(Arc::new(Account::new(name.clone(), book))),
                Err(error) => {
                    tracing::error!(group = %name, "{error}");
                    Err(error.to_string())
                }
            };
            let group = Group { found: true, maker, ..Group::new(account, runner) };
            shelf.groups.insert(name, group);
        }
        shelf.payers_changed();
        let mut accounts = shelf.groups.values().filter_map(|group| group.account.as_ref().ok());
        let is_promised = |account: &Arc<Account>| entries(account).iter().any(|it| it.1.min > 0);
        shelf.charges.promised_elsewhere(accounts.any(is_promised));
        shelf
    }

    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub fn asked(&mut self, ask: GroupAsk) {
        let GroupAsk { conn, number, by, work } = ask;
        let answer = match work {
            GroupWork::Set(set) => {
                let group = self.meant(by, &set.group);
                self.set(by, GroupSet { group, ..set })
            }
            GroupWork::Join(join) => {
                let group = join.group.as_ref().map(|name| self.meant(by, name));
                self.join(by, GroupJoin { group, ..join })
            }
            GroupWork::List => Ok(ReplyBody::Groups(self.list())),
            GroupWork::Inspect(name) => self.inspect(by, &self.meant(by, &name)),
            GroupWork::Remove(name) => self.remove(by, &self.meant(by, &name)),
            work => match self.cache_work(conn, number, by, work) {
                Some(answer) => answer,
                // It is answered later, or nobody waits for it.
                None => return,
            },
        };
        self.told.push(Told::Answer { conn, number, answer: Box::new(answer) });
    }

    /// These cards are there.
    pub fn cards_are(&mut self, cards: &[(GpuUuid, u64)]) {
        let state = |(uuid, total): &(GpuUuid, u64)| CardState {
            uuid: *uuid,
            card: Card { total: total / UNIT, used: None },
            read: false,
            processes: Vec::new(),
        };
        self.cards = cards.iter().map(state).collect();
        self.recount();
        self.rebalance();
    }

    /// The cards were read.
    pub fn read(&mut self, readings: Vec<CardReading>) {
        for reading in readings {
            let Some(state) = self.cards.iter_mut().find(|card| card.uuid == reading.device) else {
                continue;
            };
            state.read = true;
            state.card.used = reading.used_bytes.map(|used| used / UNIT);
            if let Some(processes) = reading.processes {
                let known = |(pid, used): (u32, u64)| {
                    Some((pid, self.processes.identity(pid)?, used / UNIT))
                };
                state.processes = processes.into_iter().filter_map(known).collect();
            }
        }
    }

    /// Nobody will read the cards.
    pub fn unreadable(&mut self) {
        self.cards.iter_mut().for_each(|card| card.read = true);
    }

    /// Once a second: slots of the dead, groups that have ended, locks that somebody keeps.
    pub fn look_after(&mut self, now: Instant) {
        self.waits.begin();
        self.forget_removed();
        self.recount();
        self.has_members = false;
        let mut ended = Vec::new();
        let mut events = Vec::new();
        for (name, group) in &mut self.groups {
            let mut members = 0;
            if let Ok(account) = group.account.clone() {
                let reaped =
                    account.locked_in_turn(&self.waits, |book, patience| book.reap(patience));
                group.note(&reaped);
                if account.is_stuck() && !group.stuck_told {
                    let text = "one of its processes holds the ledger's lock and may be stopped";
                    events.push((EventKind::GroupStuck, name.clone(), text.to_owned()));
                }
                group.stuck_told = account.is_stuck();
                members = living(&account);
            }
            self.has_members |= members > 0;
            // Of one with broken files only the runner is known.
            if !group.anonymous || members > 0 || group.runs(&self.processes) {
                group.idle_since = None;
            } else if now.duration_since(*group.idle_since.get_or_insert(now)) >= GRACE {
                ended.push(name.clone());
            }
        }
        for (kind, name, text) in events {
            self.event(kind, &name, None, text);
        }
        for name in ended {
            match self.folders.remove(&name) {
                Ok(()) => {
                    self.forget(&name);
                    self.event(EventKind::GroupGone, &name, None, "its last process ended");
                }
                Err(error) => tracing::error!(group = %name, "it cannot be removed: {error}"),
            }
        }
    }

    /// Groups whose folders somebody has removed, with that of the pond or alone: their limits are
    /// gone with them.
    fn forget_removed(&mut self) {
        let is_there = |name: &GroupName| self.folders.of(name).is_dir();
        let removed: Vec<GroupName> =
            self.groups.keys().filter(|name| !is_there(name)).cloned().collect();
        for name in removed {
            tracing::error!(group = %name, "somebody has removed its folder; it ends, and its limit too");
            self.forget(&name);
            self.event(EventKind::GroupGone, &name, None, "somebody has removed its folder");
        }
    }

    /// Puts right what groups are charged with for the pond's memory.
    pub fn recount(&mut self) {
        let devices: Vec<GpuUuid> = self.cards.iter().map(|card| card.uuid).collect();
        for group in self.groups.values_mut() {
            let Ok(account) = group.account.clone() else { continue };
            let counted = self.charges.recount(&account.name, &devices);
            group.note(&counted);
        }
    }

    fn remove(&mut self, by: GroupCaller, name: &GroupName) -> Result<ReplyBody, Failure> {
        let group = self.groups.get(name).ok_or_else(|| self.no_such(name))?;
        self.check_is_theirs(by, "remove", name)?;
        let processes = group.account.as_ref().map_or(0, |account| living(account));
        if processes > 0 {
            let message = format!("group '{name}' has {}", count(processes.into(), "process"));
            return Err(Failure::new(ErrorKind::InUse, message)
                .hint(format!("end them first; `millpond ps --group {name}` shows them")));
        }
        if let Some(runner) = group.runner.filter(|_| group.runs(&self.processes)) {
            // It has not used a GPU yet, and would get no memory without its group.
            let message =
                format!("group '{name}' belongs to process {}, which is running", runner.pid);
            return Err(Failure::new(ErrorKind::InUse, message)
                .hint("the group ends a few seconds after the process"));
        }
        self.folders.remove(name).map_err(|error| {
            Failure::new(ErrorKind::Internal, format!("group '{name}' cannot be removed: {error}"))
        })?;
        self.forget(name);
        self.rebalance();
        self.event(EventKind::GroupGone, name, Some(by.user), "it was removed");
        Ok(ReplyBody::Done)
    }

    /// A group's folder is gone.
    fn forget(&mut self, name: &GroupName) {
        self.groups.remove(name);
        self.payers_changed();
        if self.is_empty() {
            self.tell_readings();
        }
    }

    /// Gives back what ended processes had, once the driver has it too. Called with every look at
    /// the limits, so that no group is charged for longer than that takes.
    pub fn reap_ended(&mut self) {
        for group in self.groups.values_mut() {
            let Ok(account) = group.account.clone() else { continue };
            let (mut here, mut ended) = (false, false);
            let _ = account.book.members(|member| {
                here = true;
                ended |= !member.alive;
            });
            self.has_members |= here;
            if ended {
                let reaped =
                    account.locked_in_turn(&self.waits, |book, patience| book.reap(patience));
                group.note(&reaped);
            }
        }
    }

    /// Says who pays for whom, after groups or their users have changed.
    pub fn payers_changed(&mut self) {
        let (mut payers, mut accounts) = (Vec::new(), HashMap::new());
        for (name, group) in &self.groups {
            if let Ok(account) = &group.account {
                payers.extend(group.users.iter().map(|user| (*user, name.clone())));
                accounts.insert(name.clone(), Arc::clone(account));
            }
        }
        let payers: Payers = payers.into_iter().collect();
        self.told.push(Told::Payers(payers.clone()));
        self.charges.set_payers(payers, accounts);
    }

    /// The files of a group that exists.
    pub fn account(&self, name: &GroupName) -> Result<Arc<Account>, Failure> {
        let group = self.groups.get(name).ok_or_else(|| self.no_such(name))?;
        group.account.clone().map_err(|error| {
            Failure::new(ErrorKind::Internal, format!("group '{name}': {error}"))
                .hint(format!("`millpond group rm {name}` removes it"))
        })
    }

    pub fn no_such(&self, name: &GroupName) -> Failure {
        let mut failure =
            Failure::new(ErrorKind::NotFound, format!("no group '{name}'")).hint(format!(
                "`millpond group ls` shows all; `millpond group set {name} --limit 10G` makes it"
            ));
        let near =
            |known: &&GroupName| strsim::damerau_levenshtein(known.as_str(), name.as_str()) <= 2;
        let similar = self.groups.keys().filter(near).take(SIMILAR);
        failure.similar = similar.map(ToString::to_string).collect();
        failure
    }

    pub fn event(
        &mut self,
        kind: EventKind,
        group: &GroupName,
        user: Option<u32>,
        text: impl Into<String>,
    ) {
        // The name that an event carries does not say whose it is.
        let user = user.or(group.user());
        self.told.push(Told::Event { kind, group: group.clone(), user, text: text.into() });
    }
}

impl Group {
    pub fn new(account: Result<Arc<Account>, String>, runner: Option<Runner>) -> Self {
        let flags = account.as_ref().ok().and_then(|account| account.book.flags().ok());
        let flags = flags.unwrap_or_default();
        let mut users = [0; OWNERS];
        let known = account.as_ref().ok().and_then(|account| account.book.owners(&mut users).ok());
        Self {
            anonymous: flags.contains(Flags::ANONYMOUS) || runner.is_some(),
            lying: flags.contains(Flags::LYING),
            users: users.get(..known.unwrap_or(0)).unwrap_or_default().to_vec(),
            account,
            runner,
            maker: None,
            memories: HashMap::new(),
            ceilings: HashMap::new(),
            found: false,
            set_here: HashSet::new(),
            over: HashSet::new(),
            stuck_told: false,
            idle_since: None,
        }
    }

    /// Whether the program that it was made for still runs.
    fn runs(&self, processes: &Processes) -> bool {
        self.runner.is_some_and(|runner| processes.lives(runner.pid, runner.start_ticks))
    }

    /// What was promised on a GPU, between two looks.
    pub fn ceiling(&mut self, device: GpuUuid) -> &mut Ceiling {
        let first = if self.found { Ceiling::of_found() } else { Ceiling::default() };
        self.ceilings.entry(device).or_insert(first)
    }

    /// Files that were damaged while they were in use are not used any more.
    pub fn note<T>(&mut self, result: &Result<T, LedgerError>) {
        let Err(error) = result else { return };
        let broken = match error {
            LedgerError::NoGroup(_) | LedgerError::Version { .. } | LedgerError::Broken { .. } => {
                true
            }
            LedgerError::Full
            | LedgerError::TooManyDevices
            | LedgerError::TooManyBudgets
            | LedgerError::Busy
            | LedgerError::OutOfReach
            | LedgerError::NotOurs { .. }
            | LedgerError::Gone
            | LedgerError::PathTooLong
            | LedgerError::BadName
            | LedgerError::System { .. } => false,
        };
        if broken {
            if let Ok(account) = &self.account {
                tracing::error!(group = %account.name, "{error}");
            }
            self.account = Err(error.to_string());
        }
    }
}

pub(super) fn living(account: &Account) -> u32 {
    let mut members = Vec::new();
    // A broken file has no members that anybody knows of.
    let _ = account.book.members(|member| members.push(member));
    super::listing::living_processes(members.iter())
}
