//! A pond of its own.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use millpond::{Pond, PondBuilder};
use millpond_wire::message::Status;
use tempfile::TempDir;

use super::janitor::Janitor;
use super::process::{self, Process};
use super::{PATIENCE, Worker, folder, until};
use millpond_console::error::{CommandError, Report, failed, wrong};
use millpond_console::exit::Code;
use millpond_wire::runtime_dir;

/// The variable that says where the software driver's devices are.
const SOFT_DIR: &str = "MILLPOND_SOFT_DIR";

/// Where the pond writes its log, in its folder.
const LOG: &str = "serve.log";

/// How long the first connections may take: short, so that a pond that ended is seen soon.
const FIRST_TRY: Duration = Duration::from_millis(50);

/// A pond in a temporary folder. Dropped, everything is stopped and removed.
#[derive(Debug)]
pub struct TrialPond {
    // Fields are dropped in this order: the janitor looks after everything has been tried here.
    folder: TempDir,
    program: PathBuf,
    settings: Vec<(&'static str, String)>,
    serve: Option<Child>,
    janitor: Option<Janitor>,
}

/// Sets what every process of a trial needs: the software driver's devices are in the folder too,
/// so that nothing else on the machine is disturbed.
pub fn set_environment(command: &mut Command, folder: &Path) {
    command.env(SOFT_DIR, folder.join(super::folder::SOFT));
}

impl TrialPond {
    /// A folder, and a janitor for it; no pond yet. `program` is the `millpond` that will serve.
    pub fn prepare(program: &Path, bytes: u64) -> Result<Self, CommandError> {
        let folder = folder::make(bytes)?;
        let janitor =
            Janitor::start(folder.path()).map_err(|error| failed("starting a janitor", error))?;
        Ok(Self {
            folder,
            program: program.to_owned(),
            settings: Vec::new(),
            serve: None,
            janitor: Some(janitor),
        })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A setting of the pond that has no flag, by its variable.
    pub fn set(&mut self, variable: &'static str, value: String) {
        self.settings.push((variable, value));
    }

    /// Starts the pond on one GPU, and waits until it answers and its driver is ready.
    pub fn serve(
        &mut self,
        device: &str,
        flags: &[&str],
    ) -> Result<(Status, Duration), CommandError> {
        let start = Instant::now();
        let spawned = self
            .spawn(device, flags)
            .map_err(|error| failed("starting `millpond serve`", error))?;
        self.serve = Some(spawned);
        let (status, _) = until("the pond's first answer", || {
            if let Some(ended) = self.serve_ended() {
                return Err(ended);
            }
            let Ok(pond) = self.builder("demo").reconnect_timeout(FIRST_TRY).connect() else {
                return Ok(None);
            };
            Ok(Some(pond.status()?).filter(|status| status.driver_ready))
        })?;
        Ok((status, start.elapsed()))
    }

    fn spawn(&self, device: &str, flags: &[&str]) -> std::io::Result<Child> {
        let log = File::create(self.folder().join(LOG))?;
        let mut command = Command::new(&self.program);
        command.args(["serve", "--quiet"]).arg("--runtime-dir").arg(self.folder());
        // Nobody's settings but these.
        command.args(["--config", "/dev/null", "--devices", device]).args(flags);
        set_environment(&mut command, self.folder());
        command
            .env(runtime_dir::ENVIRONMENT, self.folder())
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            // Ctrl-C is for the demo; its janitor ends the pond.
            .process_group(0)
            .spawn()
    }

    fn serve_ended(&mut self) -> Option<CommandError> {
        let status = self.serve.as_mut()?.try_wait().ok()??;
        let log = fs::read_to_string(self.folder().join(LOG)).unwrap_or_default();
        let tail: Vec<&str> = log.lines().rev().take(12).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        let message = format!("the pond ended at once ({status}):\n{}", tail.join("\n"));
        Some(
            Report::new(Code::Failed, message).hint("`millpond doctor` checks this machine").into(),
        )
    }

    /// A new connection to the pond.
    pub fn connect(&self, program: &str) -> Result<Pond, CommandError> {
        Ok(self.builder(program).connect()?)
    }

    fn builder(&self, program: &str) -> PondBuilder {
        Pond::builder().runtime_dir(self.folder()).program(program)
    }

    /// Starts a worker process on the pond.
    pub fn worker(&self, label: &str) -> Result<Worker, CommandError> {
        Worker::start(label, self.folder())
    }

    /// Stops the pond as an operator does, with SIGTERM to the keeper, and waits until both its
    /// processes are gone.
    pub fn stop(&mut self, status: &Status) -> Result<Duration, CommandError> {
        let start = Instant::now();
        let open = |pid| Process::open(pid).map_err(|error| failed(format!("pid {pid}"), error));
        let (keeper, daemon) = (open(status.keeper_pid)?, open(status.daemon_pid)?);
        keeper.terminate().map_err(|error| failed("SIGTERM to the keeper", error))?;
        for (name, process) in [("keeper", keeper), ("daemon", daemon)] {
            let gone = process.wait(PATIENCE).map_err(|error| failed(name, error))?;
            if !gone {
                return Err(wrong(format!("the {name} (pid {}) does not end", process.pid)));
            }
        }
        self.reap();
        Ok(start.elapsed())
    }

    /// Takes notice of the first keeper's death, which is this process's child.
    pub fn reap(&mut self) {
        if let Some(child) = &mut self.serve {
            let _ = child.try_wait();
        }
    }

    /// Leaves the pond running; its folder.
    pub fn keep(mut self) -> PathBuf {
        if let Some(janitor) = self.janitor.take() {
            janitor.dismiss();
        }
        self.serve = None;
        self.folder.disable_cleanup(true);
        self.folder.path().to_owned()
    }
}

impl Drop for TrialPond {
    fn drop(&mut self) {
        if self.janitor.is_none() {
            return;
        }
        process::clear(self.folder.path(), PATIENCE);
        folder::remove_locks(self.folder.path());
        if let Some(mut child) = self.serve.take() {
            let _ = child.wait();
        }
    }
}
