//! The simulated GPU: memory that is there while anybody refers to it, and what lies in it.
//!
//! A descriptor or a mapping is an `Rc`: a copy is a `dup`, and the memory goes with the last one,
//! whoever had it and however it died. That is just what the driver does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

/// Every so many bytes one word of contents is kept: tensors begin at multiples of this.
pub const BLOCK: u64 = 256;

/// One allocation of the driver. Fresh memory is zero.
#[derive(Debug)]
pub struct Memory {
    pub serial: usize,
    pub bytes: u64,
    words: RefCell<BTreeMap<u64, u64>>,
}

impl Memory {
    /// The word at an offset.
    #[must_use]
    pub fn word(&self, at: u64) -> u64 {
        self.words.borrow().get(&at).copied().unwrap_or(0)
    }

    pub fn write(&self, at: u64, word: u64) {
        self.words.borrow_mut().insert(at, word);
    }
}

/// A file that outlives whoever wrote it as long as somebody has it.
pub type File = Rc<RefCell<Vec<u8>>>;

#[derive(Clone, Debug)]
pub enum Fd {
    Memory(Rc<Memory>),
    Process(u32),
    Journal(File),
    /// A file with the contents of a tensor.
    Contents(usize),
    /// A lock or a listening socket.
    Other,
}

#[derive(Debug)]
pub struct Card {
    pub total: u64,
    made: Vec<Weak<Memory>>,
}

impl Card {
    #[must_use]
    pub fn new(total: u64) -> Self {
        Self { total, made: Vec::new() }
    }

    /// Memory, if there is room.
    pub fn make(&mut self, bytes: u64) -> Option<Rc<Memory>> {
        if self.used() + bytes > self.total {
            return None;
        }
        let memory = Memory { serial: self.made.len(), bytes, words: RefCell::default() };
        let memory = Rc::new(memory);
        self.made.push(Rc::downgrade(&memory));
        Some(memory)
    }

    pub fn alive(&self) -> impl Iterator<Item = Rc<Memory>> + '_ {
        self.made.iter().filter_map(Weak::upgrade)
    }

    #[must_use]
    pub fn used(&self) -> u64 {
        self.alive().map(|memory| memory.bytes).sum()
    }
}

/// Where the words of a tensor lie: the first blocks, and the last.
#[must_use]
pub fn places(offset: u64, bytes: u64) -> Vec<u64> {
    let blocks = bytes.max(1).div_ceil(BLOCK);
    let mut places: Vec<u64> = (0..blocks.min(4)).map(|block| offset + block * BLOCK).collect();
    if blocks > 4 {
        places.push(offset + (blocks - 1) * BLOCK);
    }
    places
}

/// The word that belongs at a place of a tensor; it says whose it is.
#[must_use]
pub fn word_of(tensor: usize, offset: u64, place: u64) -> u64 {
    ((tensor as u64 + 1) << 24) | (((place - offset) / BLOCK) & 0xff_ffff)
}

/// Whose word this is.
#[must_use]
pub fn tensor_of(word: u64) -> Option<usize> {
    usize::try_from(word >> 24).ok()?.checked_sub(1)
}
