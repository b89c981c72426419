//! Holds, and the requests that changed them.

use millpond_schema::record as fb;
use planus::{Builder, ReadAsRoot};

use super::{Read, id, uuid};
use crate::message::{self, TensorInfo, record_id_to_uuid};
use crate::{TensorId, Token, caps};

/// The holds of one user for one process on one tensor, from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldRecord {
    pub tensor: TensorId,
    /// `None`: for nobody in particular.
    pub process: Option<HolderProcess>,
    pub user: u32,
    pub count: u64,
    /// The request that changed it, if one did.
    pub told: Option<HoldTold>,
}

/// A process that tensors are held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HolderProcess {
    pub pid: u32,
    /// In ticks since the machine's start; `None` where there was no such process.
    pub started: Option<u64>,
}

/// A request about holds that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldTold {
    /// Who asked.
    pub user: u32,
    pub token: Token,
    pub tensor: TensorId,
    /// What a request that gave a hold up was answered: the tensor may be gone when it is asked
    /// again.
    pub answer: Option<Box<TensorInfo>>,
    /// Of a create: the identity that it chose, which the tensor has if it was made.
    pub create: Option<TensorId>,
}

pub(super) fn write_changed(hold: &HoldRecord) -> fb::HoldChanged {
    fb::HoldChanged {
        tensor: id(hold.tensor.0),
        pid: hold.process.map_or(0, |process| process.pid),
        started: hold.process.and_then(|process| process.started),
        user: hold.user,
        count: hold.count,
        told: hold.told.as_ref().map(|told| Box::new(write_told(told))),
    }
}

pub(super) fn read_changed(hold: fb::HoldChangedRef<'_>) -> Read<HoldRecord> {
    let (pid, started) = (hold.pid()?, hold.started()?);
    Ok(HoldRecord {
        tensor: TensorId(uuid("tensor", hold.tensor()?)?),
        process: (pid != 0).then_some(HolderProcess { pid, started }),
        user: hold.user()?,
        count: hold.count()?,
        told: hold.told()?.map(read_told).transpose()?,
    })
}

pub(super) fn write_told(told: &HoldTold) -> fb::HoldTold {
    let info = |info: &TensorInfo| {
        let mut builder = Builder::new();
        builder.finish(message::write_info(info), None).to_vec()
    };
    fb::HoldTold {
        user: told.user,
        token: id(told.token.0),
        tensor: id(told.tensor.0),
        answer: told.answer.as_deref().map(info),
        create: told.create.and_then(|tensor| id(tensor.0)),
    }
}

pub(super) fn read_told(told: fb::HoldToldRef<'_>) -> Read<HoldTold> {
    let answer = match told.answer()? {
        Some(bytes) => {
            message::at_most("answer", bytes.len(), caps::MESSAGE_BYTES)?;
            let info = millpond_schema::message::TensorInfoRef::read_as_root(bytes)?;
            Some(Box::new(message::read_info(info)?))
        }
        None => None,
    };
    Ok(HoldTold {
        user: told.user()?,
        token: Token(uuid("token", told.token()?)?),
        tensor: TensorId(uuid("tensor", told.tensor()?)?),
        answer,
        create: told.create()?.map(|id| TensorId(record_id_to_uuid(id))),
    })
}
