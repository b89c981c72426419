//! Where everything is in the ledger, and the small types that name it.

/// Memory is counted in units of so many bytes.
pub const UNIT: u64 = 4096;
/// GPUs that one group can use.
pub const DEVICES: usize = 16;
/// Processes that one group can have at once.
pub const SLOTS: usize = 1024;
/// No limit.
pub const NO_LIMIT: u64 = u64::MAX;
/// Users whose pond memory one group can pay for.
pub const OWNERS: usize = 64;

/// A GPU's UUID, or a MIG instance's.
pub type Uuid = [u8; 16];

/// Bytes in units, rounded up. What does not fit is the largest number, which no limit allows.
pub const fn units_for(bytes: u64) -> u32 {
    let units = bytes.div_ceil(UNIT);
    if units > u32::MAX as u64 {
        u32::MAX
    } else {
        #[expect(clippy::cast_possible_truncation, reason = "compared in the line above")]
        let units = units as u32;
        units
    }
}

/// The number of a GPU in one group's ledger. Only a [`crate::Member`] or [`crate::Book`] makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceIndex(pub(crate) u8);

impl DeviceIndex {
    /// The number, below [`DEVICES`].
    pub fn get(self) -> usize {
        usize::from(self.0)
    }
}

/// A slot, and which of its owners is meant: a later process in the same slot is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SlotIndex {
    pub(crate) index: u16,
    pub(crate) serial: u32,
}

impl SlotIndex {
    /// A slot as another process has named it. One that does not exist has no owner.
    pub fn named(index: u16, serial: u32) -> Self {
        Self { index, serial }
    }

    /// The slot's place, below [`SLOTS`].
    pub fn get(self) -> usize {
        usize::from(self.index)
    }

    /// Which of the slot's owners is meant.
    pub fn serial(self) -> u32 {
        self.serial
    }
}

/// Numbers that are only shown, beside the word that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// The part of `used` that contexts take.
    Contexts,
    /// Memory that somebody else pays for: mapped from the pond, or imported within the group.
    Shared,
    /// The part of `used` that the reconciler added.
    Folded,
    /// The part of `used` that a cache can give back at once.
    Idle,
}

/// What a slot counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SlotKind {
    /// Everything that its process holds: contexts and what no call has shown included.
    #[default]
    Process,
    /// The pages of one elastic cache. What else the process holds is not the group's to count.
    Cache,
}

/// What one process has on one device, in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceReading {
    /// What it may hold.
    pub credit: u64,
    /// What it holds.
    pub used: u64,
    /// See [`Column::Contexts`].
    pub contexts: u64,
    /// See [`Column::Shared`].
    pub shared: u64,
    /// See [`Column::Folded`].
    pub folded: u64,
    /// See [`Column::Idle`].
    pub idle: u64,
    /// What its owner waits for, and is assigned before anybody else gets more.
    pub wanted: u64,
}

/// What a whole group has on one device, in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Promised to processes.
    pub credit: u64,
    /// Held by processes.
    pub used: u64,
    /// Held by the pond for this group's users.
    pub pond: u64,
}

/// The layout that this program reads and writes.
pub(crate) const VERSION: u32 = 1;
/// The ledger's first bytes.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"MPLEDGER");
/// Head and device table.
pub(crate) const HEAD: usize = 4096;
/// What one process has on one device: a cache line of its own.
pub(crate) const LINE: usize = 64;
/// The lines of one device are together: a sum over 500 processes touches eight pages.
pub(crate) const LINES: usize = SLOTS * LINE;
/// Who owns a slot.
pub(crate) const OWNER: usize = 128;
/// Where the owners begin.
pub(crate) const OWNERS_AT: usize = HEAD + DEVICES * LINES;
pub(crate) const LEN: usize = OWNERS_AT + SLOTS * OWNER;
/// The most that a ledger file has.
pub const LEDGER_BYTES: u64 = LEN as u64;

/// Offsets in the head. The first 64 bytes are written once; see `file`.
pub(crate) mod head {
    /// One more than the highest slot ever taken: sums end there.
    pub(crate) const HIGH_WATER: usize = 64;
    /// A bit for each slot: whether it is taken. Changed under the lock only.
    pub(crate) const TAKEN_SLOTS: usize = 128;
    pub(crate) const TABLE: usize = 1024;
    /// One device: UUID (two words), whether it is taken, the size of a context.
    pub(crate) const DEVICE: usize = 64;
    pub(crate) const UUID_LOW: usize = 0;
    pub(crate) const UUID_HIGH: usize = 8;
    pub(crate) const TAKEN: usize = 16;
    pub(crate) const CONTEXT: usize = 24;
}

/// Offsets in a line.
pub(crate) mod line {
    pub(crate) const WORD: usize = 0;
    pub(crate) const CONTEXTS: usize = 8;
    pub(crate) const SHARED: usize = 16;
    /// Written by the operator only, and counted beside the word.
    pub(crate) const FOLDED: usize = 24;
    pub(crate) const IDLE: usize = 32;
    /// What its owner waits for. Written by the operator under the lock.
    pub(crate) const WANTED: usize = 40;
    /// Unused credit that was assigned to a waiter, and that nobody strips. Written by the operator
    /// under the lock, and cleared by the owner.
    pub(crate) const KEPT: usize = 48;
    /// Until when `WANTED` and `KEPT` count (monotonic nanoseconds): a waiter that stands still must
    /// not stop its group.
    pub(crate) const UNTIL: usize = 56;
}

/// Offsets in what says who owns a slot.
pub(crate) mod owner {
    pub(crate) const SERIAL: usize = 0;
    /// In the low half; the high half is the slot's kind, so that a member of before this kind
    /// existed, which writes the whole word, is a process.
    pub(crate) const PID: usize = 8;
    pub(crate) const NAMESPACE: usize = 16;
    pub(crate) const START: usize = 24;
    /// When somebody first saw that the owner has ended (monotonic nanoseconds); 0 while it lives.
    pub(crate) const ENDED: usize = 32;
    pub(crate) const PROGRAM: usize = 64;
}

/// Bytes that are locked and not there: far behind the file's end.
pub(crate) mod byte {
    pub(crate) const GROUP: i64 = 1 << 40;
    /// The first slot's; the others follow.
    pub(crate) const SLOTS: i64 = GROUP + 1;
}
