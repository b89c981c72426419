//! The shared file of one device: its layout, and nothing else.
//!
//! ```text
//! 0         Header
//! 4096      PROCESS_SLOTS x ProcessSlot
//! ...       ALLOCATION_SLOTS x AllocationSlot
//! ```
//!
//! Every field is an atomic, because other processes write them. A slot whose first field is 0 is
//! free; that field is written last when a slot is filled and first when it is emptied, so that a
//! process killed between two stores leaves a slot that is either free or complete.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::system::SharedView;

/// Says that the file is ours, and which layout it has.
pub const MAGIC: u64 = u64::from_le_bytes(*b"mpsoft\x00\x01");

/// How many processes can use a device at once.
pub const PROCESS_SLOTS: usize = 4096;

/// How many allocations a device can hold: as many as one process could map (`vm.max_map_count`).
pub const ALLOCATION_SLOTS: usize = 65_536;

const PROCESSES_AT: usize = 4096;
const ALLOCATIONS_AT: usize = PROCESSES_AT + PROCESS_SLOTS * size_of::<ProcessSlot>();

/// The size of the file.
pub const BYTES: usize = ALLOCATIONS_AT + ALLOCATION_SLOTS * size_of::<AllocationSlot>();

/// Numbers of the whole device.
#[repr(C)]
#[derive(Debug)]
pub struct Header {
    /// [`MAGIC`] once the rest is valid.
    pub magic: AtomicU64,
    /// Bytes of memory that the device has.
    pub total: AtomicU64,
    /// Bytes in allocation slots; wrong while `changing` is not 0.
    pub used: AtomicU64,
    /// Not 0 while somebody changes slots: whoever then gets the lock counts again.
    pub changing: AtomicU64,
    /// The id of the next allocation.
    pub next_id: AtomicU64,
    /// Allocation slots from here on were never used.
    pub allocations_end: AtomicU64,
    /// Process slots from here on were never used.
    pub processes_end: AtomicU64,
    /// The device's name for ever.
    pub uuid: [AtomicU64; 2],
    /// Not 0 while somebody wants to know the most that was ever held.
    pub metered: AtomicU64,
    /// The most that was held since then.
    pub peak: AtomicU64,
}

/// A process that has called `cuInit`.
#[repr(C)]
#[derive(Debug)]
pub struct ProcessSlot {
    /// Its process id; 0 when free.
    pub pid: AtomicU64,
    /// Bytes that it made and still holds.
    pub created: AtomicU64,
    /// Bytes that its contexts take.
    pub context: AtomicU64,
    pub contexts: AtomicU64,
}

/// A piece of physical memory.
#[repr(C)]
#[derive(Debug)]
pub struct AllocationSlot {
    /// Its id, part of its file's name; 0 when free.
    pub id: AtomicU64,
    /// Its size, and [`PART`].
    pub bytes: AtomicU64,
    /// Its file's inode, by which an imported fd is recognised; 0 until the file is there.
    pub inode: AtomicU64,
    /// One more than the slot of the process that offers it by legacy IPC; 0 when none does.
    pub exporter: AtomicU64,
}

/// Says that an allocation is a part of another one, which is the one that is counted.
pub const PART: u64 = 1 << 63;

impl AllocationSlot {
    pub fn size(&self) -> u64 {
        self.bytes.load(Relaxed) & !PART
    }

    /// What it takes from the device.
    pub fn counted(&self) -> u64 {
        let bytes = self.bytes.load(Relaxed);
        if bytes & PART == 0 { bytes } else { 0 }
    }
}

/// A view of the shared file with its parts named.
#[derive(Debug)]
pub struct Layout {
    view: SharedView,
}

impl Layout {
    /// Maps a file that has [`BYTES`] bytes.
    pub fn new(file: &File) -> io::Result<Self> {
        SharedView::new(file, BYTES).map(|view| Self { view })
    }

    fn part<T>(&self, at: usize) -> io::Result<&T> {
        // SAFETY: only called for the three structures above, which consist of atomics.
        unsafe { self.view.get(at) }.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    pub fn header(&self) -> io::Result<&Header> {
        self.part(0)
    }

    pub fn process(&self, index: usize) -> io::Result<&ProcessSlot> {
        self.part(PROCESSES_AT + index.min(PROCESS_SLOTS) * size_of::<ProcessSlot>())
    }

    pub fn allocation(&self, index: usize) -> io::Result<&AllocationSlot> {
        self.part(ALLOCATIONS_AT + index.min(ALLOCATION_SLOTS) * size_of::<AllocationSlot>())
    }
}
