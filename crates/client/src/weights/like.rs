//! What a new version has in common with one that is there: slabs with the same bytes.

use std::ops::ControlFlow;
use std::sync::Arc;

use millpond_weights::pieces::{PieceBatch, slab_batches};
use millpond_weights::{Layout, PlannedTensor, TensorHashes};
use millpond_wire::{ContentHash, PiecesKind, TensorId};

use super::files::{Files, move_batch};
use super::hold::LeasedVersion;

use super::stop::Stop;
use crate::Result;
use crate::link::Link;
use crate::transfer::lanes;

/// Small enough that not much was read in vain where a slab differs in its first tensors, which
/// most do that differ.
const BATCH_BYTES: u64 = 64 << 20;

/// What is compared with what.
pub(super) struct Compare<'a> {
    pub(super) link: &'a Arc<Link>,
    pub(super) files: &'a Files,
    pub(super) planned: &'a [PlannedTensor],
    pub(super) layout: &'a Layout,
    /// A version with the same layout.
    pub(super) twin: &'a LeasedVersion,
    pub(super) stop: &'a Stop,
}

impl Compare<'_> {
    /// For each slab the part that it can share, and in `hashes` what its tensors are. `read` is
    /// told of every so many bytes that were read, or need not be any more.
    pub(super) fn run(
        &self,
        hashes: &mut TensorHashes,
        mut read: impl FnMut(u64, bool),
    ) -> Result<Vec<Option<TensorId>>> {
        let mut shared = Vec::with_capacity(self.layout.slabs.len());
        for slab in 0..self.layout.slabs.len() {
            if self.stop.flow().is_break() {
                break;
            }
            let equal = self.slab(slab, hashes, &mut read)?;
            shared.push(self.twin.parts.get(slab).filter(|_| equal).map(|part| part.tensor));
        }
        Ok(shared)
    }

    /// Whether the files have the bytes of this slab.
    fn slab(
        &self,
        slab: usize,
        hashes: &mut TensorHashes,
        read: &mut dyn FnMut(u64, bool),
    ) -> Result<bool> {
        let total: u64 = self.layout.tensors_of(slab).iter().map(|tensor| tensor.bytes).sum();
        let Some(part) = self.twin.parts.get(slab) else { return Ok(false) };
        let (mut equal, mut seen) = (true, 0);
        let work = |batch: PieceBatch| {
            let hashed =
                move_batch(self.link, part.tensor, PiecesKind::HashFile, &batch, self.files)?;
            Ok((batch, hashed))
        };
        let mut landed = |(batch, hashed): (PieceBatch, Vec<ContentHash>)| {
            seen += batch.bytes;
            read(batch.bytes, true);
            for ((_, tensor, piece), hash) in batch.pieces.iter().zip(hashed) {
                hashes.set(*tensor, *piece, hash);
            }
            equal &= batch.pieces.iter().all(|(_, tensor, _)| {
                // One with pieces to come may still be equal.
                hashes.tensor(*tensor).is_none_or(|hash| {
                    self.twin.manifest.tensors.get(*tensor).is_some_and(|twin| twin.hash == hash)
                })
            });
            if equal { self.stop.flow() } else { ControlFlow::Break(()) }
        };
        let mut batches = slab_batches(self.planned, self.layout, slab, BATCH_BYTES);
        if let Some(first) = batches.next() {
            let count = usize::try_from(total / BATCH_BYTES).unwrap_or(usize::MAX);
            if landed(work(first)?).is_continue() {
                lanes::run(lanes::lanes(count, total), batches, work, &mut landed)?;
            }
        }
        read(total.saturating_sub(seen), false);
        Ok(equal)
    }
}
