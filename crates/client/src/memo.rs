//! Gets without a message: what this process already has mapped, as long as the pond's page says
//! that the answer would be the same.
//!
//! The page's counter is read *before* a get is sent and remembered with its answer. If it is still
//! the same at a later get of the same thing, nothing has happened to that name or identity since,
//! and the lease that is there is shared. It is mapped, so that looking at it is no
//! system call either.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, Weak};

use millpond_wire::fd::Counters;
use millpond_wire::message::Target;
use millpond_wire::{Mode, caps, page};

use crate::connection::lock;
use crate::link::Link;
use crate::tensor::Shared;

/// Answers that are remembered before those of dropped tensors are looked for.
const ROOM: usize = 256;

/// The counters of a pond, as they come with its welcome.
#[derive(Debug)]
pub(crate) struct Page {
    counters: Counters,
}

impl Page {
    /// The page that came along, if it is one of the kind that this program knows.
    pub(crate) fn new(slots: u32, fds: Vec<OwnedFd>) -> Option<Self> {
        let known = usize::try_from(slots) == Ok(caps::PAGE_SLOTS);
        let fd = fds.into_iter().next().filter(|_| known)?;
        Counters::map(fd, caps::PAGE_SLOTS).ok().map(|counters| Self { counters })
    }
}

/// What was true when something was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Of the connection: another daemon has other counters.
    generation: u64,
    value: u64,
}

impl Link {
    /// The counter of a target now; `None` without a connection, or with a pond that has no page.
    pub(crate) fn mark(&self, target: &Target) -> Option<Mark> {
        let slot = page::slot_of(target);
        let state = self.lock();
        let page = state.page.as_ref().filter(|_| state.session.is_up())?;
        Some(Mark { generation: state.session.generation(), value: page.counters.read(slot)? })
    }
}

#[derive(Debug)]
struct Known {
    mark: Mark,
    tensor: Weak<Shared>,
}

/// FNV-1a, a few nanoseconds for a name. The hasher of the standard library takes longer, because it
/// protects against names that somebody chose to collide; these are the program's own.
#[derive(Debug)]
struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        // The table takes its place from the lowest bits and its tag from the highest.
        self.0 ^ (self.0 >> 32)
    }
}

/// What was answered, for each target and mode.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    known: Mutex<[HashMap<Target, Known, BuildHasherDefault<NameHasher>>; 2]>,
}

fn place(mode: Mode) -> usize {
    match mode {
        Mode::ReadOnly => 0,
        Mode::ReadWrite => 1,
    }
}

impl Memo {
    /// The tensor that a get would be answered with, if this process has it.
    pub(crate) fn recall(&self, target: &Target, mode: Mode, mark: Mark) -> Option<Arc<Shared>> {
        let known = lock(&self.known);
        let known = known[place(mode)].get(target).filter(|known| known.mark == mark)?;
        known.tensor.upgrade()
    }

    /// A get was answered; `mark` was read before it was sent.
    pub(crate) fn remember(&self, target: Target, mode: Mode, mark: Mark, tensor: &Arc<Shared>) {
        let mut known = lock(&self.known);
        let known = &mut known[place(mode)];
        if known.len() >= ROOM && known.len() == known.capacity() {
            known.retain(|_, known| known.tensor.strong_count() > 0);
        }
        known.insert(target, Known { mark, tensor: Arc::downgrade(tensor) });
    }
}
