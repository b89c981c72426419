//! The bytes between daemon and host are those of the golden files.

#![allow(clippy::unwrap_used)]

#[path = "../../../tests/golden/check.rs"]
mod check;

use millpond_host::channel::{FromHost, Handle, Holding, ToHost, Why};
use millpond_wire::{Epoch, GpuUuid, SlabId};

fn slab() -> SlabId {
    "11112222-3333-4444-5555-666677778888".parse().unwrap()
}

fn handle(first: u8) -> Handle {
    std::array::from_fn(|at| first + u8::try_from(at).unwrap())
}

fn to_host() -> Vec<(&'static str, ToHost)> {
    let (slab, bytes) = (slab(), 4 << 20);
    vec![
        ("start", ToHost::Start { device: GpuUuid([1; 16]) }),
        ("hello", ToHost::Hello { epoch: Epoch(3) }),
        ("allocate", ToHost::Allocate { slab, bytes, zero: false }),
        ("allocate-zero", ToHost::Allocate { slab, bytes, zero: true }),
        ("free", ToHost::Free { slab }),
        ("stop", ToHost::Stop),
    ]
}

fn from_host() -> Vec<(&'static str, FromHost)> {
    let (slab, epoch, context_bytes) = (slab(), Epoch(3), 500 << 20);
    let (memory, event) = (handle(0), handle(128));
    let text = || "no room".to_owned();
    let no = |why| FromHost::NotAllocated { slab, why, text: text() };
    let held = vec![Holding { slab, bytes: 4 << 20, memory, event }; 2];
    vec![
        ("ready", FromHost::Ready { context_bytes }),
        ("failed", FromHost::Failed { text: text() }),
        ("holds", FromHost::Holds { epoch, held }),
        ("holds-end", FromHost::HoldsEnd { epoch, sealed: false, context_bytes }),
        ("holds-end-sealed", FromHost::HoldsEnd { epoch, sealed: true, context_bytes }),
        ("allocated", FromHost::Allocated { slab, memory, event }),
        ("not-allocated-out-of-memory", no(Why::OutOfMemory)),
        ("not-allocated-sealed", no(Why::Sealed)),
        ("not-allocated-exists", no(Why::Exists)),
        ("not-allocated-driver", no(Why::Driver)),
        ("not-allocated-size", no(Why::Size)),
        ("freed", FromHost::Freed { slab }),
    ]
}

#[test]
fn golden_to_host() {
    let messages = to_host();
    let encoded = messages.iter().map(|(name, it)| ((*name).to_owned(), it.encode()));
    let golden = check::check("to-host", encoded);
    for (name, message) in &messages {
        assert_eq!(ToHost::decode(&golden[*name]).unwrap(), *message, "{name}");
    }
}

#[test]
fn golden_from_host() {
    let messages = from_host();
    let encoded = messages.iter().map(|(name, it)| ((*name).to_owned(), it.encode()));
    let golden = check::check("from-host", encoded);
    for (name, message) in &messages {
        assert_eq!(FromHost::decode(&golden[*name]).unwrap(), *message, "{name}");
    }
}
