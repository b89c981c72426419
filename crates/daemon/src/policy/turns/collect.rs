//! What nobody uses is given back when somebody asks for it.
//!
//! Each tensor goes at its turn, if nobody has leased it by then, and each delete is durable by
//! itself: what was collected stays so if its client hangs up before the end.

use std::collections::{BTreeMap, HashMap};

use millpond_view::units::{bytes as format_bytes, count};
use millpond_wire::message::{EventKind, ReplyBody, TensorInfo};
use millpond_wire::{Audience, Failure, SlabId, TensorId};

use super::Budget;
use crate::policy::answer::from_port;
use crate::policy::owner::{Caller, Owner};
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;

/// What a change weighs against a look: it is in the journal, and an event tells of it.
const CHANGE: usize = 16;

#[derive(Debug)]
pub(super) struct Collection {
    caller: Caller,
    unleased_for_ms: Option<u64>,
    dry_run: bool,
    stage: Stage,
    tensors: Vec<TensorInfo>,
    /// The slabs of those tensors: how many of them go, and the slab's bytes.
    leaving: BTreeMap<SlabId, (u32, u64)>,
    slabs: u32,
    slab_bytes: u64,
}

/// How far a collection is: the last one that was looked at.
#[derive(Debug)]
enum Stage {
    /// Slabs that are empty before any tensor goes.
    Empty(Option<SlabId>),
    Tensors(Option<TensorId>),
    /// Slabs that are empty when the tensors are gone.
    Left,
}

impl Collection {
    pub(super) fn new(caller: Caller, unleased_for_ms: Option<u64>, dry_run: bool) -> Self {
        Self {
            caller,
            unleased_for_ms,
            dry_run,
            stage: Stage::Empty(None),
            tensors: Vec::new(),
            leaving: BTreeMap::new(),
            slabs: 0,
            slab_bytes: 0,
        }
    }

    /// At most, in a pond with so many tensors and slabs.
    pub(super) fn weight(&self, tensors: usize, slabs: usize) -> usize {
        let tensors = self.unleased_for_ms.map_or(0, |_| tensors);
        tensors.saturating_add(slabs).saturating_mul(self.cost())
    }

    fn cost(&self) -> usize {
        if self.dry_run { 1 } else { CHANGE }
    }

    fn gone(&mut self, bytes: u64) {
        self.slabs = self.slabs.saturating_add(1);
        self.slab_bytes += bytes;
    }
}

impl<P: Ports> Pond<P> {
    pub(super) fn slice_of_collection(
        &mut self,
        ports: &mut P,
        collection: &mut Collection,
        budget: &mut Budget,
    ) -> Option<Result<ReplyBody, Failure>> {
        while !budget.is_spent() {
            match collection.stage {
                Stage::Empty(at) => self.collect_empty(ports, collection, at, budget),
                Stage::Tensors(at) => {
                    if let Err(failure) = self.collect_tensors(ports, collection, at, budget) {
                        return Some(Err(failure));
                    }
                }
                Stage::Left => match collection.leaving.pop_first() {
                    Some((id, left)) => self.collect_left(ports, collection, id, left, budget),
                    None => return Some(Ok(self.collected(ports, collection))),
                },
            }
        }
        None
    }

    fn collect_empty(
        &mut self,
        ports: &mut P,
        collection: &mut Collection,
        at: Option<SlabId>,
        budget: &mut Budget,
    ) {
        let mut empty = Vec::new();
        collection.stage = Stage::Tensors(None);
        for (id, slab) in self.slabs.after(at) {
            budget.spend(1);
            if slab.tensors == 0 && collection.caller.may_change(&slab.class.owner) {
                budget.spend(collection.cost());
                empty.push((id, slab.bytes));
            }
            if budget.is_spent() {
                collection.stage = Stage::Empty(Some(id));
                break;
            }
        }
        for (id, bytes) in empty {
            self.give_slab_back(ports, collection, id, bytes);
        }
    }

    fn collect_tensors(
        &mut self,
        ports: &mut P,
        collection: &mut Collection,
        at: Option<TensorId>,
        budget: &mut Budget,
    ) -> Result<(), Failure> {
        collection.stage = Stage::Left;
        let Some(unleased_for) = collection.unleased_for_ms else { return Ok(()) };
        let now_ms = ports.monotonic_ms();
        let before = collection.tensors.len();
        // Asked once for each kind of slab, not for each tensor.
        let mut held: HashMap<(&Owner, Audience), (bool, u64)> = HashMap::new();
        for (id, tensor) in self.catalog.after(at) {
            if budget.is_spent() {
                break;
            }
            budget.spend(1);
            collection.stage = Stage::Tensors(Some(id));
            let Some(slab) = self.slabs.get(tensor.slab) else { continue };
            let creator_lives = self.clients.knows(tensor.creator);
            if tensor.is_deleted()
                || tensor.is_part()
                || self.is_in_use(id)
                || (tensor.is_ephemeral() && creator_lives)
                || !collection.caller.may_change(&slab.class.owner)
            {
                continue;
            }
            let mut since = tensor.life.unleased_ms;
            if tensor.recovered {
                let (is_held, settled) =
                    held.entry((&slab.class.owner, slab.class.audience)).or_insert_with(|| {
                        (self.may_be_held(tensor.slab), self.settled_for(tensor.slab))
                    });
                if *is_held {
                    continue;
                }
                since = since.max(*settled);
            }
            if since.saturating_add(unleased_for) <= now_ms
                && let Ok(info) = self.info(id, now_ms)
            {
                budget.spend(collection.cost());
                collection.leaving.entry(tensor.slab).or_insert((0, slab.bytes)).0 += 1;
                collection.tensors.push(info);
            }
        }
        if !budget.is_spent() {
            collection.stage = Stage::Left;
        }
        if !collection.dry_run {
            let why = format!("collected: no lease for {unleased_for} ms");
            let found: Vec<TensorId> =
                collection.tensors.iter().skip(before).map(|info| info.tensor).collect();
            for id in found {
                self.delete_now(ports, id, &why).map_err(from_port)?;
            }
        }
        Ok(())
    }

    fn collect_left(
        &mut self,
        ports: &mut P,
        collection: &mut Collection,
        id: SlabId,
        (leaving, bytes): (u32, u64),
        budget: &mut Budget,
    ) {
        budget.spend(collection.cost());
        let left = self.slabs.get(id).map(|slab| slab.tensors);
        match left {
            // It went with the last of its tensors.
            None => collection.gone(bytes),
            Some(left) if left == if collection.dry_run { leaving } else { 0 } => {
                self.give_slab_back(ports, collection, id, bytes);
            }
            Some(_) => {}
        }
    }

    fn give_slab_back(
        &mut self,
        ports: &mut P,
        collection: &mut Collection,
        id: SlabId,
        bytes: u64,
    ) {
        if !collection.dry_run {
            self.slabs.let_go(ports, id);
        }
        if collection.dry_run || self.slabs.get(id).is_none() {
            collection.gone(bytes);
        }
    }

    fn collected(&mut self, ports: &mut P, collection: &mut Collection) -> ReplyBody {
        let tensors = std::mem::take(&mut collection.tensors);
        let Collection { slabs, slab_bytes, dry_run, .. } = *collection;
        let any = !tensors.is_empty() || slabs > 0;
        if any && !dry_run {
            let given = format_bytes(slab_bytes);
            let (tensors, slabs) =
                (count(tensors.len() as u64, "tensor"), count(u64::from(slabs), "slab"));
            let text = format!("{tensors}; {slabs}, {given}");
            let user = Some(collection.caller.owner.user);
            self.happened(ports, EventKind::Collected, None, None, user, text);
        }
        ReplyBody::Collected { tensors, slabs, slab_bytes }
    }
}
