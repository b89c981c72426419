//! Files of a save until they are complete.
//!
//! Where the file system has files without names, a save has none before its end: whatever ends the
//! process, nothing is left. Elsewhere, and for a moment at the end, there is a temporary name. It is
//! locked for as long as its save lives, and the next save to the same place removes what nobody has
//! locked.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use millpond_weights::writer;
use millpond_wire::{ContentHash, ErrorKind, Failure};
use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags};

use super::save::{Goal, failed};
use crate::{Error, Result};

/// What a save is called until it is complete, for whoever wants to remove it after a signal.
#[must_use]
pub fn temporary_name(path: &Path) -> PathBuf {
    let (whole, start) = start_of_name(path);
    whole.with_file_name(format!("{start}{}{END}", std::process::id()))
}

const END: &str = ".part";

/// The path from the root, and what is before the number of the process in the name.
fn start_of_name(path: &Path) -> (PathBuf, String) {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    // Not longer than a name may be.
    let name: String = match name.char_indices().nth(50) {
        Some((end, _)) => format!("{}-{}", &name[..end], ContentHash::of(name.as_bytes())),
        None => name.into_owned(),
    };
    (whole, format!(".{name}."))
}

/// Files on their way. Unless they are finished they are removed when this goes.
pub(super) struct Unfinished<'a> {
    goal: &'a Goal,
    temporary: PathBuf,
    /// What is at the temporary name, locked.
    named: Option<File>,
}

impl<'a> Unfinished<'a> {
    pub fn begin(goal: &'a Goal) -> Result<Self> {
        remove_abandoned(&goal.path);
        let temporary = temporary_name(&goal.path);
        if fs::symlink_metadata(&temporary).is_ok() {
            return Err(in_work(goal, &temporary));
        }
        Ok(Self { goal, temporary, named: None })
    }

    /// A new file, which has no name where that is possible.
    pub fn make(&mut self, name: &str) -> Result<File> {
        let folder = self.temporary.parent().unwrap_or(Path::new("."));
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        if self.named.is_none()
            && let Ok(file) = rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666))
        {
            return Ok(File::from(file));
        }
        // Not every file system has them.
        if self.named.is_none() {
            self.take_name()?;
        }
        let path = self.path(name);
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
        file.map_err(|error| failed(&path, &error))
    }

    /// The temporary file, or the temporary folder.
    fn take_name(&mut self) -> Result<()> {
        let named = if self.goal.is_file {
            OpenOptions::new().write(true).create_new(true).open(&self.temporary)
        } else {
            fs::create_dir(&self.temporary).and_then(|()| File::open(&self.temporary))
        };
        match named {
            Ok(file) => {
                lock(&file);
                self.named = Some(file);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(in_work(self.goal, &self.temporary))
            }
            Err(error) => Err(failed(&self.temporary, &error)),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        if self.goal.is_file { self.temporary.clone() } else { self.temporary.join(name) }
    }

    /// Gives everything its name.
    pub fn finish(
        mut self,
        names: &[String],
        files: &[OwnedFd],
        force: bool,
    ) -> Result<Vec<PathBuf>> {
        let goal = self.goal.path.clone();
        let wrong = |error: &io::Error| failed(&goal, error);
        let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
        let nameless = files.iter().zip(names).filter(|(file, _)| is_nameless(file));
        if self.goal.is_file {
            let nameless = nameless.map(|(file, _)| file).next();
            // Without force, whatever came there meanwhile stays.
            let named = match nameless {
                Some(file) if !force => link(file, &goal),
                Some(file) => {
                    lock(file);
                    link(file, &self.temporary)
                        .inspect(|()| self.named = file.try_clone().ok().map(File::from))
                        .and_then(|()| fs::rename(&self.temporary, &goal))
                }
                None if force => fs::rename(&self.temporary, &goal),
                None => fs::hard_link(&self.temporary, &goal),
            };
            return match named {
                Ok(()) => Ok(vec![goal.clone()]),
                Err(error) if is_taken(&error) && force => Err(in_work(self.goal, &self.temporary)),
                Err(error) if is_taken(&error) => Err(self.goal.taken()),
                Err(error) => Err(wrong(&error)),
            };
        }
        if self.named.is_none() {
            self.take_name()?;
        }
        for (file, name) in nameless {
            link(file, &self.path(name)).map_err(|error| wrong(&error))?;
        }
        self.finish_folder(names, force)
    }

    fn finish_folder(&self, names: &[String], force: bool) -> Result<Vec<PathBuf>> {
        let goal = &self.goal.path;
        let wrong = |error: &io::Error| failed(goal, error);
        let files: Vec<PathBuf> = names.iter().map(|name| goal.join(name)).collect();
        // Also where an empty folder is.
        match fs::rename(&self.temporary, goal) {
            Ok(()) => return Ok(files),
            Err(_) if force && goal.is_dir() => {}
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                return Err(self.goal.taken());
            }
            Err(error) => return Err(wrong(&error)),
        }
        for name in names {
            fs::rename(self.temporary.join(name), goal.join(name))
                .map_err(|error| wrong(&error))?;
        }
        // Many programs take this file where there is one and never look at an index, so an older
        // one would be loaded instead of what was saved. Last: until then it is whole.
        let single = goal.join(writer::SINGLE_NAME);
        let is_file = fs::symlink_metadata(&single).is_ok_and(|found| !found.is_dir());
        if is_file && !files.contains(&single) {
            fs::remove_file(&single).map_err(|error| {
                Error::in_file(format_args!("removing the older '{}'", single.display()), &error)
            })?;
        }
        Ok(files)
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if self.named.is_some() {
            remove(&self.temporary);
        }
    }
}

/// There is nobody to be told, and after a rename there is nothing.
fn remove(path: &Path) {
    let _ = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        _ => fs::remove_file(path),
    };
}

/// Removes what saves to the same place left whose processes were killed. A process that this one
/// cannot see, in a container, has locked what it works on.
fn remove_abandoned(path: &Path) {
    let (whole, start) = start_of_name(path);
    let me = rustix::process::geteuid().as_raw();
    let folder = whole.parent().unwrap_or(Path::new("/"));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(&start)?.strip_suffix(END));
        let Some(process) = number.and_then(|number| number.parse::<u32>().ok()) else { continue };
        let is_mine = entry
            .metadata()
            .is_ok_and(|found| found.uid() == me && (found.is_file() || found.is_dir()));
        let lives = Path::new("/proc").join(process.to_string()).exists();
        if is_mine && !lives && is_unlocked(&entry.path()) {
            remove(&entry.path());
        }
    }
}

fn is_unlocked(path: &Path) -> bool {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path);
    file.is_ok_and(|file| {
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
    })
}

/// Where a file system has no locks, the process that works on it is looked for alone.
fn lock(file: &impl std::os::fd::AsFd) {
    let _ = rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive);
}

fn is_nameless(file: &OwnedFd) -> bool {
    rustix::fs::fstat(file).is_ok_and(|found| found.st_nlink == 0)
}

fn link(file: &OwnedFd, name: &Path) -> io::Result<()> {
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, own, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

fn in_work(goal: &Goal, temporary: &Path) -> Error {
    let message = format!("'{}' is already being saved", goal.path.display());
    let hint = format!("if the process that saves it was killed, remove '{}'", temporary.display());
    Failure::new(ErrorKind::File, message).hint(hint).into()
}
