//! From a version to files.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use millpond_weights::writer::{self, Shard, WriteError, Written};
use millpond_wire::manifest::Manifest;
use millpond_wire::message::VersionInfo;
use millpond_wire::{ErrorKind, Failure};

use super::contents::Reading;
use super::hold::LeasedVersion;
use super::stop::GoOn;
use super::unfinished::Unfinished;
use crate::transfer::{is_fuse, make_room};
use crate::{Error, IntoVersion, Pond, Progress, Result};

/// How a version is saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaveOptions {
    /// Into files of at most so many bytes of tensors; into one unless said.
    pub shard_bytes: Option<u64>,
    /// Over what is there: a file is replaced, and files are moved into a folder, where others
    /// stay; but an older `model.safetensors` beside new shards is removed.
    pub force: bool,
}

/// A version that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The version.
    pub info: VersionInfo,
    /// What was written, the index last.
    pub files: Vec<PathBuf>,
    /// Bytes of all tensors.
    pub bytes: u64,
    /// How long it took.
    pub elapsed: Duration,
}

impl Pond {
    /// Saves a version as safetensors: one file if the path ends in `.safetensors`, else a folder
    /// with one file, or with shards and their index. It has its name only when it is complete and
    /// every byte that was written was found to be what was loaded. Whoever retires the version
    /// meanwhile does not disturb this; a `progress` that answers
    /// [`Break`](std::ops::ControlFlow::Break) ends it, and nothing is there then.
    ///
    /// # Errors
    /// `not_found`, `not_ready`, `retired`; `file` if it cannot be written, or something is there;
    /// `lost` if the version's bytes are not those that were loaded; `mover`; what else the pond
    /// answers.
    pub fn save<A: GoOn>(
        &self,
        target: impl IntoVersion,
        path: impl AsRef<Path>,
        options: SaveOptions,
        progress: impl FnMut(Progress) -> A,
    ) -> Result<Saved> {
        let begun = Instant::now();
        let goal = Goal::new(path.as_ref(), options)?;
        let held = LeasedVersion::take(self, target.into_version()?)?;
        let manifest = &held.manifest;
        let tensors: Vec<Written<'_>> = manifest
            .tensors
            .iter()
            .map(|one| Written { name: &one.name, dtype: one.dtype, shape: &one.shape })
            .collect();
        let most = options.shard_bytes.unwrap_or(u64::MAX);
        let mut shards = writer::shards(&tensors, most).map_err(|error| unwritable(&error))?;
        if let (true, [only]) = (goal.is_file, shards.as_mut_slice()) {
            only.name.clear();
        }
        let mut work = Unfinished::begin(&goal)?;
        let mut places = vec![(0, 0); tensors.len()];
        let mut files = Vec::new();
        for (number, shard) in shards.iter().enumerate() {
            let file = work.make(&shard.name)?;
            let path = goal.place(&shard.name);
            let offsets = begin_file(&file, &path, &tensors, shard, manifest)?;
            for (tensor, offset) in shard.tensors.iter().zip(offsets) {
                places[*tensor] = (number, offset);
            }
            files.push(OwnedFd::from(file));
        }
        let (link, parts) = (&self.core().link, held.parts.as_slice());
        let reading = Reading { link, manifest, parts, places: &places, files: &files };
        if let Some(first) = reading.run(progress)?.first() {
            let name = format!("{}@{}", held.info.model, held.info.tag);
            let message = format!(
                "tensor '{}' of {name} is not what was loaded; nothing was saved",
                first.escape_debug()
            );
            let hint = format!("`millpond verify {name}` names all such tensors; load it again");
            return Err(Failure::new(ErrorKind::Lost, message).hint(hint).into());
        }
        let mut names: Vec<String> = shards.iter().map(|shard| shard.name.clone()).collect();
        // Beside other files an index says which ones are meant; one that is there says others.
        if names.len() > 1 || goal.has_files {
            let index = writer::index(&tensors, &shards).map_err(|error| unwritable(&error))?;
            let file = work.make(writer::INDEX_NAME)?;
            let path = goal.place(writer::INDEX_NAME);
            file.write_all_at(&index, 0).map_err(|error| failed(&path, &error))?;
            names.push(writer::INDEX_NAME.to_owned());
            files.push(OwnedFd::from(file));
        }
        let files = work.finish(&names, &files, options.force)?;
        let bytes = manifest.tensors.iter().map(|tensor| tensor.bytes).sum();
        Ok(Saved { info: held.info.clone(), files, bytes, elapsed: begun.elapsed() })
    }
}

/// Fills a file with everything but the bytes of its tensors.
fn begin_file(
    file: &File,
    path: &Path,
    tensors: &[Written<'_>],
    shard: &Shard,
    manifest: &Manifest,
) -> Result<Vec<u64>> {
    let own: Vec<Written<'_>> =
        shard.tensors.iter().filter_map(|index| tensors.get(*index)).copied().collect();
    let (header, offsets) =
        writer::header(&own, &manifest.metadata).map_err(|error| unwritable(&error))?;
    if is_fuse(file) {
        return Err(Error::file(format!(
            "'{}' is on a file system in user space (FUSE), where a mover does not write",
            path.display()
        )));
    }
    let end = header.len() as u64 + shard.bytes;
    make_room(file, 0, end, &format!("'{}'", path.display()))?;
    file.write_all_at(&header, 0)
        .and_then(|()| file.set_len(end))
        .map_err(|error| failed(path, &error))?;
    Ok(offsets)
}

/// What is to be there in the end.
pub(super) struct Goal {
    pub path: PathBuf,
    pub is_file: bool,
    /// It is a folder, and not empty.
    has_files: bool,
}

impl Goal {
    fn new(path: &Path, options: SaveOptions) -> Result<Self> {
        let is_file = path.extension().is_some_and(|ending| ending == "safetensors");
        if is_file && options.shard_bytes.is_some() {
            let message = format!("'{}' is one file, so it has no shards", path.display());
            let hint = "name a folder, or leave out the size of shards";
            return Err(Failure::new(ErrorKind::Invalid, message).hint(hint).into());
        }
        let taken = match fs::symlink_metadata(path) {
            Err(_) => false,
            Ok(found) if is_file && found.is_dir() => {
                return Err(Error::file(format!("'{}' is a folder, not a file", path.display())));
            }
            Ok(_) if is_file => true,
            Ok(_) => match fs::read_dir(path) {
                Ok(mut entries) => entries.next().is_some(),
                Err(error) => return Err(failed(path, &error)),
            },
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.exists()) {
            let shown = folder.display();
            let message = format!("folder '{shown}' not found");
            return Err(Error::file_with_hint(message, format!("`mkdir -p '{shown}'` makes it")));
        }
        let goal = Self { path: path.to_owned(), is_file, has_files: taken && !is_file };
        if taken && !options.force { Err(goal.taken()) } else { Ok(goal) }
    }

    fn place(&self, name: &str) -> PathBuf {
        if self.is_file { self.path.clone() } else { self.path.join(name) }
    }

    pub(super) fn taken(&self) -> Error {
        let what = if self.is_file { "already exists" } else { "is a folder with files" };
        let message = format!("'{}' {what}", self.path.display());
        Error::File { message, reason: Some(std::io::ErrorKind::AlreadyExists) }
    }
}

fn unwritable(error: &WriteError) -> Error {
    Failure::new(ErrorKind::Invalid, error.to_string()).into()
}

pub(super) fn failed(path: &Path, error: &io::Error) -> Error {
    Error::in_file(format_args!("writing '{}'", path.display()), error)
}
