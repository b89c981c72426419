//! Clients that held very much end in steps.

use super::*;

/// So many tensors that end with their client.
fn fill(play: &mut Play, conn: ConnId, count: usize) {
    for number in 0..count {
        let create = TensorCreate { ephemeral: true, ..spec(&format!("mine/{number}"), 100) };
        play.create(conn, create);
    }
}

#[test]
fn a_death_with_very_much_ends_in_steps_and_others_are_answered_between_them() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (other, _) = play.client(2);
    fill(&mut play, conn, 700);
    let (info, _) = play.create(conn, TensorCreate { zero: true, ..spec("held", 100) });
    play.with_leases(client, info.tensor.into(), 1..=300);
    play.pond.process_gone(&mut play.world, client);
    assert!(play.pond.clients.knows(client) && play.pond.has_turns() && !play.pond.is_idle());
    let mut steps = 0;
    while play.pond.has_turns() {
        play.later(0);
        steps += 1;
        assert_eq!(play.ask(other, RequestBody::Ping), ReplyBody::Done);
    }
    assert_eq!(steps, 4, "a thousand in steps of 256");
    assert!(!play.pond.clients.knows(client) && play.pond.is_idle());
    assert_eq!((play.pond.leases.len(), play.pond.catalog.len()), (0, 1), "what has no end stays");
}

#[test]
fn a_goodbye_with_very_much_is_answered_when_all_of_it_has_ended() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    fill(&mut play, conn, 600);
    let number = play.start(conn, RequestBody::Goodbye);
    play.later(0);
    assert!(play.answer(number).is_none() && play.pond.clients.knows(client));
    assert_eq!(play.ask(conn, RequestBody::Goodbye), ReplyBody::Done, "said twice, it is known");
    let create = RequestBody::TensorCreate(spec("more", 100));
    for refused in [play.hello(conn, client, false), play.ask(conn, create)] {
        let ReplyBody::Failure(failure) = refused else { panic!("{refused:?}") };
        assert_eq!(failure.kind, millpond_wire::ErrorKind::Later, "{failure}");
    }
    play.pond.process_gone(&mut play.world, client);
    while play.pond.has_turns() {
        play.later(0);
    }
    assert_eq!(play.answer(number), Some(ReplyBody::Done));
    assert!(!play.pond.clients.knows(client));
    assert_eq!((play.pond.catalog.len(), play.pond.is_idle()), (0, true));
}

#[test]
fn ends_that_cannot_be_recorded_are_not_tried_for_ever() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    fill(&mut play, conn, 600);
    play.pond.process_gone(&mut play.world, client);
    play.world.journal_fails = true;
    play.later(0);
    assert!(!play.pond.has_turns() && !play.pond.clients.knows(client));
}
