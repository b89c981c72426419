//! One pond per GPU: a lock that keeper and daemon hold together.
//!
//! The lock files lie where every user can reach them (`/dev/shm`: present, sticky and writable for
//! everybody on every Linux), because ponds of different users must see each other. There anybody
//! can be first at a name, so there are two files. All users share the one, and whoever has locked
//! it has the GPU. The other is root's: root replaces whatever anybody else left at its name, and
//! nobody else can write it, so nobody else can have its write lock. A user's pond ends where root's
//! has the GPU; root's tells of a user's in the log and goes on.
//!
//! A file says who has it; the lock itself is the kernel's and ends with its last holder.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use millpond_wire::{GpuUuid, characters, fd};
use rustix::fs::OFlags;

/// Names of one lock. The first that can be used counts, for everybody alike: the next is for a
/// folder or a pipe that somebody left at the one before and that cannot be moved.
const NAMES: usize = 4;
/// How often a name is tried that somebody changes meanwhile.
const TRIES: usize = 8;
/// How long to wait then for one that may just be made.
const BEING_MADE: Duration = Duration::from_millis(1);
/// Characters of a lock file that are shown.
const SHOWN: usize = 300;

/// Somebody else serves this GPU.
#[derive(Debug, thiserror::Error)]
pub enum GpuLockError {
    /// Another pond has it.
    #[error("{gpu} is already served by {holder}")]
    Taken {
        gpu: GpuUuid,
        /// What its file says.
        holder: String,
    },
    /// The file cannot be used.
    #[error("lock '{path}': {source}")]
    Io {
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Whose lock a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Root,
    Users,
}

impl Side {
    /// That of this process.
    fn own() -> Self {
        if rustix::process::geteuid().is_root() { Side::Root } else { Side::Users }
    }
}

/// What came of one name.
enum Tried {
    Locked(File),
    /// By this pond, in its words.
    Taken(String),
    /// It is no lock file, and stays.
    Unusable(io::Error),
}

/// Takes the lock of a GPU for the pond in `runtime_dir`.
///
/// # Errors
/// [`GpuLockError`].
pub fn take(folder: &Path, gpu: GpuUuid, runtime_dir: &str) -> Result<File, GpuLockError> {
    Locks { folder, gpu, root: 0 }.take(Side::own(), runtime_dir)
}

/// Whether a lock that is held is one of a file that others find.
pub fn is_there(folder: &Path, gpu: GpuUuid, held: &OwnedFd) -> bool {
    let Ok(held) = rustix::fs::fstat(held) else { return true };
    let found = |path: PathBuf| {
        let found = std::fs::symlink_metadata(path);
        found.is_ok_and(|found| (found.dev(), found.ino()) == (held.st_dev, held.st_ino))
    };
    Locks { folder, gpu, root: 0 }.paths(Side::own()).any(found)
}

/// The lock files of one GPU.
#[derive(Clone, Copy)]
struct Locks<'a> {
    folder: &'a Path,
    gpu: GpuUuid,
    /// The user who is root; another one in tests.
    root: u32,
}

impl Locks<'_> {
    fn paths(self, side: Side) -> impl Iterator<Item = PathBuf> {
        (0..NAMES).map(move |number| {
            let number = if number == 0 { String::new() } else { format!(".{number}") };
            let side = if side == Side::Root { ".root" } else { "" };
            self.folder.join(format!("millpond-{}{number}{side}.lock", self.gpu))
        })
    }

    fn take(self, side: Side, runtime_dir: &str) -> Result<File, GpuLockError> {
        let mut last = None;
        for path in self.paths(side) {
            match self.try_name(&path, side).map_err(|source| failed(&path, source))? {
                Tried::Locked(file) => {
                    self.look_at_others(side)?;
                    sign(&file, &path, runtime_dir);
                    return Ok(file);
                }
                Tried::Taken(holder) => return Err(GpuLockError::Taken { gpu: self.gpu, holder }),
                Tried::Unusable(source) => {
                    tracing::warn!("'{}' is no lock file and stays: {source}", path.display());
                    last = Some(failed(&path, source));
                }
            }
        }
        Err(last.unwrap_or_else(|| failed(self.folder, io::ErrorKind::NotFound.into())))
    }

    /// After the own lock was taken: of two that come at once, one sees the other.
    fn look_at_others(self, side: Side) -> Result<(), GpuLockError> {
        let other = if side == Side::Root { Side::Users } else { Side::Root };
        for path in self.paths(other) {
            let Ok(mut file) = open(&path, false) else { continue };
            let Ok(found) = file.metadata() else { continue };
            if !self.is_lock_of(&found, other) || !fd::is_write_locked(&file).is_ok_and(|it| it) {
                continue;
            }
            let holder = holder(&mut file);
            if side == Side::Users {
                return Err(GpuLockError::Taken { gpu: self.gpu, holder });
            }
            tracing::warn!(
                "{} is served by {holder} as well, says the lock of user {}; root's pond does not \
                 give way to it",
                self.gpu,
                found.uid()
            );
        }
        Ok(())
    }

    fn is_lock_of(self, found: &Metadata, side: Side) -> bool {
        let is_safe = found.uid() == self.root && found.mode() & 0o022 == 0;
        found.is_file() && (side == Side::Users || is_safe)
    }

    fn try_name(self, path: &Path, side: Side) -> io::Result<Tried> {
        let mut reason = io::Error::from(io::ErrorKind::ResourceBusy);
        for _ in 0..TRIES {
            let (mut file, new) = match open(path, true) {
                Ok(file) => (file, false),
                Err(error) if error.kind() == io::ErrorKind::NotFound => match create(path, side) {
                    Ok(file) => (file, true),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    Err(error) => return Err(error),
                },
                Err(error) if moved_aside(path, &error) => continue,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    // Another pond may just be making it.
                    std::thread::sleep(BEING_MADE);
                    reason = error;
                    continue;
                }
                Err(error) => return Ok(Tried::Unusable(error)),
            };
            if !new && !self.is_lock_of(&file.metadata()?, side) {
                reason = io::Error::other("it is another user's, or not a regular file");
                if moved_aside(path, &reason) {
                    continue;
                }
                return Ok(Tried::Unusable(reason));
            }
            if fd::try_lock(&file)? {
                if !is_at(&file, path) {
                    continue;
                }
                // Now that it is locked others may see that.
                if new && side == Side::Root {
                    file.set_permissions(Permissions::from_mode(0o644))?;
                }
                return Ok(Tried::Locked(file));
            }
            if side == Side::Users || fd::is_write_locked(&file)? {
                return Ok(Tried::Taken(holder(&mut file)));
            }
            // Somebody who can only read it keeps it from being locked: no pond does.
            reason = io::Error::other("somebody has locked it who can only read it");
            if !moved_aside(path, &reason) {
                return Ok(Tried::Unusable(reason));
            }
        }
        Ok(Tried::Unusable(reason))
    }
}

fn failed(path: &Path, source: io::Error) -> GpuLockError {
    GpuLockError::Io { path: path.to_owned(), source }
}

/// Opens what is there, without `O_CREAT`: in a sticky folder the kernel refuses to "create" a file
/// of another user. Waits for nobody at the other end of a pipe.
fn open(path: &Path, write: bool) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    File::options().read(true).write(write).custom_flags(flags).open(path)
}

/// Nobody else can open root's before it is locked. All users can lock theirs, whatever the umask is.
fn create(path: &Path, side: Side) -> io::Result<File> {
    let mode = if side == Side::Root { 0o600 } else { 0o666 };
    let file = File::options().read(true).write(true).create_new(true).mode(mode).open(path)?;
    if side == Side::Users {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    Ok(file)
}

/// Gives what is at this name another one, if the system lets this user.
fn moved_aside(path: &Path, reason: &io::Error) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".aside-{}", uuid::Uuid::new_v4().simple()));
    let aside = PathBuf::from(name);
    match std::fs::rename(path, &aside) {
        Ok(()) => {
            let (path, aside) = (path.display(), aside.display());
            tracing::warn!("'{path}' is moved to '{aside}': {reason}");
            true
        }
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let place = |found: Metadata| (found.dev(), found.ino());
    let found = std::fs::symlink_metadata(path).map(place);
    found.is_ok_and(|found| file.metadata().is_ok_and(|file| place(file) == found))
}

/// For people; the lock is what counts, also on a full disk.
fn sign(file: &File, path: &Path, runtime_dir: &str) {
    let user = rustix::process::geteuid().as_raw();
    let text = format!("the pond in '{runtime_dir}' (pid {}, user {user})\n", std::process::id());
    if let Err(error) = file.set_len(0).and_then(|()| file.write_all_at(text.as_bytes(), 0)) {
        tracing::warn!("lock '{}' does not name its holder: {error}", path.display());
    }
}

/// What a file says of its holder. Anybody may have written it: one line, and no control characters.
fn holder(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let _ = file.by_ref().take(4096).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let line: String = text.trim().chars().take(SHOWN).collect();
    let shown = characters::shown(&line);
    if shown.is_empty() { "another pond".to_owned() } else { shown.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    const GPU: GpuUuid = GpuUuid([9; 16]);

    fn me() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    /// Where this user is root.
    fn rooted(folder: &Path) -> Locks<'_> {
        Locks { folder, gpu: GPU, root: me() }
    }

    #[test]
    fn the_second_pond_is_told_who_has_the_gpu() {
        let folder = tempfile::tempdir().unwrap();
        for side in [Side::Users, Side::Root] {
            let locks = rooted(folder.path());
            let held = locks.take(side, "/run/one").unwrap();
            let error = locks.take(side, "/run/two").unwrap_err().to_string();
            assert!(error.contains("by the pond in '/run/one' (pid"), "{error}");
            Locks { gpu: GpuUuid([8; 16]), ..locks }.take(side, "/run/two").unwrap();
            drop(held);
            locks.take(side, "/run/two").unwrap();
        }
    }

    #[test]
    fn a_pond_of_a_user_gives_way_to_roots_and_roots_to_no_user() {
        let folder = tempfile::tempdir().unwrap();
        let locks = rooted(folder.path());
        let user = locks.take(Side::Users, "/run/user").unwrap();
        let root = locks.take(Side::Root, "/run/root").unwrap();
        drop(user);
        let error = locks.take(Side::Users, "/run/user").unwrap_err().to_string();
        assert!(error.contains("already served by the pond in '/run/root'"), "{error}");
        // What is not root's says nothing of root.
        Locks { root: me() + 1, ..locks }.take(Side::Users, "/run/user").unwrap();
        drop(root);
        locks.take(Side::Users, "/run/user").unwrap();
    }

    #[test]
    fn what_is_no_lock_file_is_moved_aside() {
        for side in [Side::Users, Side::Root] {
            for kind in ["folder", "link", "socket", "pipe"] {
                let folder = tempfile::tempdir().unwrap();
                let locks = rooted(folder.path());
                let path = locks.paths(side).next().unwrap();
                match kind {
                    "folder" => std::fs::create_dir(&path).unwrap(),
                    "link" => std::os::unix::fs::symlink("/nonexistent", &path).unwrap(),
                    "socket" => drop(UnixListener::bind(&path).unwrap()),
                    _ => {
                        let mode = rustix::fs::Mode::from_raw_mode(0o666);
                        let kind = rustix::fs::FileType::Fifo;
                        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
                    }
                }
                let _held = locks.take(side, "/run/one").unwrap();
                assert!(path.is_file(), "{side:?} {kind}");
                locks.take(side, "/run/two").unwrap_err();
            }
        }
    }

    #[test]
    fn nobody_who_can_only_read_roots_file_keeps_root_from_it() {
        let folder = tempfile::tempdir().unwrap();
        let locks = rooted(folder.path());
        drop(locks.take(Side::Root, "/run/one").unwrap());
        let path = locks.paths(Side::Root).next().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o644);
        let reader = File::open(&path).unwrap();
        rustix::fs::fcntl_lock(&reader, rustix::fs::FlockOperation::LockShared).unwrap();
        let _held = locks.take(Side::Root, "/run/two").unwrap();
        locks.take(Side::Root, "/run/three").unwrap_err();
        // A file of root's that others can write is none.
        std::fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        locks.take(Side::Root, "/run/three").unwrap();
    }

    #[test]
    fn the_holders_text_is_one_short_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let text = format!("it's \"B\"\n2026 ERROR fake\u{1b}[2J{}", "x".repeat(5000));
        std::fs::write(&path, text).unwrap();
        let shown = holder(&mut File::open(&path).unwrap());
        assert!(shown.starts_with("it's \"B\"\\n2026 ERROR fake\\u{1b}[2Jx"), "{shown}");
        assert!(shown.len() < 2 * SHOWN);
    }
}
