//! Processes that are stopped and not dead: nothing of theirs is taken away, and nobody else waits.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::time::Duration;

use millpond::{Dtype, Pond, TensorSpec};
use millpond_tests::{
    Options, PATIENCE, Process, TestPond, Worker, eventually, eventually_equal, say,
};

const BYTES: u64 = 40 << 20;

fn process(worker: &Worker) -> Process {
    Process::open(worker.pid()).unwrap()
}

/// Others work as if nothing was.
fn others_are_served(pond: &TestPond) {
    let mut other = pond.worker();
    other.ask("make other 100000 3");
    other.ask("hash other");
    other.ask("delete other");
    other.ask("drop-all");
    other.ask("flush");
    other.finish();
}

#[test]
fn a_stopped_holder_keeps_its_lease_and_goes_on_with_it() {
    let pond = TestPond::start(Options::giving_back());
    let baseline = pond.physical();
    let mut holder = pond.worker();
    let hash = holder.ask(&format!("make held {BYTES} 1"));
    eventually_equal("leases", &1, || pond.accounts().leases);
    process(&holder).stop();
    pond.control().delete("held").unwrap();
    others_are_served(&pond);
    // The next daemon does not know what it holds, and waits for it all the same.
    pond.kill_daemon();
    others_are_served(&pond);
    assert_eq!(pond.accounts().slab_bytes, BYTES, "somebody may still read it");
    process(&holder).go_on();
    assert_eq!(holder.ask("hash held"), hash);
    assert_eq!(holder.ask("lost held"), "false");
    holder.ask("drop-all");
    holder.ask("flush");
    eventually_equal("slabs", &0, || pond.accounts().slab_bytes);
    // On a card its context counts too.
    holder.finish();
    pond.assert_physical("everything was released", baseline);
}

#[test]
fn a_stopped_holder_that_is_killed_frees_what_it_held() {
    let pond = TestPond::start(Options::giving_back());
    let baseline = pond.physical();
    for with_a_restart in [false, true] {
        let mut holder = pond.worker();
        holder.ask(&format!("make held {BYTES} 1"));
        process(&holder).stop();
        if with_a_restart {
            pond.kill_daemon();
        }
        pond.control().delete("held").unwrap();
        assert_eq!(pond.accounts().slab_bytes, BYTES);
        holder.kill();
        eventually_equal("slabs", &0, || pond.accounts().slab_bytes);
        eventually_equal("leases", &0, || pond.accounts().leases);
        pond.assert_physical("the holder is gone", baseline);
    }
}

#[test]
fn a_stopped_writer_keeps_its_readers_waiting_and_nobody_else() {
    let pond = TestPond::start(Options::new());
    let (mut writer, mut reader) = (pond.worker(), pond.worker());
    writer.ask("begin slow 70000");
    let hash = writer.ask("write slow 2");
    process(&writer).stop();
    let refused = reader.try_ask("get slow 50").unwrap_err();
    assert!(refused.starts_with("timeout"), "{refused}");
    reader.tell("get slow 30000");
    others_are_served(&pond);
    process(&writer).go_on();
    writer.ask("publish slow");
    assert_eq!(reader.answer().unwrap(), hash);
    writer.finish();
    reader.finish();
}

/// The keeper's watchdog ends a daemon that does not answer; a call that met it is answered by the
/// next one.
#[test]
fn a_stopped_daemon_is_replaced() {
    let pond = TestPond::start(Options::new().flag("--watchdog-seconds", "1"));
    let mut holder = pond.worker();
    let hash = holder.ask("make held 100000 1");
    let before = pond.status();
    let daemon = Process::open(before.daemon_pid).unwrap();
    daemon.stop();
    pond.control().reserve(TensorSpec::new("met", Dtype::U8, [10])).unwrap();
    assert!(daemon.wait(PATIENCE));
    let now = pond.status();
    assert!(now.epoch > before.epoch && now.keeper_pid == before.keeper_pid);
    pond.control().inspect("met").unwrap();
    assert_eq!((holder.ask("hash held"), holder.ask("lost held")), (hash, "false".to_owned()));
    holder.finish();
}

/// Whoever comes while the daemon hangs waits for longer than the watchdog does, all with the
/// settings that nobody has changed.
#[test]
fn a_client_that_finds_a_daemon_that_hangs_is_served_by_the_next_one() {
    let pond = TestPond::start(Options::new());
    let before = pond.status();
    let daemon = Process::open(before.daemon_pid).unwrap();
    daemon.stop();
    let now = pond.connect().and_then(|pond| pond.status()).unwrap();
    assert_eq!(now.keeper_pid, before.keeper_pid);
    assert!(now.epoch > before.epoch);
    assert!(daemon.wait(PATIENCE));
}

/// What a stopped keeper is given waits in its channel, which counts as held; one that takes
/// nothing for long is replaced.
#[test]
fn a_stopped_keeper_delays_nobody() {
    let pond = TestPond::start(Options::new());
    let before = pond.status();
    let keeper = Process::open(before.keeper_pid).unwrap();
    keeper.stop();
    let mut maker = pond.worker();
    let hashes: Vec<String> =
        (0..6).map(|index| maker.ask(&format!("put made/{index} {} {index}", 33 << 20))).collect();
    maker.finish();
    assert_eq!(pond.status().epoch, before.epoch);
    // The daemon dies while the keeper is still stopped: nobody is there to start another one, and
    // then somebody is.
    let daemon = Process::open(before.daemon_pid).unwrap();
    daemon.kill();
    assert!(daemon.wait(PATIENCE));
    std::thread::sleep(Duration::from_millis(50));
    keeper.go_on();
    eventually("the next daemon", || {
        let status = pond.connect().and_then(|pond| pond.status()).ok()?;
        (status.epoch > before.epoch).then_some(())
    });
    let mut reader = pond.worker();
    for (index, hash) in hashes.iter().enumerate() {
        assert_eq!(reader.ask(&format!("hash made/{index}")), *hash);
    }
    assert_eq!(pond.accounts().lost, 0);
    reader.finish();
}

/// More clients come than the channel has room for, each of which the next daemon must know. Others
/// are answered while those wait; then another keeper has everything.
#[test]
fn a_keeper_that_takes_nothing_is_replaced_and_delays_nobody_who_needs_nothing_of_it() {
    /// No channel has room for so many.
    const MOST: usize = 5000;
    let pond = TestPond::start(Options::new());
    let before = pond.status();
    let mut reader = pond.worker();
    let hash = reader.ask("put read 100000 1");
    let keeper = Process::open(before.keeper_pid).unwrap();
    keeper.stop();
    let come = |index: usize| {
        let client = pond.connect().unwrap();
        let spec = TensorSpec::new(format!("came/{index}"), Dtype::U8, [10]).ephemeral(true);
        client.reserve(spec).unwrap();
        client
    };
    let came: Vec<Pond> = std::thread::scope(|scope| {
        let coming = scope.spawn(|| {
            let stands_still = |_: &usize| !keeper.wait(Duration::ZERO);
            (0..MOST).take_while(stands_still).map(come).collect()
        });
        // As long as any of them waits for the keeper, the reader is answered.
        while !coming.is_finished() {
            assert_eq!(reader.ask("hash read"), hash);
        }
        coming.join().unwrap()
    });
    assert!(came.len() < MOST, "it is replaced");
    eventually("another keeper", || (pond.status().keeper_pid != before.keeper_pid).then_some(()));
    assert_eq!(pond.status().daemon_pid, before.daemon_pid);
    pond.kill_daemon();
    for index in 0..came.len() {
        pond.control().inspect(&format!("came/{index}")).unwrap();
    }
    assert_eq!((reader.ask("hash read"), pond.accounts().lost), (hash, 0));
    drop(came);
    reader.finish();
}

/// Eight stopped clients with everything mapped, and a hundred requests of another one.
#[test]
fn many_stopped_clients() {
    let pond = TestPond::start(Options::giving_back());
    let mut maker = pond.worker();
    maker.ask("put shared 2000000 4");
    let holders: Vec<Worker> = (0..8)
        .map(|_| {
            let mut holder = pond.worker();
            holder.ask("map shared");
            process(&holder).stop();
            holder
        })
        .collect();
    let start = std::time::Instant::now();
    for index in 0..100 {
        maker.ask(&format!("put quick/{} 5000 {index}", index % 7));
        maker.ask(&format!("delete quick/{}", index % 7));
    }
    say(&format!("100 tensors beside 8 stopped clients: {:?}", start.elapsed()));
    assert_eq!(pond.accounts().leases, 8);
    holders.into_iter().for_each(Worker::kill);
    eventually_equal("leases", &0, || pond.accounts().leases);
    maker.finish();
}
