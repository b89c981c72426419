//! The one error of the crate, sorted by what the caller can do.

mod way_out;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use millpond_cuda::{CudaError, DevicePtr, DriverError};
use millpond_elastic::{ElasticError, PoolError};
use millpond_wire::message::DecodeError;
use millpond_wire::socket::{Owner, SocketError};
use millpond_wire::{
    ErrorKind, Failure, GpuUuid, ModelNameError, NameError, ShapeError, TransportKind,
};

use crate::adopt::AdoptRefusal;
use crate::users::UnknownUser;

/// Why a call failed. [`Error::kind`] is the same list of kinds in every language.
///
/// Its `Debug` is for people: `fn main() -> Result<(), millpond::Error>` prints the message and the
/// hint.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // Change the request: as it is, it can never succeed.
    /// A tensor name that is not possible.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A name or a tag that no version of a model can have.
    #[error(transparent)]
    ModelName(#[from] ModelNameError),
    /// A version of a model that cannot be used so, or that is not what it says.
    #[error("{message}")]
    Version {
        /// Invalid, not found or retired.
        kind: ErrorKind,
        /// What is wrong with which version.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
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
    /// Memory of this program that cannot become a tensor without a copy.
    #[error("the memory at {address} cannot be adopted: {reason}")]
    Adopt {
        /// Where it is.
        address: DevicePtr,
        /// Why not.
        reason: AdoptRefusal,
    },
    /// The tensor's memory has no handle that CUDA alone can open.
    #[error("tensor {tensor} has no handle: its transport is '{transport}', not 'ipc'")]
    NoHandle {
        /// Which one.
        tensor: String,
        /// How its memory is shared instead.
        transport: TransportKind,
    },
    /// The tensor has no event that orders the streams of two processes.
    #[error("tensor {tensor} has no event: {}", without_event(*transport))]
    NoEvent {
        /// Which one.
        tensor: String,
        /// How its memory is shared.
        transport: TransportKind,
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
    #[error("{leases} tensor{} of this pond {} still in use", plural(*leases).0, plural(*leases).1)]
    InUse {
        /// How many.
        leases: usize,
    },
    /// The pond was closed by this program.
    #[error("this pond was closed")]
    Closed,
    /// A file could not be read or written, or does not hold what it should.
    #[error("{message}")]
    File {
        /// What happened to which file.
        message: String,
        /// What the system said, if it was the system.
        reason: Option<io::ErrorKind>,
    },

    /// A cache: sizes that are not possible, blocks that are not committed, no room and who has it.
    #[error(transparent)]
    Elastic(Box<ElasticError>),

    /// A stream-ordered pool: no memory after everything was tried, a stream of another context.
    #[error(transparent)]
    Pool(Box<PoolError>),

    // The pond answered, and said no.
    /// The pond's own answer, with all that it said.
    #[error("{}", .0.message)]
    Refused(Box<Failure>),

    // Repeat after a moment.
    /// The program itself ended the call, with a [`Cancel`](crate::Cancel).
    #[error("the call was cancelled")]
    Cancelled,
    /// No answer came in time.
    #[error("no answer to {what} within {after:.1?}")]
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
    /// The socket is there, but this user may not use it.
    #[error("user {user} may not use '{}'", path.display())]
    NotLetIn {
        /// The socket.
        path: PathBuf,
        /// Who was not let in.
        user: u32,
    },
    /// What is there does not belong to whom it should.
    #[error("'{}' belongs to {}, not to {expected}", path.display(), Owner(*owner))]
    Untrusted {
        /// Which path.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Whose it may be.
        expected: String,
    },
    /// The socket's path does not fit the kernel's address structure.
    #[error("socket path '{}' is too long: {length} bytes; the limit is 107", path.display())]
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

fn without_event(transport: TransportKind) -> String {
    match transport {
        TransportKind::Ipc => "its memory was made by another program".to_owned(),
        other => format!("its transport is '{other}', not 'ipc'"),
    }
}

/// The end of a word for so many, and what they are.
fn plural(number: usize) -> (&'static str, &'static str) {
    if number == 1 { ("", "is") } else { ("s", "are") }
}

struct Reason<'a>(&'a str);

impl std::fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " ({})", self.0) }
    }
}

impl From<ElasticError> for Error {
    fn from(error: ElasticError) -> Self {
        Error::Elastic(Box::new(error))
    }
}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Pages(error) => error.into(),
            other => Error::Pool(Box::new(other)),
        }
    }
}

impl Error {
    /// The kind, from the one list that every language shares.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Refused(failure) => failure.kind,
            Error::Version { kind, .. } => *kind,
            Error::Name(_)
            | Error::ModelName(_)
            | Error::Shape(_)
            | Error::User(_)
            | Error::ReadOnly { .. }
            | Error::OutOfBounds { .. }
            | Error::OtherContext { .. }
            | Error::Adopt { .. }
            | Error::NoHandle { .. }
            | Error::NoEvent { .. }
            | Error::Forked { .. }
            | Error::InUse { .. }
            | Error::Closed
            | Error::PathTooLong { .. } => ErrorKind::Invalid,
            Error::File { .. } => ErrorKind::File,
            Error::Pool(error) => match **error {
                PoolError::OutOfMemory { .. } => ErrorKind::GpuFull,
                PoolError::Driver(_) => ErrorKind::Driver,
                _ => ErrorKind::Invalid,
            },
            Error::Elastic(error) => match **error {
                ElasticError::NeverFits { .. }
                | ElasticError::AfterFreeing { .. }
                | ElasticError::OverBudget { .. }
                | ElasticError::OverCap { .. }
                | ElasticError::CardFull { .. } => ErrorKind::GpuFull,
                ElasticError::InUse(_) => ErrorKind::InUse,
                ElasticError::Driver(_) => ErrorKind::Driver,
                _ => ErrorKind::Invalid,
            },
            Error::DeviceNotVisible { .. } | Error::NoSuchIndex { .. } => ErrorKind::NoDevice,
            Error::Cancelled => ErrorKind::Later,
            Error::Timeout { .. } => ErrorKind::Timeout,
            Error::NoPond { .. } => ErrorKind::NoPond,
            Error::NotLetIn { .. } => ErrorKind::Denied,
            Error::Untrusted { .. } => ErrorKind::Untrusted,
            Error::Protocol(_) => ErrorKind::Protocol,
            Error::System { .. } => ErrorKind::Internal,
            Error::NoDriver(_) | Error::Driver(_) => ErrorKind::Driver,
        }
    }

    /// What the system said while a connection to `path` was made.
    pub(crate) fn connecting(path: &Path, error: SocketError) -> Self {
        match error {
            SocketError::PathTooLong { path, length } => Error::PathTooLong { path, length },
            SocketError::Untrusted { path, owner, expected } => {
                Error::Untrusted { path, owner, expected }
            }
            SocketError::Lying(what) => Error::Protocol(what.to_owned()),
            SocketError::OutOfDescriptors => Error::out_of_descriptors(),
            SocketError::HungUp => {
                Error::NoPond { path: path.to_owned(), reason: "it hung up".to_owned() }
            }
            SocketError::Io { source, .. } => {
                let path = path.to_owned();
                let reason = match source.kind() {
                    io::ErrorKind::PermissionDenied => {
                        let user = rustix::process::geteuid().as_raw();
                        return Error::NotLetIn { path, user };
                    }
                    // That it is not there is what the error says already.
                    io::ErrorKind::NotFound => String::new(),
                    io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
                    io::ErrorKind::WouldBlock => "nothing accepts connections there".to_owned(),
                    _ => source.to_string(),
                };
                Error::NoPond { path, reason }
            }
        }
    }

    /// This process could not take what came with an answer.
    pub(crate) fn out_of_descriptors() -> Self {
        Error::System {
            what: "taking the descriptors of an answer".to_owned(),
            reason: "this process has too many open files (`ulimit -n`)".to_owned(),
        }
    }

    /// A file that does not hold what it should.
    pub(crate) fn file(message: impl Into<String>) -> Self {
        Error::File { message: message.into(), reason: None }
    }

    /// The same, with the way out.
    pub(crate) fn file_with_hint(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure::new(ErrorKind::File, message).hint(hint).into()
    }

    /// What the system said about a file.
    pub(crate) fn in_file(what: impl std::fmt::Display, error: &io::Error) -> Self {
        Error::File { message: format!("{what}: {}", said(error)), reason: Some(error.kind()) }
    }

    /// A version that is not what it says, or cannot be used so.
    pub(crate) fn version(
        kind: ErrorKind,
        message: impl Into<String>,
        hint: impl Into<Option<String>>,
    ) -> Self {
        Error::Version { kind, message: message.into(), hint: hint.into() }
    }

    pub(crate) fn system(what: impl Into<String>, reason: impl std::fmt::Display) -> Self {
        Error::System { what: what.into(), reason: reason.to_string() }
    }
}

/// What the system said, in words: the number behind them means nothing to most people.
pub(crate) fn said(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
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
