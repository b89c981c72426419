//! What the service manager keeps for a keeper and a daemon that are both gone.
//!
//! It keeps descriptors by name, says nothing about what it has, and forgets only what is named. So
//! there is a table of all names in a memfd, which is kept there as well, and which the daemon has:
//! the next keeper reads in it what must be forgotten, and what the last epoch was. A name is the key
//! and the file's number, so that an old journal and a new one can be there at once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use millpond_wire::Epoch;
use rustix::fs::MemfdFlags;

use super::systemd::Notifier;
use crate::channel::{HoldKey, KeyView};

/// One name of the table; ours have at most 66 bytes.
const SLOT_BYTES: usize = 128;
/// A slot as a place in the file.
const SLOT: u64 = 128;
/// Between a key and a file's number.
const MARK: char = '#';

/// What the first slot of the table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Of the last daemon that was started.
    pub epoch: Epoch,
    /// The file number of the journal that counts.
    pub journal: u64,
    /// The service manager made the sockets, and removes them.
    pub activated: bool,
}

enum Task {
    Keep(String, OwnedFd),
    Forget(String),
}

/// The names that the service manager knows.
pub(super) struct FdStore {
    notifier: Notifier,
    table: File,
    head: Head,
    slots: BTreeMap<String, u64>,
    free: Vec<u64>,
    next: u64,
    /// What it did not take yet, in order.
    waiting: VecDeque<Task>,
}

impl FdStore {
    /// With a table from before, if there is one. `None` where nobody keeps anything.
    pub(super) fn open(table: Option<OwnedFd>) -> io::Result<Option<FdStore>> {
        let Some(notifier) = Notifier::of_store() else { return Ok(None) };
        let table = match table {
            Some(table) => File::from(table),
            None => File::from(rustix::fs::memfd_create("millpond-store", MemfdFlags::CLOEXEC)?),
        };
        let (head, names) = read_table(&table)?;
        let next = table.metadata()?.len().div_ceil(SLOT).max(1);
        let slots: BTreeMap<String, u64> = names.into_iter().collect();
        let used: BTreeSet<u64> = slots.values().copied().collect();
        let free = (1..next).filter(|slot| !used.contains(slot)).collect();
        let waiting = VecDeque::new();
        Ok(Some(FdStore { notifier, table, head, slots, free, next, waiting }))
    }

    pub(super) fn table(&self) -> io::Result<OwnedFd> {
        self.table.try_clone().map(OwnedFd::from)
    }

    pub(super) fn head(&self) -> Head {
        self.head
    }

    pub(super) fn set_head(&mut self, head: Head) {
        self.head = head;
        let Head { epoch, journal, activated } = head;
        let text = format!("{epoch} {journal} {}", u8::from(activated));
        self.write(0, &text);
    }

    /// Has a descriptor kept. What cannot be kept is logged: it is safe as long as keeper or
    /// daemon lives.
    pub(super) fn keep(&mut self, key: &HoldKey, fd: &OwnedFd) {
        if !self.is_kept(key) {
            return;
        }
        let name = name_of(key, fd);
        let copy = match fd.try_clone() {
            Ok(copy) if name.len() <= SLOT_BYTES => copy,
            _ => return tracing::error!("the service manager cannot keep '{key}'"),
        };
        // The table first: what is named there and not kept does no harm.
        if !self.slots.contains_key(&name) {
            let slot = self.free.pop().unwrap_or_else(|| {
                self.next += 1;
                self.next - 1
            });
            self.write(slot, &name);
            self.slots.insert(name.clone(), slot);
        }
        self.waiting.push_back(Task::Keep(name, copy));
        self.flush();
        if key.view() == KeyView::Journal {
            self.set_head(Head { journal: file_number(fd), ..self.head });
        }
    }

    /// Sockets of its own, and what only two living processes have, it does not keep.
    fn is_kept(&self, key: &HoldKey) -> bool {
        match key.view() {
            KeyView::Listen(_) => !self.head.activated,
            KeyView::Handover => false,
            _ => true,
        }
    }

    pub(super) fn forget(&mut self, key: &HoldKey, fd: &OwnedFd) {
        self.forget_name(name_of(key, fd));
    }

    fn forget_name(&mut self, name: String) {
        if self.slots.contains_key(&name) {
            self.waiting.push_back(Task::Forget(name));
            self.flush();
        }
    }

    /// Forgets every name that is not one of these.
    pub(super) fn retain<'a>(&mut self, held: impl Iterator<Item = (&'a HoldKey, &'a OwnedFd)>) {
        let names: BTreeSet<String> = held.map(|(key, fd)| name_of(key, fd)).collect();
        let stale: Vec<_> =
            self.slots.keys().filter(|name| !names.contains(*name)).cloned().collect();
        for name in stale {
            tracing::info!("the service manager forgets '{name}'");
            self.forget_name(name);
        }
    }

    /// Tells what was not taken yet. Never waits: whoever reads may be busy.
    pub(super) fn flush(&mut self) {
        while let Some(task) = self.waiting.pop_front() {
            let told = match &task {
                Task::Keep(name, fd) => {
                    // Without polling, or it would drop the pidfd of a process that ends.
                    let text = format!("FDSTORE=1\nFDNAME={name}\nFDPOLL=0\n");
                    self.notifier.tell(&text, &[fd.as_fd()])
                }
                Task::Forget(name) => {
                    self.notifier.tell(&format!("FDSTOREREMOVE=1\nFDNAME={name}\n"), &[])
                }
            };
            match (told, task) {
                (Ok(true), Task::Forget(name)) => {
                    // One that is kept again right after stays in the table.
                    let again = |task: &Task| matches!(task, Task::Keep(kept, _) if *kept == name);
                    if self.waiting.iter().any(again) {
                        continue;
                    }
                    if let Some(slot) = self.slots.remove(&name) {
                        self.write(slot, "");
                        self.free.push(slot);
                    }
                }
                (Ok(true), Task::Keep(..)) => {}
                (Ok(false), task) => return self.waiting.push_front(task),
                (Err(error), _) => {
                    tracing::error!(%error, "the service manager cannot be told what to keep");
                }
            }
        }
    }

    fn write(&self, slot: u64, text: &str) {
        let mut bytes = [0; SLOT_BYTES];
        let length = text.len().min(SLOT_BYTES);
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        if let Err(error) = self.table.write_all_at(&bytes, slot * SLOT) {
            tracing::error!(%error, "the table of what the service manager keeps cannot be written");
        }
    }
}

/// What a table says; slots that make no sense are empty.
pub(super) fn read_table(table: &File) -> io::Result<(Head, Vec<(String, u64)>)> {
    let slots = table.metadata()?.len().div_ceil(SLOT);
    let read = |slot: u64| -> io::Result<String> {
        let mut bytes = [0; SLOT_BYTES];
        table.read_exact_at(&mut bytes, slot * SLOT)?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    };
    if slots == 0 {
        return Ok((Head { epoch: Epoch(0), journal: 0, activated: false }, Vec::new()));
    }
    let text = read(0)?;
    let mut numbers = text.split(' ').map(|number| number.parse::<u64>().unwrap_or(0));
    let mut number = || numbers.next().unwrap_or(0);
    let head = Head { epoch: Epoch(number()), journal: number(), activated: number() == 1 };
    let mut names = Vec::new();
    for slot in 1..slots {
        let name = read(slot)?;
        if !name.is_empty() {
            names.push((name, slot));
        }
    }
    Ok((head, names))
}

/// The service manager's name for a descriptor: printable, without a colon.
fn name_of(key: &HoldKey, fd: &OwnedFd) -> String {
    let mut name = String::new();
    for character in key.as_str().chars() {
        match character {
            ':' | '%' | MARK => {
                // Writing into a string does not fail.
                let _ = write!(name, "%{:02X}", u32::from(character));
            }
            other => name.push(other),
        }
    }
    format!("{name}{MARK}{}", file_number(fd))
}

/// The key of such a name; `None` if it is another's.
pub(super) fn key_of(name: &str) -> Option<HoldKey> {
    let (key, _) = name.split_once(MARK)?;
    let mut text = key.to_owned();
    for character in [':', MARK, '%'] {
        text = text.replace(&format!("%{:02X}", u32::from(character)), &character.to_string());
    }
    text.parse().ok()
}

pub(super) fn file_number(fd: &OwnedFd) -> u64 {
    rustix::fs::fstat(fd).map_or(0, |stat| stat.st_ino)
}

#[cfg(test)]
#[path = "../../../../tests/golden/check.rs"]
mod golden;

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn memfd() -> OwnedFd {
        rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap()
    }

    pub(in crate::keeper) fn store(table: &OwnedFd) -> (FdStore, std::os::unix::net::UnixDatagram) {
        let (notifier, peer) = Notifier::to_a_test();
        let (head, names) = read_table(&File::from(table.try_clone().unwrap())).unwrap();
        let table = File::from(table.try_clone().unwrap());
        let next = table.metadata().unwrap().len().div_ceil(SLOT).max(1);
        let (slots, waiting) = (names.into_iter().collect(), VecDeque::new());
        (FdStore { notifier, table, head, slots, free: Vec::new(), next, waiting }, peer)
    }

    pub(in crate::keeper) fn said(peer: &std::os::unix::net::UnixDatagram) -> Vec<String> {
        let mut buffer = [0; 4096];
        let mut all = Vec::new();
        while let Ok(bytes) = peer.recv(&mut buffer) {
            all.push(String::from_utf8_lossy(&buffer[..bytes]).trim().replace('\n', " "));
        }
        all
    }

    #[test]
    fn names_are_keys_and_file_numbers_without_colons() {
        let fd = memfd();
        for text in ["journal", "slab/8a", "a:b", "50%#", "%3A"] {
            let key: HoldKey = text.parse().unwrap();
            let name = name_of(&key, &fd);
            assert!(!name.contains(':'), "{name}");
            assert_eq!(key_of(&name), Some(key));
        }
        assert_eq!(key_of("sock"), None);
    }

    #[test]
    fn golden_store_table() {
        let table = memfd();
        let (mut store, _peer) = store(&table);
        let head = Head { epoch: Epoch(7), journal: 4711, activated: true };
        store.set_head(head);
        let id = "11112222-3333-4444-5555-666677778888";
        let names = [format!("slab/{id}#4712"), "listen/a%3Ab.sock#4713".to_owned()];
        for (slot, name) in (1..).zip(&names) {
            store.write(slot, name);
        }
        let mut bytes = vec![0; 3 * SLOT_BYTES];
        File::from(table).read_exact_at(&mut bytes, 0).unwrap();
        let golden = golden::check("store-table", [("table".to_owned(), bytes)]);
        let file = File::from(memfd());
        file.write_all_at(&golden["table"], 0).unwrap();
        let (found, slots) = read_table(&file).unwrap();
        assert_eq!(found, head);
        assert_eq!(slots, (names.into_iter().zip(1..)).collect::<Vec<_>>());
    }

    #[test]
    fn the_table_says_what_is_kept_and_the_next_store_forgets_the_rest() {
        let (table, slab, journal, newer) = (memfd(), memfd(), memfd(), memfd());
        let key: HoldKey = "slab/1".parse().unwrap();
        let (mut first, peer) = store(&table);
        first.set_head(Head { epoch: Epoch(7), journal: 0, activated: true });
        first.keep(&key, &slab);
        first.keep(&HoldKey::journal(), &journal);
        first.keep(&HoldKey::listen("sock").unwrap(), &memfd());
        first.keep(&HoldKey::journal(), &newer);
        first.forget(&HoldKey::journal(), &journal);
        let told = said(&peer);
        assert_eq!(told.len(), 4, "a socket of the service manager is not kept: {told:?}");
        let kept = format!("FDSTORE=1 FDNAME=slab/1#{} FDPOLL=0", file_number(&slab));
        assert_eq!(told[0], kept);
        let gone = format!("FDSTOREREMOVE=1 FDNAME=journal#{}", file_number(&journal));
        assert_eq!(told[3], gone);

        let (mut next, peer) = store(&table);
        let head = Head { epoch: Epoch(7), journal: file_number(&newer), activated: true };
        assert_eq!(next.head(), head);
        next.retain([(&HoldKey::journal(), &newer)].into_iter());
        assert_eq!(said(&peer), [format!("FDSTOREREMOVE=1 FDNAME=slab/1#{}", file_number(&slab))]);
        let (_, names) = read_table(&next.table).unwrap();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn what_is_not_taken_is_told_later_and_in_order() {
        let (table, fd) = (memfd(), memfd());
        let (mut store, peer) = store(&table);
        let keys: Vec<HoldKey> = (0..2000).map(|n| format!("k/{n}").parse().unwrap()).collect();
        keys.iter().for_each(|key| store.keep(key, &fd));
        keys.iter().for_each(|key| store.forget(key, &fd));
        assert!(!store.waiting.is_empty(), "nobody reads");
        let mut told = Vec::new();
        while !store.waiting.is_empty() {
            told.extend(said(&peer));
            store.flush();
        }
        told.extend(said(&peer));
        assert_eq!(told.len(), 4000);
        assert!(told[..2000].iter().all(|line| line.starts_with("FDSTORE=1")));
        assert!(read_table(&store.table).unwrap().1.is_empty());
    }

    #[test]
    fn what_is_kept_again_before_it_was_forgotten_is_in_the_table() {
        let (table, fd) = (memfd(), memfd());
        let (mut store, peer) = store(&table);
        let keys: Vec<HoldKey> = (0..2000).map(|n| format!("k/{n}").parse().unwrap()).collect();
        keys.iter().for_each(|key| store.keep(key, &fd));
        assert!(!store.waiting.is_empty(), "nobody reads");
        store.forget(&keys[0], &fd);
        store.keep(&keys[0], &fd);
        let mut told = Vec::new();
        while !store.waiting.is_empty() {
            told.extend(said(&peer));
            store.flush();
        }
        told.extend(said(&peer));
        let name = name_of(&keys[0], &fd);
        assert_eq!(told.last(), Some(&format!("FDSTORE=1 FDNAME={name} FDPOLL=0")));
        let (_, names) = read_table(&store.table).unwrap();
        assert!(names.iter().any(|(listed, _)| *listed == name), "or nobody would forget it");
        assert_eq!(names.len(), keys.len());
        store.forget(&keys[0], &fd);
        assert_eq!(said(&peer), [format!("FDSTOREREMOVE=1 FDNAME={name}")]);
    }
}
