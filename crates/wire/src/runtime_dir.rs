//! Where a pond is found: its runtime folder and what is in it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use millpond_ledger::HOME;
pub use millpond_ledger::POND;

/// Overrides the runtime folder.
pub const ENVIRONMENT: &str = "MILLPOND_RUNTIME_DIR";
/// Names the folder of the user's session.
pub const SESSION: &str = "XDG_RUNTIME_DIR";
/// The socket for the machine's users, in the runtime folder.
pub const SOCKET: &str = "sock";
/// The socket for the operator, mode 0600.
pub const ADMIN_SOCKET: &str = "admin.sock";
/// The socket for those who only watch.
pub const WATCH_SOCKET: &str = "watch.sock";
/// The sockets of every pond.
pub const SOCKETS: [&str; 3] = [SOCKET, ADMIN_SOCKET, WATCH_SOCKET];
/// Locked by the keeper and the daemon of a pond.
pub const LOCK: &str = "lock";
/// The folder of a pond that serves the whole machine.
pub const SYSTEM: &str = "/run/millpond";

/// A user's own folder in shared memory, with the pond of a user who has no `XDG_RUNTIME_DIR` in
/// it.
#[must_use]
pub fn home() -> PathBuf {
    PathBuf::from(format!("{HOME}{}", rustix::process::geteuid().as_raw()))
}

/// Folders where a pond may be, most wanted first: the one that was named, the user's own, the
/// machine's.
#[must_use]
pub fn candidates() -> Vec<PathBuf> {
    candidates_from(named(), session(), home())
}

/// The same where no folder is named: what another terminal finds.
#[must_use]
pub fn unnamed() -> Vec<PathBuf> {
    candidates_from(None, session(), home())
}

fn candidates_from(
    named: Option<PathBuf>,
    session: Option<PathBuf>,
    home: PathBuf,
) -> Vec<PathBuf> {
    match named {
        Some(named) => vec![named],
        None => session.into_iter().chain([home.join(POND), PathBuf::from(SYSTEM)]).collect(),
    }
}

fn named() -> Option<PathBuf> {
    std::env::var_os(ENVIRONMENT).map(PathBuf::from).filter(|path| !path.as_os_str().is_empty())
}

fn session() -> Option<PathBuf> {
    let folder = std::env::var_os(SESSION).map(PathBuf::from);
    folder.filter(|path| path.is_absolute()).map(|path| path.join("millpond"))
}

/// Where a new pond goes: the folder that was named, the one of the user's session, `/run/millpond`
/// for root, else the user's folder in shared memory.
#[must_use]
pub fn for_server() -> PathBuf {
    server_from(named(), session(), rustix::process::geteuid().is_root(), home())
}

fn server_from(
    named: Option<PathBuf>,
    session: Option<PathBuf>,
    root: bool,
    home: PathBuf,
) -> PathBuf {
    let default = || if root { PathBuf::from(SYSTEM) } else { home.join(POND) };
    named.or(session).unwrap_or_else(default)
}

/// Where a client looks: the first candidate with a socket in it, else where a pond of its own
/// would be.
#[must_use]
pub fn for_client() -> PathBuf {
    let trusted = |folder: &PathBuf| distrust(folder).is_none();
    let found = candidates().into_iter().find(|folder| trusted(folder) && has_socket(folder));
    let default = || Some(for_server()).filter(trusted);
    found.or_else(default).unwrap_or_else(|| PathBuf::from(SYSTEM))
}

fn has_socket(folder: &Path) -> bool {
    folder.join(SOCKET).exists()
}

/// Why a pond in this folder may be somebody else's. Everybody can make a folder with the name of
/// [`home`] in `/dev/shm`, and whoever owns it can replace everything in it. Other folders are
/// trusted as the caller or root has made them.
#[must_use]
pub fn distrust(folder: &Path) -> Option<String> {
    let home = folder.parent().filter(|parent| *parent == home())?;
    distrust_home(home).map(|problem| format!("'{}' {problem}", home.display()))
}

fn distrust_home(home: &Path) -> Option<String> {
    let found = std::fs::symlink_metadata(home).ok()?;
    let me = rustix::process::geteuid().as_raw();
    if !found.is_dir() {
        return Some("is not a folder".to_owned());
    }
    if found.uid() != me {
        return Some(format!("belongs to user {}, not to you ({me})", found.uid()));
    }
    let mode = found.mode() & 0o777;
    (mode & 0o022 != 0).then(|| format!("can be written by others (mode {mode:03o})"))
}

/// The users' socket of a pond.
#[must_use]
pub fn socket(folder: &Path) -> PathBuf {
    folder.join(SOCKET)
}

/// The operator's socket in a runtime folder.
#[must_use]
pub fn admin_socket(folder: &Path) -> PathBuf {
    folder.join(ADMIN_SOCKET)
}

/// The socket of a runtime folder at which everything is seen and nothing is changed.
#[must_use]
pub fn watch_socket(folder: &Path) -> PathBuf {
    folder.join(WATCH_SOCKET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_folder_is_the_only_candidate_and_others_are_tried_in_order() {
        let home = || PathBuf::from("/dev/shm/millpond-5");
        let session = || Some(PathBuf::from("/run/user/5/millpond"));
        assert_eq!(candidates_from(Some("/x".into()), session(), home()), [PathBuf::from("/x")]);
        let own = home().join("pond");
        let all = [session().unwrap(), own.clone(), PathBuf::from(SYSTEM)];
        assert_eq!(candidates_from(None, session(), home()), all);
        assert_eq!(candidates_from(None, None, home()), all[1..]);
        assert_eq!(server_from(None, None, false, home()), own);
        assert_eq!(server_from(None, None, true, home()), Path::new(SYSTEM));
        assert_eq!(server_from(None, session(), true, home()), session().unwrap());
    }

    #[test]
    fn a_folder_in_shared_memory_is_trusted_only_if_nobody_else_can_change_it() {
        use std::os::unix::fs::PermissionsExt;

        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        assert_eq!(distrust_home(&home), None, "nothing is there yet");
        std::fs::create_dir(&home).unwrap();
        std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(distrust_home(&home), None);
        std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o770)).unwrap();
        assert!(distrust_home(&home).unwrap().contains("mode 770"));
        std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o700)).unwrap();
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&home, &link).unwrap();
        assert!(distrust_home(&link).unwrap().contains("not a folder"));
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&home, Some(12345), None).unwrap();
            assert!(distrust_home(&home).unwrap().contains("user 12345"));
        }
    }
}
