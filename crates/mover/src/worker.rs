//! A thread of the ring: its buffers, its stream, and the blocks that are on their way.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::mpsc::Receiver;

use millpond_cuda::{Context, CudaError, Event, HostPages, PendingCopy, PinnedBuffer, Stream};

use crate::channel::MoverEnd;
use crate::cuts::Cuts;
use crate::end;
use crate::error::MoverError;
use crate::fault::Faults;
use crate::file::{FileFailure, UserFile};
use crate::job::{Block, Job, Work};
use crate::queue::{Next, Queue};
use crate::rights::Own;
use crate::settings::{Ring, SLACK_BYTES};
use crate::slab::Slab;

/// What all threads share.
pub(crate) struct Shared {
    pub(crate) queue: Queue,
    pub(crate) channel: Arc<MoverEnd>,
    pub(crate) faults: Faults,
    /// Threads that have their buffers.
    ready: AtomicU16,
    /// A block was begun: the log tells of the first.
    moved: AtomicBool,
}

impl Shared {
    pub(crate) fn new(queue: Queue, channel: Arc<MoverEnd>, faults: Faults) -> Shared {
        let (ready, moved) = (AtomicU16::new(0), AtomicBool::new(false));
        Shared { queue, channel, faults, ready, moved }
    }

    pub(crate) fn thread_ready(&self, ring: Ring) {
        if self.ready.fetch_add(1, Ordering::Relaxed) + 1 == ring.threads {
            tracing::debug!("the ring is complete");
        }
    }
}

/// Bytes of one buffer, with what reads past the page cache need beside a block.
fn buffer_bytes(ring: Ring) -> u64 {
    u64::from(ring.block_bytes + SLACK_BYTES)
}

pub(crate) struct Worker {
    context: Context,
    stream: Stream,
    /// Marks the end of work that has no buffer.
    mark: Event,
    idle: Vec<PinnedBuffer>,
    /// In the order in which they were begun, which is the order in which they end.
    running: VecDeque<(Block, PendingCopy)>,
    /// Who the thread is while it is nobody else.
    own: Own,
    shared: Arc<Shared>,
}

/// Of the software driver alone.
const CUT_SLAB: &str = "the tensor's memory was cut short by a process that it is shared with";

/// A driver call that failed under a job.
struct Lost {
    job: u64,
    error: CudaError,
}

impl Worker {
    /// The memory of a thread's buffers. It needs no context, so it can be made beside one.
    pub(crate) fn pages(ring: Ring) -> Vec<HostPages> {
        (0..ring.depth).filter_map(|_| HostPages::new(buffer_bytes(ring))).collect()
    }

    /// Makes everything that the thread will ever allocate, of these pages as far as they go.
    pub(crate) fn new(
        context: &Context,
        ring: Ring,
        pages: Vec<HostPages>,
        shared: &Arc<Shared>,
    ) -> Result<Worker, MoverError> {
        let depth = usize::from(ring.depth);
        let mut pages = pages.into_iter();
        let buffer = |_| {
            let pinned = pages.next().map(|pages| PinnedBuffer::of(context, pages));
            // Some systems pin only what the driver has made.
            pinned
                .and_then(Result::ok)
                .map_or_else(|| PinnedBuffer::new(context, buffer_bytes(ring)), Ok)
        };
        Ok(Worker {
            context: context.clone(),
            stream: Stream::new(context)?,
            mark: Event::new(context)?,
            idle: (0..depth).map(buffer).collect::<Result<_, _>>()?,
            running: VecDeque::with_capacity(depth),
            own: Own::find(),
            shared: Arc::clone(shared),
        })
    }

    /// As [`Worker::new`] and [`Worker::run`], for a thread that is not the first: where it gets no
    /// buffers, the ring is smaller, and moves go on with the others. Without a context it ends.
    pub(crate) fn run_new(context: &Receiver<Context>, ring: Ring, shared: &Arc<Shared>) {
        let _guard = end::PanicEndsAll;
        let pages = Worker::pages(ring);
        let Ok(context) = context.recv() else { return };
        match Worker::new(&context, ring, pages, shared) {
            Ok(worker) => {
                shared.thread_ready(ring);
                worker.run();
            }
            Err(error) => tracing::warn!(%error, "the ring has one thread fewer"),
        }
    }

    /// Takes blocks until the queue is closed.
    pub(crate) fn run(mut self) {
        let _guard = end::PanicEndsAll;
        let context = self.context.clone();
        // Once for the thread, so that every later call finds it current.
        let _bound = match context.bind() {
            Ok(bound) => bound,
            Err(error) => end::lost("a thread has no context", &error),
        };
        while let Some(next) = self.next() {
            if let Err(lost) = self.step(next) {
                end::driver_failed(&self.shared.channel, lost.job, &lost.error);
            }
        }
    }

    /// A block to begin, or nothing new while there is something to end; `None` at the end.
    fn next(&self) -> Option<Option<Block>> {
        let next = if self.running.is_empty() {
            self.shared.queue.take()
        } else {
            self.shared.queue.try_take()
        };
        match next {
            Next::Block(block) => Some(Some(block)),
            Next::Closed if self.running.is_empty() => None,
            Next::Closed | Next::Nothing => Some(None),
        }
    }

    fn step(&mut self, block: Option<Block>) -> Result<(), Lost> {
        match block {
            Some(block) => self.begin(block),
            None => self.end_oldest(),
        }
    }

    fn begin(&mut self, block: Block) -> Result<(), Lost> {
        let job = Arc::clone(&block.job);
        let lost = |error| Lost { job: job.number, error };
        if block.index == 0 {
            self.shared.faults.before(job.number);
            if !self.shared.moved.swap(true, Ordering::Relaxed) {
                tracing::debug!("the first block");
            }
        }
        if block.skip {
            self.block_ended(&block);
            return Ok(());
        }
        if job.work.has_cut_slab() {
            job.fail(block.start, FileFailure::Other(CUT_SLAB.to_owned()));
            self.block_ended(&block);
            return Ok(());
        }
        let index = usize::try_from(block.index).unwrap_or(usize::MAX);
        match &job.work {
            Work::Put(slab, file) => {
                let place = (job.file_offset + block.start, block.bytes);
                let Some((buffer, at)) = self.read(file, &block, std::iter::once(place), |_| {})?
                else {
                    return Ok(());
                };
                let (offset, part) = (job.offset + block.start, at..at + block.bytes);
                let copy = self.stream.copy_from_pinned(slab.span(), offset, buffer, part);
                self.running.push_back((block, copy.map_err(lost)?));
            }
            Work::Get(slab, file) => {
                let Some(buffer) = self.ready_for(Some(file), &block)? else { return Ok(()) };
                let (offset, part) = (job.offset + block.start, 0..block.bytes);
                let copy = self.stream.copy_to_pinned(slab.span(), offset, buffer, part);
                self.running.push_back((block, copy.map_err(lost)?));
            }
            Work::Copy(slab, from, from_offset) => {
                let (to, from) = (slab.span(), from.span());
                let copy = self.stream.copy(to, job.offset, from, *from_offset, job.bytes);
                copy.map_err(lost)?;
                self.wait_for_stream(&block)?;
            }
            Work::Zero(slab) => {
                self.stream.memset(slab.span(), job.offset, job.bytes, 0).map_err(lost)?;
                self.wait_for_stream(&block)?;
            }
            Work::Load(slab, file, cuts) => {
                let Some((buffer, at)) =
                    self.read(file, &block, cuts.extents(index), cuts.hasher(index))?
                else {
                    return Ok(());
                };
                let parts = cuts.parts(index, at);
                let copy = self.stream.copies_from_pinned(slab.span(), buffer, parts);
                self.running.push_back((block, copy.map_err(lost)?));
            }
            Work::HashFile(file, cuts) => {
                let Some((buffer, _)) =
                    self.read(file, &block, cuts.extents(index), cuts.hasher(index))?
                else {
                    return Ok(());
                };
                self.idle.push(buffer);
                self.block_ended(&block);
                // This needs no second buffer, so nothing else would ask for what is in one.
                self.end_oldest()?;
            }
            Work::Hash(slab, cuts) => self.fetch(slab, None, cuts, block)?,
            Work::Save(slab, file, cuts) => self.fetch(slab, Some(file), cuts, block)?,
        }
        Ok(())
    }

    /// Reads a block of a file: the buffer, and where in it the block begins; `None` if the block
    /// has ended already.
    fn read(
        &mut self,
        file: &UserFile,
        block: &Block,
        extents: impl Iterator<Item = (u64, usize)>,
        seen: impl FnMut(&[u8]),
    ) -> Result<Option<(PinnedBuffer, usize)>, Lost> {
        let Some(mut buffer) = self.ready_for(Some(file), block)? else { return Ok(None) };
        let read = if self.shared.faults.disk_fails(block.job.number) {
            Err(FileFailure::disk())
        } else {
            let rights = &block.job.by;
            let read = self.own.as_user(rights, || file.read_all(&mut buffer, extents, seen));
            read.unwrap_or_else(|| Err(FileFailure::no_rights(rights.user)))
        };
        match read {
            Ok(at) => Ok(Some((buffer, at))),
            Err(failure) => {
                block.job.fail(block.start, failure);
                self.idle.push(buffer);
                self.block_ended(block);
                Ok(None)
            }
        }
    }

    /// Begins to bring a block's pieces into a buffer.
    fn fetch(
        &mut self,
        slab: &Slab,
        file: Option<&UserFile>,
        cuts: &Cuts,
        block: Block,
    ) -> Result<(), Lost> {
        let Some(buffer) = self.ready_for(file, &block)? else { return Ok(()) };
        let parts = cuts.parts(usize::try_from(block.index).unwrap_or(usize::MAX), 0);
        let copy = self.stream.copies_to_pinned(slab.span(), buffer, parts);
        let copy = copy.map_err(|error| Lost { job: block.job.number, error })?;
        self.running.push_back((block, copy));
        Ok(())
    }

    /// A buffer for a block; `None` if the block has ended already: its file is no good, or it has
    /// no bytes.
    fn ready_for(
        &mut self,
        file: Option<&UserFile>,
        block: &Block,
    ) -> Result<Option<PinnedBuffer>, Lost> {
        let checked = file.map_or(Ok(()), UserFile::check);
        if checked.is_err() || block.bytes == 0 {
            if let Err(failure) = checked {
                block.job.fail(block.start, failure);
            }
            self.block_ended(block);
            return Ok(None);
        }
        if self.idle.is_empty() {
            self.end_oldest()?;
        }
        Ok(self.idle.pop())
    }

    /// Waits for the copy that was begun first, and does what comes after it.
    fn end_oldest(&mut self) -> Result<(), Lost> {
        let Some((block, copy)) = self.running.pop_front() else { return Ok(()) };
        let job = &block.job;
        let buffer = copy.wait().map_err(|error| Lost { job: job.number, error })?;
        let index = usize::try_from(block.index).unwrap_or(usize::MAX);
        let written = match &job.work {
            Work::Get(_, file) => self
                .write(job, || file.write(&buffer[..block.bytes], job.file_offset + block.start)),
            Work::Hash(_, cuts) => {
                cuts.hash(index, &buffer);
                Ok(())
            }
            Work::Save(_, file, cuts) => {
                cuts.hash(index, &buffer);
                let mut rest: &[u8] = &buffer;
                let write = |(offset, bytes)| {
                    let (now, later) = rest.split_at(bytes);
                    rest = later;
                    file.write(now, offset)
                };
                self.write(job, || cuts.extents(index).try_for_each(write))
            }
            _ => Ok(()),
        };
        if let Err(failure) = written {
            job.fail(block.start, failure);
        }
        self.idle.push(buffer);
        self.block_ended(&block);
        Ok(())
    }

    /// Writes to the file of a job with its user's rights.
    fn write(
        &self,
        job: &Job,
        write: impl FnOnce() -> Result<(), FileFailure>,
    ) -> Result<(), FileFailure> {
        let written = self.own.as_user(&job.by, write);
        written.unwrap_or_else(|| Err(FileFailure::no_rights(job.by.user)))
    }

    fn wait_for_stream(&mut self, block: &Block) -> Result<(), Lost> {
        let waited = self.mark.record(&self.stream).and_then(|()| self.mark.synchronize());
        waited.map_err(|error| Lost { job: block.job.number, error })?;
        self.block_ended(block);
        Ok(())
    }

    fn block_ended(&self, block: &Block) {
        if block.job.block_ended() {
            self.shared.faults.after_copy(block.job.number);
            // If the daemon is gone, the watcher ends this process.
            let _ = self.shared.channel.send(&block.job.answer());
        }
        if block.job.work.writes_file() {
            self.shared.queue.room_in_a_file();
        }
    }
}
