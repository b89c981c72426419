//! The keeper that serves a folder, found without a chance to take another process for it.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use millpond_wire::process::Process;
use millpond_wire::runtime_dir;
use rustix::fs::OFlags;

use crate::keeper::FolderHolder;

/// The first line of a lock file is far shorter.
const LINE_BYTES: u64 = 4096;

/// A keeper that lives.
#[derive(Debug)]
pub struct Running {
    /// What it has written into the lock file.
    pub holder: FolderHolder,
    process: Process,
}

impl Running {
    /// The keeper of a folder; `None` where nobody serves it, or the next keeper has not come yet.
    ///
    /// The number in the lock file may be somebody else's by now. The process is opened by that
    /// number first, and then looked at: only a keeper or a daemon has the lock file open, and one
    /// that is alive after the look is the one that was looked at.
    ///
    /// # Errors
    /// The lock file cannot be read, which is for its owner and root alone.
    pub fn find(folder: &Path) -> io::Result<Option<Running>> {
        let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
        let path = folder.join(runtime_dir::LOCK);
        let lock = match File::options().read(true).custom_flags(nofollow).open(path) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = String::new();
        // What is no text is nobody's name.
        let _ = (&lock).take(LINE_BYTES).read_to_string(&mut text);
        let Some(holder) = FolderHolder::read(&text) else { return Ok(None) };
        let Ok(process) = Process::open(holder.pid) else { return Ok(None) };
        let found = lock.metadata()?;
        let holds = has_open(holder.pid, (found.dev(), found.ino()));
        let alive = !process.wait(Duration::ZERO)?;
        Ok((holds && alive).then_some(Running { holder, process }))
    }

    /// Asks it to stop the pond, as Ctrl-C does.
    ///
    /// # Errors
    /// It is gone already, or somebody else's.
    pub fn stop(&self) -> io::Result<()> {
        self.process.terminate()
    }

    /// Waits until it has ended; false if it has not after that time.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait(&self, patience: Duration) -> io::Result<bool> {
        self.process.wait(patience)
    }
}

fn has_open(pid: u32, file: (u64, u64)) -> bool {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut files = entries.filter_map(|entry| std::fs::metadata(entry.path()).ok());
    files.any(|found| (found.dev(), found.ino()) == file)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_number_that_is_somebody_elses_by_now_is_not_taken_for_the_keeper() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join(runtime_dir::LOCK);
        assert!(Running::find(folder.path()).unwrap().is_none(), "no pond was ever here");
        let mut other = Command::new("sleep").arg("600").spawn().unwrap();
        let write = |pid: u32| {
            let line = format!("{{\"pid\":{pid},\"user\":0,\"started\":1}}\n");
            std::fs::write(&lock, line).unwrap();
        };
        write(other.id());
        assert!(Running::find(folder.path()).unwrap().is_none(), "it has not the lock file open");
        // This process has it open, as a keeper does.
        let held = File::open(&lock).unwrap();
        write(std::process::id());
        assert_eq!(Running::find(folder.path()).unwrap().unwrap().holder.pid, std::process::id());
        drop(held);
        other.kill().unwrap();
        other.wait().unwrap();
        write(other.id());
        assert!(Running::find(folder.path()).unwrap().is_none(), "it is gone");
    }
}
