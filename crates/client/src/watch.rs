//! The thread that notices when the daemon goes, and connects anew so that no lease is forgotten.
//!
//! It exists only in processes that the pond remembers (those that had a lease, or must give back
//! one that came too late), and sleeps in `poll` without a timeout: an idle process costs nothing.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use millpond_wire::LeaseId;
use millpond_wire::message::{Request, RequestBody};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};

use crate::connection::{Connection, poll, ready};
use crate::demux::{Line, State};
use crate::link::Link;
use crate::{Error, Result};

/// Pauses between attempts to find a pond that is gone: the first, and the longest.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// What there is to do.
enum Step {
    /// Nothing is held and nobody is left.
    End,
    /// Leases that nobody has taken.
    Release(Vec<LeaseId>),
    /// Read what comes: among it may be a lease whose caller has given up.
    Listen(Arc<Connection>, u64),
    /// Look for the end of this connection.
    Watch(Arc<Connection>, u64),
    /// Claim what is held.
    Reconnect,
    /// Sleep until something changes.
    Sleep,
}

impl Link {
    /// Starts the thread unless it runs.
    pub(crate) fn start_watch(self: &Arc<Self>) -> Result<()> {
        self.start_watch_locked(&mut self.lock())
    }

    /// The pond remembers this process through restarts, because something ends with it.
    pub(crate) fn remembered(self: &Arc<Self>) -> Result<()> {
        let mut state = self.lock();
        state.remembered = true;
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
            let mut state = self.lock();
            state.strays.push(lease);
            self.watch_if_possible(&mut state);
        } else {
            self.delete_made(&[lease]);
        }
    }

    /// A lease of somebody who is done goes back. Whoever is done with a pond that is gone does not
    /// wait for it.
    pub(crate) fn give_back_soon(self: &Arc<Self>, lease: LeaseId) {
        let mut state = self.lock();
        if matches!(state.line, Line::Up(_)) {
            drop(state);
            self.give_back(lease);
        } else {
            state.strays.push(lease);
            self.watch_if_possible(&mut state);
        }
    }

    /// Deletes the tensors without a name that these leases came with. As good as can be: one that
    /// was never made is not there, and what cannot be told now ends at the latest with the pond.
    fn delete_made(self: &Arc<Self>, leases: &[LeaseId]) {
        for lease in leases {
            let Some(tensor) = self.lock().made.remove(lease) else { continue };
            let deleted = self.ask_done("a deletion", RequestBody::TensorDelete { tensor });
            if let Err(error) = deleted {
                tracing::debug!(%error, %tensor, "a tensor that nobody has was not deleted");
            }
        }
    }

    /// No handle is left. Without leases this is the end, said here because the process may end
    /// before the watching thread runs; with leases that thread stays until they have ended.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ending = true;
        if state.watch.is_some() && state.has_duties() {
            state.wake_watch();
        } else {
            self.goodbye(&mut state);
        }
    }

    /// Closes the line for good, politely.
    pub(crate) fn goodbye(&self, state: &mut State) {
        if let Some(connection) = state.close() {
            connection.send_at_once(&Request { number: u64::MAX, body: RequestBody::Goodbye });
            connection.shut_down();
        }
        self.notify();
        state.wake_watch();
    }

    fn watch(self: Arc<Self>, wake: &OwnedFd) {
        let mut pause = PAUSE;
        loop {
            clear(wake);
            let step = next_step(&mut self.lock());
            match step {
                Step::End => {
                    self.goodbye(&mut self.lock());
                    return;
                }
                Step::Release(strays) => {
                    if let Err(error) = self.release_even_unknown(&strays) {
                        tracing::debug!(%error, "leases that came too late are given back later");
                        self.lock().strays.extend(strays);
                        clear(wake);
                        ready(wake.as_fd(), PollFlags::IN, Some(PAUSE));
                    } else {
                        self.delete_made(&strays);
                    }
                }
                Step::Listen(connection, generation) => {
                    sleep(&connection, PollFlags::IN | PollFlags::RDHUP, wake);
                    self.drain(&connection, generation);
                }
                Step::Watch(connection, generation) => {
                    // Without IN: a reply that arrives wakes its reader only.
                    let over = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
                    if sleep(&connection, PollFlags::RDHUP, wake).intersects(over) {
                        self.lock().hang_up(generation);
                    }
                }
                Step::Reconnect => match self.connected("a reconnection", None, None) {
                    Ok(_) => pause = PAUSE,
                    Err(error) => {
                        tracing::debug!(%error, ?pause, "the pond is gone");
                        // Trying has woken us as well.
                        clear(wake);
                        ready(wake.as_fd(), PollFlags::IN, Some(pause));
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                },
                Step::Sleep => {
                    ready(wake.as_fd(), PollFlags::IN, None);
                }
            }
        }
    }
}

fn next_step(state: &mut State) -> Step {
    if state.ending && !state.has_duties() {
        return Step::End;
    }
    match &state.line {
        Line::Closed => Step::End,
        Line::Up(_) if !state.strays.is_empty() => Step::Release(std::mem::take(&mut state.strays)),
        Line::Up(connection) if !state.late.is_empty() && !state.leading => {
            Step::Listen(connection.clone(), state.generation)
        }
        Line::Up(connection) => Step::Watch(connection.clone(), state.generation),
        // Nothing is mapped: what the pond may have granted ends with the process.
        Line::Down if state.ending && state.leases.is_empty() => Step::End,
        Line::Down if state.has_duties() || state.remembered => Step::Reconnect,
        Line::Down | Line::Connecting => Step::Sleep,
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
