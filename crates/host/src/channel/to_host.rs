//! What the daemon says.

use millpond_channel::version::Versions;
use millpond_channel::{Frame, Reader, Writer};
use millpond_wire::{Epoch, GpuUuid, SlabId};

use super::{ChannelError, TO_HOST_BYTES, VERSIONS};

/// What the size of a slab is a multiple of. The driver puts smaller allocations together into one
/// block of this size, and a handle opens the whole block.
pub const SLAB_UNIT_BYTES: u64 = 2 << 20;

/// What the daemon says to its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToHost {
    /// The first message of the daemon that starts a host. Answered with `Ready` or `Failed`.
    Start { device: GpuUuid },
    /// The first message of each later daemon. Answered with `Holds` for everything there is, then
    /// `HoldsEnd`.
    Hello { epoch: Epoch },
    /// Make memory. A slab that is there already gets the same answer again.
    Allocate {
        slab: SlabId,
        /// A multiple of [`SLAB_UNIT_BYTES`], and not 0.
        bytes: u64,
        /// Whether every byte is 0 before anybody has the handle.
        zero: bool,
    },
    /// Give memory back. The host is sealed from then on.
    Free { slab: SlabId },
    /// Exit with code 0, and with everything that is held.
    Stop,
}

mod kind {
    pub const START: u8 = 1;
    pub const HELLO: u8 = 2;
    pub const ALLOCATE: u8 = 3;
    pub const FREE: u8 = 4;
    pub const STOP: u8 = 5;
}

impl ToHost {
    /// The bytes of this message.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match *self {
            ToHost::Start { device } => {
                Writer::new(kind::START).u32(VERSIONS.newest).raw(&device.0).bytes()
            }
            ToHost::Hello { epoch } => {
                // Both ends of the range: the host may be older or newer than this daemon.
                let writer = Writer::new(kind::HELLO).u32(VERSIONS.oldest).u32(VERSIONS.newest);
                writer.u64(epoch.0).bytes()
            }
            ToHost::Allocate { slab, bytes, zero } => {
                Writer::new(kind::ALLOCATE).slab(slab).u64(bytes).u8(u8::from(zero)).bytes()
            }
            ToHost::Free { slab } => Writer::new(kind::FREE).slab(slab).bytes(),
            ToHost::Stop => Writer::new(kind::STOP).bytes(),
        }
    }

    /// Reads a message completely.
    ///
    /// # Errors
    /// [`ChannelError::Malformed`], or [`ChannelError::Version`] for the first message.
    pub fn decode(bytes: &[u8]) -> Result<ToHost, ChannelError> {
        let mut reader = Reader::new(bytes);
        let message = match reader.u8()? {
            kind::START => {
                // Before all that another version may have in other places.
                VERSIONS.check(reader.u32()?)?;
                ToHost::Start { device: GpuUuid(reader.array()?) }
            }
            kind::HELLO => {
                let theirs = Versions { oldest: reader.u32()?, newest: reader.u32()? };
                let none = ChannelError::Version { theirs: theirs.newest, ours: VERSIONS };
                VERSIONS.common(theirs).ok_or(none)?;
                ToHost::Hello { epoch: reader.epoch()? }
            }
            kind::ALLOCATE => {
                let (slab, bytes) = (reader.slab()?, reader.u64()?);
                ToHost::Allocate { slab, bytes, zero: super::from_host::flag(&mut reader)? }
            }
            kind::FREE => ToHost::Free { slab: reader.slab()? },
            kind::STOP => ToHost::Stop,
            _ => return Err(ChannelError::Malformed("unknown kind")),
        };
        reader.end(message)
    }
}

impl Frame for ToHost {
    const MAX_BYTES: usize = TO_HOST_BYTES;

    fn fds(&self) -> usize {
        0
    }

    fn to_bytes(&self) -> Result<Vec<u8>, ChannelError> {
        Ok(self.encode())
    }

    fn from_bytes(bytes: &[u8]) -> Result<ToHost, ChannelError> {
        ToHost::decode(bytes)
    }
}
