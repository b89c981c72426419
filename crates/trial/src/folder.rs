//! Where a pond of one's own goes.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use millpond_console::error::{CommandError, failed};

/// Where the software driver's devices are, in the folder.
pub const SOFT: &str = "soft";
/// Marks a folder as one that may be removed.
const MARKER: &str = ".temporary-pond";

/// A new folder of mode 0700 in the user's runtime folder, in `/dev/shm` or in `/tmp`: the first
/// with room for `bytes` and as much again, because the software driver takes half of what is
/// free; else the one with the most room.
pub fn make(bytes: u64) -> Result<TempDir, CommandError> {
    let parent = choose(&candidates(), bytes.saturating_mul(2), free_bytes);
    let what = || format!("making a folder in '{}'", parent.display());
    let folder = tempfile::Builder::new()
        .prefix("millpond-")
        .tempdir_in(&parent)
        .map_err(|error| failed(what(), error))?;
    std::fs::write(folder.path().join(MARKER), "").map_err(|error| failed(what(), error))?;
    Ok(folder)
}

/// Removes the locks that a pond in this folder had on devices of the software driver. They lie
/// where every user sees them, for the sake of real GPUs; nobody will ever look for these again,
/// because the devices are named after the folder.
pub fn remove_locks(folder: &Path) {
    const LOCKS: &str = "/dev/shm";
    if !folder.join(SOFT).is_dir() {
        return;
    }
    let mark = format!("'{}'", folder.display());
    for entry in std::fs::read_dir(LOCKS).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Others may have left anything there, and some of it would never end to be read.
        let is_lock = name.starts_with("millpond-GPU-")
            && name.ends_with(".lock")
            && entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_lock && std::fs::read_to_string(entry.path()).is_ok_and(|who| who.contains(&mark)) {
            // Left behind it harms nobody.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Whether the folder is one that was made here.
pub fn is_temporary(folder: &Path) -> bool {
    folder.join(MARKER).is_file()
}

fn candidates() -> Vec<PathBuf> {
    let user = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let user = user.filter(|path| path.is_absolute());
    user.into_iter().chain(["/dev/shm".into(), std::env::temp_dir()]).collect()
}

fn choose(candidates: &[PathBuf], bytes: u64, free: impl Fn(&Path) -> Option<u64>) -> PathBuf {
    let known: Vec<(u64, &PathBuf)> =
        candidates.iter().filter_map(|path| Some((free(path)?, path))).collect();
    let enough = known.iter().find(|(free, _)| *free >= bytes);
    let most = || known.iter().max_by_key(|(free, _)| *free);
    enough.or_else(most).map_or_else(std::env::temp_dir, |(_, path)| path.to_path_buf())
}

/// What a user may still write there; nothing where it cannot be written.
pub fn free_bytes(path: &Path) -> Option<u64> {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).ok()?;
    let space = rustix::fs::statvfs(path).ok()?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_with_room_is_taken_else_the_roomiest() {
        let all: Vec<PathBuf> = ["/a", "/b", "/c"].map(PathBuf::from).into();
        let free = |path: &Path| match path.to_str()? {
            "/a" => Some(10),
            "/b" => Some(200),
            "/c" => Some(300),
            _ => None,
        };
        assert_eq!(choose(&all, 10, free), Path::new("/a"));
        assert_eq!(choose(&all, 100, free), Path::new("/b"));
        assert_eq!(choose(&all, 1000, free), Path::new("/c"));
        assert_eq!(choose(&all, 1, |_| None), std::env::temp_dir());
    }
}
