//! Bytes into tensors and out of them without mapping anything: the pond's mover carries them.
//!
//! A program that only loads or saves needs no driver and no context. It hands a file's descriptor
//! to the pond, and the mover, which has a context already, reads or writes the file itself. What
//! is not a file that can be read anywhere (a pipe, a terminal, a file system in user space, where
//! a mover could be made to hang) goes through a few memfds, so that memory stays constant.
//!
//! A transfer is cut into moves, some of them under way at once. That gives progress, lets others
//! have their turn, and makes repeating cheap when a mover or the daemon dies in between.

pub(crate) mod lanes;
mod lease;
pub(crate) mod moves;
mod put;
mod sink;
mod source;
mod streams;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use millpond_wire::message::{MoveWork, ReplyBody, RequestBody, TensorInfo};
use millpond_wire::{ErrorKind, TensorId};

use self::moves::Job;
use self::source::Origin;
use crate::answer::not_an_answer;
use crate::spec::wait_ms;
use crate::{Error, GetOptions, IntoTarget, Pond, Result};

pub(crate) use self::sink::make_room;
pub(crate) use self::source::is_fuse;

pub use self::lease::Lease;
pub use self::put::PutSpec;
pub use self::sink::Sink;
pub use self::source::Source;

/// How far a transfer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that have landed.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

/// A transfer that has ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transferred {
    /// How many bytes.
    pub bytes: u64,
    /// How long it took.
    pub elapsed: Duration,
}

/// What was given back, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Tensors that were deleted.
    pub tensors: Vec<TensorInfo>,
    /// Empty slabs.
    pub slabs: u32,
    /// Their bytes.
    pub slab_bytes: u64,
}

/// Whoever is told how far a transfer is.
pub(crate) type Told<'a> = &'a mut dyn FnMut(Progress);

impl Pond {
    /// Fills a whole tensor. It is not published by this; see [`Pond::put`] for a tensor that
    /// nobody sees before it is complete.
    ///
    /// # Errors
    /// `file` if the source has not exactly as many bytes as the tensor, or cannot be read;
    /// `mover` if the process that moves the bytes died again and again; what else the pond
    /// answers.
    pub fn upload(
        &self,
        target: impl IntoTarget,
        source: Source<'_>,
        mut progress: impl FnMut(Progress),
    ) -> Result<Transferred> {
        let info = self.inspect(target)?.info;
        self.fill(&info, source, &mut progress)
    }

    /// Writes a published tensor's bytes out. Whoever replaces or deletes it meanwhile does not
    /// disturb this.
    ///
    /// # Errors
    /// `not_found`, `not_ready`; `file` if the sink cannot be written; `mover`; what else the pond
    /// answers.
    pub fn download(
        &self,
        target: impl IntoTarget,
        sink: Sink<'_>,
        progress: impl FnMut(Progress),
    ) -> Result<Transferred> {
        self.lease(target, GetOptions::read_only())?.save_to(sink, progress)
    }

    /// Copies a published tensor's bytes into another of the same size, on the same GPU or on
    /// another one.
    ///
    /// # Errors
    /// As for [`Pond::upload`].
    pub fn copy(
        &self,
        from: impl IntoTarget,
        to: impl IntoTarget,
        progress: impl FnMut(Progress),
    ) -> Result<Transferred> {
        let from = self.lease(from, GetOptions::read_only())?;
        self.upload(to, Source::tensor(from), progress)
    }

    /// Fills a tensor with zeroes.
    ///
    /// # Errors
    /// As for [`Pond::upload`].
    pub fn zero(&self, target: impl IntoTarget) -> Result<Transferred> {
        self.upload(target, Source::zeroes(), |_| {})
    }

    /// Gives back what nobody uses: empty slabs, and with a time also one's own tensors that
    /// nobody has leased for so long. A dry run only says what would be given back.
    ///
    /// # Errors
    /// What the pond answers.
    pub fn collect(&self, unleased_for: Option<Duration>, dry_run: bool) -> Result<Collected> {
        const WHAT: &str = "a collection";
        let body = RequestBody::Collect { unleased_for_ms: unleased_for.map(wait_ms), dry_run };
        match self.core().link.ask(WHAT, body)?.body {
            ReplyBody::Collected { tensors, slabs, slab_bytes } => {
                Ok(Collected { tensors, slabs, slab_bytes })
            }
            _ => Err(not_an_answer(WHAT)),
        }
    }

    fn fill(&self, to: &TensorInfo, source: Source<'_>, told: Told<'_>) -> Result<Transferred> {
        let begun = Instant::now();
        let link = &self.core().link;
        let Source { label, origin } = source;
        let name = shown(to);
        match origin {
            Origin::File { file, begin } => {
                let before = source::extent(&file, begin, &label, &name, to.bytes)?;
                let file = std::os::fd::OwnedFd::from(file);
                let jobs = moves::cut(to.tensor, to.bytes, |offset| MoveWork::Put {
                    file_offset: begin + offset,
                });
                moves::all(link, jobs, Some(&file), to.bytes, told)
                    .map_err(|error| named(error, &label))?;
                source::unchanged(file.into(), before, &label)?;
            }
            Origin::Reader(mut reader) => {
                streams::upload(link, to, &mut *reader, &label, &name, told)?;
            }
            Origin::Tensor(from) => copy(link, &from, to, told)?,
            Origin::Zeroes => {
                let jobs = moves::cut(to.tensor, to.bytes, |_| MoveWork::Zero);
                moves::all(link, jobs, None, to.bytes, told)?;
            }
        }
        Ok(Transferred { bytes: to.bytes, elapsed: begun.elapsed() })
    }
}

/// On one GPU the mover copies; between two the bytes go through memfds.
fn copy(
    link: &std::sync::Arc<crate::link::Link>,
    lease: &Lease,
    to: &TensorInfo,
    told: Told<'_>,
) -> Result<()> {
    let from = lease.info();
    if from.bytes != to.bytes {
        return Err(Error::file(format!(
            "tensor '{}' has {} bytes, tensor '{}' takes {}",
            shown(from),
            from.bytes,
            shown(to),
            to.bytes
        )));
    }
    if from.device == to.device {
        let jobs = moves::cut(to.tensor, to.bytes, |offset| MoveWork::Copy {
            from: from.tensor,
            from_offset: offset,
        });
        return moves::all(link, jobs, None, to.bytes, told);
    }
    let put = |file: &std::os::fd::OwnedFd, offset, bytes| {
        let work = MoveWork::Put { file_offset: 0 };
        moves::one(link, Job { tensor: to.tensor, offset, bytes, work }, Some(file))
    };
    streams::download(link, from.tensor, from.bytes, told, put)
}

/// A mover knows a file only by its descriptor; who passed it knows what it is called.
fn named(error: Error, label: &str) -> Error {
    match error {
        Error::Refused(mut failure) if failure.kind == ErrorKind::File => {
            failure.message = format!("{label}: {}", failure.message);
            Error::Refused(failure)
        }
        other => other,
    }
}

/// How a message calls a tensor.
fn shown(info: &TensorInfo) -> String {
    info.name.as_ref().map_or_else(|| TensorId::to_string(&info.tensor), ToString::to_string)
}
