//! Runs a program to its end and keeps what it said.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::Process;

/// What a program said, and how it ended.
#[derive(Clone, Debug)]
pub struct Said {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    /// Runs a command; it is killed if it takes longer.
    ///
    /// # Panics
    /// If it cannot be started or has to be killed.
    #[must_use]
    pub fn by(command: &mut Command, patience: Duration) -> Self {
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let drain = |stream: Option<Box<dyn Read + Send>>| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = stream.unwrap().read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).into_owned()
            })
        };
        let stdout = drain(child.stdout.take().map(|stream| Box::new(stream) as _));
        let stderr = drain(child.stderr.take().map(|stream| Box::new(stream) as _));
        let process = Process::open(child.id()).unwrap();
        let ended = process.wait(patience);
        if !ended {
            process.kill();
        }
        let code = child.wait().unwrap().code();
        let said = Self { code, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() };
        assert!(ended, "{command:?} did not end within {patience:?}: {said:?}");
        said
    }

    /// Asserts that it went well, and returns what it printed.
    ///
    /// # Panics
    /// If it did not.
    #[must_use]
    #[track_caller]
    pub fn ok(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.stdout
    }

    /// Its standard output as JSON.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(self.ok()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The error on its standard error as JSON.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    #[track_caller]
    pub fn error(&self) -> Value {
        assert_ne!(self.code, Some(0), "{self:?}");
        let error: Value = serde_json::from_str(self.stderr.trim())
            .unwrap_or_else(|error| panic!("{error}: {self:?}"));
        let body = error["error"].clone();
        assert_eq!(body["exit_code"].as_i64(), self.code.map(i64::from), "{self:?}");
        body
    }
}
