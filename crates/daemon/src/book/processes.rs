//! Processes by what stays theirs: a pid in a namespace and the time of its start.

use std::path::PathBuf;

use millpond_ledger::{MemberReading, SlotIndex};

/// A process as the system shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its pid in its own namespace.
    pub pid: i32,
    /// That namespace, if it may be seen.
    pub namespace: Option<u64>,
    /// When it started, in clock ticks since the machine's start.
    pub start_ticks: u64,
}

impl Identity {
    /// Whether this process has that slot.
    #[must_use]
    pub fn is(&self, member: &MemberReading) -> bool {
        let namespaces_differ = self
            .namespace
            .is_some_and(|seen| member.pid_namespace != 0 && member.pid_namespace != seen);
        self.pid == member.pid && self.start_ticks == member.start_ticks && !namespaces_differ
    }
}

/// Where processes are looked up: `/proc`, or a folder that a test has made.
#[derive(Clone, Debug)]
pub struct Processes(PathBuf);

impl Default for Processes {
    fn default() -> Self {
        Self(PathBuf::from("/proc"))
    }
}

impl Processes {
    /// Looks in another folder.
    #[cfg(test)]
    fn in_folder(folder: &std::path::Path) -> Self {
        Self(folder.to_owned())
    }

    /// The process with this pid, unless it is gone or a zombie.
    #[must_use]
    pub fn identity(&self, pid: u32) -> Option<Identity> {
        self.identity_if(pid, |_| true)
    }

    /// The pids, as seen from here, of members of whom only their own is known. Every process is
    /// looked at, so it is for when somebody asks, and not for every tick.
    #[must_use]
    pub fn find(&self, members: &[MemberReading]) -> Vec<(SlotIndex, u32)> {
        let Ok(entries) = std::fs::read_dir(&self.0) else { return Vec::new() };
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let started_then = |ticks| members.iter().any(|member| member.start_ticks == ticks);
        let found = pids.filter_map(|pid| {
            let identity = self.identity_if(pid, started_then)?;
            let member = members.iter().find(|member| identity.is(member))?;
            Some((member.slot, pid))
        });
        found.collect()
    }

    fn identity_if(&self, pid: u32, started_then: impl Fn(u64) -> bool) -> Option<Identity> {
        let folder = self.0.join(pid.to_string());
        let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
        // The program's name is between brackets and may have any character in it.
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return None;
        }
        let start_ticks = fields.nth(18)?.parse().ok().filter(|ticks| started_then(*ticks))?;
        let status = std::fs::read_to_string(folder.join("status")).ok()?;
        let inner = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        let inner = inner.and_then(|pids| pids.split_ascii_whitespace().last()?.parse().ok());
        let namespace = std::fs::read_link(folder.join("ns/pid")).ok();
        let namespace = namespace
            .and_then(|link| link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok());
        Some(Identity { pid: inner.or_else(|| i32::try_from(pid).ok())?, namespace, start_ticks })
    }

    /// Whether a process sees the same segments as this one.
    #[must_use]
    pub fn shares_ipc(&self, pid: u32) -> bool {
        let namespace = |of: &str| std::fs::read_link(self.0.join(of).join("ns/ipc")).ok();
        let own = namespace("self");
        own.is_some() && own == namespace(&pid.to_string())
    }

    /// Whether the process that had this pid then still lives.
    #[must_use]
    pub fn lives(&self, pid: u32, start_ticks: u64) -> bool {
        self.identity(pid).is_some_and(|identity| identity.start_ticks == start_ticks)
    }
}

/// When a process started, on the wall clock.
#[must_use]
pub fn started_unix_ms(start_ticks: u64, now_unix_ms: u64) -> Option<u64> {
    let boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let boot_ms = u64::try_from(boot.tv_sec).ok()?.checked_mul(1000)?;
    let boot_ms = boot_ms + u64::try_from(boot.tv_nsec).ok()? / 1_000_000;
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    // Sandboxes count ticks and time from different starts; then it is as if it had just begun.
    let age_ms = boot_ms.saturating_sub(start_ticks.checked_mul(1000)? / ticks);
    now_unix_ms.checked_sub(age_ms)
}

#[cfg(test)]
mod tests {
    use millpond_ledger::{Book, BookSettings, Member, Memory};

    use super::*;

    #[test]
    fn this_process_is_found_and_one_with_another_start_is_not() {
        let processes = Processes::default();
        let own = processes.identity(std::process::id()).unwrap();
        assert!(own.namespace.is_some());
        assert!(processes.lives(std::process::id(), own.start_ticks));
        assert!(!processes.lives(std::process::id(), own.start_ticks + 1));
        assert!(processes.identity(u32::MAX).is_none());
        assert!(processes.shares_ipc(std::process::id()) && !processes.shares_ipc(u32::MAX));
        let started = started_unix_ms(own.start_ticks, 1 << 45).unwrap();
        assert!(started <= 1 << 45 && started > (1 << 45) - 3_600_000 * 24);
    }

    #[test]
    fn a_slot_is_a_process_with_its_pid_its_start_and_its_namespace() {
        let folder = tempfile::tempdir().unwrap();
        let group = super::super::account::c_path(&folder.path().join("team")).unwrap();
        let settings =
            BookSettings { name: b"team", owner: None, everyone: false, memory: Memory::File };
        let book = Book::create(&group, settings).unwrap();
        let _member = Member::attach(&group).unwrap();
        let mut found = None;
        book.members(|member| found = Some(member)).unwrap();
        let member = found.unwrap();
        let own = Processes::default().identity(std::process::id()).unwrap();
        assert!(own.is(&member));
        let member = MemberReading { pid: 12, pid_namespace: 5, start_ticks: 777, ..member };
        let process = |pid, namespace, start_ticks| Identity { pid, namespace, start_ticks };
        assert!(process(12, Some(5), 777).is(&member));
        assert!(process(12, None, 777).is(&member), "it could not be read");
        assert!(process(12, Some(6), 777).is(&MemberReading { pid_namespace: 0, ..member }));
        for other in [process(13, Some(5), 777), process(12, Some(5), 778)] {
            assert!(!other.is(&member), "{other:?}");
        }
        assert!(!process(12, Some(6), 777).is(&member));
    }

    #[test]
    fn a_process_of_another_namespace_is_known_by_its_inner_pid() {
        let folder = tempfile::tempdir().unwrap();
        let process = folder.path().join("4711");
        std::fs::create_dir_all(process.join("ns")).unwrap();
        let rest = "0 ".repeat(17);
        std::fs::write(process.join("stat"), format!("4711 (a ) b) S 0 {rest}777 0")).unwrap();
        std::fs::write(process.join("status"), "Name:\ta\nNSpid:\t4711\t12\t1\n").unwrap();
        std::os::unix::fs::symlink("pid:[4026532000]", process.join("ns/pid")).unwrap();
        let identity = Processes::in_folder(folder.path()).identity(4711).unwrap();
        let expected = Identity { pid: 1, namespace: Some(4_026_532_000), start_ticks: 777 };
        assert_eq!(identity, expected);
    }
}
