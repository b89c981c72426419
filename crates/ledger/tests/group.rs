//! One group, seen from members, book and observer in one process.

#![allow(clippy::unwrap_used)]

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use millpond_ledger::{
    Book, BookSettings, Budget, Column, Established, Flags, LedgerError, LimitOf, Member, Memory,
    NAME_MAX, NO_LIMIT, Observer, Patience, PondRefused, Refused, establish, remove_abandoned,
    sweep_abandoned,
};

const GPU: [u8; 16] = [7; 16];
const PATIENT: Patience = Patience(Duration::from_secs(10));

fn c(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn settings(name: &str, memory: Memory) -> BookSettings<'_> {
    BookSettings { name: name.as_bytes(), owner: None, everyone: false, memory }
}

/// A group of one limit, in each kind of memory.
fn groups(limit: u64, body: impl Fn(&Path, Book)) {
    for memory in [Memory::Segment, Memory::File] {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("team-a");
        let book = Book::create(&c(&group), settings("team-a", memory)).unwrap();
        book.change(None, PATIENT, |budget| (budget.asked, budget.effective) = (limit, limit))
            .unwrap();
        body(&group, book);
    }
}

#[test]
fn members_share_one_limit_to_the_unit() {
    groups(1000, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        let b = Member::attach(&c(group)).unwrap();
        let d = a.device(GPU).unwrap();
        assert_eq!(b.device(GPU).unwrap(), d);
        a.reserve(d, 600).unwrap();
        assert_eq!(b.reserve(d, 401), Err(Refused::Limit));
        b.reserve(d, 400).unwrap();
        assert_eq!(a.reserve(d, 1), Err(Refused::Limit));
        assert_eq!(a.group_used(d), 1000);
        assert_eq!(a.own_used(d), 600);
        assert_eq!(book.totals(GPU).unwrap().used, 1000);
        assert_eq!(Observer::open(&c(group)).unwrap().used(GPU).unwrap(), 1000);
        a.release(d, 600);
        b.reserve(d, 600).unwrap();
        assert_eq!(a.reserve(d, 1), Err(Refused::Limit));
    });
}

#[test]
fn a_member_that_is_gone_gives_everything_back() {
    groups(1000, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        let d = a.device(GPU).unwrap();
        let b = Member::attach(&c(group)).unwrap();
        b.reserve(d, 900).unwrap();
        b.add_column(Column::Shared, d, 5);
        drop(b);
        assert_eq!(book.totals(GPU).unwrap().used, 900);
        a.reserve(d, 1000).unwrap();
        assert_eq!(book.totals(GPU).unwrap().used, 1000);
        assert_eq!(book.reap(PATIENT).unwrap(), 0);
    });
}

/// The driver gives a dead process's memory back a little after its end: until then it counts, and
/// who needs it waits. Who needs more than that is refused at once.
#[test]
fn a_dead_member_counts_for_a_grace_and_allocations_wait_for_it() {
    groups(1000, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        let d = a.device(GPU).unwrap();
        a.reserve(d, 100).unwrap();
        let b = Member::attach(&c(group)).unwrap();
        b.reserve(d, 900).unwrap();
        drop(b);
        let begin = Instant::now();
        assert_eq!(book.reap(PATIENT).unwrap(), 0);
        assert_eq!(a.reserve(d, 901), Err(Refused::Limit));
        // Right after the end nobody could have it; what could not help is not waited for.
        let early = begin.elapsed() < Duration::from_millis(50);
        assert!(!early || book.totals(GPU).unwrap().used == 1000);
        a.reserve(d, 900).unwrap();
        assert!(begin.elapsed() >= Duration::from_millis(50));
    });
}

#[test]
fn a_limit_that_shrinks_holds_from_the_next_allocation_on() {
    groups(1_000_000, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        let d = a.device(GPU).unwrap();
        a.reserve(d, 10).unwrap();
        assert!(book.totals(GPU).unwrap().credit > 10, "no spare credit was given");
        book.set_effective(GPU, 5, PATIENT).unwrap();
        assert_eq!(a.reserve(d, 1), Err(Refused::Limit));
        assert_eq!(a.limit(d), 5);
        a.release(d, 6);
        a.reserve(d, 1).unwrap();
        assert_eq!(a.reserve(d, 1), Err(Refused::Limit));
        book.set_effective(GPU, NO_LIMIT, PATIENT).unwrap();
        a.reserve(d, 1_000_000).unwrap();
    });
}

#[test]
fn the_pond_is_charged_in_the_same_book() {
    groups(1000, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        let d = a.device(GPU).unwrap();
        a.reserve(d, 300).unwrap();
        book.reserve_pond(GPU, 700, PATIENT).unwrap();
        assert_eq!(book.reserve_pond(GPU, 1, PATIENT), Err(PondRefused::Limit { soon: false }));
        assert_eq!(a.reserve(d, 1), Err(Refused::Limit));
        assert_eq!(a.group_used(d), 1000);
        // It is still charged when nobody has the book open.
        drop(book);
        let book = Book::open(&c(group)).unwrap();
        assert_eq!(book.totals(GPU).unwrap().pond, 700);
        book.release_pond(GPU, 100, PATIENT).unwrap();
        a.reserve(d, 100).unwrap();
        book.set_pond(GPU, 0, PATIENT).unwrap();
        a.reserve(d, 600).unwrap();
    });
}

#[test]
fn what_the_dead_had_is_the_ponds_to_take_without_anybody_repairing() {
    groups(1000, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        a.reserve(a.device(GPU).unwrap(), 900).unwrap();
        let no = |soon| Err(PondRefused::Limit { soon });
        assert_eq!(book.reserve_pond(GPU, 1000, PATIENT), no(false), "it lives");
        drop(a);
        assert_eq!(book.reserve_pond(GPU, 1001, PATIENT), no(false), "also with what it had");
        let begin = Instant::now();
        // Whoever can wait is told that it is worth it.
        while let Err(refused) = book.reserve_pond(GPU, 1000, PATIENT) {
            assert_eq!(Err(refused), no(true));
            assert!(begin.elapsed() < Duration::from_secs(30), "it never comes back");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(book.totals(GPU).unwrap().pond, 1000);
    });
}

#[test]
fn unused_credit_is_taken_back_and_what_is_used_stays() {
    groups(1_000_000, |group, book| {
        assert_eq!(book.take_back(GPU, PATIENT).unwrap(), 0, "nobody uses the device");
        let a = Member::attach(&c(group)).unwrap();
        let d = a.device(GPU).unwrap();
        a.reserve(d, 10).unwrap();
        let spare = book.totals(GPU).unwrap().credit - 10;
        assert!(spare > 0, "no spare credit was given");
        assert_eq!(book.take_back(GPU, PATIENT).unwrap(), spare);
        let totals = book.totals(GPU).unwrap();
        assert_eq!((totals.credit, totals.used), (10, 10));
        a.reserve(d, 1).unwrap();
    });
}

#[test]
fn a_member_gives_back_what_dead_members_had() {
    groups(1000, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        let b = Member::attach(&c(group)).unwrap();
        b.reserve(b.device(GPU).unwrap(), 900).unwrap();
        drop(b);
        let begin = Instant::now();
        while a.reap().unwrap() == 0 {
            assert!(begin.elapsed() < Duration::from_secs(30), "it never comes back");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(book.totals(GPU).unwrap().credit, 0);
    });
}

#[test]
fn columns_are_shown_and_change_no_account_but_the_operators_own() {
    groups(100, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        let d = a.device(GPU).unwrap();
        let mut slot = None;
        book.members(|member| slot = Some(member.slot)).unwrap();
        a.add_column(Column::Shared, d, 70);
        a.add_column(Column::Shared, d, -20);
        a.add_column(Column::Contexts, d, 3);
        a.add_column(Column::Folded, d, 90);
        let reading = book.reading(slot.unwrap(), GPU).unwrap();
        assert_eq!((reading.shared, reading.contexts, reading.folded), (50, 3, 0));
        a.reserve(d, 100).unwrap();
    });
}

#[test]
fn what_exists_is_charged_even_over_the_limit() {
    groups(100, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        let d = a.device(GPU).unwrap();
        a.charge(d, 150);
        assert_eq!(a.group_used(d), 150);
        assert_eq!(a.reserve(d, 1), Err(Refused::Limit));
        a.release(d, 50);
        assert_eq!(a.reserve(d, 1), Err(Refused::Limit));
        a.release(d, 1);
        a.reserve(d, 1).unwrap();
        assert_eq!(book.totals(GPU).unwrap().used, 100);
    });
}

#[test]
fn what_the_reconciler_adds_counts_and_can_be_taken_back() {
    groups(100, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        let d = a.device(GPU).unwrap();
        a.reserve(d, 50).unwrap();
        let mut slot = None;
        book.members(|member| slot = Some(member)).unwrap();
        let member = slot.unwrap();
        assert!(member.alive && member.same_namespace);
        assert_eq!(member.pid, i32::try_from(std::process::id()).unwrap());
        book.fold(member.slot, GPU, 30, PATIENT).unwrap();
        assert_eq!(a.own_used(d), 80);
        assert_eq!(a.reserve(d, 21), Err(Refused::Limit));
        book.fold(member.slot, GPU, -1000, PATIENT).unwrap();
        assert_eq!(book.reading(member.slot, GPU).unwrap().used, 50);
        a.reserve(d, 50).unwrap();
        drop(a);
        while book.reap(PATIENT).unwrap() == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _b = Member::attach(&c(group)).unwrap();
        assert_eq!(book.fold(member.slot, GPU, 1, PATIENT), Err(LedgerError::Gone));
    });
}

#[test]
fn devices_are_counted_apart_and_there_are_sixteen() {
    groups(100, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        for gpu in 0..16 {
            let d = a.device([gpu; 16]).unwrap();
            a.reserve(d, 100).unwrap();
        }
        assert_eq!(a.device([99; 16]), Err(LedgerError::TooManyDevices));
        assert_eq!(book.totals([3; 16]).unwrap().used, 100);
    });
}

#[test]
fn the_books_entries() {
    groups(100, |group, book| {
        assert_eq!(book.name().unwrap().as_bytes(), b"team-a");
        let before = book.generation().unwrap();
        book.change(Some(GPU), PATIENT, |budget| {
            budget.min = 9;
            budget.weight = 2;
        })
        .unwrap();
        assert!(book.generation().unwrap() > before);
        let budget = Budget { asked: 100, effective: 100, min: 9, weight: 2, pond: 0, context: 0 };
        assert_eq!(book.budget(GPU).unwrap(), budget);
        assert_eq!(book.entry(Some([1; 16])).unwrap(), None);
        assert_eq!(book.nth_entry(1).unwrap(), Some((Some(GPU), budget)));
        assert_eq!(book.nth_entry(2).unwrap(), None);
        book.set_owners(&[1000, 1001], PATIENT).unwrap();
        let mut owners = [0; 8];
        assert_eq!(book.owners(&mut owners).unwrap(), 2);
        assert_eq!(owners.first_chunk(), Some(&[1000, 1001]));
        book.set_flags(Flags::LYING, PATIENT).unwrap();
        let flags = Book::open(&c(group)).unwrap().flags().unwrap();
        assert!(flags.contains(Flags::LYING) && !flags.contains(Flags::ANONYMOUS));
        for gpu in 0..15 {
            book.set_effective([100 + gpu; 16], 1, PATIENT).unwrap();
        }
        assert_eq!(book.set_effective([1; 16], 1, PATIENT), Err(LedgerError::TooManyBudgets));
    });
}

#[test]
fn contexts_are_measured_once() {
    groups(100, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        let d = a.device(GPU).unwrap();
        assert_eq!(a.context_bytes(d), None);
        a.note_context_bytes(d, 500);
        assert_eq!(Member::attach(&c(group)).unwrap().context_bytes(d), Some(500));
        assert_eq!(book.context_bytes(GPU), Some(500));
        book.change(Some(GPU), PATIENT, |budget| budget.context = 600).unwrap();
        assert_eq!(a.context_bytes(d), Some(600));
    });
}

#[test]
fn a_group_without_a_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let group = folder.path().join("millpond-0/limit-100");
    let limits = [LimitOf { device: None, units: 100 }];
    let made = establish(&c(&group), b"limit-100", &limits).unwrap();
    assert_eq!(made, Established::Made);
    assert_eq!(establish(&c(&group), b"limit-100", &limits).unwrap(), Established::Joined);
    let other = [LimitOf { device: None, units: 50 }];
    assert_eq!(
        establish(&c(&group), b"limit-100", &other).unwrap(),
        Established::JoinedWithOtherLimits
    );
    let a = Member::attach(&c(&group)).unwrap();
    let d = a.device(GPU).unwrap();
    a.reserve(d, 100).unwrap();
    assert_eq!(a.reserve(d, 1), Err(Refused::Limit));
    drop(a);
    // The memory ended with its last member; the group did not.
    let a = Member::attach(&c(&group)).unwrap();
    let d = a.device(GPU).unwrap();
    a.reserve(d, 100).unwrap();
}

#[test]
fn a_group_that_nobody_is_in_is_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let limits = [LimitOf { device: None, units: 100 }];
    let path = |name: &str| folder.path().join(name);
    let (_, living) = Member::join(&c(&path("living")), b"living", &limits).unwrap();
    drop(Member::join(&c(&path("left")), b"left", &limits).unwrap());
    std::fs::write(path("left").join("exports"), b"notes").unwrap();
    establish(&c(&path("founded")), b"founded", &limits).unwrap();
    std::fs::create_dir(path("begun")).unwrap();
    std::fs::create_dir(path("half")).unwrap();
    std::fs::write(path("half").join("ledger"), b"").unwrap();
    // What is no group's.
    std::fs::create_dir(path("other")).unwrap();
    std::fs::write(path("other").join("file"), b"kept").unwrap();
    std::fs::write(path("context-GPU"), b"kept").unwrap();
    std::fs::create_dir(path("broken")).unwrap();
    std::fs::write(path("broken").join("ledger"), b"kept").unwrap();
    assert_eq!(sweep_abandoned(&c(folder.path()), millpond_ledger::REST), 0, "somebody may come");
    assert_eq!(sweep_abandoned(&c(folder.path()), Duration::ZERO), 4);
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["broken", "context-GPU", "living", "other"]);
    // Who is in a group notices nothing.
    let device = living.device(GPU).unwrap();
    living.reserve(device, 100).unwrap();
    assert_eq!(living.reserve(device, 1), Err(Refused::Limit));
    assert_eq!(sweep_abandoned(c"/nowhere", Duration::ZERO), 0);
}

/// A group whose last member has just died still counts for it, where somebody keeps its memory.
#[test]
fn a_group_is_not_taken_away_before_the_driver_has_its_memory_back() {
    groups(1000, |group, book| {
        let a = Member::attach(&c(group)).unwrap();
        assert!(!remove_abandoned(&c(group)).unwrap());
        drop(a);
        assert_eq!(book.reap(PATIENT).unwrap(), 0);
        let begin = Instant::now();
        while !remove_abandoned(&c(group)).unwrap() {
            assert!(begin.elapsed() < Duration::from_secs(60));
            book.reap(PATIENT).unwrap();
        }
        assert!(!group.exists());
        assert_eq!(book.reap(PATIENT), Err(LedgerError::NoGroup("ledger")));
    });
}

/// Whoever comes while the folder is being taken away is in a group with all others who are.
#[test]
fn taking_groups_away_disturbs_nobody_who_comes() {
    const LIMIT: u64 = 100;
    let folder = tempfile::tempdir().unwrap();
    let above = c(folder.path());
    let group = c(&folder.path().join("g"));
    let limits = [LimitOf { device: None, units: LIMIT }];
    let held = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    let come = || {
        for _ in 0..300 {
            let (_, member) = Member::join(&group, b"g", &limits).unwrap();
            let device = member.device(GPU).unwrap();
            if member.reserve(device, 40).is_ok() {
                let now = held.fetch_add(40, Ordering::AcqRel) + 40;
                assert!(now <= LIMIT, "{now}");
                held.fetch_sub(40, Ordering::AcqRel);
                member.release(device, 40);
            }
        }
    };
    let sweep = || {
        let mut gone = 0;
        // Once more when nobody comes any more: then there is something to take away.
        loop {
            let last = done.load(Ordering::Acquire);
            gone += sweep_abandoned(&above, Duration::ZERO);
            if last {
                return gone;
            }
        }
    };
    let gone = std::thread::scope(|scope| {
        let sweepers = [scope.spawn(sweep), scope.spawn(sweep)];
        let coming = [0; 4].map(|_| scope.spawn(come));
        let came = coming.map(|one| one.join());
        done.store(true, Ordering::Release);
        came.into_iter().for_each(Result::unwrap);
        sweepers.into_iter().map(|sweeper| sweeper.join().unwrap()).sum::<usize>()
    });
    assert!(gone > 0, "nothing was ever taken away");
}

#[test]
fn a_group_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        Member::attach(&c(&folder.path().join("x"))).unwrap_err(),
        LedgerError::NoGroup("limits")
    );
    assert_eq!(Book::open(&c(folder.path())).unwrap_err(), LedgerError::NoGroup("limits"));
    let create =
        |name: &str| Book::create(&c(&folder.path().join("g")), settings(name, Memory::File));
    assert_eq!(create("").unwrap_err(), LedgerError::BadName);
    assert_eq!(create(&"n".repeat(NAME_MAX + 1)).unwrap_err(), LedgerError::BadName);
    let longest = "n".repeat(NAME_MAX);
    assert_eq!(create(&longest).unwrap().name().unwrap().as_bytes(), longest.as_bytes());
    let long = folder.path().join("a".repeat(600));
    assert_eq!(Member::attach(&c(&long)).unwrap_err(), LedgerError::PathTooLong);
}

#[test]
fn any_number_of_processes_may_make_the_group_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let group = c(&folder.path().join("a/b"));
    let limits = [LimitOf { device: None, units: 160 }];
    let made = AtomicU64::new(0);
    let members: Vec<Member> = std::thread::scope(|scope| {
        let one = || {
            if establish(&group, b"limit-160", &limits).unwrap() == Established::Made {
                made.fetch_add(1, Ordering::Relaxed);
            }
            let member = Member::attach(&group).unwrap();
            member.reserve(member.device(GPU).unwrap(), 10).unwrap();
            member
        };
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(made.load(Ordering::Relaxed), 1);
    let any = members.first().unwrap();
    assert_eq!(any.reserve(any.device(GPU).unwrap(), 1), Err(Refused::Limit));
}

#[test]
fn threads_of_one_process_share_its_slot_while_limits_change() {
    const HIGH: u64 = 1000;
    groups(HIGH, |group, book| {
        let members = [Member::attach(&c(group)).unwrap(), Member::attach(&c(group)).unwrap()];
        let held = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for (number, member) in members.iter().cycle().take(4).enumerate() {
                let held = &held;
                scope.spawn(move || {
                    let device = member.device(GPU).unwrap();
                    for turn in 0..3000_u32 {
                        let units = 1 + (turn * 7 + u32::try_from(number).unwrap() * 91) % 400;
                        if member.reserve(device, units).is_ok() {
                            let now = held.fetch_add(units.into(), Ordering::AcqRel);
                            assert!(now + u64::from(units) <= HIGH);
                            held.fetch_sub(units.into(), Ordering::AcqRel);
                            member.release(device, units);
                        }
                    }
                });
            }
            for turn in 0..200 {
                book.set_effective(GPU, if turn % 2 == 0 { 300 } else { HIGH }, PATIENT).unwrap();
            }
        });
        assert_eq!(book.totals(GPU).unwrap().used, 0);
        book.set_effective(GPU, HIGH, PATIENT).unwrap();
        let [a, _] = &members;
        a.reserve(a.device(GPU).unwrap(), 1000).unwrap();
    });
}
