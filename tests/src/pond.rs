//! A pond of one's own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use millpond::{Pond, Status, runtime_dir};
use millpond_cuda::DriverChoice;

use crate::driver::{alone, is_soft, tolerance};
use crate::stderr::{Kept, Stderr};
use crate::{
    Accounts, Folder, Options, PATIENCE, Process, Said, Worker, binaries, eventually, namespace,
    process,
};

/// Memory of a software device: enough for every test, little enough for every machine.
const SOFT_MEMORY: &str = "2G";

/// A `millpond serve` of one's own. Dropped, everything is killed and removed.
#[derive(Debug)]
pub struct TestPond {
    options: Options,
    serve: Mutex<Option<Child>>,
    stderr: Mutex<Kept>,
    control: OnceLock<Pond>,
    gauge: Mutex<Option<Worker>>,
    // Dropped last, in this order.
    folder: Folder,
    _alone: Option<MutexGuard<'static, ()>>,
}

/// What is in use, by the pond's books and by the driver's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    slabs: u64,
    physical: Option<u64>,
}

impl TestPond {
    /// Starts one, and waits until it answers and its driver is ready.
    ///
    /// # Panics
    /// If it does not.
    #[must_use]
    pub fn start(options: Options) -> Self {
        let pond = Self::prepare(options);
        pond.serve();
        pond
    }

    /// The folder and the environment, and nobody who serves yet.
    ///
    /// # Panics
    /// If the system refuses.
    #[must_use]
    pub fn prepare(options: Options) -> Self {
        let alone = alone(&options.driver());
        let folder = Folder::new();
        // An empty file, so that the machine's own configuration plays no part.
        File::create(folder.join("config.toml")).unwrap();
        Self {
            options,
            serve: Mutex::new(None),
            stderr: Mutex::new(Kept::Nothing),
            control: OnceLock::new(),
            gauge: Mutex::new(None),
            folder,
            _alone: alone,
        }
    }

    /// Starts `millpond serve` in it, and waits until it answers and its driver is ready.
    ///
    /// # Panics
    /// If it does not.
    pub fn serve(&self) {
        self.begin();
        self.wait_until_served();
    }

    /// Starts `millpond serve` in it, and waits for nothing.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn begin(&self) {
        let (stderr, kept) = self.options.stderr.open(&self.log_file());
        *lock(&self.stderr) = kept;
        self.begin_with(stderr);
    }

    /// The same with this as its standard error.
    ///
    /// # Panics
    /// If it does not.
    pub fn serve_to(&self, stderr: impl Into<Stdio>) {
        self.begin_with(stderr);
        self.wait_until_served();
    }

    fn begin_with(&self, stderr: impl Into<Stdio>) {
        let mut command = self.serve_command();
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        let child = command.spawn().unwrap();
        *lock(&self.serve) = Some(child);
    }

    fn wait_until_served(&self) {
        eventually("the pond's first answer", || {
            let ended = lock(&self.serve).as_mut().unwrap().try_wait().unwrap();
            assert!(ended.is_none(), "the pond ended ({ended:?}):\n{}", self.log());
            let status = self.connect().and_then(|pond| pond.status()).ok()?;
            status.driver_ready.then_some(())
        });
    }

    /// `millpond serve` with this pond's environment and flags, not started.
    #[must_use]
    pub fn serve_command(&self) -> Command {
        let program = self.options.program.as_deref().unwrap_or_else(|| binaries::millpond());
        let mut command = match &self.options.under {
            None => self.command(program),
            Some(script) => {
                let mut shell = self.command(Path::new("sh"));
                shell.args(["-c", script]).arg(program);
                shell
            }
        };
        command.envs(self.options.environment.iter().map(|(name, value)| (name, value)));
        // Nobody is greeted: the process that does it would be one more client.
        command.args(["serve", "--quiet"]).args(&self.options.flags);
        command
    }

    #[must_use]
    pub fn runtime_dir(&self) -> PathBuf {
        self.folder.join("run")
    }

    /// A path beside the runtime folder, removed with it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn log_file(&self) -> PathBuf {
        self.folder.join("serve.log")
    }

    /// What the keeper and the daemons have logged, if their standard error is a file.
    #[must_use]
    pub fn log(&self) -> String {
        if self.options.stderr != Stderr::Normal {
            return String::new();
        }
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    /// A program in this pond's environment.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("MILLPOND_") && !text.starts_with("MILLPOND_SOFT_") {
                command.env_remove(&name);
            }
        }
        command
            .env(DriverChoice::VARIABLE, self.options.driver().to_string())
            .env(runtime_dir::ENVIRONMENT, self.runtime_dir())
            .env("MILLPOND_CONFIG", self.folder.join("config.toml"))
            .env("MILLPOND_SOFT_DIR", self.folder.join("soft"));
        if std::env::var_os("MILLPOND_SOFT_MEMORY").is_none() {
            command.env("MILLPOND_SOFT_MEMORY", SOFT_MEMORY);
        }
        command
    }

    /// A `pondtool` in this pond's environment, not started.
    #[must_use]
    pub fn pondtool(&self) -> Command {
        let mut command = self.command(binaries::pondtool());
        let all = self.options.environment.iter().chain(&self.options.worker_environment);
        command.envs(all.map(|(name, value)| (name, value)));
        command
    }

    /// A new worker process.
    #[must_use]
    pub fn worker(&self) -> Worker {
        Worker::start(self.pondtool())
    }

    /// A new worker process with one more variable.
    #[must_use]
    pub fn worker_with(&self, name: &str, value: &str) -> Worker {
        let mut command = self.pondtool();
        command.env(name, value);
        Worker::start(command)
    }

    /// A new worker process in namespaces of its own; see [`namespace::under`].
    #[must_use]
    pub fn worker_under(&self, way: &[String], script: &str) -> Worker {
        Worker::start(namespace::under(way, script, &self.pondtool()))
    }

    /// Runs `millpond` with these arguments.
    #[must_use]
    pub fn cli(&self, arguments: &[&str]) -> Said {
        Said::by(&mut self.cli_command(arguments), PATIENCE)
    }

    /// `millpond` with these arguments, not started.
    #[must_use]
    pub fn cli_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(binaries::millpond());
        command.args(arguments);
        command
    }

    /// A new connection, which must map nothing: this process opens no driver.
    ///
    /// # Errors
    /// If nobody answers.
    pub fn connect(&self) -> millpond::Result<Pond> {
        Pond::builder().runtime_dir(self.runtime_dir()).program("test").connect()
    }

    /// The test's own connection, which lives as long as the pond; it must map nothing.
    ///
    /// # Panics
    /// If nobody answers.
    pub fn control(&self) -> &Pond {
        self.control.get_or_init(|| self.connect().unwrap())
    }

    /// What the pond says about itself.
    ///
    /// # Panics
    /// If it says nothing.
    pub fn status(&self) -> Status {
        self.control().status().unwrap()
    }

    /// Its account book, once its driver has said which GPUs there are.
    ///
    /// # Panics
    /// If it never does.
    pub fn accounts(&self) -> Accounts {
        let status = eventually("the driver", || Some(self.status()).filter(|s| s.driver_ready));
        Accounts::from(&status)
    }

    /// Bytes in use on the card, by the driver's own count. On a card, what processes held that
    /// just ended goes a moment later, so a reading counts when it stays the same.
    ///
    /// # Panics
    /// If it cannot be read, or never stays the same.
    pub fn physical(&self) -> u64 {
        let mut before = self.reading();
        // The last close of a slab frees its memory a moment after the pond has let go of it; a card takes longer.
        let pause = Duration::from_millis(if is_soft() { 5 } else { 50 });
        let mut same = 0;
        eventually("a steady reading of the card", || {
            std::thread::sleep(pause);
            let now = self.reading();
            same = if now == before { same + 1 } else { 0 };
            before = now;
            (same >= 5).then_some(now)
        })
    }

    fn reading(&self) -> u64 {
        let mut gauge = lock(&self.gauge);
        gauge.get_or_insert_with(|| self.worker()).ask("used").parse().unwrap()
    }

    /// Waits until the driver counts as many bytes as before.
    ///
    /// # Panics
    /// If it never does.
    #[track_caller]
    pub fn assert_physical(&self, what: &str, expected: u64) {
        let start = Instant::now();
        loop {
            let used = self.reading();
            if used.abs_diff(expected) <= tolerance() {
                return;
            }
            let late = start.elapsed() >= PATIENCE;
            assert!(!late, "{what}: the driver counts {used} bytes, expected {expected}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Bytes of the pond's slabs; and of the whole card where processes cost nothing on it, which is
    /// the software driver.
    ///
    /// # Panics
    /// As for [`TestPond::physical`].
    pub fn memory(&self) -> Memory {
        let slabs = self.status().devices.iter().map(|device| device.slab_bytes).sum();
        Memory { slabs, physical: is_soft().then(|| self.physical()) }
    }

    /// Waits until there are so many bytes more in use than before.
    ///
    /// # Panics
    /// If there never are.
    #[track_caller]
    pub fn assert_memory(&self, what: &str, before: Memory, more: u64) {
        let wanted = Memory {
            slabs: before.slabs + more,
            physical: before.physical.map(|physical| physical + more),
        };
        eventually(what, || (self.memory() == wanted).then_some(()));
    }

    /// Kills the daemon with -9; how long a new client waits for its first answer.
    ///
    /// # Panics
    /// If no other daemon answers.
    pub fn kill_daemon(&self) -> Duration {
        let before = self.status();
        let daemon = Process::open(before.daemon_pid).unwrap();
        daemon.kill();
        let start = Instant::now();
        eventually("an answer of the next daemon", || {
            let status = self.connect().and_then(|pond| pond.status()).ok()?;
            (status.epoch > before.epoch).then_some(())
        });
        let took = start.elapsed();
        assert!(daemon.wait(PATIENCE));
        took
    }

    /// Kills the keeper with -9; how long it takes until another one holds everything. The pond
    /// answers meanwhile.
    ///
    /// # Panics
    /// If there is no other keeper.
    pub fn kill_keeper(&self) -> Duration {
        let before = self.status();
        let keeper = Process::open(before.keeper_pid).unwrap();
        keeper.kill();
        let start = Instant::now();
        eventually("the next keeper", || {
            let status = self.status();
            assert_eq!(status.epoch, before.epoch, "the daemon went on");
            (status.keeper_pid != before.keeper_pid).then_some(())
        });
        let took = start.elapsed();
        assert!(keeper.wait(PATIENCE));
        self.reap();
        took
    }

    /// Waits until a keeper that was just started has taken everything out of its queue. Nothing
    /// depends on that (what is in the queue is safe), but its descriptors can be counted then.
    ///
    /// # Panics
    /// If it never does.
    pub fn wait_for_keeper(&self) {
        eventually("the new keeper", || {
            // Written when everything is taken. The log may be one that nobody can read.
            let lock = fs::read_to_string(self.runtime_dir().join(runtime_dir::LOCK)).ok()?;
            let holder: serde_json::Value = serde_json::from_str(lock.lines().next()?).ok()?;
            (holder["pid"] == self.status().keeper_pid).then_some(())
        });
    }

    /// Takes notice of the first keeper's death, which is this process's child.
    pub fn reap(&self) {
        if let Some(child) = lock(&self.serve).as_mut() {
            let _ = child.try_wait();
        }
    }

    /// Waits for the end of the `millpond serve` that was started first; its exit code.
    ///
    /// # Panics
    /// If it does not end.
    pub fn wait_for_serve(&self) -> Option<i32> {
        let mut serve = lock(&self.serve);
        let child = serve.as_mut().unwrap();
        assert!(Process::open(child.id()).is_ok_and(|process| process.wait(PATIENCE)));
        child.wait().unwrap().code()
    }

    /// Every process that was started for this pond.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        // With the slash, or `mpt-1-1` would also be the beginning of `mpt-1-10`.
        process::with_variable(runtime_dir::ENVIRONMENT, &self.folder.join(""))
    }
}

impl Drop for TestPond {
    fn drop(&mut self) {
        if std::thread::panicking() {
            crate::say(&format!("the log of the pond that failed:\n{}", self.log()));
        }
        drop(lock(&self.gauge).take());
        // One of keeper and daemon that is killed alone is started again by the other, so this
        // may take a few rounds.
        let deadline = Instant::now() + PATIENCE;
        loop {
            let processes = self.processes();
            processes.iter().for_each(Process::kill);
            self.reap();
            if processes.is_empty() || Instant::now() > deadline {
                break;
            }
            for process in &processes {
                let _ = process.wait(Duration::from_secs(1));
            }
        }
        if let Some(mut child) = lock(&self.serve).take() {
            let _ = child.wait();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
