//! The limits file: written by the operator only, read by members with `pread`, never mapped.

use core::ffi::CStr;

use crate::error::LedgerError;
use crate::layout::{NO_LIMIT, OWNERS, Uuid};
use crate::sys::{self, Fd};

/// The longest group name, in bytes.
pub const NAME_MAX: usize = 64;

const FILE: &str = "limits";
const MAGIC: u64 = u64::from_le_bytes(*b"MPLIMITS");
const VERSION: u32 = 1;
const SIZE: usize = 4096;
/// GPUs with budgets of their own, and the one for every GPU.
const ENTRIES: usize = crate::layout::DEVICES + 1;

mod place {
    pub(super) const VERSION: usize = 8;
    pub(super) const FLAGS: usize = 12;
    pub(super) const GENERATION: usize = 16;
    pub(super) const NAME_LEN: usize = 24;
    pub(super) const OWNERS_LEN: usize = 28;
    pub(super) const NAME: usize = 32;
    pub(super) const OWNERS: usize = 96;
    pub(super) const ENTRIES: usize = 512;
    pub(super) const ENTRY: usize = 64;
}

/// A group's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    bytes: [u8; NAME_MAX],
    len: usize,
}

impl Name {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}

/// A group's budget on one GPU, in units of [`crate::UNIT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The limit that was asked for, or [`NO_LIMIT`].
    pub asked: u64,
    /// The limit that members obey: never more than asked.
    pub effective: u64,
    /// What the card keeps free for this group.
    pub min: u64,
    /// The group's part when groups compete.
    pub weight: u32,
    /// What the pond holds for this group's users.
    pub pond: u64,
    /// What a context takes, in bytes; 0 when nobody has measured one.
    pub context: u64,
}

impl Budget {
    /// What members can have together.
    pub fn for_members(&self) -> u64 {
        self.effective.saturating_sub(self.pond)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { asked: NO_LIMIT, effective: NO_LIMIT, min: 0, weight: 1, pond: 0, context: 0 }
    }
}

/// The file's bytes, checked.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    bytes: [u8; SIZE],
}

const FREE: u32 = 0;
const ONE: u32 = 1;
const EVERY: u32 = 2;

impl Limits {
    pub(crate) fn new(name: &[u8]) -> Result<Self, LedgerError> {
        if name.is_empty() || name.len() > NAME_MAX {
            return Err(LedgerError::BadName);
        }
        let mut limits = Self { bytes: [0; SIZE] };
        limits.put(0, &MAGIC.to_le_bytes());
        limits.put(place::VERSION, &VERSION.to_le_bytes());
        limits.put(place::NAME, name);
        limits.put_u32(place::NAME_LEN, u32::try_from(name.len()).unwrap_or(0));
        Ok(limits)
    }

    pub(crate) fn open(path: &CStr, write: bool) -> Result<Fd, LedgerError> {
        let flags = if write { libc::O_RDWR } else { libc::O_RDONLY };
        sys::open(path, flags, 0).map_err(|errno| match errno {
            libc::ENOENT | libc::ENOTDIR => LedgerError::NoGroup(FILE),
            errno => LedgerError::System { call: "open", errno },
        })
    }

    pub(crate) fn load(path: &CStr) -> Result<Self, LedgerError> {
        Self::read(&Self::open(path, false)?)
    }

    pub(crate) fn read(fd: &Fd) -> Result<Self, LedgerError> {
        let mut limits = Self { bytes: [0; SIZE] };
        if fd.read_at(&mut limits.bytes, 0)? != SIZE {
            return Err(LedgerError::Broken { file: FILE, what: "it is too short" });
        }
        if limits.u64_at(0) != MAGIC {
            return Err(LedgerError::Broken { file: FILE, what: "it does not begin like one" });
        }
        match limits.u32_at(place::VERSION) {
            VERSION => Ok(limits),
            found => Err(LedgerError::Version { file: FILE, found, known: VERSION }),
        }
    }

    /// Writes it, one generation later. One `pwrite` of one page: a kill leaves the old or the new.
    pub(crate) fn write(&mut self, fd: &Fd) -> Result<(), LedgerError> {
        self.put(place::GENERATION, &self.generation().wrapping_add(1).to_le_bytes());
        fd.write_at(&self.bytes, 0)
    }

    pub(crate) fn generation(&self) -> u64 {
        self.u64_at(place::GENERATION)
    }

    pub(crate) fn flags(&self) -> u32 {
        self.u32_at(place::FLAGS)
    }

    pub(crate) fn set_flags(&mut self, flags: u32) {
        self.put_u32(place::FLAGS, flags);
    }

    pub(crate) fn name(&self) -> Name {
        let mut bytes = [0; NAME_MAX];
        let len = usize::try_from(self.u32_at(place::NAME_LEN)).unwrap_or(0).min(NAME_MAX);
        for (to, from) in bytes.iter_mut().zip(self.bytes.iter().skip(place::NAME)).take(len) {
            *to = *from;
        }
        Name { bytes, len }
    }

    pub(crate) fn owners(&self) -> impl Iterator<Item = u32> + '_ {
        let count = usize::try_from(self.u32_at(place::OWNERS_LEN)).unwrap_or(0).min(OWNERS);
        (place::OWNERS..).step_by(4).take(count).map(|at| self.u32_at(at))
    }

    pub(crate) fn set_owners(&mut self, owners: &[u32]) {
        let count = owners.len().min(OWNERS);
        for (at, owner) in (place::OWNERS..).step_by(4).zip(owners.iter().take(count)) {
            self.put_u32(at, *owner);
        }
        self.put_u32(place::OWNERS_LEN, u32::try_from(count).unwrap_or(0));
    }

    /// The budget that holds on a device: its own, or the one for every GPU, or none.
    pub(crate) fn budget(&self, device: &Uuid) -> Budget {
        self.entry(Some(device)).or_else(|| self.entry(None)).unwrap_or_default()
    }

    /// The entry of exactly this device, or of every GPU.
    pub(crate) fn entry(&self, device: Option<&Uuid>) -> Option<Budget> {
        self.find(device).map(|at| self.decode(at))
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (Option<Uuid>, Budget)> + '_ {
        places().filter_map(|at| match self.u32_at(at) {
            ONE => Some((Some(self.uuid_at(at)), self.decode(at))),
            EVERY => Some((None, self.decode(at))),
            _ => None,
        })
    }

    pub(crate) fn set(
        &mut self,
        device: Option<&Uuid>,
        budget: &Budget,
    ) -> Result<(), LedgerError> {
        let free = || places().find(|at| self.u32_at(*at) == FREE);
        let at = self.find(device).or_else(free).ok_or(LedgerError::TooManyBudgets)?;
        if let Some(uuid) = device {
            self.put(at.saturating_add(8), uuid);
        }
        self.put_u32(at.saturating_add(4), budget.weight);
        let words = [budget.asked, budget.effective, budget.min, budget.pond, budget.context];
        for (place, word) in (at.saturating_add(24)..).step_by(8).zip(words) {
            self.put(place, &word.to_le_bytes());
        }
        self.put_u32(at, if device.is_some() { ONE } else { EVERY });
        Ok(())
    }

    fn find(&self, device: Option<&Uuid>) -> Option<usize> {
        places().find(|at| match device {
            Some(uuid) => self.u32_at(*at) == ONE && self.uuid_at(*at) == *uuid,
            None => self.u32_at(*at) == EVERY,
        })
    }

    fn decode(&self, at: usize) -> Budget {
        let word =
            |n: usize| self.u64_at(at.saturating_add(24).saturating_add(n.saturating_mul(8)));
        Budget {
            asked: word(0),
            effective: word(1),
            min: word(2),
            weight: self.u32_at(at.saturating_add(4)),
            pond: word(3),
            context: word(4),
        }
    }

    fn uuid_at(&self, at: usize) -> Uuid {
        self.array(at.saturating_add(8))
    }

    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let part = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
        part.copied().unwrap_or([0; N])
    }

    fn u64_at(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }

    fn u32_at(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    fn put_u32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    fn put(&mut self, at: usize, from: &[u8]) {
        for (to, from) in self.bytes.iter_mut().skip(at).zip(from) {
            *to = *from;
        }
    }
}

fn places() -> impl Iterator<Item = usize> {
    (place::ENTRIES..).step_by(place::ENTRY).take(ENTRIES)
}
