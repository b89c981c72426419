//! A client lends memory of its own.

use std::rc::Rc;

use millpond_wire::message::{RequestBody, TensorAdopt};
use millpond_wire::{Audience, Dtype, TensorId, TensorName, Transport, TransportKind};

use super::script::{Scene, shape};
use super::{Client, Lent, What};
use crate::card::{BLOCK, Fd, places, word_of};
use crate::legacy::{of_nobody, pool_data};
use crate::oracle::Violation;
use crate::world::GPU;

const MIB: u64 = 1 << 20;

/// What is wrong with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    No,
    /// It has fewer bytes.
    Bytes,
    /// It is shared in another way.
    Kind,
}

impl Client {
    /// Makes memory, fills it, and asks the pond to take it in. Some of it is not what the request says.
    pub(super) fn adopt(&mut self, scene: &mut Scene<'_>) -> Result<(), Violation> {
        let rng = &mut *scene.rng;
        let kinds = [TransportKind::Vmm, TransportKind::Mempool, TransportKind::Ipc];
        let kind = kinds[rng.index(4).min(2)];
        let wrong = match rng.below(8) {
            0 => Wrong::Bytes,
            1 => Wrong::Kind,
            _ => Wrong::No,
        };
        let sizes = [2 * MIB, 2 * MIB, 32 * MIB, 40 * MIB];
        let slab_bytes = rng.pick(&sizes).copied().unwrap_or(MIB);
        let offset = BLOCK * rng.below(4);
        let bytes = 1 + rng.below(slab_bytes - offset);
        let name = match rng.below(4) {
            0 => Some(format!("t{}", rng.below(4))),
            _ => None,
        };
        let is = match (wrong, kind) {
            (Wrong::Kind, TransportKind::Vmm) => TransportKind::Mempool,
            (Wrong::Kind, TransportKind::Mempool) => TransportKind::Vmm,
            _ => kind,
        };
        let made = if wrong == Wrong::Bytes { slab_bytes / 2 } else { slab_bytes };
        let Some(memory) = scene.card.make(is, made) else { return Ok(()) };
        let handle = match kind {
            TransportKind::Ipc => Some(scene.legacy.borrow_mut().share_anew(self.pid, &memory)?),
            _ => None,
        };
        let transport = match (kind, handle) {
            (TransportKind::Ipc, _) if wrong == Wrong::Kind => Transport::Ipc(of_nobody()),
            (TransportKind::Ipc, Some(handle)) => Transport::Ipc(handle),
            (TransportKind::Mempool, _) => Transport::Mempool(pool_data(&memory)),
            _ => Transport::Vmm,
        };
        let audience = [Audience::User, Audience::Everybody];
        let adopt = TensorAdopt {
            tensor: TensorId(rng.id()),
            name: name.and_then(|name| TensorName::new(name).ok()),
            dtype: Dtype::U8,
            shape: shape(bytes),
            device: GPU,
            audience: rng.pick(&audience).copied().unwrap_or(Audience::User),
            slab_bytes,
            offset,
            transport,
        };
        scene.trace.say(|| format!("  adopt {adopt:?}, wrong: {wrong:?}"));
        let tensor = scene.oracle.lent(self.pid, self.user, &adopt, wrong != Wrong::No);
        for at in places(offset, bytes) {
            memory.write(at, word_of(tensor, offset, at));
        }
        let fd = handle.is_none().then(|| Fd::Memory(Rc::clone(&memory)));
        self.lent.insert(tensor, Lent { memory, handle });
        let body = RequestBody::TensorAdopt(Box::new(adopt));
        self.ask_with(body, What::Adopt(tensor), None, fd);
        Ok(())
    }
}
