//! Everything that is held, here and by the service manager.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use millpond_wire::{Backing, Epoch, runtime_dir};
use rustix::process::{Signal, pidfd_send_signal};

use super::fd_store::{self, Entry, FdStore, Head};
use crate::channel::{HoldKey, Holding, KeyView};

/// Everything that is held.
#[derive(Default)]
pub(super) struct Holds {
    fds: BTreeMap<HoldKey, OwnedFd>,
    /// Of slabs whose descriptor alone does not say how the memory is reached.
    backings: BTreeMap<HoldKey, Backing>,
    store: Option<FdStore>,
    /// The service manager made the sockets, and removes them.
    pub activated: bool,
}

impl Holds {
    /// Sorts what the service manager gave. Of two journals the table says which one counts; it
    /// also says what slabs are made of.
    pub(super) fn given(given: Vec<(String, OwnedFd)>) -> Holds {
        let mut holds = Holds::default();
        let mut journals = Vec::new();
        let table = given.iter().find(|(name, _)| fd_store::key_of(name) == Some(HoldKey::store()));
        let (head, entries) = table.and_then(|(_, fd)| read_table(fd)).unzip();
        for entry in entries.unwrap_or_default() {
            if let Some(key) = fd_store::key_of(&entry.name)
                && given.iter().any(|(name, _)| *name == entry.name)
            {
                holds.note_backing(&Holding { key, backing: entry.backing });
            }
        }
        for (name, fd) in given {
            match fd_store::key_of(&name) {
                Some(key) if key.view() == KeyView::Journal => journals.push(fd),
                Some(key) => drop(holds.fds.insert(key, fd)),
                None => match listener(&fd) {
                    Some(key) => {
                        holds.activated = true;
                        holds.fds.insert(key, fd);
                    }
                    None => {
                        tracing::warn!("the service manager passed an unknown descriptor, '{name}'")
                    }
                },
            }
        }
        let counts = head.map(|head| head.journal);
        let right = journals.iter().position(|fd| Some(fd_store::file_number(fd)) == counts);
        if !journals.is_empty() {
            let journal = journals.swap_remove(right.unwrap_or(0));
            holds.fds.insert(HoldKey::journal(), journal);
        }
        holds
    }

    /// From now on the service manager keeps the same. The epoch of the last daemon that it knows
    /// of.
    pub(super) fn open_store(&mut self) -> io::Result<Epoch> {
        let table = self.fds.remove(&HoldKey::store());
        let Some(mut store) = FdStore::open(table)? else { return Ok(Epoch(0)) };
        let head = store.head();
        self.activated |= head.activated;
        store.set_head(Head { activated: self.activated, ..head });
        self.fds.insert(HoldKey::store(), store.table()?);
        store.retain(self.fds.iter());
        for (holding, fd) in self.iter() {
            store.keep(&holding, fd);
        }
        self.store = Some(store);
        Ok(head.epoch)
    }

    pub(super) fn set_epoch(&mut self, epoch: Epoch) {
        if let Some(store) = &mut self.store {
            store.set_head(Head { epoch, ..store.head() });
        }
    }

    pub(super) fn insert(&mut self, holding: impl Into<Holding>, fd: OwnedFd) {
        let holding = holding.into();
        if let Some(store) = &mut self.store {
            store.keep(&holding, &fd);
        }
        self.note_backing(&holding);
        let key = holding.key;
        let before = self.fds.insert(key.clone(), fd);
        let (Some(store), Some(before), Some(now)) = (&mut self.store, before, self.fds.get(&key))
        else {
            return;
        };
        // The new one is kept by now; the same file under the same key has the same name.
        if fd_store::file_number(&before) != fd_store::file_number(now) {
            store.forget(&key, &before);
        }
    }

    pub(super) fn extend(&mut self, all: impl Iterator<Item = (Holding, OwnedFd)>) {
        all.for_each(|(holding, fd)| self.insert(holding, fd));
    }

    fn note_backing(&mut self, holding: &Holding) {
        if holding.is_plain() {
            self.backings.remove(&holding.key);
        } else {
            self.backings.insert(holding.key.clone(), holding.backing);
        }
    }

    pub(super) fn remove(&mut self, key: &HoldKey) -> Option<OwnedFd> {
        let fd = self.fds.remove(key)?;
        self.backings.remove(key);
        if let Some(store) = &mut self.store {
            store.forget(key, &fd);
        }
        Some(fd)
    }

    pub(super) fn get(&self, key: &HoldKey) -> Option<&OwnedFd> {
        self.fds.get(key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Holding, &OwnedFd)> {
        self.fds.iter().map(|(key, fd)| {
            let backing = self.backings.get(key).copied().unwrap_or_default();
            (Holding { key: key.clone(), backing }, fd)
        })
    }

    /// Ends the hosts with the pond. A host ends when its channel does, but one that stands still does
    /// not see that.
    pub(super) fn end_hosts(&self) {
        let is_host = |key: &HoldKey| matches!(key.view(), KeyView::HostProcess(_));
        for (_, pidfd) in self.fds.iter().filter(|(key, _)| is_host(key)) {
            // One that has ended already cannot be signalled.
            let _ = pidfd_send_signal(pidfd, Signal::KILL);
        }
    }

    /// Whether this pond has had a GPU: then a daemon has served, or could have.
    pub(super) fn had_gpu(&self) -> bool {
        self.fds.keys().any(HoldKey::is_of_gpu)
    }

    pub(super) fn len(&self) -> usize {
        self.fds.len()
    }

    /// Tells the service manager what it did not take yet.
    pub(super) fn flush(&mut self) {
        if let Some(store) = &mut self.store {
            store.flush();
        }
    }
}

fn read_table(table: &OwnedFd) -> Option<(Head, Vec<Entry>)> {
    let table = File::from(table.try_clone().ok()?);
    fd_store::read_table(&table).ok()
}

/// The key of a socket of a pond, by the path that it is bound to.
fn listener(fd: &OwnedFd) -> Option<HoldKey> {
    let address = rustix::net::getsockname(fd).ok()?;
    let address = rustix::net::SocketAddrUnix::try_from(address).ok()?;
    let path = address.path_bytes()?;
    let name = path.rsplit(|byte| *byte == b'/').next()?;
    let name = runtime_dir::SOCKETS.into_iter().find(|known| known.as_bytes() == name)?;
    // One that blocks would stop the daemon's event loop.
    millpond_wire::socket::set_nonblocking(fd).ok()?;
    HoldKey::listen(name).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use millpond_wire::{HANDLE_BYTES, SlabId, Transport};
    use rustix::fs::MemfdFlags;

    use super::*;

    fn memfd(text: &str) -> OwnedFd {
        let file = File::from(rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap());
        file.write_all_at(text.as_bytes(), 0).unwrap();
        file.into()
    }

    #[test]
    fn what_is_replaced_or_let_go_is_forgotten_by_the_service_manager() {
        let (store, peer) = fd_store::tests::store(&memfd(""));
        let mut holds = Holds { store: Some(store), ..Holds::default() };
        let (old, new) = (memfd("old"), memfd("new"));
        let [before, now] = [&old, &new].map(|fd| format!("journal#{}", fd_store::file_number(fd)));
        let keep = |name: &str| format!("FDSTORE=1 FDNAME={name} FDPOLL=0");
        let forget = |name: &str| format!("FDSTOREREMOVE=1 FDNAME={name}");
        let told = || fd_store::tests::said(&peer);
        holds.insert(HoldKey::journal(), old);
        assert_eq!(told(), [keep(&before)]);
        let again = new.try_clone().unwrap();
        holds.insert(HoldKey::journal(), new);
        assert_eq!(told(), [keep(&now), forget(&before)], "never none");
        // The same file under the same key has the same name.
        holds.insert(HoldKey::journal(), again);
        assert_eq!(told(), [keep(&now)]);
        assert!(holds.remove(&HoldKey::journal()).is_some());
        assert_eq!(told(), [forget(&now)]);
        assert!(holds.remove(&HoldKey::journal()).is_none());
        assert!(told().is_empty());
    }

    #[test]
    fn what_a_slab_is_made_of_survives_keeper_and_daemon() {
        let mempool = Backing { transport: Transport::Mempool([7; HANDLE_BYTES]), adopted: true };
        let key = HoldKey::slab(SlabId::random());
        let holding = Holding { key: key.clone(), backing: mempool };
        let (table, slab, plain) = (memfd(""), memfd("slab"), memfd("plain"));
        let (store, peer) = fd_store::tests::store(&table);
        let mut holds = Holds { store: Some(store), ..Holds::default() };
        holds.insert(holding.clone(), slab.try_clone().unwrap());
        holds.insert(HoldKey::slab(SlabId::random()), plain.try_clone().unwrap());
        assert_eq!(holds.iter().filter(|(held, _)| *held == holding).count(), 1);
        // Both are gone, and the service manager gives what it was told to keep.
        let names = fd_store::tests::said(&peer).into_iter().map(|told| {
            told.split(' ').find_map(|word| word.strip_prefix("FDNAME=")).unwrap().to_owned()
        });
        let fds = [slab, plain].into_iter();
        let mut given: Vec<_> = names.zip(fds).collect();
        given.push(("store#1".to_owned(), table));
        let again = Holds::given(given);
        let backings: Vec<_> = again.iter().filter(|(held, _)| !held.is_plain()).collect();
        assert_eq!(backings.len(), 1);
        assert_eq!(backings[0].0, holding);
        // Under the same key another slab counts, and one that is let go leaves nothing.
        holds.insert(key.clone(), memfd("another"));
        assert!(holds.iter().all(|(held, _)| held.is_plain()));
        holds.insert(holding, memfd("a third"));
        holds.remove(&key);
        assert!(holds.backings.is_empty());
    }

    #[test]
    fn what_is_given_is_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let sock = millpond_wire::socket::listen(&folder.path().join("sock")).unwrap();
        let other = millpond_wire::socket::listen(&folder.path().join("other")).unwrap();
        let (old, new) = (memfd("old"), memfd("new"));
        let number = fd_store::file_number(&new);
        let mut head = format!("7 {number} 1").into_bytes();
        head.resize(128, 0);
        let table = memfd(std::str::from_utf8(&head).unwrap());
        let given = Holds::given(vec![
            ("unknown".to_owned(), sock),
            ("other".to_owned(), other),
            ("journal#1".to_owned(), old),
            (format!("journal#{number}"), new),
            ("store#3".to_owned(), table),
            ("slab/1#4".to_owned(), memfd("")),
        ]);
        let keys: Vec<_> = given.fds.keys().map(HoldKey::as_str).collect();
        assert_eq!(keys, ["journal", "listen/sock", "slab/1", "store"]);
        let journal = given.get(&HoldKey::journal()).unwrap();
        assert_eq!(fd_store::file_number(journal), number, "the one that the table names");
        assert!(given.activated);
    }
}
