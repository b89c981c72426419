//! Runs `millpond` with this companion, in folders of its own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use millpond_tests::binaries;

/// A folder for one test: runtime folder, software driver, home. Nothing outside is touched.
pub struct Place {
    folder: tempfile::TempDir,
}

/// How a run ended.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn pond(&self) -> PathBuf {
        self.path().join("pond")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(binaries::millpond());
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("MILLPOND_") || name == "NO_COLOR" || name.starts_with("XDG_") {
                command.env_remove(&*name);
            }
        }
        // Where MILLPOND_BIN named a program of another folder.
        let own = Path::new(env!("CARGO_BIN_EXE_millpond-bench")).parent().unwrap();
        let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap());
        command
            .args(words)
            .env("PATH", path)
            .env("MILLPOND_DRIVER", "soft")
            .env("MILLPOND_RUNTIME_DIR", self.pond())
            .env("MILLPOND_SOFT_DIR", self.path().join("soft"))
            .env("XDG_RUNTIME_DIR", self.path())
            .env("HOME", self.path())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        Ran::from(self.command(words).output().unwrap())
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
    pub fn serve(&self) -> Serving<'_> {
        let child = self.command(&["serve", "--quiet", "--log", "warn"]).spawn().unwrap();
        let serving = Serving { place: self, child };
        millpond_tests::eventually("the pond", || {
            (self.run(&["status"]).code == Some(0)).then_some(())
        });
        serving
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
pub struct Serving<'a> {
    place: &'a Place,
    child: Child,
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        let _ = self.place.run(&["stop"]);
        let _ = self.child.wait();
    }
}
