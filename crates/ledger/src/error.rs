//! What can go wrong, sorted by what the caller can do about it.

use thiserror::Error;

/// Why a ledger could not be used. Every one of these means: no new memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LedgerError {
    /// The folder or one of its files is not there.
    #[error(
        "the group has no {0} file; start programs with `millpond run`, or see `millpond group ls`"
    )]
    NoGroup(&'static str),
    /// All slots belong to living processes.
    #[error("the group has {} processes already, and that is the most it can have", crate::SLOTS)]
    Full,
    /// All device numbers are taken.
    #[error("the group uses {} GPUs already, and that is the most it can use", crate::DEVICES)]
    TooManyDevices,
    /// The limits file has no place left for another GPU.
    #[error("the limits file has no place for another GPU")]
    TooManyBudgets,
    /// Somebody holds the group's lock, longer than the caller wanted to wait.
    #[error("the group's lock was not free in time; a stopped process may hold it")]
    Busy,
    /// Another version of Millpond wrote the file.
    #[error(
        "the group's {file} file has layout version {found}, this program knows {known}; end the group's programs and start them again"
    )]
    Version {
        /// Which of the two files.
        file: &'static str,
        /// The version in the file.
        found: u32,
        /// The version of this program.
        known: u32,
    },
    /// The file is not what Millpond wrote.
    #[error(
        "the group's {file} file is broken: {what}; end the group's programs, then `millpond group rm` it"
    )]
    Broken {
        /// Which of the two files.
        file: &'static str,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The members' memory is in another IPC namespace.
    #[error(
        "the group's members are in another IPC namespace; share it (docker: --ipc=host), or make \
         the group for containers"
    )]
    OutOfReach,
    /// The folder belongs to somebody else, who could change it under us.
    #[error("the group's folder, or the one above it, belongs to user {owner}")]
    NotOurs {
        /// That user.
        owner: u32,
    },
    /// The slot that the caller meant belongs to somebody else by now.
    #[error("the process has ended")]
    Gone,
    /// A path that does not fit.
    #[error("the group's folder has too long a path")]
    PathTooLong,
    /// A group name that is empty or too long.
    #[error("a group's name has 1 to {} bytes", crate::NAME_MAX)]
    BadName,
    /// The system refused a call.
    #[error("{call} failed on the group's files (errno {errno})")]
    System {
        /// The call.
        call: &'static str,
        /// Its error number.
        errno: i32,
    },
}

/// The file is there no more; who had it open has the last of it.
pub(crate) const REMOVED: &str = "it was removed";
/// Another file has its name, or another ledger is in it.
pub(crate) const REPLACED: &str = "it was replaced";
/// The file ends before its last word.
pub(crate) const TRUNCATED: LedgerError =
    LedgerError::Broken { file: "ledger", what: "it was truncated" };
/// Somebody is making it, or was killed while doing so.
pub(crate) const EMPTY: &str = "it is empty";

impl LedgerError {
    /// Whether the group's files may have gone, or have been exchanged, while they were being
    /// opened: as when somebody takes a group away that nobody is in. Whoever makes groups begins
    /// again then.
    #[must_use]
    pub fn has_moved(&self) -> bool {
        matches!(
            self,
            Self::NoGroup(_)
                | Self::Broken { what: REMOVED | REPLACED | EMPTY, .. }
                | Self::System { call: "open" | "stat", errno: libc::ENOENT }
        )
    }
}

/// Tries again, within reason, while the files move ([`LedgerError::has_moved`]).
pub(crate) fn while_moving<T>(
    attempt: impl Fn() -> Result<T, LedgerError>,
) -> Result<T, LedgerError> {
    const ATTEMPTS: u32 = 1000;
    let mut done = attempt();
    for _ in 0..ATTEMPTS {
        match &done {
            Err(error) if error.has_moved() => done = attempt(),
            _ => break,
        }
    }
    done
}

/// Why memory was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Refused {
    /// The group's limit is reached: an ordinary "out of memory".
    #[error("the group's limit is reached")]
    Limit,
    /// The ledger cannot be used, so there is no memory at all.
    #[error(transparent)]
    Broken(#[from] LedgerError),
}

/// Why the pond got no memory on a group's account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PondRefused {
    /// The group's limit is reached.
    #[error("the group's limit is reached")]
    Limit {
        /// Members that are ending have enough: there will be room in a moment.
        soon: bool,
    },
    /// The ledger cannot be used.
    #[error(transparent)]
    Broken(#[from] LedgerError),
}

/// Why a text is not a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BadSize {
    /// Nothing there.
    #[error("an empty size; write 10G, 2G or 50%")]
    Empty,
    /// Zero, or less than one byte.
    #[error("a size of zero; leave out the limit to have none")]
    Zero,
    /// A minus sign.
    #[error("a negative size; write 10G, 50% or a number of bytes")]
    Negative,
    /// `0.5`: half of what?
    #[error("a fraction without a unit; write 0.5G for half a GiB or 50% for half of the card")]
    FractionOfByte,
    /// Not a number.
    #[error("not a size; write 10G, 2G, 50% or a number of bytes")]
    NotANumber,
    /// Letters that are no unit.
    #[error(
        "a number with an unknown unit; known are K, M, G, T (also KB, KiB, ...: powers of 1024) and %"
    )]
    UnknownUnit,
    /// More than can be counted.
    #[error("a size larger than 16 EiB")]
    TooLarge,
    /// More than the card.
    #[error("a percentage over 100%; write 50% for half of the card")]
    Percent,
    /// A part of the card where only bytes make sense.
    #[error("a percentage where only bytes make sense; write 10G or a number of bytes")]
    NotBytes,
}
