//! The loop while one daemon lives.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use millpond_wire::socket::SocketError;
use rustix::event::{PollFd, PollFlags};

use super::daemon::Daemon;
use super::upgrade::Upgrade;
use super::watchdog::{TICK, Tick};
use super::{ExitReason, FAILURE_PAUSE, Keeper, systemd, wait};
use crate::channel::{ChannelError, Message};

/// Added to `drain_seconds`: the daemon stops draining by itself and needs a moment to leave.
const DRAIN_GRACE: Duration = Duration::from_secs(2);
/// How long a killed daemon may take to go; one that hangs inside a driver call may never.
const KILL_GRACE: Duration = Duration::from_secs(5);
/// Messages taken in one turn of the loop, so that signals and the watchdog get theirs.
const MESSAGES_PER_TURN: usize = 256;

/// A process and its group are often signalled together: that is one request.
const SAME_SIGNAL: Duration = Duration::from_secs(1);

/// A stop that was asked for.
struct Stopping {
    /// When it was asked for.
    since: Instant,
    /// When the next step is due.
    until: Instant,
    killed: bool,
}

/// How the loop with one daemon ended.
pub(super) enum Left {
    /// The daemon is gone.
    Gone,
    /// The daemon is there, but serves nobody any more.
    HandedOver,
    /// A stop that was asked for is done.
    Stopped(ExitReason),
}

#[derive(Default)]
struct Ready {
    gone: bool,
    signal: bool,
    channel: bool,
    checked: bool,
}

impl Keeper {
    /// Until the daemon is gone, has handed over, or a stop that was asked for has ended. Its pidfd
    /// alone says that it is gone; a closed channel does not.
    pub(super) fn serve(&mut self, daemon: &mut Daemon) -> Left {
        let mut stopping: Option<Stopping> = None;
        let mut next_tick = Instant::now();
        loop {
            let stop = stopping.as_ref().map(|stop| stop.until);
            let due = stop.into_iter().chain(self.upgrade_due()).fold(next_tick, Instant::min);
            let ready = self.poll(daemon, due);
            if ready.gone {
                // Everything it sent before it died is in the queue by now, and counts.
                let waits = |keeper: &Keeper| {
                    keeper.short && stopping.is_none() && !keeper.signalled_within(Duration::ZERO)
                };
                while self.take_message(daemon) || waits(self) {}
                return match stopping {
                    Some(Stopping { killed: true, .. }) => Left::Stopped(ExitReason::Killed),
                    Some(_) => Left::Stopped(ExitReason::Stopped),
                    None => Left::Gone,
                };
            }
            if ready.channel {
                for _ in 0..MESSAGES_PER_TURN {
                    if !self.take_message(daemon) {
                        break;
                    }
                }
            }
            if daemon.handed_over && stopping.is_none() {
                return Left::HandedOver;
            }
            if ready.signal {
                self.signals.clear();
                stopping = Some(self.stop(daemon, stopping.take()));
            }
            if daemon.handed_over && stopping.is_some() {
                // It waits for a successor that will not come.
                daemon.kill();
            }
            let now = Instant::now();
            if let Some(stop) = stopping.as_mut().filter(|stop| now >= stop.until) {
                if stop.killed {
                    tracing::error!("daemon {} cannot be killed; it is left behind", daemon.pid);
                    return Left::Stopped(ExitReason::Killed);
                }
                tracing::warn!("daemon {} did not stop in time and is killed", daemon.pid);
                daemon.kill();
                *stop = Stopping { until: now + KILL_GRACE, killed: true, ..*stop };
            }
            if now >= next_tick {
                next_tick = now + TICK;
                systemd::alive();
                self.holds.flush();
                self.care_for_bystander();
                self.opener.look();
                if stopping.is_none() {
                    self.watch(daemon);
                }
            }
            if stopping.is_none() {
                self.care_for_upgrade(daemon, ready.checked);
            }
        }
    }

    fn poll(&self, daemon: &Daemon, due: Instant) -> Ready {
        let mut polled = vec![
            PollFd::new(&daemon.pidfd, PollFlags::IN),
            PollFd::new(&self.signals, PollFlags::IN),
        ];
        // A closed channel would be ready for ever.
        if daemon.open {
            polled.push(PollFd::from_borrowed_fd(daemon.channel.as_fd(), PollFlags::IN));
        }
        if let Upgrade::Checking(check) = &self.upgrade {
            polled.push(PollFd::new(&check.pidfd, PollFlags::IN));
        }
        if !wait(&mut polled, due.saturating_duration_since(Instant::now())) {
            return Ready::default();
        }
        let ready = |index: usize| polled.get(index).is_some_and(|fd| !fd.revents().is_empty());
        let channel = daemon.open && ready(2);
        let checked = ready(if daemon.open { 3 } else { 2 });
        Ready { gone: ready(0), signal: ready(1), channel, checked }
    }

    /// First a request, at the second signal no more patience.
    fn stop(&mut self, daemon: &Daemon, before: Option<Stopping>) -> Stopping {
        let now = Instant::now();
        if let Some(before) = before {
            if now.saturating_duration_since(before.since) < SAME_SIGNAL || before.killed {
                return before;
            }
            tracing::warn!("a second signal: not waiting for daemon {}", daemon.pid);
            return Stopping { until: now, ..before };
        }
        systemd::stopping();
        self.opener.end();
        tracing::info!("stopping daemon {}", daemon.pid);
        let patience = match daemon.channel.send(&Message::Stop, &[]) {
            Ok(()) => Duration::from_secs(self.config.drain_seconds) + DRAIN_GRACE,
            // It is on its way out.
            Err(ChannelError::HungUp) => DRAIN_GRACE,
            Err(error) => {
                tracing::warn!(%error, "the daemon cannot be asked to stop");
                Duration::ZERO
            }
        };
        Stopping { since: now, until: now + patience, killed: false }
    }

    fn watch(&self, daemon: &mut Daemon) {
        match daemon.watchdog.tick() {
            Tick::Wait => {}
            Tick::Ping(number) => {
                // Without an answer the watchdog ends it, whatever the reason is.
                if let Err(error) = daemon.channel.send(&Message::Ping { number }, &[]) {
                    tracing::debug!(%error, "no ping");
                }
            }
            Tick::Kill => {
                let seconds = self.config.watchdog_seconds;
                tracing::error!("daemon {} has hung for {seconds} s and is killed", daemon.pid);
                systemd::status("the daemon hangs and is killed");
                daemon.kill();
            }
        }
    }

    /// Whether there is no descriptor left for one that comes with a message. The kernel would drop
    /// it, and the daemon believes that it is held: the message stays in the queue.
    fn is_short(&mut self) -> bool {
        let short = rustix::io::fcntl_dupfd_cloexec(&self.signals, 3).is_err();
        if short && !self.short {
            tracing::error!("no descriptors are left to hold more; everything held stays held");
        }
        self.short = short;
        if short {
            std::thread::sleep(FAILURE_PAUSE);
        }
        short
    }

    /// Takes one message. Whether there may be more.
    fn take_message(&mut self, daemon: &mut Daemon) -> bool {
        if self.is_short() {
            // Its answer may be in the queue.
            daemon.watchdog.excuse();
            return false;
        }
        let (message, fds) = match daemon.channel.try_receive() {
            Ok(Some(received)) => received,
            Ok(None) => return false,
            Err(ChannelError::HungUp) => {
                daemon.open = false;
                return false;
            }
            Err(error) => {
                // What else it sends is still worth holding, so one bad message ends nothing. After
                // an error of the system there is no message less, and no use in asking at once.
                let system = matches!(error, ChannelError::Socket(SocketError::Io { .. }));
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "a message from the daemon cannot be read");
                return !system;
            }
        };
        match message {
            Message::Hold { holdings } => self.holds.extend(holdings.into_iter().zip(fds)),
            Message::Drop { keys } => {
                for key in &keys {
                    self.holds.remove(key);
                }
            }
            Message::Pong { number } => daemon.watchdog.pong(number),
            Message::Serving => {
                self.served = true;
                systemd::ready(self.epoch, daemon.pid);
                tracing::info!("daemon {} serves (epoch {})", daemon.pid, self.epoch);
                self.serves(daemon);
                self.opener.start(&self.json);
            }
            Message::Upgrade { program } => self.begin_upgrade(daemon, &program),
            Message::HandedOver if matches!(self.upgrade, Upgrade::HandingOver { .. }) => {
                // The next daemon may start: nothing that comes later counts.
                daemon.handed_over = true;
                return false;
            }
            _ => tracing::error!("the daemon sent an unexpected message"),
        }
        true
    }
}
