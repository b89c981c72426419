//! Waiting with a generous deadline: time never decides a test, it only ends one that hangs.

use std::fmt::Debug;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The longest that anything may take.
pub const PATIENCE: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(2);

/// Asks until there is an answer.
///
/// # Panics
/// If there is none in time.
#[track_caller]
pub fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(STEP);
    }
}

/// Asks until the answer is the expected one.
///
/// # Panics
/// With the last answer, if it never is.
#[track_caller]
pub fn eventually_equal<T: PartialEq + Debug>(
    what: &str,
    expected: &T,
    mut ask: impl FnMut() -> T,
) {
    let start = Instant::now();
    loop {
        let answer = ask();
        if answer == *expected {
            return;
        }
        let late = start.elapsed() >= PATIENCE;
        assert!(!late, "{what}: waited {PATIENCE:?} for {expected:?}, it is {answer:?}");
        std::thread::sleep(STEP);
    }
}

/// Prints a line that the test harness does not swallow.
pub fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    drop(writeln!(stdout, "{line}"));
}

/// Says that something could not be tested here; counted, never silent.
pub fn skip(reason: &str) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    say(&format!("SKIPPED: {reason} (skip {count} of this executable)"));
}
