//! What the service manager keeps for a keeper and a daemon that are both gone.
//!
//! It keeps descriptors by name, says nothing about what it has, and forgets only what is named. So
//! there is a table of all names in a memfd, which is kept there as well, and which the daemon has:
//! the next keeper reads in it what must be forgotten, and what the last epoch was. A name is the key
//! and the file's number, so that an old journal and a new one can be there at once. Beside the name of
//! a slab stands its backing, which only memory of other kinds than `vmm` has.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use millpond_wire::{Backing, Epoch, HANDLE_BYTES, Transport};
use rustix::fs::MemfdFlags;

use super::systemd::Notifier;
use crate::channel::{HoldKey, Holding, KeyView};

/// One name of the table; ours have at most 70 bytes.
const SLOT_BYTES: usize = 128;
/// A slot as a place in the file.
const SLOT: u64 = 128;
/// Where in a slot a backing begins: one byte of transport and adoption, then the transport's data. A
/// slab's name has at most 62 bytes, so at least one zero byte is between the two. Keepers that know
/// no backings read up to that byte, and find zeros here in what they wrote.
const BACKING_AT: usize = SLOT_BYTES - HANDLE_BYTES - 1;
/// In the first byte of a backing: another program made the memory.
const ADOPTED: u8 = 0x80;
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

/// One descriptor in the table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub name: String,
    slot: u64,
    pub backing: Backing,
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
    slots: BTreeMap<String, (u64, Backing)>,
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
        let (head, entries) = read_table(&table)?;
        let next = table.metadata()?.len().div_ceil(SLOT).max(1);
        let slots = by_name(entries);
        let used: BTreeSet<u64> = slots.values().map(|(slot, _)| *slot).collect();
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
        self.write(0, &text, Backing::default());
    }

    /// Has a descriptor kept. What cannot be kept is logged: it is safe as long as keeper or
    /// daemon lives.
    pub(super) fn keep(&mut self, holding: &Holding, fd: &OwnedFd) {
        let (key, backing) = (&holding.key, holding.backing);
        if !self.is_kept(key) {
            return;
        }
        let name = name_of(key, fd);
        let room = if holding.is_plain() { SLOT_BYTES } else { BACKING_AT - 1 };
        let copy = match fd.try_clone() {
            Ok(copy) if name.len() <= room => copy,
            _ => return tracing::error!("the service manager cannot keep '{key}'"),
        };
        // The table first: what is named there and not kept does no harm.
        let known = self.slots.get(&name).copied();
        if known.is_none_or(|(_, before)| before != backing) {
            let slot = known.map(|(slot, _)| slot).or_else(|| self.free.pop());
            let slot = slot.unwrap_or_else(|| {
                self.next += 1;
                self.next - 1
            });
            self.write(slot, &name, backing);
            self.slots.insert(name.clone(), (slot, backing));
        }
        self.waiting.push_back(Task::Keep(name, copy));
        self.flush();
        if key.view() == KeyView::Journal {
            self.set_head(Head { journal: file_number(fd), ..self.head });
        }
    }

    /// Sockets of its own, and what only two living processes have, it does not keep. Nor channels to
    /// hosts: a host lives while anybody has its channel, and the service does not start again while one
    /// of its processes lives.
    fn is_kept(&self, key: &HoldKey) -> bool {
        match key.view() {
            KeyView::Listen(_) => !self.head.activated,
            KeyView::Handover | KeyView::HostChannel(_) | KeyView::HostProcess(_) => false,
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
                    if let Some((slot, _)) = self.slots.remove(&name) {
                        self.write(slot, "", Backing::default());
                        self.free.push(slot);
                    }
                }
                (Ok(true), Task::Keep(..)) => {}
                (Ok(false), task) => return self.waiting.push_front(task),
                (Err(error), _) => {
                    tracing::error!(%error, "the service manager does not take descriptors");
                }
            }
        }
    }

    fn write(&self, slot: u64, text: &str, backing: Backing) {
        let mut bytes = [0; SLOT_BYTES];
        let length = text.len().min(SLOT_BYTES);
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        if backing != Backing::default() {
            let adopted = if backing.adopted { ADOPTED } else { 0 };
            bytes[BACKING_AT] = backing.transport.code() | adopted;
            if let Some(data) = backing.transport.data() {
                bytes[BACKING_AT + 1..].copy_from_slice(data);
            }
        }
        if let Err(error) = self.table.write_all_at(&bytes, slot * SLOT) {
            tracing::error!(%error, "the table of kept descriptors cannot be written");
        }
    }
}

/// What a table says; slots that make no sense are empty.
pub(super) fn read_table(table: &File) -> io::Result<(Head, Vec<Entry>)> {
    let slots = table.metadata()?.len().div_ceil(SLOT);
    let read = |slot: u64| -> io::Result<(String, Backing)> {
        let mut bytes = [0; SLOT_BYTES];
        table.read_exact_at(&mut bytes, slot * SLOT)?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let backing = if text.len() < BACKING_AT { read_backing(&bytes) } else { None };
        Ok((String::from_utf8_lossy(text).into_owned(), backing.unwrap_or_default()))
    };
    if slots == 0 {
        return Ok((Head { epoch: Epoch(0), journal: 0, activated: false }, Vec::new()));
    }
    let (text, _) = read(0)?;
    let mut numbers = text.split(' ').map(|number| number.parse::<u64>().unwrap_or(0));
    let mut number = || numbers.next().unwrap_or(0);
    let head = Head { epoch: Epoch(number()), journal: number(), activated: number() == 1 };
    let mut entries = Vec::new();
    for slot in 1..slots {
        let (name, backing) = read(slot)?;
        if !name.is_empty() {
            entries.push(Entry { name, slot, backing });
        }
    }
    Ok((head, entries))
}

/// The backing in a slot. `None` for none, and for one that makes no sense: the journal says it too.
fn read_backing(slot: &[u8; SLOT_BYTES]) -> Option<Backing> {
    let (first, data) = slot.get(BACKING_AT..)?.split_first()?;
    let code = first & !ADOPTED;
    let transport = Transport::from_parts(code, None);
    let transport = transport.or_else(|_| Transport::from_parts(code, Some(data))).ok()?;
    Some(Backing { transport, adopted: first & ADOPTED != 0 })
}

fn by_name(entries: Vec<Entry>) -> BTreeMap<String, (u64, Backing)> {
    entries.into_iter().map(|entry| (entry.name, (entry.slot, entry.backing))).collect()
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
        let (head, entries) = read_table(&File::from(table.try_clone().unwrap())).unwrap();
        let table = File::from(table.try_clone().unwrap());
        let next = table.metadata().unwrap().len().div_ceil(SLOT).max(1);
        let (slots, waiting) = (by_name(entries), VecDeque::new());
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
    fn what_belongs_to_a_host_ends_with_the_service() {
        let (store, _peer) = store(&memfd());
        let host = millpond_wire::HostId::random();
        for key in [HoldKey::host_channel(host), HoldKey::host_process(host)] {
            assert!(!store.is_kept(&key), "{key}");
        }
        assert!(store.is_kept(&HoldKey::slab(millpond_wire::SlabId::random())));
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
        let entry = |slot, name: String, transport, adopted| {
            let backing = Backing { transport, adopted };
            Entry { name, slot, backing }
        };
        let mempool = Transport::Mempool(std::array::from_fn(|at| u8::try_from(at).unwrap()));
        let entries = [
            entry(1, format!("slab/{id}#4712"), Transport::Vmm, false),
            entry(2, "listen/a%3Ab.sock#4713".to_owned(), Transport::Vmm, false),
            entry(3, format!("slab/{id}#{}", u64::MAX), mempool, false),
            entry(4, format!("slab/{id}#4714"), mempool, true),
            entry(5, format!("slab/{id}#4715"), Transport::Vmm, true),
        ];
        for entry in &entries {
            store.write(entry.slot, &entry.name, entry.backing);
        }
        let mut bytes = vec![0; 6 * SLOT_BYTES];
        File::from(table).read_exact_at(&mut bytes, 0).unwrap();
        let golden = golden::check("store-table", [("table".to_owned(), bytes)]);
        let file = File::from(memfd());
        file.write_all_at(&golden["table"], 0).unwrap();
        let (found, slots) = read_table(&file).unwrap();
        assert_eq!(found, head);
        assert_eq!(slots, entries);
    }

    #[test]
    fn a_table_of_a_keeper_without_backings_is_read() {
        let long = "k".repeat(SLOT_BYTES);
        let file = File::from(memfd());
        for (slot, text) in [(0, "7 4711 1"), (1, "slab/1#2"), (2, long.as_str())] {
            let mut bytes = [0; SLOT_BYTES];
            bytes[..text.len()].copy_from_slice(text.as_bytes());
            file.write_all_at(&bytes, slot * SLOT).unwrap();
        }
        let (head, entries) = read_table(&file).unwrap();
        assert_eq!(head, Head { epoch: Epoch(7), journal: 4711, activated: true });
        let backing = Backing::default();
        let expected = [
            Entry { name: "slab/1#2".to_owned(), slot: 1, backing },
            Entry { name: long, slot: 2, backing },
        ];
        assert_eq!(entries, expected);
    }

    #[test]
    fn a_descriptor_that_is_kept_again_has_the_backing_of_the_last_time() {
        let (table, fd) = (memfd(), memfd());
        let (mut store, _peer) = store(&table);
        let backing = Backing { transport: Transport::Mempool([3; HANDLE_BYTES]), adopted: false };
        let key: HoldKey = "slab/1".parse().unwrap();
        store.keep(&key.clone().into(), &fd);
        store.keep(&Holding { key, backing }, &fd);
        let (_, entries) = read_table(&store.table).unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!((entries[0].slot, entries[0].backing), (1, backing));
    }

    #[test]
    fn the_table_says_what_is_kept_and_the_next_store_forgets_the_rest() {
        let (table, slab, journal, newer) = (memfd(), memfd(), memfd(), memfd());
        let key: HoldKey = "slab/1".parse().unwrap();
        let (mut first, peer) = store(&table);
        first.set_head(Head { epoch: Epoch(7), journal: 0, activated: true });
        first.keep(&key.into(), &slab);
        first.keep(&HoldKey::journal().into(), &journal);
        first.keep(&HoldKey::listen("sock").unwrap().into(), &memfd());
        first.keep(&HoldKey::journal().into(), &newer);
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
        keys.iter().for_each(|key| store.keep(&key.clone().into(), &fd));
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
        keys.iter().for_each(|key| store.keep(&key.clone().into(), &fd));
        assert!(!store.waiting.is_empty(), "nobody reads");
        store.forget(&keys[0], &fd);
        store.keep(&keys[0].clone().into(), &fd);
        let mut told = Vec::new();
        while !store.waiting.is_empty() {
            told.extend(said(&peer));
            store.flush();
        }
        told.extend(said(&peer));
        let name = name_of(&keys[0], &fd);
        assert_eq!(told.last(), Some(&format!("FDSTORE=1 FDNAME={name} FDPOLL=0")));
        let (_, names) = read_table(&store.table).unwrap();
        assert!(names.iter().any(|entry| entry.name == name), "or nobody would forget it");
        assert_eq!(names.len(), keys.len());
        store.forget(&keys[0], &fd);
        assert_eq!(said(&peer), [format!("FDSTOREREMOVE=1 FDNAME={name}")]);
    }
}
