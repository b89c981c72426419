//! A group's two files are laid out as the golden files say: every word that is not zero, by its
//! offset. Members of older and newer programs share them.

#![allow(clippy::unwrap_used)]

#[path = "../../../tests/golden/check.rs"]
mod check;

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use millpond_ledger::{
    Book, BookSettings, Budget, Column, Flags, Member, Memory, Observer, Patience,
};

const GPU: [u8; 16] = [7; 16];
const PATIENT: Patience = Patience(Duration::from_secs(10));
/// Random, so that one life of a ledger is told from the next.
const NONCE: usize = 16;
/// Where the owners of slots begin, with a process's number, namespace, start and name.
const OWNERS: usize = 4096 + 16 * 1024 * 64;

fn c(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

/// Words by offset. What differs from run to run is said to be there, and not what it is.
fn words(bytes: &[u8], varies: impl Fn(usize) -> bool) -> Vec<(String, Vec<u8>)> {
    let words = bytes.chunks(8).enumerate().map(|(index, word)| (index * 8, word));
    let there = words.filter(|(_, word)| word.iter().any(|byte| *byte != 0));
    let mut said: Vec<(String, Vec<u8>)> = there
        .map(|(at, word)| match varies(at) {
            true => (format!("{at:07}"), Vec::new()),
            false => (format!("{at:07}"), word.to_vec()),
        })
        .collect();
    said.push(("length".to_owned(), bytes.len().to_le_bytes().to_vec()));
    said
}

fn group(body: impl FnOnce(&Path, &Book)) {
    let folder = tempfile::tempdir().unwrap();
    let group = folder.path().join("team-a");
    let memory = Memory::File;
    let settings = BookSettings { name: b"team-a", owner: None, everyone: false, memory };
    let book = Book::create(&c(&group), settings).unwrap();
    body(&group, &book);
}

#[test]
fn golden_limits_file() {
    group(|group, book| {
        let budget =
            Budget { asked: 1000, effective: 900, min: 100, weight: 2, pond: 50, context: 5 << 20 };
        for device in [None, Some(GPU)] {
            book.change(device, PATIENT, |entry| *entry = budget).unwrap();
        }
        book.set_owners(&[1000, 1001], PATIENT).unwrap();
        book.set_flags(Flags::LYING, PATIENT).unwrap();
        let bytes = std::fs::read(group.join("limits")).unwrap();
        check::check("limits-file", words(&bytes, |_| false));
        assert_eq!(Observer::open(&c(group)).unwrap().budget(GPU).unwrap(), budget);
    });
}

#[test]
fn golden_ledger_file() {
    group(|group, book| {
        let member = Member::attach(&c(group)).unwrap();
        let device = member.device(GPU).unwrap();
        member.reserve(device, 600).unwrap();
        member.add_column(Column::Contexts, device, 3);
        member.add_column(Column::Shared, device, 5);
        member.note_context_bytes(device, 5 << 20);
        let bytes = std::fs::read(group.join("ledger")).unwrap();
        check::check("ledger-file", words(&bytes, |at| at == NONCE || at > OWNERS));
        assert_eq!(book.totals(GPU).unwrap().used, 600);
    });
}
