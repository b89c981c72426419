//! Holds: tensors that are kept for processes which have no connection to the pond.

use millpond_wire::message::{RequestBody, TensorHold, TensorInfo};
use millpond_wire::{Token, Transport};

use crate::handle::HandleParts;
use crate::target::IntoTarget;
use crate::{Error, Pond, Result, grant};

impl Pond {
    /// Holds a tensor that was made with [`TensorSpec::held`](crate::TensorSpec::held), for the
    /// process `holder` or, with `None`, for nobody in particular. The handle has no lease of this
    /// process: the hold keeps the memory, and lasts when this process ends.
    ///
    /// The hold of a process ends when that process does; `holder` is its number as the pond's daemon
    /// sees it. Where there is no such process, and for nobody in particular, a hold lasts until it
    /// is given up with [`Pond::unhold`] or the tensor is deleted. The same `token` again holds
    /// nothing more, however often the pond restarted meanwhile.
    ///
    /// # Errors
    /// `not_found`, `invalid` for a tensor that was not made to be held, `too_many`,
    /// [`Error::NoHandle`] for memory without a handle, which is not held then, and what else the
    /// pond answers.
    pub fn hold(
        &self,
        target: impl IntoTarget,
        holder: Option<u32>,
        token: Token,
    ) -> Result<HandleParts> {
        const WHAT: &str = "a hold";
        let target = target.into_target()?;
        let hold = TensorHold { target, pid: holder, token };
        let answer = self.core().link.ask(WHAT, RequestBody::TensorHold(hold))?;
        let found = grant::handle(WHAT, answer)?;
        let tensor = found.0.tensor;
        let parts = parts(found);
        if parts.is_err() {
            self.give_up(tensor, holder);
        }
        parts
    }

    /// Gives up one hold of the process `holder`; where it has none, and with `None`, one of nobody
    /// in particular. Returns the tensor as it is afterwards: in state `deleted` with no holds if
    /// that was the last one. The same `token` again gives up nothing more.
    ///
    /// # Errors
    /// `not_found` if there is no such hold, and what else the pond answers.
    pub fn unhold(
        &self,
        target: impl IntoTarget,
        holder: Option<u32>,
        token: Token,
    ) -> Result<TensorInfo> {
        const WHAT: &str = "the end of a hold";
        let target = target.into_target()?;
        let hold = TensorHold { target, pid: holder, token };
        grant::without_lease(WHAT, self.core().link.ask(WHAT, RequestBody::TensorUnhold(hold))?)
    }

    /// The handle of a tensor that was made to be held, without a hold or a lease: for whoever shows
    /// it to others. Somebody else must keep the memory.
    ///
    /// # Errors
    /// As for [`Pond::hold`].
    pub fn peek(&self, target: impl IntoTarget) -> Result<HandleParts> {
        const WHAT: &str = "a request for a handle";
        let body = RequestBody::TensorPeek(target.into_target()?);
        parts(grant::handle(WHAT, self.core().link.ask(WHAT, body)?)?)
    }

    /// A hold that nobody can use.
    pub(crate) fn give_up(&self, target: impl IntoTarget, holder: Option<u32>) {
        if let Err(error) = self.unhold(target, holder, Token::random()) {
            tracing::debug!(%error, "a hold without a handle was not given up");
        }
    }
}

fn parts((info, transport, event): grant::Handed) -> Result<HandleParts> {
    match transport {
        Transport::Ipc(memory) => Ok(HandleParts { memory, event, info }),
        _ => {
            let tensor = crate::tensor::label(&info);
            Err(Error::NoHandle { tensor, transport: info.transport })
        }
    }
}
