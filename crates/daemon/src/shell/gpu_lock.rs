//! One pond per GPU: a lock that keeper and daemon hold together.
//!
//! The lock files lie where every user can reach them (`/dev/shm`: present, sticky and writable for
//! everybody on every Linux), because a second pond of another user must be refused as well. The file says who has it; the lock itself is the kernel's and ends with its
//! last holder.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use millpond_wire::{GpuUuid, fd};

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

/// Takes the lock of a GPU for the pond in `runtime_dir`.
///
/// # Errors
/// [`GpuLockError`].
pub fn take(folder: &Path, gpu: GpuUuid, runtime_dir: &str) -> Result<File, GpuLockError> {
    let path = folder.join(format!("millpond-{gpu}.lock"));
    let failed = |source| GpuLockError::Io { path: path.clone(), source };
    let mut file = open(&path).map_err(failed)?;
    if !fd::try_lock(&file).map_err(failed)? {
        let mut holder = String::new();
        let _ = file.by_ref().take(4096).read_to_string(&mut holder);
        let holder = holder.trim();
        let holder = if holder.is_empty() { "another pond" } else { holder };
        return Err(GpuLockError::Taken { gpu, holder: holder.to_owned() });
    }
    let user = rustix::process::geteuid().as_raw();
    let text = format!("the pond in '{runtime_dir}' (pid {}, user {user})\n", std::process::id());
    // For people; the lock is what counts, also on a full disk.
    if let Err(error) = file.set_len(0).and_then(|()| file.write_all_at(text.as_bytes(), 0)) {
        tracing::warn!("lock '{}' does not name its holder: {error}", path.display());
    }
    Ok(file)
}

/// An existing file is opened without `O_CREAT`: in a sticky folder the kernel refuses to "create"
/// a file of another user.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).custom_flags(nofollow());
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    match options.create_new(true).mode(0o666).open(path) {
        Ok(file) => {
            // Whatever the umask says, other users must be able to see that it is taken.
            file.set_permissions(std::fs::Permissions::from_mode(0o666))?;
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            File::options().read(true).write(true).custom_flags(nofollow()).open(path)
        }
        Err(error) => Err(error),
    }
}

fn nofollow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_pond_is_told_who_has_the_gpu() {
        let folder = tempfile::tempdir().unwrap();
        let gpu = GpuUuid([9; 16]);
        let held = take(folder.path(), gpu, "/run/one").unwrap();
        let error = take(folder.path(), gpu, "/run/two").unwrap_err().to_string();
        assert!(error.contains("/run/one") && error.contains("pid"), "{error}");
        take(folder.path(), GpuUuid([8; 16]), "/run/two").unwrap();
        drop(held);
        take(folder.path(), gpu, "/run/two").unwrap();
    }
}
