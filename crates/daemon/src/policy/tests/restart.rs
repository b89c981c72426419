//! A daemon is killed; the next one knows everything that was answered.

use millpond_wire::ErrorKind;
use proptest::prelude::*;

use super::*;

fn claim_of(lease: u64, tensor: TensorId, mode: Mode, token: LeaseToken) -> LeaseClaim {
    LeaseClaim { lease: LeaseId(lease), target: tensor.into(), mode, token }
}

#[test]
fn tensors_names_states_and_generations_come_back() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (a, _) = play.create(conn, spec("a", 100));
    play.create(conn, spec("b", 40 * MIB));
    play.publish(conn, a.tensor);
    play.publish(conn, a.tensor);
    let (c, _) = play.create(conn, spec("c", 100));
    play.delete(conn, c.tensor);
    let before = play.slab_bytes();
    let found = play.restart();
    assert_eq!((found.tensors, found.lost_tensors, found.dropped), (2, 0, 0));
    let recorded: Vec<_> = play
        .world
        .records
        .iter()
        .filter(|record| matches!(record, Record::DeviceSeen(_)))
        .collect();
    assert_eq!(recorded.len(), 1, "the same GPU again is no news");
    let (conn, _) = play.client(1);
    let (again, _) = play.get(conn, "a", 1);
    assert_eq!((again.generation, again.slab, again.offset), (2, a.slab, a.offset));
    assert_eq!(play.slab_bytes(), before);
    play.delete(conn, c.tensor);
    play.check_held();
}

/// A create with zeroes needs unused memory; a recovered slab may have been used.
#[test]
fn an_empty_slab_gives_way_to_the_one_that_a_create_with_zeroes_needs() {
    let mut play = Play::new();
    let zeroes =
        |bytes| TensorCreate { tensor: TensorId::random(), zero: true, ..spec("x", bytes) };
    for bytes in [100, 40 * MIB] {
        let (conn, _) = play.client(1);
        let (info, _) = play.create(conn, zeroes(bytes));
        let alone = play.slab_bytes();
        play.delete(conn, info.tensor);
        for _ in 0..5 {
            play.restart();
            let (conn, _) = play.client(1);
            let (info, _) = play.create(conn, zeroes(bytes));
            play.delete(conn, info.tensor);
            assert_eq!(play.slab_bytes(), alone, "one slab, whatever the number of restarts");
        }
        // Without zeroes it is used as it is.
        play.restart();
        let (conn, _) = play.client(1);
        play.world.asked.clear();
        let (info, _) = play.create(conn, spec("y", bytes));
        assert_eq!(play.slab_bytes(), alone);
        play.delete(conn, info.tensor);
        let all = RequestBody::Collect { unleased_for_ms: None, dry_run: false };
        play.ask(conn, all);
    }
    play.check_held();
}

#[test]
fn a_living_client_keeps_its_lease_and_a_lie_is_refused() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
    let (_, token) = play.get(conn, "x", 1);
    play.restart();
    let conn = play.connect(1);
    assert!(matches!(play.hello(conn, client, true), ReplyBody::Welcome(_)));
    let refused = play.claim(
        conn,
        vec![
            claim_of(1, info.tensor, Mode::ReadOnly, token),
            claim_of(2, info.tensor, Mode::ReadOnly, token),
            claim_of(3, info.tensor, Mode::ReadWrite, token),
        ],
    );
    assert_eq!(refused, [LeaseId(2), LeaseId(3)]);
    play.delete(conn, info.tensor);
    assert!(play.exists(info.tensor));
    play.release(conn, 1);
    assert!(!play.exists(info.tensor));
}

/// It released everything, and the next daemon would not wait for it: with a claim it does again.
#[test]
fn who_claims_is_known_to_the_next_daemon_and_its_end_ends_the_lease() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
    let (_, token) = play.get(conn, "x", 1);
    play.release(conn, 1);
    assert_eq!(play.ask(conn, RequestBody::Goodbye), ReplyBody::Done);
    let conn = play.connect(1);
    play.hello(conn, client, true);
    assert!(play.claim(conn, vec![claim_of(1, info.tensor, Mode::ReadOnly, token)]).is_empty());
    // The same claim again is no news, and another one under its number a lie.
    assert!(play.claim(conn, vec![claim_of(1, info.tensor, Mode::ReadOnly, token)]).is_empty());
    let lie = claim_of(1, info.tensor, Mode::ReadWrite, token);
    assert_eq!(play.claim(conn, vec![lie]), [LeaseId(1)]);
    assert!(play.world.watched.contains(&client));
    play.check_held();
    play.restart();
    assert_eq!(play.pond.clients.silent(), 1);
    assert!(play.world.watched.contains(&client));
    play.pond.process_gone(&mut play.world, client);
    play.check_held();
}

#[test]
fn an_ephemeral_tensor_lives_as_long_as_its_creator_and_no_daemon_matters() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, TensorCreate { ephemeral: true, ..spec("x", 100) });
    play.restart();
    assert!(play.is_alive(info.tensor));
    // The next one does not know the creator: then nobody is left to end it.
    play.world.records.retain(|record| !matches!(record, Record::ClientSeen(_)));
    play.world.held.remove(&Held::Client(client));
    play.restart();
    assert!(!play.exists(info.tensor));
    play.check_held();
}

/// The daemon died between the record and the drop.
#[test]
fn what_is_recorded_as_gone_and_still_held_is_let_go() {
    let mut play = Play::new();
    play.pond.caps.recycle_bytes = 0;
    let (conn, client) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 40 * MIB) };
    let (info, _) = play.create(conn, create);
    let held = play.world.held.clone();
    assert_eq!(held.len(), 2);
    play.delete(conn, info.tensor);
    play.release(conn, 1);
    assert_eq!(play.ask(conn, RequestBody::Goodbye), ReplyBody::Done);
    assert!(play.world.held.is_empty());
    play.world.held = held;
    let found = play.restart();
    assert_eq!((found.dropped, found.clients), (2, 0));
    for held in [Held::Slab(info.slab), Held::Client(client)] {
        assert!(play.world.did.contains(&Did::LetGo(held)), "{held:?}");
    }
    play.check_held();
}

#[test]
fn memory_that_an_earlier_daemon_gave_out_is_not_taken_for_zeroes() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (kept, _) = play.create(conn, spec("kept", 100));
    let (gone, _) = play.create(conn, spec("gone", 400_000));
    assert_eq!(kept.slab, gone.slab);
    play.delete(conn, gone.tensor);
    play.restart();
    let (conn, _) = play.client(1);
    let (zero, _) = play.create(conn, TensorCreate { zero: true, ..spec("zero", 100) });
    assert_ne!(zero.slab, kept.slab, "the old bytes are still there");
}

#[test]
fn nothing_is_freed_while_a_silent_client_may_hold_it() {
    let mut play = Play::new();
    let (reader, client) = play.client(1);
    let (writer, _) = play.client(1);
    let (info, _) = play.create(writer, TensorCreate { zero: true, ..spec("x", 40 * MIB) });
    let (_, token) = play.get(reader, "x", 1);
    play.restart();
    let (writer, _) = play.client(1);
    play.delete(writer, info.tensor);
    assert!(play.exists(info.tensor), "the reader has not claimed yet");
    let conn = play.connect(1);
    play.hello(conn, client, true);
    assert!(play.claim(conn, vec![claim_of(1, info.tensor, Mode::ReadOnly, token)]).is_empty());
    assert!(play.exists(info.tensor));
    play.release(conn, 1);
    assert!(!play.exists(info.tensor));
    play.check_held();
}

#[test]
fn a_client_that_never_held_anything_is_not_waited_for() {
    let mut play = Play::new();
    let (writer, _) = play.client(1);
    let (info, _) = play.create(writer, spec("x", 40 * MIB));
    assert!(play.world.held.keys().all(|held| matches!(held, Held::Slab(_))));
    play.restart();
    assert_eq!(play.pond.clients.silent(), 0);
    let (conn, _) = play.client(1);
    play.delete(conn, info.tensor);
    assert!(!play.exists(info.tensor));
}

#[test]
fn a_client_that_died_unclaimed_taints_what_it_may_have_held() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) });
    play.restart();
    play.pond.process_gone(&mut play.world, client);
    let (conn, _) = play.client(1);
    let (next, _) = play.create(conn, spec("y", 100));
    assert_ne!(next.slab, info.slab);
    play.check_held();
}

#[test]
fn a_tainted_slab_stays_so_through_compaction_and_restart() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) };
    let (info, _) = play.create(conn, create);
    play.pond.process_gone(&mut play.world, client);
    play.world.records = play.pond.snapshot();
    play.restart();
    let (conn, _) = play.client(1);
    assert_ne!(play.create(conn, spec("y", 100)).0.slab, info.slab);
    assert!(play.exists(info.tensor));
}

#[test]
fn a_death_that_could_not_be_recorded_is_found_again_by_the_next_daemon() {
    let mut play = Play::new();
    let (writer, _) = play.client(1);
    let (conn, client) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) };
    let (info, _) = play.create(conn, create);
    play.delete(writer, info.tensor);
    play.world.journal_fails = true;
    play.pond.process_gone(&mut play.world, client);
    play.world.journal_fails = false;
    play.restart();
    let (conn, _) = play.client(1);
    let (next, _) = play.create(conn, spec("y", 100));
    assert_ne!(
        (next.slab, next.offset),
        (info.slab, info.offset),
        "who died may still write there"
    );
    play.pond.process_gone(&mut play.world, client);
    assert_ne!(play.create(conn, spec("z", 100)).0.slab, info.slab);
    play.check_held();
}

#[test]
fn a_descriptor_without_a_record_is_dropped_and_a_record_without_one_is_lost() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (lost, _) = play.create(conn, TensorCreate { zero: true, ..spec("lost", 100) });
    let (kept, _) = play.create(conn, TensorCreate { zero: true, ..spec("kept", 40 * MIB) });
    play.world.held.remove(&Held::Slab(lost.slab));
    let orphan = Held::Slab(SlabId::random());
    play.world.held.insert(orphan, 99);
    let found = play.restart();
    assert_eq!((found.tensors, found.lost_tensors, found.dropped), (1, 1, 1));
    assert!(!play.world.held.contains_key(&orphan));
    let (conn, _) = play.client(1);
    let failure = play.refused(conn, get("lost", 1, Mode::ReadOnly, 0));
    assert_eq!(failure.kind, ErrorKind::Lost);
    assert_eq!(play.get(conn, "kept", 2).0.tensor, kept.tensor);
}

#[test]
fn a_create_that_was_not_answered_can_be_repeated() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) };
    play.start(conn, RequestBody::TensorCreate(create.clone()));
    play.restart();
    let conn = play.connect(1);
    play.hello(conn, client, false);
    let (info, token) = play.create(conn, create.clone());
    assert_eq!(info.tensor, create.tensor);
    // And one that was answered, but whose answer was lost, gives the same tensor.
    play.restart();
    let conn = play.connect(1);
    play.hello(conn, client, false);
    let (again, same) = play.create(conn, create);
    assert_eq!((again.tensor, again.slab, same), (info.tensor, info.slab, token));
    play.check_held();
}

#[test]
fn ephemeral_tensors_of_a_client_that_died_meanwhile_go() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, TensorCreate { ephemeral: true, ..spec("x", 100) });
    play.restart();
    assert!(play.exists(info.tensor));
    play.pond.process_gone(&mut play.world, client);
    assert!(!play.exists(info.tensor));
}

/// What a step of the property test does.
#[derive(Clone, Debug)]
enum Step {
    Create { name: u8, bytes: u64, lease: bool },
    Get { name: u8 },
    Publish { name: u8 },
    Delete { name: u8 },
    ReleaseAll,
    Die,
    Restart,
    Compact,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0u8..6, 1u64..70 * MIB, any::<bool>())
            .prop_map(|(name, bytes, lease)| Step::Create { name, bytes, lease }),
        3 => (0u8..6).prop_map(|name| Step::Get { name }),
        2 => (0u8..6).prop_map(|name| Step::Publish { name }),
        2 => (0u8..6).prop_map(|name| Step::Delete { name }),
        1 => Just(Step::ReleaseAll),
        1 => Just(Step::Die),
        1 => Just(Step::Restart),
        1 => Just(Step::Compact),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever happens: what is in the books is held and nothing else, leased memory is there,
    /// and when everybody is gone and everything deleted, no byte is left but what is recycled.
    #[test]
    fn nothing_is_lost_and_nothing_leaks(steps in steps()) {
        let mut play = Play::new();
        let mut client = (play.connect(1), ClientId::random());
        play.hello(client.0, client.1, false);
        let mut lease = 0u64;
        let mut held: HashMap<u64, (TensorInfo, Mode, LeaseToken)> = HashMap::new();
        for step in steps {
            match step {
                Step::Create { name, bytes, lease: with_lease } => {
                    lease += 1;
                    let number = with_lease.then_some(LeaseId(lease));
                    let create = TensorCreate { lease: number, ..spec(&format!("t{name}"), bytes) };
                    if let ReplyBody::Tensor(grant) = play.ask(client.0, RequestBody::TensorCreate(create))
                        && let Some((number, mode, token)) = grant.lease
                    {
                        held.insert(number.0, (grant.info, mode, token));
                    }
                }
                Step::Get { name } => {
                    lease += 1;
                    let body = get(&format!("t{name}"), lease, Mode::ReadOnly, 0);
                    if let ReplyBody::Tensor(grant) = play.ask(client.0, body)
                        && let Some((number, mode, token)) = grant.lease
                    {
                        held.insert(number.0, (grant.info, mode, token));
                    }
                }
                Step::Publish { name } | Step::Delete { name } => {
                    let target = Target::Name(format!("t{name}").parse().unwrap());
                    if let ReplyBody::Details { info, .. } = play.ask(client.0, RequestBody::TensorInspect(target)) {
                        if matches!(step, Step::Delete { .. }) {
                            let is_used = play.pond.is_in_use(info.tensor);
                            match play.delete_unused(client.0, info.tensor) {
                                Ok(()) => prop_assert!(!is_used && !play.exists(info.tensor)),
                                Err(failure) => {
                                    let expected = if is_used { ErrorKind::InUse } else { ErrorKind::Later };
                                    prop_assert_eq!(failure.kind, expected);
                                }
                            }
                            play.delete(client.0, info.tensor);
                        } else {
                            play.publish(client.0, info.tensor);
                        }
                    }
                }
                Step::ReleaseAll => {
                    for (number, _) in held.drain() {
                        play.release(client.0, number);
                    }
                }
                Step::Die => {
                    held.clear();
                    play.pond.hung_up(&mut play.world, client.0);
                    play.pond.process_gone(&mut play.world, client.1);
                    client = (play.connect(1), ClientId::random());
                    play.hello(client.0, client.1, false);
                }
                Step::Restart => {
                    let found = play.restart();
                    prop_assert_eq!((found.lost_tensors, found.dropped), (0, 0));
                    client.0 = play.connect(1);
                    play.hello(client.0, client.1, true);
                    let claims = held
                        .iter()
                        .map(|(number, (info, mode, token))| claim_of(*number, info.tensor, *mode, *token))
                        .collect();
                    prop_assert!(play.claim(client.0, claims).is_empty());
                }
                Step::Compact => play.world.records = play.pond.snapshot(),
            }
            play.check_held();
            for (info, _, _) in held.values() {
                let tensor = play.pond.catalog.get(info.tensor);
                prop_assert!(tensor.is_some(), "a leased tensor is gone");
                let slab = tensor.and_then(|tensor| play.pond.slabs.get(tensor.slab));
                prop_assert!(slab.is_some_and(|slab| slab.fd.is_some()), "its slab is gone");
            }
        }
        play.pond.process_gone(&mut play.world, client.1);
        let (conn, _) = play.client(1);
        let ReplyBody::Tensors(left) = play.ask(conn, RequestBody::TensorList { prefix: String::new(), page: None }) else {
            panic!();
        };
        for info in left {
            play.delete(conn, info.tensor);
        }
        prop_assert_eq!(play.pond.catalog.len(), 0);
        let recycled: u64 = play.pond.slabs.recycled_on(GPU).map(|(_, slab)| slab.bytes).sum();
        prop_assert_eq!(play.slab_bytes(), recycled);
        prop_assert!(recycled <= LIMITS.recycle_bytes);
        play.check_held();
    }
}

/// The records of a tensor's slab, with another backing.
fn backed_by(play: &mut Play, backing: Backing, home: Option<uuid::Uuid>) {
    for record in &mut play.world.records {
        if let Record::SlabMade(made) = record {
            (made.backing, made.home) = (backing, home);
        }
    }
}

#[test]
fn a_pool_of_an_earlier_daemon_is_served_and_shared_with_nothing_else() {
    use millpond_wire::{HANDLE_BYTES, Transport};
    for adopted in [false, true] {
        let mut play = Play::new();
        let (conn, _) = play.client(1);
        let (info, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
        let fd = play.world.held[&Held::Slab(info.slab)];
        let backing = Backing { transport: Transport::Mempool([7; HANDLE_BYTES]), adopted };
        backed_by(&mut play, backing, None);
        let found = play.restart();
        assert_eq!((found.tensors, found.lost_tensors, found.dropped), (1, 0, 0));
        let (conn, _) = play.client(1);
        let number = play.next_number;
        let ReplyBody::Tensor(grant) = play.ask(conn, get("x", 1, Mode::ReadOnly, 0)) else {
            panic!("not granted")
        };
        assert_eq!(grant.backing, backing);
        assert_eq!(play.world.came_with[&number], [fd]);
        let (other, _) = play.create(conn, spec("y", 100));
        let slab = play.pond.slabs.get(other.slab).unwrap();
        assert_eq!(slab.backing.transport, Transport::Vmm, "nothing new goes into it");
        play.check_held();
    }
}

#[test]
fn a_pool_whose_descriptor_is_gone_is_lost() {
    use millpond_wire::{HANDLE_BYTES, Transport};
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
    let transport = Transport::Mempool([7; HANDLE_BYTES]);
    backed_by(&mut play, Backing { transport, adopted: false }, None);
    play.world.held.remove(&Held::Slab(info.slab));
    let found = play.restart();
    assert_eq!((found.tensors, found.lost_tensors), (0, 1));
    let (conn, _) = play.client(1);
    assert_eq!(play.refused(conn, get("x", 1, Mode::ReadOnly, 0)).kind, ErrorKind::Lost);
}

/// A damaged journal: no handle is given out that opens whatever its process has made since.
#[test]
fn memory_that_no_known_process_keeps_is_lost_or_orphaned() {
    use millpond_wire::{HANDLE_BYTES, Transport};
    for adopted in [false, true] {
        for home in [None, Some(uuid::Uuid::from_bytes([9; 16]))] {
            let mut play = Play::new();
            let (conn, _) = play.client(1);
            let (info, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
            let transport = Transport::Ipc([7; HANDLE_BYTES]);
            backed_by(&mut play, Backing { transport, adopted }, home);
            play.world.held.remove(&Held::Slab(info.slab));
            let found = play.restart();
            assert_eq!((found.tensors, found.dropped), (0, 0));
            let (conn, _) = play.client(1);
            let failure = play.refused(conn, get("x", 1, Mode::ReadOnly, 0));
            let kind = if home.is_some() { ErrorKind::NotFound } else { ErrorKind::Lost };
            assert_eq!(failure.kind, kind, "{failure}");
            play.delete(conn, info.tensor);
            assert!(!play.exists(info.tensor) && play.slab_bytes() == 0);
            play.check_held();
        }
    }
}
