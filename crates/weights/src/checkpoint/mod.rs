//! A checkpoint on disk: one safetensors file, several, or a folder of them.

mod error;
mod formats;
mod index;
mod source;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use millpond_wire::{Dtype, Shape, caps};

use crate::header::Header;

pub use error::CheckpointError;
pub use formats::OtherFormat;
pub use source::SourceFile;
pub(crate) use source::open_regular;

/// Files that were opened and checked, and the tensors in them. No data was read.
#[derive(Debug)]
pub struct Checkpoint {
    /// In the order in which they were named, or of their names.
    pub files: Vec<SourceFile>,
    /// In the order of files, and of the data in each.
    pub tensors: Vec<SourceTensor>,
    /// What the files say about themselves; where they differ, the first file counts.
    pub metadata: BTreeMap<String, String>,
}

/// A tensor, and where its bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTensor {
    /// Its name; no other tensor of the checkpoint has it.
    pub name: String,
    pub dtype: Dtype,
    /// Extents; a dimension may be zero.
    pub shape: Shape,
    /// Which of the checkpoint's files.
    pub file: usize,
    /// Where, from the start of that file.
    pub file_offset: u64,
    pub bytes: u64,
}

impl Checkpoint {
    /// Opens and checks files, folders with an index, folders without one, or an index itself.
    ///
    /// # Errors
    /// [`CheckpointError`] that names the file and, where there is one, the tensor.
    pub fn open(paths: &[PathBuf]) -> Result<Self, CheckpointError> {
        let mut files = Vec::new();
        let mut promises = Vec::new();
        for path in paths {
            let found = index::resolve(path)?;
            if let Some(promised) = found.promised {
                promises.push((found.index, promised, files.len()));
            }
            files.extend(found.files);
        }
        let mut checkpoint =
            Self { files: Vec::new(), tensors: Vec::new(), metadata: BTreeMap::new() };
        for path in files {
            let (file, header) = SourceFile::open(path)?;
            checkpoint.add(file, header)?;
        }
        checkpoint.refuse_duplicates()?;
        for (index, promised, first) in promises {
            checkpoint.keeps(&index, &promised, first)?;
        }
        if checkpoint.tensors.is_empty() {
            let path = paths.first().cloned().unwrap_or_default();
            return Err(CheckpointError::NoTensors { path });
        }
        Ok(checkpoint)
    }

    /// Bytes of all tensors.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tensors.iter().map(|tensor| tensor.bytes).sum()
    }

    /// Whether all files are still what they were when they were opened.
    ///
    /// # Errors
    /// [`CheckpointError::Changed`] for the first that is not.
    pub fn check_unchanged(&self) -> Result<(), CheckpointError> {
        self.files.iter().try_for_each(SourceFile::check_unchanged)
    }

    fn add(&mut self, file: SourceFile, header: Header) -> Result<(), CheckpointError> {
        let count = self.tensors.len() + header.tensors.len();
        if count > caps::TENSORS_PER_VERSION {
            return Err(CheckpointError::TooManyTensors { count });
        }
        for tensor in header.tensors {
            self.tensors.push(SourceTensor {
                name: tensor.name,
                dtype: tensor.dtype,
                shape: tensor.shape,
                file: self.files.len(),
                // No overflow: the header was compared with the file's size.
                file_offset: file.data_start + tensor.start,
                bytes: tensor.bytes,
            });
        }
        for (key, value) in header.metadata {
            self.metadata.entry(key).or_insert(value);
        }
        if self.metadata.len() > caps::METADATA_ENTRIES
            || self.metadata.iter().map(|(k, v)| k.len() + v.len()).sum::<usize>()
                > caps::METADATA_BYTES
        {
            return Err(CheckpointError::TooMuchMetadata { path: file.path });
        }
        self.files.push(file);
        Ok(())
    }

    fn refuse_duplicates(&self) -> Result<(), CheckpointError> {
        let mut seen: Vec<&SourceTensor> = self.tensors.iter().collect();
        seen.sort_by(|a, b| a.name.cmp(&b.name));
        match seen.windows(2).find(|pair| pair[0].name == pair[1].name) {
            Some(pair) => Err(CheckpointError::Duplicate {
                name: pair[0].name.clone(),
                first: self.files[pair[0].file].path.clone(),
                second: self.files[pair[1].file].path.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Whether each tensor that an index promises is in the file that it names.
    fn keeps(
        &self,
        index: &Path,
        promised: &BTreeMap<String, String>,
        first: usize,
    ) -> Result<(), CheckpointError> {
        let files = self.files.get(first..).unwrap_or_default();
        let shards: BTreeMap<&str, usize> = files
            .iter()
            .enumerate()
            .filter_map(|(place, file)| Some((file.path.file_name()?.to_str()?, first + place)))
            .rev()
            .collect();
        let tensors: BTreeMap<&str, usize> =
            self.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.file)).collect();
        for (name, shard) in promised {
            let kept = tensors
                .get(name.as_str())
                .is_some_and(|file| shards.get(shard.as_str()) == Some(file));
            if !kept {
                return Err(CheckpointError::NotInShard {
                    index: index.to_owned(),
                    name: name.clone(),
                    shard: shard.clone(),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
