//! The daemon's side: taking over what is held, and starting a keeper when the old one died.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;

use millpond_wire::{Epoch, fd};

use crate::channel::{Channel, HANDOVER_TIMEOUT, Holding, Message};
use crate::config::Config;
pub use crate::handover::HandoverError;
use crate::handover::{Launch, own_pidfd, take_stdin};

/// Everything a daemon starts with.
#[derive(Debug)]
pub struct DaemonStart {
    pub channel: Channel,
    pub epoch: Epoch,
    /// The settings; the runtime folder is always set, and absolute.
    pub config: Config,
    pub keeper_pid: u32,
    /// Fires when the keeper is gone.
    pub keeper_pidfd: OwnedFd,
    /// What was held for earlier daemons; at least the folder's lock and the listening sockets.
    pub held: Vec<(Holding, OwnedFd)>,
}

/// Takes the channel from standard input and reads everything the keeper hands over.
///
/// # Errors
/// [`HandoverError`]; [`HandoverError::NotAChannel`] if the process was started by hand.
pub fn connect_stdin() -> Result<DaemonStart, HandoverError> {
    connect(take_stdin()?)
}

fn connect(channel: Channel) -> Result<DaemonStart, HandoverError> {
    let (first, mut fds) = channel.receive_within(HANDOVER_TIMEOUT)?;
    let (Message::Start { epoch, keeper_pid, config, version }, Some(keeper_pidfd)) =
        (first, fds.pop())
    else {
        return Err(HandoverError::Unexpected { expected: "`Start`" });
    };
    let channel = channel.speaking(version);
    let config = Config::from_json(&config)?;
    let mut held = Vec::new();
    loop {
        match channel.receive_within(HANDOVER_TIMEOUT)? {
            (Message::Held { holdings }, fds) => held.extend(holdings.into_iter().zip(fds)),
            (Message::Ready, _) => break,
            _ => return Err(HandoverError::Unexpected { expected: "`Held` or `Ready`" }),
        }
    }
    Ok(DaemonStart { channel, epoch, config, keeper_pid, keeper_pidfd, held })
}

/// A keeper that a daemon started.
#[derive(Debug)]
pub struct SpawnedKeeper {
    /// To the new keeper.
    pub channel: Channel,
    /// Fires when it is gone.
    pub pidfd: OwnedFd,
    /// It is this process's child: to be reaped with `try_wait` after the pidfd has fired.
    pub child: Child,
}

/// Starts a keeper and hands everything to it. Only after the old keeper's pidfd has fired: two
/// keepers would both start the next daemon.
///
/// `holds` is everything that must outlive this daemon, with the folder's lock and the listening
/// sockets. `config` is what [`connect_stdin`] gave.
///
/// # Errors
/// [`HandoverError`]; there is no new keeper then, and it may be tried again.
pub fn spawn_keeper<'fd>(
    launch: &Launch,
    epoch: Epoch,
    config: &Config,
    holds: impl IntoIterator<Item = (Holding, BorrowedFd<'fd>)>,
) -> Result<SpawnedKeeper, HandoverError> {
    let config = config.to_json()?;
    // A signal that comes before the new keeper can take it waits until it can.
    fd::hold_back_stop_signals(true).map_err(HandoverError::io("holding back signals"))?;
    let started = launch.start();
    fd::hold_back_stop_signals(false).map_err(HandoverError::io("taking signals"))?;
    let (channel, mut child, pidfd) = started?;
    let hand_over = || {
        let version = launch.version();
        let adopt = Message::Adopt { epoch, daemon_pid: std::process::id(), config, version };
        channel.send_within(&adopt, &[own_pidfd()?.as_fd()], HANDOVER_TIMEOUT)?;
        channel.send_holdings(|holdings| Message::Hold { holdings }, holds, HANDOVER_TIMEOUT)?;
        channel.send_within(&Message::AdoptDone, &[], HANDOVER_TIMEOUT)?;
        Ok(())
    };
    match hand_over() {
        Ok(()) => Ok(SpawnedKeeper { channel, pidfd, child }),
        Err(error) => {
            // Half a keeper is none; both calls can only fail if it is gone already.
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}
