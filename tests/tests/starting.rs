//! A pond that has just begun: requests that need its GPUs wait for the driver.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs::File;

use millpond_tests::{Options, TestPond, eventually, eventually_equal};

/// Requests of all users that wait.
fn waiting(pond: &TestPond) -> u64 {
    let (_, all) = pond.control().accounts().unwrap();
    all.iter().find(|resource| resource.key == "limits.waits").unwrap().has
}

#[test]
fn who_needs_a_gpu_waits_for_the_driver_and_nobody_else_does() {
    let folder = millpond_tests::Folder::new();
    let started = folder.join("started");
    let slow = format!("MILLPOND_SOFT_FAULTS=cuInit:until={}", started.display());
    let pond = TestPond::prepare(Options::new().under(&format!("{slow} exec \"$0\" \"$@\"")));
    pond.begin();
    eventually("a connection", || pond.connect().ok());
    std::thread::scope(|scope| {
        let cli = |arguments: &'static [&'static str]| {
            let pond = &pond;
            scope.spawn(move || pond.cli(arguments))
        };
        let create =
            cli(&["tensor", "create", "x", "--dtype=u8", "--shape=9", "--zero", "--device=0"]);
        let status = cli(&["status", "--json"]);
        let first = scope.spawn(|| pond.connect().unwrap().device_at(0));
        eventually_equal("all of them wait", &3, || waiting(&pond));
        pond.control().ping().unwrap();
        assert!(pond.control().list("").unwrap().is_empty());
        File::create(&started).unwrap();
        let said = create.join().unwrap();
        assert_eq!(said.code, Some(0), "{said:?}");
        let status = status.join().unwrap().json();
        assert_eq!(status["devices"].as_array().unwrap().len(), 1, "{status}");
        assert_eq!(status["driver_ready"], true);
        assert_eq!(first.join().unwrap().unwrap(), pond.status().devices[0].device);
    });
    assert_eq!(waiting(&pond), 0);
}
