//! What the host says.

use millpond_channel::{Frame, Reader, Writer};
use millpond_wire::{Epoch, HANDLE_BYTES, SlabId};

use super::{ChannelError, FROM_HOST_BYTES, HOLDINGS_PER_MESSAGE, VERSIONS};

/// The bytes of a legacy IPC handle, of memory or of an event.
pub type Handle = [u8; HANDLE_BYTES];

/// In the place of an event's handle where the driver shares no events between processes.
pub const NO_EVENT: Handle = [0; HANDLE_BYTES];

/// What a host says to its daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromHost {
    /// The answer to `Start`: the context is there.
    Ready {
        /// What NVML says that this process uses of the GPU, with a context and nothing else; 0 if it
        /// does not say.
        context_bytes: u64,
    },
    /// The other answer to `Start` and `Hello`: no driver, no such GPU, no context, no version in
    /// common. A host that holds nothing exits.
    Failed { text: String },
    /// The answer to `Hello`, or a part of it.
    Holds {
        /// That of the `Hello`.
        epoch: Epoch,
        /// At most [`HOLDINGS_PER_MESSAGE`].
        held: Vec<Holding>,
    },
    /// The end of that answer: there is nothing else.
    HoldsEnd {
        /// That of the `Hello`.
        epoch: Epoch,
        /// Whether this host allocates nothing any more.
        sealed: bool,
        /// As in `Ready`.
        context_bytes: u64,
    },
    /// The slab is there.
    Allocated {
        slab: SlabId,
        /// Opens the memory.
        memory: Handle,
        /// Opens the event that belongs to it; or [`NO_EVENT`].
        event: Handle,
    },
    /// The slab is not there.
    NotAllocated { slab: SlabId, why: Why, text: String },
    /// The slab is not there any more. Also the answer for one that never was.
    Freed { slab: SlabId },
}

/// A slab that a host has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    pub slab: SlabId,
    pub bytes: u64,
    /// Opens the memory.
    pub memory: Handle,
    /// Opens the event that belongs to it; or [`NO_EVENT`].
    pub event: Handle,
}

/// A holding on the channel: a slab, its size, two handles.
pub(super) const HOLDING_BYTES: usize = 16 + 8 + 2 * HANDLE_BYTES;

/// Why there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The GPU has no room.
    OutOfMemory,
    /// This host has freed something, and allocates nothing any more.
    Sealed,
    /// The slab is there, with another size.
    Exists,
    /// The driver, in another way.
    Driver,
    /// No slab has this size.
    Size,
}

mod kind {
    pub const READY: u8 = 32;
    pub const FAILED: u8 = 33;
    pub const HOLDS: u8 = 34;
    pub const HOLDS_END: u8 = 35;
    pub const ALLOCATED: u8 = 36;
    pub const NOT_ALLOCATED: u8 = 37;
    pub const FREED: u8 = 38;
}

impl Why {
    /// All of them; the place is the number on the channel.
    pub(super) const ALL: [Why; 5] =
        [Why::OutOfMemory, Why::Sealed, Why::Exists, Why::Driver, Why::Size];

    fn number(self) -> u8 {
        let place = Why::ALL.iter().position(|why| *why == self);
        place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Why, ChannelError> {
        let why = Why::ALL.get(usize::from(reader.u8()?)).copied();
        why.ok_or(ChannelError::Malformed("unknown reason"))
    }
}

impl Holding {
    fn write(&self, writer: Writer) -> Writer {
        writer.slab(self.slab).u64(self.bytes).raw(&self.memory).raw(&self.event)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Holding, ChannelError> {
        let (slab, bytes) = (reader.slab()?, reader.u64()?);
        Ok(Holding { slab, bytes, memory: reader.array()?, event: reader.array()? })
    }
}

/// A yes or no.
pub(super) fn flag(reader: &mut Reader<'_>) -> Result<bool, ChannelError> {
    match reader.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(ChannelError::Malformed("a flag is neither 0 nor 1")),
    }
}

impl FromHost {
    /// The bytes of this message. A text is cut at 4096 bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            FromHost::Ready { context_bytes } => {
                Writer::new(kind::READY).u32(VERSIONS.newest).u64(*context_bytes).bytes()
            }
            FromHost::Failed { text } => Writer::new(kind::FAILED).cut_text(text).bytes(),
            FromHost::Holds { epoch, held } => {
                let writer = Writer::new(kind::HOLDS).u64(epoch.0).count(held.len());
                held.iter().fold(writer, |writer, holding| holding.write(writer)).bytes()
            }
            FromHost::HoldsEnd { epoch, sealed, context_bytes } => {
                let writer = Writer::new(kind::HOLDS_END).u32(VERSIONS.newest).u64(epoch.0);
                writer.u8(u8::from(*sealed)).u64(*context_bytes).bytes()
            }
            FromHost::Allocated { slab, memory, event } => {
                Writer::new(kind::ALLOCATED).slab(*slab).raw(memory).raw(event).bytes()
            }
            FromHost::NotAllocated { slab, why, text } => {
                let writer = Writer::new(kind::NOT_ALLOCATED).slab(*slab).u8(why.number());
                writer.cut_text(text).bytes()
            }
            FromHost::Freed { slab } => Writer::new(kind::FREED).slab(*slab).bytes(),
        }
    }

    /// Reads a message completely.
    ///
    /// # Errors
    /// [`ChannelError::Malformed`], or [`ChannelError::Version`] for `Ready` and `HoldsEnd`.
    pub fn decode(bytes: &[u8]) -> Result<FromHost, ChannelError> {
        let mut reader = Reader::new(bytes);
        let message = match reader.u8()? {
            kind::READY => {
                VERSIONS.check(reader.u32()?)?;
                FromHost::Ready { context_bytes: reader.u64()? }
            }
            kind::FAILED => FromHost::Failed { text: reader.text()? },
            kind::HOLDS => {
                let (epoch, count) = (reader.epoch()?, reader.count()?);
                if count > HOLDINGS_PER_MESSAGE {
                    return Err(ChannelError::Malformed("more holdings than fit a message"));
                }
                let held = (0..count).map(|_| Holding::read(&mut reader));
                FromHost::Holds { epoch, held: held.collect::<Result<_, _>>()? }
            }
            kind::HOLDS_END => {
                VERSIONS.check(reader.u32()?)?;
                let (epoch, sealed) = (reader.epoch()?, flag(&mut reader)?);
                FromHost::HoldsEnd { epoch, sealed, context_bytes: reader.u64()? }
            }
            kind::ALLOCATED => {
                let (slab, memory) = (reader.slab()?, reader.array()?);
                FromHost::Allocated { slab, memory, event: reader.array()? }
            }
            kind::NOT_ALLOCATED => {
                let (slab, why) = (reader.slab()?, Why::read(&mut reader)?);
                FromHost::NotAllocated { slab, why, text: reader.text()? }
            }
            kind::FREED => FromHost::Freed { slab: reader.slab()? },
            _ => return Err(ChannelError::Malformed("unknown kind")),
        };
        reader.end(message)
    }
}

impl Frame for FromHost {
    const MAX_BYTES: usize = FROM_HOST_BYTES;

    fn fds(&self) -> usize {
        0
    }

    fn to_bytes(&self) -> Result<Vec<u8>, ChannelError> {
        match self {
            FromHost::Holds { held, .. } if held.len() > HOLDINGS_PER_MESSAGE => {
                Err(ChannelError::Malformed("more holdings than fit a message"))
            }
            message => Ok(message.encode()),
        }
    }

    fn from_bytes(bytes: &[u8]) -> Result<FromHost, ChannelError> {
        FromHost::decode(bytes)
    }
}
