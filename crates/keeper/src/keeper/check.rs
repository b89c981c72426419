//! What a program says about itself before a daemon is started from it.
//!
//! Asked by the keeper and not by whoever wants the upgrade: only here it is the same user, the
//! same limits and the same view of the files as for the daemon itself.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use millpond_channel::version::Versions;
use millpond_wire::socket;
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

use crate::channel;
use crate::handover::Launch;

/// The argument that makes `millpond daemon` print one line of [`About`] and end.
pub const CHECK_ARGUMENT: &str = "--check";
pub const PROGRAM: &str = "millpond";
/// How long a program may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest answer that is looked at.
const ANSWER_BYTES: u64 = 4096;

/// What a program says about itself, as one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub program: String,
    pub version: String,
    /// Version of the protocol with clients.
    pub protocol: u16,
    /// Newest format of the journal that it reads.
    pub journal: u32,
    /// Oldest version of the channel between keeper and daemon that it speaks. Keepers before the next
    /// field was there compare this one with theirs.
    pub channel: u32,
    /// Newest version of it; without one it is the oldest.
    #[serde(default)]
    pub channel_newest: Option<u32>,
}

impl About {
    fn channels(&self) -> Versions {
        Versions { oldest: self.channel, newest: self.channel_newest.unwrap_or(self.channel) }
    }
}

/// A question that is not answered yet.
pub(super) struct Check {
    pub launch: Launch,
    child: Child,
    pub pidfd: OwnedFd,
    pub until: Instant,
}

impl Check {
    /// Asks; why that is not possible.
    pub(super) fn start(launch: Launch) -> Result<Check, String> {
        let (child, pidfd) = launch.ask(CHECK_ARGUMENT).map_err(|error| error.to_string())?;
        Ok(Check { launch, child, pidfd, until: Instant::now() + PATIENCE })
    }

    /// What it said. To be called when the pidfd has fired, or it is too late.
    pub(super) fn answer(mut self, gone: bool) -> Result<(Launch, About), String> {
        if !gone {
            self.kill();
            return Err(format!("it did not answer within {} s", PATIENCE.as_secs()));
        }
        let status = self.child.wait().map_err(|error| error.to_string())?;
        let mut text = String::new();
        if let Some(output) = self.child.stdout.take() {
            // Somebody else may still have the other end: what is there now is the answer.
            socket::set_nonblocking(&output).map_err(|error| error.to_string())?;
            let _ = output.take(ANSWER_BYTES).read_to_string(&mut text);
        }
        judge(status, &text).map(|(about, version)| (self.launch.speaking(version), about))
    }

    /// With whatever it has started.
    pub(super) fn kill(&mut self) {
        let _ = rustix::process::kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

/// What a program is, and the version of the channel to speak with it.
fn judge(status: ExitStatus, text: &str) -> Result<(About, u32), String> {
    if !status.success() {
        return Err(format!("its check ended with {status}"));
    }
    let about = serde_json::from_str::<About>(text.trim())
        .ok()
        .filter(|about| about.program == PROGRAM)
        .ok_or("it is not a millpond")?;
    let (theirs, ours) = (about.channels(), channel::VERSIONS);
    let Some(version) = theirs.common(ours) else {
        return Err(format!(
            "version {} speaks version {theirs} of the keeper's channel, this keeper {ours}",
            about.version
        ));
    };
    Ok((about, version))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn about(channel: u32) -> About {
        let (program, version) = (PROGRAM.to_owned(), "9.9.9".to_owned());
        About { program, version, protocol: 1, journal: 1, channel, channel_newest: None }
    }

    #[test]
    fn only_a_millpond_that_speaks_the_channel_is_taken() {
        let (good, bad) = (ExitStatus::from_raw(0), ExitStatus::from_raw(256));
        let newest = channel::VERSIONS.newest;
        let said = serde_json::to_string(&about(newest)).unwrap() + "\n";
        assert_eq!(judge(good, &said), Ok((about(newest), newest)));
        assert!(judge(bad, &said).unwrap_err().contains("exit status: 1"));
        assert_eq!(judge(good, "hello").unwrap_err(), "it is not a millpond");
        let other = said.replace("\"millpond\"", "\"pond\"");
        assert_eq!(judge(good, &other).unwrap_err(), "it is not a millpond");
        let newer = serde_json::to_string(&about(newest + 1)).unwrap();
        assert!(judge(good, &newer).unwrap_err().starts_with("version 9.9.9 speaks version 3"));
    }

    #[test]
    fn a_program_of_the_first_version_of_the_channel_is_spoken_to_in_it() {
        let said = serde_json::to_string(&about(1)).unwrap();
        assert_eq!(judge(ExitStatus::from_raw(0), &said), Ok((about(1), 1)));
    }

    #[test]
    fn a_newer_program_that_still_speaks_the_keepers_version_is_taken() {
        let newest = channel::VERSIONS.newest;
        let newer = About { channel_newest: Some(newest + 3), ..about(newest) };
        let said = serde_json::to_string(&newer).unwrap();
        assert_eq!(judge(ExitStatus::from_raw(0), &said), Ok((newer, newest)));
        // Programs of before have no such field, and one that is unknown is passed over.
        let old = format!(
            "{{\"program\":\"millpond\",\"version\":\"0.1.0\",\"protocol\":1,\"journal\":1,\
             \"channel\":{newest},\"more\":true}}"
        );
        let (read, version) = judge(ExitStatus::from_raw(0), &old).unwrap();
        assert_eq!((read.channel_newest, version), (None, newest));
    }
}
