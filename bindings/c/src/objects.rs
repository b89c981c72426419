//! The tables of all objects, by the types of the header.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use millpond::{Cancel, Holder};

use crate::blocks::{Handed, millpond_blocks};
use crate::border::Answer;
use crate::cancel::millpond_cancel;
use crate::elastic::{Group, Reserved, millpond_cache, millpond_elastic};
use crate::events::{Subscription, millpond_events};
use crate::handle::{Kept, millpond_handle};
use crate::model::{Attached, millpond_model};
use crate::pond::{Connection, millpond_pond};
use crate::pool::{Kept as KeptPool, millpond_pool};
use crate::prepared::{Ready, millpond_prepared};
use crate::staging::{Begun, millpond_staging};
use crate::status::{Snapshot, millpond_status};
use crate::table::{Kind, Table};
use crate::tensor::{Mapped, millpond_tensor};
use crate::text::{Written, millpond_text};

/// The table of one kind, which takes only handles of that kind.
pub(crate) struct Objects<T, H> {
    table: Table<T>,
    handle: PhantomData<fn(*const H)>,
}

/// One table for each kind, and what holds all of them still.
macro_rules! tables {
    ($($name:ident: $object:ty, $handle:ty, $kind:ident;)*) => {
        $(pub(crate) static $name: Objects<$object, $handle> = Objects::new(Kind::$kind);)*

        /// Holds all tables still, in one order.
        pub(crate) fn hold_all(held: &mut Vec<Box<dyn Any>>) {
            $($name.table.hold(held);)*
        }
    };
}

tables! {
    PONDS: Connection, millpond_pond, Pond;
    TENSORS: Arc<Mapped>, millpond_tensor, Tensor;
    TEXTS: Arc<Written>, millpond_text, Text;
    STATUSES: Arc<Snapshot>, millpond_status, Status;
    CANCELS: Cancel, millpond_cancel, Cancel;
    MODELS: Arc<Attached>, millpond_model, Model;
    STAGINGS: Arc<Begun>, millpond_staging, Staging;
    CACHES: Reserved, millpond_cache, Cache;
    EVENTS: Arc<Subscription>, millpond_events, Events;
    ELASTICS: Group, millpond_elastic, Group;
    POOLS: KeptPool, millpond_pool, Pool;
    HANDLES: Kept, millpond_handle, Handle;
    PREPARED: Arc<Ready>, millpond_prepared, Prepared;
    BLOCKS: Arc<Handed>, millpond_blocks, Blocks;
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
