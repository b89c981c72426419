//! What nobody uses is given back when somebody asks for it.

use std::collections::HashMap;

use millpond_view::units::bytes as format_bytes;
use millpond_view::units::count;
use millpond_wire::message::{EventKind, ReplyBody, TensorInfo};
use millpond_wire::{Audience, SlabId, TensorId};

use super::answer::{Answer, from_port, now};
use super::owner::{Caller, Owner};
use super::pond::Pond;
use super::ports::Ports;

/// What would be given back.
struct Plan {
    tensors: Vec<TensorId>,
    /// Empty slabs, and those that are empty when the tensors are gone, with their bytes.
    slabs: Vec<(SlabId, u64)>,
}

impl<P: Ports> Pond<P> {
    /// Empty slabs of the caller, or of everybody for the operator; and tensors that nobody has
    /// leased for so long.
    pub(super) fn collect(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        unleased_for_ms: Option<u64>,
        dry_run: bool,
    ) -> Answer<P::Fd> {
        let now_ms = ports.monotonic_ms();
        let Plan { tensors, slabs } = self.plan(caller, unleased_for_ms, now_ms);
        let info = |id: &TensorId| self.info(*id, now_ms).ok();
        let mut infos: Vec<TensorInfo> = tensors.iter().filter_map(info).collect();
        super::listing::in_order(&mut infos);
        let mut gone = slabs.clone();
        if !dry_run {
            self.check_draining()?;
            let unleased = unleased_for_ms.unwrap_or(0);
            let why = format!("collected: no lease for {unleased} ms");
            for id in tensors {
                self.delete_now(ports, id, &why).map_err(from_port)?;
            }
            for (id, _) in &slabs {
                if self.slabs.get(*id).is_some_and(|slab| slab.tensors == 0) {
                    self.slabs.let_go(ports, *id);
                }
            }
            gone.retain(|(id, _)| self.slabs.get(*id).is_none());
        }
        let slab_bytes = gone.iter().map(|(_, bytes)| bytes).sum();
        let any = !infos.is_empty() || !gone.is_empty();
        if any && !dry_run {
            let given = format_bytes(slab_bytes);
            let (tensors, slabs) =
                (count(infos.len() as u64, "tensor"), count(gone.len() as u64, "slab"));
            let text = format!("{tensors}; {slabs}, {given}");
            let user = Some(caller.owner.user);
            self.happened(ports, EventKind::Collected, None, None, user, text);
        }
        let slabs = u32::try_from(gone.len()).unwrap_or(u32::MAX);
        now(ReplyBody::Collected { tensors: infos, slabs, slab_bytes })
    }

    fn plan(&self, caller: &Caller, unleased_for_ms: Option<u64>, now_ms: u64) -> Plan {
        let mut tensors = Vec::new();
        let mut leaving: HashMap<SlabId, u32> = HashMap::new();
        if let Some(unleased_for) = unleased_for_ms {
            // Asked once for each kind of slab, not for each tensor.
            let mut held: HashMap<(&Owner, Audience), (bool, u64)> = HashMap::new();
            for (id, tensor) in self.catalog.iter() {
                let Some(slab) = self.slabs.get(tensor.slab) else { continue };
                let creator_lives = self.clients.knows(tensor.creator);
                if tensor.is_deleted()
                    || tensor.is_part()
                    || self.leases.are_on(id)
                    || (tensor.is_ephemeral() && creator_lives)
                    || !caller.may_change(&slab.class.owner)
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
                if since.saturating_add(unleased_for) <= now_ms {
                    tensors.push(id);
                    *leaving.entry(tensor.slab).or_default() += 1;
                }
            }
        }
        let slabs = self
            .slabs
            .iter()
            .filter(|(_, slab)| caller.may_change(&slab.class.owner))
            .filter(|(id, slab)| slab.tensors == leaving.get(id).copied().unwrap_or(0))
            .map(|(id, slab)| (id, slab.bytes))
            .collect();
        Plan { tensors, slabs }
    }
}
