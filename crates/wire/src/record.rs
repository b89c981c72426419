//! Journal records as structs of our own, to bytes and back.
//!
//! The journal is read by the next daemon, which may be older or newer: a record of an unknown
//! kind is [`Record::Unknown`], not an error.

use planus::{Builder, ReadAsRoot};

use crate::message::{DecodeError, record_id_to_uuid, uuid_to_record_id};
use crate::model_name::model_name;
use crate::{
    Audience, Backing, ClientId, ContentHash, Dtype, GpuUuid, LeaseId, LeaseTarget, Mode, PondId,
    Shape, SlabId, TensorId, TensorName, Token, VersionId, VersionTag,
};
use crate::{backing, limits, message};
use millpond_schema::record as fb;

/// The layout of the journal that this crate writes.
pub const FORMAT: u16 = 1;

/// One change of the pond's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The first record.
    Opened {
        /// Which pond.
        pond: PondId,
        /// Key of the lease tokens.
        key: [u8; 16],
        /// When the pond was made.
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
    /// The slab's descriptor will be dropped.
    SlabGone(SlabId),
    /// A tensor exists.
    TensorMade(TensorRecord),
    /// A tensor was published.
    TensorPublished {
        /// Which.
        tensor: TensorId,
        /// By which publish.
        token: Token,
        /// Its generation now.
        generation: u64,
        /// The name that it got with this publish; from then on it lives without its creator.
        name: Option<TensorName>,
        /// The tensor that had the name before, deleted in the same step.
        replaced: Option<TensorId>,
    },
    /// A get was answered that counts; or its lease has ended.
    TensorAccessed {
        /// Of which tensor.
        tensor: TensorId,
        /// How many more are answered.
        accesses_left: u64,
        /// The lease that it was answered with.
        lease: Option<CountedLease>,
    },
    /// No new leases on it.
    TensorDeleted(TensorId),
    /// Its memory was given back.
    TensorFreed(TensorId),
    /// A version of a model exists; its parts were recorded before it.
    VersionStaged(VersionRecord),
    /// Its bytes are complete; its manifest is held.
    VersionReady(ReadyRecord),
    /// It became the current one of its model.
    VersionCurrent {
        /// Which.
        version: VersionId,
        /// By which swap, if it was by one.
        token: Option<Token>,
    },
    /// No new leases on it.
    VersionDraining(VersionId),
    /// It has no parts any more.
    VersionGone(VersionId),
    /// A tensor, or the model of a version, has another name.
    Renamed {
        /// The tensor, or a version of the model.
        object: LeaseTarget,
        /// Its name now.
        name: TensorName,
        /// By which rename.
        token: Token,
    },
    /// A GPU of the pond.
    DeviceSeen(DeviceRecord),
    /// A kind that this version does not know.
    Unknown,
}

/// A GPU, as the driver described it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRecord {
    /// Identity.
    pub device: GpuUuid,
    /// Place in the driver's list.
    pub index: u32,
    /// What the driver calls it.
    pub name: String,
    /// Bytes on the card.
    pub total_bytes: u64,
    /// Bytes that the pond may take.
    pub capacity_bytes: u64,
}

/// A client process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRecord {
    /// Identity.
    pub client: ClientId,
    /// Process.
    pub pid: u32,
    /// User.
    pub user: u32,
    /// Primary group.
    pub group: u32,
    /// Other groups.
    pub groups: Vec<u32>,
    /// The tenant whose socket it used.
    pub tenant: String,
    /// What it calls itself.
    pub program: String,
    /// Since when.
    pub since_unix_ms: u64,
    /// A mover of the daemon that wrote this; it may have anything mapped.
    pub mover: bool,
}

/// A lease that a counted get was answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedLease {
    /// Whose.
    pub client: ClientId,
    /// Which.
    pub lease: LeaseId,
    /// How it is mapped.
    pub mode: Mode,
    /// Whether it has ended.
    pub ended: bool,
}

/// A slab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlabRecord {
    /// Identity.
    pub slab: SlabId,
    /// Where.
    pub device: GpuUuid,
    /// Size.
    pub bytes: u64,
    /// Class, by the daemon's numbering.
    pub class: u8,
    /// Owner's tenant.
    pub tenant: String,
    /// Owner.
    pub user: u32,
    /// Owner's primary group.
    pub group: u32,
    /// With whom it is shared.
    pub audience: Audience,
    /// How its memory is reached.
    pub backing: Backing,
}

/// A tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorRecord {
    /// Identity.
    pub tensor: TensorId,
    /// Name.
    pub name: Option<TensorName>,
    /// Element type.
    pub dtype: Dtype,
    /// Extents.
    pub shape: Shape,
    /// Its slab, which also says owner, audience and GPU.
    pub slab: SlabId,
    /// Where in the slab.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Published.
    pub ready: bool,
    /// Counts publishes.
    pub generation: u64,
    /// Ends with its creator.
    pub ephemeral: bool,
    /// Who made it.
    pub creator: ClientId,
    /// When.
    pub created_unix_ms: u64,
    /// The last publish.
    pub published: Option<Token>,
    /// Deleted, with leases left.
    pub deleted: bool,
    /// When its time is over, on the clock that counts from the machine's start.
    pub expires_boot_ms: Option<u64>,
    /// How long it stays after its last lease.
    pub linger_ms: Option<u64>,
    /// How many gets are still answered.
    pub accesses_left: Option<u64>,
    /// A slab of a version's arena: it lives as long as a version has it.
    pub part: bool,
    /// The last rename.
    pub renamed: Option<Token>,
}

/// A version of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRecord {
    /// Identity.
    pub version: VersionId,
    /// Its model.
    pub model: TensorName,
    /// Its tag.
    pub tag: VersionTag,
    /// Owner's tenant.
    pub tenant: String,
    /// Owner.
    pub user: u32,
    /// Owner's primary group.
    pub group: u32,
    /// Where.
    pub device: GpuUuid,
    /// With whom it is shared.
    pub audience: Audience,
    /// The slabs of its arena, in order.
    pub parts: Vec<TensorId>,
    /// Who stages it.
    pub creator: ClientId,
    /// When it was begun.
    pub created_unix_ms: u64,
}

/// What a version is, once it is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyRecord {
    /// Which.
    pub version: VersionId,
    /// By which commit.
    pub token: Token,
    /// Hash of where everything lies.
    pub layout: ContentHash,
    /// Hash of everything.
    pub content: ContentHash,
    /// How many tensors.
    pub tensors: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Where it came from.
    pub source: String,
    /// When.
    pub ready_unix_ms: u64,
    /// It became the current one in the same step.
    pub current: bool,
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

fn id(uuid: uuid::Uuid) -> Option<fb::Id> {
    Some(uuid_to_record_id(uuid))
}

fn write(record: &Record) -> Option<fb::Body> {
    use fb::Body as B;
    Some(match record {
        Record::Opened { pond, key, created_unix_ms } => B::Opened(Box::new(fb::Opened {
            format: FORMAT,
            pond: id(pond.0),
            key: Some(key.to_vec()),
            created_unix_ms: *created_unix_ms,
        })),
        Record::ClientSeen(client) => B::ClientSeen(Box::new(fb::ClientSeen {
            client: id(client.client.0),
            pid: client.pid,
            user: client.user,
            group: client.group,
            groups: Some(client.groups.clone()),
            tenant: Some(client.tenant.clone()),
            program: Some(client.program.clone()),
            since_unix_ms: client.since_unix_ms,
            mover: client.mover,
        })),
        Record::ClientGone(client) => {
            B::ClientGone(Box::new(fb::ClientGone { client: id(client.0) }))
        }
        Record::SlabMade(slab) => B::SlabMade(Box::new(fb::SlabMade {
            slab: id(slab.slab.0),
            device: Some(slab.device.0.to_vec()),
            bytes: slab.bytes,
            class: slab.class,
            tenant: Some(slab.tenant.clone()),
            user: slab.user,
            group: slab.group,
            audience: slab.audience.code(),
            backing: backing::write_record(&slab.backing),
        })),
        Record::SlabTainted(slab) => B::SlabTainted(Box::new(fb::SlabTainted { slab: id(slab.0) })),
        Record::SlabGone(slab) => B::SlabGone(Box::new(fb::SlabGone { slab: id(slab.0) })),
        Record::TensorMade(tensor) => B::TensorMade(Box::new(fb::TensorMade {
            tensor: id(tensor.tensor.0),
            name: tensor.name.as_ref().map(ToString::to_string),
            dtype: tensor.dtype.code(),
            shape: Some(tensor.shape.dims().to_vec()),
            slab: id(tensor.slab.0),
            offset: tensor.offset,
            bytes: tensor.bytes,
            ready: tensor.ready,
            generation: tensor.generation,
            ephemeral: tensor.ephemeral,
            creator: id(tensor.creator.0),
            created_unix_ms: tensor.created_unix_ms,
            published: tensor.published.and_then(|token| id(token.0)),
            deleted: tensor.deleted,
            expires_boot_ms: tensor.expires_boot_ms,
            linger_ms: tensor.linger_ms,
            accesses_left: tensor.accesses_left,
            part: tensor.part,
            renamed: tensor.renamed.and_then(|token| id(token.0)),
        })),
        Record::TensorPublished { tensor, token, generation, name, replaced } => {
            B::TensorPublished(Box::new(fb::TensorPublished {
                tensor: id(tensor.0),
                token: id(token.0),
                generation: *generation,
                name: name.as_ref().map(ToString::to_string),
                replaced: replaced.and_then(|tensor| id(tensor.0)),
            }))
        }
        Record::TensorAccessed { tensor, accesses_left, lease } => {
            B::TensorAccessed(Box::new(fb::TensorAccessed {
                tensor: id(tensor.0),
                accesses_left: *accesses_left,
                client: lease.and_then(|lease| id(lease.client.0)),
                lease: lease.map_or(0, |lease| lease.lease.0),
                mode: lease.map_or(0, |lease| lease.mode.code()),
                ended: lease.is_some_and(|lease| lease.ended),
            }))
        }
        Record::TensorDeleted(tensor) => {
            B::TensorDeleted(Box::new(fb::TensorDeleted { tensor: id(tensor.0) }))
        }
        Record::TensorFreed(tensor) => {
            B::TensorFreed(Box::new(fb::TensorFreed { tensor: id(tensor.0) }))
        }
        Record::VersionStaged(staged) => B::VersionStaged(Box::new(fb::VersionStaged {
            version: id(staged.version.0),
            model: Some(staged.model.to_string()),
            tag: Some(staged.tag.to_string()),
            tenant: Some(staged.tenant.clone()),
            user: staged.user,
            group: staged.group,
            device: Some(staged.device.0.to_vec()),
            audience: staged.audience.code(),
            parts: Some(staged.parts.iter().map(|part| uuid_to_record_id(part.0)).collect()),
            creator: id(staged.creator.0),
            created_unix_ms: staged.created_unix_ms,
        })),
        Record::VersionReady(ready) => B::VersionReady(Box::new(fb::VersionReady {
            version: id(ready.version.0),
            token: id(ready.token.0),
            layout: Some(ready.layout.0.to_vec()),
            content: Some(ready.content.0.to_vec()),
            tensors: ready.tensors,
            bytes: ready.bytes,
            source: Some(ready.source.clone()),
            ready_unix_ms: ready.ready_unix_ms,
            current: ready.current,
        })),
        Record::VersionCurrent { version, token } => {
            B::VersionCurrent(Box::new(fb::VersionCurrent {
                version: id(version.0),
                token: token.and_then(|token| id(token.0)),
            }))
        }
        Record::VersionDraining(version) => {
            B::VersionDraining(Box::new(fb::VersionDraining { version: id(version.0) }))
        }
        Record::VersionGone(version) => {
            B::VersionGone(Box::new(fb::VersionGone { version: id(version.0) }))
        }
        Record::Renamed { object, name, token } => B::Renamed(Box::new(fb::Renamed {
            tensor: object.tensor().and_then(|tensor| id(tensor.0)),
            version: object.version().and_then(|version| id(version.0)),
            name: Some(name.to_string()),
            token: id(token.0),
        })),
        Record::DeviceSeen(device) => B::DeviceSeen(Box::new(fb::DeviceSeen {
            device: Some(device.device.0.to_vec()),
            index: device.index,
            name: Some(device.name.clone()),
            total_bytes: device.total_bytes,
            capacity_bytes: device.capacity_bytes,
        })),
        Record::Unknown => return None,
    })
}

fn uuid(field: &'static str, id: Option<fb::IdRef<'_>>) -> Result<uuid::Uuid, DecodeError> {
    message::required(field, id).map(record_id_to_uuid)
}

fn read(body: fb::BodyRef<'_>) -> Result<Record, DecodeError> {
    use fb::BodyRef as B;
    Ok(match body {
        B::Opened(opened) => {
            let format = opened.format()?;
            if format != FORMAT {
                return Err(DecodeError::BadValue { field: "format", value: format.into() });
            }
            Record::Opened {
                pond: PondId(uuid("pond", opened.pond()?)?),
                key: message::bytes16("key", message::required("key", opened.key()?)?)?,
                created_unix_ms: opened.created_unix_ms()?,
            }
        }
        B::ClientSeen(client) => {
            let groups = match client.groups()? {
                Some(groups) => {
                    message::at_most("groups", groups.len(), limits::GROUPS)?;
                    groups.iter().collect()
                }
                None => Vec::new(),
            };
            Record::ClientSeen(ClientRecord {
                client: ClientId(uuid("client", client.client()?)?),
                pid: client.pid()?,
                user: client.user()?,
                group: client.group()?,
                groups,
                tenant: message::text("tenant", client.tenant()?, limits::NAME_BYTES)?,
                program: message::text("program", client.program()?, limits::PROGRAM_BYTES)?,
                since_unix_ms: client.since_unix_ms()?,
                mover: client.mover()?,
            })
        }
        B::ClientGone(gone) => Record::ClientGone(ClientId(uuid("client", gone.client()?)?)),
        B::SlabMade(slab) => Record::SlabMade(SlabRecord {
            slab: SlabId(uuid("slab", slab.slab()?)?),
            device: message::gpu("device", slab.device()?)?,
            bytes: slab.bytes()?,
            class: slab.class()?,
            tenant: message::text("tenant", slab.tenant()?, limits::NAME_BYTES)?,
            user: slab.user()?,
            group: slab.group()?,
            audience: message::code("audience", slab.audience()?, Audience::from_code)?,
            backing: backing::read_record(slab.backing()?)?,
        }),
        B::SlabTainted(slab) => Record::SlabTainted(SlabId(uuid("slab", slab.slab()?)?)),
        B::SlabGone(slab) => Record::SlabGone(SlabId(uuid("slab", slab.slab()?)?)),
        B::TensorMade(tensor) => Record::TensorMade(TensorRecord {
            tensor: TensorId(uuid("tensor", tensor.tensor()?)?),
            name: message::name(tensor.name()?)?,
            dtype: message::dtype(tensor.dtype()?)?,
            shape: message::shape(tensor.shape()?)?,
            slab: SlabId(uuid("slab", tensor.slab()?)?),
            offset: tensor.offset()?,
            bytes: tensor.bytes()?,
            ready: tensor.ready()?,
            generation: tensor.generation()?,
            ephemeral: tensor.ephemeral()?,
            creator: ClientId(uuid("creator", tensor.creator()?)?),
            created_unix_ms: tensor.created_unix_ms()?,
            published: tensor.published()?.map(|id| Token(record_id_to_uuid(id))),
            deleted: tensor.deleted()?,
            expires_boot_ms: tensor.expires_boot_ms()?,
            linger_ms: tensor.linger_ms()?,
            accesses_left: tensor.accesses_left()?,
            part: tensor.part()?,
            renamed: tensor.renamed()?.map(|id| Token(record_id_to_uuid(id))),
        }),
        B::TensorPublished(published) => Record::TensorPublished {
            tensor: TensorId(uuid("tensor", published.tensor()?)?),
            token: Token(uuid("token", published.token()?)?),
            generation: published.generation()?,
            name: message::name(published.name()?)?,
            replaced: published.replaced()?.map(|id| TensorId(record_id_to_uuid(id))),
        },
        B::TensorAccessed(accessed) => Record::TensorAccessed {
            tensor: TensorId(uuid("tensor", accessed.tensor()?)?),
            accesses_left: accessed.accesses_left()?,
            lease: read_counted(accessed)?,
        },
        B::TensorDeleted(deleted) => {
            Record::TensorDeleted(TensorId(uuid("tensor", deleted.tensor()?)?))
        }
        B::TensorFreed(freed) => Record::TensorFreed(TensorId(uuid("tensor", freed.tensor()?)?)),
        B::VersionStaged(staged) => Record::VersionStaged(read_staged(staged)?),
        B::VersionReady(ready) => Record::VersionReady(ReadyRecord {
            version: VersionId(uuid("version", ready.version()?)?),
            token: Token(uuid("token", ready.token()?)?),
            layout: hash("layout", ready.layout()?)?,
            content: hash("content", ready.content()?)?,
            tensors: ready.tensors()?,
            bytes: ready.bytes()?,
            source: message::text("source", ready.source()?, limits::TEXT_BYTES)?,
            ready_unix_ms: ready.ready_unix_ms()?,
            current: ready.current()?,
        }),
        B::VersionCurrent(current) => Record::VersionCurrent {
            version: VersionId(uuid("version", current.version()?)?),
            token: current.token()?.map(|id| Token(record_id_to_uuid(id))),
        },
        B::VersionDraining(draining) => {
            Record::VersionDraining(VersionId(uuid("version", draining.version()?)?))
        }
        B::VersionGone(gone) => Record::VersionGone(VersionId(uuid("version", gone.version()?)?)),
        B::Renamed(renamed) => Record::Renamed {
            object: message::required(
                "tensor",
                message::target(
                    renamed.tensor()?.map(record_id_to_uuid),
                    renamed.version()?.map(record_id_to_uuid),
                )?,
            )?,
            name: message::required("name", message::name(renamed.name()?)?)?,
            token: Token(uuid("token", renamed.token()?)?),
        },
        B::DeviceSeen(seen) => Record::DeviceSeen(DeviceRecord {
            device: message::gpu("device", seen.device()?)?,
            index: seen.index()?,
            name: message::text("name", seen.name()?, limits::NAME_BYTES)?,
            total_bytes: seen.total_bytes()?,
            capacity_bytes: seen.capacity_bytes()?,
        }),
    })
}

fn hash(field: &'static str, bytes: Option<&[u8]>) -> Result<ContentHash, DecodeError> {
    Ok(ContentHash(message::bytes16(field, message::required(field, bytes)?)?))
}

fn read_counted(accessed: fb::TensorAccessedRef<'_>) -> Result<Option<CountedLease>, DecodeError> {
    let Some(client) = accessed.client()? else { return Ok(None) };
    Ok(Some(CountedLease {
        client: ClientId(record_id_to_uuid(client)),
        lease: LeaseId(accessed.lease()?),
        mode: message::code("mode", accessed.mode()?, Mode::from_code)?,
        ended: accessed.ended()?,
    }))
}

fn read_staged(staged: fb::VersionStagedRef<'_>) -> Result<VersionRecord, DecodeError> {
    let parts = message::required("parts", staged.parts()?)?;
    message::at_most("parts", parts.len(), limits::PARTS)?;
    Ok(VersionRecord {
        version: VersionId(uuid("version", staged.version()?)?),
        model: model_name(message::required("model", staged.model()?)?)?,
        tag: VersionTag::new(message::required("tag", staged.tag()?)?)?,
        tenant: message::text("tenant", staged.tenant()?, limits::NAME_BYTES)?,
        user: staged.user()?,
        group: staged.group()?,
        device: message::gpu("device", staged.device()?)?,
        audience: message::code("audience", staged.audience()?, Audience::from_code)?,
        parts: parts.iter().map(|id| TensorId(record_id_to_uuid(id))).collect(),
        creator: ClientId(uuid("creator", staged.creator()?)?),
        created_unix_ms: staged.created_unix_ms()?,
    })
}

#[cfg(test)]
mod tests;
