//! Slabs.

use millpond_schema::record as fb;
use uuid::Uuid;

use super::{Read, Record, id, uuid};
use crate::{Audience, Backing, GpuUuid, HANDLE_BYTES, SlabId, backing, caps, message};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlabRecord {
    pub slab: SlabId,
    pub device: GpuUuid,
    pub bytes: u64,
    /// Class, by the daemon's numbering.
    pub class: u8,
    pub tenant: String,
    pub user: u32,
    pub group: u32,
    pub audience: Audience,
    pub backing: Backing,
    /// Other users than its owner who get a lease on it are recorded.
    pub borrowers_recorded: bool,
    /// The host or client that keeps the memory; none where descriptors do.
    pub home: Option<Uuid>,
    pub event: Option<[u8; HANDLE_BYTES]>,
}

pub(super) fn write_made(slab: &SlabRecord) -> fb::SlabMade {
    fb::SlabMade {
        slab: id(slab.slab.0),
        device: Some(slab.device.0.to_vec()),
        bytes: slab.bytes,
        class: slab.class,
        tenant: Some(slab.tenant.clone()),
        user: slab.user,
        group: slab.group,
        audience: slab.audience.code(),
        backing: backing::write_record(&slab.backing),
        borrowers_recorded: slab.borrowers_recorded,
        home: slab.home.and_then(id),
        event: slab.event.map(|event| event.to_vec()),
    }
}

pub(super) fn read_made(slab: fb::SlabMadeRef<'_>) -> Read<SlabRecord> {
    Ok(SlabRecord {
        slab: SlabId(uuid("slab", slab.slab()?)?),
        device: message::gpu("device", slab.device()?)?,
        bytes: slab.bytes()?,
        class: slab.class()?,
        tenant: message::text_up_to("tenant", slab.tenant()?, caps::NAME_BYTES)?,
        user: slab.user()?,
        group: slab.group()?,
        audience: message::code("audience", slab.audience()?, Audience::from_code)?,
        backing: backing::read_record(slab.backing()?)?,
        borrowers_recorded: slab.borrowers_recorded()?,
        home: slab.home()?.map(message::record_id_to_uuid),
        event: backing::read_handle("event", slab.event()?)?,
    })
}

pub(super) fn write_tainted(slab: SlabId) -> fb::SlabTainted {
    fb::SlabTainted { slab: id(slab.0) }
}

pub(super) fn write_borrowed(slab: SlabId, user: u32) -> fb::SlabBorrowed {
    fb::SlabBorrowed { slab: id(slab.0), user }
}

pub(super) fn read_borrowed(borrowed: fb::SlabBorrowedRef<'_>) -> Read<Record> {
    let slab = SlabId(uuid("slab", borrowed.slab()?)?);
    Ok(Record::SlabBorrowed { slab, user: borrowed.user()? })
}

pub(super) fn write_gone(slab: SlabId) -> fb::SlabGone {
    fb::SlabGone { slab: id(slab.0) }
}
