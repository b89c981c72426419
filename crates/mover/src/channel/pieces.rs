//! Pieces of a tensor that are moved and hashed one by one.

use millpond_channel::{Reader, Writer};
use millpond_wire::{Piece, PiecesKind, Run, SlabId, caps};

use super::ChannelError;

/// Pieces that are moved together, with one hash for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// From where to where.
    pub kind: PiecesKind,
    pub slab: SlabId,
    /// Where in the slab the move's tensor begins: the pieces' offsets count from here.
    pub base: u64,
    /// The pieces, in the order of their hashes.
    pub pieces: Vec<Piece>,
    /// Where they are in the file, in the same order; none if there is no file.
    pub runs: Vec<Run>,
}

/// The kinds; the place is the number on the channel.
const KINDS: [PiecesKind; 4] =
    [PiecesKind::Load, PiecesKind::HashFile, PiecesKind::Hash, PiecesKind::Save];

fn number(kind: PiecesKind) -> u8 {
    let place = KINDS.iter().position(|known| *known == kind);
    place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
}

impl Pieces {
    /// The bytes of all pieces.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().fold(0, |sum, piece| sum.saturating_add(piece.bytes))
    }

    /// Whether the numbers are within the caps and fit each other. A mover ends itself when its
    /// daemon sends what does not, so whoever takes pieces from a user asks this first.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.pieces.len() > caps::PIECES_PER_MOVE {
            return Err("a move has too many pieces");
        }
        if self.runs.len() > caps::RUNS_PER_MOVE {
            return Err("a move has too many runs");
        }
        let end = |start: u64, piece: &Piece| {
            start.checked_add(piece.offset).and_then(|at| at.checked_add(piece.bytes))
        };
        for piece in &self.pieces {
            if piece.bytes > caps::PIECE_BYTES {
                return Err("a piece is too large");
            }
            if end(self.base, piece).is_none() {
                return Err("a piece lies outside any slab");
            }
        }
        let bytes = self.bytes();
        if bytes > caps::MOVE_BYTES {
            return Err("the pieces of a move are too large together");
        }
        let mut in_runs = 0_u64;
        for run in &self.runs {
            if run.file_offset.checked_add(run.bytes).is_none_or(|end| end > FILE_END) {
                return Err("a run lies outside any file");
            }
            in_runs = in_runs.saturating_add(run.bytes);
        }
        let wanted = if self.kind.has_file() { bytes } else { 0 };
        if in_runs != wanted || !(self.kind.has_file() || self.runs.is_empty()) {
            return Err("the runs and pieces of a move differ in length");
        }
        Ok(())
    }

    pub(super) fn write(&self, writer: Writer) -> Writer {
        let writer = writer.u8(number(self.kind)).slab(self.slab).u64(self.base);
        let writer = writer.count(self.pieces.len()).count(self.runs.len());
        let pieces = self.pieces.iter().map(|piece| (piece.offset, piece.bytes));
        let runs = self.runs.iter().map(|run| (run.file_offset, run.bytes));
        pieces.chain(runs).fold(writer, |writer, (at, bytes)| writer.u64(at).u64(bytes))
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Pieces, ChannelError> {
        let kind = KINDS.get(usize::from(reader.u8()?)).copied();
        let kind = kind.ok_or(ChannelError::Malformed("unknown kind of pieces"))?;
        let (slab, base) = (reader.slab()?, reader.u64()?);
        let (pieces, runs) = (reader.count()?, reader.count()?);
        if pieces > caps::PIECES_PER_MOVE || runs > caps::RUNS_PER_MOVE {
            return Err(ChannelError::Malformed("a move has too many pieces or runs"));
        }
        // Before room is made for them.
        if reader.left() < (pieces + runs) * 16 {
            return Err(ChannelError::Malformed("it ends too early"));
        }
        let mut found = Pieces {
            kind,
            slab,
            base,
            pieces: Vec::with_capacity(pieces),
            runs: Vec::with_capacity(runs),
        };
        for _ in 0..pieces {
            found.pieces.push(Piece { offset: reader.u64()?, bytes: reader.u64()? });
        }
        for _ in 0..runs {
            found.runs.push(Run { file_offset: reader.u64()?, bytes: reader.u64()? });
        }
        found.check().map_err(ChannelError::Malformed)?;
        Ok(found)
    }
}

/// The last byte of a file that the kernel can name.
pub(crate) const FILE_END: u64 = i64::MAX.cast_unsigned();
