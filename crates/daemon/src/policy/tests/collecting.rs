//! What nobody uses is given back, and nothing else is.

use millpond_wire::message::EventKind;

use super::*;

fn collect(
    play: &mut Play,
    conn: ConnId,
    unleased_for_ms: Option<u64>,
    dry_run: bool,
) -> (Vec<TensorId>, u32, u64) {
    match play.ask(conn, RequestBody::Collect { unleased_for_ms, dry_run }) {
        ReplyBody::Collected { tensors, slabs, slab_bytes } => {
            (tensors.iter().map(|info| info.tensor).collect(), slabs, slab_bytes)
        }
        other => panic!("not collected: {other:?}"),
    }
}

fn ready(name: &str, bytes: u64) -> TensorCreate {
    TensorCreate { zero: true, ..spec(name, bytes) }
}

/// Leaves an empty slab of 2 MiB behind.
fn leave_empty(play: &mut Play, conn: ConnId) {
    let (info, _) = play.create(conn, spec("left", 100));
    play.delete(conn, info.tensor);
}

#[test]
fn empty_slabs_are_ones_own_or_the_operators_to_give_back() {
    let mut play = Play::new();
    let (mine, _) = play.client(1);
    let (other, _) = play.client(2);
    leave_empty(&mut play, mine);
    leave_empty(&mut play, other);
    let (kept, _) = play.create(mine, ready("kept", 40 * MIB));
    assert_eq!(collect(&mut play, mine, None, true), (vec![], 1, 2 * MIB));
    assert_eq!(play.slab_bytes(), 44 * MIB, "only asked");
    assert!(play.told(EventKind::Collected).is_empty());
    assert_eq!(collect(&mut play, mine, None, false), (vec![], 1, 2 * MIB));
    assert_eq!(collect(&mut play, mine, None, false), (vec![], 0, 0));
    assert_eq!(play.slab_bytes(), 42 * MIB);
    let operator = play.operator();
    assert_eq!(collect(&mut play, operator, None, false), (vec![], 1, 2 * MIB));
    assert!(play.is_alive(kept.tensor));
    let told = play.told(EventKind::Collected);
    assert_eq!(told, ["0 tensors; 1 slab, 2 MiB", "0 tensors; 1 slab, 2 MiB"]);
    play.check_held();
}

#[test]
fn tensors_that_nobody_has_leased_for_long_go_with_their_memory() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (other, _) = play.client(2);
    let (writing, _) = play.create(conn, spec("writing", 40 * MIB));
    let (used, _) = play.create(conn, ready("used", 40 * MIB));
    let (theirs, _) = play.create(other, ready("theirs", 40 * MIB));
    play.get(conn, "used", 1);
    play.later(1000);
    play.release(conn, 1);
    let (young, _) = play.create(conn, ready("young", 100));
    play.later(500);
    let expected = (vec![writing.tensor], 1, 40 * MIB);
    assert_eq!(collect(&mut play, conn, Some(1000), true), expected);
    assert!(play.is_alive(writing.tensor));
    assert_eq!(collect(&mut play, conn, Some(1000), false), expected);
    assert!(!play.exists(writing.tensor) && play.is_alive(used.tensor));
    assert_eq!(play.told(EventKind::TensorDeleted), ["collected: no lease for 1000 ms"]);
    play.get(conn, "used", 2);
    assert_eq!(collect(&mut play, conn, Some(0), false).0, [young.tensor], "the other is leased");
    let operator = play.operator();
    assert_eq!(collect(&mut play, operator, Some(0), false).0, [theirs.tensor]);
    assert_eq!(play.slab_bytes(), 40 * MIB);
    play.check_held();
}

#[test]
fn a_slab_with_others_in_it_stays() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (a, _) = play.create(conn, ready("a", 100));
    let (b, _) = play.create(conn, ready("b", 100));
    assert_eq!(a.slab, b.slab);
    play.get(conn, "b", 1);
    assert_eq!(collect(&mut play, conn, Some(0), true), (vec![a.tensor], 0, 0));
    assert_eq!(collect(&mut play, conn, Some(0), false), (vec![a.tensor], 0, 0));
    assert!(play.is_alive(b.tensor));
}

#[test]
fn what_a_silent_client_may_hold_is_not_collected() {
    let mut play = Play::new();
    let (reader, client) = play.client(1);
    let (info, _) = play.create(reader, ready("x", 100));
    play.get(reader, "x", 1);
    play.restart();
    let (conn, _) = play.client(1);
    play.later(10_000);
    assert!(collect(&mut play, conn, Some(0), false).0.is_empty());
    play.pond.process_gone(&mut play.world, client);
    assert!(collect(&mut play, conn, Some(1), false).0.is_empty(), "it may just have had it");
    play.later(1);
    assert_eq!(collect(&mut play, conn, Some(1), false).0, [info.tensor]);
    play.check_held();
}

#[test]
fn what_ends_with_its_creator_is_the_creators_to_keep() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, TensorCreate { ephemeral: true, ..ready("x", 100) });
    play.later(1000);
    assert!(collect(&mut play, conn, Some(0), false).0.is_empty());
    assert!(play.is_alive(info.tensor));
}
