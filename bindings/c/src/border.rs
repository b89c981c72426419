//! The border between C and Rust: nothing unwinds over it, and failures are kept for their thread.

use std::any::Any;
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::cancel;
use crate::failure::{self, Failure};
use crate::fork;
use crate::result::ResultNumber;
use crate::result::millpond_result::MILLPOND_OK;

/// What the work of a call answers.
pub(crate) type Answer<T = ()> = Result<T, Failure>;

/// Where a call writes what it made: an address that may be NULL.
pub(crate) type Out<'a, T> = Option<&'a mut MaybeUninit<T>>;

fn guarded<T>(work: impl FnOnce() -> Answer<T>) -> Answer<T> {
    fork::watch();
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = said(&*panic);
        // What a panic carries may panic again when it is dropped.
        std::mem::forget(panic);
        Err(Failure::Panic { message })
    })
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no words")
        .to_owned()
}

/// Runs a call that answers with a result.
pub(crate) fn call(work: impl FnOnce() -> Answer) -> ResultNumber {
    match guarded(work) {
        Ok(()) => MILLPOND_OK.into(),
        Err(failure) => failure::keep(&failure),
    }
}

/// Runs a call that may wait, and that `millpond_cancel_set` ends.
pub(crate) fn waiting(work: impl FnOnce() -> Answer) -> ResultNumber {
    call(|| cancel::scoped(work))
}

/// Runs a call that answers with a value; `none` is what it answers when it fails.
pub(crate) fn value<T>(none: T, work: impl FnOnce() -> Answer<T>) -> T {
    match guarded(work) {
        Ok(value) => value,
        Err(failure) => {
            failure::keep(&failure);
            none
        }
    }
}

/// Runs a call that cannot fail, and that keeps nothing if it does.
pub(crate) fn quiet<T: Copy>(none: T, work: impl FnOnce(T) -> T) -> T {
    catch_unwind(AssertUnwindSafe(|| work(none))).unwrap_or_else(|panic| {
        std::mem::forget(panic);
        none
    })
}

/// Checks the address of an output before anything is done for it.
pub(crate) fn required<T>(pointer: Option<T>, what: &'static str) -> Answer<T> {
    pointer.ok_or(Failure::Null { what })
}

/// Writes an output that nobody has to take.
pub(crate) fn write<T>(out: Out<'_, T>, value: T) {
    if let Some(out) = out {
        out.write(value);
    }
}

/// Text that C code passes: `const char *` in the header, UTF-8 that ends with a zero byte.
///
/// Only C makes one. That a text that is not NULL is readable up to its end, and stays so during the call, is
/// what the header demands of every caller.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    /// The text; `None` for NULL.
    pub(crate) fn optional(&self, what: &'static str) -> Answer<Option<&str>> {
        if self.0.is_null() {
            return Ok(None);
        }
        // SAFETY: it came from C, whose contract is that it is NULL or ends with a zero byte and stays as it is
        // during the call.
        let text = unsafe { CStr::from_ptr(self.0) };
        match text.to_str() {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Failure::invalid(format!("{what} is not UTF-8"))),
        }
    }

    /// The text, which must not be NULL.
    pub(crate) fn required(&self, what: &'static str) -> Answer<&str> {
        self.optional(what)?.ok_or(Failure::Null { what })
    }
}

/// Refuses what is not zero in the part of a struct that later versions will use.
pub(crate) fn reserved(words: &[u64], what: &str) -> Answer {
    if words.iter().all(|word| *word == 0) {
        return Ok(());
    }
    Err(Failure::invalid(format!(
        "the reserved part of {what} is not zero: begin with an initialised struct, as in `{what} it = {{0}};`"
    )))
}

/// A number that stands for no or yes.
pub(crate) fn flag(number: u32, what: &str) -> Answer<bool> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Failure::invalid(format!("{what} is {other}, not 0 or 1"))),
    }
}
