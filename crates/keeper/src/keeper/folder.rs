//! The runtime folder: its lock, its sockets, and whether it can be trusted.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{
    DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt,
};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use millpond_wire::{fd, runtime_dir, socket};
use rustix::fs::OFlags;

use super::holds::Holds;
use super::{FolderHolder, KeeperError, group};
use crate::channel::HoldKey;
use crate::config::Config;

/// What was made again in a folder that was removed under its pond, whole or in part.
#[derive(Debug)]
pub struct Restored {
    /// The folder's lock, if the one that was held is of a file that is gone.
    pub lock: Option<OwnedFd>,
    /// Sockets by name.
    pub sockets: Vec<(&'static str, OwnedFd)>,
}

/// Makes again what somebody has removed: the folder, the lock, the sockets. `None` if nothing is
/// missing. `keeper` is written into a new lock file; `ask` has the sockets asked whether anybody
/// listens, where they may be left from an earlier life.
///
/// # Errors
/// [`KeeperError`]: it cannot be made now, or another pond has the folder.
pub fn restore(
    config: &Config,
    lock_held: Option<&OwnedFd>,
    keeper: u32,
    ask: bool,
) -> Result<Option<Restored>, KeeperError> {
    let folder = config.folder();
    let path = folder.join(runtime_dir::LOCK);
    let locked = lock_held.is_some_and(|lock| is_file(lock, &path));
    let is_there = |name: &&str| {
        let path = folder.join(name);
        let found = std::fs::symlink_metadata(&path);
        found.is_ok_and(|found| found.file_type().is_socket()) && !(ask && socket::is_stale(&path))
    };
    // Sockets beside a lock that is not ours may be anybody's.
    let missing: Vec<&'static str> =
        runtime_dir::SOCKETS.into_iter().filter(|name| !locked || !is_there(name)).collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let doors = Doors::prepare(&folder, config)?;
    let lock = if locked { None } else { Some(OwnedFd::from(lock(&folder)?)) };
    let mut sockets = Vec::new();
    for name in missing {
        sockets.push((name, doors.listen(&folder, name)?));
    }
    if let Some(lock) = &lock {
        write_to(lock, keeper);
    }
    Ok(Some(Restored { lock, sockets }))
}

/// The UNIX groups that come in, by socket.
struct Doors {
    users: Option<u32>,
    watch: Option<u32>,
}

impl Doors {
    /// Makes the folder if it is not there, and lets the groups in.
    fn prepare(folder: &Path, config: &Config) -> Result<Self, KeeperError> {
        let number = |group: &str| (!group.is_empty()).then(|| group::number(group)).transpose();
        let (users, watch) = (number(&config.socket_group)?, number(&config.watch_group)?);
        create(folder)?;
        if let Some(group) = users.or(watch).filter(|_| !is_system(folder)) {
            // They come through; what is in it, they cannot list.
            group::admit(folder, group, 0o710)?;
            if watch.is_some_and(|watch| watch != group) {
                tracing::warn!(
                    "only members of `socket_group` come into '{}': of `watch_group`, those who \
                     are in both",
                    folder.display()
                );
            }
        }
        Ok(Self { users, watch })
    }

    /// Whom one of the sockets is for, beside the pond's own user.
    fn group(&self, name: &str) -> Option<u32> {
        match name {
            runtime_dir::SOCKET => self.users,
            runtime_dir::WATCH_SOCKET => self.watch,
            _ => None,
        }
    }

    /// Makes one of the sockets, and lets those in whom it is for.
    fn listen(&self, folder: &Path, name: &str) -> Result<OwnedFd, KeeperError> {
        let path = folder.join(name);
        let listener = socket::listen(&path)?;
        let is_open = name == runtime_dir::SOCKET && is_system(folder);
        if let Some(group) = self.group(name) {
            group::admit(&path, group, 0o660)?;
        } else if is_open && rustix::process::geteuid().is_root() {
            std::fs::set_permissions(&path, Permissions::from_mode(0o666))
                .map_err(KeeperError::io(format!("opening '{}' to all users", path.display())))?;
        }
        Ok(listener)
    }
}

/// Makes the folder if it is not there, locks it and listens, as far as that was not given.
pub(super) fn open(folder: &Path, config: &Config, holds: &mut Holds) -> Result<(), KeeperError> {
    let doors = Doors::prepare(folder, config)?;
    let key = HoldKey::folder_lock();
    // One that was kept counts only if it is a lock of the file that is there now.
    if !holds.get(&key).is_some_and(|lock| is_file(lock, &folder.join(runtime_dir::LOCK))) {
        holds.remove(&key);
        holds.insert(key, lock(folder)?.into());
    }
    for name in runtime_dir::SOCKETS {
        let (path, key) = (folder.join(name), HoldKey::listen(name)?);
        if holds.get(&key).is_some() && (holds.activated || path.exists()) {
            if holds.activated && doors.group(name).is_some() {
                let setting = match name {
                    runtime_dir::SOCKET => "socket_group",
                    _ => "watch_group",
                };
                tracing::warn!("`{setting}` has no effect: set SocketGroup= in the socket unit");
            }
            continue;
        }
        holds.remove(&key);
        holds.insert(key, doors.listen(folder, name)?);
    }
    Ok(())
}

fn is_file(fd: &OwnedFd, path: &Path) -> bool {
    let same = |found: std::fs::Metadata| {
        rustix::fs::fstat(fd)
            .is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (found.dev(), found.ino()))
    };
    std::fs::symlink_metadata(path).is_ok_and(same)
}

fn is_system(folder: &Path) -> bool {
    folder == Path::new(runtime_dir::SYSTEM)
}

fn create(folder: &Path) -> Result<(), KeeperError> {
    let what = |verb: &str| format!("{verb} the runtime folder '{}'", folder.display());
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)
            .map_err(|source| unmade(folder, parent, source))?;
        if let Some(problem) = runtime_dir::distrust(folder) {
            return Err(KeeperError::HomeUntrusted { problem });
        }
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) if is_system(folder) => {
            std::fs::set_permissions(folder, Permissions::from_mode(0o755))
                .map_err(KeeperError::io(what("opening")))?;
        }
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(unmade(folder, parent.unwrap_or(folder), error)),
    }
    let found = std::fs::symlink_metadata(folder).map_err(KeeperError::io(what("reading")))?;
    let me = rustix::process::geteuid().as_raw();
    let problem = if !found.is_dir() {
        "is not a folder".to_owned()
    } else if found.uid() != me {
        format!("belongs to user {}, not to you ({me})", found.uid())
    } else if found.mode() & 0o022 != 0 {
        format!("can be written by others (mode {:03o})", found.mode() & 0o777)
    } else {
        return Ok(());
    };
    Err(KeeperError::FolderUntrusted { folder: folder.to_owned(), problem })
}

/// A session's folder that cannot be written is the reason, wherever on the way it failed.
fn unmade(folder: &Path, parent: &Path, source: io::Error) -> KeeperError {
    let session = std::env::var_os(runtime_dir::SESSION);
    if session.as_ref().is_some_and(|session| Path::new(session) == parent) {
        return KeeperError::SessionUnwritable { folder: parent.to_owned(), source };
    }
    KeeperError::io(format!("creating the runtime folder '{}'", folder.display()))(source)
}

/// Mode 0600: whoever can only read the file could still block it with a shared lock.
fn lock(folder: &Path) -> Result<File, KeeperError> {
    let path = folder.join(runtime_dir::LOCK);
    let what = || format!("locking '{}'", path.display());
    let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(nofollow)
        .open(&path)
        .map_err(KeeperError::io(what()))?;
    if fd::try_lock(&file).map_err(KeeperError::io(what()))? {
        return Ok(file);
    }
    let mut text = String::new();
    // Only for the message: what cannot be read is not told.
    let _ = (&mut file).take(4096).read_to_string(&mut text);
    let holder = FolderHolder::read(&text);
    Err(KeeperError::FolderInUse { folder: folder.to_owned(), holder })
}

/// Writes into the lock file who serves. Readers take the first line, so that there is no moment
/// without one.
pub(super) fn write_holder(holds: &Holds) {
    if let Some(lock) = holds.get(&HoldKey::folder_lock()) {
        write_to(lock, std::process::id());
    }
}

fn write_to(lock: &OwnedFd, pid: u32) {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let user = rustix::process::geteuid().as_raw();
    let holder = FolderHolder { pid, user, started, service: crate::service() };
    let write = || -> io::Result<()> {
        let line = format!("{}\n", serde_json::to_string(&holder)?);
        let file = File::from(lock.try_clone()?);
        file.write_all_at(line.as_bytes(), 0)?;
        file.set_len(u64::try_from(line.len()).unwrap_or(0))
    };
    if let Err(error) = write() {
        tracing::warn!(%error, "cannot write the folder's holder to the lock file");
    }
}

/// Takes the sockets away; the folder's lock is still held.
pub(super) fn remove_sockets(folder: &Path) {
    for name in runtime_dir::SOCKETS {
        let path = folder.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "cannot remove '{}'", path.display());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pond_that_knows_no_watching_socket_gets_one_for_its_group() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("pond");
        let group = rustix::process::getegid().as_raw();
        let config = Config {
            runtime_dir: Some(folder.clone()),
            watch_group: group.to_string(),
            ..Config::default()
        };
        let mut holds = Holds::default();
        open(&folder, &config, &mut holds).unwrap();
        let mode = |name: &str| {
            let found = std::fs::symlink_metadata(folder.join(name)).unwrap();
            (found.mode() & 0o777, found.gid() == group)
        };
        assert_eq!(mode(runtime_dir::WATCH_SOCKET), (0o660, true));
        assert_eq!([mode(runtime_dir::SOCKET).0, mode(runtime_dir::ADMIN_SOCKET).0], [0o600; 2]);
        assert_eq!(mode("").0, 0o710, "they have to come through");
        // A keeper of an earlier version has not made it.
        let lock = holds.remove(&HoldKey::folder_lock());
        std::fs::remove_file(folder.join(runtime_dir::WATCH_SOCKET)).unwrap();
        let restored = restore(&config, lock.as_ref(), 1, false).unwrap().unwrap();
        let names: Vec<&str> = restored.sockets.iter().map(|(name, _)| *name).collect();
        assert_eq!((names, restored.lock.is_none()), (vec![runtime_dir::WATCH_SOCKET], true));
        assert_eq!(mode(runtime_dir::WATCH_SOCKET), (0o660, true));
    }
}
