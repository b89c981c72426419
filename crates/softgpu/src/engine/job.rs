//! Work for a stream: copies, fills, the one kernel, time stamps.
//!
//! A job looks its addresses up when it *runs*. Whatever was unmapped or closed meanwhile is then an
//! illegal address, as on the card.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use millpond_cuda::sys::Status;

use super::address::{Access, AddressSpace, Segment};
use super::shared_events::{SharedEvent, Signal};
use super::system::{self, to_u64, to_usize};

/// The size of the buffer between two files.
const CHUNK: usize = 1 << 20;

/// One end of a copy.
#[derive(Clone, Debug)]
pub enum Place {
    Device(u64),
    /// An address of the program.
    Host(usize),
    /// Bytes taken over at the call, as the driver does for a small pageable source.
    Taken(Vec<u8>),
}

/// Set when the work before it in its stream is done.
#[derive(Debug, Default)]
pub struct Stamp(OnceLock<Instant>);

impl Stamp {
    pub fn time(&self) -> Option<Instant> {
        self.0.get().copied()
    }
}

/// One piece of work.
#[derive(Clone, Debug)]
pub enum Job {
    Copy {
        to: Place,
        from: Place,
        bytes: u64,
    },
    /// Repeats a pattern of 1, 2 or 4 bytes.
    Fill {
        to: u64,
        /// The pattern, little end first.
        pattern: Vec<u8>,
        bytes: u64,
    },
    Touch {
        /// What it reads, at its start and at its end.
        source: (u64, u64),
        /// Where the sum goes.
        target: (u64, u64),
        /// How long it takes.
        time: Duration,
    },
    Stamp(Arc<Stamp>),
    /// Tells other processes that the work before it is done.
    Signal(Arc<Signal>),
    /// Waits for a record of another process.
    Await(Arc<SharedEvent>, u64),
    /// Frees linear memory, by its first address.
    FreeLinear(u64),
    /// Gives addresses of the driver's own back, with what is mapped there.
    ReleaseOwn(u64),
    /// Only waits for its turn.
    Nothing,
}

/// Why a job failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobError {
    /// A device address that is not mapped, or not open: the context is lost.
    IllegalAddress,
    /// A host address that is not the program's.
    BadHostAddress,
}

impl JobError {
    /// What a synchronous call answers.
    pub const fn status(self) -> Status {
        match self {
            Self::IllegalAddress => Status::ILLEGAL_ADDRESS,
            Self::BadHostAddress => Status::INVALID_VALUE,
        }
    }
}

/// Where a job runs: the page table and the device whose access counts.
#[derive(Clone, Debug)]
pub struct Site {
    pub space: Arc<AddressSpace>,
    /// The ordinal of the device.
    pub device: usize,
}

impl Site {
    fn find(&self, at: u64, bytes: u64, need: Access) -> Result<Vec<Segment>, JobError> {
        self.space.resolve(at, bytes, self.device, need).map_err(|_| JobError::IllegalAddress)
    }
}

impl Job {
    /// What the driver can see is wrong before the job is queued.
    pub fn check(&self, site: &Site) -> Result<(), Status> {
        let device =
            |at: u64, bytes: u64, need| site.space.resolve(at, bytes, site.device, need).map(drop);
        match self {
            Self::Copy { to, from, bytes } => {
                for (place, need) in [(to, Access::ReadWrite), (from, Access::Read)] {
                    match place {
                        Place::Device(at) => device(*at, *bytes, need)?,
                        Place::Host(0) => return Err(Status::INVALID_VALUE),
                        Place::Host(_) | Place::Taken(_) => {}
                    }
                }
                Ok(())
            }
            Self::Fill { to, bytes, .. } => device(*to, *bytes, Access::ReadWrite),
            // A kernel's addresses are its own affair until it runs.
            Self::Touch { .. }
            | Self::Stamp(_)
            | Self::Signal(_)
            | Self::Await(..)
            | Self::FreeLinear(_)
            | Self::ReleaseOwn(_)
            | Self::Nothing => Ok(()),
        }
    }

    pub fn run(&self, site: &Site) -> Result<(), JobError> {
        match self {
            Self::Copy { to, from, bytes } => copy(site, to, from, *bytes),
            Self::Fill { to, pattern, bytes } => {
                fill(&site.find(*to, *bytes, Access::ReadWrite)?, pattern)
            }
            Self::Touch { source, target, time } => touch(site, *source, *target, *time),
            Self::Stamp(stamp) => {
                let _ = stamp.0.set(Instant::now());
                Ok(())
            }
            Self::FreeLinear(at) => {
                site.space.unmap_linear(*at).map_err(|_| JobError::IllegalAddress)
            }
            Self::ReleaseOwn(start) => {
                site.space.release_own(*start);
                Ok(())
            }
            Self::Signal(signal) => {
                signal.give();
                Ok(())
            }
            // A file that cannot be read any more is no reason to lose the context.
            Self::Await(event, number) => {
                let _ = event.wait(*number);
                Ok(())
            }
            Self::Nothing => Ok(()),
        }
    }
}

fn write(segment: &Segment, at: u64, host: usize, bytes: u64) -> Result<(), JobError> {
    let file = segment.allocation.file().map_err(|_| JobError::IllegalAddress)?;
    system::write_from(file, segment.offset + at, host, to_usize(bytes))
        .map_err(|_| JobError::BadHostAddress)
}

fn read(segment: &Segment, at: u64, host: usize, bytes: u64) -> Result<(), JobError> {
    let file = segment.allocation.file().map_err(|_| JobError::IllegalAddress)?;
    system::read_into(file, segment.offset + at, host, to_usize(bytes))
        .map_err(|_| JobError::BadHostAddress)
}

fn copy(site: &Site, to: &Place, from: &Place, bytes: u64) -> Result<(), JobError> {
    match (to, from) {
        (Place::Device(to), Place::Device(from)) => {
            let source = site.find(*from, bytes, Access::Read)?;
            let target = site.find(*to, bytes, Access::ReadWrite)?;
            between(&target, &source, bytes, *to > *from)
        }
        (Place::Device(to), from) => {
            let mut host = match from {
                Place::Taken(bytes) => bytes.as_ptr().expose_provenance(),
                Place::Host(host) => *host,
                Place::Device(_) => return Err(JobError::IllegalAddress),
            };
            for segment in site.find(*to, bytes, Access::ReadWrite)? {
                write(&segment, 0, host, segment.bytes)?;
                host += to_usize(segment.bytes);
            }
            Ok(())
        }
        (Place::Host(host), Place::Device(from)) => {
            let mut host = *host;
            for segment in site.find(*from, bytes, Access::Read)? {
                read(&segment, 0, host, segment.bytes)?;
                host += to_usize(segment.bytes);
            }
            Ok(())
        }
        (Place::Host(to), Place::Host(from)) => {
            let (to, from) = (
                std::ptr::with_exposed_provenance_mut::<u8>(*to),
                std::ptr::with_exposed_provenance::<u8>(*from),
            );
            // SAFETY: the program says that both ranges are its own; they may overlap.
            unsafe { std::ptr::copy(from, to, to_usize(bytes)) };
            Ok(())
        }
        (Place::Host(to), Place::Taken(from)) => {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(*to);
            // SAFETY: the program says that the target is its own; the bytes are ours.
            unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
            Ok(())
        }
        (Place::Taken(_), _) => Err(JobError::BadHostAddress),
    }
}

/// The part of a list of segments that starts at `at`, at most to the end of its segment.
fn part(segments: &[Segment], mut at: u64) -> Option<(&Segment, u64, u64)> {
    for segment in segments {
        if at < segment.bytes {
            return Some((segment, at, segment.bytes - at));
        }
        at -= segment.bytes;
    }
    None
}

/// Copies through a buffer, from the end when the target is behind the source, as `memmove`.
fn between(
    target: &[Segment],
    source: &[Segment],
    bytes: u64,
    backwards: bool,
) -> Result<(), JobError> {
    let mut buffer = vec![0_u8; CHUNK.min(to_usize(bytes))];
    let chunk = to_u64(buffer.len()).max(1);
    let chunks = bytes.div_ceil(chunk);
    for step in 0..chunks {
        let start = if backwards { chunks - 1 - step } else { step } * chunk;
        let size = chunk.min(bytes - start);
        let host = buffer.as_mut_ptr().expose_provenance();
        for (segments, reading) in [(source, true), (target, false)] {
            let mut done = 0;
            while done < size {
                let (segment, at, left) =
                    part(segments, start + done).ok_or(JobError::IllegalAddress)?;
                let now = left.min(size - done);
                let there = host + to_usize(done);
                if reading {
                    read(segment, at, there, now)?
                } else {
                    write(segment, at, there, now)?
                }
                done += now;
            }
        }
    }
    Ok(())
}

fn fill(target: &[Segment], pattern: &[u8]) -> Result<(), JobError> {
    let all: u64 = target.iter().map(|segment| segment.bytes).sum();
    // Segments are whole pages but for the last, so that each starts with a whole pattern.
    let buffer: Vec<u8> = pattern.iter().copied().cycle().take(CHUNK.min(to_usize(all))).collect();
    for segment in target {
        let mut done = 0;
        while done < segment.bytes {
            let now = to_u64(buffer.len()).min(segment.bytes - done);
            write(segment, done, buffer.as_ptr().expose_provenance(), now)?;
            done += now;
        }
    }
    Ok(())
}

/// The wrapping sum of a range's 8-byte words.
fn sum(segments: &[Segment], bytes: u64) -> Result<u64, JobError> {
    let words = bytes / 8;
    let mut buffer = vec![0_u8; CHUNK];
    let (mut done, mut sum) = (0, 0_u64);
    while done < words * 8 {
        let size = to_u64(CHUNK).min(words * 8 - done);
        let mut filled = 0;
        while filled < size {
            let (segment, at, left) =
                part(segments, done + filled).ok_or(JobError::IllegalAddress)?;
            let now = left.min(size - filled);
            read(segment, at, buffer.as_mut_ptr().expose_provenance() + to_usize(filled), now)?;
            filled += now;
        }
        for word in buffer.as_chunks::<8>().0.iter().take(to_usize(size / 8)) {
            sum = sum.wrapping_add(u64::from_ne_bytes(*word));
        }
        done += size;
    }
    Ok(sum)
}

fn touch(
    site: &Site,
    source: (u64, u64),
    target: (u64, u64),
    time: Duration,
) -> Result<(), JobError> {
    sum(&site.find(source.0, source.1, Access::Read)?, source.1)?;
    if !time.is_zero() {
        std::thread::sleep(time);
    }
    let total = sum(&site.find(source.0, source.1, Access::Read)?, source.1)?;
    let segments = site.find(target.0, target.1, Access::ReadWrite)?;
    if target.1 >= 8 {
        let bytes = total.to_ne_bytes();
        let mut done = 0;
        while done < 8 {
            let (segment, at, left) = part(&segments, done).ok_or(JobError::IllegalAddress)?;
            let now = left.min(8 - done);
            write(segment, at, bytes.as_ptr().expose_provenance() + to_usize(done), now)?;
            done += now;
        }
    }
    Ok(())
}
