//! A box out of a tensor, as runs of its file.

use millpond_wire::{Run, Shape, ShapeError};

use super::{PlanError, PlannedTensor};
use crate::checkpoint::SourceTensor;

/// Runs of one tensor, so that a plan takes no more memory than the ring: 64 MiB.
pub const MOST_RUNS: u64 = 1 << 22;

/// From where to where in each dimension.
pub(super) struct Cut(Vec<(u64, u64)>);

impl Cut {
    pub(super) fn whole(tensor: &SourceTensor) -> Self {
        Self(tensor.shape.dims().iter().map(|dim| (0, *dim)).collect())
    }

    pub(super) fn split(
        tensor: &SourceTensor,
        dimension: usize,
        rank: u64,
        world: u64,
    ) -> Result<Self, PlanError> {
        let mut cut = Self::whole(tensor);
        let (name, shape) = (|| tensor.name.clone(), || tensor.shape.clone());
        match cut.0.get_mut(dimension) {
            None => Err(PlanError::NoDimension { name: name(), shape: shape(), dimension }),
            Some((_, dim)) if !dim.is_multiple_of(world) => {
                Err(PlanError::Indivisible { name: name(), shape: shape(), dimension, world })
            }
            Some(range) => {
                let part = range.1 / world;
                *range = (part * rank, part * (rank + 1));
                Ok(cut)
            }
        }
    }

    pub(super) fn slice(
        tensor: &SourceTensor,
        slices: &[Option<(u64, u64)>],
    ) -> Result<Self, PlanError> {
        let mut cut = Self::whole(tensor);
        for (dimension, slice) in slices.iter().enumerate() {
            let (name, shape) = (|| tensor.name.clone(), || tensor.shape.clone());
            let Some(range) = cut.0.get_mut(dimension) else {
                return Err(PlanError::NoDimension { name: name(), shape: shape(), dimension });
            };
            let Some((start, end)) = *slice else { continue };
            if start >= end || end > range.1 {
                let (name, shape) = (name(), shape());
                return Err(PlanError::Slice { name, shape, dimension, start, end });
            }
            *range = (start, end);
        }
        Ok(cut)
    }

    /// The runs of the box: everything after the last dimension that is cut lies together.
    pub(super) fn read(&self, tensor: &SourceTensor) -> Result<PlannedTensor, PlanError> {
        let inside_byte = || PlanError::InsideByte {
            name: tensor.name.clone(),
            shape: tensor.shape.clone(),
            dtype: tensor.dtype,
        };
        let dims = tensor.shape.dims();
        let taken: Vec<u64> = self.0.iter().map(|(start, end)| end - start).collect();
        // A part of a shape is never too large; a part of a byte it may be.
        let shaped = Shape::new_or_empty(taken.clone())
            .and_then(|shape| shape.bytes(tensor.dtype).map(|bytes| (shape, bytes)));
        let (shape, bytes) = shaped.map_err(|_: ShapeError| inside_byte())?;
        let mut planned = PlannedTensor {
            name: tensor.name.clone(),
            dtype: tensor.dtype,
            shape,
            bytes,
            file: tensor.file,
            runs: Vec::new(),
        };
        if bytes == 0 {
            return Ok(planned);
        }
        let last_cut = (0..dims.len()).rev().find(|&d| taken[d] != dims[d]).unwrap_or(0);
        let count: u64 = taken.iter().take(last_cut).product();
        if count > MOST_RUNS {
            return Err(PlanError::TooManyRuns {
                name: tensor.name.clone(),
                shape: tensor.shape.clone(),
                runs: count,
            });
        }
        let strides = tensor.shape.strides();
        let bits = tensor.dtype.bits();
        let run_bits = bytes * 8 / count;
        for number in 0..count {
            let mut rest = number;
            let mut element =
                self.0.get(last_cut).map_or(0, |(start, _)| start * strides[last_cut]);
            for d in (0..last_cut).rev() {
                element += (self.0[d].0 + rest % taken[d]) * strides[d];
                rest /= taken[d];
            }
            let start_bits = element * bits;
            if !start_bits.is_multiple_of(8) || !run_bits.is_multiple_of(8) {
                return Err(inside_byte());
            }
            let run = Run { file_offset: tensor.file_offset + start_bits / 8, bytes: run_bits / 8 };
            match planned.runs.last_mut() {
                Some(last) if last.file_offset + last.bytes == run.file_offset => {
                    last.bytes += run.bytes;
                }
                _ => planned.runs.push(run),
            }
        }
        Ok(planned)
    }
}
