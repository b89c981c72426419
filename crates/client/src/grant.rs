//! A lease that was granted: checked before it is believed.

use std::os::fd::OwnedFd;

use millpond_client_core::Lost;
use millpond_wire::message::{ReplyBody, TensorInfo};
use millpond_wire::{LeaseId, Mode};

use crate::answer::{Answer, not_an_answer};
use crate::{Error, Result};

/// What the pond granted.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) info: TensorInfo,
    pub(crate) slab: OwnedFd,
    pub(crate) lost: Lost,
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

/// A tensor with the lease that was asked for, and exactly one descriptor.
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
    grant.backing.supported()?;
    let count = answer.fds.len();
    let (Some(slab), 1) = (answer.fds.into_iter().next(), count) else {
        return Err(Error::Protocol(format!("{count} descriptors came with a lease, not one")));
    };
    consistent(&grant.info)?;
    Ok(Grant { info: grant.info, slab, lost })
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
