//! Messages that no honest client sends: the daemon lives on, and others are served.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::fs::File;
use std::os::fd::AsFd;

use millpond::{ClientId, Dtype, ErrorKind, LeaseId, Mode, Shape, TensorId, TensorSpec};
use millpond_tests::raw::{encoded, hello};
use millpond_tests::{
    Options, Raw, TestPond, content, eventually, eventually_equal, process::descriptors,
};
use millpond_wire::caps;
use millpond_wire::message::{
    Claim, LeaseClaim, ReplyBody, Request, RequestBody, Target, TensorCreate, TensorGet, VERSION,
};

/// A pond with one honest client, which must be served the same before and after.
struct Scene {
    pond: TestPond,
    epoch: millpond::Epoch,
    descriptors: usize,
}

impl Scene {
    fn start() -> Self {
        let pond = TestPond::start(Options::new());
        pond.control().reserve(TensorSpec::new("honest", Dtype::U8, [100]).zero(true)).unwrap();
        let status = pond.status();
        Self { epoch: status.epoch, descriptors: descriptors(status.daemon_pid), pond }
    }

    fn raw(&self) -> Raw {
        Raw::connect(&self.pond.runtime_dir())
    }

    fn welcome(&self) -> Raw {
        let raw = self.raw();
        raw.be_welcome();
        raw
    }

    /// Says goodbye: a client that only hangs up is remembered as long as its process lives.
    fn bye(raw: &Raw) {
        raw.send(1000, RequestBody::Goodbye);
        assert_eq!(raw.receive().unwrap().0.body, ReplyBody::Done);
    }

    fn complaints(&self) -> usize {
        self.pond.log().lines().filter(|line| line.contains(" WARN ")).count()
    }

    /// The log has exactly `count` complaints. It is written a moment after its cause is answered.
    #[track_caller]
    fn complained(&self, count: usize) {
        eventually("a complaint", || (self.complaints() >= count).then_some(()));
        assert_eq!(self.complaints(), count, "{}", self.pond.log());
    }

    /// The daemon is the same one, serves, and has kept nothing.
    #[track_caller]
    fn check(&self) {
        let status = self.pond.status();
        assert_eq!(status.epoch, self.epoch, "the daemon died:\n{}", self.pond.log());
        self.pond.control().inspect("honest").unwrap();
        eventually_equal("descriptors", &self.descriptors, || descriptors(status.daemon_pid));
    }
}

fn create(shape: &[u64]) -> RequestBody {
    RequestBody::TensorCreate(TensorCreate {
        tensor: TensorId::random(),
        name: Some("made".parse().unwrap()),
        dtype: Dtype::U8,
        shape: Shape::new(shape).unwrap(),
        device: None,
        audience: millpond::Audience::User,
        ephemeral: false,
        zero: false,
        lease: None,
        life: millpond::Life::default(),
        transport: millpond_wire::TransportKind::Vmm,
        hold: None,
    })
}

fn kind(body: &ReplyBody) -> ErrorKind {
    match body {
        ReplyBody::Failure(failure) => failure.kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn another_version_is_told_so() {
    let scene = Scene::start();
    for version in [0, VERSION + 1, u16::MAX] {
        let raw = scene.raw();
        let answer = raw.hello(version);
        assert_eq!(kind(&answer), ErrorKind::Protocol);
        let ReplyBody::Failure(failure) = answer else { panic!() };
        assert!(failure.message.contains(&version.to_string()), "{failure}");
        assert!(failure.hint.is_some());
        assert!(raw.is_ended());
    }
    scene.check();
}

#[test]
fn nobody_is_served_before_the_hello() {
    let scene = Scene::start();
    let raw = scene.raw();
    raw.send(5, RequestBody::PondStatus);
    let (reply, _) = raw.receive().unwrap();
    assert_eq!((reply.number, kind(&reply.body)), (5, ErrorKind::Protocol));
    assert!(raw.is_ended());
    scene.check();
}

#[test]
fn an_oversized_message_ends_its_sender_with_one_line_in_the_log() {
    let scene = Scene::start();
    let before = scene.complaints();
    let raw = scene.welcome();
    assert!(raw.send_bytes(&vec![7; caps::MESSAGE_BYTES + 1]));
    assert!(raw.is_ended());
    scene.pond.control().ping().unwrap();
    scene.complained(before + 1);
    // Exactly as much as may be is read, and is nonsense.
    let raw = scene.welcome();
    assert!(raw.send_bytes(&vec![7; caps::MESSAGE_BYTES]));
    let answer = raw.receive();
    assert!(answer.is_none_or(|(reply, _)| kind(&reply.body) == ErrorKind::Protocol));
    assert_eq!(scene.pond.status().epoch, scene.epoch);
}

#[test]
fn descriptors_that_nobody_asked_for_end_their_sender() {
    let scene = Scene::start();
    let before = scene.complaints();
    let null = File::open("/dev/null").unwrap();
    for count in [1, caps::MESSAGE_FDS] {
        let raw = scene.raw();
        raw.send_fds(&encoded(1, hello(VERSION, ClientId::random())), &vec![null.as_fd(); count]);
        assert!(raw.is_ended());
    }
    scene.check();
    scene.complained(before + 2);
}

/// Every beginning of a good message, as a first message and after the hello.
#[test]
fn truncated_messages_are_refused() {
    let scene = Scene::start();
    let whole = encoded(9, create(&[64]));
    let greeting = encoded(1, hello(VERSION, ClientId::random()));
    for length in 1..whole.len() {
        // The last bytes may only fill up a word: without them it is the same message.
        if Request::decode(&whole[..length]).is_ok() {
            continue;
        }
        let raw = scene.welcome();
        assert!(raw.send_bytes(&whole[..length]));
        let answer = raw.receive();
        assert!(answer.is_none_or(|(reply, _)| matches!(reply.body, ReplyBody::Failure(_))));
    }
    for length in (1..greeting.len()).step_by(7) {
        let raw = scene.raw();
        assert!(raw.send_bytes(&greeting[..length]));
        let answer = raw.receive();
        assert!(answer.is_none_or(|(reply, _)| matches!(reply.body, ReplyBody::Failure(_))));
    }
    // An empty message is the end of a connection, not more.
    let raw = scene.welcome();
    assert!(raw.send_bytes(&[]));
    assert!(raw.is_ended());
    assert_eq!(scene.pond.accounts().tensors, 1);
    assert_eq!(scene.pond.status().epoch, scene.epoch);
}

/// Good messages with a few wrong bytes, and plain noise; the seed is in the loop.
#[test]
fn garbage_is_refused() {
    let scene = Scene::start();
    let get = RequestBody::TensorGet(TensorGet {
        target: Target::Name("honest".parse().unwrap()),
        lease: LeaseId(1),
        mode: Mode::ReadOnly,
        wait_ms: 0,
    });
    let claim = LeaseClaim {
        lease: LeaseId(3),
        target: TensorId::random().into(),
        mode: Mode::ReadWrite,
        token: [9; 16],
    };
    let messages = [
        encoded(1, hello(VERSION, ClientId::random())),
        encoded(2, create(&[64, 3])),
        encoded(3, get),
        encoded(4, RequestBody::Claim(Claim { leases: vec![claim; 20], last: true })),
        encoded(5, RequestBody::LeaseRelease { leases: (1..50).map(LeaseId).collect() }),
        encoded(6, RequestBody::TensorList { prefix: "h".to_owned(), page: None }),
        encoded(7, RequestBody::Subscribe { from: 1 }),
    ];
    for seed in 0..400_u64 {
        let raw = scene.raw();
        if seed % 4 != 0 {
            raw.be_welcome();
        }
        let noise = content::bytes(64, seed);
        let mut message = messages[usize::from(noise[0]) % messages.len()].clone();
        if seed % 8 == 7 {
            message = content::bytes(u64::from(noise[1]) * 50 + 1, seed);
        } else {
            for change in noise[8..].chunks(2).take(1 + usize::from(noise[2] % 6)) {
                let place = usize::from(change[0]) * message.len() / 256;
                message[place] = change[1];
            }
        }
        let _ = raw.send_bytes(&message);
        let _ = raw.send_bytes(&encoded(99, RequestBody::Ping));
    }
    scene.pond.control().ping().unwrap();
    for tensor in scene.pond.control().list("").unwrap() {
        // A message with a wrong byte may be a right one.
        if tensor.name.as_ref().is_none_or(|name| name.as_str() != "honest") {
            scene.pond.control().delete(tensor.tensor).unwrap();
        }
    }
    let status = scene.pond.status();
    assert_eq!(status.epoch, scene.epoch, "the daemon died:\n{}", scene.pond.log());
}

/// The client library refuses these itself, so that they have to be forged to get to the daemon.
#[test]
fn impossible_shapes_are_refused_by_the_daemon_too() {
    let scene = Scene::start();
    let before = scene.pond.accounts();
    let forge = |dims: &[u64], replaced: &[u64]| {
        let mut message = encoded(3, create(dims));
        for (dim, wanted) in dims.iter().zip(replaced) {
            let (dim, wanted) = (dim.to_le_bytes(), wanted.to_le_bytes());
            let place = message.windows(8).position(|window| window == dim).unwrap();
            message[place..place + 8].copy_from_slice(&wanted);
        }
        message
    };
    let (one, two) = (0x0102_0304_u64, 0x0506_0708_u64 >> 8);
    let raw = scene.welcome();
    for (dims, replaced) in [
        (&[one][..], &[0][..]),
        (&[one], &[1 << 60]),
        (&[one], &[u64::MAX]),
        (&[one, two], &[1 << 40, 1 << 40]),
        (&[one, two], &[u64::MAX, 2]),
        (&[one, two], &[5, 0]),
    ] {
        assert!(raw.send_bytes(&forge(dims, replaced)));
        let (reply, _) = raw.receive().unwrap();
        assert_eq!((reply.number, kind(&reply.body)), (3, ErrorKind::Invalid), "{replaced:?}");
    }
    Scene::bye(&raw);
    drop(raw);
    assert_eq!(scene.pond.accounts(), before);
    scene.check();
}

#[test]
fn a_stolen_identity_and_a_forged_claim_get_nothing() {
    let scene = Scene::start();
    let raw = scene.raw();
    // The honest client's identity, from another process: this test's own process is the honest
    // one, so a worker's identity is taken.
    let mut worker = scene.pond.worker();
    let hash = worker.ask("make mine 1000 1");
    let clients = scene.pond.control().clients().unwrap();
    let stolen = clients.iter().find(|client| client.pid == worker.pid()).unwrap().client.unwrap();
    raw.send(1, hello(VERSION, stolen));
    assert_eq!(kind(&raw.receive().unwrap().0.body), ErrorKind::Denied);
    let raw = scene.welcome();
    let tensor = scene.pond.control().inspect("mine").unwrap().info.tensor;
    let claim = LeaseClaim {
        lease: LeaseId(1),
        target: tensor.into(),
        mode: Mode::ReadWrite,
        token: [0; 16],
    };
    raw.send(2, RequestBody::Claim(Claim { leases: vec![claim], last: true }));
    let (reply, fds) = raw.receive().unwrap();
    assert_eq!(reply.body, ReplyBody::Claimed { refused: vec![LeaseId(1)] });
    assert!(fds.is_empty());
    // Somebody else's leases cannot be ended.
    raw.send(3, RequestBody::LeaseRelease { leases: (1..100).map(LeaseId).collect() });
    assert_eq!(raw.receive().unwrap().0.body, ReplyBody::Done);
    assert_eq!(scene.pond.accounts().leases, 1);
    assert_eq!(worker.ask("hash mine"), hash);
    worker.finish();
    drop(raw);
    scene.pond.control().delete("mine").unwrap();
}

#[test]
fn many_connections_that_say_nothing() {
    let scene = Scene::start();
    let raws: Vec<Raw> = (0..200).map(|_| scene.raw()).collect();
    scene.pond.connect().unwrap().ping().unwrap();
    drop(raws);
    scene.check();
}

/// One process with a new identity for every connection must not use up what there is for all.
#[test]
fn clients_that_hold_nothing_are_forgotten_when_they_hang_up() {
    let scene = Scene::start();
    for _ in 0..50 {
        drop(scene.welcome());
    }
    eventually_equal("clients", &1, || scene.pond.status().clients);
    scene.check();
}

/// Names a lease that was granted to somebody else, with its real token.
#[test]
fn a_token_of_another_client_is_refused() {
    let scene = Scene::start();
    let get = |lease| {
        let target = Target::Name("honest".parse().unwrap());
        let mode = Mode::ReadOnly;
        RequestBody::TensorGet(TensorGet { target, lease, mode, wait_ms: 0 })
    };
    let (owner, thief) = (scene.welcome(), scene.welcome());
    owner.send(2, get(LeaseId(7)));
    let (reply, fds) = owner.receive().unwrap();
    assert_eq!(fds.len(), 1);
    let ReplyBody::Tensor(grant) = reply.body else { panic!("{reply:?}") };
    let (lease, mode, token) = grant.lease.unwrap();
    let claim = LeaseClaim { lease, target: grant.info.tensor.into(), mode, token };
    for (target, mode) in [(claim.target, claim.mode), (claim.target, Mode::ReadWrite)] {
        let stolen = LeaseClaim { target, mode, ..claim };
        thief.send(3, RequestBody::Claim(Claim { leases: vec![stolen], last: true }));
        let (reply, fds) = thief.receive().unwrap();
        assert_eq!(reply.body, ReplyBody::Claimed { refused: vec![lease] });
        assert!(fds.is_empty());
    }
    // A lease's number is its client's own: the same one ends nothing of another's.
    thief.send(4, RequestBody::LeaseRelease { leases: vec![lease] });
    assert_eq!(thief.receive().unwrap().0.body, ReplyBody::Done);
    assert_eq!(scene.pond.accounts().leases, 1);
    Scene::bye(&owner);
    Scene::bye(&thief);
    drop((owner, thief));
    eventually_equal("leases", &0, || scene.pond.accounts().leases);
    scene.check();
}

/// Everything that an honest client has said, said again by itself and by another one: nothing
/// comes back that was deleted, and nothing more is held.
#[test]
fn old_messages_sent_again_change_nothing() {
    let scene = Scene::start();
    let RequestBody::TensorCreate(create) = create(&[64]) else { panic!() };
    let tensor = create.tensor;
    let get = TensorGet {
        target: Target::Id(tensor),
        lease: LeaseId(2),
        mode: Mode::ReadWrite,
        wait_ms: 0,
    };
    let messages = [
        encoded(2, RequestBody::TensorCreate(create)),
        encoded(3, RequestBody::TensorGet(get)),
        encoded(4, RequestBody::LeaseRelease { leases: vec![LeaseId(2)] }),
        encoded(5, RequestBody::TensorDelete { tensor }),
    ];
    let accounts = scene.pond.accounts();
    let first = scene.welcome();
    for message in &messages {
        assert!(first.send_bytes(message));
        let reply = first.receive().unwrap().0;
        assert!(!matches!(reply.body, ReplyBody::Failure(_)), "{reply:?}");
    }
    let after = scene.pond.accounts();
    assert_eq!((after.tensors, after.leases), (accounts.tensors, 0));
    let second = scene.welcome();
    for raw in [&first, &second] {
        for _ in 0..3 {
            for message in &messages {
                assert!(raw.send_bytes(message));
                let _ = raw.receive().unwrap();
            }
            assert_eq!(scene.pond.accounts(), after, "a late repeat made something");
        }
        // A second hello on the same connection is not another identity.
        raw.send(9, hello(VERSION, ClientId::random()));
        assert_eq!(kind(&raw.receive().unwrap().0.body), ErrorKind::Protocol);
        Scene::bye(raw);
    }
    drop((first, second));
    eventually_equal("clients", &1, || scene.pond.status().clients);
    assert_eq!(scene.pond.status().epoch, scene.epoch);
}

/// Whoever sends one malformed message after the other must not fill the disk with log lines.
#[test]
fn a_stream_of_nonsense_is_not_a_stream_of_log_lines() {
    let scene = Scene::start();
    let before = scene.complaints();
    let raw = scene.welcome();
    for _ in 0..200 {
        if !raw.send_bytes(&[1, 2, 3]) || raw.receive().is_none() {
            break;
        }
    }
    scene.pond.control().ping().unwrap();
    let lines = scene.complaints() - before;
    assert!(lines < 20, "{lines} lines from one connection");
}
