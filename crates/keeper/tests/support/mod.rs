//! A pond of real processes. The test binary starts itself as keeper, daemon and second keeper: each
//! is a `#[test]` that does nothing unless the environment says that it is a process of a pond.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod fake;

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use millpond_keeper::{KeeperStart, Launch};
use millpond_wire::process;
use rustix::process::{Pid, Signal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use fake::{adopting_keeper, daemon_main, keeper_main, new_keeper};

/// Generous: nothing here should take a second, on a machine with nothing else to do.
const PATIENCE: Duration = Duration::from_secs(30);
/// The folder where the processes of a pond write what they see.
const NOTES: &str = "KEEPER_TEST_NOTES";
/// How the daemons behave, by epoch, divided by commas.
const PLAN: &str = "KEEPER_TEST_PLAN";

/// What a daemon saw and did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub pid: u32,
    pub keeper_pid: u32,
    pub epoch: u64,
    /// Key, device and inode of everything it was given.
    pub held: Vec<(String, u64, u64)>,
    /// The same of everything that is held now.
    pub holds: Vec<(String, u64, u64)>,
    /// What is written in the journal.
    pub journal: String,
}

/// How a keeper ended.
#[derive(Debug, Serialize, Deserialize)]
pub struct End {
    pub result: String,
    pub hint: Option<String>,
}

/// This binary as one of the `#[test]`s that are processes.
fn this_binary(role: &str) -> Launch {
    let arguments = ["--exact", role, "--nocapture", "--test-threads=1"].map(OsString::from);
    Launch::new(std::env::current_exe().unwrap(), arguments.to_vec())
}

/// Writes a note so that it is there completely or not at all.
fn write_note(name: &str, note: &impl Serialize) {
    let folder = PathBuf::from(std::env::var_os(NOTES).unwrap());
    let new = folder.join(format!(".{name}.{}", std::process::id()));
    std::fs::write(&new, serde_json::to_vec(note).unwrap()).unwrap();
    std::fs::rename(new, folder.join(name)).unwrap();
}

pub struct Pond {
    pub folder: tempfile::TempDir,
    notes: tempfile::TempDir,
    keepers: Vec<Child>,
}

impl Pond {
    pub fn start(plan: &str, settings: &[(&str, &str)]) -> Pond {
        let mut pond = Pond::new();
        pond.start_keeper(plan, settings);
        pond
    }

    pub fn new() -> Pond {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o700)).unwrap();
        Pond { folder, notes: tempfile::tempdir().unwrap(), keepers: Vec::new() }
    }

    pub fn start_keeper(&mut self, plan: &str, settings: &[(&str, &str)]) -> u32 {
        let log = File::options().create(true).append(true).open(self.notes.path().join("log"));
        let launch = this_binary("keeper_process");
        let keeper = Command::new(&launch.program)
            .args(&launch.arguments)
            .env(NOTES, self.notes.path())
            .env(PLAN, plan)
            .env("MILLPOND_RUNTIME_DIR", self.folder.path())
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.unwrap())
            .spawn()
            .unwrap();
        let pid = keeper.id();
        self.keepers.push(keeper);
        pid
    }

    /// What the daemon of this epoch wrote when it was ready.
    pub fn daemon(&self, epoch: u64) -> Note {
        self.note(&format!("daemon-{epoch}"))
    }

    pub fn note<T: DeserializeOwned>(&self, name: &str) -> T {
        let path = self.notes.path().join(name);
        let text = self.until(&format!("a note `{name}`"), || std::fs::read(&path).ok());
        serde_json::from_slice(&text).unwrap()
    }

    pub fn has_note(&self, name: &str) -> bool {
        self.notes.path().join(name).exists()
    }

    pub fn end(&self, keeper: u32) -> End {
        self.note(&format!("end-{keeper}"))
    }

    pub fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < deadline, "no {what} in {PATIENCE:?}; log:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(3));
        }
    }

    /// Until the log has these words.
    pub fn until_said(&self, words: &str) {
        self.until(&format!("line '{words}'"), || self.log().contains(words).then_some(()));
    }

    /// Until the process is no more, or a zombie that another process has to reap.
    pub fn until_gone(&self, pid: u32) {
        self.until(&format!("end of process {pid}"), || {
            thread_states(pid).iter().all(|state| matches!(state, 'Z' | 'X')).then_some(())
        });
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.notes.path().join("log")).unwrap_or_default()
    }
}

/// One letter for each thread: `T` is stopped, `Z` a zombie. None at all: the process is gone.
fn thread_states(pid: u32) -> Vec<char> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let stats = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
    stats.filter_map(|stat| stat.rsplit(')').next()?.trim().chars().next()).collect()
}

pub fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

impl Drop for Pond {
    /// Ends what is left of this pond. A keeper and a daemon start each other again, so one round is not
    /// enough.
    fn drop(&mut self) {
        for keeper in &mut self.keepers {
            let _ = keeper.kill();
            let _ = keeper.wait();
        }
        let mut ours = format!("{NOTES}=").into_bytes();
        ours.extend_from_slice(self.notes.path().as_os_str().as_bytes());
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = process::with_variable(|variable| variable == ours);
            if left.is_empty() || Instant::now() > deadline {
                return;
            }
            for process in &left {
                let _ = process.kill();
            }
            for process in &left {
                let _ = process.wait(Duration::from_secs(1));
            }
        }
    }
}

/// The plan for a daemon of this epoch; the last one is for all that follow.
fn plan(epoch: u64) -> String {
    let plan = std::env::var(PLAN).unwrap();
    let words: Vec<_> = plan.split(',').collect();
    let index = usize::try_from(epoch - 1).unwrap().min(words.len() - 1);
    words[index].to_owned()
}

fn is_process() -> bool {
    std::env::var_os(NOTES).is_some()
}

fn keeper_start() -> KeeperStart {
    let flags = millpond_keeper::config::ConfigOverrides::default();
    let none = Some(Path::new("/dev/null"));
    let config = millpond_keeper::config::Config::load(none, &flags).unwrap();
    KeeperStart { config, daemon: this_binary("daemon_process"), opener: None }
}
