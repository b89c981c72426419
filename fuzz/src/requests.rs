//! Requests out of the fuzzer's decisions, with identities that meet again.

use millpond_wire::message::{
    Claim, LeaseClaim, RequestBody, Target, TensorCreate, TensorGet, WAIT_FOREVER,
};
use millpond_wire::{Audience, ClientId, Dtype, LeaseId, Mode, Shape, TensorId, TensorName, Token};
use uuid::Uuid;

use crate::bytes::Bytes;
use crate::world::GPU;

/// From nothing to all of the GPU, on both sides of the borders between slab classes.
const SIZES: [u64; 8] =
    [1, 300, (1 << 20) - 1, 1 << 20, 32 << 20, (100 << 20) + 1, 1 << 30, 1 << 49];
const NAMES: [&str; 5] = ["a", "b", "a/b", "public/a", "public/b"];
const TARGETS: [&str; 6] = ["a", "b", "public/a", "~1/a", "~2/b", "c"];

/// A client out of four.
pub fn client(decide: &mut Bytes<'_>) -> ClientId {
    ClientId(Uuid::from_u128(100 + decide.below(4) as u128))
}

fn tensor(decide: &mut Bytes<'_>) -> TensorId {
    TensorId(Uuid::from_u128(200 + decide.below(6) as u128))
}

fn lease(decide: &mut Bytes<'_>) -> LeaseId {
    LeaseId(decide.below(8) as u64)
}

fn target(decide: &mut Bytes<'_>) -> Target {
    match decide.pick(&TARGETS).parse() {
        Ok(name) if decide.flag() => Target::Name(name),
        _ => Target::Id(tensor(decide)),
    }
}

/// Anything that a greeted client can ask.
pub fn body(decide: &mut Bytes<'_>, granted: &[LeaseClaim]) -> RequestBody {
    match decide.below(16) {
        0..=3 => RequestBody::TensorCreate(TensorCreate {
            tensor: tensor(decide),
            name: decide.flag().then(|| TensorName::new(decide.pick(&NAMES)).expect("a name")),
            dtype: decide.pick(&[Dtype::U8, Dtype::F4, Dtype::F64]),
            shape: Shape::new([decide.pick(&SIZES)]).expect("a shape"),
            device: decide.flag().then_some(GPU),
            audience: decide.pick(Audience::ALL),
            ephemeral: decide.flag(),
            zero: decide.flag(),
            lease: decide.flag().then(|| lease(decide)),
        }),
        4..=6 => RequestBody::TensorGet(TensorGet {
            target: target(decide),
            lease: lease(decide),
            mode: decide.pick(Mode::ALL),
            wait_ms: decide.pick(&[0, 100, 1 << 40, WAIT_FOREVER - 1, WAIT_FOREVER]),
        }),
        7 => RequestBody::TensorPublish {
            tensor: tensor(decide),
            token: Token(Uuid::from_u128(decide.below(3) as u128)),
        },
        8 => RequestBody::TensorDelete { tensor: tensor(decide) },
        9 => RequestBody::TensorInspect(target(decide)),
        10 => RequestBody::LeaseRelease {
            leases: (0..decide.below(4)).map(|_| lease(decide)).collect(),
        },
        11 => {
            let mut leases: Vec<LeaseClaim> = (0..decide.below(4))
                .filter_map(|_| granted.get(decide.below(granted.len().max(1))).copied())
                .collect();
            if decide.flag()
                && let Some(first) = leases.first_mut()
            {
                first.lease = lease(decide);
            }
            RequestBody::Claim(Claim { leases, last: decide.flag() })
        }
        12 => RequestBody::Subscribe { from: decide.number() },
        13 => RequestBody::Goodbye,
        14 => RequestBody::TensorList { prefix: decide.pick(&["", "a", "~1/", "public/"]).into() },
        _ => match decide.below(4) {
            0 => RequestBody::Ping,
            1 => RequestBody::PondStatus,
            2 => RequestBody::ClientList,
            _ => RequestBody::Unknown,
        },
    }
}
