//! Memory of every transport with real processes: what each survives, what handles open, and memory
//! that programs already had.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use millpond::{EventKind, LeaseId, Mode, TensorState};
use millpond_tests::{
    Accounts, Options, PATIENCE, Process, Raw, TestPond, Worker, binaries, content, driver,
    eventually, eventually_equal,
};
use millpond_wire::message::{ReplyBody, RequestBody, Target, TensorGet};
use rustix::process::{Pid, Signal};

const MIB: u64 = 1 << 20;
const BYTES: u64 = 3 * MIB + 100;

/// Programs that link nothing of ours.
const IPC_READER: (&str, &str) = ("ipc_reader", include_str!("../programs/ipc_reader.c"));
const POOL_READER: (&str, &str) = ("pool_reader", include_str!("../programs/pool_reader.c"));

/// One of them, on the driver under test. It is made in the pond's folder, and goes with that.
fn plain(pond: &TestPond, (name, text): (&str, &str)) -> Command {
    let (source, program) = (pond.path(&format!("{name}.c")), pond.path(name));
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("cc");
    compiler.arg("-O1").arg("-o").arg(&program).arg(&source).arg("-ldl");
    assert!(compiler.status().unwrap().success(), "cc makes it");
    let mut command = Command::new(program);
    if driver::is_soft() {
        command
            .env("CUDA_LIBRARY", &binaries::soft_libraries()[0])
            .env("MILLPOND_SOFT_DIR", pond.path("soft"))
            .env("MILLPOND_SOFT_MEMORY", "2G");
    }
    command
}

pub(super) struct Plain {
    pub(super) child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Plain {
    /// Starts it with a handle. Returns it with the driver's answer to the open.
    pub(super) fn start(pond: &TestPond, arguments: &[&str]) -> (Self, String) {
        let mut command = plain(pond, IPC_READER);
        let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut plain = Self { child, to, from: BufReader::new(from) };
        let said = plain.hear();
        (plain, said)
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(super) fn ask(&mut self, line: &str) -> String {
        writeln!(self.to, "{line}").unwrap();
        self.hear()
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn sum(bytes: u64, seed: u64) -> String {
    content::bytes(bytes, seed).iter().map(|byte| u64::from(*byte)).sum::<u64>().to_string()
}

/// Memory, event, offset and bytes of a handle.
fn handle(worker: &mut Worker, name: &str) -> [String; 4] {
    let said = worker.ask(&format!("shared handle {name}"));
    let words: Vec<String> = said.split(' ').map(str::to_owned).collect();
    words.try_into().unwrap()
}

pub(super) fn hosts(pond: &TestPond) -> Vec<u32> {
    pond.status().hosts.iter().map(|host| host.pid).collect()
}

/// Kills a process that may be gone already.
pub(super) fn end(pid: u32) {
    if let Ok(process) = Process::open(pid) {
        process.kill();
        assert!(process.wait(PATIENCE), "process {pid} does not end");
    }
}

/// A mover has a context, which counts on a card.
fn end_movers(pond: &TestPond) {
    for mover in pond.status().movers {
        end(mover.pid);
    }
}

fn is_empty(accounts: &Accounts) -> bool {
    accounts.slab_bytes == 0 && accounts.leases == 0 && accounts.tensors == 0
}

pub(super) fn assert_empty(pond: &TestPond) {
    eventually("an empty pond", || is_empty(&pond.accounts()).then_some(()));
    eventually_equal("no hosts", &Vec::<u32>::new(), || hosts(pond));
}

#[test]
fn a_tensor_of_every_transport_is_made_got_moved_and_deleted() {
    let pond = TestPond::start(Options::giving_back());
    pond.physical();
    let before = pond.physical();
    let (mut maker, mut reader) = (pond.worker(), pond.worker());
    for (transport, survives) in [("vmm", "everything"), ("mempool", "everything"), ("ipc", "host")]
    {
        let hash = maker.ask(&format!("shared make {transport} {transport} {BYTES} 5"));
        assert_eq!(hash, content::hash_of(BYTES, 5));
        assert_eq!(reader.ask(&format!("get {transport}")), hash, "{transport}");
        assert_eq!(reader.ask(&format!("download {transport}")), hash, "by a mover, {transport}");
        let info = pond.control().inspect(transport).unwrap().info;
        assert_eq!((info.transport.name(), info.survives.name()), (transport, survives));
        assert_eq!(info.home_pid != 0, transport == "ipc");
        // Written by one, read by the other, without another get.
        let again = maker.ask(&format!("write {transport} 6"));
        maker.ask(&format!("publish {transport}"));
        assert_eq!(reader.ask(&format!("hash {transport}")), again);
    }
    let by_pool = pond.control().inspect("mempool").unwrap().info;
    assert_eq!(by_pool.slab_bytes, 32 * MIB, "what a pool takes of the card");
    for name in ["vmm", "mempool", "ipc"] {
        pond.control().delete(name).unwrap();
        assert_eq!(reader.ask(&format!("hash {name}")), content::hash_of(BYTES, 6), "still mapped");
    }
    maker.finish();
    reader.ask("drop-all");
    reader.ask("flush");
    reader.finish();
    assert_empty(&pond);
    end_movers(&pond);
    pond.assert_physical("all is given back", before);
}

#[test]
fn a_plain_program_opens_a_handle_and_an_old_one_never_opens_a_later_tensor() {
    let pond = TestPond::start(Options::giving_back());
    let mut maker = pond.worker();
    maker.ask(&format!("shared make kept ipc {BYTES} 1"));
    maker.ask(&format!("shared make gone ipc {BYTES} 2"));
    let [kept, event, offset, bytes] = handle(&mut maker, "kept");
    let [old, ..] = handle(&mut maker, "gone");
    assert_eq!((offset.as_str(), bytes), ("0", BYTES.to_string()));
    let (mut plain, said) = Plain::start(&pond, &[&kept, &event]);
    assert_eq!(said, "CUDA_SUCCESS");
    assert_eq!(plain.ask(&format!("sum 0 {BYTES}")), sum(BYTES, 1));
    // The order of two programs' streams, without a wait on either host.
    assert_eq!(plain.ask(&format!("fill 0 {BYTES} 7")), "filled");
    maker.ask("shared wait kept 7");
    maker.ask("shared fill kept 9");
    assert_eq!(plain.ask("wait"), "waited");
    assert_eq!(plain.ask(&format!("sum 0 {BYTES}")), (9 * BYTES).to_string());

    // The next tensor is another process's memory, because this one has freed something.
    assert_eq!(hosts(&pond).len(), 1);
    maker.ask("shared let-go gone");
    maker.ask("drop gone");
    maker.ask("flush");
    pond.control().delete("gone").unwrap();
    eventually("a sealed host", || pond.status().hosts.iter().any(|it| it.sealed).then_some(()));
    maker.ask(&format!("shared make later ipc {BYTES} 3"));
    assert_eq!(hosts(&pond).len(), 2);
    assert_ne!(plain.ask(&format!("open {old}")), "CUDA_SUCCESS", "the old bytes");
    let [later, ..] = handle(&mut maker, "later");
    assert_eq!(plain.ask(&format!("open {later}")), "CUDA_SUCCESS");
    assert_eq!(plain.ask("close"), "CUDA_SUCCESS");
    assert_ne!(plain.ask(&format!("open {}", "55".repeat(64))), "CUDA_SUCCESS", "no handle at all");

    drop(plain);
    for name in ["kept", "later"] {
        maker.ask(&format!("shared let-go {name}"));
        pond.control().delete(name).unwrap();
    }
    maker.finish();
    assert_empty(&pond);
}

#[test]
fn an_old_handle_opens_the_idle_memory_and_no_later_tensor_and_gc_ends_that() {
    let pond = TestPond::start(Options::new());
    let mut maker = pond.worker();
    maker.ask(&format!("shared make gone ipc {BYTES} 2"));
    let [old, ..] = handle(&mut maker, "gone");
    maker.ask("shared let-go gone");
    maker.ask("drop gone");
    maker.ask("flush");
    pond.control().delete("gone").unwrap();
    maker.ask(&format!("shared make later ipc {BYTES} 3"));
    let status = pond.status();
    assert_eq!((status.hosts.len(), status.hosts[0].sealed), (1, false), "one host makes both");
    assert_eq!(status.devices[0].recycled_bytes, BYTES.next_multiple_of(2 * MIB));
    let (mut plain, said) = Plain::start(&pond, &[&old]);
    assert_eq!(said, "CUDA_SUCCESS");
    assert_eq!(plain.ask(&format!("sum 0 {BYTES}")), sum(BYTES, 2), "its own bytes");
    assert_eq!(plain.ask("close"), "CUDA_SUCCESS");
    let collected = pond.cli(&["gc"]);
    assert_eq!(collected.code, Some(0), "{collected:?}");
    eventually("a sealed host", || pond.status().hosts.iter().any(|it| it.sealed).then_some(()));
    eventually("memory that is gone", || {
        (plain.ask(&format!("open {old}")) != "CUDA_SUCCESS").then_some(())
    });
    pond.control().delete("later").unwrap();
    maker.finish();
    assert_empty(&pond);
}

/// What NVIDIA's sample of pools between processes does, with a pool of the pond: the descriptor and
/// the exported pointer are all that the consumer gets, and its free is in stream order.
#[test]
fn a_plain_program_imports_a_memory_pool() {
    let pond = TestPond::start(Options::giving_back());
    let mut maker = pond.worker();
    maker.ask(&format!("shared make x mempool {BYTES} 4"));
    let raw = Raw::connect(&pond.runtime_dir());
    raw.be_welcome();
    for round in 0..3_u64 {
        let (target, lease) = (Target::Name("x".parse().unwrap()), LeaseId(round + 1));
        let get = TensorGet { target, lease, mode: Mode::ReadWrite, wait_ms: 0 };
        raw.send(round + 1, RequestBody::TensorGet(get));
        let (reply, mut fds) = raw.receive().unwrap();
        let ReplyBody::Tensor(grant) = reply.body else { panic!("{reply:?}") };
        let data = grant.backing.transport.data().unwrap();
        let data: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut consumer = plain(&pond, POOL_READER);
        let value = (10 + round).to_string();
        consumer.args([data.as_str(), &BYTES.to_string(), &value]);
        let said = consumer.stdin(fds.pop().unwrap()).output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout).trim_end().to_owned();
        let expected = if round == 0 { sum(BYTES, 4) } else { ((9 + round) * BYTES).to_string() };
        assert_eq!(said, expected, "round {round}");
        // Whoever made it may be gone when the next one comes.
        end_movers(&pond);
    }
    raw.send(9, RequestBody::Goodbye);
    let _ = raw.receive();
    pond.control().delete("x").unwrap();
    maker.finish();
    assert_empty(&pond);
}

#[test]
fn a_handle_is_for_memory_with_one_and_a_fabric_is_refused_with_the_drivers_reason() {
    let pond = TestPond::start(Options::new());
    let mut worker = pond.worker();
    worker.ask("shared make x vmm 100 1");
    let refused = worker.try_ask("shared handle x").unwrap_err();
    assert!(refused.contains("vmm") && refused.contains("ipc"), "{refused}");
    let refused = worker.try_ask("shared make y fabric 100 1").unwrap_err();
    assert!(refused.contains("NOT_PERMITTED") && refused.starts_with("unsupported"), "{refused}");
    let refused = worker.try_ask("shared make x ipc 100 1").unwrap_err();
    assert!(refused.contains("its transport is vmm, you asked for ipc"), "{refused}");
    worker.finish();
}

/// What a tensor of each kind survives, and whose death it does not.
#[test]
fn memory_survives_what_its_transport_says() {
    let pond = TestPond::start(Options::giving_back());
    let mut holder = pond.worker();
    let mut maker = pond.worker();
    let mut owner = pond.worker();
    let names = ["vmm", "mempool", "ipc", "own-virtual", "own-pool", "own-linear"];
    for name in &names[..3] {
        maker.ask(&format!("shared make {name} {name} {BYTES} 5"));
    }
    for (name, survives) in [("virtual", "everything"), ("pool", "everything"), ("linear", "owner")]
    {
        let said = owner.ask(&format!("shared adopt own-{name} {name} {} 5", 2 * MIB));
        assert_eq!(said, survives, "{name}");
    }
    let bytes = |name: &str| if name.starts_with("own") { 2 * MIB } else { BYTES };
    let hash = |name: &str| content::hash_of(bytes(name), 5);
    for name in names {
        assert_eq!(holder.ask(&format!("get {name}")), hash(name), "{name}");
    }
    let check = |holder: &mut Worker, names: &[&str], after: &str| {
        let mut new = pond.worker();
        for name in names {
            assert_eq!(
                holder.ask(&format!("hash {name}")),
                hash(name),
                "old reader, {name}, {after}"
            );
            assert_eq!(new.ask(&format!("get {name}")), hash(name), "new reader, {name}, {after}");
        }
        new.finish();
    };
    check(&mut holder, &names, "in the beginning");
    maker.kill();
    check(&mut holder, &names, "after its maker's death");
    let mut reader = pond.worker();
    for name in names {
        reader.ask(&format!("map {name}"));
    }
    reader.kill();
    check(&mut holder, &names, "after a reader's death");
    for _ in 0..2 {
        pond.kill_daemon();
        check(&mut holder, &names, "after the daemon's death");
    }
    pond.kill_keeper();
    pond.wait_for_keeper();
    check(&mut holder, &names, "after the keeper's death");
    let said = pond.cli(&["upgrade"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    check(&mut holder, &names, "after an upgrade");
    end_movers(&pond);
    check(&mut holder, &names, "after the mover's death");

    // The two deaths that lose something.
    owner.kill();
    let lost = |name: &str| {
        eventually(name, || {
            let refused = pond.worker().try_ask(&format!("get {name}")).err()?;
            refused.contains("is gone").then_some(refused)
        })
    };
    lost("own-linear");
    check(&mut holder, &names[..5], "after the owner's death");
    assert_eq!(holder.ask("hash own-linear"), hash("own-linear"), "readers keep it");
    for pid in hosts(&pond) {
        end(pid);
    }
    // Who comes before the daemon has seen its end is told by the driver.
    let refused = pond.worker().try_ask("get ipc").unwrap_err();
    assert!(refused.starts_with("lost") || refused.starts_with("not_found"), "{refused}");
    eventually("an orphan", || {
        let refused = pond.worker().try_ask("get ipc").unwrap_err();
        refused.contains("its host (pid").then_some(())
    });
    let kept = ["vmm", "mempool", "own-virtual", "own-pool"];
    check(&mut holder, &kept, "after the host's death");
    assert_eq!(holder.ask("hash ipc"), hash("ipc"), "readers keep it");
    let orphans = pond.control().list("").unwrap();
    let orphans = orphans.iter().filter(|info| info.state == TensorState::Orphan).count();
    assert_eq!(orphans, 2, "they are shown as long as somebody has them");

    // The next host starts, under the same name.
    let mut next = pond.worker();
    assert_eq!(next.ask(&format!("shared make ipc ipc {BYTES} 8")), content::hash_of(BYTES, 8));
    assert_eq!(holder.ask("hash ipc"), hash("ipc"), "the old one is another");
    next.finish();
    holder.ask("drop-all");
    holder.ask("flush");
    holder.finish();
    for name in ["vmm", "mempool", "ipc", "own-virtual", "own-pool"] {
        pond.control().delete(name).unwrap();
    }
    assert_empty(&pond);
}

#[test]
fn a_host_lives_on_under_the_next_daemon_the_next_keeper_and_an_upgrade() {
    let pond = TestPond::start(Options::giving_back());
    let mut worker = pond.worker();
    worker.ask(&format!("shared make x ipc {BYTES} 5"));
    let [memory, ..] = handle(&mut worker, "x");
    let before = hosts(&pond);
    assert_eq!(before.len(), 1);
    for round in 0..3 {
        pond.kill_daemon();
        assert_eq!(hosts(&pond), before, "round {round}");
        worker.ask(&format!("shared make y{round} ipc 100 {round}"));
        assert_eq!(hosts(&pond), before, "the same host makes more");
    }
    pond.kill_keeper();
    pond.wait_for_keeper();
    let said = pond.cli(&["upgrade"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(hosts(&pond), before, "after an upgrade");
    let (mut plain, said) = Plain::start(&pond, &[&memory]);
    assert_eq!(said, "CUDA_SUCCESS");
    assert_eq!(plain.ask(&format!("sum 0 {BYTES}")), sum(BYTES, 5));
    // Without keeper and daemon nobody needs it.
    let host = Process::open(before[0]).unwrap();
    drop(pond);
    assert!(host.wait(PATIENCE), "the host ends");
    assert_eq!(plain.ask(&format!("sum 0 {BYTES}")), sum(BYTES, 5), "a reader keeps its memory");
}

#[test]
fn a_host_that_stands_still_ends_with_its_pond() {
    let pond = TestPond::start(Options::default());
    let mut worker = pond.worker();
    worker.ask(&format!("shared make frames/a ipc {BYTES} 1"));
    worker.finish();
    let pid = hosts(&pond)[0];
    let host = Process::open(pid).unwrap();
    // The kernel continues what stands still when its parent ends, but not the child of a daemon that is gone.
    pond.kill_daemon();
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::STOP).unwrap();
    assert_eq!(pond.cli(&["stop"]).code, Some(0));
    let ended = host.wait(PATIENCE);
    // A failure leaves no process behind.
    host.kill();
    assert!(ended, "a host that stands still outlives its pond");
}

#[test]
fn a_host_may_die_at_any_time_and_a_create_finds_another() {
    let pond = TestPond::start(Options::giving_back());
    let mut worker = pond.worker();
    for round in 0..6_u64 {
        worker.tell(&format!("shared make x{round} ipc {BYTES} {round}"));
        for _ in 0..=round {
            for pid in hosts(&pond) {
                end(pid);
            }
        }
        // Made by whichever host was left, or refused because two of them died of it.
        let _ = worker.answer();
        worker.ask("drop-all");
        worker.ask("flush");
        for info in pond.control().list("x").unwrap() {
            let _ = pond.control().delete(info.tensor);
        }
        assert_empty(&pond);
    }
    assert_eq!(worker.ask("shared make last ipc 100 1"), content::hash_of(100, 1));
    pond.control().delete("last").unwrap();
    worker.finish();
    assert_empty(&pond);
}

#[test]
fn adopted_memory_is_kept_until_nobody_has_it_and_never_used_for_anything_else() {
    let pond = TestPond::start(Options::new());
    let (mut owner, mut reader) = (pond.worker(), pond.worker());
    for kind in ["virtual", "pool", "linear"] {
        owner.ask(&format!("shared adopt {kind} {kind} {} 3", 2 * MIB));
        assert_eq!(reader.ask(&format!("get {kind}")), content::hash_of(2 * MIB, 3), "{kind}");
        assert_eq!(
            owner.ask(&format!("get {kind}")),
            content::hash_of(2 * MIB, 3),
            "its own, {kind}"
        );
        let twice = owner.try_ask(&format!("shared again {kind}")).unwrap_err();
        assert!(twice.contains("adopted"), "{twice}");
    }
    assert_eq!(owner.ask("shared kept"), "3");
    let accounts = pond.accounts();
    for kind in ["virtual", "pool", "linear"] {
        owner.ask(&format!("drop {kind}"));
        pond.control().delete(kind).unwrap();
    }
    assert_eq!(pond.accounts().slab_bytes, accounts.slab_bytes, "a reader has them");
    assert_eq!(owner.ask("shared kept"), "3");
    reader.ask("drop-all");
    reader.ask("flush");
    eventually_equal("the owner may have its memory back", &"0".to_owned(), || {
        owner.ask("shared kept")
    });
    assert_eq!(pond.accounts().slab_bytes, 0, "nothing of it is kept");
    owner.finish();
    reader.finish();
}

#[test]
fn what_cannot_be_adopted_is_refused_with_its_reason() {
    let pond = TestPond::start(Options::new());
    let mut owner = pond.worker();
    let half = owner.try_ask(&format!("shared adopt-half x virtual {} 1", 4 * MIB)).unwrap_err();
    assert!(half.contains("bytes before the tensor"), "{half}");
    // Half of plain memory is inside of its allocation, and only its user may see the rest.
    assert_eq!(owner.ask(&format!("shared adopt-half x linear {} 1", 4 * MIB)), "owner");
    let mut reader = pond.worker();
    assert_eq!(reader.ask("get x"), content::hash_of(2 * MIB, 1));
    let taken = owner.try_ask(&format!("shared adopt x linear {} 1", 2 * MIB)).unwrap_err();
    assert!(taken.starts_with("exists"), "{taken}");
    assert_eq!(owner.ask("shared kept"), "1");
    owner.finish();
    reader.finish();
}

/// The handle says on which GPU, and whatever GPU a program works on, a get opens it there.
#[test]
fn memory_of_another_gpu_than_the_programs_is_opened_on_its_own() {
    let options = Options::giving_back().soft().env("MILLPOND_SOFT_DEVICES", "2");
    let options = options.worker_env("MILLPOND_SOFT_DEVICES", "2");
    let pond = TestPond::start(options);
    let devices: Vec<_> = pond.status().devices.iter().map(|device| device.device).collect();
    for (transport, name) in [("ipc", "x"), ("mempool", "y")] {
        let made = pond.cli(&[
            "tensor",
            "create",
            name,
            "--dtype",
            "u8",
            "--shape",
            "1000",
            "--zero",
            "--device",
            "1",
            "--transport",
            transport,
        ]);
        assert_eq!(made.code, Some(0), "{made:?}");
        assert_eq!(pond.control().inspect(name).unwrap().info.device, devices[1]);
    }
    let (mut first, mut second) = (pond.worker(), pond.worker());
    // Their own memory, and so their context, is on the first one.
    first.ask("make own 1000 1");
    for name in ["x", "y"] {
        first.ask(&format!("open {name}"));
        let written = first.ask(&format!("write {name} 5"));
        assert_eq!(second.ask(&format!("get {name}")), written, "{name}");
        let elsewhere = pond.cli(&[
            "tensor",
            "create",
            name,
            "--dtype",
            "u8",
            "--shape",
            "1000",
            "--zero",
            "--device",
            "0",
            "--transport",
            if name == "x" { "ipc" } else { "mempool" },
        ]);
        assert!(elsewhere.stderr.contains("it lies on"), "{elsewhere:?}");
    }
    first.finish();
    second.finish();
    for name in ["x", "y", "own"] {
        pond.control().delete(name).unwrap();
    }
    assert_empty(&pond);
}

#[test]
fn events_tell_of_hosts_adoptions_and_orphans() {
    let pond = TestPond::start(Options::new());
    let mut owner = pond.worker();
    owner.ask("shared make x ipc 100 1");
    owner.ask(&format!("shared adopt y linear {} 1", 2 * MIB));
    for pid in hosts(&pond) {
        end(pid);
    }
    owner.kill();
    for kind in [
        EventKind::HostStarted,
        EventKind::HostLost,
        EventKind::TensorAdopted,
        EventKind::TensorOrphaned,
    ] {
        eventually(kind.name(), || {
            let said = pond.cli(&["events", "--json"]);
            said.stdout.contains(kind.name()).then_some(())
        });
    }
}
