//! Starting a process with a channel on its standard input, and taking it there.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::net::SocketType;
use rustix::process::{Pid, PidfdFlags};

use crate::channel::{Channel, ChannelError};
use crate::config::{Config, ConfigError, LogFormat};

/// A program to start. Found once, at the start: after an update of the package the path leads to
/// the new program, while the kernel's link to the running one would lead nowhere.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Launch {
    /// This program with one hidden subcommand: `daemon` or `keeper`.
    ///
    /// # Errors
    /// If the kernel does not say where this program is.
    pub fn this_program(subcommand: &str) -> io::Result<Launch> {
        let arguments = vec![subcommand.into()];
        Ok(Launch { program: std::env::current_exe()?, arguments })
    }

    /// The same, with the log of these settings.
    #[must_use]
    pub fn with_log(mut self, config: &Config) -> Launch {
        let format = match config.log_format {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        };
        let log = ["--log", &config.log, "--log-format", format];
        self.arguments.extend(log.map(OsString::from));
        self
    }

    /// Starts it with the other end of a new channel. In a process group of its own: a Ctrl-C in
    /// the terminal is for the keeper, which then stops the daemon in order.
    pub(crate) fn start(&self) -> Result<(Channel, Child, OwnedFd), HandoverError> {
        let (channel, theirs) = Channel::pair()?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::from(theirs)).process_group(0);
        let what = || format!("starting '{}'", self.program.display());
        let mut child = command.spawn().map_err(HandoverError::io(what()))?;
        // Not reaped yet, so the number cannot be anybody else's.
        match pidfd(Pid::from_child(&child)) {
            Ok(pidfd) => Ok((channel, child, pidfd)),
            Err(source) => {
                // Unwatched it must not run; both calls can only fail if it is gone already.
                let _ = child.kill();
                let _ = child.wait();
                Err(HandoverError::Io { what: what(), source })
            }
        }
    }
}

/// Why nothing was handed over.
#[derive(Debug, thiserror::Error)]
pub enum HandoverError {
    /// Started by hand.
    #[error("standard input is not a channel")]
    NotAChannel,
    /// The peer does not follow the protocol.
    #[error("expected {expected} on the channel")]
    Unexpected {
        /// What should have come.
        expected: &'static str,
    },
    /// The channel broke.
    #[error("handing over")]
    Channel(#[from] ChannelError),
    /// The settings do not fit this version.
    #[error("handing over")]
    Config(#[from] ConfigError),
    /// The system said no.
    #[error("{what}")]
    Io {
        /// Doing what.
        what: String,
        /// What it said.
        source: io::Error,
    },
}

impl HandoverError {
    pub(crate) fn io<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |error| HandoverError::Io { what, source: error.into() }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            HandoverError::NotAChannel => {
                Some("this command is started by Millpond itself; use `millpond serve`".to_owned())
            }
            HandoverError::Config(error) => error.hint(),
            _ => None,
        }
    }
}

/// A pidfd of this process, to be sent to whoever should see its end.
pub(crate) fn own_pidfd() -> Result<OwnedFd, HandoverError> {
    pidfd(rustix::process::getpid()).map_err(HandoverError::io("opening a pidfd of this process"))
}

fn pidfd(pid: Pid) -> io::Result<OwnedFd> {
    Ok(rustix::process::pidfd_open(pid, PidfdFlags::empty())?)
}

/// Takes the channel from standard input and puts `/dev/null` there, so that no child of this
/// process inherits it: the peer would miss the end of this process.
pub(crate) fn take_stdin() -> Result<Channel, HandoverError> {
    let stdin = rustix::stdio::stdin();
    if rustix::net::sockopt::socket_type(stdin) != Ok(SocketType::SEQPACKET) {
        return Err(HandoverError::NotAChannel);
    }
    let socket = rustix::io::fcntl_dupfd_cloexec(stdin, 3)
        .map_err(HandoverError::io("taking the channel"))?;
    let null = File::open("/dev/null").map_err(HandoverError::io("opening '/dev/null'"))?;
    rustix::stdio::dup2_stdin(&null).map_err(HandoverError::io("closing standard input"))?;
    Ok(Channel::new(socket))
}
