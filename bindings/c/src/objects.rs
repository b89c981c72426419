//! The tables of all objects, by the types of the header.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use millpond::{Cancel, Holder};

use crate::border::Answer;
use crate::cancel::millpond_cancel;
use crate::pond::{Connection, millpond_pond};
use crate::status::{Snapshot, millpond_status};
use crate::table::{Kind, Table};
use crate::tensor::{Mapped, millpond_tensor};
use crate::text::{Written, millpond_text};

/// The table of one kind, which takes only handles of that kind.
pub(crate) struct Objects<T, H> {
    table: Table<T>,
    handle: PhantomData<fn(*const H)>,
}

pub(crate) static PONDS: Objects<Connection, millpond_pond> = Objects::new(Kind::Pond);
pub(crate) static TENSORS: Objects<Arc<Mapped>, millpond_tensor> = Objects::new(Kind::Tensor);
pub(crate) static TEXTS: Objects<Arc<Written>, millpond_text> = Objects::new(Kind::Text);
pub(crate) static STATUSES: Objects<Arc<Snapshot>, millpond_status> = Objects::new(Kind::Status);
pub(crate) static CANCELS: Objects<Cancel, millpond_cancel> = Objects::new(Kind::Cancel);

/// Holds all tables still, in one order.
pub(crate) fn hold_all(held: &mut Vec<Box<dyn Any>>) {
    PONDS.table.hold(held);
    TENSORS.table.hold(held);
    TEXTS.table.hold(held);
    STATUSES.table.hold(held);
    CANCELS.table.hold(held);
}

impl<T: Clone, H> Objects<T, H> {
    const fn new(kind: Kind) -> Self {
        Self { table: Table::new(kind), handle: PhantomData }
    }

    /// Keeps an object, and makes its handle.
    pub(crate) fn insert(&self, object: T) -> Answer<*mut H> {
        let key = self.table.insert(object)?;
        Ok(std::ptr::without_provenance_mut(usize::try_from(key).unwrap_or(0)))
    }

    pub(crate) fn get(&self, handle: *const H) -> Answer<T> {
        self.table.get(handle.addr() as u64)
    }

    pub(crate) fn take(&self, handle: *const H) -> Answer<T> {
        self.table.remove(handle.addr() as u64)
    }

    /// Frees a handle; NULL is nothing.
    pub(crate) fn free(&self, handle: *mut H) -> Answer {
        if handle.is_null() {
            return Ok(());
        }
        self.take(handle).map(drop)
    }
}

/// Who holds memory of a full GPU, or uses a tensor that was not deleted for that.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct millpond_holder {
    /// User id of the owner.
    pub user: u32,
    /// The process, where it is about one tensor or one cache; otherwise zero.
    pub pid: u32,
    /// Bytes of the owner's slabs.
    pub bytes: u64,
    /// Tensors in them.
    pub tensors: u32,
    /// 1 if a cache has the bytes, and no slab.
    pub is_cache: u32,
    /// For later versions; zero.
    pub reserved: [u64; 4],
}

impl From<&Holder> for millpond_holder {
    fn from(holder: &Holder) -> Self {
        Self {
            user: holder.user,
            pid: holder.pid.unwrap_or(0),
            bytes: holder.bytes,
            tensors: holder.tensors,
            is_cache: holder.cache.is_some().into(),
            reserved: [0; 4],
        }
    }
}
