//! Nothing is unmapped under running work: a thousand tensors dropped while kernels read them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use millpond_tests::{Options, Process, TestPond, driver, eventually_equal, is_soft, say};

const COUNT: u32 = 1000;
/// Small enough that many share a slab.
const SMALL: u64 = 32 << 10;
const ILLEGAL_ADDRESS: &str = "lost 700";

/// One body for every driver and mode; the environment of the workers makes the difference.
fn a_thousand_at_once(options: Options, mode: &str) {
    let pond = TestPond::start(options);
    let baseline = pond.physical();
    let mut worker = pond.worker();
    let report = worker.ask(&format!("retire vmm {COUNT} {SMALL} 200"));
    say(&format!("{mode}: {report}"));
    eventually_equal("leases", &0, || pond.accounts().leases);
    assert_eq!(pond.accounts().tensors, COUNT + 1);

    // The context lives: it copies, it maps, it launches.
    let hash = worker.ask("put after 100000 9");
    assert_eq!(worker.ask("hash after"), hash);

    for tensor in pond.control().list("").unwrap() {
        pond.control().delete(tensor.tensor).unwrap();
    }
    worker.finish();
    eventually_equal("leases", &0, || pond.accounts().leases);
    eventually_equal("slabs", &0, || pond.accounts().slab_bytes);
    pond.assert_physical("everything was deleted", baseline);
}

fn modes() -> Vec<(&'static str, Options)> {
    let options = Options::giving_back;
    if !is_soft() {
        return vec![("card", options())];
    }
    let mode = |adversarial, strict| {
        options()
            .worker_env("MILLPOND_SOFT_ADVERSARIAL", adversarial)
            .worker_env("MILLPOND_SOFT_STRICT", strict)
    };
    vec![
        ("soft", mode("0", "0")),
        ("soft, adversarial", mode("1", "0")),
        ("soft, strict", mode("0", "1")),
        ("soft, adversarial and strict", mode("1", "1")),
    ]
}

#[test]
fn dropped_under_running_kernels() {
    for (mode, options) in modes() {
        a_thousand_at_once(options, mode);
    }
}

/// Tensors with a slab each: every drop is an unmap.
#[test]
fn slabs_of_their_own_dropped_under_running_kernels() {
    for (mode, options) in modes() {
        let pond = TestPond::start(options);
        let baseline = pond.physical();
        let mut worker = pond.worker();
        let report = worker.ask(&format!("retire vmm 8 {} 200", driver::plenty()));
        say(&format!("{mode}, large: {report}"));
        eventually_equal("leases", &0, || pond.accounts().leases);
        for tensor in pond.control().list("").unwrap() {
            pond.control().delete(tensor.tensor).unwrap();
        }
        worker.finish();
        pond.assert_physical("everything was deleted", baseline);
    }
}

/// Memory that is opened by a handle, or imported from a pool, is closed: no unmap, and the same order.
#[test]
fn memory_of_other_processes_dropped_under_running_kernels() {
    for (mode, options) in modes() {
        let pond = TestPond::start(options);
        let baseline = pond.physical();
        let mut worker = pond.worker();
        for transport in ["ipc", "mempool"] {
            let report = worker.ask(&format!("retire {transport} 8 {SMALL} 200"));
            say(&format!("{mode}, {transport}: {report}"));
            eventually_equal("leases", &0, || pond.accounts().leases);
            for tensor in pond.control().list("").unwrap() {
                pond.control().delete(tensor.tensor).unwrap();
            }
            eventually_equal("slabs", &0, || pond.accounts().slab_bytes);
        }
        assert_eq!(
            worker.ask("make after 100000 9"),
            worker.ask("hash after"),
            "its context lives"
        );
        pond.control().delete("after").unwrap();
        worker.finish();
        for mover in pond.status().movers {
            if let Ok(mover) = Process::open(mover.pid) {
                mover.kill();
            }
        }
        pond.assert_physical("everything was deleted", baseline);
    }
}

/// The control: the same kernel, unmapped by hand at once, loses the context. So a retire list
/// that unmaps too early cannot pass the tests above.
#[test]
fn an_early_unmap_is_caught() {
    let options = Options::new();
    let options =
        if is_soft() { options.worker_env("MILLPOND_SOFT_ADVERSARIAL", "1") } else { options };
    let pond = TestPond::start(options);
    let baseline = pond.physical();
    let mut worker = pond.worker();
    assert_eq!(worker.ask("early-unmap"), ILLEGAL_ADDRESS);
    worker.kill();
    pond.assert_physical("the lost context's memory", baseline);
}

/// A context that a kernel has lost gives nothing back by hand; the end of its process does.
#[test]
fn a_lost_context_harms_nobody_else() {
    let pond = TestPond::start(Options::giving_back());
    let baseline = pond.physical();
    let mut neighbour = pond.worker();
    let hash = neighbour.ask(&format!("make shared {} 4", driver::plenty()));
    let mut worker = pond.worker();
    assert_eq!(worker.ask("get shared"), hash);
    eventually_equal("leases", &2, || pond.accounts().leases);
    assert_eq!(worker.ask("early-unmap"), ILLEGAL_ADDRESS);
    assert!(worker.try_ask("hash shared").is_err(), "its context is lost");
    worker.ask("drop shared");
    assert_eq!(neighbour.ask("hash shared"), hash);
    worker.kill();
    eventually_equal("leases", &1, || pond.accounts().leases);
    assert_eq!(neighbour.ask("hash shared"), hash);
    pond.control().delete("shared").unwrap();
    neighbour.finish();
    pond.assert_physical("everything was deleted", baseline);
}
