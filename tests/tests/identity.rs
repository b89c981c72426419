//! Who somebody says to be, and what a lease number means: real processes, real restarts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::os::fd::AsFd;
use std::time::Duration;

use millpond::{Audience, ClientId, Dtype, ErrorKind, LeaseId, Mode, Shape, TensorId, TensorSpec};
use millpond_tests::raw::{encoded, hello};
use millpond_tests::{Options, PATIENCE, Process, Raw, Said, TestPond, Worker, eventually};
use millpond_wire::message::{
    Hello, Life, PartSpec, Proof, ReplyBody, RequestBody, Target, TensorCreate, TensorGet, VERSION,
    VersionCommit, VersionStage,
};
use millpond_wire::{ContentHash, Token, VersionId, memfd};

/// A process that is connected and holds nothing, with its identity.
fn idle(pond: &TestPond) -> (Worker, ClientId) {
    let mut worker = pond.worker();
    assert!(worker.try_ask("get nothing").unwrap_err().contains("not_found"));
    let client = identity(pond, &worker).unwrap();
    (worker, client)
}

fn identity(pond: &TestPond, worker: &Worker) -> Option<ClientId> {
    let clients = pond.control().clients().unwrap();
    clients.iter().find(|client| client.pid == worker.pid())?.client
}

fn answer(raw: &Raw, number: u64, body: RequestBody) -> ReplyBody {
    raw.send(number, body);
    loop {
        let (reply, _) = raw.receive().unwrap();
        if reply.number == number {
            return reply.body;
        }
    }
}

fn kind(body: &ReplyBody) -> Option<ErrorKind> {
    match body {
        ReplyBody::Failure(failure) => Some(failure.kind),
        _ => None,
    }
}

fn create(name: &str, lease: u64) -> RequestBody {
    RequestBody::TensorCreate(TensorCreate {
        tensor: TensorId::random(),
        name: Some(name.parse().unwrap()),
        dtype: Dtype::U8,
        shape: Shape::new([100]).unwrap(),
        device: None,
        audience: Audience::User,
        ephemeral: false,
        zero: true,
        lease: Some(LeaseId(lease)),
        life: Life::default(),
        transport: millpond_wire::TransportKind::Vmm,
        hold: None,
    })
}

/// The process whose identity it is stands still while the daemon is replaced, so that the thief is
/// the first one to say it.
#[test]
fn an_identity_that_is_taken_at_a_restart_costs_its_owner_nothing() {
    let pond = TestPond::start(Options::new());
    for holds in [false, true] {
        let (mut worker, client) = idle(&pond);
        let process = Process::open(worker.pid()).unwrap();
        process.stop();
        pond.kill_daemon();
        pond.control().ping().unwrap();
        let thief = Raw::connect(&pond.runtime_dir());
        assert_eq!(kind(&answer(&thief, 1, hello(VERSION, client))), None);
        if holds {
            assert_eq!(kind(&answer(&thief, 2, create("loot", 1))), None);
        }
        process.go_on();
        worker.ask("make mine 1000 1");
        if holds {
            assert_ne!(identity(&pond, &worker).unwrap(), client, "it goes on as a new client");
            assert_eq!(kind(&answer(&thief, 3, RequestBody::Goodbye)), None);
        } else {
            assert_eq!(identity(&pond, &worker).unwrap(), client);
            assert!(thief.is_ended(), "the thief makes way");
        }
        worker.finish();
        pond.control().delete("mine").unwrap();
    }
}

#[test]
fn a_forged_token_is_denied_before_and_after_a_restart() {
    let pond = TestPond::start(Options::new());
    let (mut worker, client) = idle(&pond);
    let status = pond.status();
    for _ in 0..2 {
        let thief = Raw::connect(&pond.runtime_dir());
        let proof = Some(Proof { pond: status.pond, token: [1; 16] });
        for claims in [false, true] {
            let program = "thief".to_owned();
            let forged =
                Hello { version: VERSION, capabilities: 0, client, program, claims, proof };
            let denied = answer(&thief, 1, RequestBody::Hello(forged));
            assert_eq!(kind(&denied), Some(ErrorKind::Denied));
        }
        pond.kill_daemon();
    }
    worker.ask("make mine 1000 1");
    assert_eq!(identity(&pond, &worker), Some(client));
    worker.finish();
}

#[test]
fn a_lease_number_in_use_gets_nothing_else() {
    let pond = TestPond::start(Options::new());
    for name in ["x", "y"] {
        pond.control().reserve(TensorSpec::new(name, Dtype::U8, [100]).zero(true)).unwrap();
    }
    let y = pond.control().inspect("y").unwrap().info.tensor;
    let raw = Raw::connect(&pond.runtime_dir());
    raw.be_welcome();
    let get = |target| {
        let (lease, mode) = (LeaseId(1), Mode::ReadOnly);
        RequestBody::TensorGet(TensorGet { target, lease, mode, wait_ms: 0 })
    };
    let named = |name: &str| get(Target::Name(name.parse().unwrap()));
    assert_eq!(kind(&answer(&raw, 2, named("x"))), None);
    for (number, other) in (3..).zip([named("y"), named("nothing"), get(Target::Id(y))]) {
        assert_eq!(kind(&answer(&raw, number, other)), Some(ErrorKind::Invalid));
    }
    // The answer may have been lost: the same again is the same, though the name is gone.
    pond.control().delete("x").unwrap();
    assert_eq!(kind(&answer(&raw, 9, named("x"))), None);
    assert_eq!(kind(&answer(&raw, 10, RequestBody::Goodbye)), None);
}

/// The keeper stands still, so that no daemon comes before the time is over.
#[test]
fn a_wait_that_ends_while_the_daemon_is_away_is_a_timeout() {
    let pond = TestPond::start(Options::new());
    let status = pond.status();
    let keeper = Process::open(status.keeper_pid).unwrap();
    let daemon = Process::open(status.daemon_pid).unwrap();
    let mut get = pond.cli_command(&["tensor", "get", "nothing", "--wait", "1s", "--json"]);
    get.args(["-o", pond.path("out").to_str().unwrap()]);
    let waiting = std::thread::spawn(move || Said::by(&mut get, 2 * PATIENCE));
    eventually("the command is a client", || {
        (pond.control().clients().unwrap().len() == 2).then_some(())
    });
    keeper.stop();
    daemon.kill();
    std::thread::sleep(Duration::from_millis(1500));
    keeper.go_on();
    let error = waiting.join().unwrap().error();
    assert_eq!((error["kind"].as_str(), error["exit_code"].as_i64()), (Some("timeout"), Some(17)));
}

#[test]
fn a_damaged_manifest_is_what_inspect_talks_about() {
    let pond = TestPond::start(Options::new());
    let raw = Raw::connect(&pond.runtime_dir());
    raw.be_welcome();
    let version = VersionId::random();
    let stage = VersionStage {
        version,
        model: "net".parse().unwrap(),
        tag: None,
        device: None,
        audience: Audience::User,
        parts: vec![PartSpec { bytes: 100, shared: None }],
        lease: None,
    };
    assert_eq!(kind(&answer(&raw, 2, RequestBody::VersionStage(stage))), None);
    let manifest = memfd::sealed("manifest", b"nothing of the kind").unwrap();
    let commit = |bytes| {
        RequestBody::VersionCommit(VersionCommit {
            version,
            token: Token::random(),
            layout: ContentHash([1; 16]),
            content: ContentHash([2; 16]),
            tensors: 1,
            bytes,
            activate: true,
            unless_current: false,
            source: "nowhere".into(),
        })
    };
    for (number, bytes, refused) in [(3, u64::MAX, Some(ErrorKind::Invalid)), (4, 100, None)] {
        raw.send_fds(&encoded(number, commit(bytes)), &[manifest.as_fd()]);
        assert_eq!(kind(&raw.receive().unwrap().0.body), refused, "{bytes}");
    }
    let error = pond.cli(&["inspect", "net", "--json"]).error();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("net@v1") && message.contains("manifest"), "{message}");
    assert_eq!(error["kind"], "invalid");
}
