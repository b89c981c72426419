//! The process behind a connection, as the kernel tells it from others.

use std::fmt;

/// A process by its number, or by its inode number where it has no number here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Process {
    /// Zero for a process outside the daemon's pid namespace.
    pub pid: u32,
    /// Of its pidfd; zero where the number is enough, and before Linux 6.9.
    pub inode: u64,
}

impl Process {
    /// Its number here.
    #[must_use]
    pub fn number(self) -> Option<u32> {
        Some(self.pid).filter(|pid| *pid != 0)
    }

    /// Whether it can be told from other processes of its user.
    #[must_use]
    pub fn is_known(self) -> bool {
        self != Self::default()
    }
}

impl From<u32> for Process {
    fn from(pid: u32) -> Self {
        Self { pid, inode: 0 }
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            Some(pid) => write!(f, "pid {pid}"),
            None => f.write_str("in another pid namespace"),
        }
    }
}
