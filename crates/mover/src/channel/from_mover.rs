//! What the mover says.

use millpond_channel::{Frame, Reader, Writer};
use millpond_wire::{ContentHash, HANDLE_BYTES, SlabId, caps};

use super::{ChannelError, FROM_MOVER_BYTES, VERSIONS};

/// What a mover says to its daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromMover {
    /// The answer to `Start`: context and ring are there.
    Ready {
        /// What NVML says that this process uses of the GPU, with a context and nothing mapped; 0 if it
        /// does not say.
        context_bytes: u64,
    },
    /// The other answer to `Start`: no driver, no such GPU, no context. The mover exits.
    Failed {
        text: String,
    },
    /// The slab can be used in jobs.
    Mapped {
        slab: SlabId,
    },
    /// The slab cannot be used.
    MapFailed {
        slab: SlabId,
        why: Why,
        text: String,
    },
    /// The mover does not hold the slab any more. Also the answer for one that it never held.
    Unmapped {
        slab: SlabId,
    },
    /// Memory of another program is there, of that kind and size.
    Proved {
        slab: SlabId,
    },
    /// It is not.
    NotProved {
        slab: SlabId,
        why: Why,
        text: String,
    },
    /// A memory pool was made. Its descriptor comes along.
    PoolMade {
        slab: SlabId,
        /// Of the pointer of its allocation.
        data: [u8; HANDLE_BYTES],
    },
    PoolFailed {
        slab: SlabId,
        out_of_memory: bool,
        text: String,
    },
    /// Every byte has landed.
    Done {
        job: u64,
        /// One for each piece, in their order; none for other works.
        hashes: Vec<ContentHash>,
    },
    /// The job did not happen, or in part. Nothing of it goes on any more.
    JobFailed {
        job: u64,
        why: Why,
        text: String,
    },
}

/// Why a job or a mapping failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is of another epoch.
    Epoch,
    /// The slab is not mapped, or does not have these bytes.
    Range,
    /// The user's side: reading or writing the file failed, or it is too short.
    File,
    /// The driver. After a failed job this mover is not to be trusted any more, and exits.
    Driver,
    /// This mover cannot map memory of that kind.
    Unsupported,
    /// Nothing is moved to or from such a file for anybody.
    Denied,
    /// The daemon has cancelled it.
    Cancelled,
}

mod kind {
    pub const READY: u8 = 32;
    pub const FAILED: u8 = 33;
    pub const MAPPED: u8 = 34;
    pub const MAP_FAILED: u8 = 35;
    pub const UNMAPPED: u8 = 36;
    pub const DONE: u8 = 37;
    pub const JOB_FAILED: u8 = 38;
    pub const PROVED: u8 = 39;
    pub const NOT_PROVED: u8 = 40;
    pub const POOL_MADE: u8 = 41;
    pub const POOL_FAILED: u8 = 42;
}

impl Why {
    /// All of them; the place is the number on the channel.
    pub(super) const ALL: [Why; 7] = [
        Why::Epoch,
        Why::Range,
        Why::File,
        Why::Driver,
        Why::Unsupported,
        Why::Denied,
        Why::Cancelled,
    ];

    fn number(self) -> u8 {
        let place = Why::ALL.iter().position(|why| *why == self);
        place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Why, ChannelError> {
        let why = Why::ALL.get(usize::from(reader.u8()?)).copied();
        why.ok_or(ChannelError::Malformed("unknown reason"))
    }
}

impl FromMover {
    /// The bytes of this message. A text is cut at 4096 bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            FromMover::Ready { context_bytes } => {
                Writer::new(kind::READY).u32(VERSIONS.newest).u64(*context_bytes).bytes()
            }
            FromMover::Failed { text } => Writer::new(kind::FAILED).cut_text(text).bytes(),
            FromMover::Mapped { slab } => Writer::new(kind::MAPPED).slab(*slab).bytes(),
            FromMover::MapFailed { slab, why, text } => {
                let writer = Writer::new(kind::MAP_FAILED).slab(*slab).u8(why.number());
                writer.cut_text(text).bytes()
            }
            FromMover::Unmapped { slab } => Writer::new(kind::UNMAPPED).slab(*slab).bytes(),
            FromMover::Proved { slab } => Writer::new(kind::PROVED).slab(*slab).bytes(),
            FromMover::NotProved { slab, why, text } => {
                let writer = Writer::new(kind::NOT_PROVED).slab(*slab).u8(why.number());
                writer.cut_text(text).bytes()
            }
            FromMover::PoolMade { slab, data } => {
                Writer::new(kind::POOL_MADE).slab(*slab).raw(data).bytes()
            }
            FromMover::PoolFailed { slab, out_of_memory, text } => {
                let writer = Writer::new(kind::POOL_FAILED).slab(*slab);
                writer.u8(u8::from(*out_of_memory)).cut_text(text).bytes()
            }
            FromMover::Done { job, hashes } => {
                let writer = Writer::new(kind::DONE).u64(*job).count(hashes.len());
                hashes.iter().fold(writer, |writer, hash| writer.raw(&hash.0)).bytes()
            }
            FromMover::JobFailed { job, why, text } => {
                Writer::new(kind::JOB_FAILED).u64(*job).u8(why.number()).cut_text(text).bytes()
            }
        }
    }

    /// Reads a message completely.
    ///
    /// # Errors
    /// [`ChannelError::Malformed`], or [`ChannelError::Version`] for the first message.
    pub fn decode(bytes: &[u8]) -> Result<FromMover, ChannelError> {
        let mut reader = Reader::new(bytes);
        let message = match reader.u8()? {
            kind::READY => {
                VERSIONS.check(reader.u32()?)?;
                FromMover::Ready { context_bytes: reader.u64()? }
            }
            kind::FAILED => FromMover::Failed { text: reader.text()? },
            kind::MAPPED => FromMover::Mapped { slab: reader.slab()? },
            kind::MAP_FAILED => {
                let (slab, why) = (reader.slab()?, Why::read(&mut reader)?);
                FromMover::MapFailed { slab, why, text: reader.text()? }
            }
            kind::UNMAPPED => FromMover::Unmapped { slab: reader.slab()? },
            kind::PROVED => FromMover::Proved { slab: reader.slab()? },
            kind::NOT_PROVED => {
                let (slab, why) = (reader.slab()?, Why::read(&mut reader)?);
                FromMover::NotProved { slab, why, text: reader.text()? }
            }
            kind::POOL_MADE => FromMover::PoolMade { slab: reader.slab()?, data: reader.array()? },
            kind::POOL_FAILED => {
                let slab = reader.slab()?;
                let out_of_memory = match reader.u8()? {
                    0 => false,
                    1 => true,
                    _ => return Err(ChannelError::Malformed("neither yes nor no")),
                };
                FromMover::PoolFailed { slab, out_of_memory, text: reader.text()? }
            }
            kind::DONE => {
                let (job, count) = (reader.u64()?, reader.count()?);
                if count > caps::PIECES_PER_MOVE {
                    return Err(ChannelError::Malformed("more hashes than a move has pieces"));
                }
                let hash = |_| reader.array().map(ContentHash);
                FromMover::Done { job, hashes: (0..count).map(hash).collect::<Result<_, _>>()? }
            }
            kind::JOB_FAILED => {
                let (job, why) = (reader.u64()?, Why::read(&mut reader)?);
                FromMover::JobFailed { job, why, text: reader.text()? }
            }
            _ => return Err(ChannelError::Malformed("unknown kind")),
        };
        reader.end(message)
    }
}

impl Frame for FromMover {
    const MAX_BYTES: usize = FROM_MOVER_BYTES;

    fn fds(&self) -> usize {
        usize::from(matches!(self, FromMover::PoolMade { .. }))
    }

    fn to_bytes(&self) -> Result<Vec<u8>, ChannelError> {
        Ok(self.encode())
    }

    fn from_bytes(bytes: &[u8]) -> Result<FromMover, ChannelError> {
        FromMover::decode(bytes)
    }
}
