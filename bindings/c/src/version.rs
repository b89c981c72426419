//! Which version this is.

use std::ffi::c_char;

const fn number(text: &str) -> u32 {
    let (bytes, mut at, mut number) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        number = number * 10 + (bytes[at] - b'0') as u32;
        at += 1;
    }
    number
}

/// The version of the library that runs, as 10000 * major + 100 * minor + patch; MILLPOND_VERSION is that of the
/// header.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_version() -> u32 {
    10000 * number(env!("CARGO_PKG_VERSION_MAJOR"))
        + 100 * number(env!("CARGO_PKG_VERSION_MINOR"))
        + number(env!("CARGO_PKG_VERSION_PATCH"))
}

/// The version of the library that runs, for example `0.1.0`. Never NULL; valid for ever.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_version_text() -> *const c_char {
    const TEXT: &[u8] = concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes();
    TEXT.as_ptr().cast()
}
