//! Journal records as structs of our own, to bytes and back.
//!
//! The journal is read by the next daemon, which may be older or newer: a record of an unknown
//! kind is [`Record::Unknown`], not an error. Each family has its structs and its codec in a file;
//! here are the list of records and the two matches over it.

mod client;
mod hold;
mod host;
mod pond;
mod slab;
mod tensor;
mod version;

use millpond_schema::record as fb;
use planus::{Builder, ReadAsRoot};
use uuid::Uuid;

use crate::message::{self, DecodeError, record_id_to_uuid, uuid_to_record_id};
use crate::{
    ClientId, HostId, LeaseTarget, PondId, SlabId, TensorId, TensorName, Token, VersionId,
};

pub use client::ClientRecord;
pub use hold::{HoldRecord, HoldTold, HolderProcess};
pub use host::HostRecord;
pub use pond::DeviceRecord;
pub use slab::SlabRecord;
pub use tensor::{CountedLease, TensorRecord};
pub use version::{ReadyRecord, VersionRecord};

/// The layout of the journal that this crate writes.
pub const FORMAT: u16 = 1;

/// One change of the pond's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Opened {
        pond: PondId,
        /// Key of the lease tokens.
        key: [u8; 16],
        created_unix_ms: u64,
    },
    /// A client process is known; its pidfd is held.
    ClientSeen(ClientRecord),
    /// That process is gone, or has said goodbye.
    ClientGone(ClientId),
    /// A slab exists; its descriptor is held.
    SlabMade(SlabRecord),
    /// A lease on the slab ended by death: it is never recycled.
    SlabTainted(SlabId),
    /// A user other than the owner gets a lease on a tensor of the slab, for the first time.
    SlabBorrowed {
        slab: SlabId,
        user: u32,
    },
    /// The slab's descriptor will be dropped.
    SlabGone(SlabId),
    TensorMade(TensorRecord),
    TensorPublished {
        tensor: TensorId,
        token: Token,
        generation: u64,
        /// The name that it got with this publish; from then on it lives without its creator.
        name: Option<TensorName>,
        /// The tensor that had the name before, deleted in the same step.
        replaced: Option<TensorId>,
    },
    /// A get was answered that counts; or its lease has ended.
    TensorAccessed {
        tensor: TensorId,
        /// How many more are answered.
        accesses_left: u64,
        /// The lease that it was answered with.
        lease: Option<CountedLease>,
    },
    /// No new leases on it.
    TensorDeleted(TensorId),
    TensorFreed(TensorId),
    /// A version of a model exists; its parts were recorded before it.
    VersionStaged(VersionRecord),
    /// Its bytes are complete; its manifest is held.
    VersionReady(ReadyRecord),
    /// It became the current one of its model.
    VersionCurrent {
        version: VersionId,
        /// By which swap, if it was by one.
        token: Option<Token>,
    },
    /// No new leases on it.
    VersionDraining(VersionId),
    /// A user other than the owner gets a lease on it, for the first time.
    VersionBorrowed {
        version: VersionId,
        user: u32,
    },
    /// It has no parts any more.
    VersionGone(VersionId),
    /// A tensor, or the model of a version, has another name.
    Renamed {
        /// The tensor, or a version of the model.
        object: LeaseTarget,
        name: TensorName,
        token: Token,
    },
    DeviceSeen(DeviceRecord),
    /// A host runs; its channel and its pidfd are held.
    HostMade(HostRecord),
    /// That process is gone.
    HostGone(HostId),
    /// Holds on a tensor have changed.
    HoldChanged(HoldRecord),
    /// A request about holds was done before this journal began.
    HoldTold(HoldTold),
    /// A kind that this version does not know.
    Unknown,
}

impl Record {
    /// Writes the record into `builder` and returns its bytes.
    pub fn encode<'b>(&self, builder: &'b mut Builder) -> &'b [u8] {
        builder.clear();
        builder.finish(fb::Record { body: write(self) }, None)
    }

    /// Reads a record completely.
    ///
    /// # Errors
    /// [`DecodeError`] for bytes that are not a record.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let record = fb::RecordRef::read_as_root(bytes)?;
        match record.body() {
            Ok(Some(body)) => read(body),
            Ok(None) => Err(DecodeError::Missing("body")),
            Err(error) if message::is_unknown_kind(&error) => Ok(Record::Unknown),
            Err(error) => Err(error.into()),
        }
    }
}

fn write(record: &Record) -> Option<fb::Body> {
    use Record as R;
    use fb::Body as B;
    Some(match record {
        R::Opened { pond, key, created_unix_ms } => {
            B::Opened(Box::new(pond::write_opened(*pond, key, *created_unix_ms)))
        }
        R::DeviceSeen(device) => B::DeviceSeen(Box::new(pond::write_device(device))),
        R::ClientSeen(client) => B::ClientSeen(Box::new(client::write_seen(client))),
        R::ClientGone(client) => B::ClientGone(Box::new(client::write_gone(*client))),
        R::SlabMade(slab) => B::SlabMade(Box::new(slab::write_made(slab))),
        R::SlabTainted(slab) => B::SlabTainted(Box::new(slab::write_tainted(*slab))),
        R::SlabBorrowed { slab, user } => {
            B::SlabBorrowed(Box::new(slab::write_borrowed(*slab, *user)))
        }
        R::SlabGone(slab) => B::SlabGone(Box::new(slab::write_gone(*slab))),
        R::TensorMade(tensor) => B::TensorMade(Box::new(tensor::write_made(tensor))),
        R::TensorPublished { tensor, token, generation, name, replaced } => {
            let name = name.as_ref();
            B::TensorPublished(Box::new(tensor::write_published(
                *tensor,
                *token,
                *generation,
                name,
                *replaced,
            )))
        }
        R::TensorAccessed { tensor, accesses_left, lease } => {
            let lease = lease.as_ref();
            B::TensorAccessed(Box::new(tensor::write_accessed(*tensor, *accesses_left, lease)))
        }
        R::TensorDeleted(tensor) => B::TensorDeleted(Box::new(tensor::write_deleted(*tensor))),
        R::TensorFreed(tensor) => B::TensorFreed(Box::new(tensor::write_freed(*tensor))),
        R::VersionStaged(staged) => B::VersionStaged(Box::new(version::write_staged(staged))),
        R::VersionReady(ready) => B::VersionReady(Box::new(version::write_ready(ready))),
        R::VersionCurrent { version, token } => {
            B::VersionCurrent(Box::new(version::write_current(*version, *token)))
        }
        R::VersionDraining(id) => B::VersionDraining(Box::new(version::write_draining(*id))),
        R::VersionBorrowed { version, user } => {
            B::VersionBorrowed(Box::new(version::write_borrowed(*version, *user)))
        }
        R::VersionGone(id) => B::VersionGone(Box::new(version::write_gone(*id))),
        R::Renamed { object, name, token } => {
            B::Renamed(Box::new(tensor::write_renamed(*object, name, *token)))
        }
        R::HostMade(host) => B::HostMade(Box::new(host::write_made(host))),
        R::HostGone(host) => B::HostGone(Box::new(host::write_gone(*host))),
        R::HoldChanged(hold) => B::HoldChanged(Box::new(hold::write_changed(hold))),
        R::HoldTold(told) => B::HoldTold(Box::new(hold::write_told(told))),
        R::Unknown => return None,
    })
}

fn read(body: fb::BodyRef<'_>) -> Read<Record> {
    use Record as R;
    use fb::BodyRef as B;
    match body {
        B::Opened(it) => pond::read_opened(it),
        B::DeviceSeen(it) => pond::read_device(it).map(R::DeviceSeen),
        B::ClientSeen(it) => client::read_seen(it).map(R::ClientSeen),
        B::ClientGone(it) => uuid("client", it.client()?).map(ClientId).map(R::ClientGone),
        B::SlabMade(it) => slab::read_made(it).map(R::SlabMade),
        B::SlabTainted(it) => uuid("slab", it.slab()?).map(SlabId).map(R::SlabTainted),
        B::SlabBorrowed(it) => slab::read_borrowed(it),
        B::SlabGone(it) => uuid("slab", it.slab()?).map(SlabId).map(R::SlabGone),
        B::TensorMade(it) => tensor::read_made(it).map(R::TensorMade),
        B::TensorPublished(it) => tensor::read_published(it),
        B::TensorAccessed(it) => tensor::read_accessed(it),
        B::TensorDeleted(it) => uuid("tensor", it.tensor()?).map(TensorId).map(R::TensorDeleted),
        B::TensorFreed(it) => uuid("tensor", it.tensor()?).map(TensorId).map(R::TensorFreed),
        B::VersionStaged(it) => version::read_staged(it).map(R::VersionStaged),
        B::VersionReady(it) => version::read_ready(it).map(R::VersionReady),
        B::VersionCurrent(it) => version::read_current(it),
        B::VersionDraining(it) => {
            uuid("version", it.version()?).map(VersionId).map(R::VersionDraining)
        }
        B::VersionBorrowed(it) => version::read_borrowed(it),
        B::VersionGone(it) => uuid("version", it.version()?).map(VersionId).map(R::VersionGone),
        B::Renamed(it) => tensor::read_renamed(it),
        B::HostMade(it) => host::read_made(it).map(R::HostMade),
        B::HostGone(it) => uuid("host", it.host()?).map(HostId).map(R::HostGone),
        B::HoldChanged(it) => hold::read_changed(it).map(R::HoldChanged),
        B::HoldTold(it) => hold::read_told(it).map(R::HoldTold),
    }
}

type Read<T> = Result<T, DecodeError>;

fn id(uuid: Uuid) -> Option<fb::Id> {
    Some(uuid_to_record_id(uuid))
}

fn uuid(field: &'static str, id: Option<fb::IdRef<'_>>) -> Read<Uuid> {
    message::required(field, id).map(record_id_to_uuid)
}

#[cfg(test)]
mod tests;
