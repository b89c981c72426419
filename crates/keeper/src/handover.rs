//! Starting a process with a channel on its standard input, and taking it there.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use millpond_wire::socket;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags};

use crate::channel::{Channel, ChannelError, VERSIONS};
use crate::config::{Config, ConfigError, LogFormat};

/// A program to start. Its path is found once, at the start: after an update of the package the
/// path leads to the new program, while the kernel's link to the running one would lead nowhere.
#[derive(Clone, Debug)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// The file itself. It can be started when its path leads nowhere, or to something else.
    file: Option<Arc<OwnedFd>>,
    /// The file and not the path is what is meant.
    pinned: bool,
    /// The version of the keeper's channel that it understands.
    version: u32,
}

impl Launch {
    /// A program by its path.
    #[must_use]
    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Launch {
        Launch { program, arguments, file: None, pinned: false, version: VERSIONS.newest }
    }

    /// This program with one hidden subcommand: `daemon`, `keeper` or `mover`.
    ///
    /// # Errors
    /// If the kernel does not say where this program is.
    pub fn this_program(subcommand: &str) -> io::Result<Launch> {
        let (program, file) = program_of("self")?;
        let launch = Launch::new(program, vec![subcommand.into()]);
        Ok(Launch { file: Some(file), ..launch })
    }

    /// The same from the very file that this process runs, whatever its path leads to by now: for a
    /// process that must be of the same version.
    #[must_use]
    pub fn pinned(self) -> Launch {
        Launch { pinned: true, ..self }
    }

    /// The file that a process runs, whatever its path leads to by now.
    pub(crate) fn of_process(pid: u32, arguments: Vec<OsString>) -> io::Result<Launch> {
        let (program, file) = program_of(&pid.to_string())?;
        Ok(Launch { file: Some(file), pinned: true, ..Launch::new(program, arguments) })
    }

    /// The same, and this version of the channel is spoken with it.
    pub(crate) fn speaking(self, version: u32) -> Launch {
        Launch { version, ..self }
    }

    pub(crate) fn version(&self) -> u32 {
        self.version
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
        if let Some(file) = &config.log_file {
            let bytes = config.log_file_bytes.0.to_string();
            let file = ["--log-file".into(), file.into(), "--log-file-bytes".into(), bytes.into()];
            self.arguments.extend::<[OsString; 4]>(file);
        }
        self
    }

    /// Starts it with the other end of a new channel.
    pub(crate) fn start(&self) -> Result<(Channel, Child, OwnedFd), HandoverError> {
        let (channel, theirs) = Channel::pair()?;
        let what = format!("starting '{}'", self.program.display());
        let (child, pidfd) = self.spawn(&theirs, |_| {}).map_err(HandoverError::io(what))?;
        Ok((channel.speaking(self.version), child, pidfd))
    }

    /// Starts it with this as its standard input, and returns it with its pidfd, which fires when it
    /// is gone. In a process group of its own: a Ctrl-C in the terminal is for the keeper, which
    /// then stops the others in order. It inherits no other descriptor, all of which are
    /// close-on-exec.
    ///
    /// # Errors
    /// What the system says; nothing runs then.
    pub fn spawn(
        &self,
        stdin: &OwnedFd,
        prepare: impl Fn(&mut Command),
    ) -> io::Result<(Child, OwnedFd)> {
        let start = |mut command: Command| {
            prepare(&mut command);
            command.stdin(stdin.try_clone()?).spawn()
        };
        let by_path = || start(self.command(self.program.as_os_str()));
        let by_file = |file: &OwnedFd| {
            // The child's own link: resolved before the descriptor is closed.
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            let mut command = self.command(path.as_ref());
            command.arg0(&self.program);
            start(command)
        };
        let child = match (&self.file, self.pinned) {
            (Some(file), true) => by_file(file),
            (Some(file), false) => by_path().or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => by_file(file),
                _ => Err(error),
            }),
            (None, _) => by_path(),
        };
        watched(child?)
    }

    fn command(&self, program: &OsStr) -> Command {
        let mut command = Command::new(program);
        command.args(&self.arguments).process_group(0);
        // What a service manager passed is this process's alone.
        for name in ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"] {
            command.env_remove(name);
        }
        command
    }

    /// Starts it with one more argument, to hear what it says about itself on its output.
    pub(crate) fn ask(&self, argument: &str) -> io::Result<(Child, OwnedFd)> {
        let mut command = self.command(self.program.as_os_str());
        // A question is no service.
        command.arg(argument).env_remove("NOTIFY_SOCKET");
        watched(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?)
    }
}

/// Not reaped yet, so the number cannot be anybody else's.
fn watched(mut child: Child) -> io::Result<(Child, OwnedFd)> {
    match pidfd(Pid::from_child(&child)) {
        Ok(pidfd) => Ok((child, pidfd)),
        Err(error) => {
            // Unwatched it must not run; both calls can only fail if it is gone already.
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

fn program_of(process: &str) -> io::Result<(PathBuf, Arc<OwnedFd>)> {
    let link = format!("/proc/{process}/exe");
    let file = rustix::fs::open(&link, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    Ok((std::fs::read_link(&link)?, Arc::new(file)))
}

/// Why nothing was handed over.
#[derive(Debug, thiserror::Error)]
pub enum HandoverError {
    #[error("standard input is not a channel")]
    NotAChannel,
    /// The peer does not follow the protocol.
    #[error("expected {expected} on the channel")]
    Unexpected {
        /// What should have come.
        expected: &'static str,
    },
    #[error("handing over")]
    Channel(#[from] ChannelError),
    /// The settings do not fit this version.
    #[error("handing over")]
    Config(#[from] ConfigError),
    /// The system said no.
    #[error("{what}")]
    Io { what: String, source: io::Error },
}

/// An error in one line, with its causes.
#[must_use]
pub fn in_full(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

impl HandoverError {
    pub(crate) fn io<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |error| HandoverError::Io { what, source: error.into() }
    }

    /// All of it in one line, with its causes.
    #[must_use]
    pub fn in_full(&self) -> String {
        in_full(self)
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

/// Takes the channel from standard input.
pub(crate) fn take_stdin() -> Result<Channel, HandoverError> {
    let socket = socket::take_stdin().map_err(HandoverError::io("taking the channel"))?;
    socket.map(Channel::new).ok_or(HandoverError::NotAChannel)
}
