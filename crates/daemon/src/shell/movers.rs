//! Movers are started, told, heard and reaped.

use std::collections::{HashMap, VecDeque};
use std::os::fd::AsFd;
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

/// The movers of this daemon.
pub struct MoverProcesses {
    launch: MoverLaunch,
    running: HashMap<GpuUuid, Process>,
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
        let MoverLaunch { launch, driver, epoch } = &self.launch;
        let (channel, theirs) = DaemonEnd::pair().map_err(|error| error.to_string())?;
        let started = launch.spawn(&theirs, |command| {
            command.env(DriverChoice::VARIABLE, driver).stdout(Stdio::null());
        });
        let (mut child, pidfd) =
            started.map_err(|error| format!("starting '{}': {error}", launch.program.display()))?;
        let token = watcher.add(&channel, Source::Mover(device)).map_err(|error| {
            // One that nobody hears must not run.
            let _ = child.kill();
            let _ = child.wait();
            error.to_string()
        })?;
        let pid = child.id();
        let start = ToMover::Start { epoch: *epoch, device, threads: 0, block_bytes: 0, depth: 0 };
        let unsent = VecDeque::from([(start, None)]);
        self.running.insert(device, Process { child, channel, token, unsent });
        self.flush(device);
        Ok((pid, Arc::new(pidfd)))
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

    fn hear(&self, device: GpuUuid) -> Result<Option<FromMover>, ChannelError> {
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
                Ok(Some(said)) => self.pond.mover_said(&mut self.world, device, said),
                Ok(None) => return,
                Err(error) => {
                    if let ChannelError::Version { .. } = error {
                        self.world.movers.end_of_another_version(device, &error);
                        let said = FromMover::Failed { text: error.to_string() };
                        self.pond.mover_said(&mut self.world, device, said);
                    } else if !matches!(error, ChannelError::HungUp) {
                        tracing::error!("the mover of {device}: {error}");
                    }
                    self.world.movers.let_go(&mut self.world.watcher, device);
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
    use std::process::Command;

    use super::*;

    /// Says that it is ready in words of version 9, and does not end by itself.
    const STRANGER: &str = "#!/bin/sh\nprintf '\\040\\011\\0\\0\\0more' >&0\nexec sleep 600\n";

    #[test]
    fn a_mover_of_another_version_is_ended_and_logged_once() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("stranger");
        // By another process: a descriptor for writing that a child of another test has keeps the
        // kernel from starting it.
        let make = "cat >\"$1\"";
        let mut writer = Command::new("sh")
            .args(["-c", make, "sh"])
            .arg(&program)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        writer.stdin.take().unwrap().write_all(STRANGER.as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success());
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let launch = Launch::new(program, Vec::new());
        let launch = MoverLaunch { launch, driver: "soft".to_owned(), epoch: Epoch(1) };
        let (mut movers, mut watcher) = (MoverProcesses::new(launch), Watcher::new().unwrap());
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
