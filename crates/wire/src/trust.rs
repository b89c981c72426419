//! Whether a file is safe to run as this user: a library that a pond names, or a companion program.
//!
//! Whoever can write the file, or exchange it in one of the folders above it, runs code as this
//! user. So each of them belongs to root or to this user, and nobody else can write it. A group in
//! which nobody else is counts as the user: with umask 002, the rule of distributions that give each user
//! a group, everything that is unpacked or built can be written by that group.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use millpond_view::users;

const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
/// In such a folder only the owner of a file can rename or remove it.
const STICKY: u32 = 0o1000;

/// The file without links in its path, if only root and this user can change it. `verb` is what is
/// to be done with the file.
pub fn check(path: &Path, verb: &str) -> Result<PathBuf, String> {
    check_with(path, verb, &users::is_own_unix_group)
}

fn check_with(
    path: &Path,
    verb: &str,
    is_own: &dyn Fn(u32, u32) -> bool,
) -> Result<PathBuf, String> {
    let shown = path.display();
    if !path.is_absolute() {
        return Err(format!("'{shown}' is not an absolute path"));
    }
    let real = path.canonicalize().map_err(|error| format!("'{shown}': {error}"))?;
    let user = rustix::process::geteuid().as_raw();
    for part in real.ancestors() {
        let found = part.symlink_metadata().map_err(|error| format!("'{shown}': {error}"))?;
        if part == real && !found.is_file() {
            return Err(format!("'{shown}' is not a regular file"));
        }
        if let Some(who) = writer(&found, user, is_own) {
            return Err(format!(
                "'{shown}' is not safe to {verb}: {who} can change '{}'",
                part.display()
            ));
        }
    }
    Ok(real)
}

/// Who else can change a file or the entries of a folder.
fn writer(found: &Metadata, user: u32, is_own: &dyn Fn(u32, u32) -> bool) -> Option<String> {
    let (owner, mode) = (found.uid(), found.permissions().mode());
    if owner != 0 && owner != user {
        return Some(format!("user {owner}"));
    }
    if found.is_dir() && mode & STICKY != 0 {
        return None;
    }
    if mode & OTHERS_WRITE != 0 {
        return Some(format!("another user (mode {:03o})", mode & 0o777));
    }
    let group = found.gid();
    (mode & GROUP_WRITES != 0 && !is_own(group, user)).then(|| {
        let name = users::unix_group_name(group).unwrap_or_else(|| group.to_string());
        format!("the UNIX group '{}' (mode {:03o})", name.escape_debug(), mode & 0o777)
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use super::*;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_library_that_somebody_else_can_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("lib");
        fs::create_dir(&inside).unwrap();
        let file = inside.join("x.so");
        fs::write(&file, "").unwrap();
        for (path, mode) in [(&file, 0o644), (&inside, 0o755)] {
            set(path, mode);
        }
        assert_eq!(check(&file, "load"), Ok(file.canonicalize().unwrap()));
        for (path, bad, good, who) in [
            (&file, 0o664, 0o644, "UNIX group"),
            (&file, 0o646, 0o644, "another user"),
            (&inside, 0o775, 0o755, "UNIX group"),
            (&inside, 0o777, 0o755, "another user"),
        ] {
            set(path, bad);
            let why = check_with(&file, "load", &|_, _| false).unwrap_err();
            assert!(why.contains("not safe") && why.contains("can change"), "{why}");
            assert!(why.contains(who), "{why}");
            let with_own_group = check_with(&file, "load", &|_, _| true);
            assert_eq!(with_own_group.is_ok(), who == "UNIX group", "{with_own_group:?}");
            set(path, good);
        }
        set(&inside, 0o1777);
        assert!(check(&file, "load").is_ok(), "nobody else can exchange it");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&file, Some(4711), None).unwrap();
            assert!(check(&file, "load").unwrap_err().contains("user 4711"));
        }
    }

    #[test]
    fn a_link_is_followed_and_anything_but_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.so");
        fs::write(&file, "").unwrap();
        set(&file, 0o644);
        let link = folder.path().join("link.so");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(check(&link, "load"), Ok(file.canonicalize().unwrap()));
        assert!(check(folder.path(), "load").unwrap_err().contains("regular file"));
        assert!(check(&folder.path().join("none"), "load").is_err());
        assert!(check(Path::new("x.so"), "load").unwrap_err().contains("absolute"));
    }
}
