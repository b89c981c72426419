//! Bytes go into a tensor, out of it, or from one to another.

use millpond_schema::message as fb;

use super::read::{self, DecodeError, Read, uuid_to_id};
use super::{ReplyBody, RequestBody};
use crate::{ContentHash, GpuUuid, Piece, PiecesKind, Run, TensorId, TensorName, Token, caps};

/// Bytes to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMove {
    /// Made by the client: a repeat joins the move that is under way.
    pub token: Token,
    /// Into which tensor, or out of which for a get.
    pub tensor: TensorId,
    /// From this byte of it on.
    pub offset: u64,
    pub bytes: u64,
    /// From where, or to where.
    pub work: MoveWork,
}

/// What a move does. A put and a get come with the file's descriptor, and pieces of most kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveWork {
    Put {
        file_offset: u64,
    },
    Get {
        file_offset: u64,
    },
    /// From another tensor on the same GPU.
    Copy {
        from: TensorId,
        from_offset: u64,
    },
    Zero,
    /// Pieces that are hashed on the way. The move's bytes are theirs together, its offset is zero.
    Pieces {
        /// From where, to where.
        kind: PiecesKind,
        /// By place in the tensor.
        pieces: Vec<Piece>,
        /// Where they lie in the file, if there is one.
        runs: Vec<Run>,
    },
}

impl MoveWork {
    /// Whether a file's descriptor comes along.
    #[must_use]
    pub fn has_file(&self) -> bool {
        match self {
            MoveWork::Put { .. } | MoveWork::Get { .. } => true,
            MoveWork::Pieces { kind, .. } => kind.has_file(),
            MoveWork::Copy { .. } | MoveWork::Zero => false,
        }
    }

    /// Whether the tensor is written.
    #[must_use]
    pub fn writes(&self) -> bool {
        match self {
            MoveWork::Get { .. } => false,
            MoveWork::Pieces { kind, .. } => *kind == PiecesKind::Load,
            MoveWork::Put { .. } | MoveWork::Copy { .. } | MoveWork::Zero => true,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            MoveWork::Put { .. } => "put",
            MoveWork::Get { .. } => "get",
            MoveWork::Copy { .. } => "copy",
            MoveWork::Zero => "zero",
            MoveWork::Pieces { kind, .. } => kind.name(),
        }
    }
}

const PUT: u8 = 1;
const GET: u8 = 2;
const COPY: u8 = 3;
const ZERO: u8 = 4;
const LOAD: u8 = 5;
const HASH_FILE: u8 = 6;
const HASH: u8 = 7;
const SAVE: u8 = 8;

pub(super) fn write_move(moving: &TensorMove) -> fb::TensorMove {
    let (mut pieces, mut runs) = (None, None);
    let (kind, file_offset, from, from_offset) = match &moving.work {
        MoveWork::Put { file_offset } => (PUT, *file_offset, None, 0),
        MoveWork::Get { file_offset } => (GET, *file_offset, None, 0),
        MoveWork::Copy { from, from_offset } => (COPY, 0, Some(uuid_to_id(from.0)), *from_offset),
        MoveWork::Zero => (ZERO, 0, None, 0),
        MoveWork::Pieces { kind, pieces: some, runs: of_file } => {
            pieces = write_spans(some, |piece| (piece.offset, piece.bytes));
            runs = write_spans(of_file, |run| (run.file_offset, run.bytes));
            let kind = match kind {
                PiecesKind::Load => LOAD,
                PiecesKind::HashFile => HASH_FILE,
                PiecesKind::Hash => HASH,
                PiecesKind::Save => SAVE,
            };
            (kind, 0, None, 0)
        }
    };
    fb::TensorMove {
        token: Some(uuid_to_id(moving.token.0)),
        kind,
        tensor: Some(uuid_to_id(moving.tensor.0)),
        offset: moving.offset,
        bytes: moving.bytes,
        file_offset,
        from,
        from_offset,
        pieces,
        runs,
    }
}

fn write_spans<T>(spans: &[T], span: impl Fn(&T) -> (u64, u64)) -> Option<Vec<fb::Span>> {
    let spans = spans.iter().map(span).map(|(offset, bytes)| fb::Span { offset, bytes });
    Some(spans.collect())
}

pub(super) fn read_move(moving: fb::TensorMoveRef<'_>) -> Read<TensorMove> {
    let kind = moving.kind()?;
    let work = match kind {
        PUT | GET => {
            let file_offset = read::in_a_file(moving.file_offset()?, moving.bytes()?)?;
            if kind == PUT { MoveWork::Put { file_offset } } else { MoveWork::Get { file_offset } }
        }
        COPY => MoveWork::Copy {
            from: TensorId(read::uuid("from", moving.from()?)?),
            from_offset: moving.from_offset()?,
        },
        ZERO => MoveWork::Zero,
        LOAD | HASH_FILE | HASH | SAVE => {
            let kind = match kind {
                LOAD => PiecesKind::Load,
                HASH_FILE => PiecesKind::HashFile,
                HASH => PiecesKind::Hash,
                _ => PiecesKind::Save,
            };
            let (pieces, runs) = read_pieces(moving, kind.has_file())?;
            let sum = pieces.iter().map(|piece| piece.bytes).sum::<u64>();
            if (moving.offset()?, moving.bytes()?) != (0, sum) {
                return Err(DecodeError::BadValue { field: "bytes", value: moving.bytes()? });
            }
            MoveWork::Pieces { kind, pieces, runs }
        }
        other => return Err(DecodeError::BadValue { field: "kind", value: other.into() }),
    };
    Ok(TensorMove {
        token: Token(read::uuid("token", moving.token()?)?),
        tensor: TensorId(read::uuid("tensor", moving.tensor()?)?),
        offset: moving.offset()?,
        bytes: moving.bytes()?,
        work,
    })
}

/// The pieces of a move and the runs of a file that they are, which must be as many bytes.
fn read_pieces(moving: fb::TensorMoveRef<'_>, has_file: bool) -> Read<(Vec<Piece>, Vec<Run>)> {
    let bad = |field, value| DecodeError::BadValue { field, value };
    let (mut pieces, mut runs) = (Vec::new(), Vec::new());
    let mut left = 0_u64;
    let spans = read::required("pieces", moving.pieces()?)?;
    read::at_most("pieces", spans.len(), caps::PIECES_PER_MOVE)?;
    for span in spans {
        let piece = Piece { offset: span.offset(), bytes: span.bytes() };
        let fits = (1..=caps::PIECE_BYTES).contains(&piece.bytes)
            && piece.offset.checked_add(piece.bytes).is_some();
        if !fits {
            return Err(bad("pieces", piece.bytes));
        }
        left += piece.bytes;
        pieces.push(piece);
    }
    if let Some(spans) = moving.runs()? {
        read::at_most("runs", spans.len(), caps::RUNS_PER_MOVE)?;
        for span in spans {
            let run = Run { file_offset: span.offset(), bytes: span.bytes() };
            let fits = run.bytes > 0 && run.file_offset.checked_add(run.bytes).is_some();
            left = left.checked_sub(run.bytes).filter(|_| fits).ok_or(bad("runs", run.bytes))?;
            read::in_a_file(run.file_offset, run.bytes)?;
            runs.push(run);
        }
    }
    if has_file && left != 0 || !has_file && !runs.is_empty() {
        return Err(bad("runs", left));
    }
    Ok((pieces, runs))
}

pub(super) fn write_expected(
    device: Option<GpuUuid>,
    name: Option<&TensorName>,
) -> fb::MovesExpected {
    let device = device.map(|device| device.0.to_vec());
    fb::MovesExpected { device, name: read::write_name(name) }
}

pub(super) fn read_expected(expected: fb::MovesExpectedRef<'_>) -> Read<RequestBody> {
    Ok(RequestBody::MovesExpected {
        device: read::some_gpu("device", expected.device()?)?,
        name: read::new_name(expected.name()?)?,
    })
}

pub(super) fn write_moved(bytes: u64, hashes: &[ContentHash]) -> fb::Moved {
    let hashes = (!hashes.is_empty()).then(|| hashes.iter().flat_map(|hash| hash.0).collect());
    fb::Moved { bytes, hashes }
}

pub(super) fn read_moved(moved: fb::MovedRef<'_>) -> Read<ReplyBody> {
    Ok(ReplyBody::Moved { bytes: moved.bytes()?, hashes: read_hashes(moved.hashes()?)? })
}

fn read_hashes(bytes: Option<&[u8]>) -> Read<Vec<ContentHash>> {
    let bytes = bytes.unwrap_or_default();
    let (hashes, rest) = bytes.as_chunks::<16>();
    read::at_most("hashes", hashes.len(), caps::PIECES_PER_MOVE)?;
    if !rest.is_empty() {
        return Err(DecodeError::BadValue { field: "hashes", value: bytes.len() as u64 });
    }
    Ok(hashes.iter().map(|hash| ContentHash(*hash)).collect())
}
