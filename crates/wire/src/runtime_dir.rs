//! Where a pond is found: its runtime folder and what is in it.

use std::path::{Path, PathBuf};

/// Overrides the runtime folder.
pub const ENVIRONMENT: &str = "MILLPOND_RUNTIME_DIR";
/// The socket for the machine's users, in the runtime folder.
pub const SOCKET: &str = "sock";
/// The socket for the operator, mode 0600.
pub const ADMIN_SOCKET: &str = "admin.sock";
/// Locked by the keeper and the daemon of a pond.
pub const LOCK: &str = "lock";
/// The folder of a pond that serves the whole machine.
pub const SYSTEM: &str = "/run/millpond";

/// Folders where a pond may be, most wanted first: the one that was named, the user's own, the
/// machine's.
#[must_use]
pub fn candidates() -> Vec<PathBuf> {
    candidates_from(
        std::env::var_os(ENVIRONMENT).map(PathBuf::from),
        std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from),
    )
}

fn candidates_from(named: Option<PathBuf>, user: Option<PathBuf>) -> Vec<PathBuf> {
    if let Some(named) = named.filter(|path| !path.as_os_str().is_empty()) {
        return vec![named];
    }
    let user = user.filter(|path| path.is_absolute()).map(|path| path.join("millpond"));
    user.into_iter().chain([PathBuf::from(SYSTEM)]).collect()
}

/// Where a new pond goes: the first candidate.
#[must_use]
pub fn for_server() -> PathBuf {
    candidates().into_iter().next().unwrap_or_else(|| PathBuf::from(SYSTEM))
}

/// Where a client looks: the first candidate with a socket in it, else the first.
#[must_use]
pub fn for_client() -> PathBuf {
    let candidates = candidates();
    let found = candidates.iter().find(|folder| folder.join(SOCKET).exists()).cloned();
    found.unwrap_or_else(|| candidates.into_iter().next().unwrap_or_else(|| PathBuf::from(SYSTEM)))
}

/// The users' socket of a pond.
#[must_use]
pub fn socket(folder: &Path) -> PathBuf {
    folder.join(SOCKET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_folder_is_the_only_candidate_and_tmp_is_none() {
        let named = candidates_from(Some("/x".into()), Some("/run/user/5".into()));
        assert_eq!(named, [PathBuf::from("/x")]);
        let user = candidates_from(None, Some("/run/user/5".into()));
        assert_eq!(user, [PathBuf::from("/run/user/5/millpond"), PathBuf::from(SYSTEM)]);
        assert_eq!(candidates_from(None, None), [PathBuf::from(SYSTEM)]);
        assert_eq!(candidates_from(None, Some("relative".into())), [PathBuf::from(SYSTEM)]);
    }
}
