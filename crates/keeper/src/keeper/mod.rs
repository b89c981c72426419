//! The keeper itself.

mod adopt;
mod check;
mod daemon;
mod error;
mod fd_store;
mod folder;
mod group;
mod holds;
mod opener;
mod serve;
mod signals;
mod systemd;
mod upgrade;
mod watchdog;

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use millpond_wire::Epoch;
use millpond_wire::fd::{self, OVERFLOW_USER};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

pub use crate::handover::Launch;
pub use adopt::adopt_stdin;
pub use check::{About, CHECK_ARGUMENT, PROGRAM};
pub use error::{FolderHolder, KeeperError};
pub use folder::{Restored, restore};

use crate::channel::{CONFIG_BYTES, HoldKey};
use crate::config::Config;
use daemon::Daemon;
use holds::Holds;
use opener::Opener;
use serve::Left;
use signals::Signals;
use upgrade::{Bystander, Upgrade};
use watchdog::{Backoff, Watchdog};

/// After a failure of `poll`, so that the loop does not spin.
const FAILURE_PAUSE: Duration = Duration::from_millis(100);

/// What a keeper needs to know.
#[derive(Clone, Debug)]
pub struct KeeperStart {
    pub config: Config,
    pub daemon: Launch,
    /// How the process is started that greets whoever started the pond and loads the models of the
    /// settings; it reads the settings from its standard input.
    pub opener: Option<Launch>,
}

/// How a keeper ended that was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// The daemon had finished its work.
    Stopped,
    /// The daemon took too long, or a second signal came, and it was killed.
    Killed,
}

/// Serves a new pond until `SIGTERM` or `SIGINT`: takes the runtime folder, starts the daemon, and
/// starts it again whenever it dies. To be called once, from the main thread of its process.
///
/// # Errors
/// [`KeeperError`], before the pond serves. Later nothing ends a keeper but a signal.
pub fn run(start: KeeperStart) -> Result<ExitReason, KeeperError> {
    let KeeperStart { mut config, daemon: launch, opener } = start;
    if rustix::process::geteuid().as_raw() == OVERFLOW_USER {
        return Err(KeeperError::NoUser);
    }
    let folder = std::path::absolute(config.folder())
        .map_err(KeeperError::io("making the runtime folder's path absolute"))?;
    config.runtime_dir = Some(folder.clone());
    let json = config.to_json()?;
    if json.len() > CONFIG_BYTES {
        return Err(KeeperError::ConfigTooLarge(json.len()));
    }
    raise_descriptor_limit();
    let signals = install_signals()?;
    let given = systemd::given()
        .map_err(KeeperError::io("taking the descriptors passed to the service"))?;
    let mut holds = Holds::given(given);
    let (kept, journal) = (holds.len(), holds.get(&HoldKey::journal()).is_some());
    folder::open(&folder, &config, &mut holds)?;
    let epoch =
        holds.open_store().map_err(KeeperError::io("making a table of kept descriptors"))?;
    if journal {
        tracing::info!("the service manager kept {kept} descriptors, and epoch {epoch}");
    }
    let mut keeper = Keeper::new(config, json, launch, holds, signals);
    keeper.epoch = epoch;
    keeper.opener = Opener::new(opener);
    folder::write_holder(&keeper.holds);
    tracing::info!("keeper {} serves '{}'", std::process::id(), keeper.folder.display());
    keeper.supervise(None)
}

fn install_signals() -> Result<Signals, KeeperError> {
    let what = "installing signal handlers";
    let signals = Signals::install().map_err(KeeperError::io(what))?;
    // A daemon starts a keeper with these held back.
    fd::hold_back_stop_signals(false).map_err(KeeperError::io(what))?;
    Ok(signals)
}

/// One descriptor is held for each slab and client, here and in the daemon, which inherits this.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
}

/// Everything that outlives a daemon.
struct Keeper {
    config: Config,
    json: Vec<u8>,
    folder: PathBuf,
    /// How daemons are started now.
    launch: Launch,
    /// The same from the program that this keeper was started from.
    own: Launch,
    holds: Holds,
    signals: Signals,
    /// Of the last daemon that was started.
    epoch: Epoch,
    /// Whether any daemon has served; before, nothing can be lost by giving up.
    served: bool,
    /// No descriptor is left, and that was said.
    short: bool,
    upgrade: Upgrade,
    bystander: Option<Bystander>,
    opener: Opener,
    /// Why there was no upgrade, for the next daemon that serves.
    refused: Option<String>,
}

impl Keeper {
    fn new(config: Config, json: Vec<u8>, own: Launch, holds: Holds, signals: Signals) -> Keeper {
        Keeper {
            // What an earlier keeper held may be a pond that never got as far.
            served: holds.had_gpu(),
            folder: config.folder(),
            config,
            json,
            launch: own.clone(),
            own,
            holds,
            signals,
            epoch: Epoch(0),
            short: false,
            upgrade: Upgrade::None,
            bystander: None,
            opener: Opener::default(),
            refused: None,
        }
    }

    /// Runs one daemon after the other, the first of which may be there already.
    fn supervise(&mut self, adopted: Option<Daemon>) -> Result<ExitReason, KeeperError> {
        let result = self.supervise_until_stopped(adopted);
        self.end_upgrade();
        self.opener.end();
        self.holds.end_hosts();
        if !self.holds.activated {
            folder::remove_sockets(&self.folder);
        }
        result
    }

    fn supervise_until_stopped(
        &mut self,
        adopted: Option<Daemon>,
    ) -> Result<ExitReason, KeeperError> {
        let mut backoff = Backoff::default();
        let mut present = adopted;
        loop {
            let lived = match present.take().map_or_else(|| self.start_daemon(), Ok) {
                Ok(mut daemon) => {
                    let pid = daemon.pid;
                    match self.serve(&mut daemon) {
                        Left::Stopped(reason) => return Ok(reason),
                        Left::HandedOver => {
                            tracing::info!("daemon {pid} (epoch {}) has handed over", self.epoch);
                            self.choose_program(Some(daemon), None);
                            continue;
                        }
                        Left::Gone => {}
                    }
                    let status = daemon.reap();
                    let text = describe(status);
                    tracing::warn!("daemon {pid} (epoch {}) {text}", self.epoch);
                    if status.is_some_and(has_failed) && !self.served {
                        return Err(KeeperError::NeverServed { status: text });
                    }
                    if self.choose_program(None, status.filter(|it| has_failed(*it))) {
                        continue;
                    }
                    daemon.started.elapsed()
                }
                Err(error) if self.served => {
                    tracing::error!(error = &error as &dyn std::error::Error, "no new daemon");
                    if self.choose_program(None, None) {
                        continue;
                    }
                    Duration::ZERO
                }
                Err(error) => return Err(error),
            };
            let delay = backoff.after(lived);
            if !delay.is_zero() {
                let text = format!(
                    "the daemon died {} times in a row, {} are held; the next is started in {} ms",
                    backoff.quick(),
                    self.holds.len(),
                    delay.as_millis()
                );
                tracing::error!("{text}");
                systemd::status(&text);
            }
            if self.signalled_within(delay) {
                systemd::stopping();
                return Ok(ExitReason::Stopped);
            }
        }
    }

    fn start_daemon(&mut self) -> Result<Daemon, KeeperError> {
        self.epoch = Epoch(self.epoch.0 + 1);
        self.holds.set_epoch(self.epoch);
        let watchdog = Watchdog::new(self.config.watchdog_seconds);
        let daemon = Daemon::start(&self.launch, self.epoch, &self.json, &self.holds, watchdog)?;
        self.name_successor(&daemon);
        let held = self.holds.len();
        tracing::info!("daemon {} started (epoch {}, {held} held)", daemon.pid, self.epoch);
        Ok(daemon)
    }

    fn signalled_within(&self, delay: Duration) -> bool {
        wait(&mut [PollFd::new(&self.signals, PollFlags::IN)], delay)
    }
}

/// Polls: whether any is ready. A failure is a turn in which nothing is: a machine short of memory
/// is no reason to let go of what is held.
fn wait(polled: &mut [PollFd<'_>], patience: Duration) -> bool {
    match rustix::event::poll(polled, Timespec::try_from(patience).ok().as_ref()) {
        Ok(ready) => ready > 0,
        Err(rustix::io::Errno::INTR) => false,
        Err(error) => {
            tracing::error!(%error, "polling");
            std::thread::sleep(FAILURE_PAUSE);
            false
        }
    }
}

/// By itself, with an error or a panic, and not because somebody killed it.
fn has_failed(status: ExitStatus) -> bool {
    status.code().is_some_and(|code| code != 0)
        || status.signal() == Some(signal_hook::consts::SIGABRT)
}

fn describe(status: Option<ExitStatus>) -> String {
    // `ExitStatus` prints as "signal: 9 (SIGKILL)" or "exit status: 1".
    status.map_or_else(|| "ended".to_owned(), |status| format!("ended: {status}"))
}
