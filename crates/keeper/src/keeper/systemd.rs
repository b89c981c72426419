//! What the service manager is told. Without one, nothing happens.

use millpond_wire::Epoch;
use sd_notify::NotifyState;

pub(super) fn ready(epoch: Epoch, daemon_pid: u32) {
    let status = format!("serving: epoch {epoch}, daemon {daemon_pid}");
    notify(&[NotifyState::Ready, NotifyState::Status(&status)]);
}

pub(super) fn status(text: &str) {
    notify(&[NotifyState::Status(text)]);
}

pub(super) fn stopping() {
    notify(&[NotifyState::Stopping]);
}

/// This process is the service now.
pub(super) fn main_pid() {
    notify(&[NotifyState::MainPid(std::process::id())]);
}

/// The keeper is alive. `WATCHDOG_PID` is not looked at: after an adoption it names the old one.
pub(super) fn alive() {
    if std::env::var_os("WATCHDOG_USEC").is_some() {
        notify(&[NotifyState::Watchdog]);
    }
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "the service manager was not told");
    }
}
