//! The end of a process after a fault in one of its threads.
//!
//! Half a process is worse than none: a daemon without its driver thread answers pings and does
//! nothing. So a panic in any thread ends the process, and the other one of keeper and daemon starts
//! it again. By `abort`: an orderly exit runs handlers of the driver, which may wait for the very
//! thread that panicked.

use std::panic::PanicHookInfo;
use std::time::Duration;

use crate::INSTALLED;

/// How long a process that is about to end waits for its last line: a target that takes nothing
/// costs this much and no more.
const LAST_LINE: Duration = Duration::from_millis(500);

/// From now on a panic in any thread ends this process, after one line in the log.
pub fn end_on_panic() {
    std::panic::set_hook(Box::new(|panic| die(&describe(panic))));
}

/// Ends this process at once, after one line in the log. For what must never happen, such as a thread
/// that returns while others rely on it.
pub fn die(message: &str) -> ! {
    if let Some(log) = INSTALLED.get() {
        log.push_last(message, LAST_LINE);
        log.flush(LAST_LINE);
    }
    std::process::abort()
}

fn describe(panic: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("without a name").to_owned();
    let payload = panic.payload();
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = message.unwrap_or("no message");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    format!("thread '{thread}' panicked at {place}: {message}; the process ends")
}
