//! Containers without an engine: ponds and clients on both sides of pid, user, net, IPC and mount
//! namespaces, with the runtime folder mounted where it is outside.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use millpond::ErrorKind;
use millpond_tests::{
    Folder, Options, PATIENCE, Process, Said, TestPond, Worker, binaries, eventually,
    eventually_equal, namespace, skip,
};
use serde_json::Value;

/// The flags of `unshare` for all that an engine keeps apart.
const APART: [&str; 9] = [
    "--user",
    "--map-root-user",
    "--pid",
    "--net",
    "--ipc",
    "--mount",
    "--fork",
    "--kill-child",
    "--mount-proc",
];

/// A `/dev/shm` of its own, and in it the pond's folder with the software driver's card.
const MOUNTS: &str = r#"
mount --make-rprivate /
folder=${MILLPOND_RUNTIME_DIR%/*}
mount --bind "$folder" /mnt
mount -t tmpfs none /dev/shm
mkdir -p "$folder"
mount --bind /mnt "$folder"
exec "$@""#;

/// `None`, and a line that says so, where namespaces are forbidden.
fn way() -> Option<Vec<String>> {
    let way = namespace::unshare(&APART);
    if way.is_none() {
        skip("`unshare` with a user namespace is not permitted here");
    }
    way
}

fn worker(pond: &TestPond, way: &[String]) -> Worker {
    pond.worker_under(way, MOUNTS)
}

/// `millpond` in a container.
fn cli(pond: &TestPond, way: &[String], arguments: &[&str]) -> Said {
    let program = pond.cli_command(arguments);
    Said::by(&mut namespace::under(way, MOUNTS, &program), PATIENCE)
}

/// A pond in a container.
fn pond_inside(way: &[String]) -> TestPond {
    let way = way.join(" ");
    let options = Options::giving_back().soft();
    TestPond::prepare(options.under(&format!("exec {way} sh -ec '{MOUNTS}' sh \"$0\" \"$@\"")))
}

/// The processes that hold something.
fn holders(pond: &TestPond) -> Vec<Value> {
    let said = pond.cli(&["ps", "--json"]).json();
    let all = said["processes"].as_array().unwrap().iter();
    all.filter(|process| process["lease_count"] != 0).cloned().collect()
}

/// A process of the pond by its name.
fn called(pond: &TestPond, name: &str) -> Process {
    let has_name = |process: &Process| {
        let is = fs::read_to_string(format!("/proc/{}/comm", process.pid()));
        is.is_ok_and(|is| is.trim() == name)
    };
    pond.processes().into_iter().find(has_name).unwrap()
}

/// Two tensors, one of each, seen by both.
fn share(outside: &mut Worker, inside: &mut Worker) {
    let theirs = inside.ask("make inside 100000 1");
    assert_eq!(outside.ask("get inside"), theirs);
    let ours = outside.ask("make outside 100000 2");
    assert_eq!(inside.ask("get outside"), ours);
    inside.ask("ephemeral short 100000 3");
}

fn assert_only_the_shared_are_left(pond: &TestPond) {
    let names = || {
        let tensors = pond.control().list("").unwrap();
        let mut names: Vec<_> = tensors.into_iter().filter_map(|tensor| tensor.name).collect();
        names.sort();
        names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    eventually_equal("tensors", &"inside outside".to_owned(), names);
}

#[test]
fn a_client_in_a_container_is_a_client_as_others_are() {
    let Some(way) = way() else { return };
    let pond = TestPond::start(Options::giving_back().soft());
    let before = pond.memory();
    let (mut outside, mut inside) = (pond.worker(), worker(&pond, &way));
    share(&mut outside, &mut inside);
    let said = cli(&pond, &way, &["ps"]);
    assert!(said.ok().contains("pondtool"), "{said:?}");

    // Its number is that of this side.
    let holders = holders(&pond);
    let pid = |process: &Value| u32::try_from(process["pid"].as_u64().unwrap()).unwrap();
    let pids: Vec<u32> = holders.iter().map(pid).filter(|pid| *pid != outside.pid()).collect();
    let [pid] = pids[..] else { panic!("{holders:?}") };
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let own = status.lines().find(|line| line.starts_with("NSpid:")).unwrap();
    assert_eq!(own.split_ascii_whitespace().skip(1).collect::<Vec<_>>(), [&pid.to_string(), "1"]);

    // It claims what it holds from the next daemon, and then ends by death.
    pond.kill_daemon();
    assert_eq!(inside.ask("hash short"), outside.ask("get short"));
    outside.ask("drop short");
    outside.ask("flush");
    Process::open(pid).unwrap().kill();
    assert_only_the_shared_are_left(&pond);
    give_up_the_rest(&pond, &mut outside);
    drop((inside, outside));
    pond.assert_memory("after the container", before, 0);
}

/// The client that is left drops its tensors, and both names are deleted.
fn give_up_the_rest(pond: &TestPond, outside: &mut Worker) {
    eventually_equal("holders", &1, || holders(pond).len());
    outside.ask("drop-all");
    outside.ask("flush");
    pond.control().delete("inside").unwrap();
    pond.control().delete("outside").unwrap();
}

#[test]
fn a_pond_in_a_container_serves_clients_outside_and_in_other_containers() {
    let Some(way) = way() else { return };
    let pond = pond_inside(&way);
    let physical = pond.physical();
    pond.serve();
    let before = pond.memory();
    let (mut outside, mut sibling) = (pond.worker(), worker(&pond, &way));
    share(&mut outside, &mut sibling);

    // Neither has a number in the pond's namespace.
    let holders = holders(&pond);
    assert_eq!(holders.len(), 2, "two processes are two: {holders:?}");
    assert!(holders.iter().all(|process| process["pid"] == Value::Null), "{holders:?}");
    let table = pond.cli(&["ps"]);
    let rows = || table.ok().lines().skip(1).map(|row| row.split_ascii_whitespace().next());
    assert!(rows().count() >= 2 && rows().all(|pid| pid == Some("-")), "{table:?}");
    assert_eq!(pond.cli(&["ps", "-q"]).ok(), "");
    let said = cli(&pond, &way, &["inspect", "outside"]);
    assert!(!said.ok().contains("pid 0"), "{said:?}");

    // The daemon has another number here, and is known by its name.
    let epoch = pond.status().epoch;
    called(&pond, "millpond-daemon").kill();
    eventually("the next daemon", || {
        let status = pond.connect().and_then(|pond| pond.status()).ok()?;
        (status.epoch > epoch).then_some(())
    });
    assert_eq!(sibling.ask("hash short"), outside.ask("get short"));
    outside.ask("drop short");
    outside.ask("flush");
    eventually_equal("claims", &2, || self::holders(&pond).len());

    // Each of the three dies: first the sibling with its leases, then the pond with the memory.
    sibling.kill();
    assert_only_the_shared_are_left(&pond);
    give_up_the_rest(&pond, &mut outside);
    drop(outside);
    pond.assert_memory("after the clients", before, 0);
    pond.worker().ask("put kept 100000 4");
    called(&pond, "millpond").kill();
    pond.assert_physical("after the pond", physical);
}

#[test]
fn a_pond_whose_user_has_no_number_here_is_not_trusted() {
    let Some(_way) = way() else { return };
    let pond = TestPond::start(Options::new().soft());
    // Without a map every user, the own one included, is the overflow user.
    let unmapped: Vec<String> = ["unshare", "--user"].map(str::to_owned).into();
    let said = Said::by(
        &mut namespace::under(&unmapped, "exec \"$@\"", &pond.cli_command(&["ps"])),
        PATIENCE,
    );
    assert_eq!(said.code, Some(16), "{said:?}");
    assert!(said.stderr.contains("belongs to a user without a number"), "{said:?}");
    assert!(said.stderr.contains("hint:") && said.stderr.contains("uid_map"), "{said:?}");
}

#[test]
fn a_user_without_a_number_serves_no_pond() {
    let Some(_way) = way() else { return };
    let pond = TestPond::prepare(Options::new().soft());
    let unmapped: Vec<String> = ["unshare", "--user"].map(str::to_owned).into();
    for flags in [&[][..], &["--detach"]] {
        let mut serve = pond.serve_command();
        serve.args(flags);
        let said = Said::by(&mut namespace::under(&unmapped, "exec \"$@\"", &serve), PATIENCE);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.stderr.contains("stands for every user without a number"), "{said:?}");
    }
}

#[test]
fn a_client_without_a_number_for_the_pond_is_told_so() {
    let root = rustix::process::geteuid().is_root();
    let Some(way) = way().filter(|_| root) else { return skip("root is needed") };
    let pond = pond_inside(&way);
    pond.serve();
    // As `/run/millpond` is.
    let folder = pond.runtime_dir();
    let open = |path: &std::path::Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    open(folder.parent().unwrap(), 0o755);
    open(&folder, 0o755);
    open(&folder.join("sock"), 0o666);
    let programs = Folder::new();
    open(programs.path(), 0o755);
    let program = programs.path().join("millpond");
    fs::copy(binaries::millpond(), &program).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "12345", "--regid", "12345", "--clear-groups"]).arg(&program);
    command.args(["--runtime-dir".as_ref(), folder.as_os_str(), "ps".as_ref()]);
    let said = Said::by(&mut command, PATIENCE);
    assert!(said.stderr.contains("the pond sees you as user 65534"), "{said:?}");
    assert_eq!(said.code, Some(ErrorKind::Denied.exit_code().into()), "{said:?}");
}
