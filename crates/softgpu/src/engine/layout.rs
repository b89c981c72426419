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

use super::board::GRANULARITY;
use super::system::{SharedView, to_u64, to_usize};

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
    /// Who offers it to other processes: an [`Offer`].
    pub offer: AtomicU64,
}

/// Who offers an allocation to other processes, as one word of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    Nobody,
    /// A process, by legacy IPC.
    Process {
        /// The slot of the process.
        slot: usize,
        /// The number of the memory in that process; 0 for what has none.
        object: u64,
        /// The bytes at the end of the last page that the process did not ask for.
        spare: u64,
    },
    /// The file of a pool, by its id: it keeps the memory as a holder does.
    Pool(u64),
}

impl Offer {
    const POOL: u64 = 1 << 63;
    const SLOT_BITS: u32 = 13;
    const SPARE_BITS: u32 = 21;

    pub fn load(word: &AtomicU64) -> Self {
        let word = word.load(Relaxed);
        if word & Self::POOL != 0 {
            return Self::Pool(word & !Self::POOL);
        }
        let low = |word: u64, bits: u32| word & ((1 << bits) - 1);
        match to_usize(low(word, Self::SLOT_BITS)).checked_sub(1) {
            None => Self::Nobody,
            Some(slot) => Self::Process {
                slot,
                spare: low(word >> Self::SLOT_BITS, Self::SPARE_BITS),
                object: word >> (Self::SLOT_BITS + Self::SPARE_BITS),
            },
        }
    }

    pub fn store(self, word: &AtomicU64) {
        let value = match self {
            Self::Nobody => 0,
            Self::Process { slot, object, spare } => {
                (object << (Self::SLOT_BITS + Self::SPARE_BITS))
                    | (spare << Self::SLOT_BITS)
                    | to_u64(slot + 1)
            }
            Self::Pool(id) => Self::POOL | id,
        };
        word.store(value, Relaxed);
    }
}

const _: () = assert!(PROCESS_SLOTS < 1 << Offer::SLOT_BITS);
const _: () = assert!(GRANULARITY <= 1 << Offer::SPARE_BITS);

/// Says that an allocation is a part of another one, which is the one that is counted, or no memory
/// of the device at all: the files of pools and events.
pub const PART: u64 = 1 << 63;

impl AllocationSlot {
    pub fn size(&self) -> u64 {
        self.bytes.load(Relaxed) & !PART
    }

    pub fn is_part(&self) -> bool {
        self.bytes.load(Relaxed) & PART != 0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_come_back_as_they_were_stored() {
        let most = Offer::Process { slot: PROCESS_SLOTS - 1, object: 77, spare: GRANULARITY - 1 };
        let least = Offer::Process { slot: 0, object: 0, spare: 0 };
        for offer in [Offer::Nobody, least, most, Offer::Pool(1), Offer::Pool(1 << 40)] {
            let word = AtomicU64::new(u64::MAX);
            offer.store(&word);
            assert_eq!(Offer::load(&word), offer);
        }
    }
}
