//! A thread of the ring: its buffers, its stream, and the blocks that are on their way.

use std::collections::VecDeque;
use std::sync::Arc;

use millpond_cuda::{Context, CudaError, Event, PendingCopy, PinnedBuffer, Stream};

use crate::channel::MoverEnd;
use crate::end;
use crate::error::MoverError;
use crate::fault::Faults;
use crate::file::UserFile;
use crate::job::{Block, Work};
use crate::queue::{Next, Queue};
use crate::settings::Ring;

/// What all threads share.
pub(crate) struct Shared {
    pub(crate) queue: Queue,
    pub(crate) channel: Arc<MoverEnd>,
    pub(crate) faults: Faults,
}

pub(crate) struct Worker {
    context: Context,
    stream: Stream,
    /// Marks the end of work that has no buffer.
    mark: Event,
    idle: Vec<PinnedBuffer>,
    /// In the order in which they were begun, which is the order in which they end.
    running: VecDeque<(Block, PendingCopy)>,
    shared: Arc<Shared>,
}

/// A driver call that failed under a job.
struct Lost {
    job: u64,
    error: CudaError,
}

impl Worker {
    /// Makes everything that the thread will ever allocate.
    pub(crate) fn new(
        context: &Context,
        ring: Ring,
        shared: &Arc<Shared>,
    ) -> Result<Worker, MoverError> {
        let depth = usize::from(ring.depth);
        let buffer = |_| PinnedBuffer::new(context, u64::from(ring.block_bytes));
        Ok(Worker {
            context: context.clone(),
            stream: Stream::new(context)?,
            mark: Event::new(context)?,
            idle: (0..depth).map(buffer).collect::<Result<_, _>>()?,
            running: VecDeque::with_capacity(depth),
            shared: Arc::clone(shared),
        })
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
        if block.start == 0 {
            self.shared.faults.before(job.number);
        }
        if block.skip {
            self.block_ended(&block);
            return Ok(());
        }
        let mapping = job.slab.mapping();
        let offset = job.offset + block.start;
        match &job.work {
            Work::Put(file) => {
                let Some(mut buffer) = self.ready_for(file, &block)? else { return Ok(()) };
                let place = job.file_offset + block.start;
                if let Err(failure) = file.read(&mut buffer[..block.bytes], place) {
                    job.fail(block.start, failure);
                    self.idle.push(buffer);
                    self.block_ended(&block);
                    return Ok(());
                }
                let part = 0..block.bytes;
                let copy = self.stream.copy_from_pinned(mapping, offset, buffer, part);
                self.running.push_back((block, copy.map_err(lost)?));
            }
            Work::Get(file) => {
                let Some(buffer) = self.ready_for(file, &block)? else { return Ok(()) };
                let part = 0..block.bytes;
                let copy = self.stream.copy_to_pinned(mapping, offset, buffer, part);
                self.running.push_back((block, copy.map_err(lost)?));
            }
            Work::Copy(from, from_offset) => {
                let copy =
                    self.stream.copy(mapping, job.offset, from.mapping(), *from_offset, job.bytes);
                copy.map_err(lost)?;
                self.wait_for_stream(&block)?;
            }
            Work::Zero => {
                self.stream.memset(mapping, job.offset, job.bytes, 0).map_err(lost)?;
                self.wait_for_stream(&block)?;
            }
        }
        Ok(())
    }

    /// A buffer for a block; `None` if the block has ended already: its file is no good, or it has
    /// no bytes.
    fn ready_for(&mut self, file: &UserFile, block: &Block) -> Result<Option<PinnedBuffer>, Lost> {
        let checked = file.check();
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
        if let Work::Get(file) = &job.work
            && let Err(failure) = file.write(&buffer[..block.bytes], job.file_offset + block.start)
        {
            job.fail(block.start, failure);
        }
        self.idle.push(buffer);
        self.block_ended(&block);
        Ok(())
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
        if matches!(block.job.work, Work::Get(_)) {
            self.shared.queue.room_in_a_get();
        }
    }
}
