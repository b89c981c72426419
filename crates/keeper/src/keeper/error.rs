//! Why a keeper cannot keep.

use std::io;
use std::path::PathBuf;

use millpond_wire::fd::OVERFLOW_USER;
use millpond_wire::message::Service;
use millpond_wire::runtime_dir;
use millpond_wire::socket::SocketError;
use serde::{Deserialize, Serialize};

use crate::channel::KeyError;
use crate::config::ConfigError;
use crate::handover::HandoverError;

/// Who serves a folder, as written in its lock file. For people: the lock decides, not the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderHolder {
    pub pid: u32,
    pub user: u32,
    /// Since when, in seconds since 1970.
    pub started: u64,
    /// The unit of the service manager that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
}

impl FolderHolder {
    /// From the text of a lock file, whose first line counts.
    pub(crate) fn read(text: &str) -> Option<FolderHolder> {
        text.lines().next().and_then(|line| serde_json::from_str(line).ok())
    }
}

/// Why a keeper cannot keep.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// Another keeper has the folder.
    #[error("the pond in '{}' is already served by {}", folder.display(), who(holder.as_ref()))]
    FolderInUse {
        folder: PathBuf,
        /// By whom, if it has written that already.
        holder: Option<FolderHolder>,
    },
    /// No client could tell this user from others.
    #[error("user {OVERFLOW_USER} stands for every user without a number, and cannot serve a pond")]
    NoUser,
    /// Somebody else could put something into the folder.
    #[error("the runtime folder '{}' {problem}", folder.display())]
    FolderUntrusted {
        folder: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The user's folder in shared memory may be somebody else's.
    #[error("{problem}")]
    HomeUntrusted {
        /// Which folder, and what is wrong with it.
        problem: String,
    },
    /// The folder of the user's session takes no pond.
    #[error("{} is '{}', which cannot be written", runtime_dir::SESSION, folder.display())]
    SessionUnwritable {
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The group that was named is nowhere.
    #[error("no group '{0}' in /etc/group")]
    NoGroup(String),
    /// The group cannot be let in.
    #[error("opening '{}' to group {group}", path.display())]
    NotAdmitted {
        /// The socket or the folder.
        path: PathBuf,
        group: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The settings cannot be handed on.
    #[error("the settings have {0} bytes as JSON; at most 48 KiB can be handed to the daemon")]
    ConfigTooLarge(usize),
    /// The first daemon ended with an error before it served anybody; it has said why.
    #[error("the daemon could not start ({status})")]
    NeverServed { status: String },
    /// The daemon that was to be adopted died before it had handed over what a pond needs.
    #[error("the daemon died while it handed over; '{missing}' is missing")]
    AdoptionIncomplete {
        /// A key that did not come.
        missing: String,
    },
    /// A listening socket could not be made.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// A process could not be started or taken over.
    #[error(transparent)]
    Handover(#[from] HandoverError),
    /// A setting is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A key is none.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The system said no.
    #[error("{what}")]
    Io { what: String, source: io::Error },
}

fn who(holder: Option<&FolderHolder>) -> String {
    match holder {
        Some(holder) => format!("pid {} (user {})", holder.pid, holder.user),
        None => "another process".to_owned(),
    }
}

impl KeeperError {
    pub(super) fn io<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |error| KeeperError::Io { what, source: error.into() }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            KeeperError::FolderInUse { .. } => Some(
                "`millpond stop` stops it; `--runtime-dir` names another folder for a second pond"
                    .to_owned(),
            ),
            KeeperError::NoUser => Some(
                "serve as a user with a number of its own in this user namespace: \
                 /proc/self/uid_map lists them"
                    .to_owned(),
            ),
            KeeperError::FolderUntrusted { .. } => Some(
                "`--runtime-dir` names a folder; it must be yours, and writable only by you"
                    .to_owned(),
            ),
            KeeperError::NoGroup(_) => Some(
                "`socket_group` and `watch_group` take a group's name or its number".to_owned(),
            ),
            KeeperError::NotAdmitted { .. } => Some(
                "only root and members of a group can share a pond with it: `id` lists your groups"
                    .to_owned(),
            ),
            KeeperError::HomeUntrusted { .. } => Some(format!(
                "remove it, or choose a folder of your own with `--runtime-dir` or {}",
                runtime_dir::ENVIRONMENT
            )),
            KeeperError::SessionUnwritable { .. } => {
                let default = runtime_dir::home().join(runtime_dir::POND);
                let variable = runtime_dir::SESSION;
                Some(format!(
                    "unset {variable} for a pond in '{}', or choose a folder with `--runtime-dir`",
                    default.display()
                ))
            }
            KeeperError::Socket(SocketError::PathTooLong { .. }) => {
                Some("choose a shorter folder with `--runtime-dir`".to_owned())
            }
            KeeperError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some("choose a folder of your own with `--runtime-dir`".to_owned())
            }
            KeeperError::Handover(error) => error.hint(),
            KeeperError::Config(error) => error.hint(),
            _ => None,
        }
    }
}
