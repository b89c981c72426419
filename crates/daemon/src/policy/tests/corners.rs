//! Sequences in which something was once lost, kept too long, or done twice.

use millpond_wire::ErrorKind;

use super::*;

#[test]
fn an_operator_looks_and_deletes_but_does_not_map() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
    let operator = play.operator();
    let failure = play.refused(operator, get("~1/x", 7, Mode::ReadOnly, 0));
    assert_eq!(failure.kind, ErrorKind::Denied, "the next daemon would free it under the mapping");
    play.delete(operator, info.tensor);
    assert!(!play.exists(info.tensor));
}

#[test]
fn a_get_repeated_after_a_delete_has_its_lease() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
    let (reader, client) = play.client(1);
    let (_, token) = play.get(reader, "x", 7);
    play.delete(conn, info.tensor);
    let again = play.connect(1);
    play.hello(again, client, false);
    assert_eq!(play.get(again, "x", 7).1, token);
    play.release(again, 7);
    assert!(!play.exists(info.tensor));
}

#[test]
fn a_create_that_is_refused_makes_nothing() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.pond.caps.leases_per_client = 0;
    let create = TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 40 * MIB) };
    let failure = play.refused(conn, RequestBody::TensorCreate(create));
    assert_eq!(failure.kind, ErrorKind::TooMany);
    assert_eq!((play.pond.catalog.len(), play.slab_bytes()), (0, 0));
    play.create(conn, spec("a", 100));
    play.world.journal_fails = true;
    play.refused(
        conn,
        RequestBody::TensorCreate(TensorCreate { ephemeral: true, ..spec("b", 100) }),
    );
    play.world.journal_fails = false;
    assert_eq!(play.create(conn, spec("c", 100)).0.offset, 256, "no range was left behind");
}

#[test]
fn a_slab_that_cannot_be_recorded_is_let_go() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let number = play.start(conn, RequestBody::TensorCreate(spec("x", 40 * MIB)));
    let (slab, _, _) = play.world.asked.pop().unwrap();
    play.world.journal_fails = true;
    play.pond.slab_made(&mut play.world, slab, Ok(9));
    assert!(matches!(play.answer(number), Some(ReplyBody::Failure(_))));
    assert!(play.world.held.is_empty() && play.slab_bytes() == 0);
}

#[test]
fn an_identity_is_used_once() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let create = spec("x", 100);
    play.create(conn, create.clone());
    play.delete(conn, create.tensor);
    let failure = play.refused(conn, RequestBody::TensorCreate(create));
    assert_eq!(failure.kind, ErrorKind::NotFound);
}

#[test]
fn a_name_whose_memory_is_lost_is_not_granted_by_create_either() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, spec("x", 100));
    play.world.held.clear();
    play.restart();
    let (conn, _) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(3)), ..spec("x", 100) };
    assert_eq!(play.refused(conn, RequestBody::TensorCreate(create)).kind, ErrorKind::Lost);
}

#[test]
fn one_connection_cannot_wait_for_everything() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    for lease in 1..=1024 {
        let number = play.start(conn, get("missing", lease, Mode::ReadOnly, u64::MAX));
        assert!(play.answer(number).is_none());
    }
    let failure = play.refused(conn, RequestBody::Ping);
    assert_eq!(failure.kind, ErrorKind::TooMany);
    let (other, _) = play.client(1);
    play.create(other, TensorCreate { zero: true, ..spec("missing", 1) });
    play.world.replies.clear();
    assert_eq!(play.ask(conn, RequestBody::Ping), ReplyBody::Done, "answered, it may ask again");
}

#[test]
fn a_card_that_is_about_to_free_what_was_given_back_is_asked_again() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 600 * MIB));
    play.delete(conn, info.tensor);
    let number = play.start(conn, RequestBody::TensorCreate(spec("y", 600 * MIB)));
    let full =
        || DriverFailure { out_of_memory: true, text: "out of memory".into(), over_limit: None };
    let (slab, _, _) = play.world.asked.pop().unwrap();
    play.pond.slab_made(&mut play.world, slab, Err(full()));
    assert!(play.answer(number).is_none(), "not yet");
    let again = play.pond.tick(&mut play.world).unwrap();
    play.world.now = again;
    play.pond.tick(&mut play.world);
    let (slab, _, _) = play.world.asked.pop().unwrap();
    play.pond.slab_made(&mut play.world, slab, Ok(9));
    assert!(matches!(play.answer(number), Some(ReplyBody::Tensor(_))));
    play.check_held();
    // Long after, it is an answer like any other.
    play.world.now += 10_000;
    let number = play.start(conn, RequestBody::TensorCreate(spec("z", 300 * MIB)));
    let (slab, _, _) = play.world.asked.pop().unwrap();
    play.pond.slab_made(&mut play.world, slab, Err(full()));
    assert!(matches!(play.answer(number), Some(ReplyBody::Failure(_))));
}

#[test]
fn a_journal_that_contradicts_itself_loses_no_tensor_and_no_descriptor() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    let made = |records: &[Record]| {
        let found = records.iter().find(|record| matches!(record, Record::SlabMade(_)));
        found.cloned().unwrap()
    };
    let slab = made(&play.world.records);
    let tensor =
        Record::TensorMade(play.pond.catalog.get(info.tensor).unwrap().record(info.tensor));
    // Both once more, and a slab that is gone with a tensor in it.
    play.world.records.extend([slab, tensor, Record::SlabGone(info.slab)]);
    // A slab that no card has: its sum with any other would overflow.
    let Record::SlabMade(mut huge) = made(&play.world.records) else { panic!("a slab") };
    (huge.slab, huge.bytes) = (SlabId::random(), u64::MAX);
    play.world.records.push(Record::SlabMade(huge));
    let found = play.restart();
    assert_eq!((found.tensors, found.lost_tensors, found.unknown_records), (1, 0, 1));
    assert!(play.exists(info.tensor));
    play.check_held();
    assert_eq!(play.slab_bytes(), 2 * MIB);
    // Its range was taken once, so it is free again when the tensor is.
    let (conn, _) = play.client(1);
    play.delete(conn, info.tensor);
    assert!(!play.exists(info.tensor));
    play.check_held();
}

#[test]
fn a_slab_that_could_not_be_given_back_is_not_counted_as_room() {
    let mut play = Play::new();
    play.driver_ready(64 * MIB);
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    play.delete(conn, info.tensor);
    assert!(play.slab_bytes() > 0, "its slab is recycled");
    play.world.journal_fails = true;
    let failure = play.refused(conn, RequestBody::TensorCreate(spec("y", 64 * MIB)));
    assert_eq!(failure.kind, ErrorKind::Internal, "{failure}");
    play.world.journal_fails = false;
    play.create(conn, spec("y", 64 * MIB));
    assert_eq!(play.slab_bytes(), 64 * MIB);
    play.check_held();
}

#[test]
fn what_is_held_is_in_the_accounts_also_if_the_driver_shows_no_such_gpu() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, spec("x", 100));
    play.world.records.retain(|record| !matches!(record, Record::DeviceSeen(_)));
    let mut world = World {
        records: play.world.records.clone(),
        held: play.world.held.clone(),
        ..World::default()
    };
    let (records, held) = (world.records.clone(), world.held.clone());
    let (mut pond, _) = Pond::recover(&mut world, records, held, Epoch(2), LIMITS).unwrap();
    pond.driver_failed(&mut world, "it fell off".into());
    let devices = pond.status(&world).devices;
    assert_eq!((devices.len(), devices[0].device, devices[0].slab_bytes), (1, GPU, 2 * MIB));
}
