//! Faults on purpose, for tests of whoever watches a mover.

use crate::error::MoverError;

/// The variable that names a fault: for tests, and only honoured on the software driver.
const VARIABLE: &str = "MILLPOND_MOVER_FAULT";
const EXPECTED: &str =
    "hang-before-job:N, exit-before-job:N, hang-after-copy:N or disk-error-in-job:N";

/// What goes wrong, at the job with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The thread that takes its first block never goes on.
    HangBefore(u64),
    /// The process exits when its first block is taken.
    ExitBefore(u64),
    /// Its last bytes have landed, and nobody says so.
    HangAfterCopy(u64),
    /// The file cannot be read.
    DiskError(u64),
}

/// The fault of this process, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults(Option<Fault>);

impl Faults {
    pub(crate) fn from_environment() -> Result<Faults, MoverError> {
        match std::env::var(VARIABLE) {
            Ok(text) if !text.is_empty() => Faults::parse(&text),
            _ => Ok(Faults::default()),
        }
    }

    fn parse(text: &str) -> Result<Faults, MoverError> {
        let parsed = text.split_once(':').and_then(|(what, job)| {
            let job = job.parse().ok()?;
            match what {
                "hang-before-job" => Some(Fault::HangBefore(job)),
                "exit-before-job" => Some(Fault::ExitBefore(job)),
                "hang-after-copy" => Some(Fault::HangAfterCopy(job)),
                "disk-error-in-job" => Some(Fault::DiskError(job)),
                _ => None,
            }
        });
        let fault = parsed.ok_or_else(|| MoverError::Fault {
            variable: VARIABLE,
            value: text.to_owned(),
            expected: EXPECTED,
        })?;
        Ok(Faults(Some(fault)))
    }

    /// Called with every first block of a job.
    pub(crate) fn before(self, job: u64) {
        match self.0 {
            Some(Fault::HangBefore(number)) if number == job => hang(),
            Some(Fault::ExitBefore(number)) if number == job => std::process::exit(71),
            _ => {}
        }
    }

    /// Called before a block of a file is read.
    pub(crate) fn disk_fails(self, job: u64) -> bool {
        self.0 == Some(Fault::DiskError(job))
    }

    /// Called when all blocks of a job have landed.
    pub(crate) fn after_copy(self, job: u64) {
        if self.0 == Some(Fault::HangAfterCopy(job)) {
            hang();
        }
    }
}

fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_and_everything_else_is_refused() {
        for (text, fault) in [
            ("hang-before-job:1", Fault::HangBefore(1)),
            ("exit-before-job:22", Fault::ExitBefore(22)),
            ("hang-after-copy:0", Fault::HangAfterCopy(0)),
            ("disk-error-in-job:3", Fault::DiskError(3)),
        ] {
            assert_eq!(Faults::parse(text).unwrap().0, Some(fault));
        }
        for text in ["hang", "hang-before-job", "hang-before-job:x", "burn:1"] {
            let error = Faults::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("MILLPOND_MOVER_FAULT='{text}' is not")), "{error}");
        }
    }
}
