//! Creating, naming, waiting, capacity.

use millpond_wire::ErrorKind;

use super::*;

#[test]
fn create_is_hold_then_journal_then_reply() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.world.did.clear();
    let (info, _) = play.create(conn, spec("x", 100));
    let slab = Held::Slab(info.slab);
    let number = play.next_number - 1;
    assert_eq!(
        play.world.did,
        [
            Did::Hold(slab),
            Did::Journal("slab"),
            Did::Journal("tensor"),
            Did::Bump,
            Did::Reply(number)
        ]
    );
    play.world.did.clear();
    play.delete(conn, info.tensor);
    let deleting =
        [Did::Journal("deleted"), Did::Bump, Did::Journal("freed"), Did::Reply(number + 1)];
    assert_eq!(play.world.did, deleting, "the empty slab is kept for its owner");
}

#[test]
fn a_journal_that_fails_is_not_answered_with_yes() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, spec("x", 100));
    play.world.journal_fails = true;
    let failure = play.refused(conn, RequestBody::TensorCreate(spec("y", 100)));
    assert_eq!(failure.kind, ErrorKind::Internal);
    play.world.journal_fails = false;
    assert_eq!(play.create(conn, spec("z", 100)).0.offset, 256, "the range was given back");
}

#[test]
fn small_tensors_share_a_slab_and_large_ones_do_not() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (a, _) = play.create(conn, spec("a", 100));
    let (b, _) = play.create(conn, spec("b", 100));
    assert_eq!((a.slab, a.offset, b.slab, b.offset), (a.slab, 0, a.slab, 256));
    let (c, _) = play.create(conn, spec("c", 40 * MIB));
    let (d, _) = play.create(conn, spec("d", 40 * MIB));
    assert_ne!(c.slab, d.slab);
    assert_eq!(c.slab_bytes, 40 * MIB);
    assert_eq!(play.slab_bytes(), 82 * MIB);
    play.check_held();
}

#[test]
fn creates_that_come_while_a_slab_is_made_wait_for_the_same_one() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let first = play.start(conn, RequestBody::TensorCreate(spec("a", 100)));
    let second = play.start(conn, RequestBody::TensorCreate(spec("b", 100)));
    assert_eq!(play.world.asked.len(), 1);
    let (slab, _, _) = play.world.asked.pop().unwrap();
    play.pond.slab_made(&mut play.world, slab, Ok(5));
    assert!(matches!(play.answer(first), Some(ReplyBody::Tensor(_))));
    assert!(matches!(play.answer(second), Some(ReplyBody::Tensor(_))));
}

#[test]
fn the_same_create_twice_makes_one_tensor() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let create = spec("x", 100);
    let (first, _) = play.create(conn, create.clone());
    let (second, _) = play.create(conn, create);
    assert_eq!(first, second);
    let (same_name, _) = play.create(conn, spec("x", 100));
    assert_eq!(same_name.tensor, first.tensor, "same name, same memory");
}

#[test]
fn a_name_that_is_taken_shows_both() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, spec("x", 100));
    let other = TensorCreate { dtype: Dtype::F32, ..spec("x", 25) };
    let failure = play.refused(conn, RequestBody::TensorCreate(other));
    assert_eq!(failure.kind, ErrorKind::Exists);
    assert!(
        failure.message.contains("U8 [100]") && failure.message.contains("F32 [25]"),
        "{failure}"
    );
    assert!(failure.hint.unwrap().contains("tensor rm x"));
    let shared = TensorCreate { audience: Audience::Everybody, ..spec("x", 100) };
    let failure = play.refused(conn, RequestBody::TensorCreate(shared));
    assert!(failure.message.contains("shared with user"), "{failure}");
}

#[test]
fn an_unknown_name_is_answered_with_the_closest_ones() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, spec("acts/x", 100));
    let failure = play.refused(conn, get("acts/y", 1, Mode::ReadOnly, 0));
    assert_eq!(
        (failure.kind, failure.similar.as_slice()),
        (ErrorKind::NotFound, &["acts/x".to_owned()][..])
    );
    let (stranger, _) = play.client(2);
    let failure = play.refused(stranger, get("acts/y", 1, Mode::ReadOnly, 0));
    assert!(failure.similar.is_empty(), "what is not shared is not shown");
}

#[test]
fn a_full_gpu_says_how_much_is_free_and_who_has_the_rest() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (other, _) = play.client(2);
    play.create(conn, spec("a", 600 * MIB));
    play.create(other, spec("b", 300 * MIB));
    let failure = play.refused(conn, RequestBody::TensorCreate(spec("c", 200 * MIB)));
    assert_eq!(failure.kind, ErrorKind::GpuFull);
    assert_eq!(failure.free_bytes, Some(124 * MIB));
    assert_eq!(failure.requested_bytes, Some(200 * MIB));
    let holders: Vec<_> =
        failure.holders.iter().map(|holder| (holder.user, holder.bytes)).collect();
    assert_eq!(holders, [(1, 600 * MIB), (2, 300 * MIB)]);
    assert!(play.world.asked.is_empty(), "refused before any allocation");
}

#[test]
fn recycled_slabs_make_room_for_others() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("a", 20 * MIB));
    play.delete(conn, info.tensor);
    assert_eq!(play.slab_bytes(), 64 * MIB, "kept");
    play.create(conn, spec("b", 1000 * MIB));
    assert_eq!(play.slab_bytes(), 1000 * MIB);
    play.check_held();
}

#[test]
fn the_drivers_own_no_is_told_too() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start(conn, RequestBody::TensorCreate(spec("a", 100)));
    let (slab, _, _) = play.world.asked.pop().unwrap();
    let full =
        DriverFailure { out_of_memory: true, text: "out of memory".into(), over_limit: None };
    play.pond.slab_made(&mut play.world, slab, Err(full));
    let Some(ReplyBody::Failure(failure)) = play.answer(number) else { panic!() };
    assert_eq!(failure.kind, ErrorKind::GpuFull);
    play.check_held();
}

#[test]
fn a_reader_waits_for_the_publish() {
    let mut play = Play::new();
    let (writer, _) = play.client(1);
    let (reader, _) = play.client(1);
    let early = play.start(reader, get("x", 1, Mode::ReadOnly, 1000));
    let (info, _) = play.create(writer, spec("x", 100));
    assert!(play.answer(early).is_none(), "not while it is being written");
    let failure = play.refused(reader, get("x", 2, Mode::ReadOnly, 0));
    assert_eq!(failure.kind, ErrorKind::NotReady);
    assert_eq!(play.publish(writer, info.tensor), 1);
    assert!(matches!(play.answer(early), Some(ReplyBody::Tensor(_))));
    assert_eq!(play.get(reader, "x", 3).0.generation, 1);
}

#[test]
fn a_wait_ends() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start(conn, get("x", 1, Mode::ReadOnly, 1000));
    assert_eq!(play.pond.tick(&mut play.world), Some(1000));
    play.world.now = 1000;
    assert_eq!(play.pond.tick(&mut play.world), None);
    let Some(ReplyBody::Failure(failure)) = play.answer(number) else { panic!() };
    assert_eq!(failure.kind, ErrorKind::Timeout);
    assert!(failure.message.contains("'x' not found"), "{failure}");
}

#[test]
fn the_same_publish_twice_is_one_generation() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    let token = millpond_wire::Token::random();
    for _ in 0..2 {
        let body = publish(info.tensor, token);
        assert_eq!(play.ask(conn, body), ReplyBody::Published { generation: 1 });
    }
    assert_eq!(play.publish(conn, info.tensor), 2);
    // A repeat that comes after others is still one, within reason.
    let body = || publish(info.tensor, token);
    assert_eq!(play.ask(conn, body()), ReplyBody::Published { generation: 1 });
    for generation in 3..=5 {
        assert_eq!(play.publish(conn, info.tensor), generation);
    }
    assert_eq!(play.ask(conn, body()), ReplyBody::Published { generation: 6 });
}

#[test]
fn zeroes_are_ready_at_once_and_never_recycled_bytes() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (used, _) = play.create(conn, spec("used", 500_000));
    play.delete(conn, used.tensor);
    let (zero, _) = play.create(conn, TensorCreate { zero: true, ..spec("zero", 500_000) });
    assert_eq!(zero.state, millpond_wire::TensorState::Ready);
    assert!(zero.slab != used.slab || zero.offset >= 500_000, "the old bytes are still there");
}

#[test]
fn status_does_not_wait_for_ever_for_a_driver_that_hangs() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start(conn, RequestBody::PondStatus);
    assert!(play.answer(number).is_none(), "the card is asked first");
    assert_eq!(play.pond.tick(&mut play.world), Some(1000));
    play.world.now = 1000;
    play.pond.tick(&mut play.world);
    assert!(matches!(play.answer(number), Some(ReplyBody::Status(_))));
    let number = play.start(conn, RequestBody::PondStatus);
    play.pond.physical(&mut play.world, &[(GPU, 77)]);
    let Some(ReplyBody::Status(status)) = play.answer(number) else { panic!() };
    assert_eq!(status.devices[0].physical_used_bytes, Some(77));
}

#[test]
fn limits_hold() {
    let mut play = Play::new();
    play.pond.caps.tensors = 1;
    play.pond.caps.leases_per_client = 1;
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 1) });
    let failure = play.refused(conn, RequestBody::TensorCreate(spec("y", 1)));
    assert_eq!(failure.kind, ErrorKind::TooMany);
    play.get(conn, "x", 1);
    let failure = play.refused(conn, get("x", 2, Mode::ReadOnly, 0));
    assert_eq!(failure.kind, ErrorKind::TooMany);
    assert!(play.exists(info.tensor));
    play.pond.accounts.set_terms(|terms| terms.with_in_all(Resource::Clients, 1));
    let conn = play.connect(1);
    assert!(matches!(play.hello(conn, ClientId::random(), false), ReplyBody::Failure(_)));
}

#[test]
fn draining_takes_no_new_work() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let waiting = play.start(conn, get("x", 1, Mode::ReadOnly, 1000));
    play.pond.drain(&mut play.world);
    assert!(matches!(play.answer(waiting), Some(ReplyBody::Failure(_))));
    let failure = play.refused(conn, RequestBody::TensorCreate(spec("x", 1)));
    assert_eq!(failure.kind, ErrorKind::Draining);
    assert!(play.pond.is_idle());
}

#[test]
fn no_hello_no_service() {
    let mut play = Play::new();
    let conn = play.connect(1);
    let failure = play.refused(conn, RequestBody::Ping);
    assert_eq!(failure.kind, ErrorKind::Protocol);
    assert_eq!(play.world.closed, [conn]);
    let (conn, _) = play.client(1);
    let failure = play.refused(conn, RequestBody::Unknown);
    assert_eq!(failure.kind, ErrorKind::UnknownKind);
}

#[test]
fn a_repeated_create_keeps_the_tensor_that_had_the_name() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (first, _) = play.create(conn, spec("x", 100));
    // The answer is lost, and before the repeat the name is free again.
    let create = TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) };
    let (found, token) = play.create(conn, create.clone());
    assert_eq!(found.tensor, first.tensor);
    play.delete(conn, first.tensor);
    let (again, same) = play.create(conn, create.clone());
    assert_eq!((again.tensor, same), (first.tensor, token));
    assert!(!play.exists(create.tensor), "nothing is made for a request that was answered");
}
