//! Text that the library hands out.

use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::Arc;

use serde::Serialize;

use crate::border::{Answer, call, value};
use crate::failure::{Failure, c_string};
use crate::objects::TEXTS;
use crate::result::ResultNumber;

/// Text of the library's own, for example JSON. Read it with millpond_text_data().
pub struct millpond_text {
    _private: [u8; 0],
}

#[derive(Debug)]
pub(crate) struct Written(CString);

/// Keeps text for C.
pub(crate) fn kept(text: &str) -> Answer<*mut millpond_text> {
    TEXTS.insert(Arc::new(Written(c_string(text))))
}

/// Keeps data as JSON, as the program's `--json` shows it.
pub(crate) fn json(data: &impl Serialize) -> Answer<*mut millpond_text> {
    let text = serde_json::to_string(data)
        .map_err(|error| Failure::Panic { message: format!("data that is no JSON: {error}") })?;
    kept(&text)
}

/// The text, in UTF-8 with a zero byte at its end; NULL for a handle that is no text. Valid until the text is freed.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_text_data(text: *const millpond_text) -> *const c_char {
    value(ptr::null(), || Ok(TEXTS.get(text)?.0.as_ptr()))
}

/// Bytes of the text, without the zero byte; zero for a handle that is no text.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_text_length(text: *const millpond_text) -> usize {
    value(0, || Ok(TEXTS.get(text)?.0.as_bytes().len()))
}

/// Frees a text. NULL is nothing.
///
/// Threads: any; the handle is of no use afterwards. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_text_free(text: *mut millpond_text) -> ResultNumber {
    call(|| TEXTS.free(text))
}
