//! A connection that ends takes nothing along but what it had asked for itself.

use millpond_wire::message::{VersionGet, VersionStage};
use millpond_wire::{VersionId, VersionTarget};

use super::*;

fn stage() -> RequestBody {
    let parts = vec![millpond_wire::message::PartSpec { bytes: MIB, shared: None }];
    RequestBody::VersionStage(VersionStage {
        version: VersionId::random(),
        model: "m".parse().unwrap(),
        tag: None,
        device: None,
        audience: Audience::User,
        parts,
        lease: None,
    })
}

#[test]
fn what_others_wait_for_still_comes() {
    let mut play = Play::new();
    let (stays, _) = play.client(1);
    let (leaves, _) = play.client(1);
    let version = |lease| {
        RequestBody::VersionGet(VersionGet {
            target: VersionTarget::Name("m@v1".parse().unwrap()),
            lease: LeaseId(lease),
            mode: Mode::ReadOnly,
            wait_ms: 1000,
        })
    };
    let waits = |play: &mut Play, conn| {
        let bodies = [get("x", 1, Mode::ReadOnly, 1000), version(2), RequestBody::PondStatus];
        bodies.map(|body| play.start(conn, body))
    };
    let stayed = waits(&mut play, stays);
    let left = waits(&mut play, leaves);
    play.pond.hung_up(&mut play.world, leaves);
    play.later(1000);
    assert!(stayed.map(|number| play.answer(number).is_some()).iter().all(|came| *came));
    assert!(left.iter().all(|number| play.answer(*number).is_none()));
}

#[test]
fn what_others_asked_for_before_the_driver_came_is_made() {
    let mut play = Play::new();
    play.pond.gpus.forget_driver();
    let (stays, _) = play.client(1);
    let (leaves, _) = play.client(2);
    let asks = |play: &mut Play, conn| {
        let create = RequestBody::TensorCreate(spec("x", 100));
        [create, stage()].map(|body| play.start(conn, body))
    };
    asks(&mut play, stays);
    asks(&mut play, leaves);
    play.pond.hung_up(&mut play.world, leaves);
    assert!(play.world.asked_for.is_empty());
    play.driver_ready(1 << 30);
    assert_eq!(play.world.asked_for, [1, 1], "and nothing for who has left");
}

#[test]
fn an_old_connection_of_a_client_that_has_a_new_one_does_not_silence_it() {
    let mut play = Play::new();
    let (old, client) = play.client(1);
    play.create(old, TensorCreate { zero: true, ..spec("x", 100) });
    play.get(old, "x", 1);
    let new = play.connect(1);
    assert!(matches!(play.hello(new, client, false), ReplyBody::Welcome(_)));
    play.pond.hung_up(&mut play.world, old);
    assert_eq!(play.pond.clients.silent(), 0);
    play.release(new, 1);
    // Nor is one ended that holds nothing.
    let again = play.connect(1);
    play.hello(again, client, false);
    play.pond.hung_up(&mut play.world, new);
    play.get(again, "x", 2);
}
