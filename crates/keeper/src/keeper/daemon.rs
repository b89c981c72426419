//! One running daemon as the keeper sees it.

use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use millpond_wire::Epoch;
use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

use super::holds::Holds;
use super::watchdog::Watchdog;
use crate::channel::{Channel, HANDOVER_TIMEOUT, Message};
use crate::handover::{HandoverError, Launch, own_pidfd};

/// A daemon that was started or adopted and may be dead by now.
pub(super) struct Daemon {
    pub channel: Channel,
    /// Whether more can come through the channel.
    pub open: bool,
    /// It serves nobody any more.
    pub handed_over: bool,
    pub pidfd: OwnedFd,
    pub pid: u32,
    /// Not there for an adopted one: it is somebody else's child.
    pub child: Option<Child>,
    /// Of the channel to it.
    pub version: u32,
    pub started: Instant,
    pub watchdog: Watchdog,
}

impl Daemon {
    /// Starts one and sends it everything. Only failing to start is an error: what goes wrong
    /// later ends the new process, and its end is seen as any other.
    pub(super) fn start(
        launch: &Launch,
        epoch: Epoch,
        config: &[u8],
        holds: &Holds,
        watchdog: Watchdog,
    ) -> Result<Daemon, HandoverError> {
        let own_pidfd = own_pidfd()?;
        let (channel, child, pidfd) = launch.start()?;
        let daemon = Daemon {
            channel,
            open: true,
            handed_over: false,
            pidfd,
            pid: child.id(),
            child: Some(child),
            version: launch.version(),
            started: Instant::now(),
            watchdog,
        };
        let keeper_pid = std::process::id();
        let (config, version) = (config.to_vec(), launch.version());
        let start = Message::Start { epoch, keeper_pid, config, version };
        let all = holds.iter().map(|(holding, fd)| (holding, fd.as_fd()));
        let sent = daemon
            .channel
            .send_within(&start, &[own_pidfd.as_fd()], HANDOVER_TIMEOUT)
            .and_then(|()| {
                daemon.channel.send_holdings(
                    |holdings| Message::Held { holdings },
                    all,
                    HANDOVER_TIMEOUT,
                )
            })
            .and_then(|()| daemon.channel.send_within(&Message::Ready, &[], HANDOVER_TIMEOUT));
        if let Err(error) = sent {
            tracing::error!(%error, daemon = daemon.pid, "the new daemon did not take over");
            daemon.kill();
        }
        Ok(daemon)
    }

    pub(super) fn kill(&self) {
        match rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => tracing::error!(%error, daemon = self.pid, "cannot kill the daemon"),
        }
    }

    /// Whether the process is gone.
    pub(super) fn is_gone(&self) -> bool {
        super::wait(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Duration::ZERO)
    }

    /// How it ended. To be called after the pidfd has fired; does not block then.
    pub(super) fn reap(&mut self) -> Option<ExitStatus> {
        self.child.as_mut().and_then(|child| child.wait().ok())
    }
}
