//! The keeper speaks, dies and is replaced; the journal is compacted under it.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_keeper::channel::{ChannelError, HoldKey, Holding, Message};
use millpond_keeper::daemon_side;
use millpond_wire::socket::{self, SocketError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::Server;
use super::watcher::Source;
use crate::book;
use crate::policy::KeeperRoom;

/// Pauses before a keeper is tried again that could not be started.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How long replies may take that are waiting when another daemon takes over. Whoever does not read
/// asks again.
const FLUSH_WITHIN: Duration = Duration::from_millis(250);
/// How long the book thread may take to end then. It waits for locks itself, for no longer than a
/// part of this.
const BOOK_WITHIN: Duration = Duration::from_secs(2);
/// How long the next daemon may take to serve after the keeper's death.
const ALONE_FOR: Duration = Duration::from_secs(5);

impl Server {
    pub(super) fn channel_event(&mut self) {
        loop {
            let Some(channel) = self.world.keeper.channel() else { return };
            match channel.try_receive() {
                Ok(Some((Message::Ping { number }, _))) => {
                    if let Err(error) = self.world.keeper.tell(Message::Pong { number }) {
                        tracing::error!("{error}");
                    }
                    self.look_around();
                }
                Ok(Some((Message::Stop, _))) => self.stop(),
                Ok(Some((Message::HandOver, mut fds))) => {
                    // Exactly one comes along, or the channel would have refused the message.
                    if let Some(successor) = fds.pop() {
                        return self.hand_over(&successor);
                    }
                }
                Ok(Some((Message::UpgradeRefused { reason }, _))) => {
                    self.pond.upgrade_refused(&mut self.world, &reason);
                }
                Ok(Some((message, _))) => {
                    tracing::warn!("the keeper sent an unexpected message: {message:?}");
                }
                Ok(None) => return,
                // Only a hand-over has one; the keeper sees that nothing comes of it.
                Err(ChannelError::Socket(SocketError::OutOfDescriptors)) => {
                    tracing::error!("no descriptor is left for what the keeper sent");
                }
                Err(error) => {
                    if !matches!(error, ChannelError::HungUp) {
                        tracing::error!("the keeper's channel: {error}");
                        // A keeper that cannot be told what to hold is none.
                        self.world.keeper.give_up();
                    }
                    // Whether the keeper is gone, only its pidfd says.
                    self.drop_channel();
                    return;
                }
            }
        }
    }

    fn drop_channel(&mut self) {
        if let (Some(channel), Some(token)) =
            (self.world.keeper.disconnect(), self.channel_token.take())
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

    /// Ends a keeper that takes no messages, and starts one where there is none. What waited for
    /// room goes on when there is some.
    pub(super) fn care_for_keeper(&mut self) {
        self.world.keeper.care();
        if self.pond.awaits_keeper() {
            self.pond.keeper_has_room(&mut self.world);
        }
        if let Some(token) = self.channel_token
            && let Some(wants_room) = self.world.keeper.interest()
            && let Some(channel) = self.world.keeper.channel()
        {
            self.world.watcher.change(channel.as_fd(), token, (true, wants_room));
        }
        if self.world.keeper.take_hung() {
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

    /// When to care for the keeper again because something waits for room.
    pub(super) fn keeper_room_at(&self) -> Option<Instant> {
        let is_awaited = self.pond.awaits_keeper();
        if is_awaited && self.world.keeper.room() != KeeperRoom::None {
            return Some(Instant::now());
        }
        self.world.keeper.next(is_awaited)
    }

    fn start_keeper(&mut self) -> Result<u32, String> {
        let holds = self.world.held.iter().map(|(key, (backing, fd))| {
            (Holding { key: key.clone(), backing: *backing }, fd.as_fd())
        });
        let mut started = daemon_side::spawn_keeper(&self.keeper, self.epoch, &self.config, holds)
            .map_err(|error| error.in_full())?;
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
        self.world.keeper.connect(started.channel);
        self.keeper_child = Some(started.child);
        Ok(pid)
    }

    /// Tells the keeper, and a daemon that waits for this one, that clients are served.
    /// If the keeper cannot be told now, it is told with one of the next rounds.
    pub(super) fn announce(&mut self) {
        // A first daemon that may not have its GPUs ends before it has ever served; a later one
        // serves what is held, driver or not.
        let serves = self.pond.has_driver() || !self.first;
        if serves && self.fatal.is_none() && !std::mem::replace(&mut self.announced, true) {
            if let Err(error) = self.world.keeper.tell(Message::Serving) {
                tracing::error!("{error}");
                self.announced = false;
                return;
            }
            if let Some((_, before)) = self.world.held.remove(&HoldKey::handover()) {
                // The keeper says so too; it may be dead.
                let _ = socket::send(&*before, b"serving", &[], false);
            }
        }
    }

    /// Another program takes over. Clients are cut off and come back; what they had asked for and
    /// was not answered, they ask again. This process changes nothing from now on, and stays with
    /// everything that it holds until the next daemon has it too.
    fn hand_over(&mut self, successor: &OwnedFd) {
        tracing::info!("the daemon hands over to another program");
        // Before the next daemon looks at the groups' folders, which it does once.
        if !self.world.book.end(book::Ask::Stop, BOOK_WITHIN) {
            tracing::error!("the groups are still being changed; the next daemon may miss it");
        }
        // What it has done is answered: not everything may be asked twice.
        self.book_event();
        let deadline = Instant::now() + FLUSH_WITHIN;
        loop {
            let waiting = self.world.conns.iter().filter(|(_, conn)| conn.backlog() > 0);
            let waiting: Vec<_> = waiting.map(|(id, _)| *id).collect();
            for id in &waiting {
                self.world.flush(*id);
            }
            if waiting.is_empty() || Instant::now() >= deadline {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        for id in self.world.conns.keys().copied().collect::<Vec<_>>() {
            self.world.remove_conn(id);
        }
        if let Err(error) = self.world.keeper.tell_at_last(Message::HandedOver) {
            tracing::error!("{error}");
        }
        self.drop_channel();
        self.restarting = true;
        if self.is_succeeded(successor) {
            tracing::info!("the next daemon serves");
        } else {
            tracing::warn!("neither the keeper nor the next daemon is running");
            self.leave_to_a_keeper();
        }
    }

    /// Waits until the next daemon serves, or neither it nor the keeper is left. Without a keeper
    /// nobody else ends a daemon that hangs.
    fn is_succeeded(&self, successor: &OwnedFd) -> bool {
        let mut next: Option<OwnedFd> = None;
        let mut alone_since: Option<Instant> = None;
        loop {
            match socket::receive(successor, &mut [0; 64], false) {
                Ok(Some(received)) => match received.fds.into_iter().next() {
                    Some(pidfd) => next = Some(pidfd),
                    None => return true,
                },
                Ok(None) => {
                    let mut polled = vec![PollFd::new(successor, PollFlags::IN)];
                    if alone_since.is_none() {
                        polled.push(PollFd::new(&self.keeper_pidfd, PollFlags::IN));
                    }
                    let _ = poll(&mut polled, Some(&Timespec { tv_sec: 1, tv_nsec: 0 }));
                    if polled.get(1).is_some_and(|keeper| !keeper.revents().is_empty()) {
                        alone_since = Some(Instant::now());
                    }
                }
                Err(_) => return false,
            }
            if alone_since.is_some_and(|since| since.elapsed() >= ALONE_FOR)
                && let Some(pidfd) = next.take()
            {
                tracing::error!("the next daemon does not serve and is killed");
                let _ = rustix::process::pidfd_send_signal(pidfd, Signal::KILL);
            }
        }
    }

    /// A new keeper gets everything, and starts the next daemon when this one has ended.
    fn leave_to_a_keeper(&mut self) {
        let mut pause = FIRST_PAUSE;
        while let Err(text) = self.start_keeper() {
            tracing::error!("no new keeper: {text}; trying again in {pause:?}");
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
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
