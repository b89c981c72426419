//! Runs the program as a user does at a terminal, with time limits and folders of its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use crate::binaries;

/// Far more than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A folder for one test: runtime folder, software driver, home. Nothing outside is touched.
pub struct Desk {
    folder: tempfile::TempDir,
    /// Where companions lie, unless beside the program.
    companions: Option<PathBuf>,
}

/// How a run ended.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Desk {
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it makes something in the file system")]
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), companions: None }
    }

    /// With companions from this folder: where `MILLPOND_BIN` names a program of another one.
    #[must_use]
    pub fn with_companions(folder: &Path) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), companions: Some(folder.to_owned()) }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn pond(&self) -> PathBuf {
        self.path().join("pond")
    }

    /// The program with these words, in this place, on the software driver.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = self.shell(binaries::millpond());
        command.args(words);
        command
    }

    /// Another program in this place.
    pub fn shell(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("MILLPOND_") || name == "NO_COLOR" || name.starts_with("XDG_") {
                command.env_remove(&*name);
            }
        }
        if let Some(companions) = &self.companions {
            let path = std::env::var("PATH").unwrap();
            command.env("PATH", format!("{}:{path}", companions.display()));
        }
        command
            .env("MILLPOND_DRIVER", "soft")
            .env("MILLPOND_RUNTIME_DIR", self.pond())
            .env("MILLPOND_SOFT_DIR", self.path().join("soft"))
            .env("XDG_RUNTIME_DIR", self.path())
            .env("HOME", self.path())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        let output = self.command(words).output().unwrap();
        Ran::from(output)
    }

    /// Runs what must succeed, and gives its standard output.
    pub fn stdout(&self, words: &[&str]) -> String {
        let ran = self.run(words);
        assert_eq!(ran.code, Some(0), "{words:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Runs what must succeed, and reads its JSON.
    pub fn json(&self, words: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.stdout(words)).unwrap()
    }

    /// A pond that runs until it is dropped.
    pub fn serve(&self) -> Serving {
        self.serve_with(self.command(&["serve", "--quiet", "--log", "warn"]))
    }

    /// A pond that this command starts.
    pub fn serve_with(&self, mut command: Command) -> Serving {
        let child = command.spawn().unwrap();
        let serving = Serving { child: Some(child) };
        let deadline = Instant::now() + PATIENCE;
        while self.run(&["status"]).code != Some(0) {
            assert!(Instant::now() < deadline, "the pond does not answer");
        }
        serving
    }
}

impl Drop for Desk {
    /// Locks of GPUs lie in /dev/shm; those of this place's devices are of no use to anybody.
    fn drop(&mut self) {
        let place = self.path().display().to_string();
        for entry in std::fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
            let is_lock = entry.file_name().to_string_lossy().starts_with("millpond-GPU-");
            if is_lock
                && std::fs::read_to_string(entry.path()).is_ok_and(|who| who.contains(&place))
            {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A pond in the background.
pub struct Serving {
    child: Option<Child>,
}

impl Serving {
    /// Stops it as an operator does.
    pub fn stop(mut self) -> ExitStatus {
        let mut child = self.child.take().unwrap();
        signal(child.id(), "TERM");
        wait(&mut child)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            signal(child.id(), "TERM");
            let _ = child.wait();
        }
    }
}

/// Sends a signal to a process that this test has started.
pub fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(status.unwrap().success());
}

/// Waits for a process, but not for ever.
pub fn wait(child: &mut Child) -> ExitStatus {
    until("the process to end", || child.try_wait().unwrap())
}

/// Looks until there is something to see.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A copy of a program, made by another process: a descriptor for writing that a thread's child has at
/// that moment would make the kernel refuse to start it.
pub fn copy_program(from: impl AsRef<Path>, to: &Path) {
    let status = Command::new("cp").arg(from.as_ref()).arg(to).status().unwrap();
    assert!(status.success(), "cp to {}", to.display());
}

/// A script, made likewise.
pub fn write_script(path: &Path, text: &str) {
    let make = "printf %s \"$2\" >\"$1\" && chmod 755 \"$1\"";
    let status = Command::new("sh").args(["-c", make, "sh"]).arg(path).arg(text).status().unwrap();
    assert!(status.success(), "{}", path.display());
}
