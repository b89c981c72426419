//! A group of real processes: how they come, fork, die and misbehave.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod puppets;

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use millpond_ledger::{
    Book, BookSettings, LedgerError, Member, Memory, Observer, Patience, PondRefused, SLOTS,
    establish,
};

use puppets::{BOTH, GPU, Group, HARNESS, LONG, PATIENT, Puppet, c, until};

#[test]
fn a_killed_process_gives_everything_back_without_anybody_repairing() {
    for memory in BOTH {
        let group = Group::new(memory, 1000);
        let (mut a, mut b) = (group.puppet(), group.puppet());
        assert_eq!(a.ask("attach"), "slot 0");
        assert_eq!(b.ask("attach"), "slot 1");
        assert_eq!(a.ask("reserve 1000"), "ok");
        assert_eq!(b.ask("reserve 1"), "limit");
        a.kill();
        assert_eq!(b.ask("reserve 1000"), "ok");
        assert_eq!(b.ask("used"), "used 1000");
    }
}

/// A zombie has given its memory back; nobody has waited for it yet.
#[test]
fn a_zombie_counts_as_gone() {
    let group = Group::new(Memory::Segment, 1000);
    let (mut a, mut b) = (group.puppet(), group.puppet());
    a.ask("attach");
    b.ask("attach");
    assert_eq!(a.ask("reserve 1000"), "ok");
    a.child.kill().unwrap();
    until("room", || b.ask("reserve 1000") == "ok");
}

/// The kernel drops the ledger's lock with the memory map, and a driver's files and memory follow:
/// room must not come back before the driver has the memory back.
#[test]
fn room_comes_back_when_the_drivers_files_are_closed_and_not_before() {
    let group = Group::new(Memory::Segment, 1000);
    let (mut a, mut b) = (group.puppet(), group.puppet());
    a.ask("attach");
    b.ask("attach");
    assert_eq!(a.ask("slow-driver"), "filled locked filled");
    assert_eq!(a.ask("reserve 1000"), "ok");
    let driver =
        fs::OpenOptions::new().read(true).write(true).open(group.path.join("driver")).unwrap();
    assert!(is_locked(&driver));
    a.child.kill().unwrap();
    let end = Instant::now() + LONG;
    while b.ask("reserve 1000") != "ok" {
        assert!(Instant::now() < end);
    }
    assert!(!is_locked(&driver));
}

fn is_locked(file: &fs::File) -> bool {
    use std::os::fd::AsRawFd;
    // SAFETY: all zeroes are a valid `flock`, and it outlives the call.
    unsafe {
        let mut range: libc::flock = std::mem::zeroed();
        range.l_type = libc::c_short::try_from(libc::F_WRLCK).unwrap();
        range.l_len = 1;
        assert_eq!(libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut range), 0);
        i32::from(range.l_type) != libc::F_UNLCK
    }
}

#[test]
fn a_forked_child_has_a_slot_of_its_own_and_the_parents_dies_with_the_parent() {
    for memory in BOTH {
        let group = Group::new(memory, 1000);
        let mut family = group.puppet();
        assert_eq!(family.ask("attach"), "slot 0");
        assert_eq!(family.ask("reserve 600"), "ok");
        assert!(family.ask("fork").starts_with("child "));
        // From here on the child answers.
        assert_eq!(family.ask("used"), "not attached");
        assert_eq!(family.ask("attach"), "slot 1");
        assert_eq!(family.ask("reserve 500"), "limit");
        assert_eq!(family.ask("reserve 400"), "ok");
        assert_eq!(family.ask("used"), "used 1000");
        assert_eq!(group.alive(), 2);
        family.child.kill().unwrap();
        family.child.wait().unwrap();
        assert_eq!(group.alive(), 1);
        assert_eq!(family.ask("reserve 600"), "ok");
        assert_eq!(family.ask("used"), "used 1000");
        family.tell("exit");
        until("the child's end", || group.alive() == 0);
    }
}

#[test]
fn exec_gives_back_what_the_program_before_it_had() {
    for memory in BOTH {
        let group = Group::new(memory, 1000);
        let mut a = group.puppet();
        assert_eq!(a.ask("attach"), "slot 0");
        assert_eq!(a.ask("reserve 1000"), "ok");
        assert_eq!(a.ask("exec"), "exec");
        assert_eq!(a.ask("used"), "not attached");
        assert!(a.ask("attach").starts_with("slot "));
        assert_eq!(a.ask("reserve 1000"), "ok");
    }
}

#[test]
fn a_program_that_closes_all_descriptors_keeps_its_slot() {
    for memory in BOTH {
        let group = Group::new(memory, 1000);
        let (mut a, mut b) = (group.puppet(), group.puppet());
        a.ask("attach");
        b.ask("attach");
        assert_eq!(a.ask("close-all"), "closed");
        assert_eq!(a.ask("reserve 900"), "ok");
        assert_eq!(b.ask("reserve 200"), "limit");
        assert_eq!(group.book.reap(PATIENT).unwrap(), 0);
        assert_eq!(a.ask("used"), "used 900");
        a.kill();
        assert_eq!(b.ask("reserve 1000"), "ok");
    }
}

#[test]
fn five_hundred_processes_at_once() {
    let group = Group::new(Memory::Segment, 500 * 10);
    let mut puppets: Vec<Puppet> = (0..500).map(|_| group.puppet()).collect();
    for puppet in &mut puppets {
        puppet.tell("attach");
        puppet.tell("reserve 10");
    }
    for puppet in &mut puppets {
        assert!(puppet.hear().starts_with("slot "));
        assert_eq!(puppet.hear(), "ok");
    }
    assert_eq!(group.book.totals(GPU).unwrap().used, 5000);
    assert_eq!(group.alive(), 500);
    let first = puppets.first_mut().unwrap();
    assert_eq!(first.ask("reserve 1"), "limit");
    for puppet in puppets.iter_mut().skip(1) {
        puppet.child.kill().unwrap();
    }
    until("all of it back", || puppets.first_mut().unwrap().ask("reserve 4990") == "ok");
}

#[test]
fn the_process_after_the_last_slot_is_refused_by_name() {
    let group = Group::new(Memory::Segment, 1000);
    let mut members: Vec<Member> =
        (0..SLOTS).map(|_| Member::attach(&c(&group.path)).unwrap()).collect();
    assert_eq!(Member::attach(&c(&group.path)).unwrap_err(), LedgerError::Full);
    assert!(group.puppet().ask("attach").contains("1024 processes already"));
    members.swap_remove(700);
    assert_eq!(Member::attach(&c(&group.path)).unwrap().slot(), 700);
}

#[test]
fn a_ledger_that_is_removed_refuses_and_harms_nobody() {
    for memory in BOTH {
        let group = Group::new(memory, 1_000_000);
        let mut a = group.puppet();
        a.ask("attach");
        assert_eq!(a.ask("reserve 10"), "ok");
        fs::remove_file(group.ledger()).unwrap();
        assert_eq!(a.ask("release 10"), "ok");
        assert!(a.ask("reserve 900000").starts_with("broken the group has no ledger file"));
        assert!(matches!(group.book.reap(PATIENT), Err(LedgerError::NoGroup("ledger"))));
        // Somebody makes a new one: those of the old one are not in it, and know it.
        let settings = BookSettings { name: b"g", owner: None, everyone: false, memory };
        let _new = Book::create(&c(&group.path), settings).unwrap();
        assert!(a.ask("reserve 900000").contains("it was replaced"));
        assert!(a.is_running());
    }
}

#[test]
fn a_limits_file_that_is_gone_or_garbage_means_no_new_memory() {
    let group = Group::new(Memory::Segment, 1_000_000);
    let mut a = group.puppet();
    a.ask("attach");
    let limits = group.path.join("limits");
    let good = fs::read(&limits).unwrap();
    for bad in [Vec::new(), vec![0x5a; 4096], good.iter().copied().take(100).collect()] {
        fs::write(&limits, bad).unwrap();
        assert!(a.ask("reserve 900000").starts_with("broken the group's limits file"));
        assert!(matches!(
            Member::attach(&c(&group.path)),
            Err(LedgerError::Broken { file: "limits", .. })
        ));
    }
    let mut newer = good.clone();
    *newer.get_mut(8).unwrap() = 9;
    fs::write(&limits, newer).unwrap();
    let version = LedgerError::Version { file: "limits", found: 9, known: 1 };
    assert_eq!(Member::attach(&c(&group.path)).unwrap_err(), version);
    fs::remove_file(&limits).unwrap();
    assert!(a.ask("reserve 900000").starts_with("broken the group has no limits file"));
    fs::write(&limits, good).unwrap();
    assert_eq!(a.ask("reserve 900000"), "ok");
}

#[test]
fn a_ledger_that_is_garbage_or_of_another_version_is_refused_by_name() {
    for memory in BOTH {
        let group = Group::new(memory, 1000);
        let good = fs::read(group.ledger()).unwrap();
        let file = fs::OpenOptions::new().write(true).open(group.ledger()).unwrap();
        file.write_all_at(&[0x5a; 4096], 0).unwrap();
        let broken = LedgerError::Broken { file: "ledger", what: "it does not begin like one" };
        assert_eq!(Member::attach(&c(&group.path)).unwrap_err(), broken);
        assert_eq!(Book::open(&c(&group.path)).unwrap_err(), broken);
        let observer = Observer::open(&c(&group.path)).unwrap();
        assert_eq!(observer.used(GPU).unwrap_err(), broken);
        file.write_all_at(good.get(..64).unwrap(), 0).unwrap();
        file.write_all_at(&[7], 8).unwrap();
        let version = LedgerError::Version { file: "ledger", found: 7, known: 1 };
        assert_eq!(Member::attach(&c(&group.path)).unwrap_err(), version);
        file.write_all_at(good.get(..64).unwrap(), 0).unwrap();
        Member::attach(&c(&group.path)).unwrap();
    }
}

/// Garbage everywhere behind the head: numbers that cannot be, and no crash.
#[test]
fn garbage_in_every_slot_crashes_nobody() {
    let group = Group::new(Memory::File, 1000);
    let member = Member::attach(&c(&group.path)).unwrap();
    let device = member.device(GPU).unwrap();
    let file = fs::OpenOptions::new().write(true).open(group.ledger()).unwrap();
    let mut seed = 1_u64;
    let mut garbage = vec![0_u8; 1024 * 1024];
    for byte in &mut garbage {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *byte = seed.to_be_bytes()[0];
    }
    file.write_all_at(&garbage, 4096).unwrap();
    file.write_all_at(&[0xff; 8], 64).unwrap();
    let _ = member.reserve(device, 10);
    member.release(device, u32::MAX);
    member.charge(device, u32::MAX);
    let _ = member.group_used(device);
    let _ = group.book.totals(GPU);
    let _ = group.book.members(|_| {});
    let _ = group.book.reap(PATIENT);
    let _ = Observer::open(&c(&group.path)).unwrap().used(GPU);
}

#[test]
fn nonsense_in_a_slot_hurts_only_its_own_group_and_only_while_its_owner_lives() {
    for memory in BOTH {
        let group = Group::new(memory, 1000);
        let (mut liar, mut honest) = (group.puppet(), group.puppet());
        liar.ask("attach");
        honest.ask("attach");
        assert_eq!(honest.ask("reserve 100"), "ok");
        for nonsense in ["scribble 0 4294967295", "scribble 4294967295 0", "scribble 5 9"] {
            assert_eq!(liar.ask(nonsense), "ok");
            let answer = honest.ask("reserve 10");
            assert!(answer == "ok" || answer == "limit", "{answer}");
            assert!(honest.ask("used").starts_with("used "));
            group.book.set_effective(GPU, 1000, PATIENT).unwrap();
            assert!(group.book.totals(GPU).is_ok());
        }
        assert_eq!(liar.ask("release 4000000000"), "ok");
        liar.kill();
        assert_eq!(honest.ask("release 1000"), "ok");
        assert_eq!(honest.ask("reserve 1000"), "ok");
    }
}

#[test]
fn a_stopped_holder_of_the_lock_delays_members_and_does_not_hang_the_operator() {
    let group = Group::new(Memory::Segment, 1000);
    let (mut holder, mut member) = (group.puppet(), group.puppet());
    member.ask("attach");
    assert_eq!(holder.ask("lock"), "locked");
    holder.signal(libc::SIGSTOP);
    let short = Patience(Duration::from_millis(30));
    assert_eq!(group.book.reap(short), Err(LedgerError::Busy));
    assert_eq!(group.book.reserve_pond(GPU, 1, short), Err(PondRefused::Broken(LedgerError::Busy)));
    // What needs no lock goes on.
    assert!(group.book.totals(GPU).is_ok());
    member.tell("reserve 10");
    // A signal does not end the wait.
    member.signal(libc::SIGSTOP);
    member.signal(libc::SIGCONT);
    holder.kill();
    assert_eq!(member.hear(), "ok");
    group.book.reap(PATIENT).unwrap();
}

/// The same pid number in two pid namespaces is two processes.
#[test]
fn members_of_another_pid_namespace_are_told_apart() {
    let group = Group::new(Memory::Segment, 1000);
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child", HARNESS, "puppet"]).arg(&group.path);
    let probe = Command::new("unshare").args(["--pid", "--fork", "true"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: this user cannot make a pid namespace");
        return;
    }
    let mut inside = Puppet::start(&mut command);
    let mut outside = group.puppet();
    assert_eq!(inside.ask("pid"), "pid 1");
    assert_eq!(inside.ask("attach"), "slot 0");
    outside.ask("attach");
    assert_eq!(inside.ask("reserve 600"), "ok");
    assert_eq!(outside.ask("reserve 500"), "limit");
    assert_eq!(inside.ask("reserve 500"), "limit");
    let mut foreign = 0;
    group.book.members(|member| foreign += usize::from(!member.same_namespace)).unwrap();
    assert_eq!(foreign, 1);
    assert_eq!(group.book.reap(PATIENT).unwrap(), 0);
    inside.kill();
    until("room", || outside.ask("reserve 1000") == "ok");
}

/// Root's daemon, a user's programs: they share the ledger, and only read the limits.
#[test]
fn a_group_that_root_makes_for_a_user() {
    const USER: u32 = 54_321;
    // SAFETY: asks who we are.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("SKIPPED: only root can make a group for another user");
        return;
    }
    for memory in BOTH {
        for everyone in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
            let harness = folder.path().join("harness");
            // By another process: a copy that this one writes is "busy" in children forked meanwhile.
            assert!(Command::new("cp").arg(HARNESS).arg(&harness).status().unwrap().success());
            let path = folder.path().join("g");
            let owner = (!everyone).then_some(USER);
            let settings = BookSettings { name: b"g", owner, everyone, memory };
            let book = Book::create(&c(&path), settings).unwrap();
            book.change(None, PATIENT, |budget| budget.effective = 1000).unwrap();
            let start = |user| {
                Puppet::start(Command::new(&harness).arg("puppet").arg(&path).uid(user).gid(user))
            };
            let (mut own, mut other) = (start(USER), start(USER + 1));
            assert_eq!(own.ask("attach"), "slot 0");
            assert_eq!(own.ask("reserve 600"), "ok");
            assert_eq!(book.totals(GPU).unwrap().used, 600);
            book.set_effective(GPU, 700, PATIENT).unwrap();
            assert_eq!(own.ask("reserve 101"), "limit");
            let answer = other.ask("attach");
            if everyone {
                assert_eq!(answer, "slot 1");
                assert_eq!(other.ask("reserve 101"), "limit");
                assert_eq!(other.ask("reserve 100"), "ok");
            } else {
                assert!(answer.contains("errno 13"), "{answer}");
            }
            let limits = fs::metadata(path.join("limits")).unwrap();
            assert_eq!((limits.uid(), limits.mode() & 0o777), (0, 0o644));
        }
    }
}

/// The number of a segment that ended with its members may be that of a stranger's by now.
#[test]
fn a_strangers_segment_in_the_place_of_ours_is_left_alone() {
    const USER: u32 = 54_321;
    // SAFETY: asks who we are.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("SKIPPED: only root can start a member as another user");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let harness = folder.path().join("harness");
    assert!(Command::new("cp").arg(HARNESS).arg(&harness).status().unwrap().success());
    let path = folder.path().join("g");
    let settings =
        BookSettings { name: b"g", owner: Some(USER), everyone: false, memory: Memory::Segment };
    let book = Book::create(&c(&path), settings).unwrap();
    book.change(None, PATIENT, |budget| budget.effective = 1000).unwrap();
    drop(book);
    // SAFETY: a segment of this test's own.
    let segment = unsafe { libc::shmget(libc::IPC_PRIVATE, 4096, libc::IPC_CREAT | 0o600) };
    assert!(segment >= 0);
    let ledger = fs::File::options().write(true).open(path.join("ledger")).unwrap();
    ledger.write_all_at(&segment.to_le_bytes(), 24).unwrap();
    let mut own =
        Puppet::start(Command::new(&harness).arg("puppet").arg(&path).uid(USER).gid(USER));
    let answer = own.ask("attach");
    // SAFETY: made above.
    unsafe { libc::shmctl(segment, libc::IPC_RMID, std::ptr::null_mut()) };
    assert_eq!(answer, "slot 0");
    assert_eq!(own.ask("reserve 1000"), "ok");
    assert_eq!(own.ask("reserve 1"), "limit");
}

/// The last member's memory ends before its lock does: who comes between is not out of reach.
#[test]
fn who_comes_while_the_last_member_ends_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = c(&folder.path().join("g"));
    establish(&path, b"g", &[]).unwrap();
    let ledger = folder.path().join("g/ledger");
    let lock = |kind: i32| {
        let file = fs::File::options().read(true).write(true).open(&ledger).unwrap();
        // SAFETY: all zeroes are a valid structure.
        let mut range: libc::flock = unsafe { std::mem::zeroed() };
        range.l_type = libc::c_short::try_from(kind).unwrap();
        // The first slot's byte.
        range.l_start = (1 << 40) + 1;
        range.l_len = 1;
        // SAFETY: the structure outlives the call.
        let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw mut range) };
        assert_eq!(done, 0);
        file
    };
    for open in [false, true] {
        let ending = lock(libc::F_WRLCK);
        std::thread::scope(|scope| {
            let coming = scope.spawn(|| match open {
                true => Book::open(&path).map(drop),
                false => Member::attach(&path).map(drop),
            });
            std::thread::sleep(Duration::from_millis(20));
            drop(ending);
            coming.join().unwrap().unwrap();
        });
    }
}

/// `/dev/shm` is open to all: a folder that somebody else has left there is not ours.
#[test]
fn a_folder_of_another_user_is_refused() {
    // SAFETY: asks who we are.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("SKIPPED: only root can give a folder away");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    std::os::unix::fs::chown(&theirs, Some(54_321), None).unwrap();
    let not_ours = Err(LedgerError::NotOurs { owner: 54_321 });
    assert_eq!(establish(&c(&theirs), b"g", &[]), not_ours);
    assert_eq!(establish(&c(&theirs.join("mine")), b"g", &[]), not_ours);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&theirs, &link).unwrap();
    assert!(establish(&c(&link), b"g", &[]).is_err());
    std::os::unix::fs::lchown(&link, Some(54_321), None).unwrap();
    assert_eq!(establish(&c(&link.join("mine")), b"g", &[]), not_ours);
}

/// Where the members' memory cannot be seen, nobody is let in: two halves of a group would each
/// have the whole limit.
#[test]
fn members_of_another_ipc_namespace_are_refused_or_share_a_file() {
    let probe = Command::new("unshare").args(["--ipc", "true"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: this user cannot make an IPC namespace");
        return;
    }
    for memory in BOTH {
        let group = Group::new(memory, 1000);
        let mut outside = group.puppet();
        assert_eq!(outside.ask("attach"), "slot 0");
        assert_eq!(outside.ask("reserve 600"), "ok");
        let mut command = Command::new("unshare");
        command.args(["--ipc", HARNESS, "puppet"]).arg(&group.path);
        let mut inside = Puppet::start(&mut command);
        match memory {
            Memory::Segment => {
                assert!(inside.ask("attach").contains("another IPC namespace"));
            }
            Memory::File => {
                assert_eq!(inside.ask("attach"), "slot 1");
                assert_eq!(inside.ask("reserve 401"), "limit");
                assert_eq!(inside.ask("reserve 400"), "ok");
            }
        }
    }
}

#[test]
fn where_there_are_no_segments_the_slots_are_in_the_file() {
    let none = "echo 0 > /proc/sys/kernel/shmmni";
    let probe = Command::new("unshare").args(["--ipc", "sh", "-c", none]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: this user cannot make an IPC namespace without segments");
        return;
    }
    let group = Group::new(Memory::Segment, 1000);
    let script = format!("{none}; exec {HARNESS} puppet {}", group.path.display());
    let mut inside = Puppet::start(Command::new("unshare").args(["--ipc", "sh", "-c", &script]));
    assert_eq!(inside.ask("attach"), "slot 0");
    assert_eq!(inside.ask("reserve 600"), "ok");
    // Others find them there; a book of the old memory says that it is not the right one.
    let mut outside = group.puppet();
    assert_eq!(outside.ask("attach"), "slot 1");
    assert_eq!(outside.ask("reserve 401"), "limit");
    let replaced = LedgerError::Broken { file: "ledger", what: "it was replaced" };
    assert_eq!(group.book.reap(PATIENT), Err(replaced));
    let book = Book::open(&c(&group.path)).unwrap();
    assert_eq!(book.totals(GPU).unwrap().used, 600);
}
