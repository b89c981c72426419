//! The end of a staging: what was written is hashed, and the version is complete.

use std::sync::atomic::Ordering;
use std::time::Duration;

use millpond_wire::manifest::{Manifest, slab_hash};
use millpond_wire::message::{ReplyBody, RequestBody, VersionCommit, VersionInfo};
use millpond_wire::{ContentHash, ErrorKind, Piece, PiecesKind, TensorId, Token, limits, memfd};

use super::stage::{Slot, Staging};
use super::version::label;
use crate::answer::not_an_answer;
use crate::link::Ask;
use crate::transfer::moves;
use crate::{Error, Result};

const WHAT: &str = "a commit";

/// Pieces of one slab that are hashed with one move.
struct Batch {
    part: TensorId,
    /// Which pieces of all these are.
    first: usize,
    pieces: Vec<Piece>,
}

impl Staging {
    /// Waits for all work of the context, hashes what was written, and makes the version ready;
    /// with `activate` also current, in the same step.
    ///
    /// # Errors
    /// What the work met; `mover`; what else the pond answers. Nothing is left of the version then.
    pub fn commit(mut self, activate: bool) -> Result<VersionInfo> {
        self.attachment.own()?;
        if self.slots.contains(&Slot::Empty) {
            let message = format!("a slab of '{}' could not be made its own", label(&self.info));
            let hint = "stage it anew".to_owned();
            return Err(Error::version(ErrorKind::Invalid, message, hint));
        }
        self.attachment.context().synchronize()?;
        self.hash()?;
        let encoded = self.manifest.encode();
        let file = memfd::sealed("millpond-manifest", &encoded)
            .map_err(|error| Error::system("a memfd for the manifest", error))?;
        let Manifest { tensors, source, .. } = &self.manifest;
        let body = RequestBody::VersionCommit(VersionCommit {
            version: self.version(),
            token: Token::random(),
            layout: self.manifest.layout_hash(),
            content: self.manifest.content_hash(),
            tensors: u32::try_from(tensors.len()).unwrap_or(u32::MAX),
            bytes: tensors.iter().map(|tensor| tensor.bytes).sum(),
            activate,
            source: source.clone(),
        });
        let pond = self.attachment.pond();
        let deadline = pond.deadline(Duration::ZERO);
        let ask = Ask { what: WHAT, body, lease: None, deadline, waits_until: None };
        let answer = pond.core().link.call_with(ask, Some(&file))?;
        let ReplyBody::Version(grant) = answer.body else { return Err(not_an_answer(WHAT)) };
        self.over = true;
        self.attachment.sealed.store(true, Ordering::Release);
        Ok(grant.info)
    }

    /// Puts the hashes of all slabs of its own into the manifest. Those of shared slabs are known.
    fn hash(&mut self) -> Result<()> {
        let own = |slab: usize| self.slots[slab] == Slot::Own;
        let written: Vec<usize> = (0..self.manifest.tensors.len())
            .filter(|index| own(self.manifest.tensors[*index].slab))
            .collect();
        let (batches, counts) = self.batches(&written);
        let count: usize = counts.iter().sum();
        let mut hashes = vec![None; count];
        let link = &self.attachment.pond().core().link;
        let hash = |batch: Batch| {
            let Batch { part, first, pieces } = batch;
            let hashed = moves::pieces(link, part, PiecesKind::Hash, pieces, Vec::new(), None)?;
            Ok((first, hashed))
        };
        let lanes = batches.len() as u64;
        moves::several(lanes, batches.into_iter(), hash, |(first, hashed)| {
            for (place, hash) in hashes.iter_mut().skip(first).zip(hashed) {
                *place = Some(hash);
            }
        })?;
        let mut hashes = hashes.into_iter().flatten();
        for (tensor, count) in written.into_iter().zip(counts) {
            let pieces: Vec<ContentHash> = hashes.by_ref().take(count).collect();
            self.manifest.tensors[tensor].hash = ContentHash::of_parts(&pieces);
        }
        let mut of_slab = vec![Vec::new(); self.manifest.slabs.len()];
        for tensor in &self.manifest.tensors {
            of_slab[tensor.slab].push(tensor.hash);
        }
        let slabs = self.manifest.slabs.iter_mut().zip(&self.slots).zip(of_slab);
        for ((slab, _), tensors) in slabs.filter(|((_, slot), _)| **slot == Slot::Own) {
            slab.hash = slab_hash(tensors);
        }
        Ok(())
    }

    /// The pieces of these tensors, and how many each tensor has.
    fn batches(&self, tensors: &[usize]) -> (Vec<Batch>, Vec<usize>) {
        let (mut batches, mut counts, mut first) = (Vec::<Batch>::new(), Vec::new(), 0);
        let mut bytes = 0;
        for tensor in tensors.iter().map(|index| &self.manifest.tensors[*index]) {
            let part = self.parts[tensor.slab].tensor;
            let before = first;
            let mut done = 0;
            while done < tensor.bytes {
                let length = limits::PIECE_BYTES.min(tensor.bytes - done);
                let piece = Piece { offset: tensor.offset + done, bytes: length };
                match batches.last_mut() {
                    Some(batch)
                        if batch.part == part
                            && batch.pieces.len() < limits::PIECES_PER_MOVE
                            && bytes + length <= limits::MOVE_BYTES =>
                    {
                        batch.pieces.push(piece);
                        bytes += length;
                    }
                    _ => {
                        batches.push(Batch { part, first, pieces: vec![piece] });
                        bytes = length;
                    }
                }
                done += length;
                first += 1;
            }
            counts.push(first - before);
        }
        (batches, counts)
    }
}
