//! A short temporary folder: a socket's path may have 107 bytes.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::driver::is_soft;

const PREFIX: &str = "mpt-";

/// A folder that is removed when dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A new one, in memory where the software driver needs room.
    ///
    /// # Panics
    /// If the system refuses.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it makes something in the file system")]
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        static SWEEP: Once = Once::new();
        SWEEP.call_once(|| ["/dev/shm", "/tmp"].map(Path::new).into_iter().for_each(sweep));
        let memory = Path::new("/dev/shm");
        let parent = if is_soft() && memory.is_dir() { memory } else { Path::new("/tmp") };
        let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = parent.join(format!("{PREFIX}{pid}-{count}"));
        fs::DirBuilder::new().mode(0o700).create(&path).unwrap();
        Self { path }
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path in it.
    #[must_use]
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes what runs left behind that were killed themselves.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()?.parse().ok());
        if pid.is_some_and(|pid: u32| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
