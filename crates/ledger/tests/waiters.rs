//! Who waits for memory of its group gets it first, and what waits or stands still stops nobody for ever.

#![allow(clippy::unwrap_used)]

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use millpond_ledger::{
    Book, BookSettings, LedgerError, Member, Memory, Patience, PondRefused, Refused, SlotIndex,
    SlotKind,
};

const GPU: [u8; 16] = [7; 16];
const PATIENT: Patience = Patience(Duration::from_secs(10));
const LONG: Duration = Duration::from_secs(600);

/// A group with a limit of 1,000 units and as many caches in it, in each kind of memory.
fn caches<const N: usize>(body: impl Fn(&Book, [&Member; N])) {
    for memory in [Memory::Segment, Memory::File] {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("serving");
        let group = CString::new(group.as_os_str().as_bytes()).unwrap();
        let settings = BookSettings { name: b"serving", owner: None, everyone: false, memory };
        let book = Book::create(&group, settings).unwrap();
        book.change(None, PATIENT, |budget| (budget.asked, budget.effective) = (1000, 1000))
            .unwrap();
        let members: [Member; N] = std::array::from_fn(|_| Member::attach_cache(&group).unwrap());
        body(&book, members.each_ref());
    }
}

#[test]
fn a_slot_says_what_it_counts() {
    caches(|book, [cache]| {
        let mut seen = Vec::new();
        book.members(|member| seen.push((member.slot, member.kind, member.pid, member.alive)))
            .unwrap();
        let pid = i32::try_from(std::process::id()).unwrap();
        assert_eq!(seen, [(cache.slot_index(), SlotKind::Cache, pid, true)]);
        let d = cache.device(GPU).unwrap();
        cache.reserve(d, 10).unwrap();
        cache.set_idle(d, 4);
        assert_eq!(book.reading(cache.slot_index(), GPU).unwrap().idle, 4);
    });
}

#[test]
fn what_others_give_back_is_the_waiters() {
    caches(|book, [a, b, c]| {
        let d = a.device(GPU).unwrap();
        a.reserve(d, 900).unwrap();
        assert_eq!(b.reserve(d, 300), Err(Refused::Limit));
        book.want(b.slot_index(), GPU, 300, LONG, PATIENT).unwrap();
        assert_eq!(book.assign(b.slot_index(), GPU, PATIENT).unwrap(), Some(200));
        a.release(d, 250);
        a.give_back(d);
        // It is free, and nobody else gets it: neither a member, nor the pond.
        assert_eq!(c.reserve(d, 100), Err(Refused::Limit));
        assert_eq!(a.reserve(d, 100), Err(Refused::Limit));
        let pond = book.reserve_pond(GPU, 100, PATIENT);
        assert_eq!(pond, Err(PondRefused::Limit { soon: false }));
        c.reserve(d, 50).unwrap();
        assert_eq!(book.assign(b.slot_index(), GPU, PATIENT).unwrap(), None);
        assert_eq!(book.assign(b.slot_index(), GPU, PATIENT).unwrap(), None, "again");
        // It has not used it yet, and nobody takes it away.
        assert_eq!(c.reserve(d, 1), Err(Refused::Limit));
        b.reserve(d, 300).unwrap();
        b.waited(d);
        assert_eq!(book.totals(GPU).unwrap().used, 1000);
    });
}

#[test]
fn waiters_are_served_in_the_order_of_the_book_and_do_not_stop_each_other() {
    caches(|book, [a, b, c]| {
        let d = a.device(GPU).unwrap();
        a.reserve(d, 1000).unwrap();
        book.want(b.slot_index(), GPU, 600, LONG, PATIENT).unwrap();
        book.want(c.slot_index(), GPU, 100, LONG, PATIENT).unwrap();
        a.release(d, 650);
        a.give_back(d);
        assert_eq!(c.reserve(d, 100), Err(Refused::Limit), "the first comes first");
        assert_eq!(book.assign(b.slot_index(), GPU, PATIENT).unwrap(), None);
        assert_eq!(book.assign(c.slot_index(), GPU, PATIENT).unwrap(), Some(50));
        b.reserve(d, 600).unwrap();
        a.release(d, 50);
        assert_eq!(book.assign(c.slot_index(), GPU, PATIENT).unwrap(), None, "unused credit of a");
        c.reserve(d, 100).unwrap();
    });
}

#[test]
fn a_wait_that_is_over_stops_nobody() {
    caches(|book, [a, b]| {
        let d = a.device(GPU).unwrap();
        book.want(b.slot_index(), GPU, 900, Duration::ZERO, PATIENT).unwrap();
        a.reserve(d, 500).unwrap();
        book.want(b.slot_index(), GPU, 900, LONG, PATIENT).unwrap();
        assert_eq!(a.reserve(d, 500), Err(Refused::Limit));
        book.unwant(b.slot_index(), GPU, PATIENT).unwrap();
        a.reserve(d, 500).unwrap();
        a.release(d, 1000);
        // What was assigned and not taken is anybody's when its owner waits no longer.
        book.want(b.slot_index(), GPU, 900, LONG, PATIENT).unwrap();
        assert_eq!(book.assign(b.slot_index(), GPU, PATIENT).unwrap(), None);
        assert_eq!(a.reserve(d, 500), Err(Refused::Limit));
        b.waited(d);
        a.reserve(d, 1000).unwrap();
    });
}

#[test]
fn who_gives_back_or_waits_no_longer_keeps_what_it_was_assigned_before() {
    caches(|book, [a, b]| {
        let d = a.device(GPU).unwrap();
        b.reserve(d, 200).unwrap();
        book.want(b.slot_index(), GPU, 500, LONG, PATIENT).unwrap();
        assert_eq!(book.assign(b.slot_index(), GPU, PATIENT).unwrap(), None);
        // One thread was assigned something; another gives back, and a third waits in vain.
        b.release(d, 200);
        b.give_back(d);
        book.want(b.slot_index(), GPU, 100, LONG, PATIENT).unwrap();
        assert_eq!(book.assign(b.slot_index(), GPU, PATIENT).unwrap(), None);
        book.want(b.slot_index(), GPU, 2000, LONG, PATIENT).unwrap();
        assert!(book.assign(b.slot_index(), GPU, PATIENT).unwrap().is_some());
        book.unwant(b.slot_index(), GPU, PATIENT).unwrap();
        assert_eq!(a.reserve(d, 501), Err(Refused::Limit));
        a.reserve(d, 500).unwrap();
        b.reserve(d, 500).unwrap();
    });
}

#[test]
fn a_lower_limit_takes_what_was_assigned_and_not_used() {
    caches(|book, [a, b]| {
        let d = a.device(GPU).unwrap();
        a.reserve(d, 100).unwrap();
        book.want(b.slot_index(), GPU, 900, LONG, PATIENT).unwrap();
        assert_eq!(book.assign(b.slot_index(), GPU, PATIENT).unwrap(), None);
        book.set_effective(GPU, 500, PATIENT).unwrap();
        assert_eq!(b.reserve(d, 900), Err(Refused::Limit));
        assert_eq!(book.totals(GPU).unwrap().credit, 100);
    });
}

#[test]
fn a_waiter_that_is_gone_is_owed_nothing() {
    caches(|book, [a]| {
        let d = a.device(GPU).unwrap();
        let gone = SlotIndex::named(7, 1);
        assert_eq!(book.want(gone, GPU, 1, LONG, PATIENT), Err(LedgerError::Gone));
        assert_eq!(book.assign(gone, GPU, PATIENT), Err(LedgerError::Gone));
        a.reserve(d, 1000).unwrap();
    });
}
