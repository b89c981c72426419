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
    /// The program.
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
}

impl MoverProcesses {
    pub(super) fn new(launch: MoverLaunch) -> Self {
        Self { launch, running: HashMap::new(), ended: Vec::new(), news: Vec::new() }
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
                    if !matches!(error, ChannelError::HungUp) {
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
