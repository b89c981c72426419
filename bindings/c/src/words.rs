//! Numbers that stand for words. Zero is always the default, so that a struct of zeroes means nothing special.

#![allow(
    dead_code,
    reason = "the enums are the header's; from C any number may come, so functions take numbers"
)]

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
/// See [`millpond_place`].
pub type PlaceNumber = u32;
/// See [`millpond_version_state`].
pub type VersionStateNumber = u32;
/// See [`millpond_event_kind`].
pub type EventKindNumber = u32;
/// See [`millpond_load_phase`].
pub type LoadPhaseNumber = u32;
/// See [`millpond_limit_kind`].
pub type LimitKindNumber = u32;
/// See [`millpond_offer`].
pub type OfferNumber = u32;

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
    /// Everything of all users is seen there, and whatever would change, map or keep something is refused. Open to
    /// root, to the user who runs the pond and to the members of its `watch_group`.
    MILLPOND_DOOR_WATCH = 1,
    /// Every tensor can be seen and deleted there, and no cap on users holds. Open to root and to the user who runs
    /// the pond.
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

/// A kind of source or sink.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum millpond_place {
    /// A file by its path.
    MILLPOND_PLACE_PATH = 1,
    /// A descriptor that is open: a file, a pipe or a socket.
    MILLPOND_PLACE_FD = 2,
    /// This machine's memory.
    MILLPOND_PLACE_MEMORY = 3,
    /// Zeroes; for sources only.
    MILLPOND_PLACE_ZEROES = 4,
    /// Another tensor of the pond; for sources only.
    MILLPOND_PLACE_TENSOR = 5,
}

/// Where a version of a model is in its life.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum millpond_version_state {
    /// Its bytes are being written; only the process that stages it has it.
    MILLPOND_VERSION_STATE_STAGING = 1,
    /// Complete: readers may have it.
    MILLPOND_VERSION_STATE_READY = 2,
    /// Kept only for the readers that are left.
    MILLPOND_VERSION_STATE_DRAINING = 3,
}

/// What happened.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum millpond_event_kind {
    /// A tensor was made.
    MILLPOND_EVENT_TENSOR_CREATED = 1,
    /// A tensor was published.
    MILLPOND_EVENT_TENSOR_PUBLISHED = 2,
    /// A tensor was deleted; leases may be left.
    MILLPOND_EVENT_TENSOR_DELETED = 3,
    /// A tensor's memory was given back.
    MILLPOND_EVENT_TENSOR_FREED = 4,
    /// A client holds something for the first time.
    MILLPOND_EVENT_CLIENT_CONNECTED = 5,
    /// A client hung up but lives.
    MILLPOND_EVENT_CLIENT_SILENT = 6,
    /// A client that held something said goodbye, or its process is gone.
    MILLPOND_EVENT_CLIENT_GONE = 7,
    /// A daemon has recovered the pond.
    MILLPOND_EVENT_RECOVERED = 8,
    /// The pond is shutting down.
    MILLPOND_EVENT_DRAINING = 9,
    /// The keeper was replaced.
    MILLPOND_EVENT_KEEPER_REPLACED = 10,
    /// Events are missing before this one: the subscriber was slow, or came late.
    MILLPOND_EVENT_GAP = 11,
    /// A mover was started.
    MILLPOND_EVENT_MOVER_STARTED = 12,
    /// A mover had nothing to do for a while and was ended.
    MILLPOND_EVENT_MOVER_STOPPED = 13,
    /// A mover died or hung; another takes its place.
    MILLPOND_EVENT_MOVER_LOST = 14,
    /// Somebody reached a limit.
    MILLPOND_EVENT_LIMIT_REACHED = 15,
    /// Another daemon takes over.
    MILLPOND_EVENT_UPGRADING = 16,
    /// Memory that nobody used was given back.
    MILLPOND_EVENT_COLLECTED = 17,
    /// A version of a model was begun.
    MILLPOND_EVENT_VERSION_STAGED = 18,
    /// A version is complete.
    MILLPOND_EVENT_VERSION_READY = 19,
    /// Another version of a model is current.
    MILLPOND_EVENT_MODEL_SWAPPED = 20,
    /// A version takes no new readers.
    MILLPOND_EVENT_VERSION_DRAINING = 21,
    /// A version's last reader has left, or it was given up.
    MILLPOND_EVENT_VERSION_GONE = 22,
    /// A group was made or changed.
    MILLPOND_EVENT_GROUP_SET = 23,
    /// A group's limit is below what it holds; the text says who holds most.
    MILLPOND_EVENT_GROUP_OVER = 24,
    /// Members of a group hold more than they say.
    MILLPOND_EVENT_GROUP_LYING = 25,
    /// Somebody keeps a group's lock for longer than anybody needs it.
    MILLPOND_EVENT_GROUP_STUCK = 26,
    /// A group was removed, or its last process ended.
    MILLPOND_EVENT_GROUP_GONE = 27,
    /// A tensor or a model has another name.
    MILLPOND_EVENT_RENAMED = 28,
    /// A model of the configuration could not be loaded.
    MILLPOND_EVENT_START_FAILED = 29,
    /// A process has a cache in a group.
    MILLPOND_EVENT_CACHE_OPENED = 30,
    /// A cache was closed, or its process is gone.
    MILLPOND_EVENT_CACHE_CLOSED = 31,
    /// A cache was asked to give pages back; the text says how many, for whom, and why.
    MILLPOND_EVENT_CACHE_PRESSED = 32,
    /// A cache gave pages back.
    MILLPOND_EVENT_CACHE_GAVE = 33,
    /// A cache got what it had waited for.
    MILLPOND_EVENT_CACHE_GOT = 34,
    /// A process that did not answer when pages were asked of it was ended.
    MILLPOND_EVENT_CACHE_ENDED = 35,
    /// A process that owns memory with legacy handles was started.
    MILLPOND_EVENT_HOST_STARTED = 36,
    /// A host had nothing left to keep and was ended.
    MILLPOND_EVENT_HOST_STOPPED = 37,
    /// A host died; what it kept is what readers still map.
    MILLPOND_EVENT_HOST_LOST = 38,
    /// Memory of another program became a tensor.
    MILLPOND_EVENT_TENSOR_ADOPTED = 39,
    /// The process that kept a tensor's memory is gone.
    MILLPOND_EVENT_TENSOR_ORPHANED = 40,
    /// Holds ended because their process is gone.
    MILLPOND_EVENT_HOLD_ENDED = 41,
}

/// What a load is doing.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum millpond_load_phase {
    /// Files are opened and their headers checked; tensors that are said to be tied are compared.
    MILLPOND_LOAD_CHECKING = 1,
    /// Files are compared with the version that this one is like.
    MILLPOND_LOAD_HASHING = 2,
    /// Bytes go to the GPU.
    MILLPOND_LOAD_LOADING = 3,
}

/// How a limit is given.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum millpond_limit_kind {
    /// Not given: what there is stays.
    MILLPOND_LIMIT_NONE = 0,
    /// A number of bytes.
    MILLPOND_LIMIT_BYTES = 1,
    /// Thousandths of the card's memory.
    MILLPOND_LIMIT_PERMILLE = 2,
    /// No limit.
    MILLPOND_LIMIT_UNLIMITED = 3,
}

/// What a program answers when pages are wanted back.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum millpond_offer {
    /// Nothing.
    MILLPOND_OFFER_NOTHING = 0,
    /// It has uncommitted what it can, in the call.
    MILLPOND_OFFER_NOW = 1,
    /// It will uncommit something soon, before the time is over.
    MILLPOND_OFFER_SOON = 2,
}

impl millpond_place {
    /// The kind with this number.
    pub(crate) fn of(number: PlaceNumber) -> Answer<Self> {
        use millpond_place::*;
        [
            MILLPOND_PLACE_PATH,
            MILLPOND_PLACE_FD,
            MILLPOND_PLACE_MEMORY,
            MILLPOND_PLACE_ZEROES,
            MILLPOND_PLACE_TENSOR,
        ]
        .into_iter()
        .find(|place| *place as u32 == number)
        .ok_or_else(|| unknown("millpond_place", number))
    }
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

#[cfg(test)]
mod tests {
    use millpond::{EventKind, Survives, TensorState, VersionState};

    use super::*;

    /// The enum of the header as it is written in this file: its constants without the prefix, in lower case, with
    /// their numbers.
    fn written(name: &str, prefix: &str) -> Vec<(String, u32)> {
        let source = include_str!("words.rs");
        let body = source.split(&format!("pub enum {name} {{")).nth(1).unwrap();
        let body = body.split("\n}").next().unwrap();
        let constants =
            body.lines().filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "));
        constants
            .map(|(name, number)| {
                let name = name.strip_prefix(prefix).unwrap().to_lowercase();
                (name, number.parse().unwrap())
            })
            .collect()
    }

    macro_rules! same {
        ($name:literal, $prefix:literal, $known:ty) => {
            let known: Vec<(String, u32)> = <$known>::ALL
                .iter()
                .map(|one| (one.name().to_lowercase(), u32::from(one.code())))
                .collect();
            assert_eq!(written($name, $prefix), known);
        };
    }

    #[test]
    fn the_enums_are_the_tables_of_the_wire() {
        same!("millpond_dtype", "MILLPOND_DTYPE_", Dtype);
        same!("millpond_transport", "MILLPOND_TRANSPORT_", TransportKind);
        same!("millpond_audience", "MILLPOND_AUDIENCE_", Audience);
        same!("millpond_tensor_state", "MILLPOND_TENSOR_", TensorState);
        same!("millpond_survives", "MILLPOND_SURVIVES_", Survives);
        same!("millpond_version_state", "MILLPOND_VERSION_STATE_", VersionState);
        same!("millpond_event_kind", "MILLPOND_EVENT_", EventKind);
        let modes: Vec<u32> = Mode::ALL.iter().map(|mode| u32::from(mode.code())).collect();
        let written: Vec<u32> = written("millpond_mode", "MILLPOND_MODE_")
            .into_iter()
            .map(|(_, number)| number)
            .collect();
        assert_eq!(written, modes);
    }

    #[test]
    fn zero_is_the_default_and_what_is_no_number_of_the_enum_is_refused() {
        assert_eq!(mode(0).unwrap(), Mode::ReadOnly);
        assert_eq!(audience(0).unwrap(), Audience::User);
        assert_eq!(transport(0).unwrap(), TransportKind::Vmm);
        assert_eq!(mode(2).unwrap(), Mode::ReadWrite);
        for wrong in [99, 256, 257, u32::MAX] {
            assert!(mode(wrong).is_err() && audience(wrong).is_err() && transport(wrong).is_err());
            assert!(dtype(wrong).is_err() && millpond_place::of(wrong).is_err());
        }
        assert!(dtype(0).is_err());
    }
}
