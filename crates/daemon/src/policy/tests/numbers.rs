//! The number of a lease means one thing.

use millpond_wire::ErrorKind;
use millpond_wire::record::Record;

use super::*;

fn by_id(tensor: TensorId, lease: u64) -> RequestBody {
    let (target, mode) = (Target::Id(tensor), Mode::ReadOnly);
    RequestBody::TensorGet(TensorGet { target, lease: LeaseId(lease), mode, wait_ms: 0 })
}

fn ready(name: &str) -> TensorCreate {
    TensorCreate { zero: true, ..spec(name, 100) }
}

#[test]
fn a_get_with_a_number_in_use_is_never_answered_with_something_else() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (x, _) = play.create(conn, ready("x"));
    let (y, _) = play.create(conn, ready("y"));
    play.get(conn, "x", 1);
    let others = [
        by_id(y.tensor, 1),
        by_id(TensorId::random(), 1),
        get("y", 1, Mode::ReadOnly, 0),
        get("nothing", 1, Mode::ReadOnly, 0),
        get("nothing", 1, Mode::ReadOnly, 1000),
        get("x", 1, Mode::ReadWrite, 0),
        RequestBody::TensorCreate(TensorCreate { lease: Some(LeaseId(1)), ..ready("z") }),
    ];
    for other in others {
        let failure = play.refused(conn, other.clone());
        assert_eq!(failure.kind, ErrorKind::Invalid, "{other:?}: {failure}");
    }
    // The same is the same, however it is said.
    assert_eq!(play.get(conn, "x", 1).0.tensor, x.tensor);
    assert_eq!(play.get(conn, "~1/x", 1).0.tensor, x.tensor);
    let ReplyBody::Tensor(grant) = play.ask(conn, by_id(x.tensor, 1)) else { panic!() };
    assert_eq!(grant.info.tensor, x.tensor);
    assert_eq!(play.pond.leases.len(), 1);
}

/// The answer was lost, and the name means another tensor when the get is repeated.
#[test]
fn a_repeated_get_has_its_tensor_whatever_the_name_means_since() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (old, _) = play.create(conn, ready("x"));
    play.get(conn, "x", 1);
    play.delete(conn, old.tensor);
    assert_eq!(play.get(conn, "x", 1).0.tensor, old.tensor);
    let (new, _) = play.create(conn, ready("x"));
    assert_eq!(play.get(conn, "x", 1).0.tensor, old.tensor);
    assert_eq!(play.get(conn, "x", 2).0.tensor, new.tensor);
    // Asked for by its identity it was not asked for by a name.
    let ReplyBody::Tensor(_) = play.ask(conn, by_id(new.tensor, 3)) else { panic!() };
    play.delete(conn, new.tensor);
    let failure = play.refused(conn, get("x", 3, Mode::ReadOnly, 0));
    assert_eq!(failure.kind, ErrorKind::Invalid);
}

/// The create found another tensor; the repeat says the same identity.
#[test]
fn a_repeated_create_has_what_it_found_whatever_the_name_means_since() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (old, _) = play.create(conn, ready("x"));
    let create = TensorCreate { lease: Some(LeaseId(1)), ..ready("x") };
    assert_eq!(play.create(conn, create.clone()).0.tensor, old.tensor);
    play.delete(conn, old.tensor);
    assert_eq!(play.create(conn, create).0.tensor, old.tensor);
    let other = TensorCreate { lease: Some(LeaseId(1)), ..ready("x") };
    let failure = play.refused(conn, RequestBody::TensorCreate(other));
    assert_eq!(failure.kind, ErrorKind::Invalid);
}

/// The only get was answered, and its answer lost with the daemon: the name means nothing now.
#[test]
fn a_counted_get_is_repeated_by_its_name_after_a_restart() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let life = Life { accesses: Some(1), ..Life::default() };
    let (x, _) = play.create(conn, TensorCreate { life, ..ready("x") });
    play.get(conn, "x", 1);
    let asked = play.world.records.iter().find_map(|record| match record {
        Record::TensorAccessed { lease: Some(lease), .. } => Some(lease.asked),
        _ => None,
    });
    assert!(asked.is_some_and(|asked| asked != 0));
    for compacted in [false, true] {
        if compacted {
            play.world.records = play.pond.snapshot();
        }
        play.restart();
        let conn = play.connect(1);
        play.hello(conn, client, false);
        let failure = play.refused(conn, get("y", 1, Mode::ReadOnly, 0));
        assert_eq!(failure.kind, ErrorKind::Invalid);
        assert_eq!(play.get(conn, "x", 1).0.tensor, x.tensor);
    }
}
