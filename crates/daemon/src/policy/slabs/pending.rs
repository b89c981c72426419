//! Slabs that the driver is making, or is asked for again in a moment.

use std::collections::BTreeMap;

use millpond_wire::{GpuUuid, SlabId};

use super::SlabClass;
use crate::policy::models::MakingKey;

/// A slab that the driver is making.
#[derive(Clone, Debug)]
pub(in crate::policy) struct PendingSlab {
    pub class: SlabClass,
    pub bytes: u64,
    /// It is for a version of a model.
    pub version: Option<MakingKey>,
    /// How often the card had no memory for it.
    pub tries: u32,
    /// How often its owner was not to have it.
    pub waits: u32,
    /// How often the process died that made it.
    pub deaths: u32,
    /// When it is tried again.
    pub again_ms: Option<u64>,
}

impl PendingSlab {
    pub(in crate::policy) fn new(class: SlabClass, bytes: u64, version: Option<MakingKey>) -> Self {
        Self { class, bytes, version, tries: 0, waits: 0, deaths: 0, again_ms: None }
    }
}

#[derive(Debug, Default)]
pub(in crate::policy) struct PendingSlabs {
    slabs: BTreeMap<SlabId, PendingSlab>,
}

impl PendingSlabs {
    pub(in crate::policy) fn insert(&mut self, id: SlabId, pending: PendingSlab) {
        self.slabs.insert(id, pending);
    }

    pub(in crate::policy) fn take(&mut self, id: SlabId) -> Option<PendingSlab> {
        self.slabs.remove(&id)
    }

    pub(in crate::policy) fn class_of(&self, id: SlabId) -> Option<&SlabClass> {
        self.slabs.get(&id).map(|pending| &pending.class)
    }

    pub(in crate::policy) fn bytes_of(&self, id: SlabId) -> Option<u64> {
        self.slabs.get(&id).map(|pending| pending.bytes)
    }

    /// The process that made it is gone; whether another one may try. So many try in all.
    pub(in crate::policy) fn may_try_again(&mut self, id: SlabId, most: u32) -> bool {
        let Some(pending) = self.slabs.get_mut(&id) else { return false };
        pending.deaths += 1;
        pending.deaths < most
    }

    pub(in crate::policy) fn is_empty(&self) -> bool {
        self.slabs.is_empty()
    }

    /// One that tensors of this class can share.
    pub(in crate::policy) fn shared_by(&self, class: &SlabClass) -> Option<SlabId> {
        self.slabs.iter().find(|(_, pending)| pending.class == *class).map(|(id, _)| *id)
    }

    /// Their bytes on a GPU.
    pub(in crate::policy) fn bytes_on(&self, device: GpuUuid) -> u64 {
        let on = self.slabs.values().filter(|pending| pending.class.device == device);
        on.map(|pending| pending.bytes).sum()
    }

    /// Nobody wants it any more. What the driver works on comes all the same.
    pub(in crate::policy) fn give_up(&mut self, id: SlabId) {
        if self.slabs.get(&id).is_some_and(|pending| pending.again_ms.is_some()) {
            self.slabs.remove(&id);
        }
    }

    /// Those whose time to be tried again has come: they are with the driver from now on.
    pub(in crate::policy) fn take_due(&mut self, now_ms: u64) -> Vec<(SlabId, PendingSlab)> {
        let due =
            self.slabs.iter_mut().filter(|(_, it)| it.again_ms.is_some_and(|at| at <= now_ms));
        due.map(|(id, pending)| {
            pending.again_ms = None;
            (*id, pending.clone())
        })
        .collect()
    }

    /// When the next one is tried again.
    pub(in crate::policy) fn next(&self) -> Option<u64> {
        self.slabs.values().filter_map(|pending| pending.again_ms).min()
    }
}
