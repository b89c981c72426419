//! Movers are started, told, heard and reaped.

use std::collections::{HashMap, VecDeque};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use millpond_cuda::DriverChoice;
use millpond_keeper::Launch;
use millpond_mover::channel::{ChannelError, DaemonEnd, FromMover, ToMover};
use millpond_wire::{Epoch, GpuUuid};

use super::Server;
use super::watcher::{Source, Watcher};
use crate::driver::SharedFd;

/// How movers are started.
#[derive(Clone, Debug)]
pub struct MoverLaunch {
    pub launch: Launch,
    /// The driver that the pond serves, as it is set.
    pub driver: String,
    /// The epoch of this daemon.
    pub epoch: Epoch,
}

/// What became of a start.
pub(super) enum News {
    Started { device: GpuUuid, pid: u32, pidfd: SharedFd },
    NotStarted { device: GpuUuid, text: String },
}

/// One process and the channel to it.
struct Process {
    child: Child,
    channel: DaemonEnd,
    token: u64,
    /// What its socket had no room for.
    unsent: VecDeque<(ToMover, Option<SharedFd>)>,
}

/// A mover that was started before anybody wanted one. It has opened the driver, which takes as long
/// as making a context and takes no memory of a GPU; for which GPU it is, it learns when it is wanted.
/// It holds nothing and has promised nothing: its death costs the next mover its head start.
struct Spare {
    child: Child,
    pidfd: OwnedFd,
    channel: DaemonEnd,
    token: u64,
}

/// The movers of this daemon.
pub struct MoverProcesses {
    launch: MoverLaunch,
    running: HashMap<GpuUuid, Process>,
    spare: Option<Spare>,
    /// Ended, and not reaped yet.
    ended: Vec<Child>,
    /// What the policy does not know yet.
    pub(super) news: Vec<News>,
    /// A mover of another version was met, and that was logged.
    told_of_version: bool,
}

impl MoverProcesses {
    pub(super) fn new(launch: MoverLaunch) -> Self {
        Self {
            launch,
            running: HashMap::new(),
            spare: None,
            ended: Vec::new(),
            news: Vec::new(),
            told_of_version: false,
        }
    }

    pub(super) fn start(&mut self, watcher: &mut Watcher, device: GpuUuid) {
        self.let_go(watcher, device);
        let news = match self.spawn(watcher, device) {
            Ok((pid, pidfd)) => News::Started { device, pid, pidfd },
            Err(text) => News::NotStarted { device, text },
        };
        self.news.push(news);
    }

    fn spawn(&mut self, watcher: &mut Watcher, device: GpuUuid) -> Result<(u32, SharedFd), String> {
        let Spare { child, pidfd, channel, token } = match self.take_spare(watcher) {
            Some(spare) => spare,
            None => self.launch(watcher)?,
        };
        watcher.rename(token, Source::Mover(device));
        let (pid, epoch) = (child.id(), self.launch.epoch);
        let start = ToMover::Start { epoch, device, threads: 0, block_bytes: 0, depth: 0 };
        let unsent = VecDeque::from([(start, None)]);
        self.running.insert(device, Process { child, channel, token, unsent });
        self.flush(device);
        Ok((pid, Arc::new(pidfd)))
    }

    /// Starts a process that is for no GPU yet.
    fn launch(&self, watcher: &mut Watcher) -> Result<Spare, String> {
        let MoverLaunch { launch, driver, .. } = &self.launch;
        let (channel, theirs) = DaemonEnd::pair().map_err(|error| error.to_string())?;
        let started = launch.spawn(&theirs, |command| {
            command.env(DriverChoice::VARIABLE, driver).stdout(Stdio::null());
        });
        let (mut child, pidfd) =
            started.map_err(|error| format!("starting '{}': {error}", launch.program.display()))?;
        let token = watcher.add(&channel, Source::SpareMover).map_err(|error| {
            // One that nobody hears must not run.
            let _ = child.kill();
            let _ = child.wait();
            error.to_string()
        })?;
        Ok(Spare { child, pidfd, channel, token })
    }

    /// Has a mover waiting for whoever wants one next. Where none can be started, the next one is
    /// started when it is wanted, and says then what is wrong.
    pub(super) fn keep_spare(&mut self, watcher: &mut Watcher) {
        if self.spare.is_none() {
            match self.launch(watcher) {
                Ok(spare) => self.spare = Some(spare),
                Err(text) => tracing::debug!("no mover is kept ready: {text}"),
            }
        }
    }

    /// The spare mover, if it lives.
    fn take_spare(&mut self, watcher: &mut Watcher) -> Option<Spare> {
        let mut spare = self.spare.take()?;
        if let Ok(None) = spare.child.try_wait() {
            return Some(spare);
        }
        watcher.remove(&spare.channel, spare.token);
        None
    }

    /// The spare mover has hung up, or speaks before it was spoken to. Another one would do no better
    /// now: the next is started when a mover has ended.
    pub(super) fn spare_gone(&mut self, watcher: &mut Watcher) {
        if let Some(spare) = self.spare.take() {
            watcher.remove(&spare.channel, spare.token);
            self.ended.push(spare.child);
        }
    }

    pub(super) fn tell(&mut self, device: GpuUuid, message: ToMover, fd: Option<SharedFd>) {
        if let Some(process) = self.running.get_mut(&device) {
            process.unsent.push_back((message, fd));
            self.flush(device);
        }
    }

    fn flush(&mut self, device: GpuUuid) {
        let Some(process) = self.running.get_mut(&device) else { return };
        while let Some((message, fd)) = process.unsent.front() {
            let fd = fd.as_ref().map(|fd| fd.as_fd());
            match process.channel.send_within(message, fd, Duration::ZERO) {
                Ok(()) => {
                    process.unsent.pop_front();
                }
                Err(ChannelError::HungPeer { .. }) => return,
                // Its end is told by the channel and the pidfd.
                Err(error) => {
                    tracing::debug!("the mover of {device}: {error}");
                    process.unsent.clear();
                }
            }
        }
    }

    /// Sends what waited for room; true if something still does.
    pub(super) fn flush_all(&mut self) -> bool {
        let waiting: Vec<GpuUuid> = self
            .running
            .iter()
            .filter(|(_, process)| !process.unsent.is_empty())
            .map(|(device, _)| *device)
            .collect();
        for device in waiting {
            self.flush(device);
        }
        self.ended.retain_mut(|child| !matches!(child.try_wait(), Ok(Some(_))));
        self.is_behind()
    }

    /// Whether something waits for room.
    pub(super) fn is_behind(&self) -> bool {
        self.running.values().any(|process| !process.unsent.is_empty())
    }

    fn hear(&self, device: GpuUuid) -> Result<Option<(FromMover, Option<OwnedFd>)>, ChannelError> {
        self.running.get(&device).map_or(Ok(None), |process| process.channel.try_receive())
    }

    /// Ends a mover that speaks another version, which may not know that a closed channel is its end.
    fn end_of_another_version(&mut self, device: GpuUuid, error: &ChannelError) {
        if let Some(process) = self.running.get_mut(&device) {
            // It may be gone already.
            let _ = process.child.kill();
        }
        if !std::mem::replace(&mut self.told_of_version, true) {
            let program = self.launch.launch.program.display();
            tracing::error!("the mover of {device} is ended: {error}; '{program}' was replaced");
        }
    }

    /// Closes the channel, which ends the mover.
    fn let_go(&mut self, watcher: &mut Watcher, device: GpuUuid) {
        if let Some(process) = self.running.remove(&device) {
            watcher.remove(&process.channel, process.token);
            self.ended.push(process.child);
        }
    }
}

impl Server {
    pub(super) fn mover_event(&mut self, device: GpuUuid) {
        // Who speaks is introduced first.
        self.mover_news();
        loop {
            match self.world.movers.hear(device) {
                Ok(Some((said, fd))) => {
                    let fd = fd.map(Arc::new);
                    self.pond.mover_said(&mut self.world, device, said, fd);
                }
                Ok(None) => return,
                Err(error) => {
                    if let ChannelError::Version { .. } = error {
                        self.world.movers.end_of_another_version(device, &error);
                        let said = FromMover::Failed { text: error.to_string() };
                        self.pond.mover_said(&mut self.world, device, said, None);
                    } else if !matches!(error, ChannelError::HungUp) {
                        tracing::error!("the mover of {device}: {error}");
                    }
                    self.world.movers.let_go(&mut self.world.watcher, device);
                    self.world.movers.keep_spare(&mut self.world.watcher);
                    self.pond.mover_hung_up(&mut self.world, device);
                    return;
                }
            }
        }
    }

    /// What movers have said is heard before one of them counts as gone: done is done.
    pub(super) fn hear_movers(&mut self) {
        let devices: Vec<GpuUuid> = self.world.movers.running.keys().copied().collect();
        for device in devices {
            self.mover_event(device);
        }
    }

    pub(super) fn mover_news(&mut self) {
        for news in std::mem::take(&mut self.world.movers.news) {
            match news {
                News::Started { device, pid, pidfd } => {
                    self.pond.mover_started(&mut self.world, device, pid, pidfd);
                }
                News::NotStarted { device, text } => {
                    self.pond.mover_not_started(&mut self.world, device, &text);
                }
            }
        }
        self.world.movers.flush_all();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// Says that it is ready in words of version 9, and does not end by itself.
    const STRANGER: &str = "#!/bin/sh\nprintf '\\040\\011\\0\\0\\0more' >&0\nexec sleep 600\n";

    /// What waits until it is ended.
    const SLEEPER: &str = "#!/bin/sh\nexec sleep 600\n";

    /// Movers that are this script.
    fn movers(folder: &Path, script: &str) -> MoverProcesses {
        let program = folder.join("mover");
        // By another process: a descriptor for writing that a child of another test has keeps the
        // kernel from starting it.
        let make = "cat >\"$1\"";
        let mut writer = Command::new("sh")
            .args(["-c", make, "sh"])
            .arg(&program)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success());
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let launch = Launch::new(program, Vec::new());
        MoverProcesses::new(MoverLaunch { launch, driver: "soft".to_owned(), epoch: Epoch(1) })
    }

    /// The mover that was started since the last time.
    fn started(movers: &mut MoverProcesses) -> u32 {
        match movers.news.pop() {
            Some(News::Started { pid, .. }) => pid,
            Some(News::NotStarted { text, .. }) => panic!("{text}"),
            None => panic!("nothing was started"),
        }
    }

    fn end(mut movers: MoverProcesses) {
        let running = movers.running.drain().map(|(_, process)| process.child);
        let others = movers.ended.drain(..).chain(movers.spare.take().map(|spare| spare.child));
        for mut child in running.chain(others) {
            let _ = child.kill();
            child.wait().unwrap();
        }
    }

    #[test]
    fn the_mover_that_waits_is_the_one_that_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let mut movers = movers(folder.path(), SLEEPER);
        let mut watcher = Watcher::new().unwrap();
        movers.keep_spare(&mut watcher);
        movers.keep_spare(&mut watcher);
        let spare = movers.spare.as_ref().map(|spare| (spare.child.id(), spare.token)).unwrap();
        assert_eq!(watcher.source(spare.1), Some(Source::SpareMover));
        let (one, other) = (GpuUuid([7; 16]), GpuUuid([8; 16]));
        movers.start(&mut watcher, one);
        assert_eq!(started(&mut movers), spare.0);
        assert_eq!(watcher.source(spare.1), Some(Source::Mover(one)));
        assert!(movers.running[&one].unsent.is_empty(), "it was told for which GPU it is");
        // There is one for all GPUs: the second mover starts from the beginning.
        movers.start(&mut watcher, other);
        assert_ne!(started(&mut movers), spare.0);
        end(movers);
    }

    #[test]
    fn a_mover_that_died_before_it_was_wanted_is_replaced_when_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut movers = movers(folder.path(), SLEEPER);
        let mut watcher = Watcher::new().unwrap();
        let device = GpuUuid([7; 16]);
        // Its end was not heard yet, or was.
        for heard in [false, true] {
            movers.keep_spare(&mut watcher);
            let spare = movers.spare.as_mut().unwrap();
            let (dead, token) = (spare.child.id(), spare.token);
            spare.child.kill().unwrap();
            spare.child.wait().unwrap();
            if heard {
                movers.spare_gone(&mut watcher);
                assert!(movers.spare.is_none(), "another would do no better");
            }
            movers.start(&mut watcher, device);
            assert_ne!(started(&mut movers), dead);
            assert_eq!(watcher.source(token), None);
        }
        end(movers);
    }

    #[test]
    fn a_mover_of_another_version_is_ended_and_logged_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut movers = movers(folder.path(), STRANGER);
        let mut watcher = Watcher::new().unwrap();
        let device = GpuUuid([7; 16]);
        movers.start(&mut watcher, device);
        let error = loop {
            match movers.hear(device) {
                Ok(None) => std::thread::yield_now(),
                Ok(Some(said)) => panic!("{said:?}"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, ChannelError::Version { theirs: 9, .. }), "{error}");
        assert!(!movers.told_of_version);
        movers.end_of_another_version(device, &error);
        assert!(movers.told_of_version);
        movers.let_go(&mut watcher, device);
        let ended = movers.ended[0].wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(9));
    }
}
