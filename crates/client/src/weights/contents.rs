//! A version that is there, as moves see it.

use std::ops::ControlFlow;
use std::sync::Arc;

use millpond_weights::pieces::{DEFAULT_BATCH_BYTES, PieceBatch, batches};
use millpond_weights::{LaidTensor, Layout, PlannedTensor, TensorHashes};
use millpond_wire::manifest::Manifest;
use millpond_wire::message::PartInfo;
use millpond_wire::{PiecesKind, Run};

use super::stop::{GoOn, Stop};
use crate::link::Link;
use crate::transfer::{lanes, moves};
use crate::{Error, Progress, Result};

/// The layout of a version that is there.
pub(super) fn layout(manifest: &Manifest) -> Layout {
    let tensors = manifest.tensors.iter().enumerate().map(|(source, tensor)| LaidTensor {
        name: tensor.name.clone(),
        dtype: tensor.dtype,
        shape: tensor.shape.clone(),
        bytes: tensor.bytes,
        slab: tensor.slab,
        offset: tensor.offset,
        source,
    });
    let slabs = manifest.slabs.iter().map(|slab| slab.bytes).collect();
    Layout { slabs, tensors: tensors.collect() }
}

/// Where the bytes of a version go.
pub(crate) struct Reading<'a> {
    pub(crate) link: &'a Arc<Link>,
    pub(crate) manifest: &'a Manifest,
    pub(crate) parts: &'a [PartInfo],
    /// For each tensor the file and the place in it; nothing where they are only hashed.
    pub(crate) places: &'a [(usize, u64)],
    pub(crate) files: &'a [std::os::fd::OwnedFd],
}

impl Reading<'_> {
    /// Reads every tensor back, and gives the names of those that are not what the manifest says.
    /// `progress` may end it.
    pub(super) fn run<A: GoOn>(
        &self,
        mut progress: impl FnMut(Progress) -> A,
    ) -> Result<Vec<String>> {
        let stop = Stop::default();
        let mut progress = |so| stop.heard(progress(so));
        let total = self.manifest.tensors.iter().map(|tensor| tensor.bytes).sum();
        let mut done = 0;
        progress(Progress { done, total });
        let hashes = self.hashes(
            |_| true,
            |bytes| {
                done += bytes;
                progress(Progress { done, total });
                stop.flow()
            },
        )?;
        stop.check()?;
        let tensors = self.manifest.tensors.iter().enumerate();
        let differing =
            tensors.filter(|(index, tensor)| hashes.tensor(*index) != Some(tensor.hash));
        Ok(differing.map(|(_, tensor)| tensor.name.clone()).collect())
    }

    /// Hashes what these slabs hold. `moved` hears the bytes of each move, and may end it.
    pub(crate) fn hashes(
        &self,
        wanted: impl Fn(usize) -> bool,
        mut moved: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<TensorHashes> {
        let layout = layout(self.manifest);
        let planned: Vec<PlannedTensor> = layout.tensors.iter().map(|one| self.plan(one)).collect();
        let mut hashes = TensorHashes::new(&layout);
        let wanted: Vec<PieceBatch> = batches(&planned, &layout, DEFAULT_BATCH_BYTES)
            .filter(|batch| wanted(batch.slab))
            .collect();
        let kind = if self.files.is_empty() { PiecesKind::Hash } else { PiecesKind::Save };
        let work = |batch: PieceBatch| {
            let missing = || Error::Protocol("a slab of the version is missing".to_owned());
            let part = self.parts.get(batch.slab).ok_or_else(missing)?.tensor;
            let pieces = batch.pieces.iter().map(|(piece, ..)| *piece).collect();
            let file = self.files.get(batch.file);
            let runs = if file.is_some() { batch.runs.clone() } else { Vec::new() };
            let hashed = moves::pieces(self.link, part, kind, pieces, runs, file)?;
            Ok((batch, hashed))
        };
        let lanes = lanes::lanes(wanted.len(), wanted.iter().map(|batch| batch.bytes).sum());
        lanes::run(lanes, wanted.into_iter(), work, |(batch, hashed)| {
            for ((_, tensor, piece), hash) in batch.pieces.iter().zip(hashed) {
                hashes.set(*tensor, *piece, hash);
            }
            moved(batch.bytes)
        })?;
        Ok(hashes)
    }

    fn plan(&self, tensor: &LaidTensor) -> PlannedTensor {
        let (file, file_offset) = self.places.get(tensor.source).copied().unwrap_or_default();
        let run = (tensor.bytes > 0).then_some(Run { file_offset, bytes: tensor.bytes });
        PlannedTensor {
            name: String::new(),
            dtype: tensor.dtype,
            shape: tensor.shape.clone(),
            bytes: tensor.bytes,
            file,
            runs: run.into_iter().collect(),
        }
    }
}
