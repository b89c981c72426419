//! Signals as a descriptor that can be polled.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::pipe::PipeFlags;
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// `SIGTERM` and `SIGINT` ask for a stop; `SIGHUP` is ignored, a pond outlives its terminal.
#[derive(Debug)]
pub(super) struct Signals {
    pipe: OwnedFd,
    handlers: Vec<SigId>,
}

impl Signals {
    pub(super) fn install() -> io::Result<Signals> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let mut signals = Signals { pipe: read, handlers: Vec::new() };
        for signal in [SIGTERM, SIGINT] {
            let handler = signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
            signals.handlers.push(handler);
        }
        // A handler and not SIG_IGN, which the daemon would inherit.
        let handler = signal_hook::flag::register(SIGHUP, Arc::new(AtomicBool::new(false)))?;
        signals.handlers.push(handler);
        Ok(signals)
    }

    /// Forgets the signals that came.
    pub(super) fn clear(&self) {
        let mut buffer = [0; 64];
        while matches!(rustix::io::read(&self.pipe, &mut buffer), Ok(1..)) {}
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for handler in self.handlers.drain(..) {
            signal_hook::low_level::unregister(handler);
        }
    }
}
