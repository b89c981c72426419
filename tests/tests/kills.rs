//! Any one process may be killed with -9 at any time: nothing is lost, nothing is leaked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::time::Duration;

use millpond_tests::{
    Accounts, Options, PATIENCE, Process, TestPond, Worker, content, driver, eventually,
    eventually_equal, say,
};

const SMALL: u64 = 64 << 10;
const MIDDLE: u64 = 2 << 20;
const ROUNDS: usize = 10;

/// Known bytes in slabs of every class, held by one process, with what must stay as it is.
struct Scene {
    pond: TestPond,
    holder: Worker,
    tensors: Vec<(&'static str, String)>,
    accounts: Accounts,
    physical: u64,
}

impl Scene {
    fn start() -> Self {
        let pond = TestPond::start(Options::giving_back());
        let (mut maker, mut holder) = (pond.worker(), pond.worker());
        let sizes = [("small", SMALL, 1), ("middle", MIDDLE, 2), ("own", driver::plenty(), 3)];
        let mut tensors = Vec::new();
        for (name, bytes, seed) in sizes {
            let hash = maker.ask(&format!("put {name} {bytes} {seed}"));
            assert_eq!(hash, content::hash_of(bytes, seed));
            assert_eq!(holder.ask(&format!("get {name}")), hash);
            tensors.push((name, hash));
        }
        maker.finish();
        // The gauge first, so that it is in the reading itself.
        pond.physical();
        let accounts = settled(&pond, 3);
        assert_eq!((accounts.tensors, accounts.lost), (3, 0));
        let physical = pond.physical();
        Self { pond, holder, tensors, accounts, physical }
    }

    /// All bytes through the old mapping and through a new client, and both account books.
    fn check(&mut self, after: &str) {
        self.compare(after, 3);
    }

    /// As [`Scene::check`], without the largest tensor, whose hash takes its time.
    fn glance(&mut self, after: &str) {
        self.compare(after, 2);
    }

    fn compare(&mut self, after: &str, count: usize) {
        let mut new = self.pond.worker();
        for (name, hash) in self.tensors.iter().take(count) {
            assert_eq!(self.holder.ask(&format!("hash {name}")), *hash, "old client, {after}");
            assert_eq!(new.ask(&format!("hash {name}")), *hash, "new client, {after}");
            assert_eq!(self.holder.ask(&format!("lost {name}")), "false", "{after}");
        }
        new.finish();
        eventually_equal(after, &self.accounts, || self.pond.accounts());
        self.pond.assert_physical(after, self.physical);
    }

    /// Everything is still there, and everything is given back.
    fn end(mut self) {
        self.check("in the end");
        let pond = &self.pond;
        for (name, _) in &self.tensors {
            pond.control().delete(*name).unwrap();
        }
        assert_eq!(pond.accounts().slabs, self.accounts.slabs, "a reader still has them");
        self.holder.ask("drop-all");
        self.holder.ask("flush");
        let empty = |accounts: &Accounts| accounts.slab_bytes == 0 && accounts.leases == 0;
        eventually("an empty pond", || empty(&pond.accounts()).then_some(()));
        // Every slab is in the account book, and that is all there was.
        pond.assert_physical("everything was deleted", self.physical - self.accounts.slab_bytes);
    }
}

/// The account book once the leases of those who are gone have ended.
fn settled(pond: &TestPond, leases: u32) -> Accounts {
    eventually_equal("leases", &leases, || pond.accounts().leases);
    pond.accounts()
}

fn report(what: &str, times: &[Duration]) {
    let mut sorted = times.to_vec();
    sorted.sort();
    let (median, worst) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    let count = times.len();
    say(&format!(
        "{what} killed {count} times: recovered in {median:?} (median), {worst:?} (worst)"
    ));
}

#[test]
fn each_in_turn() {
    let mut scene = Scene::start();
    scene.check("before any kill");

    let mut worker = scene.pond.worker();
    worker.ask("get own");
    worker.ask("get small");
    eventually_equal("leases", &5, || scene.pond.accounts().leases);
    worker.kill();
    scene.check("after a worker's death");

    let epoch = scene.pond.status().epoch;
    report("the daemon", &[scene.pond.kill_daemon()]);
    assert!(scene.pond.status().epoch > epoch);
    scene.check("after the daemon's death");

    report("the keeper", &[scene.pond.kill_keeper()]);
    scene.check("after the keeper's death");
    scene.end();
}

#[test]
fn the_daemon_again_and_again() {
    let mut scene = Scene::start();
    let mut epoch = scene.pond.status().epoch;
    let times: Vec<Duration> = (1..=ROUNDS)
        .map(|round| {
            let took = scene.pond.kill_daemon();
            let now = scene.pond.status().epoch;
            assert!(now > epoch, "{now} after {epoch}");
            epoch = now;
            scene.glance(&format!("after death {round} of the daemon"));
            took
        })
        .collect();
    report("the daemon", &times);
    scene.end();
}

#[test]
fn the_keeper_again_and_again() {
    let mut scene = Scene::start();
    let times: Vec<Duration> = (1..=ROUNDS)
        .map(|round| {
            let took = scene.pond.kill_keeper();
            scene.glance(&format!("after death {round} of the keeper"));
            took
        })
        .collect();
    report("the keeper", &times);
    scene.end();
}

#[test]
fn keeper_and_daemon_alternating() {
    let mut scene = Scene::start();
    let (mut keeper, mut daemon) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        keeper.push(scene.pond.kill_keeper());
        scene.glance(&format!("after death {round} of the keeper"));
        daemon.push(scene.pond.kill_daemon());
        scene.glance(&format!("after death {round} of the daemon"));
    }
    report("the keeper (alternating)", &keeper);
    report("the daemon (alternating)", &daemon);
    scene.end();
}

/// Without a look in between: the next kill as soon as the last one's replacement is known.
#[test]
fn in_quick_succession() {
    let mut scene = Scene::start();
    for _ in 0..ROUNDS {
        scene.pond.kill_keeper();
        scene.pond.kill_daemon();
        scene.pond.kill_daemon();
        scene.pond.kill_keeper();
    }
    scene.check("after forty deaths");
    scene.end();
}

#[test]
fn a_worker_that_dies_while_holding_keeps_nothing() {
    // With slabs kept for reuse: one that a dead process could still see must not be.
    let pond = TestPond::start(Options::new());
    let baseline = pond.physical();
    let mut maker = pond.worker();
    let hash = maker.ask(&format!("put held {} 7", driver::plenty()));
    maker.finish();
    let mut holder = pond.worker();
    assert_eq!(holder.ask("get held"), hash);
    eventually_equal("leases", &1, || pond.accounts().leases);
    let clients = pond.control().clients().unwrap();
    let of_holder = clients.iter().find(|client| client.pid == holder.pid()).unwrap();
    assert_eq!(of_holder.leases.len(), 1);

    holder.kill();
    eventually_equal("leases of the dead", &0, || pond.accounts().leases);
    let accounts = pond.accounts();
    assert_eq!((accounts.tensors, accounts.slabs), (1, 1), "the tensor is not the reader's");
    pond.control().delete("held").unwrap();
    eventually_equal("slabs", &(0, 0), || {
        let accounts = pond.accounts();
        (accounts.slab_bytes, accounts.recycled_bytes)
    });
    pond.assert_physical("the dead worker's memory", baseline);
}

#[test]
fn a_worker_that_dies_while_writing_leaves_a_tensor_that_can_be_deleted() {
    let pond = TestPond::start(Options::new());
    let baseline = pond.physical();
    let mut writer = pond.worker();
    writer.ask(&format!("begin half {}", driver::plenty()));
    writer.ask("write half 5");
    writer.kill();
    eventually_equal("leases of the dead", &0, || pond.accounts().leases);
    let mut reader = pond.worker();
    let refused = reader.try_ask("get half").unwrap_err();
    assert!(refused.starts_with("not_ready"), "{refused}");
    pond.control().delete("half").unwrap();
    pond.assert_physical("the dead writer's memory", baseline);
}

/// A worker that dies while there is no daemon is noticed by the next one.
#[test]
fn a_worker_and_the_daemon_at_once() {
    let mut scene = Scene::start();
    for round in 1..=5 {
        let mut worker = scene.pond.worker();
        worker.ask("get own");
        eventually_equal("leases", &4, || scene.pond.accounts().leases);
        let daemon = Process::open(scene.pond.status().daemon_pid).unwrap();
        daemon.kill();
        worker.kill();
        scene.glance(&format!("after both died, round {round}"));
    }
    scene.end();
}

/// The one loss that there is: nobody is left who holds anything, but clients keep what they have
/// mapped, and the memory goes with them.
#[test]
fn keeper_and_daemon_at_once_leave_what_is_mapped() {
    let pond = TestPond::prepare(Options::giving_back());
    let baseline = pond.physical();
    pond.serve();
    let mut holder = pond.worker();
    let hash = holder.ask(&format!("make held {} 1", driver::plenty()));
    holder.ask("put unmapped 100000 2");
    let status = pond.status();
    let both = [status.daemon_pid, status.keeper_pid].map(|pid| Process::open(pid).unwrap());
    // Stopped first, so that neither can start the other. The daemon goes first: whoever is stopped
    // when the parent dies is woken by the kernel.
    both.iter().for_each(Process::stop);
    for process in &both {
        process.kill();
        assert!(process.wait(PATIENCE));
    }
    pond.wait_for_serve();
    assert_eq!(holder.ask("hash held"), hash, "a mapping needs no pond");
    pond.serve();
    let names = pond.connect().unwrap().list("").unwrap();
    assert!(names.is_empty(), "{names:?}");
    assert_eq!(holder.ask("hash held"), hash);
    eventually_equal("what the holder knows", &"true".to_owned(), || holder.ask("lost held"));
    holder.kill();
    let status = pond.connect().unwrap().status().unwrap();
    assert_eq!((status.devices[0].slab_bytes, status.lost_tensors), (0, 0));
    let keeper = Process::open(status.keeper_pid).unwrap();
    keeper.terminate();
    assert!(keeper.wait(PATIENCE));
    pond.assert_physical("everybody is gone", baseline);
}
