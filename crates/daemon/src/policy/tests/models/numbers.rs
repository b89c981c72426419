//! Numbers that a client says: of a lease, of tensors, of bytes.

use super::*;

#[test]
fn a_get_with_a_number_in_use_is_never_answered_with_another_version() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let one = play.load(conn, "llama", "v1", true);
    let two = play.load(conn, "llama", "v2", false);
    play.load(conn, "other", "v1", true);
    let (tensor, _) = play.create(conn, TensorCreate { zero: true, ..spec("llama", 100) });
    assert_eq!(play.attach(conn, "llama", 1).info.version, one.info.version);
    let by_id = |version| {
        let (target, lease) = (VersionTarget::Id(version), LeaseId(1));
        RequestBody::VersionGet(VersionGet { target, lease, mode: Mode::ReadOnly, wait_ms: 0 })
    };
    let get = TensorGet {
        target: Target::Id(tensor.tensor),
        lease: LeaseId(1),
        mode: Mode::ReadOnly,
        wait_ms: 0,
    };
    let others = [
        getting("llama@v2", 1, 0),
        getting("other", 1, 0),
        getting("nothing", 1, 0),
        getting("nothing", 1, 1000),
        by_id(two.info.version),
        RequestBody::TensorGet(get),
    ];
    for other in others {
        let failure = play.refused(conn, other.clone());
        assert_eq!(failure.kind, ErrorKind::Invalid, "{other:?}: {failure}");
    }
    // A repeat has the same version, whatever is current since.
    play.swap(conn, "llama", Some("v2"));
    for same in [getting("llama", 1, 0), getting("llama@v1", 1, 0), by_id(one.info.version)] {
        assert_eq!(granted(play.ask(conn, same)).info.version, one.info.version);
    }
}

#[test]
fn a_version_has_no_more_bytes_than_its_slabs_and_no_more_tensors_than_any() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let staged = play.stage(conn, staging("llama", None, &[4, 2])).info;
    let commit = committing(staged.version, true);
    for (tensors, bytes) in [(3, u64::MAX), (3, 6 * MIB + 1), (500_001, 100), (u32::MAX, 100)] {
        let said = VersionCommit { tensors, bytes, ..commit.clone() };
        let ReplyBody::Failure(failure) = play.commit(conn, said) else { panic!() };
        assert_eq!(failure.kind, ErrorKind::Invalid, "{failure}");
    }
    let said = VersionCommit { bytes: 6 * MIB, ..commit };
    assert_eq!(granted(play.commit(conn, said)).info.bytes, 6 * MIB);
    play.check_held();
}
