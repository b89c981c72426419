//! Whether a file is safe to use as this user: a library, a program, a configuration, a log.
//!
//! A user that can write the file, or exchange it in one of the folders on the way to it, decides what this user runs, or
//! where this user writes. So the file and each of these folders belong to root or to this user, and nobody else can
//! write them; links on the way are made by root or this user. A group in which nobody else is counts as the user: with
//! umask 002, the rule of distributions that give each user a group, everything that is unpacked or built can be
//! written by that group.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::StatVfsMountFlags;

use crate::users;

const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
/// In such a folder only the owner of a file can rename or remove it.
const STICKY: u32 = 0o1000;
/// As many links as the kernel follows.
const LINKS: usize = 40;
/// Links there lead to what a process has open, and to no name.
const MAGIC: &str = "/proc";

/// Why a file is not used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("'{}' is not an absolute path", path.display())]
    Relative { path: PathBuf },
    #[error("'{}' is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    /// Another user can change the file, or exchange it.
    #[error("'{}' is not safe to {verb}: {who} can change '{}' ({state})", path.display(), part.display())]
    Unsafe {
        path: PathBuf,
        /// What is to be done with the file.
        verb: &'static str,
        /// The file, or a folder or link on the way to it.
        part: PathBuf,
        who: String,
        /// Owner and mode.
        state: String,
        /// The command that changes it.
        mend: String,
    },
    #[error("'{}': {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl TrustError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            TrustError::Unsafe { mend, .. } => Some(format!("`{mend}`, or use another file")),
            _ => None,
        }
    }
}

/// The file that a path leads to, without links, if only root and this user can change it.
///
/// # Errors
/// Why not.
pub fn check(path: &Path, verb: &'static str) -> Result<PathBuf, TrustError> {
    Check { path, verb, is_own: &users::is_own_unix_group }.file()
}

/// Whether a driver's library is safe to load. A bare name is the loader's to find, and so is what is not there.
///
/// # Errors
/// [`TrustError::Unsafe`].
pub fn library(path: &Path) -> Result<(), TrustError> {
    if !path.as_os_str().as_encoded_bytes().contains(&b'/') {
        return Ok(());
    }
    let absolute = std::path::absolute(path)
        .map_err(|source| TrustError::Io { path: path.to_owned(), source })?;
    match check(&absolute, "load") {
        Err(error @ TrustError::Unsafe { .. }) => Err(error),
        _ => Ok(()),
    }
}

/// Whether an opened file is this user's alone to write: it has no other name, and no other owner. A device is root's.
///
/// # Errors
/// [`TrustError::Unsafe`].
pub fn own(path: &Path, found: &Metadata) -> Result<(), TrustError> {
    let user = rustix::process::geteuid().as_raw();
    let who = if found.file_type().is_char_device() {
        return Ok(());
    } else if found.uid() != user {
        format!("user {}", found.uid())
    } else if found.is_file() && found.nlink() > 1 {
        "another name of the file".to_owned()
    } else {
        return Ok(());
    };
    let mend = format!("rm '{}'", path.display());
    let state = format!("owner {}, mode {:03o}", found.uid(), found.mode() & 0o7777);
    let (path, part) = (path.to_owned(), path.to_owned());
    Err(TrustError::Unsafe { path, verb: "write", part, who, state, mend })
}

/// The text of a file that only root and this user can change. A device, which root makes, and the end of a pipe that
/// is this user's are read as well.
///
/// # Errors
/// [`TrustError`]; or it cannot be read.
pub fn read_to_string(path: &Path) -> Result<String, TrustError> {
    let failed = |source| TrustError::Io { path: path.to_owned(), source };
    let absolute = std::path::absolute(path).map_err(failed)?;
    let kind = std::fs::metadata(&absolute).map_err(failed)?.file_type();
    if kind.is_char_device() || kind.is_fifo() {
        let mut file = std::fs::File::open(&absolute).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        let check = Check { path, verb: "read", is_own: &users::is_own_unix_group };
        if !found.file_type().is_char_device() {
            check.part(path, &found)?;
        }
        let mut text = String::new();
        io::Read::read_to_string(&mut file, &mut text).map_err(failed)?;
        return Ok(text);
    }
    let file = check(&absolute, "read")?;
    std::fs::read_to_string(file).map_err(failed)
}

/// Where a path leads to, without links, if only root and this user can change the way: the file itself need not be
/// there. A link in `/proc` to what a process has open stays as it is.
///
/// # Errors
/// Why not.
pub fn way(path: &Path, verb: &'static str) -> Result<PathBuf, TrustError> {
    Check { path, verb, is_own: &users::is_own_unix_group }.walk(false)
}

/// Whether a path that [`way`] has returned is a link to what a process has open.
#[must_use]
pub fn is_magic(way: &Path) -> bool {
    way.starts_with(MAGIC)
}

struct Check<'a> {
    path: &'a Path,
    verb: &'static str,
    is_own: &'a dyn Fn(u32, u32) -> bool,
}

impl Check<'_> {
    fn file(&self) -> Result<PathBuf, TrustError> {
        let real = self.walk(true)?;
        match real.symlink_metadata() {
            Ok(found) if found.is_file() => Ok(real),
            Ok(_) => Err(TrustError::NotAFile { path: self.path.to_owned() }),
            Err(error) => Err(self.io(error)),
        }
    }

    /// Goes the way from the root, through each folder and link. The file at its end is checked if it is `whole`.
    fn walk(&self, whole: bool) -> Result<PathBuf, TrustError> {
        if !self.path.is_absolute() {
            return Err(TrustError::Relative { path: self.path.to_owned() });
        }
        let mut at = PathBuf::from("/");
        self.part(&at, &self.look(&at)?)?;
        let (mut left, mut links) = (names(self.path), 0);
        while let Some(name) = left.pop() {
            if name == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&name);
            let found = match next.symlink_metadata() {
                Err(error)
                    if error.kind() == io::ErrorKind::NotFound && left.is_empty() && !whole =>
                {
                    return Ok(if is_magic(&at) { self.path.to_owned() } else { next });
                }
                found => found.map_err(|error| self.io(error))?,
            };
            if found.is_symlink() {
                self.part(&next, &found)?;
                links += 1;
                if links > LINKS {
                    return Err(self.io(rustix::io::Errno::LOOP.into()));
                }
                let target = next.read_link().map_err(|error| self.io(error))?;
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                left.append(&mut names(&target));
                continue;
            }
            if whole || !left.is_empty() {
                self.part(&next, &found)?;
            }
            at = next;
        }
        Ok(at)
    }

    /// Whether only root and this user can change this file, folder or link.
    fn part(&self, part: &Path, found: &Metadata) -> Result<(), TrustError> {
        let user = rustix::process::geteuid().as_raw();
        let (owner, mode, shown) = (found.uid(), found.mode(), part.display());
        let (who, mend) = if owner != 0 && owner != user {
            let mend = match found.is_symlink() {
                true => format!("rm '{shown}'"),
                false => format!("chown {user} '{shown}'"),
            };
            (format!("user {owner}"), mend)
        } else if found.is_symlink() || found.is_dir() && (mode & STICKY != 0 || is_read_only(part))
        {
            return Ok(());
        } else if mode & OTHERS_WRITE != 0 {
            ("another user".to_owned(), format!("chmod o-w '{shown}'"))
        } else if mode & GROUP_WRITES != 0 && !(self.is_own)(found.gid(), user) {
            let group = found.gid();
            let name = users::unix_group_name(group).unwrap_or_else(|| group.to_string());
            (format!("the UNIX group '{}'", name.escape_debug()), format!("chmod g-w '{shown}'"))
        } else {
            return Ok(());
        };
        let (path, part) = (self.path.to_owned(), part.to_owned());
        let state = format!("owner {owner}, mode {:03o}", mode & 0o7777);
        Err(TrustError::Unsafe { path, verb: self.verb, part, who, state, mend })
    }

    fn look(&self, part: &Path) -> Result<Metadata, TrustError> {
        part.symlink_metadata().map_err(|error| self.io(error))
    }

    fn io(&self, source: io::Error) -> TrustError {
        TrustError::Io { path: self.path.to_owned(), source }
    }
}

/// The names of a path, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let name = |part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().rev().filter_map(name).collect()
}

/// A folder that a container was given to read has the mode that its maker found easy.
fn is_read_only(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn said(result: Result<impl std::fmt::Debug, TrustError>) -> String {
        result.unwrap_err().to_string()
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
        assert_eq!(check(&file, "load").unwrap(), file.canonicalize().unwrap());
        for (path, bad, good, who, mend) in [
            (&file, 0o664, 0o644, "UNIX group", "chmod g-w"),
            (&file, 0o646, 0o644, "another user", "chmod o-w"),
            (&inside, 0o775, 0o755, "UNIX group", "chmod g-w"),
            (&inside, 0o777, 0o755, "another user", "chmod o-w"),
        ] {
            set(path, bad);
            let with = |is_own| Check { path: &file, verb: "load", is_own }.file();
            let error = with(&|_, _| false).unwrap_err();
            let why = error.to_string();
            assert!(why.contains("not safe to load") && why.contains("can change"), "{why}");
            assert!(why.contains(who) && why.contains(&format!("mode {bad:03o}")), "{why}");
            let hint = error.hint().unwrap();
            assert!(hint.contains(mend) && hint.contains(path.to_str().unwrap()), "{hint}");
            let with_own_group = with(&|_, _| true);
            assert_eq!(with_own_group.is_ok(), who == "UNIX group", "{with_own_group:?}");
            set(path, good);
        }
        set(&inside, 0o1777);
        assert!(check(&file, "load").is_ok(), "nobody else can exchange it");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&file, Some(4711), None).unwrap();
            assert!(said(check(&file, "load")).contains("user 4711"));
        }
    }

    #[test]
    fn each_folder_and_link_on_the_way_counts() {
        let folder = tempfile::tempdir().unwrap();
        let [open, closed] = ["open", "closed"].map(|name| folder.path().join(name));
        for (path, mode) in [(&open, 0o777), (&closed, 0o755)] {
            fs::create_dir(path).unwrap();
            set(path, mode);
        }
        let file = closed.join("x.so");
        fs::write(&file, "").unwrap();
        set(&file, 0o644);
        for (link, target) in [("x.so", "../closed/x.so"), ("through", "../closed")] {
            symlink(target, open.join(link)).unwrap();
        }
        // Where it leads to is safe, and anybody can have it lead elsewhere.
        for path in ["x.so", "through/x.so"].map(|path| open.join(path)) {
            assert!(said(check(&path, "load")).contains("'/") && check(&path, "load").is_err());
            assert!(way(&path, "write").is_err());
        }
        set(&open, 0o1777);
        assert_eq!(
            check(&open.join("through/x.so"), "load").unwrap(),
            file.canonicalize().unwrap()
        );
        if rustix::process::geteuid().is_root() {
            let link = open.join("x.so");
            rustix::fs::chownat(
                rustix::fs::CWD,
                &link,
                Some(rustix::fs::Uid::from_raw(4711)),
                None,
                rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
            )
            .unwrap();
            let error = check(&link, "load").unwrap_err();
            assert!(error.to_string().contains("user 4711 can change"), "{error}");
            assert!(error.hint().unwrap().starts_with("`rm '"), "{error}");
        }
    }

    #[test]
    fn a_link_is_followed_and_anything_but_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.so");
        fs::write(&file, "text").unwrap();
        set(&file, 0o644);
        let link = folder.path().join("link.so");
        symlink(&file, &link).unwrap();
        assert_eq!(check(&link, "load").unwrap(), file.canonicalize().unwrap());
        assert!(said(check(folder.path(), "load")).contains("regular file"));
        let none = folder.path().join("none");
        assert!(said(check(&none, "load")).contains("No such file"));
        assert_eq!(
            way(&none, "write").unwrap(),
            folder.path().canonicalize().unwrap().join("none")
        );
        assert!(said(check(Path::new("x.so"), "load")).contains("absolute"));
        symlink("loop", folder.path().join("loop")).unwrap();
        assert!(check(&folder.path().join("loop"), "load").is_err());
    }

    #[test]
    fn a_text_is_read_where_nobody_else_can_write_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        fs::write(&file, "text").unwrap();
        set(&file, 0o644);
        assert_eq!(read_to_string(&file).unwrap(), "text");
        assert_eq!(read_to_string(Path::new("/dev/null")).unwrap(), "");
        set(&file, 0o666);
        assert!(said(read_to_string(&file)).contains("not safe to read"));
        assert!(said(read_to_string(&folder.path().join("none"))).contains("No such file"));
    }
}
