//! The mover's main loop.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use millpond_cuda::{Context, DeviceUuid, Driver, DriverChoice, DriverKind};
use millpond_wire::{Epoch, GpuUuid, SlabId, socket, trust};

use crate::channel::{
    self, ChannelError, FILE_END, FromMover, MoverEnd, Pieces, PiecesKind, ToMover, Why,
};
use crate::cuts::Cuts;
use crate::end;
use crate::error::MoverError;
use crate::fault::Faults;
use crate::file::UserFile;
use crate::job::{Job, Work};
use crate::meter::Meter;
use crate::queue::Queue;
use crate::rights;
use crate::settings::Ring;
use crate::slab::{Slab, Slabs};
use crate::worker::{Shared, Worker};

/// Runs as the mover that a daemon started: the channel is on standard input. Returns after `Stop`;
/// a hang-up ends the process at once.
///
/// # Errors
/// [`MoverError`]; the daemon was told, if it can be, and starts the next mover.
pub fn run_from_stdin() -> Result<(), MoverError> {
    rights::give_up_rights()?;
    rights::give_up_all_but_users()?;
    let socket = socket::take_stdin().map_err(MoverError::io("taking the mover's channel"))?;
    let channel = Arc::new(MoverEnd::new(socket.ok_or(MoverError::NotAChannel)?));
    // A thread of its own: this one may be inside a driver call when the daemon hangs up.
    let watched = Arc::clone(&channel);
    thread("millpond-hangup", move || {
        let _ = watched.wait_for_hang_up();
        end::hung_up()
    })?;
    match run(&channel) {
        // Seen here before it was seen there.
        Err(MoverError::Channel(ChannelError::HungUp)) => end::hung_up(),
        result => result,
    }
}

fn run(channel: &Arc<MoverEnd>) -> Result<(), MoverError> {
    // Before it is known for which GPU: opening the driver takes as long as making a context does,
    // and takes no memory of any. A mover that was started ahead waits here.
    let choice = DriverChoice::from_env();
    let trusted = choice.path().map_or(Ok(()), trust::library).map_err(MoverError::from);
    let driver =
        trusted.and_then(|()| Ok(Driver::open(choice, Some(&millpond_softgpu::PROVIDER))?));
    tracing::debug!("the driver is open");
    let first = channel.receive().inspect_err(|error| {
        if let ChannelError::Version { .. } = error {
            // Every version understands this one; a daemon that is gone needs none.
            let _ = channel.send(&FromMover::Failed { text: error.to_string() });
        }
    })?;
    let (ToMover::Start { epoch, device, threads, block_bytes, depth }, _) = first else {
        return Err(MoverError::Unexpected { expected: "`Start`" });
    };
    tracing::debug!("a mover is wanted");
    let started = Ring::new(threads, block_bytes, depth)
        .and_then(|ring| Mover::start(channel, &driver?, epoch, device, ring));
    match started {
        Ok((mover, context_bytes)) => {
            channel.send(&FromMover::Ready { context_bytes })?;
            tracing::debug!(context_bytes, "the mover is ready");
            mover.serve()
        }
        Err(error) => {
            channel.send(&FromMover::Failed { text: error.to_string() })?;
            Err(error)
        }
    }
}

struct Mover {
    epoch: Epoch,
    channel: Arc<MoverEnd>,
    shared: Arc<Shared>,
    slabs: Slabs,
    threads: Vec<JoinHandle<()>>,
}

/// Why a job was not accepted.
struct Refusal {
    why: Why,
    text: String,
}

impl Mover {
    fn start(
        channel: &Arc<MoverEnd>,
        driver: &Driver,
        epoch: Epoch,
        device: GpuUuid,
        ring: Ring,
    ) -> Result<(Mover, u64), MoverError> {
        let faults = match driver.kind() {
            DriverKind::Soft => Faults::from_environment()?,
            DriverKind::Cuda => Faults::default(),
        };
        let device = driver.device_by_uuid(DeviceUuid(device.0))?;
        let meter = Meter::start(driver, device.uuid())?;
        let shared = Arc::new(Shared::new(Queue::new(ring), Arc::clone(channel), faults));
        // Every thread makes its memory while the context is made, and pins it afterwards. The first
        // one has its buffers before anything is promised; the others pin while it works already.
        let first = std::thread::Builder::new().name("millpond-pages".to_owned());
        let first = first.spawn(move || Worker::pages(ring));
        let first = first.map_err(MoverError::io("starting a thread"))?;
        let (mut threads, mut waiting) = (Vec::new(), Vec::new());
        for number in 1..ring.threads {
            let (wakes, context) = mpsc::channel();
            let shared = Arc::clone(&shared);
            let run = move || Worker::run_new(&context, ring, &shared);
            threads.push(thread(&format!("millpond-move{number}"), run)?);
            waiting.push(wakes);
        }
        let context = Context::primary(&device)?;
        tracing::debug!("the context is there");
        let first = Worker::new(&context, ring, first.join().unwrap_or_default(), &shared)?;
        shared.thread_ready(ring);
        threads.push(thread("millpond-move0", move || first.run())?);
        for thread in waiting {
            // A thread that is gone has ended the process.
            let _ = thread.send(context.clone());
        }
        // Now or never: what is mapped later counts as this process's too.
        let context_bytes = meter.read();
        let slabs = Slabs::new(context, Arc::clone(channel));
        Ok((Mover { epoch, channel: Arc::clone(channel), shared, slabs, threads }, context_bytes))
    }

    fn serve(mut self) -> Result<(), MoverError> {
        loop {
            match self.channel.receive()? {
                (ToMover::Map { slab, bytes, backing }, fd) => {
                    let answer = self.slabs.map(slab, &backing, fd, bytes);
                    self.channel.send(&answer)?;
                }
                (ToMover::Prove { slab, bytes, backing }, fd) => {
                    let answer = self.slabs.prove(slab, &backing, fd, bytes);
                    self.channel.send(&answer)?;
                }
                (ToMover::MakePool { slab, bytes }, _) => {
                    let (answer, fd) = self.slabs.make_pool(slab, bytes);
                    self.channel.send_with(&answer, fd.as_ref().map(AsFd::as_fd))?;
                }
                (ToMover::DropPool { slab }, _) => self.slabs.drop_pool(slab),
                (ToMover::Unmap { slab }, _) => {
                    if let Some(answer) = self.slabs.unmap(slab) {
                        self.channel.send(&answer)?;
                    }
                }
                (ToMover::Job(job), file) => {
                    let number = job.job;
                    match self.accept(job, file) {
                        Ok(job) => self.shared.queue.push(job),
                        Err(Refusal { why, text }) => {
                            let job = number;
                            self.channel.send(&FromMover::JobFailed { job, why, text })?;
                        }
                    }
                }
                (ToMover::Cancel { job }, _) => self.shared.queue.cancel(job),
                (ToMover::Stop, _) => break,
                (ToMover::Start { .. }, _) => {
                    return Err(MoverError::Unexpected { expected: "`Map`, `Job` or `Stop`" });
                }
            }
        }
        self.shared.queue.close();
        for thread in self.threads.drain(..) {
            // A panic ends the process, here as in every process with a log.
            let _ = thread.join();
        }
        Ok(())
    }

    /// Checks a job before any of it happens.
    fn accept(&self, job: channel::Job, file: Option<OwnedFd>) -> Result<Job, Refusal> {
        if job.epoch != self.epoch {
            let (its, ours) = (job.epoch, self.epoch);
            let text = format!("the job belongs to epoch {its}, this mover to epoch {ours}");
            return Err(Refusal { why: Why::Epoch, text });
        }
        let (work, place) = match (job.work, file.map(UserFile::new)) {
            (channel::Work::Put { slab, offset, bytes, file_offset }, Some(file)) => (
                Work::Put(self.slab_with(slab, offset, bytes)?, file),
                (offset, bytes, file_offset),
            ),
            (channel::Work::Get { slab, offset, bytes, file_offset }, Some(file)) => (
                Work::Get(self.slab_with(slab, offset, bytes)?, file),
                (offset, bytes, file_offset),
            ),
            (channel::Work::Copy { slab, offset, bytes, from, from_offset }, _) => {
                let source = self.slab_with(from, from_offset, bytes)?;
                if slab == from && offset.abs_diff(from_offset) < bytes {
                    return Err(range(format!("a copy inside slab {slab} overlaps itself")));
                }
                let target = self.slab_with(slab, offset, bytes)?;
                (Work::Copy(target, source, from_offset), (offset, bytes, 0))
            }
            (channel::Work::Zero { slab, offset, bytes }, _) => {
                (Work::Zero(self.slab_with(slab, offset, bytes)?), (offset, bytes, 0))
            }
            (channel::Work::Pieces(pieces), file) => {
                let bytes = pieces.bytes();
                (self.pieces(pieces, file)?, (0, bytes, 0))
            }
            // The channel has counted the descriptors.
            _ => return Err(no_file()),
        };
        let (_, bytes, file_offset) = place;
        if file_offset.checked_add(bytes).is_none_or(|end| end > FILE_END) {
            return Err(range(format!("no file has {bytes} bytes at {file_offset}")));
        }
        Ok(Job::new((job.job, job.by), work, place, self.shared.queue.block_bytes()))
    }

    fn pieces(&self, pieces: Pieces, file: Option<UserFile>) -> Result<Work, Refusal> {
        let (kind, slab) = (pieces.kind, pieces.slab);
        let block = self.shared.queue.block_bytes();
        let cuts = Cuts::new(pieces, block).map_err(|bytes| {
            range(format!("a piece of {bytes} bytes does not fit a buffer of {block} bytes"))
        })?;
        let mapped = || {
            for piece in cuts.pieces() {
                self.slab_with(slab, piece.offset, piece.bytes)?;
            }
            self.slab_with(slab, 0, 0)
        };
        Ok(match (kind, file) {
            (PiecesKind::Load, Some(file)) => Work::Load(mapped()?, file, cuts),
            (PiecesKind::HashFile, Some(file)) => Work::HashFile(file, cuts),
            (PiecesKind::Hash, _) => Work::Hash(mapped()?, cuts),
            (PiecesKind::Save, Some(file)) => Work::Save(mapped()?, file, cuts),
            _ => return Err(no_file()),
        })
    }

    fn slab_with(&self, slab: SlabId, offset: u64, bytes: u64) -> Result<Arc<Slab>, Refusal> {
        let found = self.slabs.get(slab);
        let found = found.ok_or_else(|| range(format!("slab {slab} is not mapped")))?;
        if !found.has(offset, bytes) {
            let size = found.bytes();
            let text = format!("slab {slab} of {size} bytes has no {bytes} bytes at {offset}");
            return Err(range(text));
        }
        Ok(Arc::clone(found))
    }
}

fn no_file() -> Refusal {
    range("the job has no file".to_owned())
}

fn range(text: String) -> Refusal {
    Refusal { why: Why::Range, text }
}

pub(crate) fn thread(
    name: &str,
    body: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, MoverError> {
    let builder = std::thread::Builder::new().name(name.to_owned());
    builder.spawn(body).map_err(MoverError::io("starting a thread"))
}
