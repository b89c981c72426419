//! The groups of a pond, without its sockets: real files, cards that the test decides.

mod caches;
mod charges;
mod life;
mod restart;
mod rights;
mod thread;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_ledger::{Book, DeviceIndex, Member, NO_LIMIT, OWNERS, Refused, UNIT};
use millpond_wire::message::{EventKind, GroupDetails, GroupJoin, GroupLimit, GroupSet, ReplyBody};
use millpond_wire::{ErrorKind, Failure, GpuUuid, GroupName, SlabId, Token};

use super::Told;
use super::account::{WAITS, c_path};
use super::charges::ChargedAccounts;
use super::folders::Folders;
use super::readings::CardReading;
use super::rights::GroupCaps;
use super::shelf::Shelf;
use crate::budget::{FIRST_READING_MS, Payers, drift};
use crate::policy::{ConnId, GroupAsk, GroupCaller, GroupReading, GroupWork, OwnedGroups};

const GPU: GpuUuid = GpuUuid([1; 16]);
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// As they are without a setting.
const CAPS: GroupCaps = GroupCaps { all: 1000, named_per_user: 64, unnamed_per_user: 300 };

struct Play {
    shelf: Shelf,
    charges: Arc<ChargedAccounts>,
    folder: tempfile::TempDir,
    events: Vec<(EventKind, String, String)>,
    readings: Vec<GroupReading>,
    payers: Payers,
    owned: OwnedGroups,
    /// Who was refused another group, and why.
    refused: Vec<(u32, crate::accounts::Refused)>,
    /// Who was asked for pages.
    pressed: Vec<(ConnId, millpond_wire::message::Pressure)>,
    ended: Vec<ConnId>,
}

fn me() -> GroupCaller {
    let user = rustix::process::geteuid().as_raw();
    GroupCaller { user, gid: 0, pid: std::process::id(), operator: true }
}

fn name(text: &str) -> GroupName {
    GroupName::new(text).unwrap()
}

fn shelf_in(folder: &Path) -> (Shelf, Arc<ChargedAccounts>) {
    let charges = Arc::new(ChargedAccounts::default());
    let mut shelf = Shelf::open(Folders::of_pond(folder), Arc::clone(&charges), CAPS);
    shelf.cards_are(&[(GPU, 100 * GIB)]);
    (shelf, charges)
}

impl Play {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (shelf, charges) = shelf_in(folder.path());
        charges.adopt([]);
        let (events, readings) = (Vec::new(), Vec::new());
        let (payers, owned, refused) = (Payers::default(), OwnedGroups::new(), Vec::new());
        let (pressed, ended) = (Vec::new(), Vec::new());
        Self { shelf, charges, folder, events, readings, payers, owned, refused, pressed, ended }
    }

    /// The daemon dies; the next one has the folders, and these slabs from its journal.
    fn restart(&mut self, slabs: &[(SlabId, GpuUuid, u64, u32)]) {
        (self.shelf, self.charges) = shelf_in(self.folder.path());
        self.charges.adopt(slabs.iter().copied());
        self.shelf.look_after(Instant::now());
    }

    fn ask_as(&mut self, by: GroupCaller, work: GroupWork) -> Result<ReplyBody, Failure> {
        self.shelf.asked(GroupAsk { conn: ConnId(1), number: 1, by, work });
        self.hear().unwrap()
    }

    /// Takes what the shelf says; the last answer, if there was one.
    fn hear(&mut self) -> Option<Result<ReplyBody, Failure>> {
        self.shelf.tell_owned();
        let mut found = None;
        for told in self.shelf.told.drain(..) {
            match told {
                Told::Answer { answer, .. } => found = Some(*answer),
                Told::Event { kind, group, text, .. } => {
                    self.events.push((kind, group.to_string(), text));
                }
                Told::Readings(readings) => self.readings = readings,
                Told::Payers(payers) => self.payers = payers,
                Told::Owned(owned) => self.owned = owned,
                Told::CapReached { user, refused } => self.refused.push((user, refused)),
                Told::Press { conn, request } => self.pressed.push((conn, *request)),
                Told::EndSilent { conn } => self.ended.push(conn),
            }
        }
        found
    }

    fn ask(&mut self, work: GroupWork) -> Result<ReplyBody, Failure> {
        self.ask_as(me(), work)
    }

    fn set(&mut self, set: GroupSet) -> Result<GroupDetails, Failure> {
        match self.ask(GroupWork::Set(set))? {
            ReplyBody::GroupDetails(details) => Ok(*details),
            other => panic!("{other:?}"),
        }
    }

    fn make(&mut self, group: &str, limit: u64) -> GroupDetails {
        let limit = Some(GroupLimit::Bytes(limit));
        self.set(GroupSet { limit, create: true, ..GroupSet::of(name(group)) }).unwrap()
    }

    fn inspect(&mut self, group: &str) -> GroupDetails {
        match self.ask(GroupWork::Inspect(name(group))).unwrap() {
            ReplyBody::GroupDetails(details) => *details,
            other => panic!("{other:?}"),
        }
    }

    fn effective(&mut self, group: &str) -> Option<u64> {
        self.shelf.rebalance();
        self.inspect(group).info.devices[0].effective_bytes
    }

    fn join(&mut self, join: GroupJoin) -> Result<(GroupName, String, bool), Failure> {
        match self.ask(GroupWork::Join(join))? {
            ReplyBody::GroupJoined { name, folder, anonymous } => Ok((name, folder, anonymous)),
            other => panic!("{other:?}"),
        }
    }

    fn member(&self, group: &str) -> (Member, DeviceIndex) {
        let folder = self.shelf.folders.of(&name(group));
        let member = Member::attach(&c_path(&folder).unwrap()).unwrap();
        let device = member.device(GPU.0).unwrap();
        (member, device)
    }

    /// The card says this, once for each look that makes a difference count.
    fn card_says(&mut self, used: u64, own: u64) {
        for _ in 0..3 {
            self.shelf.read(vec![CardReading {
                device: GPU,
                used_bytes: Some(used),
                processes: Some(vec![(std::process::id(), own)]),
            }]);
            self.shelf.reconcile();
        }
    }

    fn events(&mut self, kind: EventKind) -> Vec<String> {
        // Picks up what was said.
        self.ask(GroupWork::List).unwrap();
        let of_kind = self.events.iter().filter(|(it, ..)| *it == kind);
        of_kind.map(|(_, group, text)| format!("{group}: {text}")).collect()
    }
}

fn join_of(group: Option<&str>, limit: Option<GroupLimit>) -> GroupJoin {
    GroupJoin { token: Token::random(), group: group.map(name), device: None, limit }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes / UNIT).unwrap()
}

#[test]
fn a_group_is_made_changed_listed_and_removed() {
    let mut play = Play::new();
    let unknown = play.set(GroupSet::of(name("team-a"))).unwrap_err();
    assert_eq!(unknown.kind, ErrorKind::NotFound);
    let made = play.make("team-a", 10 * GIB);
    assert_eq!(made.info.devices[0].limit_bytes, Some(10 * GIB));
    assert_eq!(made.info.devices[0].effective_bytes, Some(10 * GIB));
    let set = GroupSet { min_bytes: Some(GIB), weight: Some(3), ..GroupSet::of(name("team-a")) };
    let changed = play.set(set).unwrap().info.devices.remove(0);
    assert_eq!((changed.min_bytes, changed.weight), (GIB, 3));
    assert_eq!(changed.limit_bytes, Some(10 * GIB), "what was not said stays");
    let near = play.ask(GroupWork::Inspect(name("team-b"))).unwrap_err();
    assert_eq!(near.similar, ["team-a"]);
    assert_eq!(play.ask(GroupWork::Remove(name("team-a"))), Ok(ReplyBody::Done));
    assert_eq!(play.ask(GroupWork::List), Ok(ReplyBody::Groups(Vec::new())));
    assert_eq!(std::fs::read_dir(play.folder.path().join("groups")).unwrap().count(), 0);
    assert_eq!(play.events(EventKind::GroupGone), ["team-a: it was removed"]);
}

#[test]
fn limits_that_cannot_be_are_refused_by_name() {
    let mut play = Play::new();
    let with = |limit| GroupSet { limit: Some(limit), create: true, ..GroupSet::of(name("x")) };
    let many = (1..=u32::try_from(OWNERS).unwrap() + 1).collect();
    for (set, kind) in [
        (with(GroupLimit::Bytes(0)), ErrorKind::Invalid),
        (with(GroupLimit::Permille(0)), ErrorKind::Invalid),
        (GroupSet { weight: Some(0), ..with(GroupLimit::Bytes(GIB)) }, ErrorKind::Invalid),
        (GroupSet { users: Some(many), ..with(GroupLimit::Bytes(GIB)) }, ErrorKind::Invalid),
        (GroupSet { min_bytes: Some(2 * GIB), ..with(GroupLimit::Bytes(GIB)) }, ErrorKind::Invalid),
        (
            GroupSet { device: Some(GpuUuid([9; 16])), ..with(GroupLimit::Bytes(GIB)) },
            ErrorKind::NoDevice,
        ),
    ] {
        assert_eq!(play.set(set.clone()).unwrap_err().kind, kind, "{set:?}");
    }
    assert!(play.shelf.is_empty(), "nothing is left of what was refused");
    let half = play.set(with(GroupLimit::Permille(500))).unwrap();
    assert_eq!(half.info.devices[0].limit_bytes, Some(50 * GIB));
    let large = play.set(with(GroupLimit::Bytes(500 * GIB))).unwrap();
    assert_eq!(large.info.devices[0].effective_bytes, Some(100 * GIB), "the card is the limit");
    let none = play.set(with(GroupLimit::Unlimited)).unwrap();
    assert_eq!(none.info.devices[0].effective_bytes, None);
}

#[test]
fn three_groups_leave_each_other_what_they_hold_and_are_promised() {
    let mut play = Play::new();
    for group in ["a", "b", "c"] {
        play.make(group, 80 * GIB);
    }
    play.set(GroupSet { min_bytes: Some(30 * GIB), ..GroupSet::of(name("b")) }).unwrap();
    let (member, device) = play.member("a");
    member.reserve(device, units(10 * GIB)).unwrap();
    assert_eq!(play.effective("a"), Some(70 * GIB), "b was promised 30");
    assert_eq!(play.effective("b"), Some(80 * GIB));
    assert_eq!(play.effective("c"), Some(60 * GIB));
    // Strangers come: 20 that no group knows.
    play.shelf.read(vec![CardReading { device: GPU, used_bytes: Some(30 * GIB), processes: None }]);
    assert_eq!(play.effective("a"), Some(50 * GIB));
    // What a member obeys is what was written.
    assert_eq!(member.limit(device), 50 * GIB / UNIT);
    member.release(device, units(10 * GIB));
}

#[test]
fn all_promises_fit_the_card() {
    let mut play = Play::new();
    for (group, min) in [("a", 60), ("b", 40)] {
        play.make(group, 80 * GIB);
        let set = GroupSet { min_bytes: Some(min * GIB), ..GroupSet::of(name(group)) };
        play.set(set).unwrap();
    }
    play.make("c", GIB);
    let set = GroupSet { min_bytes: Some(MIB), ..GroupSet::of(name("c")) };
    let failure = play.set(set).unwrap_err();
    assert_eq!(failure.kind, ErrorKind::GpuFull);
    let numbers = (failure.requested_bytes, failure.free_bytes, failure.capacity_bytes);
    assert_eq!(numbers, (Some(MIB), Some(0), Some(100 * GIB)), "{failure}");
}

#[test]
fn a_restart_finds_groups_members_and_limits() {
    let mut play = Play::new();
    play.make("team", 4 * GIB);
    let (member, device) = play.member("team");
    member.reserve(device, units(GIB)).unwrap();
    let before = play.inspect("team");
    assert_eq!(before.members.len(), 1);
    assert_eq!(before.members[0].pid, std::process::id());
    assert!(before.members[0].started_unix_ms.is_some());
    // While nobody serves, the limit holds.
    assert_eq!(member.reserve(device, units(4 * GIB)), Err(Refused::Limit));
    play.restart(&[]);
    let after = play.inspect("team");
    assert_eq!(after.info, before.info);
    assert_eq!(after.members[0].devices, before.members[0].devices);
    assert_eq!(after.info.devices[0].process_bytes, GIB);
    assert_eq!(play.ask(GroupWork::Remove(name("team"))).unwrap_err().kind, ErrorKind::InUse);
    member.release(device, units(GIB));
}

#[test]
fn a_limit_below_use_holds_at_once_and_is_told_with_who_holds_most() {
    let mut play = Play::new();
    play.make("team", 8 * GIB);
    let (member, device) = play.member("team");
    member.reserve(device, units(6 * GIB)).unwrap();
    play.make("team", 4 * GIB);
    assert_eq!(member.limit(device), 4 * GIB / UNIT);
    assert_eq!(member.reserve(device, 1), Err(Refused::Limit));
    let told = play.events(EventKind::GroupOver);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("6 GiB") && told[0].contains("4 GiB"), "{told:?}");
    assert!(told[0].contains(&format!("pid {}", std::process::id())), "{told:?}");
    for _ in 0..3 {
        play.shelf.rebalance();
    }
    assert_eq!(play.events(EventKind::GroupOver).len(), 1, "it is told once");
    play.make("team", 8 * GIB);
    member.reserve(device, units(GIB)).unwrap();
    member.release(device, units(7 * GIB));
}

#[test]
fn what_the_card_shows_and_nobody_charged_is_folded_in() {
    let mut play = Play::new();
    play.make("team", 8 * GIB);
    let (member, device) = play.member("team");
    member.reserve(device, units(GIB)).unwrap();
    play.card_says(3 * GIB, GIB + 300 * MIB);
    let seen = play.inspect("team");
    let process = &seen.members[0].devices[0];
    assert_eq!(process.physical_bytes, Some(GIB + 300 * MIB));
    assert_eq!((process.folded_bytes, process.charged_bytes), (300 * MIB, GIB + 300 * MIB));
    assert_eq!(process.drift_bytes(), Some(0));
    assert!(!seen.info.lying);
    assert_eq!(seen.info.devices[0].process_bytes, GIB + 300 * MIB);
    play.events(EventKind::GroupSet);
    let reading = play.readings.last().unwrap();
    assert_eq!(reading.charged_bytes, GIB + 300 * MIB);
    assert_eq!(reading.outside_bytes, 2 * GIB - 300 * MIB);
    // It counts: what is left is less.
    assert_eq!(member.reserve(device, units(7 * GIB - 299 * MIB)), Err(Refused::Limit));
    member.reserve(device, units(7 * GIB - 300 * MIB)).unwrap();
    member.release(device, units(8 * GIB - 300 * MIB));
}

#[test]
fn a_member_that_says_less_than_it_holds_is_marked_until_somebody_sets_the_group() {
    let mut play = Play::new();
    play.make("team", 8 * GIB);
    let (_member, _) = play.member("team");
    play.card_says(3 * GIB, 3 * GIB);
    let seen = play.inspect("team").info;
    assert!(seen.lying);
    assert_eq!(seen.devices[0].process_bytes, 3 * GIB, "it is charged in any case");
    let told = play.events(EventKind::GroupLying);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains(drift::Lie::FarMore.text()), "{told:?}");
    play.restart(&[]);
    assert!(play.inspect("team").info.lying, "the mark is in the file");
    play.make("team", 8 * GIB);
    assert!(!play.inspect("team").info.lying);
}

#[test]
fn a_program_gets_a_group_of_its_own_which_ends_with_it() {
    let mut play = Play::new();
    let join = join_of(None, Some(GroupLimit::Bytes(GIB)));
    let (group, folder, anonymous) = play.join(join.clone()).unwrap();
    assert!(anonymous && folder.ends_with(group.as_str()));
    assert_eq!(play.join(join).unwrap().0, group, "a repeat is the same");
    let other = play.join(join_of(None, None)).unwrap().0;
    assert_ne!(other, group);
    assert_eq!(play.inspect(group.as_str()).info.devices[0].limit_bytes, Some(GIB));
    // The program lives, also across a restart.
    play.restart(&[]);
    let late = Instant::now() + Duration::from_secs(60);
    play.shelf.look_after(late);
    assert!(play.inspect(group.as_str()).info.anonymous);
    // One whose program is gone ends after a while.
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let by = GroupCaller { pid: child.id(), ..me() };
    let gone = match play.ask_as(by, GroupWork::Join(join_of(None, None))).unwrap() {
        ReplyBody::GroupJoined { name, .. } => name,
        other => panic!("{other:?}"),
    };
    child.wait().unwrap();
    play.shelf.look_after(late);
    assert!(play.ask(GroupWork::Inspect(gone.clone())).is_ok(), "its program may only be late");
    play.shelf.look_after(late + Duration::from_secs(60));
    assert!(play.ask(GroupWork::Inspect(gone.clone())).is_err());
    assert_eq!(play.events(EventKind::GroupGone), [format!("{gone}: its last process ended")]);
}

#[test]
fn a_group_of_a_name_is_joined_by_those_who_may() {
    let mut play = Play::new();
    let limit = |gib| Some(GroupLimit::Bytes(gib * GIB));
    assert_eq!(play.join(join_of(Some("team"), None)).unwrap_err().kind, ErrorKind::NotFound);
    let (group, _, anonymous) = play.join(join_of(Some("team"), limit(2))).unwrap();
    assert!(group == name("team") && !anonymous);
    play.join(join_of(Some("team"), None)).unwrap();
    play.join(join_of(Some("team"), limit(2))).unwrap();
    let other = play.join(join_of(Some("team"), limit(3))).unwrap_err();
    assert_eq!(other.kind, ErrorKind::Exists);
    assert!(other.message.contains("2 GiB") && other.message.contains("3 GiB"), "{other}");
    let stranger = GroupCaller { user: me().user + 1, operator: false, ..me() };
    for work in [GroupWork::Join(join_of(Some("team"), None)), GroupWork::Inspect(name("team"))] {
        assert_eq!(play.ask_as(stranger, work).unwrap_err().kind, ErrorKind::Denied);
    }
    let users = Some(vec![stranger.user]);
    play.set(GroupSet { users, ..GroupSet::of(name("team")) }).unwrap();
    assert!(play.ask_as(stranger, GroupWork::Inspect(name("team"))).is_ok());
    let joined = play.ask_as(stranger, GroupWork::Join(join_of(Some("team"), None)));
    // Only root can let another user write the ledger.
    assert_eq!(joined.is_ok(), me().user == 0, "{joined:?}");
    if me().user != 0 {
        return;
    }
    let folder = play.shelf.folders.of(&name("team"));
    let owner =
        |file: &str| std::os::unix::fs::MetadataExt::uid(&folder.join(file).metadata().unwrap());
    let second = GroupCaller { user: stranger.user + 1, ..stranger };
    let users = Some(vec![stranger.user, second.user]);
    play.set(GroupSet { users, ..GroupSet::of(name("team")) }).unwrap();
    let joined = play.ask_as(second, GroupWork::Join(join_of(Some("team"), None)));
    if owner("ledger") == stranger.user {
        // No access lists here: the first one owns the files, and there is no place for another.
        assert_eq!(owner("exports"), stranger.user);
        let failure = joined.unwrap_err();
        assert_eq!(failure.kind, ErrorKind::Denied);
        assert!(failure.message.contains("cannot be shared"), "{failure}");
        return;
    }
    assert!(joined.is_ok(), "{joined:?}");
    let listed = |file: &str| {
        let list = "system.posix_acl_access";
        rustix::fs::getxattr(folder.join(file), list, &mut [0u8; 256]).unwrap()
    };
    assert_eq!((listed("ledger"), listed("exports")), (4 + 6 * 8, 4 + 6 * 8));
    // Replaced, the first one is out, also if it was a member before.
    let users = Some(vec![second.user]);
    play.set(GroupSet { users, ..GroupSet::of(name("team")) }).unwrap();
    assert_eq!((listed("ledger"), listed("exports")), (4 + 5 * 8, 4 + 5 * 8));
    let joined = play.ask_as(stranger, GroupWork::Join(join_of(Some("team"), None)));
    assert_eq!(joined.unwrap_err().kind, ErrorKind::Denied);
    play.ask_as(second, GroupWork::Join(join_of(Some("team"), None))).unwrap();
}

#[test]
fn broken_files_are_shown_and_can_be_removed() {
    let mut play = Play::new();
    for group in ["a", "b", "c"] {
        play.make(group, GIB);
    }
    let groups = play.folder.path().join("groups");
    std::fs::write(groups.join("a/limits"), "garbage").unwrap();
    std::fs::File::create(groups.join("b/ledger")).unwrap();
    std::fs::create_dir(groups.join(".gone-x")).unwrap();
    std::fs::write(groups.join("file"), "x").unwrap();
    // While they are in use, and found again.
    for _ in 0..2 {
        play.shelf.look_after(Instant::now());
        play.shelf.rebalance();
        play.shelf.reconcile();
        let Ok(ReplyBody::Groups(all)) = play.ask(GroupWork::List) else { panic!() };
        let broken: Vec<bool> = all.iter().map(|group| group.broken).collect();
        assert_eq!(broken, [true, true, false]);
        play.restart(&[]);
    }
    assert!(!groups.join(".gone-x").exists());
    assert!(play.set(GroupSet { weight: Some(2), ..GroupSet::of(name("a")) }).is_err());
    for group in ["a", "b"] {
        assert_eq!(play.ask(GroupWork::Remove(name(group))), Ok(ReplyBody::Done));
    }
    assert_eq!(play.inspect("c").info.devices[0].limit_bytes, Some(GIB));
}

#[test]
fn nobody_waits_for_a_lock_that_somebody_keeps() {
    let mut play = Play::new();
    play.make("stuck", GIB);
    play.make("other", GIB);
    play.set(GroupSet { users: Some(vec![1]), ..GroupSet::of(name("stuck")) }).unwrap();
    let ledger = play.folder.path().join("groups/stuck/ledger");
    let ledger = std::fs::File::options().read(true).write(true).open(ledger).unwrap();
    assert!(millpond_wire::fd::try_lock(&ledger).unwrap());
    let began = Instant::now();
    for _ in 0..100 {
        play.shelf.look_after(Instant::now());
        play.shelf.rebalance();
        play.shelf.reconcile();
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(play.inspect("stuck").info.stuck && !play.inspect("other").info.stuck);
    assert_eq!(play.events(EventKind::GroupStuck).len(), 1);
    let refused = play.charges.charge(SlabId::random(), GPU, MIB, 1).unwrap_err();
    assert_eq!((refused.answer.kind, refused.soon), (ErrorKind::Later, false));
    play.charges.charge(SlabId::random(), GPU, MIB, 2).unwrap();
    play.make("other", 2 * GIB);
    drop(ledger);
    play.shelf.look_after(Instant::now());
    assert!(!play.inspect("stuck").info.stuck);
    play.charges.charge(SlabId::random(), GPU, MIB, 1).unwrap();
}

#[test]
fn one_look_does_not_wait_for_every_lock_that_somebody_keeps() {
    let mut play = Play::new();
    let names: Vec<String> = (0..10).map(|number| format!("team-{number}")).collect();
    for group in &names {
        play.make(group, GIB);
    }
    let kept: Vec<std::fs::File> = names
        .iter()
        .map(|group| {
            let ledger = play.folder.path().join("groups").join(group).join("ledger");
            let ledger = std::fs::File::options().read(true).write(true).open(ledger).unwrap();
            assert!(millpond_wire::fd::try_lock(&ledger).unwrap());
            ledger
        })
        .collect();
    let stuck = |play: &mut Play| {
        play.shelf.look_after(Instant::now());
        names.iter().filter(|group| play.inspect(group).info.stuck).count()
    };
    // Each that it waited for in vain is marked, and not waited for again.
    let waits = usize::try_from(WAITS).unwrap();
    assert_eq!([(); 3].map(|()| stuck(&mut play)), [waits, 2 * waits, 10]);
    drop(kept);
    assert_eq!(stuck(&mut play), 0);
}

#[test]
fn a_group_without_a_limit_has_none() {
    let mut play = Play::new();
    play.set(GroupSet { create: true, ..GroupSet::of(name("free")) }).unwrap();
    let (member, device) = play.member("free");
    assert_eq!(member.limit(device), NO_LIMIT);
}

#[test]
fn what_a_daemon_before_had_allowed_is_no_lie() {
    let mut play = Play::new();
    play.make("team", 10 * GIB);
    let (member, device) = play.member("team");
    member.reserve(device, units(8 * GIB)).unwrap();
    play.make("team", 4 * GIB);
    play.card_says(8 * GIB, 8 * GIB);
    assert!(!play.inspect("team").info.lying);
    play.restart(&[]);
    play.card_says(8 * GIB, 8 * GIB);
    assert!(!play.inspect("team").info.lying, "it had that before its limit was lowered");
    member.release(device, units(8 * GIB));
}

#[test]
fn a_group_that_comes_to_pay_for_more_than_its_limit_does_not_lie() {
    let mut play = Play::new();
    play.make("team", GIB);
    play.charges.charge(SlabId::random(), GPU, 5 * GIB, 1000).unwrap();
    play.card_says(5 * GIB, 0);
    play.set(GroupSet { users: Some(vec![1000]), ..GroupSet::of(name("team")) }).unwrap();
    play.card_says(5 * GIB, 0);
    let info = play.inspect("team").info;
    assert_eq!((info.devices[0].pond_bytes, info.lying), (5 * GIB, false));
    assert_eq!(
        play.events(EventKind::GroupOver).len(),
        1,
        "it is over its limit, and that is said"
    );
}
