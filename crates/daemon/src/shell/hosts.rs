//! Hosts are started, found again, told, heard and reaped.

use std::collections::{HashMap, VecDeque};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use millpond_cuda::DriverChoice;
use millpond_host::channel::{ChannelError, DaemonEnd, FromHost, ToHost};
use millpond_keeper::Launch;
use millpond_wire::HostId;

use super::Server;
use super::watcher::{Source, Watcher};
use crate::driver::SharedFd;

/// How hosts are started.
#[derive(Clone, Debug)]
pub struct HostLaunch {
    pub launch: Launch,
    /// The driver that the pond serves, as it is set.
    pub driver: String,
}

/// What became of a start.
enum News {
    Started { host: HostId, pid: u32, pidfd: SharedFd, channel: SharedFd },
    NotStarted { host: HostId, text: String },
}

/// The channel to one host, which may be older than this process.
struct Line {
    channel: DaemonEnd,
    token: u64,
    /// What its socket had no room for.
    unsent: VecDeque<ToHost>,
}

/// The hosts of this pond, as far as this daemon speaks to them.
pub struct HostProcesses {
    launch: HostLaunch,
    lines: HashMap<HostId, Line>,
    /// Those that this process started: somebody has to reap them.
    children: HashMap<HostId, Child>,
    /// Heard for the last time, and not reaped yet.
    ended: Vec<Child>,
    news: Vec<News>,
}

impl HostProcesses {
    pub(super) fn new(launch: HostLaunch) -> Self {
        Self {
            launch,
            lines: HashMap::new(),
            children: HashMap::new(),
            ended: Vec::new(),
            news: Vec::new(),
        }
    }

    pub(super) fn start(&mut self, watcher: &mut Watcher, host: HostId) {
        let news = self.spawn(watcher, host).unwrap_or_else(|text| News::NotStarted { host, text });
        self.news.push(news);
    }

    fn spawn(&mut self, watcher: &mut Watcher, host: HostId) -> Result<News, String> {
        let HostLaunch { launch, driver } = &self.launch;
        let (channel, theirs) = DaemonEnd::pair().map_err(|error| error.to_string())?;
        let copy = channel.try_clone_fd().map_err(|error| error.to_string())?;
        let started = launch.spawn(&theirs, |command| {
            command.env(DriverChoice::VARIABLE, driver).stdout(Stdio::null());
        });
        let (child, pidfd) =
            started.map_err(|error| format!("starting '{}': {error}", launch.program.display()))?;
        let pid = child.id();
        if let Err(text) = self.listen(watcher, host, channel) {
            // One that nobody hears ends with its channel.
            self.ended.push(child);
            return Err(text);
        }
        self.children.insert(host, child);
        Ok(News::Started { host, pid, pidfd: Arc::new(pidfd), channel: Arc::new(copy) })
    }

    /// Goes on where an earlier daemon has ended.
    pub(super) fn adopt(&mut self, watcher: &mut Watcher, host: HostId, channel: &SharedFd) {
        let copied = channel.try_clone().map_err(|error| error.to_string());
        let heard = copied.and_then(|fd| self.listen(watcher, host, DaemonEnd::new(fd)));
        if let Err(text) = heard {
            tracing::error!(%host, "a host cannot be heard: {text}");
        }
    }

    fn listen(
        &mut self,
        watcher: &mut Watcher,
        host: HostId,
        channel: DaemonEnd,
    ) -> Result<(), String> {
        let token = watcher.add(&channel, Source::Host(host)).map_err(|error| error.to_string())?;
        self.lines.insert(host, Line { channel, token, unsent: VecDeque::new() });
        Ok(())
    }

    pub(super) fn tell(&mut self, host: HostId, message: ToHost) {
        if let Some(line) = self.lines.get_mut(&host) {
            line.unsent.push_back(message);
            line.flush(host);
        }
    }

    pub(super) fn close(&mut self, watcher: &mut Watcher, host: HostId) {
        if let Some(line) = self.lines.remove(&host) {
            watcher.remove(&line.channel, line.token);
        }
        self.ended.extend(self.children.remove(&host));
    }

    /// Whether something is to be told to the policy or to a host.
    pub(super) fn has_to_do(&self) -> bool {
        !self.news.is_empty() || self.lines.values().any(|line| !line.unsent.is_empty())
    }

    fn hear(&self, host: HostId) -> Result<Option<FromHost>, ChannelError> {
        self.lines.get(&host).map_or(Ok(None), |line| line.channel.try_receive())
    }

    fn flush_and_reap(&mut self) {
        for (host, line) in &mut self.lines {
            line.flush(*host);
        }
        self.ended.retain_mut(|child| !matches!(child.try_wait(), Ok(Some(_))));
    }
}

impl Line {
    fn flush(&mut self, host: HostId) {
        while let Some(message) = self.unsent.front() {
            match self.channel.send_within(message, Duration::ZERO) {
                Ok(()) => {
                    self.unsent.pop_front();
                }
                Err(ChannelError::HungPeer { .. }) => return,
                // Its end is told by the channel and the pidfd.
                Err(error) => {
                    tracing::debug!(%host, "a host: {error}");
                    self.unsent.clear();
                }
            }
        }
    }
}

impl Server {
    pub(super) fn host_event(&mut self, host: HostId) {
        loop {
            match self.world.hosts.hear(host) {
                Ok(Some(said)) => self.pond.host_said(&mut self.world, host, said),
                Ok(None) => return,
                Err(error) => {
                    if !matches!(error, ChannelError::HungUp) {
                        tracing::error!(%host, "a host: {error}");
                    }
                    if let ChannelError::Malformed(_) | ChannelError::Invalid(_) = error {
                        // That one message is gone; what it keeps is worth more.
                        continue;
                    }
                    self.world.hosts.close(&mut self.world.watcher, host);
                    self.pond.host_hung_up(&mut self.world, host);
                    return;
                }
            }
        }
    }

    pub(super) fn host_news(&mut self) {
        for news in std::mem::take(&mut self.world.hosts.news) {
            match news {
                News::Started { host, pid, pidfd, channel } => {
                    self.pond.host_started(&mut self.world, host, pid, pidfd, &channel);
                }
                News::NotStarted { host, text } => {
                    self.pond.host_not_started(&mut self.world, host, &text);
                }
            }
        }
        self.world.hosts.flush_and_reap();
    }
}
