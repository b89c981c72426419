//! The words of a ledger, as one caller reaches them.
//!
//! In a segment a word is an atomic. In a file a word is read by `pread` and changed under a lock on
//! its own eight bytes ([`ByLock`]), so that nothing that happens to the file reaches the memory of
//! a program. The first failure of a call on the file is kept: later reads of that view give
//! [`LOST`], nothing more is written, and [`View::whole`] says why. A lock that others keep loses its
//! own word only.
//!
//! # Reads without a lock
//!
//! The kernel promises no atomic copy of eight bytes. Decisions hold all the same: a change compares
//! under the word's lock, and sums are of credit, whose half of the word changes only under the
//! group's lock. A torn `used` can only add to a sum ([`Halves::claim`] is the larger half).
//!
//! [`Halves::claim`]: crate::protocol::Halves::claim

use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::book::Patience;
use crate::by_lock::{ByLock, LOST, Steps};
use crate::error::{LedgerError, TRUNCATED};
use crate::layout::LEN;
use crate::protocol::Word;
use crate::sys::{self, Fd};

/// Access to a ledger's words for one call.
pub(crate) enum View<'a> {
    Segment(NonNull<u8>, PhantomData<&'a AtomicU64>),
    File(FileView<'a>),
}

/// The open ledger, what went wrong with it, and how long locks of words are waited for.
pub(crate) struct FileView<'a> {
    fd: &'a Fd,
    fault: Cell<Option<LedgerError>>,
    patience: u64,
    /// When all waiting of this view ends; 0 before the first.
    until: Cell<u64>,
    in_vain: Cell<bool>,
}

impl<'a> View<'a> {
    pub(crate) fn of_segment(base: NonNull<u8>) -> Self {
        Self::Segment(base, PhantomData)
    }

    pub(crate) fn of_file(fd: &'a Fd, patience: Patience) -> Self {
        let patience = u64::try_from(patience.0.as_nanos()).unwrap_or(u64::MAX);
        let (fault, until, in_vain) = (Cell::new(None), Cell::new(0), Cell::new(false));
        Self::File(FileView { fd, fault, patience, until, in_vain })
    }

    /// A word of a segment. Offsets come from our own constants; one that does not fit gets a word
    /// that is nobody's.
    #[inline]
    pub(crate) fn atomic<'b>(base: NonNull<u8>, offset: usize) -> &'b AtomicU64 {
        static NOBODYS: AtomicU64 = AtomicU64::new(0);
        if offset > LEN - 8 || !offset.is_multiple_of(8) {
            return &NOBODYS;
        }
        // SAFETY: inside the attachment, aligned (its base is page-aligned), and every process
        // reaches this memory by atomics of this size. Views and regions borrow what keeps it.
        unsafe { base.add(offset).cast::<AtomicU64>().as_ref() }
    }

    /// The word at an offset, to be changed.
    pub(crate) fn word(&self, offset: usize) -> Place<'_> {
        match self {
            Self::Segment(base, _) => Place::Segment(Self::atomic(*base, offset)),
            Self::File(file) => Place::File(ByLock::new(InFile { file, offset })),
        }
    }

    pub(crate) fn load(&self, offset: usize) -> u64 {
        let mut word = [0];
        self.read(offset, &mut word);
        word[0]
    }

    /// Reads words that follow each other.
    pub(crate) fn read(&self, offset: usize, into: &mut [u64]) {
        match self {
            Self::Segment(base, _) => {
                for (at, word) in (offset..).step_by(8).zip(into) {
                    *word = Self::atomic(*base, at).load(Ordering::Acquire);
                }
            }
            Self::File(file) => file.read(offset, into),
        }
    }

    /// Writes a word that only one writes at a time.
    pub(crate) fn store(&self, offset: usize, value: u64) {
        self.write(offset, &[value]);
    }

    /// Writes words that follow each other; as [`View::store`].
    pub(crate) fn write(&self, offset: usize, from: &[u64]) {
        match self {
            Self::Segment(base, _) => {
                for (at, word) in (offset..).step_by(8).zip(from) {
                    Self::atomic(*base, at).store(*word, Ordering::Release);
                }
            }
            Self::File(file) => file.write(offset, from),
        }
    }

    /// Whether a word's lock was not free in time.
    pub(crate) fn has_waited_in_vain(&self) -> bool {
        match self {
            Self::Segment(..) => false,
            Self::File(file) => file.in_vain.get(),
        }
    }

    /// The first failure: then nothing that was read counts.
    pub(crate) fn whole(&self) -> Result<(), LedgerError> {
        match self {
            Self::Segment(..) => Ok(()),
            Self::File(file) => file.fault.get().map_or(Ok(()), Err),
        }
    }
}

/// Words that one call of the system reads or writes.
const MOST: usize = 128;

impl FileView<'_> {
    fn read(&self, offset: usize, into: &mut [u64]) {
        let mut bytes = [0; MOST * 8];
        for (at, words) in (offset..).step_by(bytes.len()).zip(into.chunks_mut(MOST)) {
            let len = words.len().saturating_mul(8);
            let bytes = bytes.get_mut(..len).unwrap_or_default();
            if self.fault.get().is_none() {
                match self.fd.read_at(bytes, at as u64) {
                    Ok(got) if got == len => {}
                    Ok(_) => self.fault.set(Some(TRUNCATED)),
                    Err(error) => self.fault.set(Some(error)),
                }
            }
            let lost = self.fault.get().is_some();
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                let read = bytes.try_into().map_or(LOST, u64::from_le_bytes);
                *word = if lost { LOST } else { read };
            }
        }
    }

    fn write(&self, offset: usize, from: &[u64]) {
        let mut bytes = [0; MOST * 8];
        for (at, words) in (offset..).step_by(bytes.len()).zip(from.chunks(MOST)) {
            let len = words.len().saturating_mul(8);
            let bytes = bytes.get_mut(..len).unwrap_or_default();
            for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
                bytes.iter_mut().zip(word.to_le_bytes()).for_each(|(to, from)| *to = from);
            }
            if self.fault.get().is_none()
                && let Err(error) = self.fd.write_at(bytes, at as u64)
            {
                self.fault.set(Some(error));
            }
        }
    }

    /// Takes a word's lock, within what is left of the view's patience.
    fn lock(&self, byte: i64) -> bool {
        let mut pause = 1_000;
        loop {
            match self.fd.lock_try(byte, 8) {
                Ok(true) => return true,
                Ok(false) => {}
                Err(error) => {
                    self.fault.set(Some(error));
                    return false;
                }
            }
            let now = sys::monotonic_nanos();
            if self.until.get() == 0 {
                self.until.set(now.saturating_add(self.patience));
            }
            if now >= self.until.get() {
                self.in_vain.set(true);
                return false;
            }
            sys::sleep_nanos(pause);
            pause = pause.saturating_mul(2).min(1_000_000);
        }
    }
}

/// A word of the file. Its lock is on the bytes that it has there.
pub(crate) struct InFile<'a> {
    file: &'a FileView<'a>,
    offset: usize,
}

impl InFile<'_> {
    fn byte(&self) -> i64 {
        i64::try_from(self.offset).unwrap_or(i64::MAX)
    }
}

impl Steps for InFile<'_> {
    fn lock(&self) -> bool {
        self.file.fault.get().is_none() && self.file.lock(self.byte())
    }

    fn unlock(&self) {
        self.file.fd.unlock(self.byte(), 8);
    }

    fn read(&self) -> Option<u64> {
        let mut word = [0];
        self.file.read(self.offset, &mut word);
        self.file.fault.get().is_none().then_some(word[0])
    }

    fn write(&self, new: u64) -> bool {
        self.file.write(self.offset, &[new]);
        self.file.fault.get().is_none()
    }
}

/// A word, wherever it is.
pub(crate) enum Place<'a> {
    Segment(&'a AtomicU64),
    File(ByLock<InFile<'a>>),
}

impl Place<'_> {
    /// Why the word could not be changed, if it could not.
    pub(crate) fn sound(&self) -> Result<(), LedgerError> {
        match self {
            Self::File(word) if word.is_lost() => {
                Err(word.steps().file.fault.get().unwrap_or(LedgerError::Busy))
            }
            _ => Ok(()),
        }
    }

    /// Replaces the word by what `next` makes of it.
    pub(crate) fn change(&self, next: impl Fn(u64) -> u64) {
        let mut now = self.load();
        while let Err(other) = self.swap_if(now, next(now)) {
            if self.is_lost() {
                return;
            }
            now = other;
        }
    }
}

impl Word for Place<'_> {
    fn load(&self) -> u64 {
        match self {
            Self::Segment(word) => Word::load(*word),
            Self::File(word) => word.load(),
        }
    }

    fn swap_if(&self, old: u64, new: u64) -> Result<(), u64> {
        match self {
            Self::Segment(word) => word.swap_if(old, new),
            Self::File(word) => word.swap_if(old, new),
        }
    }

    fn overwrite(&self, new: u64) {
        match self {
            Self::Segment(word) => word.overwrite(new),
            Self::File(word) => word.overwrite(new),
        }
    }

    fn is_lost(&self) -> bool {
        match self {
            Self::Segment(_) => false,
            Self::File(word) => word.is_lost(),
        }
    }
}
