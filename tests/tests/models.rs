//! Models: staged by one process, mapped by others, swapped while they run.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use millpond::{ErrorKind, ModelInfo, VersionState};
use millpond_tests::tool::TENSOR_BYTES;
use millpond_tests::{Options, PATIENCE, TestPond, Worker, content, eventually};

const SLAB: u64 = 2 << 20;

fn of(seed: u64) -> String {
    content::hash_of(TENSOR_BYTES, seed)
}

fn model(pond: &TestPond) -> ModelInfo {
    let mut models = pond.control().models("m").unwrap();
    assert_eq!(models.len(), 1, "{models:?}");
    models.remove(0)
}

fn tags(pond: &TestPond) -> Vec<(String, VersionState, u32)> {
    let model = model(pond);
    model.versions.iter().map(|one| (one.tag.to_string(), one.state, one.readers)).collect()
}

fn hashes(worker: &mut Worker) -> Vec<String> {
    (0..3).map(|index| worker.ask(&format!("model hash m w{index}"))).collect()
}

/// A pond with `m@v1` of three slabs with the seeds 10, 11 and 12.
fn pond() -> (TestPond, Worker) {
    let pond = TestPond::start(Options::giving_back());
    let mut trainer = pond.worker();
    trainer.ask("model make m v1 3 10");
    trainer.ask("flush");
    (pond, trainer)
}

#[test]
fn what_one_process_stages_many_map_and_there_is_one_copy() {
    let (pond, _trainer) = pond();
    let used = pond.memory();
    let mut workers: Vec<Worker> = (0..3).map(|_| pond.worker()).collect();
    for worker in &mut workers {
        assert_eq!(worker.ask("model attach m"), "v1");
        assert_eq!(hashes(worker), [of(10), of(11), of(12)]);
        assert_eq!(worker.ask("model live"), format!("1 {}", 3 * SLAB));
    }
    assert_eq!(tags(&pond), [("v1".to_owned(), VersionState::Ready, 3)]);
    pond.assert_memory("three readers", used, 0);
    let view = pond.control().version("m@v1").unwrap();
    assert_eq!((view.parts.len(), view.leases.len()), (3, 3));
    let manifest = view.manifest.unwrap();
    assert_eq!(manifest.content_hash().unwrap(), view.info.content.unwrap());
    assert_eq!(manifest.layout_hash().unwrap(), view.info.layout.unwrap());
    let listed = pond.cli(&["ps", "--json"]).json();
    for worker in &workers {
        let is_worker = |process: &&serde_json::Value| process["pid"] == worker.pid();
        let processes = listed["processes"].as_array().unwrap();
        let found: Vec<_> = processes.iter().filter(is_worker).collect();
        assert_eq!(found.len(), 1, "one entry for each process: {listed}");
        assert_eq!(found[0]["holds"], serde_json::json!(["m@v1"]));
    }
    // One is killed, one ends tidily, one gives back and lives.
    workers.remove(0).kill();
    workers.remove(0).finish();
    workers[0].ask("model detach m");
    workers[0].ask("flush");
    eventually("no readers", || (model(&pond).versions[0].readers == 0).then_some(()));
    pond.assert_memory("no readers", used, 0);
}

#[test]
fn a_swap_is_followed_in_place_and_only_what_differs_is_new() {
    let (pond, mut trainer) = pond();
    let used = pond.memory();
    let mut worker = pond.worker();
    worker.ask("model attach m");
    let addresses: Vec<String> =
        (0..3).map(|index| worker.ask(&format!("model view m w{index}"))).collect();
    assert_eq!(worker.ask("model stale m"), "false");
    trainer.ask("model like m v2 m@v1 w1 77");
    trainer.ask("flush");
    pond.assert_memory("one slab of three is new", used, SLAB);
    let second = model(&pond).versions[1].clone();
    assert_eq!((second.current, second.shared_bytes), (true, 2 * SLAB));
    assert_eq!(worker.ask("model stale m"), "true");
    assert_eq!(worker.ask("model see w1"), of(11), "nothing changes by itself");
    assert_eq!(worker.ask("model refresh-in-place m"), "true v2");
    let seen: Vec<String> =
        (0..3).map(|index| worker.ask(&format!("model see w{index}"))).collect();
    assert_eq!(seen, [of(10), of(77), of(12)]);
    for (index, address) in addresses.iter().enumerate() {
        assert_eq!(worker.ask(&format!("model view m w{index}")), *address);
    }
    worker.ask("flush");
    let readers: Vec<u32> = model(&pond).versions.iter().map(|one| one.readers).collect();
    assert_eq!(readers, [0, 1]);
    assert_eq!(worker.ask("model stale m"), "false");

    // Back again, with views from before.
    let swap = pond.control().rollback("m").unwrap();
    assert_eq!(swap.current.tag.as_str(), "v1");
    assert_eq!(swap.previous.unwrap().as_str(), "v2");
    assert_eq!(worker.ask("model refresh m"), "true v1");
    assert_eq!(worker.ask("model see w1"), of(77), "the view keeps its version");
    assert_eq!(worker.ask("model hash m w1"), of(11));
}

#[test]
fn a_restart_of_the_daemon_keeps_versions_and_readers() {
    let (pond, mut trainer) = pond();
    let mut worker = pond.worker();
    worker.ask("model attach m");
    pond.kill_daemon();
    assert_eq!(hashes(&mut worker), [of(10), of(11), of(12)]);
    eventually("the claim", || (model(&pond).versions[0].readers == 1).then_some(()));
    trainer.ask("model like m v2 m@v1 w0 5");
    pond.kill_daemon();
    assert_eq!(worker.ask("model refresh m"), "true v2");
    assert_eq!(hashes(&mut worker), [of(5), of(11), of(12)]);
}

#[test]
fn a_stager_that_dies_or_gives_up_leaves_nothing() {
    let (pond, mut trainer) = pond();
    let used = pond.memory();
    trainer.ask("model begin m v2 m@v1 w2");
    assert_eq!(tags(&pond)[1].1, VersionState::Staging);
    let error = trainer.try_ask("model attach m@v2").unwrap_err();
    assert!(error.starts_with(ErrorKind::NotReady.name()), "{error}");
    trainer.ask("model abandon");
    trainer.ask("flush");
    eventually("the end of what was given up", || (tags(&pond).len() == 1).then_some(()));
    pond.assert_memory("given up", used, 0);

    trainer.ask("model begin m v2 m@v1 w2");
    trainer.kill();
    eventually("the end of what a dead process staged", || (tags(&pond).len() == 1).then_some(()));
    pond.assert_memory("killed", used, 0);
    let mut worker = pond.worker();
    assert_eq!(worker.ask("model attach m"), "v1");
    assert_eq!(hashes(&mut worker), [of(10), of(11), of(12)]);
}

#[test]
fn a_version_that_is_retired_goes_with_its_last_reader() {
    let (pond, mut trainer) = pond();
    let (control, used) = (pond.control(), pond.memory());
    let mut worker = pond.worker();
    worker.ask("model attach m");
    trainer.ask("model like m v2 m@v1 w0 5");
    trainer.ask("flush");
    assert_eq!(control.retire("m@v2").unwrap_err().kind(), ErrorKind::Invalid, "it is current");
    let first = control.version("m@v1").unwrap().info.version;
    control.retire("m@v1").unwrap();
    control.retire(first).unwrap();
    assert!(!control.wait_gone(first, Some(std::time::Duration::from_millis(20))).unwrap());
    let error = trainer.try_ask("model attach m@v1").unwrap_err();
    assert!(error.starts_with(ErrorKind::Retired.name()), "{error}");
    assert_eq!(hashes(&mut worker), [of(10), of(11), of(12)], "its reader keeps it");
    assert_eq!(worker.ask("model refresh m"), "true v2");
    assert!(control.wait_gone(first, Some(PATIENCE)).unwrap());
    assert_eq!(tags(&pond), [("v2".to_owned(), VersionState::Ready, 1)]);
    pond.assert_memory("one version of three slabs", used, 0);
}

#[test]
fn workers_that_come_and_are_killed_cost_nothing() {
    let (pond, mut trainer) = pond();
    let used = pond.memory();
    for round in 0..10 {
        let mut worker = pond.worker();
        worker.ask("model attach m");
        assert_eq!(worker.ask("model hash m w1"), of(11));
        if round % 2 == 0 { worker.kill() } else { worker.finish() }
    }
    trainer.ask("model attach m");
    eventually("no other readers", || (model(&pond).versions[0].readers == 1).then_some(()));
    pond.assert_memory("after ten workers", used, 0);
}

/// Each call of the driver that a refresh in place makes fails once, on the software driver.
#[test]
fn a_refresh_in_place_that_fails_half_way_puts_the_old_version_back() {
    let calls = ["cuMemImportFromShareableHandle", "cuMemMap", "cuMemSetAccess"].map(|call| {
        // Three slabs are attached; two of them differ later.
        [format!("{call}:error=999,on=4"), format!("{call}:error=999,on=5")]
    });
    let unmaps = [1, 2].map(|number| format!("cuMemUnmap:error=999,on={number}"));
    for plan in calls.into_iter().flatten().chain(unmaps) {
        let options = Options::giving_back().soft();
        let pond = TestPond::start(options.worker_env("MILLPOND_SOFT_FAULTS", &plan));
        pond.worker().ask("model make m v1 3 10");
        let mut worker = pond.worker();
        worker.ask("model attach m");
        let view = |worker: &mut Worker| -> Vec<String> {
            (0..3).map(|index| worker.ask(&format!("model view m w{index}"))).collect()
        };
        let addresses = view(&mut worker);
        // A process for each, which makes fewer calls than the one that fails.
        pond.worker().ask("model like m v2 m@v1 w0 70");
        pond.worker().ask("model like m v3 m@v2 w2 72");
        let error = worker.try_ask("model refresh-in-place m").unwrap_err();
        assert!(error.starts_with(ErrorKind::Driver.name()), "{plan}: {error}");
        assert_eq!(hashes(&mut worker), [of(10), of(11), of(12)], "{plan}");
        assert_eq!(view(&mut worker), addresses, "{plan}");
        let readers = || model(&pond).versions.iter().map(|one| one.readers).sum::<u32>();
        eventually("the return of the new lease", || (readers() == 1).then_some(()));
        assert_eq!(worker.ask("model refresh-in-place m"), "true v3", "{plan}");
        assert_eq!(hashes(&mut worker), [of(70), of(11), of(72)], "{plan}");
        assert_eq!(view(&mut worker), addresses, "{plan}");
    }
}
