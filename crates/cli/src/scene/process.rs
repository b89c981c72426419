//! Processes by pidfd: a number may be somebody else's a moment later, a pidfd never is.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::env_vars;

/// One process.
#[derive(Debug)]
pub struct Process {
    /// Its number, for people.
    pub pid: u32,
    pidfd: OwnedFd,
}

impl Process {
    /// The process that has this number now.
    pub fn open(pid: u32) -> io::Result<Self> {
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let raw = raw.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(Self { pid, pidfd: pidfd_open(raw, PidfdFlags::empty())? })
    }

    /// `kill -9`.
    pub fn kill(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.pidfd, Signal::KILL)?)
    }

    /// Asks it to end.
    pub fn terminate(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.pidfd, Signal::TERM)?)
    }

    /// Waits until it is gone; false if it still is there after that time.
    pub fn wait(&self, patience: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
            match poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&timeout)) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// Every process that was started for a pond in this folder: its environment says so. The folder
/// has a random name, so nobody else's does.
pub fn of_folder(folder: &Path) -> Vec<Process> {
    let mut wanted = format!("{}=", env_vars::RUNTIME_DIR).into_bytes();
    wanted.extend_from_slice(folder.as_os_str().as_bytes());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid.filter(|pid| *pid != std::process::id()) else { continue };
        // Opened first: what is read afterwards is this process's, or it is gone.
        let Ok(process) = Process::open(pid) else { continue };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == wanted) {
            found.push(process);
        }
    }
    found
}

/// Kills what was started for a pond in this folder, until nothing is left.
pub fn clear(folder: &Path, patience: Duration) {
    let deadline = Instant::now() + patience;
    // A keeper or daemon that is killed alone is started again by the other one, so this may
    // take a few rounds.
    while Instant::now() < deadline {
        let processes = of_folder(folder);
        if processes.is_empty() {
            return;
        }
        for process in &processes {
            // It may be gone already.
            let _ = process.kill();
        }
        for process in &processes {
            let _ = process.wait(Duration::from_secs(1));
        }
    }
}

/// Resident memory of a process.
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn processes_are_found_by_their_folder_and_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new("sleep")
            .arg("600")
            .env(env_vars::RUNTIME_DIR, folder.path())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let found = loop {
            // Between fork and exec the child still has our environment.
            let found = of_folder(folder.path());
            if !found.is_empty() {
                break found;
            }
        };
        assert_eq!(found.iter().map(|process| process.pid).collect::<Vec<_>>(), [child.id()]);
        assert!(!found[0].wait(Duration::ZERO).unwrap());
        assert!(resident_bytes(child.id()).unwrap() > 0);
        // A killed child stays a zombie, without an environment, until it is waited for.
        clear(folder.path(), Duration::from_secs(10));
        assert!(found[0].wait(Duration::from_secs(10)).unwrap());
        child.wait().unwrap();
        assert!(of_folder(folder.path()).is_empty());
    }
}
