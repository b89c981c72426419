//! The plainest pinned ring: one file, one mapping, threads that stride over its blocks. No
//! channel, no jobs and no code of the mover's own pipeline, because it is the measure for it.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Barrier;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use millpond_cuda::{Context, CudaError, Mapping, PendingCopy, PinnedBuffer, Stream};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRing {
    /// Threads, at least 1.
    pub threads: usize,
    /// Bytes of one pinned buffer, at least 1.
    pub block_bytes: usize,
    /// Pinned buffers of each thread, at least 1.
    pub depth: usize,
}

/// Why there is no time to tell.
#[derive(Debug, thiserror::Error)]
pub enum RawError {
    /// The driver said no.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// The file could not be read or written.
    #[error("reading or writing the file: {0}")]
    File(#[from] io::Error),
    /// A ring without threads, bytes or buffers.
    #[error("a ring needs a thread, a byte and a buffer; this one has {0:?}")]
    Ring(RawRing),
    #[error("a thread of the ring panicked")]
    Panic,
}

#[derive(Clone, Copy)]
enum Direction {
    Put,
    Get,
}

/// Moves the first `bytes` of a file to the start of a mapping, and says how long that took without
/// making the ring and giving it back.
///
/// # Errors
/// [`RawError`].
pub fn raw_put(
    context: &Context,
    file: &File,
    mapping: &Mapping,
    bytes: u64,
    ring: RawRing,
) -> Result<Duration, RawError> {
    run(context, file, mapping, bytes, ring, Direction::Put)
}

/// Moves the first `bytes` of a mapping to the start of a file, and says how long that took without
/// making the ring and giving it back.
///
/// # Errors
/// [`RawError`].
pub fn raw_get(
    context: &Context,
    file: &File,
    mapping: &Mapping,
    bytes: u64,
    ring: RawRing,
) -> Result<Duration, RawError> {
    run(context, file, mapping, bytes, ring, Direction::Get)
}

fn run(
    context: &Context,
    file: &File,
    mapping: &Mapping,
    bytes: u64,
    ring: RawRing,
    direction: Direction,
) -> Result<Duration, RawError> {
    if ring.threads == 0 || ring.block_bytes == 0 || ring.depth == 0 {
        return Err(RawError::Ring(ring));
    }
    let ready = Barrier::new(ring.threads + 1);
    std::thread::scope(|scope| {
        let stride = |first| {
            let ready = &ready;
            move || {
                let made = Strider::new(context, file, mapping, bytes, ring);
                // Also after a failure, or everybody else would wait for ever.
                ready.wait();
                made?.run(first, direction)
            }
        };
        let threads: Vec<_> = (0..ring.threads).map(|first| scope.spawn(stride(first))).collect();
        ready.wait();
        let begin = Instant::now();
        let ended: Vec<_> = threads.into_iter().map(ScopedJoinHandle::join).collect();
        let elapsed = begin.elapsed();
        // Only now the buffers are given back: a mover keeps its own.
        for strider in ended {
            drop(strider.map_err(|_| RawError::Panic)??);
        }
        Ok(elapsed)
    })
}

struct Strider<'all> {
    context: &'all Context,
    file: &'all File,
    mapping: &'all Mapping,
    bytes: u64,
    ring: RawRing,
    stream: Stream,
    idle: Vec<PinnedBuffer>,
    running: VecDeque<(PendingCopy, u64, usize)>,
}

impl<'all> Strider<'all> {
    fn new(
        context: &'all Context,
        file: &'all File,
        mapping: &'all Mapping,
        bytes: u64,
        ring: RawRing,
    ) -> Result<Self, RawError> {
        let buffer = |_| PinnedBuffer::new(context, ring.block_bytes as u64);
        let idle = (0..ring.depth).map(buffer).collect::<Result<_, _>>()?;
        let (stream, running) = (Stream::new(context)?, VecDeque::with_capacity(ring.depth));
        Ok(Self { context, file, mapping, bytes, ring, stream, idle, running })
    }

    fn run(mut self, first: usize, direction: Direction) -> Result<Self, RawError> {
        let _bound = self.context.bind()?;
        let (block, step) = (self.ring.block_bytes as u64, self.ring.threads);
        for start in (first as u64 * block..self.bytes).step_by(step * self.ring.block_bytes) {
            let size = usize::try_from(block.min(self.bytes - start)).unwrap_or(0);
            if self.idle.is_empty() {
                self.settle(direction)?;
            }
            let Some(mut buffer) = self.idle.pop() else { break };
            let copy = match direction {
                Direction::Put => {
                    self.file.read_exact_at(&mut buffer[..size], start)?;
                    self.stream.copy_from_pinned(self.mapping, start, buffer, 0..size)?
                }
                Direction::Get => {
                    self.stream.copy_to_pinned(self.mapping, start, buffer, 0..size)?
                }
            };
            self.running.push_back((copy, start, size));
        }
        while !self.running.is_empty() {
            self.settle(direction)?;
        }
        Ok(self)
    }

    fn settle(&mut self, direction: Direction) -> Result<(), RawError> {
        let Some((copy, start, size)) = self.running.pop_front() else { return Ok(()) };
        let buffer = copy.wait()?;
        if matches!(direction, Direction::Get) {
            self.file.write_all_at(&buffer[..size], start)?;
        }
        self.idle.push(buffer);
        Ok(())
    }
}
