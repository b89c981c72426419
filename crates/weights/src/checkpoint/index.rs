//! Which files a path means.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use millpond_wire::caps;
use serde::Deserialize;

use super::error::CheckpointError;
use super::formats::OtherFormat;
use super::open_regular;
use crate::header::{HEADER_BYTES, UniqueTexts};

const INDEX_SUFFIX: &str = ".safetensors.index.json";
const USUAL_INDEX: &str = "model.safetensors.index.json";
const SUFFIX: &str = ".safetensors";

/// What a path means.
#[derive(Default)]
pub(super) struct Found {
    pub files: Vec<PathBuf>,
    pub index: PathBuf,
    /// What that index says: tensor to file.
    pub promised: Option<BTreeMap<String, String>>,
}

pub(super) fn resolve(path: &Path) -> Result<Found, CheckpointError> {
    let io = |error| CheckpointError::Io { path: path.to_owned(), error };
    if !fs::metadata(path).map_err(io)?.is_dir() {
        return if path.to_string_lossy().ends_with(INDEX_SUFFIX) {
            by_index(path.to_owned())
        } else {
            Ok(Found { files: vec![path.to_owned()], ..Found::default() })
        };
    }
    let (mut files, mut indexes, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for entry in fs::read_dir(path).map_err(io)? {
        let entry = entry.map_err(io)?;
        // Names that are no text end in neither.
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(INDEX_SUFFIX) {
            indexes.push(entry.path());
        } else if name.ends_with(SUFFIX) {
            files.push(entry.path());
        } else if OtherFormat::is_likely(&name) {
            others.push(entry.path());
        }
    }
    let usual = path.join(USUAL_INDEX);
    match indexes.as_slice() {
        [] if files.is_empty() => {
            // The first by name, whatever the order of the folder.
            others.sort();
            let format = |path: &PathBuf| OtherFormat::of(&open_regular(path).ok()??);
            let other = others.into_iter().find_map(|path| Some((format(&path)?, path)));
            Err(match other {
                Some((format, path)) => CheckpointError::OtherFormat { path, format },
                None => CheckpointError::EmptyFolder(path.to_owned()),
            })
        }
        [] => {
            files.sort();
            Ok(Found { files, ..Found::default() })
        }
        [only] => by_index(only.clone()),
        _ if indexes.contains(&usual) => by_index(usual),
        _ => Err(CheckpointError::SeveralIndexes(path.to_owned())),
    }
}

#[derive(Deserialize)]
struct Index {
    // The size of the index caps its bytes.
    weight_map: UniqueTexts<{ caps::TENSORS_PER_VERSION }, { usize::MAX }>,
}

fn by_index(index: PathBuf) -> Result<Found, CheckpointError> {
    let refuse = |error: String| CheckpointError::Index { path: index.clone(), error };
    let text = match read(&index) {
        Ok(Some(text)) => text,
        Ok(None) => return Err(CheckpointError::NotRegular(index)),
        Err(error) => return Err(CheckpointError::Io { path: index, error }),
    };
    if text.len() as u64 > HEADER_BYTES {
        return Err(refuse(format!("it has more than {HEADER_BYTES} bytes")));
    }
    let read: Index = serde_json::from_slice(&text).map_err(|error| refuse(error.to_string()))?;
    let promised = read.weight_map.0;
    let folder = index.parent().unwrap_or(Path::new(""));
    let mut files = Vec::new();
    for shard in promised.values().collect::<BTreeSet<_>>() {
        let plain =
            !shard.contains(['/', '\\', '\0']) && !["", ".", ".."].contains(&shard.as_str());
        if !plain {
            return Err(CheckpointError::ShardName { index, shard: shard.clone() });
        }
        let shard = folder.join(shard);
        match fs::metadata(&shard) {
            Ok(_) => files.push(shard),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(CheckpointError::MissingShard { index, shard });
            }
            Err(error) => return Err(CheckpointError::Io { path: shard, error }),
        }
    }
    Ok(Found { files, index, promised: Some(promised) })
}

fn read(path: &PathBuf) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open_regular(path)? else { return Ok(None) };
    let mut text = Vec::new();
    file.take(HEADER_BYTES + 1).read_to_end(&mut text)?;
    Ok(Some(text))
}
