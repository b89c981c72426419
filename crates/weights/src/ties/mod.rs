//! Tied weights: an embedding and a head that a checkpoint stores twice.
//!
//! Most files of a tied model lack the head. Where both are there, [`pairs`] finds them and
//! [`Pair::stretches`] are what has to be compared before one of them is left out. Equal bytes alone are
//! no tie: whoever trains one of two tensors that are equal by chance must not change the other. So
//! the `config.json` beside the files has to say it. All of this reads names first, so a
//! checkpoint without a pair costs nothing.

mod config;
#[cfg(test)]
mod tests;

use std::os::unix::fs::FileExt;

use millpond_wire::Run;

use crate::checkpoint::{Checkpoint, CheckpointError, SourceFile};
use crate::plan::PlannedTensor;

/// How the names of embeddings end, by whole words.
const EMBEDDINGS: &[&str] = &[
    "embed_tokens.weight",
    "wte.weight",
    "word_embeddings.weight",
    "embed_in.weight",
    "tok_embeddings.weight",
    "embeddings.weight",
    "shared.weight",
];
/// How the names of heads end.
const HEADS: &[&str] = &["lm_head.weight", "embed_out.weight", "predictions.decoder.weight"];

/// What is compared at first: tensors that differ do so in their first bytes.
const FIRST_BYTES: u64 = 64 << 10;
/// What is compared at once after that.
const STRETCH_BYTES: u64 = 16 << 20;
/// What is read of each side at once: two of them stay in a core's cache until they are compared.
const BUFFER_BYTES: usize = 256 << 10;

/// Two tensors that may be tied, by their places among the planned ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub head: usize,
    pub embedding: usize,
    /// Of each.
    pub bytes: u64,
}

/// The pairs of a checkpoint whose `config.json` says that they are tied, by the heads' names. A
/// head with several embeddings of its dtype and shape has a pair with each.
#[must_use]
pub fn pairs(checkpoint: &Checkpoint, planned: &[PlannedTensor]) -> Vec<Pair> {
    let named = |endings: &[&str]| {
        let mut found: Vec<usize> = (0..planned.len())
            .filter(|at| planned.get(*at).is_some_and(|one| ends_in(&one.name, endings)))
            .collect();
        found.sort_by(|a, b| planned[*a].name.cmp(&planned[*b].name));
        found
    };
    let (heads, embeddings) = (named(HEADS), named(EMBEDDINGS));
    let mut pairs = Vec::new();
    for head in heads {
        for &embedding in &embeddings {
            let (one, other) = (&planned[head], &planned[embedding]);
            let bytes = one.bytes;
            if bytes > 0
                && (one.dtype, &one.shape, bytes) == (other.dtype, &other.shape, other.bytes)
            {
                pairs.push(Pair { head, embedding, bytes });
            }
        }
    }
    let mut said = config::Configs::default();
    pairs.retain(|pair| {
        let files = [planned[pair.head].file, planned[pair.embedding].file];
        let sources = files.map(|file| checkpoint.files.get(file));
        sources.into_iter().all(|file| file.is_some_and(|file| said.tied(&file.path)))
    });
    pairs
}

fn ends_in(name: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| {
        name.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}

impl Pair {
    /// All bytes of the two, side by side.
    #[must_use]
    pub fn stretches<'a>(
        &self,
        checkpoint: &'a Checkpoint,
        planned: &'a [PlannedTensor],
    ) -> Stretches<'a> {
        let side = |tensor: usize| {
            let tensor = planned.get(tensor)?;
            let file = checkpoint.files.get(tensor.file)?;
            Some(Side { file, runs: &tensor.runs, taken: 0 })
        };
        let sides = side(self.head).zip(side(self.embedding));
        Stretches { sides, most: FIRST_BYTES }
    }

    /// About how many stretches there are.
    #[must_use]
    pub fn count(&self) -> usize {
        usize::try_from(self.bytes.div_ceil(STRETCH_BYTES)).unwrap_or(usize::MAX)
    }
}

/// The rest of one tensor in its file.
#[derive(Clone, Copy, Debug)]
struct Side<'a> {
    file: &'a SourceFile,
    runs: &'a [Run],
    /// Of the first run.
    taken: u64,
}

impl<'a> Side<'a> {
    fn ahead(&self) -> u64 {
        self.runs.first().map_or(0, |run| run.bytes - self.taken)
    }

    fn take(&mut self, bytes: u64) -> Option<(&'a SourceFile, u64)> {
        let run = self.runs.first()?;
        let place = run.file_offset + self.taken;
        self.taken += bytes;
        if self.taken == run.bytes {
            (self.runs, self.taken) = (self.runs.get(1..).unwrap_or_default(), 0);
        }
        Some((self.file, place))
    }
}

/// What is to be compared, one after the other.
#[derive(Debug)]
pub struct Stretches<'a> {
    sides: Option<(Side<'a>, Side<'a>)>,
    most: u64,
}

impl<'a> Iterator for Stretches<'a> {
    type Item = Stretch<'a>;

    fn next(&mut self) -> Option<Stretch<'a>> {
        let (one, other) = self.sides.as_mut()?;
        let bytes = one.ahead().min(other.ahead()).min(self.most);
        if bytes == 0 {
            return None;
        }
        self.most = STRETCH_BYTES;
        Some(Stretch { places: [one.take(bytes)?, other.take(bytes)?], bytes })
    }
}

/// As many bytes of one tensor as of another.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    places: [(&'a SourceFile, u64); 2],
    pub bytes: u64,
}

impl Stretch<'_> {
    /// Whether they are the same; reads no further than the first buffer that differs.
    ///
    /// # Errors
    /// [`CheckpointError::Io`] that names the file.
    pub fn is_equal(&self) -> Result<bool, CheckpointError> {
        let most = usize::try_from(self.bytes).unwrap_or(BUFFER_BYTES).min(BUFFER_BYTES);
        let mut buffers = [vec![0; most], vec![0; most]];
        let mut done = 0;
        while done < self.bytes {
            let now = usize::try_from(self.bytes - done).unwrap_or(most).min(most);
            for (buffer, (source, offset)) in buffers.iter_mut().zip(self.places) {
                let read = source.file.read_exact_at(&mut buffer[..now], offset + done);
                read.map_err(|error| CheckpointError::Io { path: source.path.clone(), error })?;
            }
            if buffers[0][..now] != buffers[1][..now] {
                return Ok(false);
            }
            done += now as u64;
        }
        Ok(true)
    }
}
