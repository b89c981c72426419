//! A client makes tensors that are held, holds them and gives them up.

use millpond_wire::message::{Life, RequestBody, Target, TensorCreate, TensorHold};
use millpond_wire::{Audience, Dtype, TensorId, TensorName, Token, TransportKind};

use super::script::{shape, transport};
use super::{Client, Scene, What};
use crate::holders::PIDS;

/// What is to be the same under one name is as large.
const BYTES: u64 = 512;

impl Client {
    pub(super) fn act_on_holds(&mut self, scene: &mut Scene<'_>) {
        match scene.rng.below(8) {
            0..=1 => self.create_held(scene),
            2..=4 => self.hold(scene, false),
            _ => self.hold(scene, true),
        }
    }

    fn create_held(&mut self, scene: &mut Scene<'_>) {
        let rng = &mut *scene.rng;
        let (tensor, named) = (TensorId(rng.id()), !rng.once_in(3));
        let kind = if scene.transports { transport(tensor) } else { TransportKind::Vmm };
        let create = TensorCreate {
            tensor,
            name: TensorName::new(format!("h{}", rng.below(2))).ok().filter(|_| named),
            dtype: Dtype::U8,
            shape: shape(if named { BYTES } else { scene.sizes.draw(rng) }),
            device: None,
            audience: if named || rng.once_in(2) { Audience::User } else { Audience::Everybody },
            ephemeral: false,
            zero: rng.once_in(4),
            lease: rng.once_in(4).then(|| self.new_lease()),
            life: Life::default(),
            transport: if named { TransportKind::Vmm } else { kind },
            hold: Some(Token(rng.id())),
        };
        scene.trace.say(|| format!("  create {create:?}"));
        let tensor = scene.oracle.asked(self.pid, self.user, &create);
        let lease = create.lease;
        self.ask(RequestBody::TensorCreate(create), What::Create(tensor), lease);
    }

    fn hold(&mut self, scene: &mut Scene<'_>, gives_up: bool) {
        let held = scene.oracle.tensors.iter().enumerate().filter(|(_, known)| known.held);
        let held: Vec<usize> = held.map(|(tensor, _)| tensor).collect();
        // The youngest are the most interesting.
        let recent = &held[held.len().saturating_sub(4)..];
        let Some(&tensor) = scene.rng.pick(recent) else { return };
        let target = Target::Id(scene.oracle.tensors[tensor].id);
        let pid = scene.rng.pick(&PIDS).copied();
        let pid = pid.filter(|_| !scene.rng.once_in(4));
        let ask = TensorHold { target, pid, token: Token(scene.rng.id()) };
        scene.trace.say(|| format!("  gives up {gives_up}: {ask:?}"));
        let body = match gives_up {
            true => RequestBody::TensorUnhold(ask),
            false => RequestBody::TensorHold(ask),
        };
        self.ask(body, What::Hold(tensor), None);
    }
}
