//! The driver under test, for executables that run on a card and on the software driver.
//!
//! On the software driver each test runs its executable again, with devices of its own, so that
//! nothing else on the machine moves its readings.

#![allow(dead_code, reason = "each executable uses what it needs")]

use millpond_cuda::{Context, Driver, DriverChoice};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const SOFT_DIR: &str = "MILLPOND_SOFT_DIR";
const PATIENCE: Duration = Duration::from_secs(30);

/// What other parts of the driver may take while a test measures.
const NOISE_BYTES: u64 = 16 << 20;

fn choice() -> DriverChoice {
    std::env::var_os(DriverChoice::VARIABLE).map_or(DriverChoice::Soft, DriverChoice::from)
}

/// Runs one test of this executable again, with other variables.
pub fn again(name: &str, variables: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--include-ignored"])
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

/// Asserts that a test that ran again has passed.
#[track_caller]
pub fn assert_passed(output: &Output) {
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}{stderr}");
}

/// Runs a test on the device of the driver under test; nothing of it may be left afterwards.
pub fn on_device(name: &str, test: impl FnOnce(&Context)) {
    if choice() == DriverChoice::Soft && std::env::var_os(SOFT_DIR).is_none() {
        let folder = tempfile::Builder::new().prefix("millpond-elastic-").tempdir_in("/dev/shm");
        let folder = folder.unwrap();
        let path = folder.path().to_str().unwrap();
        let soft =
            [(SOFT_DIR, path), ("MILLPOND_SOFT_MEMORY", "512M"), (DriverChoice::VARIABLE, "soft")];
        assert_passed(&again(name, &soft));
        return;
    }
    let driver = Driver::open(choice(), Some(&millpond_softgpu::PROVIDER)).unwrap();
    let context = Context::primary(&driver.devices().unwrap()[0]).unwrap();
    let before = free(&context);
    test(&context);
    context.synchronize().unwrap();
    wait_until("all memory is free again", || free(&context) + NOISE_BYTES > before);
}

/// What the card has left.
pub fn free(context: &Context) -> u64 {
    context.memory_info().unwrap().free_bytes
}

#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} for: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
