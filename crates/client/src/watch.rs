//! The thread that notices when the daemon goes, and connects anew so that no lease is forgotten.
//!
//! It exists only in processes that have asked for a lease, or must give back one that came too
//! late, and sleeps in `poll` without a timeout: an idle process costs nothing.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use millpond_client_core::{Backoff, Duty};
use millpond_wire::LeaseId;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};

use crate::connection::{Connection, poll, ready};
use crate::line::State;
use crate::link::Link;
use crate::{Error, Result};

/// Pauses between attempts to find a pond that is gone: the first, and the longest.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

impl Link {
    /// Starts the thread unless it runs.
    pub(crate) fn start_watch(self: &Arc<Self>) -> Result<()> {
        self.start_watch_locked(&mut self.lock())
    }

    /// The pond remembers this process through restarts, because something ends with it.
    pub(crate) fn remembered(self: &Arc<Self>) -> Result<()> {
        let mut state = self.lock();
        state.session.remember();
        self.start_watch_locked(&mut state)
    }

    fn start_watch_locked(self: &Arc<Self>, state: &mut State) -> Result<()> {
        if state.watch.is_some() {
            return Ok(());
        }
        let failed = |error: std::io::Error| Error::system("starting the watching thread", error);
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| failed(errno.into()))?;
        let wake = Arc::new(wake);
        let (link, own) = (Arc::clone(self), Arc::clone(&wake));
        thread::Builder::new()
            .name("millpond-watch".to_owned())
            .spawn(move || link.watch(&own))
            .map_err(failed)?;
        state.watch = Some(wake);
        Ok(())
    }

    /// Sees to it that leases which came too late are given back.
    pub(crate) fn watch_if_possible(self: &Arc<Self>, state: &mut State) {
        match self.start_watch_locked(state) {
            Ok(()) => state.wake_watch(),
            Err(error) => tracing::warn!(%error, "a lease is kept until the process ends"),
        }
    }

    /// A lease that was granted but cannot be used goes back, now or later.
    pub(crate) fn give_back(self: &Arc<Self>, lease: LeaseId) {
        if let Err(error) = self.release_even_unknown(&[lease]) {
            tracing::debug!(%error, %lease, "a lease is given back later");
            self.give_back_later(&mut self.lock(), lease);
        }
    }

    /// A lease of somebody who is done goes back. Whoever is done with a pond that is gone does not
    /// wait for it.
    pub(crate) fn give_back_soon(self: &Arc<Self>, lease: LeaseId) {
        let mut state = self.lock();
        if state.session.is_up() {
            drop(state);
            self.give_back(lease);
        } else {
            self.give_back_later(&mut state, lease);
        }
    }

    fn give_back_later(self: &Arc<Self>, state: &mut State, lease: LeaseId) {
        state.session.stray(&[lease]);
        self.watch_if_possible(state);
    }

    /// No handle is left. Without leases this is the end, said here because the process may end
    /// before the watching thread runs; with leases that thread stays until they have ended.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.session.end();
        if state.watch.is_some() && state.session.has_duties() {
            state.wake_watch();
        } else {
            self.goodbye(&mut state);
        }
    }

    /// Closes the line for good, politely.
    pub(crate) fn goodbye(&self, state: &mut State) {
        let goodbye = state.session.closed();
        if let (Some(connection), Some(goodbye)) = (state.connection.take(), goodbye) {
            connection.send_at_once(&goodbye);
            connection.shut_down();
        }
        state.wake_all();
        self.changed().notify_all();
        state.wake_watch();
    }

    fn watch(self: Arc<Self>, wake: &OwnedFd) {
        let mut pause = Backoff::new(PAUSE, LONGEST_PAUSE);
        loop {
            clear(wake);
            let mut state = self.lock();
            let (duty, leading) = (state.session.duty(), state.leading);
            let connection = state.connection.clone();
            drop(state);
            match (duty, connection) {
                (Duty::End, _) => {
                    self.goodbye(&mut self.lock());
                    return;
                }
                (Duty::Release(strays), _) => {
                    if let Err(error) = self.release_even_unknown(&strays) {
                        tracing::debug!(%error, "leases that came too late are given back later");
                        self.lock().session.stray(&strays);
                        clear(wake);
                        ready(wake.as_fd(), PollFlags::IN, Some(PAUSE));
                    }
                }
                (Duty::Listen(generation), Some(connection)) if !leading => {
                    sleep(&connection, PollFlags::IN | PollFlags::RDHUP, wake);
                    self.drain(&connection, generation);
                }
                (Duty::Listen(generation) | Duty::Watch(generation), Some(connection)) => {
                    // Without IN: a reply that arrives wakes its reader only.
                    let over = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
                    if sleep(&connection, PollFlags::RDHUP, wake).intersects(over) {
                        self.lock().hang_up(generation);
                    }
                }
                (Duty::Reconnect, _) => match self.connected() {
                    Ok(()) => pause.reset(),
                    Err(error) => {
                        let pause = pause.pause();
                        tracing::debug!(%error, ?pause, "the pond is gone");
                        // Trying has woken us as well.
                        clear(wake);
                        ready(wake.as_fd(), PollFlags::IN, Some(pause));
                    }
                },
                (Duty::Listen(_) | Duty::Watch(_) | Duty::Sleep, _) => {
                    ready(wake.as_fd(), PollFlags::IN, None);
                }
            }
        }
    }
}

/// Sleeps until the connection has one of the flags, or something else is to be done.
fn sleep(connection: &Connection, flags: PollFlags, wake: &OwnedFd) -> PollFlags {
    let mut fds = [
        PollFd::from_borrowed_fd(connection.as_fd(), flags),
        PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN),
    ];
    poll(&mut fds, None);
    fds[0].revents()
}

fn clear(wake: &OwnedFd) {
    // It fails only if nobody has woken us.
    let _ = rustix::io::read(wake, &mut [0u8; 8]);
}
