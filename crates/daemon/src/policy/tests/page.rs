//! Whoever knows something from an answer learns from the page when it may not be so any more.

use millpond_wire::page::{slot_of_id, slot_of_name};

use super::*;

#[test]
fn every_change_of_what_a_name_means_is_on_the_page_before_it_is_answered() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let name = |text: &str| slot_of_name(&text.parse().unwrap());
    let bumped = |play: &mut Play| std::mem::take(&mut play.world.bumped);
    bumped(&mut play);
    let (x, _) = play.create(conn, spec("x", 100));
    assert_eq!(bumped(&mut play), [name("x"), slot_of_id(x.tensor)]);
    play.publish(conn, x.tensor);
    assert_eq!(bumped(&mut play), [name("x"), slot_of_id(x.tensor)]);
    play.get(conn, "x", 1);
    play.release(conn, 1);
    assert!(bumped(&mut play).is_empty(), "who has a lease changes nothing for others");

    let (y, _) = play.create(conn, TensorCreate { name: None, ..spec("y", 100) });
    assert_eq!(bumped(&mut play), [slot_of_id(y.tensor); 2]);
    let replace = RequestBody::TensorPublish(TensorPublish {
        tensor: y.tensor,
        token: millpond_wire::Token::random(),
        name: Some("x".parse().unwrap()),
        replace: true,
    });
    assert!(matches!(play.ask(conn, replace), ReplyBody::Published { .. }));
    let slots = bumped(&mut play);
    for slot in [name("x"), slot_of_id(x.tensor), slot_of_id(y.tensor)] {
        assert!(slots.contains(&slot));
    }
    play.world.did.clear();
    play.delete(conn, y.tensor);
    assert_eq!(bumped(&mut play), [name("x"), slot_of_id(y.tensor)]);
    let bump = play.world.did.iter().position(|did| *did == Did::Bump).unwrap();
    let journal = play.world.did.iter().position(|did| *did == Did::Journal("deleted")).unwrap();
    let reply = play.world.did.iter().position(|did| matches!(did, Did::Reply(_))).unwrap();
    assert!(journal < bump && bump < reply);
    play.world.now = 5;
    let life = Life { ttl_ms: Some(10), ..Life::default() };
    let (timed, _) = play.create(conn, TensorCreate { life, ..spec("timed", 100) });
    bumped(&mut play);
    play.later(10);
    assert_eq!(bumped(&mut play), [name("timed"), slot_of_id(timed.tensor)]);
}

#[test]
fn the_page_comes_with_the_welcome() {
    let mut play = Play::new();
    let conn = play.connect(1);
    let hello = Hello {
        version: VERSION,
        capabilities: 0,
        client: ClientId::random(),
        program: "test".into(),
        claims: false,
        proof: None,
    };
    play.start(conn, RequestBody::Hello(hello));
    let (_, reply, fd) = play.world.replies.pop().unwrap();
    let ReplyBody::Welcome(welcome) = reply.body else { panic!("{reply:?}") };
    assert_eq!((welcome.page_slots, fd), (512, Some(u64::MAX)));
}
