//! How a pond is asked for, beyond the defaults.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use millpond_cuda::Driver;
use millpond_wire::{caps, runtime_dir};

use crate::core::Config;
use crate::link::LinkConfig;
use crate::pond::{Handle, Pond};
use crate::{Result, registry};

/// How long a call waits for a daemon that restarts. Longer than the longest that a pond with its
/// own defaults may take: one that hangs is killed up to 11 s after its last answer
/// (`watchdog_seconds` and a tick of the keeper), an upgrade that fails is back after 10 s, and then
/// the next daemon has to start. The watchdog does not have to be shorter for that: it would kill
/// daemons that are only slow to recover, again and again.
const RECONNECT: Duration = Duration::from_secs(15);
/// How long a call waits for its answer. The slowest driver call known, 100 GiB at once, takes a
/// tenth of a second; a daemon that hangs is replaced within seconds.
const REQUEST: Duration = Duration::from_secs(60);

/// A timeout longer than this is as good as none, and does not overflow a clock.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Which of a pond's sockets is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Door {
    #[default]
    Users,
    Watch,
    Operator,
}

/// Options for a connection, from [`Pond::builder`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct PondBuilder {
    folder: Option<PathBuf>,
    program: Option<String>,
    driver: Option<Driver>,
    reconnect_timeout: Option<Duration>,
    request_timeout: Option<Duration>,
    door: Door,
    lazy: bool,
}

impl PondBuilder {
    /// The pond's runtime folder, instead of where a client looks by itself.
    pub fn runtime_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// What `millpond ps` calls this process; by default the name of its script or executable.
    pub fn program(mut self, program: impl Into<String>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// The driver to map with, instead of the one that `MILLPOND_DRIVER` chooses.
    pub fn driver(mut self, driver: Driver) -> Self {
        self.driver = Some(driver);
        self
    }

    /// How long a call waits for a daemon that restarts; 15 seconds unless said.
    pub fn reconnect_timeout(mut self, timeout: Duration) -> Self {
        self.reconnect_timeout = Some(timeout);
        self
    }

    /// How long a call waits for its answer; a minute unless said. What [`GetOptions::wait`]
    /// allows comes on top.
    ///
    /// [`GetOptions::wait`]: crate::GetOptions::wait
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = Some(timeout);
        self
    }

    /// Uses the operator's socket, which is open to root and to the user who runs the pond: every
    /// tensor can be seen and deleted there, and no cap on users holds.
    pub fn operator(mut self) -> Self {
        self.door = Door::Operator;
        self
    }

    /// Uses the socket of those who only watch, which is open to root, to the user who runs the pond
    /// and to the members of its `watch_group`: everything of all users is seen there, and whatever
    /// would change, map or keep something is refused.
    pub fn watch(mut self) -> Self {
        self.door = Door::Watch;
        self
    }

    /// Has the first call connect, instead of [`PondBuilder::connect`], which cannot fail then. What
    /// that call needs besides the pond, such as the driver, is made ready while the pond answers.
    pub fn lazy(mut self) -> Self {
        self.lazy = true;
        self
    }

    /// Connects. A pond with nothing but a folder is shared by the whole process; any other
    /// option makes a connection of its own.
    ///
    /// # Errors
    /// [`Error::NoPond`](crate::Error::NoPond) if nobody answers; see there for the others.
    pub fn connect(self) -> Result<Pond> {
        let plain = self.program.is_none()
            && self.driver.is_none()
            && self.reconnect_timeout.is_none()
            && self.request_timeout.is_none()
            && self.door == Door::Users;
        let lazy = self.lazy;
        let config = self.config();
        let folder = config.folder.clone();
        let make = || Arc::new(Handle::new(config));
        let pond = Pond::new(if plain { registry::shared(&folder, make) } else { make() });
        if !lazy {
            pond.core().link.connected()?;
        }
        Ok(pond)
    }

    fn config(self) -> Config {
        let folder = self.folder.unwrap_or_else(runtime_dir::for_client);
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        let program = self.program.or_else(crate::program::own).unwrap_or_default();
        let link = LinkConfig {
            socket: match self.door {
                Door::Users => runtime_dir::socket(&folder),
                Door::Watch => runtime_dir::watch_socket(&folder),
                Door::Operator => runtime_dir::admin_socket(&folder),
            },
            program: cut(program, caps::PROGRAM_BYTES),
            reconnect_timeout: self.reconnect_timeout.unwrap_or(RECONNECT).min(LONGEST),
            request_timeout: self.request_timeout.unwrap_or(REQUEST).min(LONGEST),
        };
        Config { folder, link, driver: self.driver }
    }
}

/// At most so many bytes, and no half characters.
pub(crate) fn cut(mut text: String, bytes: usize) -> String {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or(0));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_program_name_is_cut_between_characters() {
        assert_eq!(cut("ab".into(), 5), "ab");
        assert_eq!(cut("aé".into(), 2), "a");
        assert_eq!(
            PondBuilder::default().program("x".repeat(999)).config().link.program.len(),
            255
        );
    }
}
