//! Every kind of request, with every process killed around it: before the request is read, while
//! it is served, right after the answer. Nothing is lost, nothing is leaked, and who lives gets an
//! answer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::time::Duration;

use millpond::ErrorKind;
use millpond_tests::{
    Accounts, Options, PATIENCE, Process, TestPond, Worker, content, eventually, eventually_equal,
    is_soft, say,
};

const BYTES: u64 = 65_536;
const SEED: u64 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Client,
    Daemon,
    Keeper,
    Mover,
    Host,
}

/// A request, what it needs before, and what must be so after its answer.
struct Kind {
    name: &'static str,
    /// What the client does first.
    before: &'static [&'static str],
    /// The request, in the words of `pondtool shell`; the last one is met by the kill.
    request: &'static [&'static str],
    /// Whether the tensor is published in the end, if there is one.
    then: Then,
    /// Who works for it beside client, daemon and keeper.
    helper: Option<Role>,
    /// Whether it is refused when the helper dies of it, or takes what was made along.
    may_fail: bool,
    /// How many times later than usual the kills come: for what has to wait for a process to start.
    later: u32,
}

impl Kind {
    const fn new(name: &'static str, then: Then) -> Self {
        Kind {
            name,
            before: &["connect"],
            request: &[],
            then,
            helper: None,
            may_fail: false,
            later: 1,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Nothing,
    Writing,
    Ready,
}

struct Scene {
    pond: TestPond,
    holder: Worker,
    hash: String,
    accounts: Accounts,
    physical: u64,
    kills: usize,
}

impl Scene {
    fn start() -> Self {
        let pond = TestPond::start(Options::giving_back().flag("--mover-idle-seconds", "1"));
        let mut holder = pond.worker();
        let hash = holder.ask(&format!("make kept {BYTES} 1"));
        eventually_equal("leases", &1, || pond.accounts().leases);
        let (accounts, physical) = (pond.accounts(), pond.physical());
        Self { pond, holder, hash, accounts, physical, kills: 0 }
    }

    /// The mover or the host of the moment, if there is one.
    fn kill_helper(&mut self, role: Role) {
        let status = self.pond.status();
        let mover = status.movers.last().map(|mover| mover.pid);
        let host = status.hosts.last().map(|host| host.pid);
        let pid = if role == Role::Mover { mover } else { host };
        if let Some(helper) = pid.and_then(|pid| Process::open(pid).ok()) {
            helper.kill();
            self.kills += 1;
        }
    }

    fn kill(&mut self, role: Role) {
        if matches!(role, Role::Mover | Role::Host) {
            return self.kill_helper(role);
        }
        self.kills += 1;
        let before = self.pond.status();
        let pid = if role == Role::Daemon { before.daemon_pid } else { before.keeper_pid };
        let victim = Process::open(pid).unwrap();
        victim.kill();
        eventually("who takes over", || {
            let now = self.pond.control().status().ok()?;
            let new = now.epoch > before.epoch || now.keeper_pid != before.keeper_pid;
            new.then_some(())
        });
        assert!(victim.wait(PATIENCE));
        self.pond.reap();
    }

    /// Takes away what the request made, and looks that all is as it was.
    fn tidy(&mut self, after: &str) {
        match self.pond.control().delete("t") {
            Ok(()) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound, "{after}: {error}"),
        }
        eventually_equal(after, &self.accounts, || self.pond.accounts());
        assert_eq!(self.holder.ask("hash kept"), self.hash, "{after}");
    }

    fn end(mut self, what: &str) {
        self.pond.assert_physical(what, self.physical);
        self.pond.control().delete("kept").unwrap();
        self.holder.ask("drop-all");
        self.holder.ask("flush");
        eventually_equal(what, &0, || self.pond.accounts().slab_bytes);
        say(&format!("{what}: kills: {}", self.kills));
    }
}

/// Around the request, and sometimes right after its answer.
fn moment(round: u64) -> Option<Duration> {
    (round % 6 != 5).then(|| Duration::from_micros(round * round * 17 % 5000))
}

/// Of four sets of moments the plain driver has two, and the strict one the other two: all run with
/// every change.
fn rounds() -> impl Iterator<Item = u64> {
    let strict = std::env::var_os("MILLPOND_SOFT_STRICT").is_some();
    let all = if is_soft() { 0..24 } else { 0..6 };
    all.filter(move |round| !is_soft() || (round / 6 % 2 == 1) == strict)
}

fn each_role(kind: &Kind) {
    let mut scene = Scene::start();
    let mut worker = scene.pond.worker();
    for round in rounds() {
        // In turn, so that the keeper has no daemon that dies again and again.
        for role in [Role::Client, Role::Daemon, Role::Keeper].into_iter().chain(kind.helper) {
            let after = format!("{} with the {role:?} killed, round {round}", kind.name);
            let is_hello = kind.before.is_empty() && kind.then == Then::Nothing;
            if is_hello {
                worker = scene.pond.worker();
            }
            kind.before.iter().for_each(|line| drop(worker.ask(line)));
            kind.request.iter().for_each(|line| worker.tell(line));
            let mut answers = kind.request.len();
            match moment(round) {
                Some(delay) => std::thread::sleep(delay * kind.later),
                None => {
                    worker.answer().unwrap();
                    answers -= 1;
                }
            }
            if role == Role::Client {
                scene.kills += 1;
                std::mem::replace(&mut worker, scene.pond.worker()).kill();
            } else {
                scene.kill(role);
                let said: Vec<_> = (0..answers).map(|_| worker.answer()).collect();
                match said.into_iter().find_map(Result::err) {
                    None if role == Role::Host => check_mapped(&mut worker, kind, &after),
                    None => check(&scene, kind, &after),
                    Some(error) => check_refused(&scene, kind, role, &error, &after),
                }
                worker.ask("drop-all");
                worker.ask("flush");
            }
            scene.tidy(&after);
        }
    }
    worker.finish();
    scene.end(kind.name);
}

/// What an answered request has done, a restart does not undo.
fn check(scene: &Scene, kind: &Kind, after: &str) {
    let state = scene.pond.control().inspect("t");
    match kind.then {
        Then::Nothing => assert_eq!(state.unwrap_err().kind(), ErrorKind::NotFound, "{after}"),
        Then::Writing => assert_eq!(state.unwrap().info.generation, 0, "{after}"),
        Then::Ready => {
            assert_eq!(state.unwrap().info.generation, 1, "{after}");
            let mut reader = scene.pond.worker();
            assert_eq!(reader.ask("hash t"), content::hash_of(BYTES, SEED), "{after}");
            reader.finish();
        }
    }
}

/// The tensor may be lost with its host, but not for who has it mapped.
fn check_mapped(worker: &mut Worker, kind: &Kind, after: &str) {
    if kind.then == Then::Ready {
        assert_eq!(worker.ask("hash t"), content::hash_of(BYTES, SEED), "{after}");
    }
}

/// What a helper died of, or has lost, is refused; and then nothing is half there.
fn check_refused(scene: &Scene, kind: &Kind, role: Role, error: &str, after: &str) {
    assert!(kind.may_fail && kind.helper == Some(role), "{after}: {error}");
    say(&format!("{after}: {error}"));
    eventually(after, || match scene.pond.control().inspect("t") {
        Ok(found) => (found.info.generation == 0 || role == Role::Host).then_some(()),
        Err(error) => (error.kind() == ErrorKind::NotFound).then_some(()),
    });
}

#[test]
fn create_of_a_small_one() {
    let kind = Kind::new("create, small", Then::Writing);
    each_role(&Kind { request: &["begin t 65536"], ..kind });
}

#[test]
fn create_of_one_with_a_slab_of_its_own() {
    let kind = Kind::new("create, own slab", Then::Writing);
    each_role(&Kind { request: &["begin t 37748736"], ..kind });
}

#[test]
fn get() {
    let (before, request) = (&["put t 65536 5"], &["get t"]);
    each_role(&Kind { before, request, ..Kind::new("get", Then::Ready) });
}

#[test]
fn publish() {
    let (before, request) = (&["begin t 65536", "write t 5"], &["publish t"]);
    each_role(&Kind { before, request, ..Kind::new("publish", Then::Ready) });
}

#[test]
fn delete() {
    let (before, request) = (&["put t 65536 5"], &["delete t"]);
    each_role(&Kind { before, request, ..Kind::new("delete", Then::Nothing) });
}

/// The last lease of a tensor that is deleted already: the release frees its memory.
#[test]
fn release() {
    let before = &["make t 65536 5", "delete t"];
    let request = &["drop t", "flush"];
    each_role(&Kind { before, request, ..Kind::new("release", Then::Nothing) });
}

#[test]
fn hello() {
    let kind = Kind::new("hello", Then::Nothing);
    each_role(&Kind { before: &[], request: &["connect"], ..kind });
}

/// Nobody sees the new one before it is complete, and a client that is killed leaves nothing.
#[test]
fn put() {
    let kind = Kind { helper: Some(Role::Mover), ..Kind::new("put", Then::Ready) };
    each_role(&Kind { request: &["upload t 65536 5"], ..kind });
}

/// A publish that takes the place of another tensor with the name.
#[test]
fn put_in_the_place_of_another() {
    let kind = Kind { helper: Some(Role::Mover), ..Kind::new("put, replacing", Then::Ready) };
    each_role(&Kind { before: &["put t 9000000 1"], request: &["upload t 65536 5"], ..kind });
}

#[test]
fn download() {
    let kind = Kind { helper: Some(Role::Mover), ..Kind::new("download", Then::Ready) };
    each_role(&Kind { before: &["put t 65536 5"], request: &["download t"], ..kind });
}

/// A host is started for each: the one before has freed something.
#[test]
fn create_in_a_host() {
    let kind = Kind {
        helper: Some(Role::Host),
        may_fail: true,
        later: 20,
        ..Kind::new("create, ipc", Then::Ready)
    };
    each_role(&Kind { request: &["shared make t ipc 65536 5"], ..kind });
}

#[test]
fn get_by_a_handle() {
    let before = &["shared make t ipc 65536 5", "drop t", "flush"];
    let kind =
        Kind { helper: Some(Role::Host), may_fail: true, ..Kind::new("get, ipc", Then::Ready) };
    each_role(&Kind { before, request: &["get t"], ..kind });
}

/// The release frees the last memory of a host, and so ends it.
#[test]
fn release_of_the_last_of_a_host() {
    let before = &["shared make t ipc 65536 5", "delete t"];
    let kind = Kind { helper: Some(Role::Host), ..Kind::new("release, ipc", Then::Nothing) };
    each_role(&Kind { before, request: &["drop t", "flush"], ..kind });
}

#[test]
fn create_of_a_memory_pool() {
    let kind = Kind { helper: Some(Role::Mover), ..Kind::new("create, mempool", Then::Ready) };
    each_role(&Kind { request: &["shared make t mempool 65536 5"], ..kind });
}

/// The client is the owner of what it brings in: with its end goes what only it could share.
#[test]
fn adopt() {
    let kinds: [(&str, &[&str]); 3] = [
        ("adopt, vmm", &["shared adopt t virtual 65536 5"]),
        ("adopt, mempool", &["shared adopt t pool 65536 5"]),
        ("adopt, ipc", &["shared adopt t linear 65536 5"]),
    ];
    for (name, request) in kinds {
        let helper = Some(Role::Mover);
        let kind = Kind { helper, may_fail: true, ..Kind::new(name, Then::Ready) };
        each_role(&Kind { request, ..kind });
    }
}

/// A client that holds something claims it from the next daemon by itself; that is met as well.
#[test]
fn claim() {
    let mut scene = Scene::start();
    let mut worker = scene.pond.worker();
    for round in rounds() {
        for role in [Role::Client, Role::Daemon, Role::Keeper] {
            let after = format!("claim with the {role:?} killed, round {round}");
            // Not published: what is being written outlives the daemon as well.
            worker.ask("begin t 65536");
            let hash = worker.ask("write t 5");
            scene.kill(Role::Daemon);
            std::thread::sleep(moment(round).unwrap_or(Duration::from_millis(20)));
            if role == Role::Client {
                scene.kills += 1;
                std::mem::replace(&mut worker, scene.pond.worker()).kill();
            } else {
                scene.kill(role);
                assert_eq!(worker.ask("lost t"), "false", "{after}");
                assert_eq!(worker.ask("hash t"), hash, "{after}");
                eventually_equal("leases", &2, || scene.pond.accounts().leases);
                worker.ask("drop-all");
                worker.ask("flush");
            }
            scene.tidy(&after);
            // Resets the keeper's patience with daemons that die.
            if round % 3 == 2 {
                scene.kill(Role::Keeper);
            }
        }
    }
    worker.finish();
    scene.end("claim");
}

/// A get that waits outlives any number of daemons, and is answered by the one that hears the
/// publish.
#[test]
fn a_get_that_waits() {
    let mut scene = Scene::start();
    let (mut reader, mut writer) = (scene.pond.worker(), scene.pond.worker());
    for round in rounds() {
        let role = [Role::Daemon, Role::Keeper][usize::from(round % 2 == 1)];
        writer.ask(&format!("begin t {BYTES}"));
        writer.ask("write t 5");
        reader.tell("get t 30000");
        std::thread::sleep(moment(round).unwrap_or_default());
        scene.kill(role);
        writer.ask("publish t");
        assert_eq!(reader.answer().unwrap(), content::hash_of(BYTES, SEED));
        for worker in [&mut reader, &mut writer] {
            worker.ask("drop-all");
            worker.ask("flush");
        }
        scene.tidy(&format!("a waiting get, round {round}"));
    }
    reader.finish();
    writer.finish();
    scene.end("a get that waits");
}
