//! Another program for the next daemon, and back if that does not serve.
//!
//! ```text
//! Upgrade → check → HandOver → the old daemon waits with everything → the new one serves → it ends
//!                                                       └ dies or hangs → back to the old program
//! ```
//!
//! The old daemon does not end before the new one serves. If it did, a keeper that is killed
//! between the two would take everything along, and any one process may be killed at any time. It
//! is told through a socket pair of which the keeper and the new daemon have the other end: a
//! message without a descriptor means that the new one serves; the end means that neither is left,
//! and then it starts a keeper itself. A message with a descriptor is the new daemon's pidfd, so that
//! one that hangs can be ended also if the keeper is dead.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use millpond_wire::socket;

use super::check::Check;
use super::daemon::Daemon;
use super::{Keeper, systemd};
use crate::channel::{HoldKey, Message, TEXT_BYTES};
use crate::handover::Launch;

/// How long a daemon may take to hand over; killed then, which clients survive as well.
const HAND_OVER: Duration = Duration::from_secs(5);
/// How long the new daemon may take to serve: with [`HAND_OVER`] and the way back, less than the 15
/// seconds that clients wait.
const TO_SERVE: Duration = Duration::from_secs(5);
/// A new daemon that has served for so long will stay.
const PROBATION: Duration = Duration::from_secs(10);
/// So many deaths of the new program, each on probation, and it is not tried again.
const DEATHS: u32 = 3;
/// How long the old daemon may take to end once the new one serves.
const TO_LEAVE: Duration = Duration::from_secs(5);

/// How far an upgrade is.
#[derive(Default)]
pub(super) enum Upgrade {
    #[default]
    None,
    /// The program is asked what it is.
    Checking(Check),
    /// The daemon is asked to hand over to it.
    HandingOver { to: Launch, back: Launch, until: Instant },
    /// It has been started.
    Trying(Trial),
}

/// A program on probation.
pub(super) struct Trial {
    back: Launch,
    deaths: u32,
    /// Until when it has to serve.
    until: Instant,
    serving_since: Option<Instant>,
    /// It has served before it died, and that was said.
    told: bool,
}

/// The daemon before, which waits for the new one.
pub(super) struct Bystander {
    daemon: Daemon,
    /// Until when it has to end, once it was told to.
    until: Option<Instant>,
}

impl Keeper {
    /// A daemon was asked for another program.
    pub(super) fn begin_upgrade(&mut self, daemon: &Daemon, program: &str) {
        let launch = self.launch_of(program);
        let name = launch.program.display().to_string();
        let check = match &self.upgrade {
            _ if !launch.program.is_absolute() => Err("its path is not absolute".to_owned()),
            Upgrade::None => Check::start(launch),
            Upgrade::Trying(trial) if trial.serving_since.is_some() => Check::start(launch),
            _ => Err("another upgrade is under way".to_owned()),
        };
        match check {
            Ok(check) => {
                tracing::info!("checking '{name}' for an upgrade");
                self.upgrade = Upgrade::Checking(check);
            }
            Err(reason) => refuse(daemon, &name, &reason),
        }
    }

    /// The keeper's own program is found by its path: after an update of the package it is new.
    fn launch_of(&self, program: &str) -> Launch {
        let path = if program.is_empty() { own_path(&self.own) } else { PathBuf::from(program) };
        Launch::new(path, self.own.arguments.clone())
    }

    /// When something about an upgrade is due.
    pub(super) fn upgrade_due(&self) -> Option<Instant> {
        match &self.upgrade {
            Upgrade::None => None,
            Upgrade::Checking(check) => Some(check.until),
            Upgrade::HandingOver { until, .. } => Some(*until),
            Upgrade::Trying(trial) => trial.serving_since.is_none().then_some(trial.until),
        }
    }

    /// The program has said what it is, or it is too late for that.
    pub(super) fn checked(&mut self, daemon: &Daemon, gone: bool) {
        let Upgrade::Checking(check) = std::mem::take(&mut self.upgrade) else { return };
        let name = check.launch.program.display().to_string();
        let asked = check.answer(gone).and_then(|(to, about)| {
            let (ours, theirs) = socket::pair().map_err(|error| error.to_string())?;
            let asked = daemon.channel.send(&Message::HandOver, &[theirs.as_fd()]);
            asked.map_err(|error| format!("the daemon cannot be asked to hand over: {error}"))?;
            self.holds.insert(HoldKey::handover(), ours);
            Ok((to, about))
        });
        match asked {
            Ok((to, about)) => {
                tracing::info!("daemon {} hands over to '{name}' ({})", daemon.pid, about.version);
                // Its file, also if its path leads to another one by now.
                let back = Launch::of_process(daemon.pid, self.launch.arguments.clone());
                let back = back.unwrap_or_else(|_| self.launch.clone()).speaking(daemon.version);
                let until = Instant::now() + HAND_OVER;
                self.upgrade = Upgrade::HandingOver { to, back, until };
            }
            Err(reason) => refuse(daemon, &name, &reason),
        }
    }

    /// What is due while a daemon runs. Called in every turn.
    pub(super) fn care_for_upgrade(&mut self, daemon: &Daemon, checked: bool) {
        let now = Instant::now();
        match &mut self.upgrade {
            Upgrade::Checking(check) if checked || now >= check.until => {
                self.checked(daemon, checked);
            }
            Upgrade::HandingOver { until, .. } if now >= *until => {
                tracing::warn!("daemon {} did not hand over in time and is killed", daemon.pid);
                *until = now + HAND_OVER;
                daemon.kill();
            }
            Upgrade::Trying(trial) if trial.serving_since.is_none() && now >= trial.until => {
                let seconds = TO_SERVE.as_secs();
                tracing::error!("daemon {} did not serve within {seconds} s", daemon.pid);
                // Its end is seen as any other, and is one too many.
                (trial.deaths, trial.until) = (DEATHS, now + TO_SERVE);
                daemon.kill();
            }
            _ => {}
        }
    }

    /// A daemon has gone, or is there and has handed over: from which program is the next? Whether
    /// it is to be started at once. `failed` is how it ended, if that was by itself and not well.
    pub(super) fn choose_program(
        &mut self,
        before: Option<Daemon>,
        failed: Option<ExitStatus>,
    ) -> bool {
        match std::mem::take(&mut self.upgrade) {
            Upgrade::HandingOver { to, back, .. } => {
                match before {
                    Some(daemon) => self.bystander = Some(Bystander { daemon, until: None }),
                    // Nobody waits for an answer.
                    None => drop(self.holds.remove(&HoldKey::handover())),
                }
                self.launch = to;
                self.upgrade = Upgrade::Trying(Trial {
                    back,
                    deaths: 0,
                    until: Instant::now() + TO_SERVE,
                    serving_since: None,
                    told: false,
                });
                true
            }
            Upgrade::Trying(trial) if trial.is_over() => false,
            Upgrade::Trying(trial) => {
                self.died_on_trial(trial, failed);
                true
            }
            other => {
                self.upgrade = other;
                false
            }
        }
    }

    fn died_on_trial(&mut self, trial: Trial, failed: Option<ExitStatus>) {
        // What has said that it cannot serve would only say so again.
        let failed = failed.filter(|_| !trial.told);
        let deaths = trial.deaths.saturating_add(1);
        if deaths < DEATHS && failed.is_none() {
            let until = Instant::now() + TO_SERVE;
            self.upgrade = Upgrade::Trying(Trial { deaths, until, serving_since: None, ..trial });
            return;
        }
        let (new, old) = (self.launch.program.display(), trial.back.program.display());
        let mut reason = format!("'{new}' does not serve; back to '{old}'");
        if let Some(status) = failed {
            reason.push_str(&format!(" (it ended with {status} and logged why)"));
        }
        tracing::error!("upgrade failed: {reason}");
        systemd::status(&format!("upgrade failed: {reason}"));
        self.refused = Some(reason);
        self.launch = trial.back;
    }

    /// Tells the daemon before who comes after it.
    pub(super) fn name_successor(&self, daemon: &Daemon) {
        if let Some(end) = self.holds.get(&HoldKey::handover()) {
            let sent = socket::send(end, b"started", &[daemon.pidfd.as_fd()], false);
            if let Err(error) = sent {
                tracing::debug!(%error, "the previous daemon is gone");
            }
        }
    }

    /// The new daemon serves: the one before may end.
    pub(super) fn serves(&mut self, daemon: &Daemon) {
        if let Upgrade::Trying(trial) = &mut self.upgrade {
            if !std::mem::replace(&mut trial.told, true) {
                tracing::info!("upgraded: '{}' serves", self.launch.program.display());
            }
            trial.serving_since = Some(Instant::now());
        }
        if let Some(reason) = self.refused.take() {
            tell_refusal(daemon, &reason);
        }
        if let Some(end) = self.holds.remove(&HoldKey::handover()) {
            // It may have heard so from the new daemon, and be gone.
            let _ = socket::send(&end, b"serving", &[], false);
        }
        if let Some(bystander) = &mut self.bystander {
            bystander.until = Some(Instant::now() + TO_LEAVE);
        }
    }

    /// Reaps the daemon before, and ends it if it does not end by itself. Once a second is enough.
    pub(super) fn care_for_bystander(&mut self) {
        let Some(bystander) = &mut self.bystander else { return };
        let Bystander { daemon, until } = bystander;
        if daemon.is_gone() {
            daemon.reap();
            self.bystander = None;
        } else if until.is_some_and(|until| Instant::now() >= until) {
            tracing::warn!("daemon {} is still running and is killed", daemon.pid);
            daemon.kill();
        }
    }

    /// Nothing of an upgrade outlives a stop.
    pub(super) fn end_upgrade(&mut self) {
        if let Upgrade::Checking(mut check) = std::mem::take(&mut self.upgrade) {
            check.kill();
        }
        if let Some(mut bystander) = self.bystander.take() {
            bystander.daemon.kill();
            bystander.daemon.reap();
        }
    }
}

impl Trial {
    fn is_over(&self) -> bool {
        self.serving_since.is_some_and(|since| since.elapsed() >= PROBATION)
    }
}

/// The kernel marks the path of a program whose file was replaced.
fn own_path(own: &Launch) -> PathBuf {
    let text = own.program.to_string_lossy();
    match text.strip_suffix(" (deleted)") {
        Some(path) if !own.program.exists() => Path::new(path).to_owned(),
        _ => own.program.clone(),
    }
}

fn refuse(daemon: &Daemon, program: &str, reason: &str) {
    tracing::error!("no upgrade to '{program}': {reason}");
    tell_refusal(daemon, &format!("no upgrade to '{program}': {reason}"));
}

fn tell_refusal(daemon: &Daemon, reason: &str) {
    let end = (0..=TEXT_BYTES.min(reason.len())).rev().find(|end| reason.is_char_boundary(*end));
    let reason = reason[..end.unwrap_or(0)].to_owned();
    if let Err(error) = daemon.channel.send(&Message::UpgradeRefused { reason }, &[]) {
        tracing::warn!(%error, "the daemon was not told that there is no upgrade");
    }
}
