//! A lease that was granted: checked before it is believed.

use std::os::fd::OwnedFd;

use millpond_client_core::Lost;
use millpond_wire::message::{ReplyBody, TensorInfo};
use millpond_wire::{LeaseId, Mode, Transport};

use crate::answer::{Answer, not_an_answer};
use crate::slab_map::{Handle, Reach};
use crate::{Error, Result};

/// What the pond granted.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) info: TensorInfo,
    pub(crate) lost: Lost,
    pub(crate) reach: Reach,
    /// Of the event that carries order between processes.
    pub(crate) event: Option<Handle>,
}

/// A tensor without a lease, and without descriptors.
pub(crate) fn without_lease(what: &'static str, answer: Answer) -> Result<TensorInfo> {
    let ReplyBody::Tensor(grant) = answer.body else { return Err(not_an_answer(what)) };
    if grant.lease.is_some() || !answer.fds.is_empty() {
        return Err(Error::Protocol(format!(
            "its answer to {what} has a lease that was not requested"
        )));
    }
    consistent(&grant.info)?;
    Ok(grant.info)
}

/// A tensor, how its memory is reached, and its event.
pub(crate) type Handed = (TensorInfo, Transport, Option<Handle>);

/// What opens a tensor's memory in other programs, without a lease.
pub(crate) fn handle(what: &'static str, answer: Answer) -> Result<Handed> {
    let ReplyBody::Tensor(grant) = &answer.body else { return Err(not_an_answer(what)) };
    let (transport, event) = (grant.backing.transport, grant.event);
    Ok((without_lease(what, answer)?, transport, event))
}

/// A tensor with the lease that was asked for, and what its memory is reached by.
pub(crate) fn with_lease(
    what: &'static str,
    answer: Answer,
    lease: LeaseId,
    mode: Mode,
) -> Result<Grant> {
    let ReplyBody::Tensor(grant) = answer.body else { return Err(not_an_answer(what)) };
    let granted = grant.lease.map(|(lease, mode, _)| (lease, mode));
    let (Some(lost), true) = (answer.lost, granted == Some((lease, mode))) else {
        return Err(Error::Protocol(format!("its answer to {what} lacks the requested lease")));
    };
    let reach = reach(grant.backing.transport, answer.fds)?;
    consistent(&grant.info)?;
    Ok(Grant { info: grant.info, lost, reach, event: grant.event })
}

/// Exactly one descriptor where the transport has one, and else none.
fn reach(transport: Transport, fds: Vec<OwnedFd>) -> Result<Reach> {
    let count = fds.len();
    match (transport, fds.into_iter().next(), count) {
        (Transport::Vmm, Some(fd), 1) => Ok(Reach::Vmm(fd)),
        (Transport::Mempool(data), Some(fd), 1) => Ok(Reach::Mempool(fd, data)),
        (Transport::Ipc(handle), None, 0) => Ok(Reach::Ipc(handle)),
        (transport, _, _) => {
            let expected = if transport.has_descriptor() { "one" } else { "none" };
            Err(Error::Protocol(format!(
                "{count} descriptors came with a lease on memory of the transport '{}', not {expected}",
                transport.name()
            )))
        }
    }
}

/// Whether a tensor has the size of its shape and lies inside its slab: addresses are made from
/// these numbers.
fn consistent(info: &TensorInfo) -> Result<()> {
    let end = info.offset.checked_add(info.bytes);
    let inside = end.is_some_and(|end| end <= info.slab_bytes);
    if inside && info.shape.bytes(info.dtype) == Ok(info.bytes) {
        return Ok(());
    }
    Err(Error::Protocol(format!(
        "tensor {} of {} {} has {} bytes at offset {} of a slab of {}",
        info.tensor, info.dtype, info.shape, info.bytes, info.offset, info.slab_bytes
    )))
}
