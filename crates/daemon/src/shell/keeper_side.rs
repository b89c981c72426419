//! The keeper speaks, dies and is replaced; the journal is compacted under it.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_keeper::channel::{ChannelError, HoldKey, Message};
use millpond_keeper::daemon_side;
use rustix::process::Signal;

use super::Server;
use super::watcher::Source;

/// Pauses before a keeper is tried again that could not be started.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Server {
    pub(super) fn channel_event(&mut self) {
        loop {
            let Some(channel) = &self.world.channel else { return };
            match channel.try_receive() {
                Ok(Some((Message::Ping { number }, _))) => {
                    if let Err(error) = self.world.tell_keeper(&Message::Pong { number }, &[]) {
                        tracing::error!("{error}");
                    }
                }
                Ok(Some((Message::Stop, _))) => self.stop(),
                Ok(Some((message, _))) => {
                    tracing::warn!("the keeper sent something that it should not: {message:?}");
                }
                Ok(None) => return,
                Err(error) => {
                    if !matches!(error, ChannelError::HungUp) {
                        tracing::error!("the keeper's channel: {error}");
                        // A keeper that cannot be told what to hold is none.
                        self.world.keeper_hung = true;
                    }
                    // Whether the keeper is gone, only its pidfd says.
                    self.drop_channel();
                    return;
                }
            }
        }
    }

    fn drop_channel(&mut self) {
        if let (Some(channel), Some(token)) = (self.world.channel.take(), self.channel_token.take())
        {
            self.world.watcher.remove(channel.as_fd(), token);
        }
    }

    fn stop(&mut self) {
        if self.stopping.is_none() {
            tracing::info!("the pond shuts down");
            self.stopping = Some(Instant::now() + Duration::from_secs(self.config.drain_seconds));
            self.pond.drain(&mut self.world);
        }
    }

    /// The keeper is dead: the next one gets everything that it held.
    pub(super) fn keeper_gone(&mut self) {
        let token = self.keeper_token;
        self.world.watcher.remove(&self.keeper_pidfd, token);
        self.drop_channel();
        if let Some(child) = &mut self.keeper_child {
            let _ = child.try_wait();
        }
        if self.stopping.is_some() {
            self.restarting = true;
            return;
        }
        tracing::warn!("the keeper is gone; starting another");
        self.try_keeper(FIRST_PAUSE);
    }

    fn try_keeper(&mut self, pause: Duration) {
        match self.start_keeper() {
            Ok(pid) => {
                tracing::info!(pid, "a new keeper holds everything");
                self.keeper_retry = None;
                self.pond.keeper_replaced(&mut self.world, pid);
            }
            Err(text) => {
                // Serving without a keeper loses nothing while this process lives.
                tracing::error!("no new keeper: {text}; trying again in {pause:?}");
                self.keeper_retry = Some((Instant::now() + pause, (pause * 2).min(LONGEST_PAUSE)));
            }
        }
    }

    /// Ends a keeper that takes no messages, and starts one where there is none.
    pub(super) fn care_for_keeper(&mut self) {
        if std::mem::take(&mut self.world.keeper_hung) {
            // Nothing more is sent to it; when it is gone its pidfd says so.
            self.drop_channel();
            let _ = rustix::process::pidfd_send_signal(&self.keeper_pidfd, Signal::KILL);
        }
        if let Some((at, pause)) = self.keeper_retry
            && Instant::now() >= at
        {
            self.try_keeper(pause);
        }
    }

    fn start_keeper(&mut self) -> Result<u32, String> {
        let holds = self.world.held.iter().map(|(key, fd)| (key.clone(), fd.as_fd()));
        let mut started = daemon_side::spawn_keeper(&self.keeper, self.epoch, &self.config, holds)
            .map_err(|error| error.to_string())?;
        let pid = started.child.id();
        let watcher = &mut self.world.watcher;
        let watched = watcher.add(&started.pidfd, Source::KeeperGone).and_then(|keeper| {
            Ok((keeper, watcher.add(started.channel.as_fd(), Source::Channel)?))
        });
        let (keeper, channel) = watched.map_err(|error| {
            // One that nobody watches must not run beside the next.
            let _ = started.child.kill();
            let _ = started.child.wait();
            error.to_string()
        })?;
        (self.keeper_token, self.channel_token) = (keeper, Some(channel));
        self.keeper_pidfd = started.pidfd;
        self.world.channel = Some(started.channel);
        self.keeper_child = Some(started.child);
        Ok(pid)
    }

    pub(super) fn compact(&mut self) {
        let compacted = self.world.journal.compacted(&self.pond.snapshot());
        let replaced = compacted.map_err(|error| error.to_string()).and_then(|journal| {
            let fd = journal.as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
            self.world
                .hold_key(HoldKey::journal(), Arc::new(fd))
                .map_err(|error| error.to_string())?;
            Ok(journal)
        });
        match replaced {
            Ok(journal) => {
                tracing::debug!(
                    from = self.world.journal.bytes(),
                    to = journal.bytes(),
                    "compacted the journal"
                );
                self.world.journal = journal;
            }
            Err(error) => {
                tracing::warn!("the journal stays as it is: {error}");
                self.world.journal.postpone_compaction();
            }
        }
    }
}
