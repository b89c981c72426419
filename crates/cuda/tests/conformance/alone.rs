//! Tests that run in a process of their own.
//!
//! What such a test leaves behind when it fails ends with its process, and no other test inherits
//! it: a capture that nobody ends, another current pool, memory that a driver keeps, a lost context.

use crate::support::{Gpu, process_ended, say};
use std::io::{BufRead, BufReader};
use std::process::{ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// In a process of its own, the name of its test.
pub const VARIABLE: &str = "MILLPOND_CONFORMANCE_ALONE";

/// A test that takes longer hangs.
const HANGS_AFTER: Duration = Duration::from_secs(120);

/// Begins a test that is to run in a process of its own.
macro_rules! alone {
    () => {
        alone!(keeps: 0)
    };
    // What the card does not have back after its process.
    (keeps: $bytes:expr) => {
        if crate::alone::ran_elsewhere($bytes) {
            return;
        }
    };
}
pub(crate) use alone;

/// Runs the calling test in another process, unless this is that process: then it answers `false`.
#[track_caller]
pub fn ran_elsewhere(keeps: u64) -> bool {
    let thread = std::thread::current();
    let name = thread.name().unwrap();
    if std::env::var_os(VARIABLE).is_some_and(|own| own == name) {
        return false;
    }
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(VARIABLE, name)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let reader = repeat(process.stdout.take().unwrap());
    let start = Instant::now();
    let status = loop {
        if let Some(status) = process.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > HANGS_AFTER {
            drop(process.kill());
            drop(process.wait());
            panic!("{name} was not over after {HANGS_AFTER:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    process_ended();
    let lines = reader.join().unwrap();
    assert!(status.success(), "in a process of its own: {status}");
    assert!(lines.iter().any(|line| line.contains(" 1 passed;")), "{name} did not run");
    gpu.assert_freed(before.saturating_sub(keeps));
    true
}

/// Says what another process of the suite observes, and gives all that it said when it is over.
pub fn repeat(stdout: ChildStdout) -> JoinHandle<Vec<String>> {
    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
    let heard = lines.inspect(|line| {
        // The first follows the name of the test, which has no end of line yet.
        let said = ["observed: ", "SKIPPED: "].iter().find_map(|word| line.find(word));
        if let Some(at) = said {
            say(&line[at..]);
        }
    });
    std::thread::spawn(move || heard.collect())
}
