//! The process that greets whoever started the pond, and loads the models of the settings.
//!
//! It is a client like any other: the keeper opens no checkpoint, and whatever happens to this
//! process ends nothing. It is started once in the life of a pond; a keeper that takes over starts
//! none, and one that finds what an earlier keeper held relies on the process itself, which loads
//! only what is not there.

use std::os::fd::OwnedFd;
use std::process::Child;

use millpond_wire::memfd;
use rustix::process::Signal;

use crate::handover::Launch;

/// What is left to do, and what runs.
#[derive(Debug, Default)]
pub(super) struct Opener {
    launch: Option<Launch>,
    running: Option<(Child, OwnedFd)>,
}

impl Opener {
    pub(super) fn new(launch: Option<Launch>) -> Opener {
        Opener { launch, running: None }
    }

    /// Starts it, if that was not done.
    pub(super) fn start(&mut self, settings: &[u8]) {
        let Some(launch) = self.launch.take() else { return };
        let started = memfd::sealed("millpond-settings", settings).and_then(|stdin| {
            launch.spawn(&stdin, |command| {
                // It is no part of the service.
                command.env_remove("NOTIFY_SOCKET");
            })
        });
        match started {
            Ok(running) => self.running = Some(running),
            Err(error) => tracing::error!(%error, "the models of the settings are not loaded"),
        }
    }

    /// Takes note of its end; never waits.
    pub(super) fn look(&mut self) {
        let Some((child, _)) = &mut self.running else { return };
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => {
                if !status.success() {
                    tracing::error!("the process that loads the settings' models ended: {status}");
                }
                self.running = None;
            }
            Err(error) => {
                tracing::error!(%error, "waiting for the process that loads the settings' models");
                self.running = None;
            }
        }
    }

    /// Ends it: without a pond it has nothing to do.
    pub(super) fn end(&mut self) {
        self.launch = None;
        if let Some((mut child, pidfd)) = self.running.take() {
            // Gone already, if that fails.
            let _ = rustix::process::pidfd_send_signal(&pidfd, Signal::KILL);
            let _ = child.try_wait();
        }
    }
}
