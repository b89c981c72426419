//! A card that answers every call with an error, for ever: what is mapped and held stays of use,
//! and the daemon lives.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use millpond::{Dtype, ErrorKind, TensorSpec};
use millpond_tests::{Options, TestPond, eventually_equal, say};

/// From the second slab of a tensor on, nothing works any more: 46 is "all devices are busy or
/// unavailable", 15 is NVML's "the GPU is lost".
const GONE: &str = "cuMemCreate:error=46,from=3; cuMemExportToShareableHandle:error=46,from=3; \
    cuDeviceGetAttribute:error=46,from=1000; nvmlDeviceGetMemoryInfo:error=15,from=1";

fn spec(name: &str, bytes: u64) -> TensorSpec {
    TensorSpec::new(name, Dtype::U8, [bytes])
}

#[test]
fn what_is_held_is_still_handed_out() {
    let pond = TestPond::start(Options::giving_back().faults(GONE));
    let mut worker = pond.worker();
    let hash = worker.ask(&format!("put there {} 1", 40 << 20));
    let (before, accounts) = (pond.status(), pond.accounts());
    for _ in 0..5 {
        let error = pond.control().reserve(spec("more", 40 << 20)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Driver, "{error}");
        assert!(error.hint().is_some(), "{error:?}");
    }
    // Held descriptors need no driver of the daemon's.
    let mut reader = pond.worker();
    assert_eq!(reader.ask("get there"), hash);
    let status = pond.status();
    assert_eq!(status.epoch, before.epoch, "the daemon died:\n{}", pond.log());
    say(&format!("a lost card: {:?}", status.devices));
    reader.finish();
    eventually_equal("accounts", &accounts, || pond.accounts());
    let said = pond.cli(&["status", "--json"]);
    assert_eq!(said.json()["devices"][0]["slab_bytes"], 40 << 20);
    // What goes, goes without the driver too.
    pond.control().delete("there").unwrap();
    eventually_equal("slabs", &0, || pond.accounts().slab_bytes);
    worker.finish();
}

/// The next daemon finds no driver at all: readers are served from what the keeper holds.
#[test]
fn a_daemon_whose_driver_never_starts() {
    let pond = TestPond::start(Options::giving_back().soft());
    let mut worker = pond.worker();
    let hash = worker.ask(&format!("make there {} 1", 40 << 20));
    drop(worker.ask("flush"));
    let soft = pond.path("soft");
    let aside = pond.path("aside");
    // The device's folder is gone while the daemon starts.
    std::fs::rename(&soft, &aside).unwrap();
    std::fs::write(&soft, b"not a folder").unwrap();
    pond.kill_daemon();
    let error = pond.control().reserve(spec("more", 40 << 20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Driver, "{error}");
    assert_eq!(worker.ask("hash there"), hash);
    assert_eq!(worker.ask("lost there"), "false");
    worker.ask("drop there");
    assert_eq!(worker.ask("get there"), hash, "from what the keeper holds");
    std::fs::remove_file(&soft).unwrap();
    std::fs::rename(&aside, &soft).unwrap();
    pond.kill_daemon();
    eventually_equal("driver", &true, || pond.status().driver_ready);
    pond.control().reserve(spec("more", 40 << 20)).unwrap();
    assert_eq!(worker.ask("hash there"), hash);
    worker.finish();
}

/// Only who needs the call waits for it.
#[test]
fn a_driver_call_that_takes_long_delays_nobody_else() {
    let plan = "cuMemCreate:latency_us=4000000";
    let pond = TestPond::start(Options::giving_back().faults(plan));
    let mut worker = pond.worker();
    let hash = worker.ask(&format!("put there {} 1", 40 << 20));
    let accounts = pond.accounts();
    let mut maker = pond.worker();
    maker.tell(&format!("begin more {}", 40 << 20));
    let start = std::time::Instant::now();
    for _ in 0..50 {
        pond.control().ping().unwrap();
    }
    let mut reader = pond.worker();
    assert_eq!(reader.ask("get there"), hash);
    pond.control().inspect("there").unwrap();
    let (took, status) = (start.elapsed(), pond.status());
    say(&format!("50 pings and a get beside a driver call of 4 s: {took:?}"));
    assert_eq!(status.leases, 1, "the get is served, the create is not");
    reader.finish();
    maker.answer().unwrap();
    maker.ask("delete more");
    maker.finish();
    eventually_equal("accounts", &accounts, || pond.accounts());
    worker.finish();
}
