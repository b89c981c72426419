//! What the daemon says.

use millpond_channel::{Frame, Reader, Writer};
use millpond_wire::{Backing, Epoch, GpuUuid, SlabId};

use super::pieces::Pieces;
use super::rights::Rights;
use super::{ChannelError, TO_MOVER_BYTES, VERSIONS};

/// What the daemon says to its mover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToMover {
    Start {
        /// The daemon's epoch: a job of another one is refused.
        epoch: Epoch,
        device: GpuUuid,
        /// Threads that read and write files; 0 for [`crate::settings::default_threads`].
        threads: u16,
        /// Bytes of one pinned buffer; 0 for [`crate::settings::BLOCK_BYTES`].
        block_bytes: u32,
        /// Pinned buffers of each thread; 0 for [`crate::settings::DEPTH`].
        depth: u8,
    },
    /// Map this slab whole, for reading and writing. Comes with the descriptor of its backing, if
    /// there is one.
    Map { slab: SlabId, bytes: u64, backing: Backing },
    /// Map memory of another program and let go of it. Comes with the descriptor of its backing.
    Prove { slab: SlabId, bytes: u64, backing: Backing },
    /// Make a memory pool with one allocation of so many bytes.
    MakePool { slab: SlabId, bytes: u64 },
    /// Nobody has a slab any more that a pool was made for. Not answered.
    DropPool { slab: SlabId },
    /// Let go of this slab as soon as no job uses it.
    Unmap { slab: SlabId },
    /// Move bytes. Comes with the file's descriptor, if it is about a file.
    Job(Job),
    /// Nobody wants this job any more: begin no further block of it. Its answer comes as ever.
    Cancel { job: u64 },
    /// Finish what was asked, then exit with code 0.
    Stop,
}

/// Something to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its number, for the answer.
    pub job: u64,
    /// The epoch of the daemon that wants it.
    pub epoch: Epoch,
    /// Whose files it reads and writes, and with whom it takes turns.
    pub by: Rights,
    pub work: Work,
}

/// What a job does. All offsets of a slab are from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// From a file to a slab.
    Put {
        slab: SlabId,
        offset: u64,
        bytes: u64,
        file_offset: u64,
    },
    /// From a slab to a file.
    Get {
        slab: SlabId,
        offset: u64,
        bytes: u64,
        file_offset: u64,
    },
    /// From a slab to a slab, which may be the same if the ranges do not overlap.
    Copy {
        /// The slab that is written.
        slab: SlabId,
        offset: u64,
        bytes: u64,
        /// The slab that is read.
        from: SlabId,
        from_offset: u64,
    },
    Zero {
        slab: SlabId,
        offset: u64,
        bytes: u64,
    },
    /// Pieces, each with a hash in the answer.
    Pieces(Pieces),
}

mod kind {
    pub const START: u8 = 1;
    pub const MAP: u8 = 2;
    pub const UNMAP: u8 = 3;
    pub const STOP: u8 = 4;
    pub const CANCEL: u8 = 5;
    pub const PROVE: u8 = 6;
    pub const MAKE_POOL: u8 = 7;
    pub const DROP_POOL: u8 = 8;
    pub const PUT: u8 = 16;
    pub const GET: u8 = 17;
    pub const COPY: u8 = 18;
    pub const ZERO: u8 = 19;
    pub const PIECES: u8 = 20;
}

impl ToMover {
    /// How many descriptors travel with this message.
    #[must_use]
    pub fn descriptors(&self) -> usize {
        match self {
            ToMover::Map { backing, .. } | ToMover::Prove { backing, .. } => {
                usize::from(backing.transport.has_descriptor())
            }
            ToMover::Job(Job { work: Work::Put { .. } | Work::Get { .. }, .. }) => 1,
            ToMover::Job(Job { work: Work::Pieces(pieces), .. }) => {
                usize::from(pieces.kind.has_file())
            }
            _ => 0,
        }
    }

    /// The bytes of this message.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            &ToMover::Start { epoch, device, threads, block_bytes, depth } => {
                let writer = Writer::new(kind::START).u32(VERSIONS.newest).u64(epoch.0);
                let writer = writer.raw(&device.0).raw(&threads.to_le_bytes());
                writer.u32(block_bytes).u8(depth).bytes()
            }
            &ToMover::Map { slab, bytes, ref backing } => {
                Writer::new(kind::MAP).slab(slab).u64(bytes).backing(backing).bytes()
            }
            ToMover::Prove { slab, bytes, backing } => {
                Writer::new(kind::PROVE).slab(*slab).u64(*bytes).backing(backing).bytes()
            }
            &ToMover::MakePool { slab, bytes } => {
                Writer::new(kind::MAKE_POOL).slab(slab).u64(bytes).bytes()
            }
            &ToMover::DropPool { slab } => Writer::new(kind::DROP_POOL).slab(slab).bytes(),
            &ToMover::Unmap { slab } => Writer::new(kind::UNMAP).slab(slab).bytes(),
            ToMover::Stop => Writer::new(kind::STOP).bytes(),
            &ToMover::Cancel { job } => Writer::new(kind::CANCEL).u64(job).bytes(),
            ToMover::Job(Job { job, epoch, by, work }) => {
                let begin = |kind| by.write(Writer::new(kind).u64(*job).u64(epoch.0));
                match work {
                    &Work::Put { slab, offset, bytes, file_offset } => {
                        begin(kind::PUT).slab(slab).u64(offset).u64(bytes).u64(file_offset).bytes()
                    }
                    &Work::Get { slab, offset, bytes, file_offset } => {
                        begin(kind::GET).slab(slab).u64(offset).u64(bytes).u64(file_offset).bytes()
                    }
                    &Work::Copy { slab, offset, bytes, from, from_offset } => {
                        let writer = begin(kind::COPY).slab(slab).u64(offset).u64(bytes);
                        writer.slab(from).u64(from_offset).bytes()
                    }
                    &Work::Zero { slab, offset, bytes } => {
                        begin(kind::ZERO).slab(slab).u64(offset).u64(bytes).bytes()
                    }
                    Work::Pieces(pieces) => pieces.write(begin(kind::PIECES)).bytes(),
                }
            }
        }
    }

    /// Reads a message completely.
    ///
    /// # Errors
    /// [`ChannelError::Malformed`], or [`ChannelError::Version`] for the first message.
    pub fn decode(bytes: &[u8]) -> Result<ToMover, ChannelError> {
        let mut reader = Reader::new(bytes);
        let message = match reader.u8()? {
            kind::START => {
                // Before all that another version may have in other places.
                VERSIONS.check(reader.u32()?)?;
                ToMover::Start {
                    epoch: reader.epoch()?,
                    device: GpuUuid(reader.array()?),
                    threads: u16::from_le_bytes(reader.array()?),
                    block_bytes: reader.u32()?,
                    depth: reader.u8()?,
                }
            }
            kind::MAP => {
                let (slab, bytes) = (reader.slab()?, reader.u64()?);
                ToMover::Map { slab, bytes, backing: reader.backing()? }
            }
            kind::PROVE => {
                let (slab, bytes) = (reader.slab()?, reader.u64()?);
                ToMover::Prove { slab, bytes, backing: reader.backing()? }
            }
            kind::MAKE_POOL => ToMover::MakePool { slab: reader.slab()?, bytes: reader.u64()? },
            kind::DROP_POOL => ToMover::DropPool { slab: reader.slab()? },
            kind::UNMAP => ToMover::Unmap { slab: reader.slab()? },
            kind::STOP => ToMover::Stop,
            kind::CANCEL => ToMover::Cancel { job: reader.u64()? },
            kind @ kind::PUT..=kind::ZERO => {
                let (job, epoch) = (reader.u64()?, reader.epoch()?);
                let by = Rights::read(&mut reader)?;
                let (slab, offset, bytes) = (reader.slab()?, reader.u64()?, reader.u64()?);
                let work = match kind {
                    kind::PUT => Work::Put { slab, offset, bytes, file_offset: reader.u64()? },
                    kind::GET => Work::Get { slab, offset, bytes, file_offset: reader.u64()? },
                    kind::COPY => {
                        let (from, from_offset) = (reader.slab()?, reader.u64()?);
                        Work::Copy { slab, offset, bytes, from, from_offset }
                    }
                    _ => Work::Zero { slab, offset, bytes },
                };
                ToMover::Job(Job { job, epoch, by, work })
            }
            kind::PIECES => {
                let (job, epoch) = (reader.u64()?, reader.epoch()?);
                let by = Rights::read(&mut reader)?;
                let work = Work::Pieces(Pieces::read(&mut reader)?);
                ToMover::Job(Job { job, epoch, by, work })
            }
            _ => return Err(ChannelError::Malformed("unknown kind")),
        };
        reader.end(message)
    }
}

impl Frame for ToMover {
    const MAX_BYTES: usize = TO_MOVER_BYTES;

    fn fds(&self) -> usize {
        self.descriptors()
    }

    fn to_bytes(&self) -> Result<Vec<u8>, ChannelError> {
        Ok(self.encode())
    }

    fn from_bytes(bytes: &[u8]) -> Result<ToMover, ChannelError> {
        ToMover::decode(bytes)
    }
}
