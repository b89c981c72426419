//! Holds: tensors that are kept for processes without a connection.

use millpond_schema::message as fb;

use super::super::read::{self, DecodeError, Read, uuid_to_id};
use super::{Target, read_target, write_target};
use crate::Token;

/// A hold that is wanted, or given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorHold {
    pub target: Target,
    /// The process that it is for; `None` means nobody in particular.
    pub pid: Option<u32>,
    /// Made by the client, so that a repeat changes nothing.
    pub token: Token,
}

/// A number that a process can have.
fn read_pid(pid: Option<u32>) -> Read<Option<u32>> {
    match pid {
        Some(pid) if pid == 0 || i32::try_from(pid).is_err() => Err(DecodeError::NoProcess(pid)),
        pid => Ok(pid),
    }
}

pub(in super::super) fn write_hold(hold: &TensorHold) -> fb::TensorHold {
    let (name, tensor) = write_target(&hold.target);
    let token = Some(uuid_to_id(hold.token.0));
    fb::TensorHold { name, tensor, node: None, pid: hold.pid, token }
}

pub(in super::super) fn read_hold(hold: fb::TensorHoldRef<'_>) -> Read<TensorHold> {
    Ok(TensorHold {
        target: read_target(hold.name()?, hold.tensor()?, hold.node()?)?,
        pid: read_pid(hold.pid()?)?,
        token: Token(read::uuid("token", hold.token()?)?),
    })
}

pub(in super::super) fn write_unhold(hold: &TensorHold) -> fb::TensorUnhold {
    let (name, tensor) = write_target(&hold.target);
    let token = Some(uuid_to_id(hold.token.0));
    fb::TensorUnhold { name, tensor, node: None, pid: hold.pid, token }
}

pub(in super::super) fn read_unhold(hold: fb::TensorUnholdRef<'_>) -> Read<TensorHold> {
    Ok(TensorHold {
        target: read_target(hold.name()?, hold.tensor()?, hold.node()?)?,
        pid: read_pid(hold.pid()?)?,
        token: Token(read::uuid("token", hold.token()?)?),
    })
}

pub(in super::super) fn write_peek(target: &Target) -> fb::TensorPeek {
    let (name, tensor) = write_target(target);
    fb::TensorPeek { name, tensor, node: None }
}

pub(in super::super) fn read_peek(peek: fb::TensorPeekRef<'_>) -> Read<Target> {
    read_target(peek.name()?, peek.tensor()?, peek.node()?)
}
