//! The bytes between keeper and daemon are those of the golden file.

#![allow(clippy::unwrap_used)]

#[path = "../../../tests/golden/check.rs"]
mod check;

use millpond_keeper::channel::{HoldKey, Holding, Message};
use millpond_wire::{Backing, ClientId, Epoch, GpuUuid, SlabId, Transport, VersionId};

const ID: &str = "11112222-3333-4444-5555-666677778888";

fn messages() -> Vec<(&'static str, Message)> {
    let (slab, client): (SlabId, ClientId) = (ID.parse().unwrap(), ID.parse().unwrap());
    let manifest: VersionId = ID.parse().unwrap();
    let keys = vec![
        HoldKey::journal(),
        HoldKey::page(),
        HoldKey::listen("pond.sock").unwrap(),
        HoldKey::folder_lock(),
        HoldKey::gpu_lock(GpuUuid([1; 16])),
        HoldKey::slab(slab),
        HoldKey::client(client),
        HoldKey::manifest(manifest),
        HoldKey::handover(),
        HoldKey::store(),
    ];
    let plain: Vec<Holding> = keys.iter().cloned().map(Holding::from).collect();
    let mempool = Transport::Mempool(std::array::from_fn(|at| u8::try_from(at).unwrap()));
    let backing = |transport, adopted| Backing { transport, adopted };
    let backings: Vec<Holding> = [
        backing(Transport::Vmm, false),
        backing(Transport::Vmm, true),
        backing(mempool, false),
        backing(mempool, true),
    ]
    .map(|backing| Holding { key: HoldKey::slab(slab), backing })
    .to_vec();
    let (epoch, config) = (Epoch(3), b"{\"driver\":\"soft\"}".to_vec());
    vec![
        ("start", Message::Start { epoch, keeper_pid: 7, config: config.clone(), version: 1 }),
        ("start-2", Message::Start { epoch, keeper_pid: 7, config: config.clone(), version: 2 }),
        ("held", Message::Held { holdings: plain.clone() }),
        ("held-backings", Message::Held { holdings: backings.clone() }),
        ("ready", Message::Ready),
        ("ping", Message::Ping { number: 9 }),
        ("stop", Message::Stop),
        ("hand-over", Message::HandOver),
        ("upgrade-refused", Message::UpgradeRefused { reason: "it is no program".into() }),
        ("hold", Message::Hold { holdings: plain }),
        ("hold-backings", Message::Hold { holdings: backings }),
        ("drop", Message::Drop { keys }),
        ("pong", Message::Pong { number: 9 }),
        ("serving", Message::Serving),
        ("adopt", Message::Adopt { epoch, daemon_pid: 8, config, version: 1 }),
        ("adopt-done", Message::AdoptDone),
        ("upgrade", Message::Upgrade { program: "/usr/bin/millpond".into() }),
        ("handed-over", Message::HandedOver),
    ]
}

#[test]
fn golden_keeper_channel() {
    let messages = messages();
    let encoded = messages.iter().map(|(name, it)| ((*name).to_owned(), it.encode().unwrap()));
    let golden = check::check("keeper-channel", encoded);
    for (name, message) in &messages {
        assert_eq!(Message::decode(&golden[*name]).unwrap(), *message, "{name}");
    }
}
