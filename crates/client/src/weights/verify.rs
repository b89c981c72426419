//! Whether a version's bytes are still those that were loaded.

use std::time::{Duration, Instant};

use millpond_wire::message::VersionInfo;

use super::contents::Reading;
use super::hold::LeasedVersion;
use super::stop::GoOn;
use crate::{IntoVersion, Pond, Progress, Result};

/// What came of a look at every byte of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The version.
    pub info: VersionInfo,
    /// How many bytes were hashed.
    pub bytes: u64,
    /// Tensors whose bytes are not those that were loaded.
    pub differing: Vec<String>,
    /// How long it took.
    pub elapsed: Duration,
}

impl Pond {
    /// Hashes every tensor of a version on its GPU and compares with the manifest. That something
    /// differs is an answer, not an error. `progress` may answer [`Break`](std::ops::ControlFlow::Break).
    ///
    /// # Errors
    /// `not_found`, `not_ready`, `retired`; `mover`; what else the pond answers.
    pub fn verify<A: GoOn>(
        &self,
        target: impl IntoVersion,
        progress: impl FnMut(Progress) -> A,
    ) -> Result<Verified> {
        let begun = Instant::now();
        let held = LeasedVersion::take(self, target.into_version()?)?;
        let reading = Reading {
            link: &self.core().link,
            manifest: &held.manifest,
            parts: &held.parts,
            places: &[],
            files: &[],
        };
        let differing = reading.run(progress)?;
        let bytes = held.manifest.tensors.iter().map(|tensor| tensor.bytes).sum();
        Ok(Verified { info: held.info.clone(), bytes, differing, elapsed: begun.elapsed() })
    }
}
