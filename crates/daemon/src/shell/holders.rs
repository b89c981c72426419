//! Processes without a connection that tensors are held for: one pidfd each, however many holds.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use millpond_wire::process::Process;
use millpond_wire::record::HolderProcess;
use rustix::io::Errno;

use super::watcher::{Source, Watcher};
use crate::descriptors;
use crate::policy::HolderSeen;

#[derive(Debug, Default)]
pub struct Holders {
    /// With their tokens in the watcher.
    watched: BTreeMap<HolderProcess, (u64, Process)>,
}

impl Holders {
    /// Watches the process of this number, if it started then or nothing is known of that.
    pub fn watch(&mut self, watcher: &mut Watcher, pid: u32, started: Option<u64>) -> HolderSeen {
        let any = |started| HolderProcess { pid, started: Some(started) };
        let known = self.watched.range(any(0)..=any(u64::MAX));
        // One that is gone, and whose end has not been told yet, may have had the same number.
        let mut living = known.filter(|(_, (_, process))| !is_gone(process));
        let seen = match living.next() {
            Some((process, _)) => process.started.map_or(HolderSeen::NoSuch, HolderSeen::Watched),
            None => self.open(watcher, pid, started),
        };
        match seen {
            HolderSeen::Watched(is) if started.is_some_and(|was| was != is) => HolderSeen::NoSuch,
            seen => seen,
        }
    }

    fn open(&mut self, watcher: &mut Watcher, pid: u32, wanted: Option<u64>) -> HolderSeen {
        let process = match Process::open(pid) {
            Ok(process) => process,
            Err(error) if is_short(&error) => return HolderSeen::Short(error.to_string()),
            Err(_) => return HolderSeen::NoSuch,
        };
        let started = match process.started() {
            Ok(started) => started,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return HolderSeen::NoSuch,
            Err(error) => return HolderSeen::Short(format!("when it started: {error}")),
        };
        if wanted.is_some_and(|wanted| wanted != started) {
            return HolderSeen::NoSuch;
        }
        if let Err(short) = descriptors::may_hold(&process) {
            return HolderSeen::Short(short.to_string());
        }
        let key = HolderProcess { pid, started: Some(started) };
        match watcher.add(&process, Source::HolderGone(key)) {
            Ok(token) => {
                self.watched.insert(key, (token, process));
                HolderSeen::Watched(started)
            }
            Err(error) => HolderSeen::Short(error.to_string()),
        }
    }

    /// How many are watched.
    #[must_use]
    pub fn len(&self) -> usize {
        self.watched.len()
    }

    pub fn unwatch(&mut self, watcher: &mut Watcher, process: HolderProcess) {
        if let Some((token, process)) = self.watched.remove(&process) {
            watcher.remove(&process, token);
        }
    }
}

fn is_gone(process: &Process) -> bool {
    process.wait(Duration::ZERO).unwrap_or(false)
}

/// Another time there may be enough.
fn is_short(error: &io::Error) -> bool {
    let short = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    short.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use rustix::event::Timespec;

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    #[test]
    fn a_process_is_watched_once_and_its_end_is_told() {
        let (mut holders, mut watcher) = (Holders::default(), Watcher::new().unwrap());
        let mut child = sleeper();
        let HolderSeen::Watched(started) = holders.watch(&mut watcher, child.id(), None) else {
            panic!("not watched");
        };
        let seen = HolderSeen::Watched(started);
        assert_eq!(holders.watch(&mut watcher, child.id(), None), seen);
        assert_eq!(holders.watch(&mut watcher, child.id(), Some(started)), seen);
        assert_eq!(holders.watched.len(), 1);
        let other = holders.watch(&mut watcher, child.id(), Some(started + 1));
        assert_eq!(other, HolderSeen::NoSuch, "its number is another's now");
        child.kill().unwrap();
        let mut events = Vec::with_capacity(4);
        let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
        watcher.wait(&mut events, Some(&patience)).unwrap();
        let process = HolderProcess { pid: child.id(), started: Some(started) };
        let source = watcher.source(events[0].data.u64());
        assert_eq!(source, Some(Source::HolderGone(process)));
        // Not reaped yet, and no process any more.
        assert_eq!(holders.watch(&mut watcher, child.id(), None), HolderSeen::NoSuch);
        child.wait().unwrap();
        assert_eq!(holders.watch(&mut watcher, child.id(), None), HolderSeen::NoSuch);
        holders.unwatch(&mut watcher, process);
        assert!(holders.watched.is_empty());
    }
}
