//! How pieces are cut into blocks: each block is some whole pieces that fit one buffer together, so
//! that many small tensors are read with few calls, and every piece is hashed in one place.

use std::ops::Range;
use std::sync::OnceLock;

use millpond_wire::{ContentHash, Piece, Run};

use crate::channel::Pieces;

/// Pieces, cut into blocks, and their hashes as far as they are known.
pub(crate) struct Cuts {
    /// Their offsets are from the slab's start.
    pieces: Vec<Piece>,
    runs: Vec<Run>,
    blocks: Vec<Cut>,
    /// One for each piece: threads never wait for each other to note one.
    hashes: Vec<OnceLock<ContentHash>>,
}

struct Cut {
    /// Its first byte, from the job's start.
    start: u64,
    bytes: usize,
    pieces: Range<usize>,
    /// The run that it begins in, and how many bytes of that come before it.
    run: usize,
    skip: u64,
}

impl Cuts {
    /// Cuts pieces that the channel has checked. A piece that is larger than a block is an error,
    /// with its size.
    pub(crate) fn new(job: Pieces, block_bytes: u32) -> Result<Cuts, u64> {
        let Pieces { base, mut pieces, runs, .. } = job;
        let most = usize::try_from(block_bytes).unwrap_or(usize::MAX);
        let mut blocks: Vec<Cut> = Vec::new();
        let (mut start, mut run, mut skip) = (0, 0, 0);
        for (index, piece) in pieces.iter_mut().enumerate() {
            let bytes = usize::try_from(piece.bytes).unwrap_or(usize::MAX);
            if bytes > most {
                return Err(piece.bytes);
            }
            piece.offset += base;
            match blocks.last_mut() {
                Some(block) if block.bytes + bytes <= most => {
                    block.bytes += bytes;
                    block.pieces.end = index + 1;
                }
                _ => blocks.push(Cut { start, bytes, pieces: index..index + 1, run, skip }),
            }
            start += piece.bytes;
            skip += piece.bytes;
            while let Some(over) = runs.get(run).and_then(|run| skip.checked_sub(run.bytes)) {
                (run, skip) = (run + 1, over);
            }
        }
        let hash = |piece: &Piece| match piece.bytes {
            // A block without bytes passes no buffer.
            0 => OnceLock::from(ContentHash::of(&[])),
            _ => OnceLock::new(),
        };
        let hashes = pieces.iter().map(hash).collect();
        Ok(Cuts { pieces, runs, blocks, hashes })
    }

    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// First byte and size of a block.
    pub(crate) fn block(&self, index: usize) -> (u64, usize) {
        self.blocks.get(index).map_or((0, 0), |block| (block.start, block.bytes))
    }

    /// The pieces, with offsets from the slab's start.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Where a block's bytes are in the file, and how many follow each other there: runs that touch
    /// are one.
    pub(crate) fn extents(&self, index: usize) -> impl Iterator<Item = (u64, usize)> {
        let block = self.blocks.get(index);
        let mut left = block.map_or(0, |block| block.bytes as u64);
        let mut skip = block.map_or(0, |block| block.skip);
        let mut runs = self.runs.iter().skip(block.map_or(0, |block| block.run)).peekable();
        std::iter::from_fn(move || {
            let mut found: Option<(u64, u64)> = None;
            while left > 0
                && let Some(run) = runs.peek()
            {
                let (at, bytes) = (run.file_offset + skip, (run.bytes - skip).min(left));
                found = match found {
                    // No byte of it is wanted, so it may be beyond the file's end.
                    _ if bytes == 0 => found,
                    None => Some((at, bytes)),
                    Some((first, before)) if first + before == at => Some((first, before + bytes)),
                    Some(_) => break,
                };
                (left, skip) = (left - bytes, 0);
                runs.next();
            }
            found.map(|(at, bytes)| (at, usize::try_from(bytes).unwrap_or(0)))
        })
    }

    /// Where a block's bytes go in the slab, and where they are in a buffer that has them from `at`:
    /// pieces that touch in the slab are one.
    pub(crate) fn parts(
        &self,
        index: usize,
        at: usize,
    ) -> impl Iterator<Item = (u64, Range<usize>)> {
        let mut pieces = self.pieces_of(index).iter().filter(|piece| piece.bytes > 0).peekable();
        let mut at = at;
        std::iter::from_fn(move || {
            let first = pieces.next()?;
            let mut end = first.offset + first.bytes;
            while let Some(next) = pieces.next_if(|next| next.offset == end) {
                end += next.bytes;
            }
            let start = at;
            at += usize::try_from(end - first.offset).unwrap_or(0);
            Some((first.offset, start..at))
        })
    }

    /// Hashes a block's pieces, which are all there.
    pub(crate) fn hash(&self, index: usize, bytes: &[u8]) {
        self.hasher(index)(bytes);
    }

    /// Hashes a block's pieces while their bytes come, so that each is hashed while it is hot.
    pub(crate) fn hasher(&self, index: usize) -> impl FnMut(&[u8]) {
        let range = self.blocks.get(index).map_or(0..0, |block| block.pieces.clone());
        let mut pieces = self.pieces[range.clone()].iter().zip(&self.hashes[range]).peekable();
        // What is hashed: up to here, of which these bytes are of the piece that has begun.
        let (mut done, mut begun) = (0, 0);
        let mut hasher: Option<twox_hash::XxHash3_128> = None;
        move |bytes: &[u8]| {
            while let Some((piece, hash)) = pieces.peek() {
                let size = usize::try_from(piece.bytes).unwrap_or(0);
                let now = (size - begun).min(bytes.len() - done);
                let part = &bytes[done..done + now];
                if begun == 0 && now == size {
                    hash.get_or_init(|| ContentHash::of(part));
                } else if now > 0 {
                    let hasher = hasher.get_or_insert_with(twox_hash::XxHash3_128::new);
                    hasher.write(part);
                }
                done += now;
                begun += now;
                if begun < size {
                    return;
                }
                if let Some(hasher) = hasher.take() {
                    hash.get_or_init(|| ContentHash(hasher.finish_128().to_be_bytes()));
                }
                begun = 0;
                pieces.next();
            }
        }
    }

    /// The hashes, when all blocks have ended well.
    pub(crate) fn hashes(&self) -> Vec<ContentHash> {
        self.hashes.iter().filter_map(OnceLock::get).copied().collect()
    }

    fn pieces_of(&self, index: usize) -> &[Piece] {
        self.blocks.get(index).map_or(&[], |block| &self.pieces[block.pieces.clone()])
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::SlabId;
    use proptest::prelude::*;

    use super::*;
    use crate::channel::PiecesKind;

    const BLOCK: u32 = 100;

    fn cuts(base: u64, pieces: &[(u64, u64)], runs: &[(u64, u64)]) -> Cuts {
        let piece = |&(offset, bytes): &(u64, u64)| Piece { offset, bytes };
        let run = |&(file_offset, bytes): &(u64, u64)| Run { file_offset, bytes };
        let (kind, slab) = (PiecesKind::Load, SlabId::random());
        let pieces = pieces.iter().map(piece).collect();
        let runs = runs.iter().map(run).collect();
        Cuts::new(Pieces { kind, slab, base, pieces, runs }, BLOCK).unwrap()
    }

    #[test]
    fn what_touches_is_one() {
        let cuts = cuts(
            1000,
            &[(0, 40), (40, 20), (64, 30), (200, 0), (256, 100)],
            &[(7, 50), (57, 40), (500, 0), (97, 50), (900, 50)],
        );
        assert_eq!((cuts.blocks(), cuts.block(0), cuts.block(1)), (2, (0, 90), (90, 100)));
        assert_eq!(cuts.extents(0).collect::<Vec<_>>(), [(7, 90)]);
        assert_eq!(cuts.extents(1).collect::<Vec<_>>(), [(97, 50), (900, 50)]);
        assert_eq!(cuts.parts(0, 5).collect::<Vec<_>>(), [(1000, 5..65), (1064, 65..95)]);
        assert_eq!(cuts.parts(1, 0).collect::<Vec<_>>(), [(1256, 0..100)]);
    }

    #[test]
    fn a_piece_that_fits_no_block_is_told() {
        let pieces = vec![Piece { offset: 0, bytes: 100 }, Piece { offset: 0, bytes: 101 }];
        let (kind, slab, runs) = (PiecesKind::Hash, SlabId::random(), vec![]);
        let job = Pieces { kind, slab, base: 0, pieces, runs };
        assert_eq!(Cuts::new(job, BLOCK).err(), Some(101));
    }

    proptest! {
        #[test]
        fn every_byte_of_every_piece_comes_from_its_place_in_the_file(
            sizes in proptest::collection::vec(0_u64..=100, 0..30),
            gaps in proptest::collection::vec(0_u64..3, 30),
            run_sizes in proptest::collection::vec((0_u64..=120, 0_u64..3), 0..60),
        ) {
            let mut place = 0;
            let pieces: Vec<(u64, u64)> = sizes.iter().zip(&gaps).map(|(bytes, gap)| {
                let at = place + gap;
                place = at + bytes;
                (at, *bytes)
            }).collect();
            let mut left: u64 = sizes.iter().sum();
            let mut runs = Vec::new();
            let mut file = 9;
            for (bytes, gap) in run_sizes {
                runs.push((file + gap, bytes.min(left)));
                file += gap + bytes.min(left);
                left -= bytes.min(left);
            }
            runs.push((file + 5, left));
            let cuts = cuts(50, &pieces, &runs);
            let of = |(at, bytes): (u64, u64)| at..at + bytes;
            let wanted: Vec<(u64, u64)> =
                pieces.iter().copied().flat_map(of).map(|at| at + 50)
                    .zip(runs.iter().copied().flat_map(of)).collect();
            let mut found = Vec::new();
            for index in 0..cuts.blocks() {
                let (start, bytes) = cuts.block(index);
                prop_assert_eq!(start, found.len() as u64);
                prop_assert!(bytes <= 100);
                let from: Vec<u64> = cuts.extents(index)
                    .flat_map(|(at, bytes)| of((at, bytes as u64))).collect();
                prop_assert_eq!(from.len(), bytes);
                let to = cuts.parts(index, 0)
                    .flat_map(|(at, part)| of((at, part.len() as u64)));
                found.extend(to.zip(from));
            }
            prop_assert_eq!(found, wanted);
            let contents: Vec<u8> = (0..=255).cycle().take(10_000).collect();
            let mut at = 0;
            for index in 0..cuts.blocks() {
                let (start, bytes) = cuts.block(index);
                let start = usize::try_from(start).unwrap();
                cuts.hash(index, &contents[start..start + bytes]);
            }
            let hashes: Vec<ContentHash> = sizes.iter().map(|bytes| {
                let begin = at;
                at += usize::try_from(*bytes).unwrap();
                ContentHash::of(&contents[begin..at])
            }).collect();
            prop_assert_eq!(cuts.hashes(), hashes);
        }
    }
}
