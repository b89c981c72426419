//! The one list of error kinds, sorted by what the caller can do.

use std::fmt;

/// What the caller can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remedy {
    /// Ask for something else: the request can never succeed as it is.
    Change,
    /// Repeat the same request after a moment.
    Retry,
    /// Free something, or raise a limit, and repeat.
    Free,
    /// Tell the operator: the pond or the machine is not well.
    Operator,
}

macro_rules! error_kinds {
    ($($code:literal $variant:ident $name:literal $exit:literal $remedy:ident $doc:literal;)*) => {
        /// Why a request failed.
        ///
        /// The number travels, the name is what JSON and other languages show, the exit code is
        /// the command line's. None of them ever changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum ErrorKind {
            $(#[doc = $doc] $variant = $code,)*
        }

        impl ErrorKind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [ErrorKind] = &[$(ErrorKind::$variant,)*];

            /// The stable name, for example `not_found`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(ErrorKind::$variant => $name,)* }
            }

            /// The command line's exit code.
            #[must_use]
            pub const fn exit_code(self) -> u8 {
                match self { $(ErrorKind::$variant => $exit,)* }
            }

            /// What the caller can do.
            #[must_use]
            pub const fn remedy(self) -> Remedy {
                match self { $(ErrorKind::$variant => Remedy::$remedy,)* }
            }

            /// One line for documentation.
            #[must_use]
            pub const fn describe(self) -> &'static str {
                match self { $(ErrorKind::$variant => $doc,)* }
            }

            /// The kind with this number; a number of a newer peer is [`ErrorKind::Internal`].
            #[must_use]
            pub const fn from_code(code: u16) -> ErrorKind {
                match code { $($code => ErrorKind::$variant,)* _ => ErrorKind::Internal }
            }
        }
    };
}

error_kinds! {
    1 Internal "internal" 70 Operator "An internal error; the daemon's log says more.";
    2 Invalid "invalid" 64 Change "The request is invalid: bad name, shape or combination.";
    3 NotFound "not_found" 3 Change "There is no such object, or it is not shared with the caller.";
    4 Exists "exists" 4 Change "The name is taken by an object of another dtype, shape, GPU or audience.";
    5 Denied "denied" 5 Change "The caller may not change this object.";
    6 NotReady "not_ready" 6 Retry "The tensor is still being written; wait until it is published.";
    7 GpuFull "gpu_full" 7 Free "The GPU, the pond's capacity on it, or the owner's group is full.";
    8 TooMany "too_many" 8 Free "A limit on objects, leases or connections is reached.";
    9 Later "later" 9 Retry "The pond is busy with this object; try again.";
    10 Draining "draining" 10 Retry "The pond is shutting down.";
    11 Lost "lost" 11 Operator "The record survived but its memory did not.";
    12 Driver "driver" 12 Operator "The GPU driver refused.";
    13 Protocol "protocol" 13 Change "The message is malformed, or of an unsupported version.";
    14 UnknownKind "unknown_kind" 14 Change "The daemon is older than this request.";
    15 NoPond "no_pond" 15 Operator "No pond answers on the socket.";
    16 Untrusted "untrusted" 16 Operator "A file or socket belongs to an unexpected user.";
    17 Timeout "timeout" 17 Retry "No answer, or nothing published, within the given time.";
    18 NoDevice "no_device" 18 Change "No such GPU.";
    19 File "file" 19 Change "A file could not be read or written, or has unexpected content.";
    21 Retired "retired" 21 Change "The version takes no new readers; another version is current.";
    22 InUse "in_use" 22 Free "Processes use it, or one of them keeps its lock; end them and try again.";
    23 Unsupported "unsupported" 23 Change "Memory of a kind, or a node, that this program cannot use.";
    20 Mover "mover" 20 Retry "The process that moves the bytes died or hung; nothing was published.";
}

impl ErrorKind {
    /// The number of the table.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Who holds memory, for the errors that say that a GPU is full or a tensor in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The owner's user id.
    pub user: u32,
    /// Bytes of the owner's slabs.
    pub bytes: u64,
    pub tensors: u32,
    /// The cache that holds it, and its process, where it is no slab.
    pub cache: Option<String>,
    /// The process, where it is about one tensor.
    pub pid: Option<u32>,
}

/// An answer that says no: what happened, to what, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What the caller can do depends on this.
    pub kind: ErrorKind,
    /// One sentence that names the thing.
    pub message: String,
    /// The next command to type, or the setting to change.
    pub hint: Option<String>,
    /// Names close to one that was not found.
    pub similar: Vec<String>,
    /// Bytes asked for, where memory was short.
    pub requested_bytes: Option<u64>,
    /// Bytes free, where memory was short.
    pub free_bytes: Option<u64>,
    /// The pond's capacity on the GPU, where memory was short.
    pub capacity_bytes: Option<u64>,
    /// Who holds the rest, largest first; or who uses the tensor that was not deleted for that.
    pub holders: Vec<Holder>,
    /// The time since an object of that name ended, where that is why it is not found.
    pub ended_ago_ms: Option<u64>,
    /// The cap that was reached, where that is why.
    pub limit: Option<Box<ReachedLimit>>,
}

/// A cap that somebody has reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedLimit {
    /// The setting that says how much, for example `limits.clients_per_user`.
    pub key: String,
    /// How much there is.
    pub has: u64,
    /// How much there may be.
    pub cap: u64,
}

impl Failure {
    /// A failure with only a message.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            similar: Vec::new(),
            requested_bytes: None,
            free_bytes: None,
            capacity_bytes: None,
            holders: Vec::new(),
            ended_ago_ms: None,
            limit: None,
        }
    }

    /// A driver that has not reported its GPUs in time.
    #[must_use]
    pub fn driver_starting() -> Self {
        Self::new(ErrorKind::Driver, "the pond's driver is still starting").hint(
            "try again in a moment; `millpond doctor` tests the driver, `millpond logs` shows the log",
        )
    }

    /// Says which cap was reached, and how much there is of what it is about.
    #[must_use]
    pub fn limit(mut self, key: impl Into<String>, has: u64, cap: u64) -> Self {
        self.limit = Some(Box::new(ReachedLimit { key: key.into(), has, cap }));
        self
    }

    /// Adds the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_and_exit_codes_are_distinct_and_an_unknown_number_is_internal() {
        let names: HashSet<_> = ErrorKind::ALL.iter().map(|kind| kind.name()).collect();
        let exits: HashSet<_> = ErrorKind::ALL.iter().map(|kind| kind.exit_code()).collect();
        assert_eq!(names.len(), ErrorKind::ALL.len());
        assert_eq!(exits.len(), ErrorKind::ALL.len());
        for kind in ErrorKind::ALL {
            assert_eq!(ErrorKind::from_code(kind.code()), *kind);
        }
        assert_eq!(ErrorKind::from_code(60_000), ErrorKind::Internal);
    }
}
