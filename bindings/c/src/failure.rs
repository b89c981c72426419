//! What went wrong in a call, kept for its thread.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use millpond::{Error, Holder, Remedy};

use crate::border::{self, write};
use crate::objects::millpond_holder;
use crate::result::millpond_result::*;
use crate::result::{ResultNumber, known};
use crate::table::Kind;

/// Why a call failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Client(Box<Error>),
    Null { what: &'static str },
    Handle { wanted: Kind, is: Option<Kind>, key: u64 },
    Invalid { message: String },
    Forked { what: Kind },
    Cancelled,
    TooMany { kind: Kind },
    TooSmall { needed: u64, given: u64 },
    Panic { message: String },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Client(Box::new(error))
    }
}

impl Failure {
    pub(crate) fn too_many_handles(kind: Kind) -> Self {
        Failure::TooMany { kind }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Failure::Invalid { message: message.into() }
    }

    pub(crate) fn number(&self) -> ResultNumber {
        match self {
            Failure::Client(error) => match **error {
                Error::Forked { .. } => MILLPOND_FORKED.into(),
                Error::Cancelled => MILLPOND_CANCELLED.into(),
                Error::Closed => MILLPOND_CLOSED.into(),
                Error::InUse { .. } => MILLPOND_IN_USE.into(),
                _ => ResultNumber::from(error.kind().code()),
            },
            Failure::Null { .. } => MILLPOND_NULL_POINTER.into(),
            Failure::Handle { .. } => MILLPOND_INVALID_HANDLE.into(),
            Failure::Invalid { .. } => MILLPOND_INVALID.into(),
            Failure::Forked { .. } => MILLPOND_FORKED.into(),
            Failure::Cancelled => MILLPOND_CANCELLED.into(),
            Failure::TooMany { .. } => MILLPOND_TOO_MANY.into(),
            Failure::TooSmall { .. } => MILLPOND_TOO_SMALL.into(),
            Failure::Panic { .. } => MILLPOND_PANIC.into(),
        }
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Failure::Client(error) => error.to_string(),
            Failure::Null { what } => format!("{what} is NULL"),
            Failure::Handle { wanted, is: Some(is), .. } if wanted != is => {
                format!("the handle is a {}, not a {}", is.name(), wanted.name())
            }
            Failure::Handle { wanted, is: Some(_), .. } => {
                format!("the {} was freed, or is another process's", wanted.name())
            }
            Failure::Handle { wanted, is: None, key } => {
                format!("{key:#x} is no {}: this library did not make it", wanted.name())
            }
            Failure::Invalid { message } => message.clone(),
            Failure::Forked { what } => {
                format!("the {} belongs to the process that forked this one", what.name())
            }
            Failure::Cancelled => "the call was cancelled".to_owned(),
            Failure::TooMany { kind } => {
                format!("this process has too many handles of type {}", kind.name())
            }
            Failure::TooSmall { needed, given } => {
                format!("the buffer has {given} bytes, and {needed} are needed")
            }
            Failure::Panic { message } => format!("a defect of Millpond: {message}"),
        }
    }

    /// The next step, in terms of C where the client's are those of Rust.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Failure::Client(error) => match **error {
                Error::ReadOnly { .. } => {
                    Some("get it with mode MILLPOND_MODE_READ_WRITE".to_owned())
                }
                Error::NoHandle { .. } => Some(
                    "create it with `spec.transport = MILLPOND_TRANSPORT_IPC`".to_owned(),
                ),
                Error::NoEvent { .. } => Some(
                    "create it with `spec.transport = MILLPOND_TRANSPORT_IPC`, or publish: readers wait for that"
                        .to_owned(),
                ),
                Error::InUse { .. } => Some("free the tensors first".to_owned()),
                Error::File { reason: Some(std::io::ErrorKind::AlreadyExists), .. } => {
                    Some("remove the file, or save with `options.force = 1`".to_owned())
                }
                Error::Forked { .. } => Some("get it in this process".to_owned()),
                Error::Adopt { .. } => error
                    .hint()
                    .map(|_| "create a tensor and copy into it".to_owned()),
                _ => error.hint(),
            },
            Failure::Handle { is: Some(_), .. } => {
                Some("a handle is good until it is freed, in its own process".to_owned())
            }
            Failure::Forked { .. } => Some("make it in this process".to_owned()),
            Failure::TooMany { .. } => Some("free handles that are not needed".to_owned()),
            _ => None,
        }
    }

    fn client(&self) -> Option<&Error> {
        match self {
            Failure::Client(error) => Some(error),
            _ => None,
        }
    }
}

/// The last failure of a thread, as C reads it.
struct Last {
    number: ResultNumber,
    message: CString,
    hint: Option<CString>,
    similar: Vec<CString>,
    limit: Option<(CString, u64, u64)>,
    holders: Vec<Holder>,
    memory: millpond_memory_shortage,
    remedy: Remedy,
}

thread_local! {
    static LAST: RefCell<Option<Box<Last>>> = const { RefCell::new(None) };
}

/// Text as C has it; a NUL inside ends nothing early.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// Keeps a failure for the calls that ask about it.
pub(crate) fn keep(failure: &Failure) -> ResultNumber {
    let number = failure.number();
    let said = failure.client().and_then(Error::failure);
    let last = Last {
        number,
        message: c_string(&failure.message()),
        hint: failure.hint().as_deref().map(c_string),
        similar: said
            .map_or(&[][..], |said| &said.similar)
            .iter()
            .map(|name| c_string(name))
            .collect(),
        limit: said
            .and_then(|said| said.limit.as_ref())
            .map(|limit| (c_string(&limit.key), limit.has, limit.cap)),
        holders: said.map(|said| said.holders.clone()).unwrap_or_default(),
        memory: millpond_memory_shortage {
            requested_bytes: said.and_then(|said| said.requested_bytes).unwrap_or(0),
            free_bytes: said.and_then(|said| said.free_bytes).unwrap_or(0),
            capacity_bytes: said.and_then(|said| said.capacity_bytes).unwrap_or(0),
        },
        remedy: failure.client().map_or(Remedy::Change, Error::remedy),
    };
    // A thread that ends has nobody left to ask.
    let _ = LAST.try_with(|kept| kept.replace(Some(Box::new(last))));
    number
}

/// Looks at the last failure, without becoming one.
fn with_last<T: Copy>(none: T, look: impl FnOnce(&Last) -> T) -> T {
    border::quiet(none, |none| {
        LAST.try_with(|last| last.try_borrow().ok()?.as_deref().map(look))
            .ok()
            .flatten()
            .unwrap_or(none)
    })
}

/// The memory that an answer MILLPOND_GPU_FULL is about. Zero where nothing was said.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct millpond_memory_shortage {
    /// Bytes that were asked for.
    pub requested_bytes: u64,
    /// Bytes that are free.
    pub free_bytes: u64,
    /// What the pond may take of the GPU.
    pub capacity_bytes: u64,
}

/// The result of this thread's last call that failed; MILLPOND_OK if none did. A call that succeeds changes nothing.
///
/// Threads: each thread has its own. Fork: the child begins with the parent's.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_error_result() -> ResultNumber {
    with_last(MILLPOND_OK.into(), |last| last.number)
}

/// What went wrong in this thread's last call that failed, in one sentence that names the thing; an empty text if
/// none did. Never NULL. Valid until the next call of this thread that fails.
///
/// Threads: each thread has its own. Fork: the child begins with the parent's.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_error_message() -> *const c_char {
    with_last(c"".as_ptr(), |last| last.message.as_ptr())
}

/// The way out of this thread's last failure: the command to type, or what to change; NULL where there is none.
/// Valid until the next call of this thread that fails.
///
/// Threads: each thread has its own. Fork: the child begins with the parent's.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_error_hint() -> *const c_char {
    with_last(ptr::null(), |last| last.hint.as_ref().map_or(ptr::null(), |hint| hint.as_ptr()))
}

/// What can be done about this thread's last failure: MILLPOND_REMEDY_…
///
/// Threads: each thread has its own. Fork: the child begins with the parent's.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_error_remedy() -> crate::words::RemedyNumber {
    use crate::words::millpond_remedy::*;
    with_last(MILLPOND_REMEDY_NONE as u32, |last| {
        (match last.remedy {
            Remedy::Change => MILLPOND_REMEDY_CHANGE,
            Remedy::Retry => MILLPOND_REMEDY_RETRY,
            Remedy::Free => MILLPOND_REMEDY_FREE,
            Remedy::Operator => MILLPOND_REMEDY_OPERATOR,
        }) as u32
    })
}

/// A name close to the one that was not found in this thread's last failure; NULL from the first index on that has
/// none. Valid until the next call of this thread that fails.
///
/// Threads: each thread has its own. Fork: the child begins with the parent's.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_error_similar(index: usize) -> *const c_char {
    with_last(ptr::null(), |last| last.similar.get(index).map_or(ptr::null(), |name| name.as_ptr()))
}

/// The setting of the cap that this thread's last failure is about, for example `limits.clients_per_user`, and how
/// much there is and may be; NULL where it is about none. `has` and `cap` may be NULL. Valid until the next call of
/// this thread that fails.
///
/// Threads: each thread has its own. Fork: the child begins with the parent's.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_error_limit(
    has: Option<&mut MaybeUninit<u64>>,
    cap: Option<&mut MaybeUninit<u64>>,
) -> *const c_char {
    with_last(ptr::null(), |last| {
        let Some((key, is, may)) = &last.limit else { return ptr::null() };
        write(has, *is);
        write(cap, *may);
        key.as_ptr()
    })
}

/// How many holders this thread's last failure names: who has the memory of a full GPU, or who uses a tensor that was
/// not deleted.
///
/// Threads: each thread has its own. Fork: the child begins with the parent's.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_error_holder_count() -> usize {
    with_last(0, |last| last.holders.len())
}

/// One of the holders that this thread's last failure names, largest first.
/// Answers MILLPOND_INVALID from the first index on that has none; that is not kept as a failure.
///
/// Threads: each thread has its own. Fork: the child begins with the parent's.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_error_holder_at(
    index: usize,
    holder: Option<&mut MaybeUninit<millpond_holder>>,
) -> ResultNumber {
    with_last(MILLPOND_INVALID.into(), |last| match (last.holders.get(index), holder) {
        (_, None) => MILLPOND_NULL_POINTER.into(),
        (None, _) => MILLPOND_INVALID.into(),
        (Some(found), Some(holder)) => {
            holder.write(millpond_holder::from(found));
            MILLPOND_OK.into()
        }
    })
}

/// The numbers of this thread's last failure, where memory was short; all zero otherwise.
///
/// Threads: each thread has its own. Fork: the child begins with the parent's.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_error_memory(
    shortage: Option<&mut MaybeUninit<millpond_memory_shortage>>,
) -> ResultNumber {
    let Some(shortage) = shortage else { return MILLPOND_NULL_POINTER.into() };
    shortage.write(with_last(millpond_memory_shortage::default(), |last| last.memory));
    MILLPOND_OK.into()
}

/// Forgets this thread's last failure.
///
/// Threads: each thread has its own. Fork: the child begins with the parent's.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_error_clear() {
    let _ = LAST.try_with(|kept| kept.replace(None));
}

/// The stable name of a result, for example `not_found`: the name that JSON and the other languages have.
/// `unknown` for a number that this version does not know. Never NULL; valid for ever.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_result_name(result: ResultNumber) -> *const c_char {
    border::quiet(c"unknown".as_ptr(), |none| {
        texts().get(&result).map_or(none, |(name, _)| name.as_ptr())
    })
}

/// One line about a result. Never NULL; valid for ever.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_result_description(result: ResultNumber) -> *const c_char {
    border::quiet(c"a result of a newer version".as_ptr(), |none| {
        texts().get(&result).map_or(none, |(_, text)| text.as_ptr())
    })
}

fn texts() -> &'static BTreeMap<ResultNumber, (CString, CString)> {
    static TEXTS: OnceLock<BTreeMap<ResultNumber, (CString, CString)>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let entry =
            |number| known(number).map(|(name, text)| (number, (c_string(name), c_string(text))));
        (0..2000).filter_map(entry).collect()
    })
}
