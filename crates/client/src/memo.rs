//! Gets without a message: what this process already has mapped, as long as the pond's page says
//! that the answer would be the same.
//!
//! The page's counter is read *before* a get is sent and remembered with its answer. If it is still
//! the same at a later get of the same thing, nothing has happened to that name or identity since,
//! and the lease that is there is shared. It is mapped, so that looking at it is no
//! system call either.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, Weak};

use millpond_wire::fd::Counters;
use millpond_wire::message::Target;
use millpond_wire::{Mode, TensorId, TensorRef, caps, page};

use crate::connection::lock;
use crate::link::Link;
use crate::target::ID_TEXT_BYTES;
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
        self.mark_at(page::slot_of(target))
    }

    fn mark_at(&self, slot: usize) -> Option<Mark> {
        let state = self.lock();
        let page = state.page.as_ref().filter(|_| state.session.is_up())?;
        Some(Mark { generation: state.session.generation(), value: page.counters.read(slot)? })
    }
}

#[derive(Debug)]
struct Known {
    /// Where the counter is: to find it again takes longer than to read it.
    slot: usize,
    mark: Mark,
    tensor: Weak<Shared>,
}

/// Eight bytes in one step. The hasher of the standard library takes longer, because it protects against
/// names that somebody chose to collide; these are the program's own.
#[derive(Debug, Default)]
struct NameHasher(u64);

impl NameHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.add(u64::from_le_bytes(last));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(u64::from(byte));
    }

    fn finish(&self) -> u64 {
        // The table takes its place from the lowest bits and its tag from the highest.
        self.0 ^ (self.0 >> 32)
    }
}

type Table<Key> = HashMap<Key, Known, BuildHasherDefault<NameHasher>>;

/// What was answered in one mode.
#[derive(Debug, Default)]
struct Answers {
    /// By names as they are written: `acts/x`, `~1000/acts/x`.
    names: Table<Box<str>>,
    ids: Table<TensorId>,
}

/// What was answered, for each target and mode.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    known: Mutex<[Answers; 2]>,
}

fn place(mode: Mode) -> usize {
    match mode {
        Mode::ReadOnly => 0,
        Mode::ReadWrite => 1,
    }
}

fn insert<Key: Eq + Hash>(table: &mut Table<Key>, key: Key, known: Known) {
    if table.len() >= ROOM && table.len() == table.capacity() {
        table.retain(|_, known| known.tensor.strong_count() > 0);
    }
    table.insert(key, known);
}

impl Memo {
    /// The tensor that a get would be answered with, if this process has it.
    pub(crate) fn recall(&self, target: &Target, mode: Mode, mark: Mark) -> Option<Arc<Shared>> {
        let known = lock(&self.known);
        let answers = &known[place(mode)];
        let known = match target {
            Target::Id(id) => answers.ids.get(id),
            Target::Name(TensorRef { user: None, name }) => answers.names.get(name.as_str()),
            Target::Name(name) => answers.names.get(name.to_string().as_str()),
        };
        known.filter(|known| known.mark == mark)?.tensor.upgrade()
    }

    /// As [`Memo::recall`], for text that nobody has looked at yet: what is found was a name before.
    pub(crate) fn recall_text(&self, link: &Link, text: &str, mode: Mode) -> Option<Arc<Shared>> {
        if text.len() == ID_TEXT_BYTES {
            return None;
        }
        let known = lock(&self.known);
        let known = known[place(mode)].names.get(text)?;
        (link.mark_at(known.slot) == Some(known.mark)).then(|| known.tensor.upgrade())?
    }

    /// A get was answered; `mark` was read before it was sent.
    pub(crate) fn remember(&self, target: Target, mode: Mode, mark: Mark, tensor: &Arc<Shared>) {
        let slot = page::slot_of(&target);
        let answer = Known { slot, mark, tensor: Arc::downgrade(tensor) };
        let mut known = lock(&self.known);
        let answers = &mut known[place(mode)];
        match target {
            Target::Id(id) => insert(&mut answers.ids, id, answer),
            Target::Name(name) => insert(&mut answers.names, name.to_string().into(), answer),
        }
    }
}
