//! The ledger file: what says which memory the ledger is in, and carries the locks.

use crate::error::{EMPTY, LedgerError, REMOVED, REPLACED, TRUNCATED};
use crate::layout::{HEAD, LEN, MAGIC, SLOTS, VERSION, byte};
use crate::sys::{self, Fd};

const FILE: &str = "ledger";
const SIZE: usize = 64;

/// Where the slots are; see `region` for why there are two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// In a System V segment: cannot be truncated. Reached within one IPC namespace.
    Segment,
    /// In the ledger file itself, which no process maps: reached by every container that has the folder,
    /// by calls of the system. Some microseconds for each allocation.
    File,
}

impl Memory {
    /// A file that only names the memory needs just its head.
    fn file_len(self) -> u64 {
        match self {
            Memory::Segment => HEAD as u64,
            Memory::File => LEN as u64,
        }
    }
}

/// The head of the ledger file, and of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub memory: Memory,
    /// Tells one life of a ledger from the next.
    pub nonce: u64,
    pub segment: i32,
    /// Who may attach: this user, or everybody.
    pub owner: Option<u32>,
    pub everyone: bool,
}

const fn broken(what: &'static str) -> LedgerError {
    LedgerError::Broken { file: FILE, what }
}

impl Head {
    pub(crate) fn encode(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let words = [
            MAGIC,
            u64::from(VERSION) | u64::from(self.memory == Memory::Segment) << 32,
            self.nonce,
            u64::from(self.segment.cast_unsigned()) | u64::from(self.everyone) << 32,
            u64::from(self.owner.unwrap_or(u32::MAX)),
        ];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// `None` is a file that nobody has filled yet.
    pub(crate) fn decode(bytes: &[u8; SIZE]) -> Result<Option<Self>, LedgerError> {
        let mut words = [0_u64; 5];
        for (word, place) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = place.try_into().map_or(0, u64::from_le_bytes);
        }
        let [magic, version, nonce, segment, owner] = words;
        if magic == 0 {
            return Ok(None);
        }
        if magic != MAGIC {
            return Err(broken("it does not begin like one"));
        }
        let (kind, version) = (version >> 32, low(version));
        if version != VERSION {
            return Err(LedgerError::Version { file: FILE, found: version, known: VERSION });
        }
        Ok(Some(Self {
            memory: if kind == 1 { Memory::Segment } else { Memory::File },
            nonce,
            segment: low(segment).cast_signed(),
            owner: Some(low(owner)).filter(|owner| *owner != u32::MAX),
            everyone: segment >> 32 == 1,
        }))
    }

    /// Reads and checks the file's head. Nothing else in the file is touched before this.
    pub(crate) fn read(fd: &Fd) -> Result<Option<Self>, LedgerError> {
        let status = fd.status()?;
        if status.links == 0 {
            return Err(broken(REMOVED));
        }
        if status.size == 0 {
            return Ok(None);
        }
        let mut bytes = [0; SIZE];
        if fd.read_at(&mut bytes, 0)? != SIZE {
            return Err(TRUNCATED);
        }
        match Self::decode(&bytes)? {
            Some(head) if head.memory.file_len() != status.size => {
                Err(broken("it has another length than it was made with"))
            }
            head => Ok(head),
        }
    }

    /// [`Head::read`] for those who need one.
    pub(crate) fn require(fd: &Fd) -> Result<Self, LedgerError> {
        Self::read(fd)?.ok_or(broken(EMPTY))
    }

    /// [`Head::require`] for those who know which life of the ledger they belong to.
    pub(crate) fn same_life(fd: &Fd, nonce: u64) -> Result<Self, LedgerError> {
        let head = Self::require(fd)?;
        if head.nonce == nonce { Ok(head) } else { Err(broken(REPLACED)) }
    }

    /// Fills a file that is empty. Only under the lock. The magic makes it valid and comes last.
    pub(crate) fn found(
        fd: &Fd,
        memory: Memory,
        owner: Option<u32>,
        everyone: bool,
    ) -> Result<Self, LedgerError> {
        if any_member(fd)? {
            return Err(broken("it was emptied while its members live"));
        }
        let head = Self { memory, nonce: sys::random(), segment: -1, owner, everyone };
        fd.allocate(memory.file_len())?;
        head.write(fd)?;
        Ok(head)
    }

    /// The same ledger with its slots in the file: for systems without segments. Only under the
    /// lock, and only while nobody is a member.
    pub(crate) fn move_to_file(&self, fd: &Fd) -> Result<Self, LedgerError> {
        let head = Self { memory: Memory::File, nonce: sys::random(), segment: -1, ..*self };
        fd.allocate(Memory::File.file_len())?;
        head.write(fd)?;
        Ok(head)
    }

    pub(crate) fn write(&self, fd: &Fd) -> Result<(), LedgerError> {
        let bytes = self.encode();
        let (magic, rest) = bytes.split_at_checked(8).unwrap_or((&bytes, &[]));
        fd.write_at(rest, 8)?;
        fd.write_at(magic, 0)
    }
}

/// Whether any process holds a slot: one question to the kernel.
pub(crate) fn any_member(fd: &Fd) -> Result<bool, LedgerError> {
    fd.is_locked(byte::SLOTS, i64::try_from(SLOTS).unwrap_or(i64::MAX))
}

fn low(word: u64) -> u32 {
    u32::try_from(word & u64::from(u32::MAX)).unwrap_or(0)
}
