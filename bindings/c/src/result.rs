//! What every function answers.

use millpond::ErrorKind;

/// As it crosses the border: a number of [`millpond_result`], `millpond_result` in the header.
pub type ResultNumber = i32;

/// What a call answers. `MILLPOND_OK` is zero; numbers below 1000 are the kinds of errors that all languages and the
/// protocol share, from 1000 on those of this library. A number never changes its meaning; later versions may add
/// some.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum millpond_result {
    /// The call did what it says.
    MILLPOND_OK = 0,
    /// An internal error; the daemon's log says more.
    MILLPOND_INTERNAL = 1,
    /// The request is invalid: bad name, shape or combination.
    MILLPOND_INVALID = 2,
    /// There is no such object, or it is not shared with the caller.
    MILLPOND_NOT_FOUND = 3,
    /// The name is taken by an object of another dtype, shape, GPU or audience.
    MILLPOND_EXISTS = 4,
    /// The caller may not change this object.
    MILLPOND_DENIED = 5,
    /// The tensor is still being written; wait until it is published.
    MILLPOND_NOT_READY = 6,
    /// The GPU, the pond's capacity on it, or the owner's group is full.
    MILLPOND_GPU_FULL = 7,
    /// A limit on objects, leases or connections is reached.
    MILLPOND_TOO_MANY = 8,
    /// The pond is busy with this object; try again.
    MILLPOND_LATER = 9,
    /// The pond is shutting down.
    MILLPOND_DRAINING = 10,
    /// The record survived but its memory did not.
    MILLPOND_LOST = 11,
    /// The GPU driver refused.
    MILLPOND_DRIVER = 12,
    /// The message is malformed, or of an unsupported version.
    MILLPOND_PROTOCOL = 13,
    /// The daemon is older than this request.
    MILLPOND_UNKNOWN_KIND = 14,
    /// No pond answers on the socket.
    MILLPOND_NO_POND = 15,
    /// A file or socket belongs to an unexpected user.
    MILLPOND_UNTRUSTED = 16,
    /// No answer, or nothing published, within the given time.
    MILLPOND_TIMEOUT = 17,
    /// No such GPU.
    MILLPOND_NO_DEVICE = 18,
    /// A file could not be read or written, or has unexpected content.
    MILLPOND_FILE = 19,
    /// The process that moves the bytes died or hung; nothing was published.
    MILLPOND_MOVER = 20,
    /// The version takes no new readers; another version is current.
    MILLPOND_RETIRED = 21,
    /// Processes use it, or one of them keeps its lock; end them and try again.
    MILLPOND_IN_USE = 22,
    /// Memory of a kind, or a node, that this program cannot use.
    MILLPOND_UNSUPPORTED = 23,
    /// The handle was freed, is of another kind, or was never one of this process.
    MILLPOND_INVALID_HANDLE = 1000,
    /// A pointer that must not be NULL is NULL.
    MILLPOND_NULL_POINTER = 1001,
    /// The object belongs to the process that forked this one.
    MILLPOND_FORKED = 1002,
    /// The call was ended by millpond_cancel_set() or by a callback.
    MILLPOND_CANCELLED = 1003,
    /// The pond was closed by millpond_pond_close().
    MILLPOND_CLOSED = 1004,
    /// The caller's buffer is too small; nothing was written.
    MILLPOND_TOO_SMALL = 1005,
    /// A defect of this library; please report the message.
    MILLPOND_PANIC = 1006,
}

use millpond_result::*;

/// The kinds that only this library has, with their stable names.
const OWN: [(millpond_result, &str, &str); 8] = [
    (MILLPOND_OK, "ok", "The call did what it says."),
    (
        MILLPOND_INVALID_HANDLE,
        "invalid_handle",
        "The handle was freed, is of another kind, or was never one of this process.",
    ),
    (MILLPOND_NULL_POINTER, "null_pointer", "A pointer that must not be NULL is NULL."),
    (MILLPOND_FORKED, "forked", "The object belongs to the process that forked this one."),
    (
        MILLPOND_CANCELLED,
        "cancelled",
        "The call was ended by millpond_cancel_set() or by a callback.",
    ),
    (MILLPOND_CLOSED, "closed", "The pond was closed by millpond_pond_close()."),
    (MILLPOND_TOO_SMALL, "too_small", "The caller's buffer is too small; nothing was written."),
    (MILLPOND_PANIC, "panic", "A defect of this library; please report the message."),
];

/// The name and the description of a result; `None` for a number that this version does not know.
pub(crate) fn known(number: ResultNumber) -> Option<(&'static str, &'static str)> {
    if let Some((_, name, text)) = OWN.iter().find(|(own, _, _)| *own as ResultNumber == number) {
        return Some((name, text));
    }
    let kind = ErrorKind::ALL.iter().find(|kind| i32::from(kind.code()) == number)?;
    Some((kind.name(), kind.describe()))
}

impl From<millpond_result> for ResultNumber {
    fn from(result: millpond_result) -> Self {
        result as ResultNumber
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The table of the header as it is written in this file: number, name, documentation.
    fn written() -> BTreeMap<ResultNumber, (String, String)> {
        let source = include_str!("result.rs");
        let body = source.split("pub enum millpond_result {").nth(1).unwrap();
        let body = body.split("\n}").next().unwrap();
        let mut found = BTreeMap::new();
        let mut text = String::new();
        for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(doc) = line.strip_prefix("/// ") {
                text = doc.to_owned();
                continue;
            }
            let (name, number) = line.trim_end_matches(',').split_once(" = ").unwrap();
            found.insert(number.parse().unwrap(), (name.to_owned(), text.clone()));
        }
        found
    }

    #[test]
    fn the_results_are_the_kinds_of_the_wire_and_the_librarys_own() {
        let written = written();
        for (number, (name, text)) in &written {
            let (known, described) = known(*number).unwrap();
            assert_eq!(*name, format!("MILLPOND_{}", known.to_uppercase()));
            assert_eq!(text, described);
        }
        assert_eq!(written.len(), ErrorKind::ALL.len() + OWN.len());
        assert!(ErrorKind::ALL.iter().all(|kind| kind.code() < 1000));
    }
}
