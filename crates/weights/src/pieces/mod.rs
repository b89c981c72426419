//! Which bytes of which file go where, in moves that fit a message.

mod gather;

use std::collections::BTreeMap;

use millpond_wire::{Piece, Run, caps};

use crate::layout::Layout;
use crate::plan::PlannedTensor;

/// Bytes of one move, unless somebody says otherwise: long enough to keep the ring busy, short
/// enough to show progress.
pub const DEFAULT_BATCH_BYTES: u64 = 256 << 20;

/// Pieces of one slab out of one file: what one move takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceBatch {
    /// Into which slab of the layout.
    pub slab: usize,
    /// Out of which file of the checkpoint.
    pub file: usize,
    /// Each with its offset from the slab's start, the index of its tensor in the layout, and its
    /// place among that tensor's pieces.
    pub pieces: Vec<(Piece, usize, usize)>,
    /// The bytes of all pieces, one after the other.
    pub runs: Vec<Run>,
    pub bytes: u64,
}

impl PieceBatch {
    /// Whether one piece consists of more runs than a move can carry. Then the loader brings its
    /// bytes together with [`PieceBatch::gather`] and moves them out of that file.
    #[must_use]
    pub fn is_scattered(&self) -> bool {
        self.runs.len() > caps::RUNS_PER_MOVE
    }
}

/// All moves of a load, by slab, by file, and in each file from its start to its end. At most
/// `most_bytes` in one, but always at least a piece.
#[must_use]
pub fn batches<'a>(
    planned: &'a [PlannedTensor],
    layout: &'a Layout,
    most_bytes: u64,
) -> Batches<'a> {
    Batches::new(planned, layout, most_bytes, |_| true)
}

/// As [`batches`], of one slab.
#[must_use]
pub fn slab_batches<'a>(
    planned: &'a [PlannedTensor],
    layout: &'a Layout,
    slab: usize,
    most_bytes: u64,
) -> Batches<'a> {
    Batches::new(planned, layout, most_bytes, |other| other == slab)
}

#[derive(Debug)]
pub struct Batches<'a> {
    planned: &'a [PlannedTensor],
    layout: &'a Layout,
    most_bytes: u64,
    groups: std::vec::IntoIter<Group>,
    /// Where it stands in the current group.
    cursor: Option<Cursor>,
    /// The piece that did not fit the last batch.
    pending: Option<NextPiece>,
}

/// The tensors of one slab in one file, in the file's order.
#[derive(Debug)]
struct Group {
    slab: usize,
    file: usize,
    tensors: std::vec::IntoIter<usize>,
}

#[derive(Debug)]
struct Cursor {
    group: Group,
    tensor: Option<TensorCursor>,
}

#[derive(Debug)]
struct TensorCursor {
    laid: usize,
    piece: usize,
    run: usize,
    taken: u64,
}

#[derive(Debug)]
struct NextPiece {
    piece: Piece,
    tensor: usize,
    index: usize,
    runs: Vec<Run>,
}

impl<'a> Batches<'a> {
    fn new(
        planned: &'a [PlannedTensor],
        layout: &'a Layout,
        most_bytes: u64,
        wanted: impl Fn(usize) -> bool,
    ) -> Self {
        let mut groups: BTreeMap<(usize, usize), Vec<(u64, usize)>> = BTreeMap::new();
        for (index, tensor) in layout.tensors.iter().enumerate() {
            // Tensors without bytes have no pieces.
            let Some(source) = planned.get(tensor.source) else { continue };
            let Some(first) = source.runs.first() else { continue };
            if wanted(tensor.slab) {
                let group = groups.entry((tensor.slab, source.file)).or_default();
                group.push((first.file_offset, index));
            }
        }
        let groups: Vec<Group> = groups
            .into_iter()
            .map(|((slab, file), mut tensors)| {
                tensors.sort_unstable();
                let tensors: Vec<usize> = tensors.into_iter().map(|(_, index)| index).collect();
                Group { slab, file, tensors: tensors.into_iter() }
            })
            .collect();
        let groups = groups.into_iter();
        Self { planned, layout, most_bytes, groups, cursor: None, pending: None }
    }

    /// The next piece of the current group.
    fn next_piece(&mut self) -> Option<NextPiece> {
        if let Some(pending) = self.pending.take() {
            return Some(pending);
        }
        let cursor = self.cursor.as_mut()?;
        loop {
            let tensor = match &mut cursor.tensor {
                Some(tensor) => tensor,
                None => {
                    let laid = cursor.group.tensors.next()?;
                    cursor.tensor.insert(TensorCursor { laid, piece: 0, run: 0, taken: 0 })
                }
            };
            let laid = self.layout.tensors.get(tensor.laid)?;
            let runs = &self.planned.get(laid.source)?.runs;
            let done = tensor.piece as u64 * caps::PIECE_BYTES;
            if done >= laid.bytes {
                cursor.tensor = None;
                continue;
            }
            let bytes = (laid.bytes - done).min(caps::PIECE_BYTES);
            let piece = Piece { offset: laid.offset + done, bytes };
            let (index, tensor_index) = (tensor.piece, tensor.laid);
            let runs = tensor.take(runs, bytes);
            tensor.piece += 1;
            return Some(NextPiece { piece, tensor: tensor_index, index, runs });
        }
    }
}

impl TensorCursor {
    /// The next so many bytes of these runs.
    fn take(&mut self, runs: &[Run], mut bytes: u64) -> Vec<Run> {
        let mut taken = Vec::new();
        while bytes > 0 {
            let Some(run) = runs.get(self.run) else { break };
            let part = (run.bytes - self.taken).min(bytes);
            taken.push(Run { file_offset: run.file_offset + self.taken, bytes: part });
            bytes -= part;
            self.taken += part;
            if self.taken == run.bytes {
                (self.run, self.taken) = (self.run + 1, 0);
            }
        }
        taken
    }
}

impl Iterator for Batches<'_> {
    type Item = PieceBatch;

    fn next(&mut self) -> Option<PieceBatch> {
        loop {
            if self.cursor.is_none() {
                self.cursor = Some(Cursor { group: self.groups.next()?, tensor: None });
            }
            let group = self.cursor.as_ref().map(|cursor| &cursor.group)?;
            let mut batch = PieceBatch {
                slab: group.slab,
                file: group.file,
                pieces: Vec::new(),
                runs: Vec::new(),
                bytes: 0,
            };
            while let Some(next) = self.next_piece() {
                if !batch.pieces.is_empty() && !fits(&batch, &next, self.most_bytes) {
                    self.pending = Some(next);
                    break;
                }
                batch.bytes += next.piece.bytes;
                batch.pieces.push((next.piece, next.tensor, next.index));
                let joins = joins(&batch.runs, &next.runs);
                let mut runs = next.runs.into_iter();
                if let (true, Some(last)) = (joins, batch.runs.last_mut()) {
                    last.bytes += runs.next().map_or(0, |run| run.bytes);
                }
                batch.runs.extend(runs);
            }
            if !batch.pieces.is_empty() {
                return Some(batch);
            }
            self.cursor = None;
        }
    }
}

fn fits(batch: &PieceBatch, next: &NextPiece, most_bytes: u64) -> bool {
    let runs = batch.runs.len() + next.runs.len() - usize::from(joins(&batch.runs, &next.runs));
    batch.pieces.len() < caps::PIECES_PER_MOVE
        && runs <= caps::RUNS_PER_MOVE
        && batch.bytes + next.piece.bytes <= most_bytes
}

/// Whether the second runs begin where the first end.
fn joins(first: &[Run], second: &[Run]) -> bool {
    match (first.last(), second.first()) {
        (Some(last), Some(next)) => last.file_offset + last.bytes == next.file_offset,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
