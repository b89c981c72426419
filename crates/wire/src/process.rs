//! Processes by pidfd: a number may be somebody else's a moment later, a pidfd never is.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

#[derive(Debug)]
pub struct Process {
    /// Its number, for people.
    pub pid: u32,
    pidfd: OwnedFd,
}

impl Process {
    /// The process that has this number now.
    ///
    /// # Errors
    /// There is none.
    pub fn open(pid: u32) -> io::Result<Self> {
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let raw = raw.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(Self { pid, pidfd: pidfd_open(raw, PidfdFlags::empty())? })
    }

    /// When it started, in ticks since the machine did: no other process has both this and its number.
    ///
    /// # Errors
    /// It is gone, or may not be looked at.
    pub fn started(&self) -> io::Result<u64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid))?;
        let started = started_in(&stat);
        // What was read is this one's if it is there still.
        if self.wait(Duration::ZERO)? {
            return Err(io::ErrorKind::NotFound.into());
        }
        started.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// `kill -9`.
    ///
    /// # Errors
    /// It is gone already, or somebody else's.
    pub fn kill(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.pidfd, Signal::KILL)?)
    }

    /// Asks it to end.
    ///
    /// # Errors
    /// As [`Self::kill`].
    pub fn terminate(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.pidfd, Signal::TERM)?)
    }

    /// Waits until it is gone; false if it still is there after that time.
    ///
    /// # Errors
    /// What the system says.
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

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

/// The inode number of a process by its pidfd, which no other process has had since the machine
/// started. Zero before Linux 6.9: pidfds have no inodes of their own there.
#[must_use]
pub fn inode(pidfd: impl AsFd) -> u64 {
    /// `PID_FS_MAGIC`.
    const PIDFS: u64 = 0x5049_4446;
    let kind =
        rustix::fs::fstatfs(&pidfd).ok().and_then(|system| u64::try_from(system.f_type).ok());
    match rustix::fs::fstat(&pidfd) {
        Ok(found) if kind == Some(PIDFS) => found.st_ino,
        _ => 0,
    }
}

/// The twenty-second field. The second is a name that may have spaces and brackets of its own.
fn started_in(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Every other process with such a variable (`NAME=value`) in its environment.
#[must_use]
pub fn with_variable(is_wanted: impl Fn(&[u8]) -> bool) -> Vec<Process> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid.filter(|pid| *pid != std::process::id()) else { continue };
        // Opened first: what is read afterwards is this process's, or it is gone.
        let Ok(process) = Process::open(pid) else { continue };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(&is_wanted) {
            found.push(process);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_time_is_found_behind_any_name() {
        let rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1234 20 21";
        for name in ["sh", "a b", ") S 1 (", ""] {
            assert_eq!(started_in(&format!("7 ({name}) {rest}")), Some(1234), "{name}");
        }
        assert_eq!(started_in("7 (sh) S 1"), None);
        assert_eq!(started_in(""), None);
    }

    #[test]
    fn every_process_has_an_inode_number_of_its_own() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let [own, again] = [(); 2].map(|()| inode(Process::open(std::process::id()).unwrap()));
        let other = inode(Process::open(child.id()).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        if own == 0 {
            return println!("SKIPPED: pidfds have no inodes of their own before Linux 6.9");
        }
        assert_eq!(own, again);
        assert_ne!(own, other);
        assert_eq!(inode(std::fs::File::open("/dev/null").unwrap()), 0);
    }

    #[test]
    fn a_process_that_has_ended_has_no_start_time() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::open(child.id()).unwrap();
        let started = process.started().unwrap();
        assert_eq!(Process::open(child.id()).unwrap().started().unwrap(), started);
        child.kill().unwrap();
        assert!(process.wait(Duration::from_secs(10)).unwrap());
        assert_eq!(process.started().unwrap_err().kind(), io::ErrorKind::NotFound);
        child.wait().unwrap();
    }
}
