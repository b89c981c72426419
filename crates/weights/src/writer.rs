//! Headers and indexes of checkpoints that are written.
//!
//! Tensors go into a file as the reference writer orders them, so that every reader takes it: wide
//! elements first, which keeps each tensor aligned to its elements, then by name.

use std::collections::{BTreeMap, BTreeSet};

use millpond_wire::{Dtype, Shape, ShapeError};
use serde::{Serialize, Serializer};

use crate::header::{HEADER_BYTES, LENGTH_BYTES, METADATA_KEY};
use crate::shown;

/// A tensor to be written.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    pub name: &'a str,
    pub dtype: Dtype,
    pub shape: &'a Shape,
}

/// Why tensors cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Two tensors with one name, or one with the name of the metadata.
    #[error("tensor '{}' cannot be written: its name is taken", shown(.0))]
    NameTaken(String),
    /// A tensor without a whole number of bytes.
    #[error("tensor '{}': {error}", shown(.name))]
    Shape { name: String, error: ShapeError },
    /// More than readers take.
    #[error("the header would have {0} bytes; at most {HEADER_BYTES}: save in smaller files")]
    TooLong(u64),
    /// The tensors are larger than any file.
    #[error("the tensors together are larger than any file")]
    TooLarge,
    /// The header could not be made.
    #[error("the header cannot be written: {0}")]
    Json(#[from] serde_json::Error),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Metadata(&'a BTreeMap<String, String>),
    Tensor { dtype: &'static str, shape: &'a [u64], data_offsets: [u64; 2] },
}

/// The beginning of a file with these tensors, and where each of them begins in it, in the order
/// in which they were given. The file ends with the last byte of the last tensor.
///
/// # Errors
/// [`WriteError`] for names that are there twice and what does not fit the format.
pub fn header(
    tensors: &[Written<'_>],
    metadata: &BTreeMap<String, String>,
) -> Result<(Vec<u8>, Vec<u64>), WriteError> {
    let mut names = BTreeSet::from([METADATA_KEY]);
    if let Some(twice) = tensors.iter().find(|tensor| !names.insert(tensor.name)) {
        return Err(WriteError::NameTaken(twice.name.to_owned()));
    }
    let mut order: Vec<usize> = (0..tensors.len()).collect();
    // The table of dtypes is in the order of safetensors.
    order.sort_by_key(|index| {
        let tensor = &tensors[*index];
        (std::cmp::Reverse(tensor.dtype.code()), tensor.name)
    });
    let mut entries = Vec::with_capacity(tensors.len() + 1);
    if !metadata.is_empty() {
        entries.push((METADATA_KEY, Entry::Metadata(metadata)));
    }
    let mut offsets = vec![0; tensors.len()];
    let mut end = 0u64;
    for index in order {
        let Written { name, dtype, shape } = tensors[index];
        let bytes = bytes_of(&tensors[index])?;
        let start = end;
        end = start.checked_add(bytes).ok_or(WriteError::TooLarge)?;
        let data_offsets = [start, end];
        let entry = Entry::Tensor { dtype: dtype.name(), shape: shape.dims(), data_offsets };
        entries.push((name, entry));
        offsets[index] = start;
    }
    let mut file = vec![0; 8];
    serde_json::Serializer::new(&mut file).collect_map(entries)?;
    file.resize(file.len().next_multiple_of(8), b' ');
    let data_start = file.len() as u64;
    let header_bytes = data_start - LENGTH_BYTES;
    if header_bytes > HEADER_BYTES {
        return Err(WriteError::TooLong(header_bytes));
    }
    file[..8].copy_from_slice(&header_bytes.to_le_bytes());
    end.checked_add(data_start).ok_or(WriteError::TooLarge)?;
    offsets.iter_mut().for_each(|offset| *offset += data_start);
    Ok((file, offsets))
}

/// One file of a checkpoint that is written in several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The file's name, as everybody names them.
    pub name: String,
    pub tensors: Vec<usize>,
    pub bytes: u64,
}

/// The name of a checkpoint in one file.
pub const SINGLE_NAME: &str = "model.safetensors";

/// The name of the index of a checkpoint in several files.
pub const INDEX_NAME: &str = "model.safetensors.index.json";

/// Spreads tensors over files of at most `shard_bytes`, but always at least one tensor in each, in
/// the order in which they were given.
///
/// # Errors
/// [`WriteError`] for impossible sizes.
pub fn shards(tensors: &[Written<'_>], shard_bytes: u64) -> Result<Vec<Shard>, WriteError> {
    let mut shards = vec![Shard { name: String::new(), tensors: Vec::new(), bytes: 0 }];
    for (index, tensor) in tensors.iter().enumerate() {
        let bytes = bytes_of(tensor)?;
        match shards.last_mut() {
            Some(last)
                if last.tensors.is_empty() || last.bytes.saturating_add(bytes) <= shard_bytes =>
            {
                last.tensors.push(index);
                last.bytes += bytes;
            }
            _ => shards.push(Shard { name: String::new(), tensors: vec![index], bytes }),
        }
    }
    let count = shards.len();
    for (index, shard) in shards.iter_mut().enumerate() {
        shard.name = if count == 1 {
            SINGLE_NAME.to_owned()
        } else {
            format!("model-{:05}-of-{count:05}.safetensors", index + 1)
        };
    }
    Ok(shards)
}

#[derive(Serialize)]
struct Index<'a> {
    metadata: Total,
    weight_map: BTreeMap<&'a str, &'a str>,
}

#[derive(Serialize)]
struct Total {
    total_size: u64,
}

/// The index of a checkpoint in these files.
///
/// # Errors
/// [`WriteError`] where JSON cannot be made of it.
pub fn index(tensors: &[Written<'_>], shards: &[Shard]) -> Result<Vec<u8>, WriteError> {
    let mut total_size = 0u64;
    let mut weight_map = BTreeMap::new();
    for shard in shards {
        total_size = total_size.checked_add(shard.bytes).ok_or(WriteError::TooLarge)?;
        for tensor in shard.tensors.iter().filter_map(|index| tensors.get(*index)) {
            weight_map.insert(tensor.name, shard.name.as_str());
        }
    }
    let mut text =
        serde_json::to_vec_pretty(&Index { metadata: Total { total_size }, weight_map })?;
    text.push(b'\n');
    Ok(text)
}

fn bytes_of(tensor: &Written<'_>) -> Result<u64, WriteError> {
    let wrong = |error| WriteError::Shape { name: tensor.name.to_owned(), error };
    tensor.shape.bytes(tensor.dtype).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use safetensors::SafeTensors;
    use safetensors::tensor::TensorView;

    use super::*;
    use crate::Checkpoint;

    fn shape(dims: &[u64]) -> Shape {
        Shape::new_or_empty(dims).unwrap()
    }

    #[test]
    fn a_file_is_as_the_reference_writer_writes_it() {
        let shapes = [shape(&[3]), shape(&[2, 2]), shape(&[]), shape(&[0, 9])];
        let tensors = [
            Written { name: "bytes", dtype: Dtype::U8, shape: &shapes[0] },
            Written { name: "z\"é", dtype: Dtype::F32, shape: &shapes[1] },
            Written { name: "scalar", dtype: Dtype::I64, shape: &shapes[2] },
            Written { name: "none", dtype: Dtype::F32, shape: &shapes[3] },
        ];
        let data: [&[u8]; 4] = [b"abc", b"0123456789abcdef", b"ABCDEFGH", b""];
        let metadata = BTreeMap::from([("format".to_owned(), "pt".to_owned())]);
        let (mut file, offsets) = header(&tensors, &metadata).unwrap();
        let end = offsets.iter().zip(data).map(|(at, data)| at + data.len() as u64).max().unwrap();
        file.resize(usize::try_from(end).unwrap(), 0);
        for (offset, data) in offsets.iter().zip(data) {
            let at = usize::try_from(*offset).unwrap();
            file[at..at + data.len()].copy_from_slice(data);
        }
        let read = SafeTensors::deserialize(&file).unwrap();
        for (tensor, data) in tensors.iter().zip(data) {
            assert_eq!(read.tensor(tensor.name).unwrap().data(), data, "{}", tensor.name);
        }
        let kinds = [
            safetensors::Dtype::U8,
            safetensors::Dtype::F32,
            safetensors::Dtype::I64,
            safetensors::Dtype::F32,
        ];
        let views = tensors.iter().zip(data).zip(kinds).map(|((tensor, data), kind)| {
            let dims = tensor.shape.dims().iter().map(|dim| usize::try_from(*dim).unwrap());
            (tensor.name, TensorView::new(kind, dims.collect(), data).unwrap())
        });
        let metadata = metadata.into_iter().collect();
        assert_eq!(safetensors::serialize(views, Some(metadata)).unwrap(), file);
    }

    #[test]
    fn shards_are_a_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let ten = shape(&[10]);
        let names = ["a", "b", "c"];
        let tensors = names.map(|name| Written { name, dtype: Dtype::U8, shape: &ten });
        assert_eq!(shards(&tensors, 30).unwrap()[0].name, "model.safetensors");
        let several = shards(&tensors, 25).unwrap();
        assert_eq!(several.iter().map(|shard| shard.bytes).collect::<Vec<_>>(), [20, 10]);
        assert_eq!(shards(&tensors, 0).unwrap().len(), 3);
        for shard in &several {
            let part: Vec<Written<'_>> = shard.tensors.iter().map(|at| tensors[*at]).collect();
            let (mut file, _) = header(&part, &BTreeMap::new()).unwrap();
            file.extend(vec![7; usize::try_from(shard.bytes).unwrap()]);
            std::fs::write(folder.path().join(&shard.name), file).unwrap();
        }
        let text = index(&tensors, &several).unwrap();
        std::fs::write(folder.path().join(INDEX_NAME), text).unwrap();
        let checkpoint = Checkpoint::open(&[folder.path().to_owned()]).unwrap();
        let found: Vec<(&str, usize)> =
            checkpoint.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.file)).collect();
        assert_eq!(found, [("a", 0), ("b", 0), ("c", 1)]);
    }

    #[test]
    fn names_that_are_taken() {
        let one = shape(&[1]);
        for names in [["a", "a"], ["a", METADATA_KEY]] {
            let tensors = names.map(|name| Written { name, dtype: Dtype::U8, shape: &one });
            let said = header(&tensors, &BTreeMap::new()).unwrap_err();
            assert!(matches!(said, WriteError::NameTaken(_)), "{said}");
        }
    }
}
