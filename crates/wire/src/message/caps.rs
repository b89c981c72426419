//! Every list of a request holds what its cap says, and not one more.

use planus::Builder;

use super::*;
use crate::caps::{self, PIECE_BYTES};
use crate::{Audience, LeaseId, Mode, Piece, PiecesKind, Run, TensorId, Token, VersionId};

fn decoded(body: RequestBody) -> Result<Request, DecodeError> {
    let mut builder = Builder::new();
    let bytes = Request { number: 4, body }.encode(&mut builder).to_vec();
    Request::decode(&bytes).map_err(|(number, error)| {
        assert_eq!(number, 4, "the refusal names the request");
        error
    })
}

fn moving(kind: PiecesKind, pieces: Vec<Piece>, runs: Vec<Run>) -> RequestBody {
    let bytes = pieces.iter().map(|piece| piece.bytes).sum();
    let work = MoveWork::Pieces { kind, pieces, runs };
    let (token, tensor) = (Token::random(), TensorId::random());
    RequestBody::TensorMove(TensorMove { token, tensor, offset: 0, bytes, work })
}

fn hashing(pieces: Vec<Piece>) -> RequestBody {
    moving(PiecesKind::Hash, pieces, Vec::new())
}

fn piece(bytes: u64) -> Piece {
    Piece { offset: 0, bytes }
}

fn run(bytes: u64) -> Run {
    Run { file_offset: 0, bytes }
}

#[test]
fn lists_hold_what_their_caps_say() {
    let claim = LeaseClaim {
        lease: LeaseId(1),
        target: TensorId::random().into(),
        mode: Mode::ReadOnly,
        token: [5; 16],
    };
    let claims = |count| RequestBody::Claim(Claim { leases: vec![claim; count], last: true });
    let releases = |count| RequestBody::LeaseRelease { leases: vec![LeaseId(1); count] };
    let stage = |count| {
        RequestBody::VersionStage(VersionStage {
            version: VersionId::random(),
            model: "m".parse().unwrap(),
            tag: None,
            device: None,
            audience: Audience::User,
            parts: vec![PartSpec { bytes: 1, shared: None }; count],
            lease: None,
        })
    };
    let pieces = |count| hashing(vec![piece(1); count]);
    let runs = |count| {
        let whole = piece(u64::try_from(count).unwrap());
        moving(PiecesKind::Load, vec![whole], vec![run(1); count])
    };
    type Maker<'a> = &'a dyn Fn(usize) -> RequestBody;
    let lists: [(Maker<'_>, &str, usize); 5] = [
        (&claims, "leases", caps::LEASES_PER_MESSAGE),
        (&releases, "leases", caps::LEASES_PER_MESSAGE),
        (&stage, "parts", caps::PARTS),
        (&pieces, "pieces", caps::PIECES_PER_MOVE),
        (&runs, "runs", caps::RUNS_PER_MOVE),
    ];
    for (list, name, most) in lists {
        assert!(decoded(list(most)).is_ok(), "{name}");
        let error = decoded(list(most + 1)).unwrap_err();
        let DecodeError::TooMany { field, count, max } = error else { panic!("{error}") };
        assert_eq!((field, count, max), (name, most + 1, most));
    }
}

#[test]
fn pieces_are_some_bytes_that_a_buffer_holds_and_their_runs_are_as_many() {
    assert!(decoded(hashing(vec![piece(1), piece(PIECE_BYTES)])).is_ok());
    let beyond = Piece { offset: u64::MAX, bytes: 1 };
    for bad in [piece(0), piece(PIECE_BYTES + 1), beyond] {
        let error = decoded(hashing(vec![bad])).unwrap_err();
        assert!(matches!(error, DecodeError::BadValue { field: "pieces", .. }), "{bad:?} {error}");
    }
    let load = |runs| moving(PiecesKind::Load, vec![piece(10)], runs);
    assert!(decoded(load(vec![run(4), run(6)])).is_ok());
    let beyond = Run { file_offset: u64::MAX, bytes: 10 };
    for bad in [vec![], vec![run(9)], vec![run(11)], vec![run(10), run(0)], vec![beyond]] {
        let error = decoded(load(bad.clone())).unwrap_err();
        assert!(matches!(error, DecodeError::BadValue { field: "runs", .. }), "{bad:?} {error}");
    }
    // What has no file has no runs of one.
    for (kind, has_file) in [
        (PiecesKind::Load, true),
        (PiecesKind::HashFile, true),
        (PiecesKind::Save, true),
        (PiecesKind::Hash, false),
    ] {
        let with = decoded(moving(kind, vec![piece(10)], vec![run(10)]));
        let without = decoded(moving(kind, vec![piece(10)], Vec::new()));
        assert_eq!((with.is_ok(), without.is_ok()), (has_file, !has_file), "{kind:?}");
    }
}
