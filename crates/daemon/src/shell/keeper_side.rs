//! The keeper speaks, dies and is replaced; the journal is compacted under it.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_keeper::channel::{ChannelError, HoldKey, Message};
use millpond_keeper::daemon_side;
use rustix::process::Signal;

use super::Server;
use super::watcher::Source;

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
        match self.start_keeper() {
            Ok(pid) => {
                tracing::info!(pid, "a new keeper holds everything");
                self.pond.keeper_replaced(&mut self.world, pid);
            }
            Err(text) => {
                // Serving without a keeper loses nothing while this process lives.
                tracing::error!("no new keeper: {text}; trying again");
                self.world.keeper_hung = true;
            }
        }
    }

    fn start_keeper(&mut self) -> Result<u32, String> {
        let holds = self.world.held.iter().map(|(key, fd)| (key.clone(), fd.as_fd()));
        let started = daemon_side::spawn_keeper(&self.keeper, self.epoch, &self.config, holds)
            .map_err(|error| error.to_string())?;
        let pid = started.child.id();
        let failed = |error: std::io::Error| error.to_string();
        self.keeper_token =
            self.world.watcher.add(&started.pidfd, Source::KeeperGone).map_err(failed)?;
        self.channel_token =
            Some(self.world.watcher.add(started.channel.as_fd(), Source::Channel).map_err(failed)?);
        self.keeper_pidfd = started.pidfd;
        self.world.channel = Some(started.channel);
        self.keeper_child = Some(started.child);
        Ok(pid)
    }

    pub(super) fn replace_hung_keeper(&mut self) {
        let signal = Signal::KILL;
        // If it was alive, its pidfd fires and the next one is started then.
        if rustix::process::pidfd_send_signal(&self.keeper_pidfd, signal).is_err()
            && self.world.channel.is_none()
        {
            self.keeper_gone();
        }
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
