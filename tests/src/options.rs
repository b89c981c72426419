//! How a pond is started.

use std::path::PathBuf;

use millpond_cuda::DriverChoice;

use crate::Stderr;
use crate::driver::choice;

/// How a pond is started; everything has a default.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Options {
    pub(crate) flags: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) worker_environment: Vec<(String, String)>,
    pub(crate) program: Option<PathBuf>,
    pub(crate) under: Option<String>,
    pub(crate) stderr: Stderr,
    soft: bool,
}

impl Options {
    pub fn new() -> Self {
        Self::default()
    }

    /// No slab is kept for reuse: what is freed shows at once in the driver's own count.
    pub fn giving_back() -> Self {
        Self::new().flag("--recycle-bytes", "0")
    }

    /// One more flag of `millpond serve`.
    pub fn flag(mut self, name: &str, value: &str) -> Self {
        self.flags.extend([name.to_owned(), value.to_owned()]);
        self
    }

    /// One more variable, for the pond and for its workers.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// One more variable, for workers only.
    pub fn worker_env(mut self, name: &str, value: &str) -> Self {
        self.worker_environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Another `millpond` than the one that was built.
    pub fn program(mut self, path: PathBuf) -> Self {
        self.program = Some(path);
        self
    }

    /// A line of `sh` that ends in starting `"$0" "$@"`, which is the pond: for limits that only a
    /// parent can set.
    pub fn under(mut self, script: &str) -> Self {
        self.under = Some(script.to_owned());
        self
    }

    /// What the pond's standard error is.
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// The pond may use so many bytes of the card.
    pub fn capacity(self, bytes: u64) -> Self {
        self.flag("--capacity", &bytes.to_string())
    }

    /// On the software driver, also where a card is under test: for what a card cannot be told to
    /// do. So nothing has to be skipped there.
    pub fn soft(mut self) -> Self {
        self.soft = true;
        self
    }

    /// Calls of the driver that the *pond* makes fail on purpose.
    pub fn faults(self, plan: &str) -> Self {
        self.soft().env("MILLPOND_SOFT_FAULTS", plan).worker_env("MILLPOND_SOFT_FAULTS", "")
    }

    pub(crate) fn driver(&self) -> DriverChoice {
        if self.soft { DriverChoice::Soft } else { choice() }
    }
}
