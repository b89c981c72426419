//! A lease on a tensor that is not mapped.

use std::fmt;
use std::os::fd::OwnedFd;
use std::time::Instant;

use millpond_wire::message::{MoveWork, RequestBody, TensorGet, TensorInfo};
use millpond_wire::{LeaseId, Mode};

use super::moves::{self, Landed};
use super::sink::{self, Place};
use super::{Progress, Sink, Transferred, streams};
use crate::answer::Answer;
use crate::lease_guard::LeaseGuard;
use crate::link::Ask;
use crate::spec::wait_ms;
use crate::{Error, GetOptions, IntoTarget, Pond, Result, TensorSpec, grant, process};

/// A tensor that is kept for this process without being mapped, from [`Pond::lease`]. It needs no
/// driver. Whoever replaces or deletes the tensor does not disturb it.
pub struct Lease {
    guard: LeaseGuard,
    /// Its connection ends when the last of these is gone.
    _pond: Pond,
    info: TensorInfo,
}

impl Pond {
    /// Takes a lease on a published tensor without mapping it.
    ///
    /// # Errors
    /// `not_found`, `not_ready`, `timeout` after the wait, and what else the pond answers.
    pub fn lease(&self, target: impl IntoTarget, options: GetOptions) -> Result<Lease> {
        const WHAT: &str = "a request for a tensor";
        let target = target.into_target()?;
        let link = &self.core().link;
        let lease = link.new_lease();
        let GetOptions { mode, wait } = options;
        let body =
            RequestBody::TensorGet(TensorGet { target, lease, mode, wait_ms: wait_ms(wait) });
        let until = Instant::now().checked_add(wait);
        let deadline = until.and_then(|until| until.checked_add(link.config.request_timeout));
        let answer = link.call(
            Ask {
                what: WHAT,
                body,
                lease: Some(lease),
                deadline: deadline.filter(|_| !options.waits_for_ever()),
                waits_until: until,
            },
            None,
        )?;
        self.leased(WHAT, answer, lease, mode)
    }

    /// Makes a tensor with a lease on it, and maps nothing. While it is filled nobody else has
    /// one, and without any its time without a lease would run.
    pub(super) fn reserve_leased(&self, spec: TensorSpec) -> Result<Lease> {
        const WHAT: &str = "a tensor's creation";
        let link = &self.core().link;
        let lease = link.new_lease();
        let body = RequestBody::TensorCreate(spec.into_request(Some(lease))?);
        let deadline = Instant::now().checked_add(link.config.request_timeout);
        let ask = Ask { what: WHAT, body, lease: Some(lease), deadline, waits_until: None };
        let answer = link.call(ask, None)?;
        self.leased(WHAT, answer, lease, Mode::ReadWrite)
    }

    fn leased(
        &self,
        what: &'static str,
        answer: Answer,
        lease: LeaseId,
        mode: Mode,
    ) -> Result<Lease> {
        let guard = LeaseGuard::keep(&self.core().link, lease)?;
        let info = grant::with_lease(what, answer, lease, mode)?.info;
        Ok(Lease { guard, _pond: self.clone(), info })
    }
}

impl Lease {
    /// The tensor, as it was when the lease was taken.
    #[must_use]
    pub fn info(&self) -> &TensorInfo {
        &self.info
    }

    /// Gives up a tensor without a name that was made with this lease: it is deleted when the lease
    /// goes back. A pond that is gone is not waited for; it is told when it comes back.
    pub(super) fn abandon(self) {
        self.guard.abandon(self.info.tensor);
    }

    /// Writes the tensor's bytes out.
    ///
    /// # Errors
    /// `file` if the sink cannot be written; `mover`; what else the pond answers.
    pub fn save_to(
        &self,
        sink: Sink<'_>,
        mut progress: impl FnMut(Progress),
    ) -> Result<Transferred> {
        let owner = self.guard.owner();
        if owner != process::current() {
            let tensor = super::shown(&self.info);
            return Err(Error::Forked { tensor, owner });
        }
        let begun = Instant::now();
        let (tensor, bytes) = (self.info.tensor, self.info.bytes);
        let Sink { label, place } = sink;
        match place {
            Place::File { file, begin } => {
                sink::make_room(&file, begin, bytes, &label)?;
                let jobs = moves::cut(tensor, bytes, |offset| MoveWork::Get {
                    file_offset: begin + offset,
                });
                let file = OwnedFd::from(file);
                moves::all(self.guard.link(), jobs, Some(&file), bytes, &mut progress)
                    .map_err(|error| super::named(error, &label))?;
                // Whoever writes on finds itself behind the tensor.
                rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(begin + bytes))
                    .map_err(|errno| Error::in_file(&label, &errno.into()))?;
            }
            Place::Writer(mut writer) => {
                let out = |file: &OwnedFd, _, bytes| {
                    streams::write_out(file, bytes, &mut *writer, &label)?;
                    Ok(Landed::Cleanly)
                };
                streams::download(self.guard.link(), tensor, bytes, &mut progress, out)?;
                writer
                    .flush()
                    .map_err(|error| Error::in_file(format_args!("writing {label}"), &error))?;
            }
        }
        Ok(Transferred { bytes, elapsed: begun.elapsed() })
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("lease", &self.guard.lease())
            .field("info", &self.info)
            .finish()
    }
}
