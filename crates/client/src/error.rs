//! The one error of the crate, sorted by what the caller can do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use millpond_cuda::{CudaError, DriverError};
use millpond_wire::message::DecodeError;
use millpond_wire::socket::SocketError;
use millpond_wire::{ErrorKind, Failure, GpuUuid, Holder, NameError, Remedy, ShapeError};

use crate::users::UnknownUser;

/// Why a call failed. [`Error::kind`] is the same list of kinds in every language.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // Change the request: as it is, it can never succeed.
    /// A tensor name that is not possible.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A shape that is not possible.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// `~user/name` with a user that this machine does not know.
    #[error(transparent)]
    User(#[from] UnknownUser),
    /// The tensor was taken read-only.
    #[error("tensor {tensor} is mapped read-only")]
    ReadOnly {
        /// Which one.
        tensor: String,
    },
    /// Bytes outside of the tensor.
    #[error("{length} bytes at offset {offset} are outside of tensor {tensor}, which has {bytes}")]
    OutOfBounds {
        /// Which one.
        tensor: String,
        /// Where the access begins.
        offset: u64,
        /// How long it is.
        length: u64,
        /// How large the tensor is.
        bytes: u64,
    },
    /// The stream belongs to another context than the tensor.
    #[error("the stream belongs to another context than tensor {tensor}")]
    OtherContext {
        /// Which one.
        tensor: String,
    },
    /// The tensor's GPU is not visible to this process.
    #[error("{device} is not visible to this process")]
    DeviceNotVisible {
        /// Which one.
        device: GpuUuid,
    },
    /// The pond has fewer GPUs.
    #[error("there is no GPU {index}; the pond has {count}")]
    NoSuchIndex {
        /// What was asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// The tensor belongs to the process that forked this one.
    #[error("tensor {tensor} belongs to process {owner}, which forked this one")]
    Forked {
        /// Which one.
        tensor: String,
        /// Whose it is.
        owner: u32,
    },
    /// The pond cannot be closed while tensors are in use.
    #[error("{leases} tensors of this pond are still in use")]
    InUse {
        /// How many.
        leases: usize,
    },
    /// The pond was closed by this program.
    #[error("this pond was closed")]
    Closed,

    // The pond answered, and said no.
    /// The pond's own answer, with all that it said.
    #[error("{}", .0.message)]
    Refused(Box<Failure>),

    // Repeat after a moment.
    /// No answer came in time.
    #[error("no answer to {what} within {after:?}")]
    Timeout {
        /// What was asked.
        what: &'static str,
        /// How long was waited.
        after: Duration,
    },

    // Tell the operator: the pond or the machine is not well.
    /// Nobody is at the socket.
    #[error("no pond answers on '{}'{}", path.display(), Reason(reason))]
    NoPond {
        /// The socket.
        path: PathBuf,
        /// What the system said; may be empty.
        reason: String,
    },
    /// What is there does not belong to whom it should.
    #[error("'{}' belongs to user {owner}, not to {expected}", path.display())]
    Untrusted {
        /// Which path.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Whose it may be.
        expected: String,
    },
    /// The socket's path does not fit the kernel's address structure.
    #[error("socket path '{}' is too long: {length} bytes", path.display())]
    PathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length.
        length: usize,
    },
    /// The pond sent something that is not in the protocol.
    #[error("the pond broke the protocol: {0}")]
    Protocol(String),
    /// The system refused something.
    #[error("{what}: {reason}")]
    System {
        /// Doing what.
        what: String,
        /// What it said.
        reason: String,
    },
    /// The GPU driver is missing or does not work.
    #[error(transparent)]
    NoDriver(#[from] DriverError),
    /// A call to the GPU driver failed.
    #[error(transparent)]
    Driver(#[from] CudaError),
}

struct Reason<'a>(&'a str);

impl std::fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " ({})", self.0) }
    }
}

impl Error {
    /// The kind, from the one list that every language shares.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Refused(failure) => failure.kind,
            Error::Name(_)
            | Error::Shape(_)
            | Error::User(_)
            | Error::ReadOnly { .. }
            | Error::OutOfBounds { .. }
            | Error::OtherContext { .. }
            | Error::Forked { .. }
            | Error::InUse { .. }
            | Error::Closed
            | Error::PathTooLong { .. } => ErrorKind::Invalid,
            Error::DeviceNotVisible { .. } | Error::NoSuchIndex { .. } => ErrorKind::NoDevice,
            Error::Timeout { .. } => ErrorKind::Timeout,
            Error::NoPond { .. } => ErrorKind::NoPond,
            Error::Untrusted { .. } => ErrorKind::Untrusted,
            Error::Protocol(_) => ErrorKind::Protocol,
            Error::System { .. } => ErrorKind::Internal,
            Error::NoDriver(_) | Error::Driver(_) => ErrorKind::Driver,
        }
    }

    /// What the caller can do about it.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        self.kind().remedy()
    }

    /// The way out: the next command to type, or what to change.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Refused(failure) => return failure.hint.clone(),
            Error::NoPond { .. } => "start one with `millpond serve`".to_owned(),
            Error::ReadOnly { .. } => "get it with `GetOptions::read_write()`".to_owned(),
            Error::DeviceNotVisible { .. } => {
                "look at CUDA_VISIBLE_DEVICES and MILLPOND_DRIVER; `millpond status` shows the \
                 pond's driver and GPUs"
                    .to_owned()
            }
            Error::PathTooLong { .. } => {
                format!("set {} to a shorter path", millpond_wire::runtime_dir::ENVIRONMENT)
            }
            Error::InUse { .. } => "drop the tensors first".to_owned(),
            Error::User(_) => "a user's number always works, as in `~1000/name`".to_owned(),
            Error::NoDriver(_) => {
                format!("{}=soft runs without a GPU", millpond_cuda::DriverChoice::VARIABLE)
            }
            _ => return None,
        })
    }

    /// All that the pond said, where it was the pond that said no.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Error::Refused(failure) => Some(failure),
            _ => None,
        }
    }

    /// Names close to one that was not found.
    #[must_use]
    pub fn similar(&self) -> &[String] {
        self.failure().map_or(&[], |failure| &failure.similar)
    }

    /// Bytes free, where memory was short.
    #[must_use]
    pub fn free_bytes(&self) -> Option<u64> {
        self.failure().and_then(|failure| failure.free_bytes)
    }

    /// Who holds the rest, largest first, where memory was short.
    #[must_use]
    pub fn holders(&self) -> &[Holder] {
        self.failure().map_or(&[], |failure| &failure.holders)
    }

    /// What the system said while a connection to `path` was made.
    pub(crate) fn connecting(path: &Path, error: SocketError) -> Self {
        match error {
            SocketError::PathTooLong { path, length } => Error::PathTooLong { path, length },
            SocketError::Untrusted { path, owner, expected } => {
                Error::Untrusted { path, owner, expected }
            }
            SocketError::Lying(what) => Error::Protocol(what.to_owned()),
            SocketError::HungUp => {
                Error::NoPond { path: path.to_owned(), reason: "it hung up".to_owned() }
            }
            SocketError::Io { source, .. } => {
                Error::NoPond { path: path.to_owned(), reason: source.to_string() }
            }
        }
    }

    pub(crate) fn system(what: impl Into<String>, reason: impl std::fmt::Display) -> Self {
        Error::System { what: what.into(), reason: reason.to_string() }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error::Refused(Box::new(failure))
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Error::Protocol(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_pond_names_its_socket_and_the_command() {
        let error =
            Error::NoPond { path: "/run/millpond/sock".into(), reason: "No such file".into() };
        assert_eq!(error.to_string(), "no pond answers on '/run/millpond/sock' (No such file)");
        assert!(error.hint().unwrap().contains("`millpond serve`"));
        assert_eq!(error.kind(), ErrorKind::NoPond);
        assert_eq!(error.remedy(), Remedy::Operator);
    }

    #[test]
    fn the_ponds_answer_comes_through_whole() {
        let failure = Failure {
            similar: vec!["acts/y".into()],
            free_bytes: Some(5),
            holders: vec![Holder { user: 7, bytes: 9, tensors: 1 }],
            ..Failure::new(ErrorKind::GpuFull, "full").hint("delete something")
        };
        let error = Error::from(failure);
        assert_eq!(error.kind(), ErrorKind::GpuFull);
        assert_eq!(error.to_string(), "full");
        assert_eq!(error.hint().as_deref(), Some("delete something"));
        assert_eq!(error.similar(), ["acts/y"]);
        assert_eq!((error.free_bytes(), error.holders()[0].user), (Some(5), 7));
    }
}
