//! What a client does next.

use millpond_client_core::Ended;
use millpond_wire::message::{
    Life, MoveWork, Rename, RequestBody, Target, TensorCreate, TensorGet, TensorMove, TensorPublish,
};
use millpond_wire::{
    Audience, Dtype, LeaseId, Mode, Shape, TensorId, TensorName, Token, TransportKind,
};

use super::{Client, Kernel, What};
use crate::card::{Card, Fd};
use crate::legacy::SharedLegacy;
use crate::mutation::Mutation;
use crate::oracle::{Oracle, Violation};
use crate::rng::Rng;
use crate::trace::Trace;

const MIB: u64 = 1 << 20;

/// Gets of a tensor whose gets are counted.
const COUNTED: u64 = 1 << 40;

/// How large the tensors of a schedule are.
#[derive(Clone, Copy, Debug)]
pub enum Sizes {
    /// Many in one slab.
    Small,
    Mixed,
    /// Each its own slab.
    Large,
}

impl Sizes {
    pub(super) fn draw(self, rng: &mut Rng) -> u64 {
        let small = 1 + rng.below(4 * 256);
        let large = (32 + 8 * rng.below(3)) * MIB;
        match self {
            Sizes::Small => small,
            Sizes::Large => large,
            Sizes::Mixed => match rng.below(4) {
                0 => large,
                1 => MIB + rng.below(8) * MIB,
                _ => small,
            },
        }
    }
}

/// What surrounds a client that acts.
pub struct Scene<'a> {
    pub oracle: &'a mut Oracle,
    pub rng: &'a mut Rng,
    pub mutation: Option<Mutation>,
    pub sizes: Sizes,
    pub models: bool,
    /// It uses every transport, and lends memory of its own.
    pub transports: bool,
    /// It makes tensors that are held, and holds them.
    pub holds: bool,
    pub card: &'a mut Card,
    pub legacy: &'a SharedLegacy,
    pub trace: &'a Trace,
}

impl Client {
    /// Does one thing of its own accord.
    ///
    /// # Errors
    /// If it sees what it must not.
    pub fn act(&mut self, scene: &mut Scene<'_>) -> Result<(), Violation> {
        if scene.models && !scene.rng.once_in(4) {
            return self.act_on_models(scene);
        }
        if scene.holds && scene.rng.once_in(3) {
            self.act_on_holds(scene);
            return Ok(());
        }
        if scene.transports && scene.rng.once_in(8) {
            return self.adopt(scene);
        }
        match scene.rng.below(20) {
            0..=4 => self.create(scene),
            5..=6 => self.get(scene),
            7 => self.queue_kernel(scene),
            8..=9 => self.move_bytes(scene),
            10..=12 => self.publish(scene)?,
            13..=14 => self.look(scene)?,
            15..=16 => self.retire(scene)?,
            17 if scene.rng.once_in(2) => self.rename(scene),
            17 => self.delete(scene),
            18 => self.give_up_or_ping(scene),
            _ => self.leave(scene),
        }
        Ok(())
    }

    fn create(&mut self, scene: &mut Scene<'_>) {
        let rng = &mut *scene.rng;
        let name = match rng.below(8) {
            0..=2 => None,
            3 => Some("public/p".to_owned()),
            _ => Some(format!("t{}", rng.below(4))),
        };
        let audience = [Audience::User, Audience::User, Audience::Everybody];
        let tensor = TensorId(rng.id());
        // More than there are in any schedule: leases on it are in the journal, and nothing ends.
        let accesses = tensor.0.as_u128().is_multiple_of(3).then_some(COUNTED);
        let create = TensorCreate {
            tensor,
            name: name.and_then(|name| TensorName::new(name).ok()),
            dtype: Dtype::U8,
            shape: shape(scene.sizes.draw(rng)),
            device: None,
            audience: rng.pick(&audience).copied().unwrap_or(Audience::User),
            ephemeral: rng.once_in(5),
            zero: rng.once_in(4),
            lease: (!rng.once_in(5)).then(|| self.new_lease()),
            life: Life { accesses, ..Life::default() },
            transport: if scene.transports { transport(tensor) } else { TransportKind::Vmm },
            hold: None,
        };
        scene.trace.say(|| format!("  create {create:?}"));
        let tensor = scene.oracle.asked(self.pid, self.user, &create);
        let lease = create.lease;
        self.ask(RequestBody::TensorCreate(create), What::Create(tensor), lease);
    }

    fn get(&mut self, scene: &mut Scene<'_>) {
        let rng = &mut *scene.rng;
        let lease = self.new_lease();
        let by_name = rng.once_in(3);
        let known = scene.oracle.tensors.len();
        // The youngest are the most interesting.
        let recent = known.saturating_sub(1 + rng.index(known.min(6)));
        let (target, tensor) = match scene.oracle.tensors.get(recent) {
            Some(known) if !by_name => (Target::Id(known.id), Some(recent)),
            _ => {
                // Nobody makes `p`, which is not `public/p`.
                let name = ["t0", "t1", "p", "public/p", "r"];
                let name = rng.pick(&name).copied().unwrap_or("t0");
                let Ok(name) = name.parse() else { return };
                (Target::Name(name), None)
            }
        };
        let mode = if rng.once_in(3) { Mode::ReadWrite } else { Mode::ReadOnly };
        let wait_ms = if rng.once_in(3) { 1 + rng.below(1000) } else { 0 };
        scene.trace.say(|| format!("  get {target} lease {lease} {mode} wait {wait_ms}"));
        let get = TensorGet { target, lease, mode, wait_ms };
        self.ask(RequestBody::TensorGet(get), What::Get(tensor), Some(lease));
    }

    /// Work on the card that writes a tensor, some time.
    fn queue_kernel(&mut self, scene: &mut Scene<'_>) {
        let writable = self.writable();
        let Some(&lease) = scene.rng.pick(&writable) else { return };
        let Some(mapping) = self.mappings.get(&lease) else { return };
        let Some((tensor, memory)) = scene.rng.pick(&mapping.ranges).cloned() else { return };
        scene.trace.say(|| format!("  kernel over lease {lease}"));
        self.kernels.push(Kernel { lease, tensor, memory });
    }

    /// Writes, waits for the card, publishes.
    fn publish(&mut self, scene: &mut Scene<'_>) -> Result<(), Violation> {
        if let Some(tensor) = self.filled.pop() {
            self.publish_tensor(tensor, scene);
            return Ok(());
        }
        let mut writable = self.writable();
        writable.retain(|lease| self.mappings[lease].version.is_none());
        let Some(&lease) = scene.rng.pick(&writable) else { return Ok(()) };
        self.queue_kernel_of(lease);
        self.synchronise(lease, scene.oracle)?;
        let Some(mapping) = self.mappings.get_mut(&lease) else { return Ok(()) };
        mapping.written = true;
        if let Some(&(tensor, _)) = mapping.ranges.first() {
            self.publish_tensor(tensor, scene);
        }
        Ok(())
    }

    /// All of it was written: the pond is told, and may be told a name.
    fn publish_tensor(&mut self, tensor: usize, scene: &mut Scene<'_>) {
        let named = scene.oracle.tensors[tensor].name.is_none()
            && scene.oracle.tensors[tensor].user == self.user
            && scene.rng.once_in(2);
        let name = if named { TensorName::new("r").ok() } else { None };
        if named {
            // From now on it may replace the others of that name, and the others this one.
            let user = self.user;
            let same = |known: &crate::oracle::Known| {
                known.user == user && known.name.as_deref() == Some("r")
            };
            for other in scene.oracle.tensors.iter_mut().filter(|known| same(known)) {
                other.may_be_gone = true;
            }
            let twin = scene.oracle.tensors.iter().any(same);
            let known = &mut scene.oracle.tensors[tensor];
            known.name = Some("r".to_owned());
            known.named_later = true;
            known.may_be_gone |= twin;
        }
        let (id, token) = (scene.oracle.tensors[tensor].id, Token(scene.rng.id()));
        scene.trace.say(|| format!("  publish {id} as {name:?}"));
        let publish = TensorPublish { tensor: id, token, name, replace: true };
        self.ask(RequestBody::TensorPublish(publish), What::Publish(tensor), None);
    }

    /// Has a mover fill a tensor, or read one.
    fn move_bytes(&mut self, scene: &mut Scene<'_>) {
        let known = scene.oracle.tensors.len();
        let tensor = known.saturating_sub(1 + scene.rng.index(known.min(6)));
        let Some(known) = scene.oracle.tensors.get(tensor) else { return };
        let writes = known.user == self.user && !scene.rng.once_in(3);
        let work = if writes {
            MoveWork::Put { file_offset: 0 }
        } else {
            MoveWork::Get { file_offset: 0 }
        };
        // What is not published can be read under a lease, and is not complete then.
        if !writes && !known.published {
            return;
        }
        let (id, bytes, token) = (known.id, known.bytes, Token(scene.rng.id()));
        scene.trace.say(|| format!("  {} {id}", work.name()));
        let body = TensorMove { token, tensor: id, offset: 0, bytes, work };
        let file = Some(Fd::Contents(tensor));
        self.ask_with(RequestBody::TensorMove(body), What::Move(tensor, writes), None, file);
    }

    /// Looks at everything that it has mapped.
    fn look(&mut self, scene: &mut Scene<'_>) -> Result<(), Violation> {
        self.look_at_all(scene.oracle)
    }

    /// Looks at everything that it has mapped.
    ///
    /// # Errors
    /// If it sees what it must not.
    pub fn look_at_all(&self, oracle: &Oracle) -> Result<(), Violation> {
        for mapping in self.mappings.values() {
            for (tensor, memory) in &mapping.ranges {
                let complete =
                    mapping.written || mapping.ready || oracle.tensors[*tensor].published;
                oracle.read(*tensor, memory, complete, &format!("pid {}", self.pid))?;
            }
        }
        Ok(())
    }

    /// Waits for the card, unmaps; the pond is told later.
    fn retire(&mut self, scene: &mut Scene<'_>) -> Result<(), Violation> {
        let mapped: Vec<LeaseId> = self.mappings.keys().copied().collect();
        let Some(&lease) = scene.rng.pick(&mapped) else { return Ok(()) };
        scene.trace.say(|| format!("  retire lease {lease}"));
        self.end_lease(lease, scene.oracle, scene.mutation)
    }

    /// The end of one lease.
    ///
    /// # Errors
    /// If its last work lands where it must not.
    pub fn end_lease(
        &mut self,
        lease: LeaseId,
        oracle: &Oracle,
        mutation: Option<Mutation>,
    ) -> Result<(), Violation> {
        self.retiring.push(lease, ());
        if mutation == Some(Mutation::ReleaseBeforeUnmap) {
            // Its kernels keep the mapping, and run when they like.
            self.queue_kernel_of(lease);
        } else {
            self.synchronise(lease, oracle)?;
        }
        for (lease, ()) in self.retiring.work_ended() {
            self.mappings.remove(&lease);
            self.retiring.unmapped(lease);
        }
        Ok(())
    }

    pub(super) fn queue_kernel_of(&mut self, lease: LeaseId) {
        let Some(mapping) = self.mappings.get(&lease) else { return };
        if mapping.mode != Mode::ReadWrite {
            return;
        }
        for (tensor, memory) in mapping.ranges.clone() {
            self.kernels.push(Kernel { lease, tensor, memory });
        }
    }

    pub(super) fn synchronise(&mut self, lease: LeaseId, oracle: &Oracle) -> Result<(), Violation> {
        for kernel in self.take_kernels(lease) {
            oracle.write(kernel.tensor, &kernel.memory, &format!("pid {}", self.pid))?;
        }
        Ok(())
    }

    /// Another name for a tensor of one's own.
    fn rename(&mut self, scene: &mut Scene<'_>) {
        let known = scene.oracle.tensors.len();
        let tensor = known.saturating_sub(1 + scene.rng.index(known.min(6)));
        let Some(known) = scene.oracle.tensors.get_mut(tensor) else { return };
        if known.user != self.user || known.part {
            return;
        }
        let to = format!("t{}", scene.rng.below(4));
        let Ok(name) = TensorName::new(to.clone()) else { return };
        let (object, token) = (known.id, Token(scene.rng.id()));
        known.renames += 1;
        scene.trace.say(|| format!("  rename {object} to {to}"));
        let rename = Rename { object: object.into(), name, token };
        self.ask(RequestBody::Rename(rename), What::Rename(tensor, to), None);
    }

    fn delete(&mut self, scene: &mut Scene<'_>) {
        let known = scene.oracle.tensors.len();
        let tensor = known.saturating_sub(1 + scene.rng.index(known.min(8)));
        let Some(known) = scene.oracle.tensors.get_mut(tensor) else { return };
        known.may_be_gone |= known.user == self.user;
        let id = known.id;
        scene.trace.say(|| format!("  delete {id}"));
        self.ask(RequestBody::TensorDelete { tensor: id }, What::Delete(tensor), None);
    }

    fn give_up_or_ping(&mut self, scene: &mut Scene<'_>) {
        if !self.give_up(scene) {
            self.ask(RequestBody::Ping, What::Other, None);
        }
    }

    /// A caller that waits for a lease loses patience; false if there is none.
    fn give_up(&mut self, scene: &mut Scene<'_>) -> bool {
        let leases = |what: &What| {
            matches!(what, What::Create(_) | What::Get(_) | What::Stage | What::Attach)
        };
        let given: Vec<u64> =
            self.calls.iter().filter(|(_, asked)| leases(&asked.what)).map(|(n, _)| *n).collect();
        let Some(&number) = scene.rng.pick(&given) else { return false };
        let Some(mut asked) = self.calls.remove(&number) else { return false };
        scene.trace.say(|| format!("  gives up request {number}"));
        asked.call.give_up(&mut self.session);
        asked.call.end(&mut self.session, Ended::Badly);
        self.given_up.insert(number);
        true
    }

    /// The connection breaks, or the process says goodbye.
    fn leave(&mut self, scene: &mut Scene<'_>) {
        let idle = self.calls.is_empty() && !self.session.has_duties();
        if idle && self.is_up() && scene.rng.once_in(2) {
            scene.trace.say(|| "  goodbye".to_owned());
            for tensor in self.lent.keys() {
                scene.oracle.tensors[*tensor].may_be_gone = true;
            }
            if let Some(goodbye) = self.session.closed() {
                self.send(&goodbye, None);
            }
            self.hang_up();
        } else {
            scene.trace.say(|| "  hangs up".to_owned());
            self.hang_up();
            // Before the answer that was lost is asked for again.
            if scene.rng.once_in(2) {
                self.give_up(scene);
            }
        }
    }
}

/// How a tensor is shared, by its identity.
pub(super) fn transport(tensor: TensorId) -> TransportKind {
    match tensor.0.as_u128() >> 8 & 15 {
        0..=3 => TransportKind::Vmm,
        4..=7 => TransportKind::Mempool,
        8 => TransportKind::Fabric,
        _ => TransportKind::Ipc,
    }
}

pub(super) fn shape(bytes: u64) -> Shape {
    Shape::new([bytes]).unwrap_or_else(|_| unreachable!("a small number is a shape"))
}
