//! Numbers that stand for words. Zero is always the default, so that a struct of zeroes means nothing special.

use millpond::{Audience, Dtype, Mode, TransportKind};

use crate::border::Answer;
use crate::failure::Failure;

/// As they cross the border: any number may come from C.
pub type DtypeNumber = u32;
/// See [`millpond_mode`].
pub type ModeNumber = u32;
/// See [`millpond_audience`].
pub type AudienceNumber = u32;
/// See [`millpond_transport`].
pub type TransportNumber = u32;
/// See [`millpond_tensor_state`].
pub type TensorStateNumber = u32;
/// See [`millpond_survives`].
pub type SurvivesNumber = u32;
/// See [`millpond_door`].
pub type DoorNumber = u32;
/// See [`millpond_remedy`].
pub type RemedyNumber = u32;

/// The type of a tensor's elements. The names are those of safetensors.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum millpond_dtype {
    /// Truth value in one byte.
    MILLPOND_DTYPE_BOOL = 1,
    /// Four-bit float, two to a byte.
    MILLPOND_DTYPE_F4 = 2,
    /// Six-bit float, packed.
    MILLPOND_DTYPE_F6_E2M3 = 3,
    /// Six-bit float, packed.
    MILLPOND_DTYPE_F6_E3M2 = 4,
    /// Unsigned byte.
    MILLPOND_DTYPE_U8 = 5,
    /// Signed byte.
    MILLPOND_DTYPE_I8 = 6,
    /// Eight-bit float, five exponent bits.
    MILLPOND_DTYPE_F8_E5M2 = 7,
    /// Eight-bit float, four exponent bits.
    MILLPOND_DTYPE_F8_E4M3 = 8,
    /// Eight-bit exponent, for block scales.
    MILLPOND_DTYPE_F8_E8M0 = 9,
    /// Eight-bit float, four exponent bits, no negative zero.
    MILLPOND_DTYPE_F8_E4M3FNUZ = 10,
    /// Eight-bit float, five exponent bits, no negative zero.
    MILLPOND_DTYPE_F8_E5M2FNUZ = 11,
    /// Signed, 16 bits.
    MILLPOND_DTYPE_I16 = 12,
    /// Unsigned, 16 bits.
    MILLPOND_DTYPE_U16 = 13,
    /// IEEE half precision.
    MILLPOND_DTYPE_F16 = 14,
    /// Brain float.
    MILLPOND_DTYPE_BF16 = 15,
    /// Signed, 32 bits.
    MILLPOND_DTYPE_I32 = 16,
    /// Unsigned, 32 bits.
    MILLPOND_DTYPE_U32 = 17,
    /// IEEE single precision.
    MILLPOND_DTYPE_F32 = 18,
    /// Complex of two single-precision parts.
    MILLPOND_DTYPE_C64 = 19,
    /// IEEE double precision.
    MILLPOND_DTYPE_F64 = 20,
    /// Signed, 64 bits.
    MILLPOND_DTYPE_I64 = 21,
    /// Unsigned, 64 bits.
    MILLPOND_DTYPE_U64 = 22,
}

/// How a tensor is mapped. Zero is read-only.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum millpond_mode {
    /// Read-only: a write through it is an error of the device.
    MILLPOND_MODE_READ_ONLY = 1,
    /// Readable and writable.
    MILLPOND_MODE_READ_WRITE = 2,
}

/// With whom something is shared. Zero is the owner's user.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum millpond_audience {
    /// Its owner's user only.
    MILLPOND_AUDIENCE_USER = 1,
    /// Members of its owner's primary group.
    MILLPOND_AUDIENCE_GROUP = 2,
    /// Every user of the tenant.
    MILLPOND_AUDIENCE_EVERYBODY = 3,
}

/// How other processes reach memory. Zero is `vmm`.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum millpond_transport {
    /// Virtual memory management: a descriptor for each allocation. Survives every process.
    MILLPOND_TRANSPORT_VMM = 1,
    /// A memory pool of the driver, with one allocation in it.
    MILLPOND_TRANSPORT_MEMPOOL = 2,
    /// A legacy IPC handle of 64 bytes, which programs open with CUDA alone.
    MILLPOND_TRANSPORT_IPC = 3,
    /// A handle for the GPUs of other nodes.
    MILLPOND_TRANSPORT_FABRIC = 4,
}

/// Where a tensor is in its life.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum millpond_tensor_state {
    /// Its creator has not published it yet.
    MILLPOND_TENSOR_WRITING = 1,
    /// Published: readers may have it.
    MILLPOND_TENSOR_READY = 2,
    /// Deleted, and kept only for the leases that are left.
    MILLPOND_TENSOR_DELETED = 3,
    /// The process that kept its memory is gone; what is left is what readers have.
    MILLPOND_TENSOR_ORPHAN = 4,
}

/// What memory survives.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum millpond_survives {
    /// The end of every process but keeper and daemon together.
    MILLPOND_SURVIVES_EVERYTHING = 1,
    /// Everything but the end of the process that hosts it.
    MILLPOND_SURVIVES_HOST = 2,
    /// Everything but the end of the process that announced it.
    MILLPOND_SURVIVES_OWNER = 3,
}

/// Which of a pond's sockets is used.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum millpond_door {
    /// The one for all users.
    MILLPOND_DOOR_USERS = 0,
    /// Everything of all users is seen there, and whatever would change, map or keep something is refused. Open to root, to the user who runs the pond and to the members of its `watch_group`.
    MILLPOND_DOOR_WATCH = 1,
    /// Every tensor can be seen and deleted there, and no cap on users holds. Open to root and to the user who runs the pond.
    MILLPOND_DOOR_OPERATOR = 2,
}

/// What can be done about a failure.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum millpond_remedy {
    /// Nothing has failed.
    MILLPOND_REMEDY_NONE = 0,
    /// Ask for something else: the request can never succeed as it is.
    MILLPOND_REMEDY_CHANGE = 1,
    /// Repeat the same request after a moment.
    MILLPOND_REMEDY_RETRY = 2,
    /// Free something, or raise a limit, and repeat.
    MILLPOND_REMEDY_FREE = 3,
    /// Tell the operator: the pond or the machine is not well.
    MILLPOND_REMEDY_OPERATOR = 4,
}

fn unknown(what: &str, number: u32) -> Failure {
    Failure::invalid(format!("{number} is no {what}"))
}

pub(crate) fn dtype(number: DtypeNumber) -> Answer<Dtype> {
    let found = u8::try_from(number).ok().and_then(Dtype::from_code);
    found.ok_or_else(|| unknown("millpond_dtype", number))
}

pub(crate) fn mode(number: ModeNumber) -> Answer<Mode> {
    match number {
        0 => Ok(Mode::ReadOnly),
        _ => u8::try_from(number)
            .ok()
            .and_then(Mode::from_code)
            .ok_or_else(|| unknown("millpond_mode", number)),
    }
}

pub(crate) fn audience(number: AudienceNumber) -> Answer<Audience> {
    match number {
        0 => Ok(Audience::User),
        _ => u8::try_from(number)
            .ok()
            .and_then(Audience::from_code)
            .ok_or_else(|| unknown("millpond_audience", number)),
    }
}

pub(crate) fn transport(number: TransportNumber) -> Answer<TransportKind> {
    match number {
        0 => Ok(TransportKind::Vmm),
        _ => u8::try_from(number)
            .ok()
            .and_then(TransportKind::from_code)
            .ok_or_else(|| unknown("millpond_transport", number)),
    }
}
