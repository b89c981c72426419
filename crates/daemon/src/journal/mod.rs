//! The journal: records in a memfd that the keeper holds too.
//!
//! A record is durable against the death of any process when `pwrite` returns; no message is
//! needed. Each frame is `length (4) | checksum (8) | record`, little-endian. A frame that is cut
//! or damaged can only be the last one, written by a daemon that died before it answered: it and
//! everything after it is cut off.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use millpond_wire::record::Record;
use rustix::fs::MemfdFlags;
use twox_hash::XxHash3_64;

const HEADER_BYTES: usize = 12;
/// A record is a name, a shape and some numbers; this is far more.
const RECORD_BYTES: usize = 64 * 1024;
/// What most frames have, about: so that not all records are moved about while they are read.
const FRAME_BYTES: usize = 192;
/// Under this size a journal is not worth compacting.
const SMALL_BYTES: u64 = 1 << 20;

/// Why a journal could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system said no; for a memfd that means memory is short.
    #[error("the journal: {0}")]
    Io(#[from] io::Error),
    /// A record in the middle makes no sense: this is not our journal.
    #[error("the journal's record at byte {at}: {source}")]
    Record { at: u64, source: millpond_wire::message::DecodeError },
}

#[derive(Debug)]
pub struct Journal {
    file: File,
    length: u64,
    compacted_length: u64,
    frame: Vec<u8>,
    builder: planus::Builder,
}

impl Journal {
    /// A journal without a record.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn create() -> Result<Self, JournalError> {
        let fd = rustix::fs::memfd_create("millpond-journal", MemfdFlags::CLOEXEC)
            .map_err(io::Error::from)?;
        Ok(Self::over(File::from(fd), 0))
    }

    fn over(file: File, length: u64) -> Self {
        Self {
            file,
            length,
            compacted_length: length,
            frame: Vec::new(),
            builder: planus::Builder::new(),
        }
    }

    /// The journal of an earlier daemon, and what it says.
    ///
    /// # Errors
    /// [`JournalError`]; a damaged end is no error, it is cut off.
    pub fn open(fd: OwnedFd) -> Result<(Self, Vec<Record>), JournalError> {
        let file = File::from(fd);
        let size = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let mut bytes = vec![0; size];
        file.read_exact_at(&mut bytes, 0)?;
        let (records, length) = read_frames(&bytes)?;
        if length != bytes.len() as u64 {
            tracing::warn!(
                kept = length,
                cut = bytes.len() as u64 - length,
                "cut an unfinished record off the journal"
            );
            file.set_len(length)?;
        }
        Ok((Self::over(file, length), records))
    }

    /// Appends a record; durable when it returns.
    ///
    /// # Errors
    /// [`JournalError::Io`]; then nothing was appended.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let payload = record.encode(&mut self.builder);
        write_frame(&mut self.frame, payload)?;
        if let Err(error) = self.file.write_all_at(&self.frame, self.length) {
            // What was written in part must not look like a beginning.
            let _ = self.file.set_len(self.length);
            return Err(error.into());
        }
        self.length += self.frame.len() as u64;
        Ok(())
    }

    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.length
    }

    /// Whether most of it is history.
    #[must_use]
    pub fn wants_compaction(&self) -> bool {
        self.is_large() && self.length > 4 * self.compacted_length
    }

    /// Whether it is worth looking at what is history.
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.length > SMALL_BYTES
    }

    /// Of `all` records of an earlier daemon, `enough` say the same: how large it would be with
    /// those. Otherwise every restart would let it grow to four times what it was.
    pub fn estimate(&mut self, enough: usize, all: usize) {
        let (enough, all) = (enough as u64, all.max(1) as u64);
        self.compacted_length = (self.length / all).saturating_mul(enough).min(self.length);
    }

    /// A new journal that says the same in fewer records. The old one is untouched until the
    /// keeper holds the new one.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn compacted(&self, records: &[Record]) -> Result<Self, JournalError> {
        let mut fresh = Self::create()?;
        for record in records {
            fresh.append(record)?;
        }
        fresh.compacted_length = fresh.length;
        Ok(fresh)
    }

    /// Not worth trying again soon.
    pub fn postpone_compaction(&mut self) {
        self.compacted_length = self.length;
    }
}

impl AsFd for Journal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Makes the frame of a record.
///
/// # Errors
/// [`JournalError::Io`] if the record is larger than a frame can say.
pub fn write_frame(frame: &mut Vec<u8>, payload: &[u8]) -> Result<(), JournalError> {
    let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
    frame.clear();
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(&XxHash3_64::oneshot(payload).to_le_bytes());
    frame.extend_from_slice(payload);
    Ok(())
}

/// The records, and how many bytes of `bytes` they are: what follows is an unfinished frame.
///
/// # Errors
/// [`JournalError::Record`] if a whole frame holds no record.
pub fn read_frames(bytes: &[u8]) -> Result<(Vec<Record>, u64), JournalError> {
    let mut records = Vec::with_capacity(bytes.len() / FRAME_BYTES);
    let mut at = 0;
    while let Some((payload, next)) = next_frame(bytes, at) {
        let record = Record::decode(payload)
            .map_err(|source| JournalError::Record { at: at as u64, source })?;
        records.push(record);
        at = next;
    }
    Ok((records, at as u64))
}

fn next_frame(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = bytes.get(at..)?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (checksum, rest) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if length == 0 || length > RECORD_BYTES {
        return None;
    }
    let payload = rest.get(..length)?;
    (XxHash3_64::oneshot(payload) == u64::from_le_bytes(*checksum))
        .then_some((payload, at + HEADER_BYTES + length))
}

#[cfg(test)]
mod tests {
    use millpond_wire::{PondId, TensorId};

    use super::*;

    fn record() -> Record {
        Record::TensorDeleted(TensorId::random())
    }

    fn reopen(journal: &Journal) -> (Journal, Vec<Record>) {
        Journal::open(journal.as_fd().try_clone_to_owned().unwrap()).unwrap()
    }

    #[test]
    fn what_was_appended_is_there_for_the_next_daemon() {
        let mut journal = Journal::create().unwrap();
        let records: Vec<Record> = (0..100).map(|_| record()).collect();
        for record in &records {
            journal.append(record).unwrap();
        }
        let (mut again, read) = reopen(&journal);
        assert_eq!(read, records);
        let more = record();
        again.append(&more).unwrap();
        assert_eq!(reopen(&again).1.last(), Some(&more));
    }

    #[test]
    fn an_unfinished_end_is_cut_off_wherever_it_was_cut() {
        let mut journal = Journal::create().unwrap();
        let opened = Record::Opened { pond: PondId::random(), key: [1; 16], created_unix_ms: 2 };
        journal.append(&opened).unwrap();
        let whole = journal.bytes();
        journal.append(&record()).unwrap();
        let (end, fd) = (journal.bytes(), journal.as_fd().try_clone_to_owned().unwrap());
        for length in whole..end {
            let copy = Journal::create().unwrap();
            let mut bytes = vec![0; usize::try_from(length).unwrap()];
            File::from(fd.try_clone().unwrap()).read_exact_at(&mut bytes, 0).unwrap();
            copy.file.write_all_at(&bytes, 0).unwrap();
            let (mut cut, read) = reopen(&copy);
            assert_eq!(read, std::slice::from_ref(&opened));
            assert_eq!(cut.bytes(), whole);
            // And the next record stands right after the last good one.
            let next = record();
            cut.append(&next).unwrap();
            assert_eq!(reopen(&cut).1, [opened.clone(), next]);
        }
    }

    #[test]
    fn a_damaged_record_ends_the_journal() {
        let mut journal = Journal::create().unwrap();
        let good = record();
        journal.append(&good).unwrap();
        let at = journal.bytes();
        journal.append(&record()).unwrap();
        journal.file.write_all_at(&[0xff], at + 20).unwrap();
        assert_eq!(reopen(&journal).1, [good]);
    }

    #[test]
    fn compaction_is_wanted_when_most_is_history() {
        let mut journal = Journal::create().unwrap();
        while !journal.wants_compaction() {
            journal.append(&record()).unwrap();
        }
        let keep = [record(), record()];
        let compacted = journal.compacted(&keep).unwrap();
        assert!(!compacted.wants_compaction());
        assert_eq!(reopen(&compacted).1, keep);
    }

    #[test]
    fn the_next_daemon_wants_it_as_soon() {
        let mut journal = Journal::create().unwrap();
        while !journal.wants_compaction() {
            journal.append(&record()).unwrap();
        }
        let (mut next, records) = reopen(&journal);
        next.estimate(2, records.len());
        assert!(next.wants_compaction());
        next.estimate(records.len(), records.len());
        assert!(!next.wants_compaction(), "all of it is needed");
        next.estimate(3, 0);
        assert!(!next.wants_compaction());
    }
}
