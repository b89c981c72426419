//! What a member may do to the ledger file ends no other program: others are served, or refused.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod puppets;

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use millpond_ledger::{
    Book, BookSettings, LEDGER_BYTES, LedgerError, Member, Memory, Observer, Patience, establish,
};

use puppets::{GPU, Group, HARNESS, PATIENT, Puppet, c};

fn writable(path: &Path) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

/// Everything that a member asks of its ledger; says what the reservation was answered. The memory
/// is its own afterwards.
fn asks_everything(puppet: &mut Puppet) -> String {
    puppet.ask("release 10");
    let answer = puppet.ask("reserve 10");
    for more in ["used", "charge 1", "release 1"] {
        puppet.ask(more);
    }
    if answer != "ok" {
        // It has the memory all the same.
        puppet.ask("charge 10");
    }
    assert!(puppet.is_running(), "the ledger has ended a program");
    answer
}

#[test]
fn a_ledger_truncated_under_running_programs_kills_none_of_them() {
    let group = Group::new(Memory::Segment, 1_000_000);
    let mut a = group.puppet();
    a.ask("attach");
    assert_eq!(a.ask("reserve 10"), "ok");
    let file = fs::OpenOptions::new().write(true).open(group.ledger()).unwrap();
    file.set_len(0).unwrap();
    // What it has credit for it still gets; more is refused.
    assert_eq!(a.ask("release 10"), "ok");
    assert_eq!(a.ask("reserve 10"), "ok");
    assert!(a.ask("reserve 900000").starts_with("broken the group's ledger file is broken"));
    assert!(a.is_running());
    assert!(matches!(group.book.reap(PATIENT), Err(LedgerError::Broken { .. })));
    let made = establish(&c(&group.path), b"g", &[]);
    let emptied =
        LedgerError::Broken { file: "ledger", what: "it was emptied while its members live" };
    assert_eq!(made.unwrap_err(), emptied);
    assert!(matches!(Member::attach(&c(&group.path)), Err(LedgerError::Broken { .. })));
    // When its last member has ended the ledger can be made again.
    a.kill();
    establish(&c(&group.path), b"g", &[]).unwrap();
    Member::attach(&c(&group.path)).unwrap();
}

/// Frees the memory of a part of the file: what is written there next needs memory.
fn punch(file: &File, from: u64, len: u64) {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let (from, len) = (i64::try_from(from).unwrap(), i64::try_from(len).unwrap());
    // SAFETY: no memory is involved.
    assert_eq!(unsafe { libc::fallocate(file.as_raw_fd(), mode, from, len) }, 0);
}

#[test]
fn a_file_of_slots_that_is_cut_or_overwritten_refuses_and_ends_nobody() {
    let group = Group::new(Memory::File, 1000);
    let mut a = group.puppet();
    a.ask("attach");
    assert_eq!(a.ask("reserve 10"), "ok");
    let good = fs::read(group.ledger()).unwrap();
    let file = writable(&group.ledger());
    let observer = Observer::open(&c(&group.path)).unwrap();
    let restore = || {
        file.set_len(0).unwrap();
        file.write_all_at(&good, 0).unwrap();
    };
    let harms: [(&str, &dyn Fn()); 7] = [
        ("cut to nothing", &|| file.set_len(0).unwrap()),
        ("cut to its head", &|| file.set_len(4096).unwrap()),
        ("cut and made as long again", &|| {
            file.set_len(0).unwrap();
            file.set_len(LEDGER_BYTES).unwrap();
        }),
        ("longer", &|| file.set_len(LEDGER_BYTES + 1).unwrap()),
        ("0xff", &|| file.write_all_at(&vec![0xff; good.len()], 0).unwrap()),
        ("zeroes", &|| file.write_all_at(&vec![0; good.len()], 0).unwrap()),
        ("a hole", &|| punch(&file, 0, LEDGER_BYTES)),
    ];
    for (what, harm) in harms {
        harm();
        let answer = asks_everything(&mut a);
        assert!(answer.starts_with("broken the group's ledger file is broken"), "{what}: {answer}");
        let broken = |error| matches!(error, LedgerError::Broken { file: "ledger", .. });
        assert!(group.book.totals(GPU).is_err_and(broken), "{what}");
        assert!(group.book.members(|_| {}).is_err_and(broken), "{what}");
        assert!(group.book.set_effective(GPU, 1000, PATIENT).is_err_and(broken), "{what}");
        assert!(observer.used(GPU).is_err_and(broken), "{what}");
        restore();
        assert_eq!(asks_everything(&mut a), "ok", "{what}, and restored");
        assert_eq!(group.book.totals(GPU).unwrap().used, 10, "{what}, and restored");
    }
    // The head is as it was, and the slots are not: what a member wrote there is lost.
    for harm in [
        Box::new(|| punch(&file, 4096, LEDGER_BYTES - 4096)) as Box<dyn Fn()>,
        Box::new(|| file.write_all_at(&vec![0xff; good.len() - 4096], 4096).unwrap()),
    ] {
        harm();
        let answer = asks_everything(&mut a);
        assert!(["ok", "limit"].contains(&answer.as_str()), "{answer}");
        restore();
        assert_eq!(asks_everything(&mut a), "ok");
    }
}

/// What was released while the file was away is counted with the next call that reaches it.
#[test]
fn what_is_released_while_the_file_is_damaged_is_counted_later() {
    let group = Group::new(Memory::File, 1000);
    let mut a = group.puppet();
    a.ask("attach");
    assert_eq!(a.ask("reserve 600"), "ok");
    let good = fs::read(group.ledger()).unwrap();
    let file = writable(&group.ledger());
    file.set_len(0).unwrap();
    assert_eq!(a.ask("release 500"), "ok");
    file.write_all_at(&good, 0).unwrap();
    assert_eq!(group.book.totals(GPU).unwrap().used, 600);
    assert_eq!(a.ask("reserve 1"), "ok");
    assert_eq!(group.book.totals(GPU).unwrap().used, 101);
}

/// Holds a lock on some bytes of the ledger for as long as it exists.
fn lock(path: &Path, first: i64, count: i64) -> File {
    let file = writable(path);
    // SAFETY: all zeroes are a valid structure.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = libc::c_short::try_from(libc::F_WRLCK).unwrap();
    (range.l_start, range.l_len) = (first, count);
    // SAFETY: the structure outlives the call.
    assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw mut range) }, 0);
    file
}

fn refuses_while_locked(first: i64, count: i64) {
    let group = Group::new(Memory::File, 1000);
    let (mut a, mut b) = (group.puppet(), group.puppet());
    a.ask("attach");
    b.ask("attach");
    assert_eq!(a.ask("reserve 100"), "ok");
    assert_eq!(b.ask("reserve 700"), "ok");
    let kept = lock(&group.ledger(), first, count);
    let refused = "broken the group's lock was not free in time";
    for _ in 0..3 {
        let answer = a.ask("reserve 200");
        assert!(answer == "limit" || answer.starts_with(refused), "{answer}");
    }
    assert_eq!(a.ask("release 60"), "ok");
    assert!(a.is_running() && b.is_running());
    drop(kept);
    assert_eq!(a.ask("reserve 200"), "ok");
    assert_eq!(group.book.totals(GPU).unwrap().used, 940);
}

#[test]
fn the_groups_lock_kept_for_ever_refuses_memory_and_hangs_nobody() {
    refuses_while_locked(1 << 40, 1);
}

#[test]
fn all_words_locked_for_ever_refuse_memory_and_hang_nobody() {
    refuses_while_locked(0, i64::try_from(LEDGER_BYTES).unwrap());
}

/// A member that stands still with its own word locked keeps its spare credit, and nothing else.
#[test]
fn a_members_own_word_that_is_kept_locked_stops_nobody_else() {
    let group = Group::new(Memory::File, 1000);
    let (mut a, mut b) = (group.puppet(), group.puppet());
    a.ask("attach");
    b.ask("attach");
    assert_eq!(a.ask("reserve 500"), "ok");
    assert_eq!(a.ask("release 400"), "ok");
    let kept = lock(&group.ledger(), 4096, 8);
    assert_eq!(b.ask("reserve 400"), "ok");
    assert_eq!(b.ask("reserve 400"), "limit");
    let short = Patience(Duration::from_millis(30));
    assert_eq!(group.book.set_effective(GPU, 1000, short), Ok(()));
    drop(kept);
    assert_eq!(b.ask("reserve 400"), "ok");
}

/// Without room for a page, a write into a hole fails; in a mapping it would be a signal.
#[test]
fn a_hole_in_the_ledger_and_a_full_file_system_refuse_and_end_nobody() {
    let place = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size=2M none '{}'", place.path().display());
    let probe = Command::new("unshare").args(["--mount", "sh", "-c", &mount]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: this user cannot mount a file system");
        return;
    }
    let inside = place.path().join("g");
    let script = format!("{mount}; exec {HARNESS} puppet {}", inside.display());
    let mut a = Puppet::start(Command::new("unshare").args(["--mount", "sh", "-c", &script]));
    a.ask("pid");
    let root = format!("/proc/{}/root{}", a.child.id(), place.path().display());
    let folder = Path::new(&root).join("g");
    let settings = BookSettings { name: b"g", owner: None, everyone: false, memory: Memory::File };
    let book = Book::create(&c(&folder), settings).unwrap();
    book.change(None, PATIENT, |budget| (budget.asked, budget.effective) = (1000, 1000)).unwrap();
    a.ask("attach");
    assert_eq!(a.ask("reserve 10"), "ok");
    let file = writable(&folder.join("ledger"));
    punch(&file, 4096, LEDGER_BYTES - 4096);
    let filler = File::create(Path::new(&root).join("filler")).unwrap();
    let mut end = 0;
    while filler.write_all_at(&[1; 4096], end).is_ok() {
        end += 4096;
    }
    for _ in 0..3 {
        let answer = asks_everything(&mut a);
        assert!(answer.starts_with("broken pwrite failed"), "{answer}");
    }
    assert!(Member::attach(&c(&folder)).is_err());
    filler.set_len(0).unwrap();
    assert_eq!(asks_everything(&mut a), "ok");
}

/// A program whose files may not become long is refused: the write would be a signal.
#[test]
fn a_limit_on_the_length_of_files_refuses_and_ends_nobody() {
    let group = Group::new(Memory::File, 1000);
    let mut a = group.puppet();
    a.ask("attach");
    assert_eq!(a.ask("reserve 10"), "ok");
    assert_eq!(a.ask("room 4096"), "room 0");
    let answer = asks_everything(&mut a);
    assert!(answer.starts_with("broken pwrite failed"), "{answer}");
}
