//! A thread beside the one that owns all state: asked by channel, heard through a descriptor.
//!
//! It returns only when it was told to, or when nobody can ask it any more. One that returns before
//! would leave a daemon that answers pings and does nothing, so the process ends with it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::EventfdFlags;

/// The thread, from outside.
#[derive(Debug)]
pub struct SideThread<Ask, Told> {
    asks: Sender<Ask>,
    told: Receiver<Told>,
    wake: Arc<OwnedFd>,
    ends: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// The thread's own side: what it is asked, and where it answers.
#[derive(Debug)]
pub struct Inside<Ask, Told> {
    /// What it is asked; more by itself.
    pub asks: Sender<Ask>,
    pub asked: Receiver<Ask>,
    pub speaker: Speaker<Told>,
    /// Whether it shall end, whatever it was asked before.
    pub ends: Arc<AtomicBool>,
}

impl<Ask: Send + 'static, Told: Send + 'static> SideThread<Ask, Told> {
    /// Starts the thread.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(
        name: &str,
        serve: impl FnOnce(Inside<Ask, Told>) + Send + 'static,
    ) -> io::Result<Self> {
        Self::start_with(name, serve, |name| {
            millpond_log::die(&format!("thread '{name}' returned; the process ends"))
        })
    }

    fn start_with(
        name: &str,
        serve: impl FnOnce(Inside<Ask, Told>) + Send + 'static,
        returned: impl FnOnce(&str) + Send + 'static,
    ) -> io::Result<Self> {
        let wake = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let wake = Arc::new(wake);
        let (asks, asked) = channel();
        let (tell, told) = channel();
        let speaker = Speaker { tell, wake: Arc::clone(&wake) };
        let ends = Arc::new(AtomicBool::new(false));
        let inside = Inside { asks: asks.clone(), asked, speaker, ends: Arc::clone(&ends) };
        let (may_end, owned) = (Arc::clone(&ends), name.to_owned());
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            serve(inside);
            if !may_end.load(Ordering::Acquire) {
                returned(&owned);
            }
        })?;
        Ok(Self { asks, told, wake, ends, thread })
    }

    /// Asks; the answer comes through [`Self::next`].
    pub fn ask(&self, ask: Ask) {
        // The thread ends only with this process, or when it was told to.
        let _ = self.asks.send(ask);
    }

    /// Asks a last thing, for which the thread ends as soon as it has done what it is at, and waits
    /// so long for that. Whether it has ended; what else it was asked is left.
    pub fn end(&self, last: Ask, within: Duration) -> bool {
        self.ends.store(true, Ordering::Release);
        self.ask(last);
        let deadline = Instant::now() + within;
        while !self.thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.thread.is_finished()
    }

    /// What was said since the last time.
    pub fn next(&self) -> Option<Told> {
        self.told.try_recv().ok()
    }

    /// Makes the descriptor unreadable until something new is said.
    pub fn clear(&self) {
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
    }
}

impl<Ask, Told> Drop for SideThread<Ask, Told> {
    /// Before the channel closes, from which the thread sees that nobody asks any more.
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
    }
}

impl<Ask, Told> AsFd for SideThread<Ask, Told> {
    /// Readable when something was said.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

/// Says something, and wakes who listens.
#[derive(Debug)]
pub struct Speaker<Told> {
    tell: Sender<Told>,
    wake: Arc<OwnedFd>,
}

impl<Told> Speaker<Told> {
    pub fn say(&self, told: Told) {
        if self.tell.send(told).is_ok() {
            let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a thread that returned is told, `None` if nothing.
    fn told(serve: impl FnOnce(Inside<(), ()>) + Send + 'static, ends: bool) -> Option<String> {
        let (tell, heard) = channel();
        let returned = move |name: &str| drop(tell.send(name.to_owned()));
        let thread = SideThread::<(), ()>::start_with("test", serve, returned).unwrap();
        if ends {
            drop(thread);
        }
        heard.recv().ok()
    }

    #[test]
    fn a_thread_that_returns_unasked_ends_the_process_and_one_that_nobody_asks_does_not() {
        assert_eq!(told(drop, false).as_deref(), Some("test"));
        let serve = |inside: Inside<(), ()>| {
            drop(inside.asks);
            while inside.asked.recv().is_ok() {}
        };
        assert_eq!(told(serve, true), None);
    }
}
