//! Processes, for tests: what cannot be done fails the test.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use millpond_wire::process;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getrlimit, pidfd_open, pidfd_send_signal,
};

use crate::eventually;

#[derive(Debug)]
pub struct Process(process::Process);

impl Process {
    /// The process that has this number now.
    ///
    /// # Errors
    /// There is none.
    pub fn open(pid: u32) -> io::Result<Self> {
        process::Process::open(pid).map(Self)
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.0.pid
    }

    /// `kill -9`. One that is gone already is as good.
    pub fn kill(&self) {
        let _ = self.0.kill();
    }

    /// Asks it to end.
    pub fn terminate(&self) {
        let _ = self.0.terminate();
    }

    /// Stops it where it is, until it is killed or goes on. The signal alone does not: a thread
    /// that runs goes on until another one has taken it.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        eventually("a stopped process", || {
            (self.wait(Duration::ZERO) || self.is_stopped()).then_some(())
        });
    }

    fn is_stopped(&self) -> bool {
        let threads = fs::read_dir(format!("/proc/{}/task", self.0.pid)).into_iter().flatten();
        let mut stats =
            threads.flatten().map(|thread| fs::read_to_string(thread.path().join("stat")));
        // The state is behind the name, in which anything may be.
        let state = |stat: String| stat.rsplit_once(") ")?.1.chars().next();
        stats.all(|stat| stat.ok().and_then(state).is_none_or(|state| "TtZX".contains(state)))
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.0.pid).ok().and_then(Pid::from_raw);
        let pidfd = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let Some(pidfd) = pidfd else { return };
        // The first one still lives, so the number was still its own.
        if !self.wait(Duration::ZERO) {
            let _ = pidfd_send_signal(&pidfd, signal);
        }
    }

    /// Waits until it is gone; false if it still is there after that time.
    ///
    /// # Panics
    /// If the system cannot say.
    #[must_use]
    pub fn wait(&self, patience: Duration) -> bool {
        self.0.wait(patience).unwrap()
    }
}

/// Open descriptors of a process.
///
/// # Panics
/// If it is gone.
#[must_use]
pub fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).expect("the process lives").count()
}

/// Bytes of memory that a process has in use.
///
/// # Panics
/// If it is gone.
#[must_use]
pub fn resident(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    let kib: u64 = line.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or(0);
    kib << 10
}

/// Sets a limit of another process; `None` is none.
///
/// # Panics
/// If the system refuses.
pub fn limit(pid: u32, what: Resource, current: Option<u64>) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let maximum = getrlimit(what).maximum;
    let current = current.or(maximum);
    rustix::process::prlimit(pid, what, Rlimit { current, maximum }).unwrap();
}

/// What its open descriptors are, for messages.
#[must_use]
pub fn descriptor_list(pid: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut list: Vec<String> = entries
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .map(|target| target.display().to_string())
        .collect();
    list.sort();
    list
}

/// Every process whose environment has this variable with a value that begins so.
#[must_use]
pub fn with_variable(name: &str, beginning: &Path) -> Vec<Process> {
    let mut wanted = format!("{name}=").into_bytes();
    wanted.extend_from_slice(beginning.as_os_str().as_bytes());
    let found = process::with_variable(|variable| variable.starts_with(&wanted));
    found.into_iter().map(Process).collect()
}
