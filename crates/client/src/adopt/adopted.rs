//! What this process has announced, and the thread that hears when nobody has it any more.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use millpond_cuda::DevicePtr;
use millpond_wire::message::{RequestBody, Target};
use millpond_wire::{ErrorKind, TensorId};

use super::kept::Kept;
use crate::connection::lock;
use crate::line::{Listener, Unasked};
use crate::link::Link;
use crate::slab_map::overlap;
use crate::{Error, Pond, Result};

/// All announced memory of one process in one pond.
#[derive(Debug, Default)]
pub(crate) struct Adopted {
    entries: Mutex<BTreeMap<TensorId, Entry>>,
}

/// One announced tensor.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) kept: Arc<Kept>,
    pub(super) start: DevicePtr,
    pub(super) bytes: u64,
    /// Whether this process maps it by its descriptor, as everybody does.
    pub(super) by_descriptor: bool,
    pub(super) state: State,
    /// The connection stays while the pond may hand out this memory.
    pub(super) _pond: Pond,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The pond has not answered; `renewed` if there was a new connection meanwhile.
    Asked { renewed: bool },
    /// The pond has it.
    Announced,
    /// Nobody wants it, and the pond may have it.
    GivenUp,
}

impl Adopted {
    /// Memory that this process must use where it is, because it cannot open its own handles.
    pub(crate) fn own(&self, tensor: TensorId) -> Option<Arc<Kept>> {
        let entries = lock(&self.entries);
        let entry = entries.get(&tensor).filter(|entry| !entry.by_descriptor)?;
        Some(Arc::clone(&entry.kept))
    }

    /// The tensor that has some of these addresses.
    pub(super) fn around(&self, start: DevicePtr, bytes: u64) -> Option<TensorId> {
        find(&lock(&self.entries), start, bytes)
    }

    /// Notes memory that is about to be announced; the tensor that has some of it already otherwise.
    /// The first one starts the thread.
    pub(super) fn add(
        self: &Arc<Self>,
        link: &Arc<Link>,
        tensor: TensorId,
        entry: Entry,
    ) -> Result<Option<TensorId>> {
        link.start_watch()?;
        let mut entries = lock(&self.entries);
        if let Some(other) = find(&entries, entry.start, entry.bytes) {
            return Ok(Some(other));
        }
        if entries.is_empty() {
            let (tell, told) = channel();
            let (own, to) = (Arc::clone(self), Arc::clone(link));
            thread::Builder::new()
                .name("millpond-adopted".to_owned())
                .spawn(move || own.serve(&to, &told))
                .map_err(|error| Error::system("starting the thread of adopted memory", error))?;
            link.lock().listen(Listener::Adoptions, Some(tell));
        }
        entries.insert(tensor, entry);
        Ok(None)
    }

    /// The pond has taken it, and its user pays for it there.
    pub(super) fn announced(&self, link: &Arc<Link>, tensor: TensorId) {
        let mut entries = lock(&self.entries);
        let before = entries.get_mut(&tensor).map(|entry| {
            // With the lock: whoever takes the entry out has it to take back.
            entry.kept.hand_over();
            std::mem::replace(&mut entry.state, State::Announced)
        });
        drop(entries);
        if before == Some(State::Asked { renewed: true }) {
            // The answer may have come from the daemon before.
            self.look(link, tensor);
        }
    }

    /// The pond has refused it, or was never asked.
    pub(super) fn refused(&self, link: &Link, tensor: TensorId) {
        self.remove(link, tensor);
    }

    /// Whether the pond has taken it is not known, and the caller wants it no more.
    pub(super) fn given_up(&self, link: &Arc<Link>, tensor: TensorId) {
        if let Some(entry) = lock(&self.entries).get_mut(&tensor) {
            entry.state = State::GivenUp;
        }
        if link.lock().session.is_up() {
            self.look(link, tensor);
        }
    }

    fn remove(&self, link: &Link, tensor: TensorId) {
        let mut entries = lock(&self.entries);
        let removed = entries.remove(&tensor);
        if removed.is_some() && entries.is_empty() {
            link.lock().listen(Listener::Adoptions, None);
        }
        drop(entries);
        if let Some(entry) = &removed {
            entry.kept.take_back();
        }
        // Without the lock: it is the program's own code that runs now.
        drop(removed);
    }

    fn serve(&self, link: &Arc<Link>, told: &Receiver<Unasked>) {
        while let Ok(told) = told.recv() {
            match told {
                Unasked::AdoptedFreed(tensor) => self.remove(link, tensor),
                Unasked::Connected => self.connected(link),
                Unasked::Pressure(_) => {}
            }
        }
    }

    /// The next daemon may not know what the one before had, and then never says that it is free.
    fn connected(&self, link: &Arc<Link>) {
        let mut to_ask = Vec::new();
        for (tensor, entry) in lock(&self.entries).iter_mut() {
            match &mut entry.state {
                State::Asked { renewed } => *renewed = true,
                State::Announced | State::GivenUp => to_ask.push(*tensor),
            }
        }
        for tensor in to_ask {
            self.look(link, tensor);
        }
    }

    /// Asks whether the pond has it; if not, nobody has.
    fn look(&self, link: &Arc<Link>, tensor: TensorId) {
        let given_up =
            lock(&self.entries).get(&tensor).is_some_and(|one| one.state == State::GivenUp);
        let answer = if given_up {
            link.ask_done("a deletion", RequestBody::TensorDelete { tensor })
        } else {
            let body = RequestBody::TensorInspect(Target::Id(tensor));
            link.ask("an inspection", body).map(drop)
        };
        match answer {
            Err(error) if error.kind() == ErrorKind::NotFound => self.remove(link, tensor),
            Err(error) => tracing::debug!(%error, %tensor, "adopted memory is asked about later"),
            Ok(()) => {}
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        lock(&self.entries).len()
    }
}

fn find(entries: &BTreeMap<TensorId, Entry>, start: DevicePtr, bytes: u64) -> Option<TensorId> {
    let overlaps = |entry: &Entry| overlap((entry.start, entry.bytes), (start, bytes));
    entries.iter().find(|(_, entry)| overlaps(entry)).map(|(tensor, _)| *tensor)
}
