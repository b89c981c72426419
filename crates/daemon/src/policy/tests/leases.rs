//! Leases end by release or death, and memory never before them.

use super::*;

#[test]
fn memory_goes_with_the_last_lease_and_not_earlier() {
    let mut play = Play::new();
    let (writer, _) = play.client(1);
    let (reader, _) = play.client(1);
    let (info, _) = play.create(writer, spec("x", 40 * MIB));
    play.publish(writer, info.tensor);
    play.get(reader, "x", 1);
    play.get(reader, "x", 2);
    play.delete(writer, info.tensor);
    assert!(play.exists(info.tensor));
    let failure = play.refused(reader, get("x", 3, Mode::ReadOnly, 0));
    assert_eq!(failure.kind, millpond_wire::ErrorKind::NotFound, "no new leases");
    play.release(reader, 1);
    assert!(play.exists(info.tensor));
    play.release(reader, 2);
    assert!(!play.exists(info.tensor));
    // Deleted again, released again: the same answers.
    play.delete(writer, info.tensor);
    play.release(reader, 2);
}

#[test]
fn a_hang_up_ends_nothing_and_the_end_of_the_process_does() {
    let mut play = Play::new();
    let (writer, _) = play.client(1);
    let (reader, client) = play.client(1);
    let (info, _) = play.create(writer, TensorCreate { zero: true, ..spec("x", 100) });
    play.get(reader, "x", 1);
    play.delete(writer, info.tensor);
    play.pond.hung_up(&mut play.world, reader);
    assert!(play.exists(info.tensor), "between hang-up and pidfd the dead still write");
    assert_eq!(play.pond.clients.silent(), 1);
    play.pond.process_gone(&mut play.world, client);
    assert!(!play.exists(info.tensor));
    play.check_held();
}

#[test]
fn a_slab_that_died_in_somebodys_hands_is_never_recycled() {
    let mut play = Play::new();
    let (writer, _) = play.client(1);
    let (reader, client) = play.client(1);
    let (info, _) = play.create(writer, TensorCreate { zero: true, ..spec("x", 100) });
    play.get(reader, "x", 1);
    play.pond.process_gone(&mut play.world, client);
    let (next, _) = play.create(writer, spec("y", 100));
    assert_ne!(next.slab, info.slab, "nothing new goes into it");
    play.delete(writer, info.tensor);
    assert!(play.world.did.contains(&Did::LetGo(Held::Slab(info.slab))), "and it is dropped");
    play.check_held();
}

#[test]
fn a_released_slab_is_recycled_for_its_owner_only() {
    let mut play = Play::new();
    let (mine, _) = play.client(1);
    let (other, _) = play.client(2);
    let (info, _) = play.create(mine, TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) });
    play.delete(mine, info.tensor);
    play.release(mine, 1);
    let (stranger, _) = play.create(other, spec("x", 100));
    assert_ne!(stranger.slab, info.slab);
    let (again, _) = play.create(mine, spec("y", 100));
    assert_eq!(again.slab, info.slab);
}

#[test]
fn too_many_empty_slabs_are_not_kept() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (a, _) = play.create(conn, spec("a", 50 * MIB));
    let (b, _) = play.create(conn, spec("b", 50 * MIB));
    play.delete(conn, a.tensor);
    play.delete(conn, b.tensor);
    assert_eq!(play.slab_bytes(), 50 * MIB);
    play.check_held();
}

#[test]
fn the_same_get_twice_is_one_lease() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
    let first = play.get(conn, "x", 1);
    let second = play.get(conn, "x", 1);
    assert_eq!((first.0.leases, second.0.leases, first.1), (1, 1, second.1));
    let failure = play.refused(conn, get("x", 1, Mode::ReadWrite, 0));
    assert_eq!(failure.kind, millpond_wire::ErrorKind::Invalid);
}

#[test]
fn ephemeral_ends_with_its_creator_and_nothing_else_does() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (gone, _) = play.create(conn, TensorCreate { ephemeral: true, ..spec("gone", 100) });
    let (stays, _) = play.create(conn, spec("stays", 100));
    play.pond.hung_up(&mut play.world, conn);
    assert!(play.exists(gone.tensor));
    play.pond.process_gone(&mut play.world, client);
    assert!(!play.exists(gone.tensor) && play.exists(stays.tensor));
}

#[test]
fn goodbye_is_a_release_of_everything() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) };
    let (info, _) = play.create(conn, create);
    assert_eq!(play.ask(conn, RequestBody::Goodbye), ReplyBody::Done);
    assert_eq!(play.pond.leases.len(), 0);
    let (again, _) = play.client(1);
    play.delete(again, info.tensor);
    assert_eq!(play.create(again, spec("y", 100)).0.slab, info.slab, "recycled");
    play.check_held();
}

#[test]
fn a_creator_that_hung_up_leaves_no_slab_behind() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.start(conn, RequestBody::TensorCreate(spec("x", 40 * MIB)));
    play.pond.hung_up(&mut play.world, conn);
    let (slab, _, _) = play.world.asked.pop().unwrap();
    play.pond.slab_made(&mut play.world, slab, Ok(9));
    assert_eq!(play.slab_bytes(), 0);
    play.check_held();
}

/// A shared slab that nobody took is kept for reuse like any other: as far as that is allowed.
#[test]
fn a_shared_slab_that_nobody_took_counts_as_recycled() {
    for (recycle_bytes, left) in [(LIMITS.recycle_bytes, 2 * MIB), (0, 0)] {
        let mut play = Play::new();
        play.pond.caps.recycle_bytes = recycle_bytes;
        let (conn, _) = play.client(1);
        play.start(conn, RequestBody::TensorCreate(spec("x", 100)));
        play.pond.hung_up(&mut play.world, conn);
        let (slab, _, _) = play.world.asked.pop().unwrap();
        play.pond.slab_made(&mut play.world, slab, Ok(9));
        assert_eq!(play.slab_bytes(), left);
        play.check_held();
    }
}
