//! A daemon that cannot start: the keeper slows down and says so, and keeps everything until the
//! cause is gone.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use millpond::Status;
use millpond_tests::{
    Folder, Options, PATIENCE, Process, TestPond, Worker, binaries, driver, eventually,
    eventually_equal, say,
};

/// What the daemon itself keeps of the device, so that exports are quick.
const ANCHOR: u64 = 2 << 20;

/// A pond with memory that a worker has mapped.
struct Scene {
    pond: TestPond,
    holder: Worker,
    hash: String,
    physical: u64,
    status: Status,
}

impl Scene {
    fn start(options: Options) -> Self {
        let pond = TestPond::start(options);
        let mut holder = pond.worker();
        let hash = holder.ask(&format!("make held {} 1", driver::plenty()));
        holder.ask("make small 5000 2");
        let physical = pond.physical() - ANCHOR;
        let status = pond.status();
        Self { pond, holder, hash, physical, status }
    }

    /// Kills the daemon and waits until the keeper has given up being quick.
    fn crash(&self) -> Process {
        Process::open(self.status.daemon_pid).unwrap().kill();
        eventually("the keeper to slow down", || {
            let log = self.pond.log();
            let slow = log.lines().find(|line| line.contains("is started in 40 ms"))?;
            assert!(slow.contains("times in a row") && slow.contains("held"), "{slow}");
            Some(())
        });
        Process::open(self.status.keeper_pid).unwrap()
    }

    /// Nobody answers, and nothing is lost.
    fn check_meanwhile(&mut self) {
        assert_eq!(self.holder.ask("hash held"), self.hash, "mapped memory needs no daemon");
        self.pond.assert_physical("without a daemon", self.physical);
    }

    fn check_after(mut self, keeper: &Process) {
        eventually("a daemon that lives", || self.pond.connect().ok());
        assert!(!keeper.wait(std::time::Duration::ZERO), "the keeper lives on");
        let status = self.pond.status();
        assert_eq!(status.lost_tensors, 0);
        let mut reader = self.pond.worker();
        assert_eq!(reader.ask("hash held"), self.hash);
        assert_eq!(self.holder.ask("lost held"), "false");
        reader.finish();
        eventually_equal("leases", &2, || self.pond.accounts().leases);
        self.holder.finish();
        let deaths = self.pond.log().matches("(epoch ").count();
        say(&format!("a crash loop of {} epochs, {deaths} lines in the log", status.epoch));
    }
}

#[test]
fn a_program_that_cannot_start_costs_no_memory() {
    // Not in the pond's own folder, which may be where nothing may be executed.
    let folder = Folder::new();
    let place =
        PathBuf::from("/tmp").join(folder.path().file_name().unwrap()).with_extension("bin");
    fs::create_dir_all(&place).unwrap();
    let (program, good) = (place.join("millpond"), place.join("good"));
    binaries::copy(binaries::millpond(), &good);
    fs::hard_link(&good, &program).unwrap();
    let mut scene = Scene::start(Options::new().program(program.clone()));

    let broken = place.join("broken");
    binaries::script(&broken, "exit 1");
    fs::rename(&broken, &program).unwrap();
    let keeper = scene.crash();
    scene.check_meanwhile();
    let refused = scene.pond.cli(&["status", "--json"]);
    assert!(refused.code.is_some_and(|code| code != 0), "{refused:?}");
    fs::rename(&good, &program).unwrap();
    scene.check_after(&keeper);
    fs::remove_dir_all(&place).unwrap();
}

/// A daemon that finds no sense in the journal refuses to serve, rather than to begin anew.
#[test]
fn a_damaged_journal_is_refused_and_kept() {
    let mut scene = Scene::start(Options::new());
    let keeper = scene.status.keeper_pid;
    let journal = fs::read_dir(format!("/proc/{keeper}/fd")).unwrap().flatten().find(|entry| {
        fs::read_link(entry.path())
            .is_ok_and(|target| target.to_string_lossy().contains("millpond-journal"))
    });
    let journal = fs::File::options().read(true).write(true).open(journal.unwrap().path()).unwrap();
    let mut whole = vec![0; usize::try_from(journal.metadata().unwrap().len()).unwrap()];
    journal.read_exact_at(&mut whole, 0).unwrap();
    let daemon = Process::open(scene.status.daemon_pid).unwrap();
    daemon.stop();
    journal.write_all_at(&[0xff; 64], 0).unwrap();
    let keeper = scene.crash();
    scene.check_meanwhile();
    assert!(!keeper.wait(std::time::Duration::ZERO), "the keeper holds what there is");
    journal.set_len(0).unwrap();
    journal.write_all_at(&whole, 0).unwrap();
    assert!(daemon.wait(PATIENCE));
    scene.check_after(&keeper);
}
