//! A keeper that is started by the daemon of one that died.

use std::time::Instant;

use millpond_wire::runtime_dir;

use super::daemon::Daemon;
use super::folder;
use super::holds::Holds;
use super::watchdog::Watchdog;
use super::{
    ExitReason, Keeper, KeeperError, Launch, install_signals, raise_descriptor_limit, systemd,
};
use crate::channel::{Channel, ChannelError, HANDOVER_TIMEOUT, HoldKey, Message};
use crate::config::Config;
use crate::handover::{HandoverError, take_stdin};

/// Takes over the daemon at the other end of standard input, with all that it hands over, and goes
/// on as [`run`](super::run) does. The next daemon gets the next epoch.
///
/// # Errors
/// [`KeeperError`] if the handover fails; the daemon is not touched then.
pub fn adopt_stdin(daemon: Launch) -> Result<ExitReason, KeeperError> {
    raise_descriptor_limit();
    let signals = install_signals()?;
    let channel = take_stdin()?;
    let (first, mut fds) = channel.receive_within(HANDOVER_TIMEOUT).map_err(HandoverError::from)?;
    let (Message::Adopt { epoch, daemon_pid: pid, config: json, version }, Some(pidfd)) =
        (first, fds.pop())
    else {
        return Err(HandoverError::Unexpected { expected: "`Adopt`" }.into());
    };
    let channel = channel.speaking(version);
    let config = Config::from_json(&json)?;
    let mut holds = receive_holds(&channel)?;
    holds.open_store().map_err(KeeperError::io("opening the table of kept descriptors"))?;
    holds.set_epoch(epoch);
    let adopted = Daemon {
        channel,
        open: true,
        handed_over: false,
        pidfd,
        pid,
        child: None,
        version,
        started: Instant::now(),
        watchdog: Watchdog::new(config.watchdog_seconds),
    };
    let mut keeper = Keeper::new(config, json, daemon, holds, signals);
    keeper.epoch = epoch;
    folder::write_holder(&keeper.holds);
    systemd::main_pid();
    let (held, me) = (keeper.holds.len(), std::process::id());
    tracing::warn!("keeper {me} takes over daemon {pid} (epoch {epoch}, {held} held)");
    keeper.supervise(Some(adopted))
}

/// A daemon that dies in the middle has handed over what it had sent: the next one reports what is
/// missing, but not without the lock and the sockets.
fn receive_holds(channel: &Channel) -> Result<Holds, KeeperError> {
    let mut holds = Holds::default();
    loop {
        match channel.receive_within(HANDOVER_TIMEOUT) {
            Ok((Message::Hold { holdings }, fds)) => holds.extend(holdings.into_iter().zip(fds)),
            Ok((Message::AdoptDone, _)) | Err(ChannelError::HungUp) => break,
            Ok(_) => {
                return Err(HandoverError::Unexpected { expected: "`Hold` or `AdoptDone`" }.into());
            }
            Err(error) => return Err(HandoverError::from(error).into()),
        }
    }
    // A daemon that knows no `watch.sock` has none; the next one makes it.
    let sockets = [runtime_dir::SOCKET, runtime_dir::ADMIN_SOCKET].into_iter();
    for key in sockets.map(HoldKey::listen).chain([Ok(HoldKey::folder_lock())]) {
        let key = key?;
        if holds.get(&key).is_none() {
            return Err(KeeperError::AdoptionIncomplete { missing: key.to_string() });
        }
    }
    Ok(holds)
}
