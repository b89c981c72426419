//! The simulated GPU: memory that is there while anybody refers to it, and what lies in it.
//!
//! A descriptor or a mapping is an `Rc`: a copy is a `dup`, and the memory goes with the last one,
//! whoever had it and however it died. That is just what the driver does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use millpond_wire::TransportKind;

use crate::hosts::HostEnd;

/// Every so many bytes one word of contents is kept: tensors begin at multiples of this.
pub const BLOCK: u64 = 256;

/// One allocation of the driver. Fresh memory is zero.
#[derive(Debug)]
pub struct Memory {
    pub serial: usize,
    /// How it is shared.
    pub kind: TransportKind,
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
    /// The daemon's end of the channel to a host.
    Host(HostEnd),
    /// A lock or a listening socket.
    Other,
}

/// What one frame has: the smallest page of a cache.
pub const FRAME: u64 = 2 << 20;

/// Memory that processes make for themselves, and give back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The handle that it is a part of.
    pub handle: Option<u64>,
    /// Whose work has written it last.
    pub word: u64,
}

#[derive(Debug)]
pub struct Card {
    pub total: u64,
    made: Vec<Weak<Memory>>,
    pub frames: Vec<Frame>,
}

impl Card {
    #[must_use]
    pub fn new(total: u64) -> Self {
        Self { total, made: Vec::new(), frames: Vec::new() }
    }

    /// Memory, if there is room.
    pub fn make(&mut self, kind: TransportKind, bytes: u64) -> Option<Rc<Memory>> {
        if self.used() + bytes > self.total {
            return None;
        }
        let memory = Memory { serial: self.made.len(), kind, bytes, words: RefCell::default() };
        let memory = Rc::new(memory);
        self.made.push(Rc::downgrade(&memory));
        Some(memory)
    }

    pub fn alive(&self) -> impl Iterator<Item = Rc<Memory>> + '_ {
        self.made.iter().filter_map(Weak::upgrade)
    }

    #[must_use]
    pub fn used(&self) -> u64 {
        let slabs: u64 = self.alive().map(|memory| memory.bytes).sum();
        slabs + self.frames.iter().filter(|frame| frame.handle.is_some()).count() as u64 * FRAME
    }

    /// Frames for a handle, if there is room: the first that are free, so that what was given back is
    /// soon another's.
    pub fn make_frames(&mut self, handle: u64, count: usize) -> Option<Vec<usize>> {
        if self.used() + count as u64 * FRAME > self.total {
            return None;
        }
        let free = self.frames.iter().enumerate().filter(|(_, frame)| frame.handle.is_none());
        let mut found: Vec<usize> = free.map(|(at, _)| at).take(count).collect();
        while found.len() < count {
            found.push(self.frames.len());
            self.frames.push(Frame::default());
        }
        for at in &found {
            self.frames[*at] = Frame { handle: Some(handle), word: 0 };
        }
        Some(found)
    }

    /// The driver has a handle's frames back.
    pub fn free_frames(&mut self, frames: &[usize]) {
        for at in frames {
            self.frames[*at].handle = None;
        }
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
