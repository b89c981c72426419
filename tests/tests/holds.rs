//! Tensors that are held for real processes, which know nothing of the pond and are killed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::process::{Child, Command};

use millpond::{
    Dtype, Error, ErrorKind, EventKind, HandleParts, Pond, TensorInfo, TensorSpec, TensorState,
    Token, TransportKind,
};
use millpond_tests::{Options, TestPond, eventually, eventually_equal};

use super::transports::{Plain, assert_empty, end, hosts};

const BYTES: u64 = 2 << 20;

/// A process that lives until it is killed.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spec(name: &str) -> TensorSpec {
    let spec = TensorSpec::new(name, Dtype::U8, [BYTES]).transport(TransportKind::Ipc);
    spec.zero(true).held(Token::random())
}

fn make(pond: &TestPond, name: &str) -> TensorInfo {
    pond.control().reserve(spec(name)).unwrap()
}

fn hold(pond: &Pond, name: &str, pid: Option<u32>) -> HandleParts {
    pond.hold(name, pid, Token::random()).unwrap()
}

fn unhold(pond: &Pond, name: &str, pid: Option<u32>) -> TensorInfo {
    pond.unhold(name, pid, Token::random()).unwrap()
}

fn holds(pond: &TestPond, name: &str) -> Option<u64> {
    pond.control().inspect(name).ok().and_then(|details| details.info.holds)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn wait_for_event(pond: &TestPond, kind: EventKind, text: &str) {
    eventually(kind.name(), || {
        let said = pond.cli(&["events", "--json"]);
        let mut lines = said.stdout.lines();
        lines.any(|line| line.contains(kind.name()) && line.contains(text)).then_some(())
    });
}

#[test]
fn a_hold_ends_when_its_process_is_killed_and_the_memory_goes_with_the_last() {
    let pond = TestPond::start(Options::giving_back());
    pond.physical();
    let before = pond.physical();
    let (one, two) = (Sleeper::start(), Sleeper::start());
    make(&pond, "x");
    for pid in [one.pid(), one.pid(), two.pid()] {
        hold(pond.control(), "x", Some(pid));
    }
    assert_eq!(unhold(pond.control(), "x", None).holds, Some(3));
    let gone = one.pid();
    drop(one);
    eventually_equal("only the other one holds it", &Some(1), || holds(&pond, "x"));
    wait_for_event(&pond, EventKind::HoldEnded, &format!("process {gone} is gone; it had 2 holds"));
    end(two.pid());
    assert_empty(&pond);
    let error = pond.control().inspect("x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("which held it last, is gone"), "{error}");
    pond.assert_physical("all is given back", before);
}

#[test]
fn the_last_hold_that_is_given_up_gives_the_memory_back() {
    let pond = TestPond::start(Options::giving_back());
    pond.physical();
    let before = pond.physical();
    let info = make(&pond, "x");
    assert_eq!((info.holds, info.state), (Some(1), TensorState::Ready));
    assert_eq!(make(&pond, "x").holds, Some(2), "the same name is the same memory");
    let said = pond.cli(&["tensor", "inspect", "x"]);
    assert!(said.stdout.contains("holds       2"), "{said:?}");
    assert_eq!(unhold(pond.control(), "x", None).holds, Some(1));
    let token = Token::random();
    let last = pond.control().unhold(info.tensor, None, token).unwrap();
    assert_eq!((last.holds, last.state), (Some(0), TensorState::Deleted));
    assert_empty(&pond);
    assert_eq!(pond.control().unhold(info.tensor, None, token).unwrap(), last, "a repeat");
    let again = pond.control().unhold(info.tensor, None, Token::random()).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::NotFound);
    pond.assert_physical("all is given back", before);
}

#[test]
fn counts_are_the_same_after_the_daemon_was_killed() {
    let pond = TestPond::start(Options::giving_back());
    let (one, two) = (Sleeper::start(), Sleeper::start());
    make(&pond, "x");
    let token = Token::random();
    let control = pond.control();
    control.hold("x", Some(one.pid()), token).unwrap();
    hold(control, "x", Some(two.pid()));
    for _ in 0..3 {
        pond.kill_daemon();
        assert_eq!(control.hold("x", Some(one.pid()), token).unwrap().info.holds, Some(3));
    }
    end(one.pid());
    eventually_equal("a daemon that came later notices an end", &Some(2), || holds(&pond, "x"));
    // The process is gone, and its number may be another's, before the next daemon looks.
    pond.kill_daemon();
    end(two.pid());
    eventually_equal("nobody in particular holds it", &Some(1), || holds(&pond, "x"));
    unhold(control, "x", None);
    assert_empty(&pond);
}

#[test]
fn a_plain_program_is_a_holder_and_its_memory_stays_while_it_lives() {
    let pond = TestPond::start(Options::giving_back());
    let info = make(&pond, "x");
    let parts = pond.control().peek("x").unwrap();
    let (mut plain, said) = Plain::start(&pond, &[&hex(&parts.memory)]);
    assert_eq!(said, "CUDA_SUCCESS");
    let pid = plain.child.id();
    assert_eq!(hold(pond.control(), "x", Some(pid)).memory, parts.memory);
    pond.control().delete("x").unwrap();
    pond.kill_daemon();
    let details = pond.control().inspect(info.tensor).unwrap().info;
    assert_eq!((details.holds, details.state), (Some(1), TensorState::Deleted));
    assert_eq!(plain.ask(&format!("sum 0 {BYTES}")), "0");
    assert_eq!(hosts(&pond).len(), 1);
    drop(plain);
    assert_empty(&pond);
}

#[test]
fn a_host_that_dies_takes_what_nobody_in_particular_held() {
    let pond = TestPond::start(Options::giving_back());
    let sleeper = Sleeper::start();
    let x = make(&pond, "x");
    let y = make(&pond, "y");
    hold(pond.control(), "y", Some(sleeper.pid()));
    for host in hosts(&pond) {
        end(host);
    }
    eventually("the first is gone", || pond.control().inspect(x.tensor).err().map(drop));
    let kept = pond.control().inspect(y.tensor).unwrap().info;
    assert_eq!((kept.state, kept.holds), (TensorState::Orphan, Some(1)));
    drop(sleeper);
    assert_empty(&pond);
}

#[test]
fn what_was_not_made_to_be_held_is_refused() {
    let pond = TestPond::start(Options::new());
    let control = pond.control();
    let plain = TensorSpec::new("plain", Dtype::U8, [100]).transport(TransportKind::Ipc);
    control.reserve(plain).unwrap();
    for error in [
        control.hold("plain", None, Token::random()).unwrap_err(),
        control.peek("plain").unwrap_err(),
        control.unhold("plain", None, Token::random()).unwrap_err(),
        control.reserve(spec("x").ephemeral(true)).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    make(&pond, "y");
    for pid in [0, 1 << 31] {
        let error = control.hold("y", Some(pid), Token::random()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    // Memory without a handle is of no use to a program that knows nothing else.
    let vmm = TensorSpec::new("vmm", Dtype::U8, [100]).held(Token::random());
    control.reserve(vmm).unwrap();
    let error = control.hold("vmm", None, Token::random()).unwrap_err();
    assert!(matches!(error, Error::NoHandle { .. }), "{error}");
    assert_eq!(holds(&pond, "vmm"), Some(1));
}
