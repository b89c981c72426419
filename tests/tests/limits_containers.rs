//! Containers without an engine: members in namespaces of their own share a group's limit.
//!
//! What is mounted is what docs/limits.md has: the folder read-only, two of its files not.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::process::Command;

use millpond_tests::place::{bytes, contexts, size, unit};
use millpond_tests::{
    Budget, PATIENCE, Place, Process, Said, Tenant, binaries, eventually, is_soft, namespace, skip,
};
use rustix::process::{Pid, Signal};

/// As a container has it: the group at another path, and a `/dev/shm` of its own. `/mnt/soft` and
/// `/mnt/libraries` stand for the card and its driver, which a container has from outside too.
const CONTAINER: &str = r#"
mount --make-rprivate /
mount -t tmpfs none /mnt
mkdir /mnt/group /mnt/soft /mnt/libraries
mount --bind "$GROUP" /mnt/group
mount -o remount,bind,ro /mnt/group
mount --bind "$GROUP/ledger" /mnt/group/ledger
mount --bind "$GROUP/exports" /mnt/group/exports
if [ -n "$SOFT" ]; then
    mount --bind "$SOFT" /mnt/soft
    mount --bind "$LIBRARIES" /mnt/libraries
    export MILLPOND_SOFT_DIR=/mnt/soft LD_LIBRARY_PATH=/mnt/libraries
fi
mount -t tmpfs none /dev/shm
if echo >> /mnt/group/limits; then echo "limits can be written"; exit 1; fi 2>/dev/null
if echo >> /mnt/group/more; then echo "files can be made"; exit 1; fi 2>/dev/null
: >> /mnt/group/ledger
: >> /mnt/group/exports
unset MILLPOND_RUNTIME_DIR MILLPOND_CONFIG
export LD_PRELOAD="$LIBRARY" MILLPOND_LEDGER=/mnt/group
exec "$@"
"#;

/// The flags of `unshare` for all that an engine keeps apart.
const APART: [&str; 6] = ["--pid", "--ipc", "--mount", "--fork", "--kill-child", "--mount-proc"];

fn container(place: &Place, way: &[String], group: &str, program: &Command) -> Command {
    let mut command = namespace::under(way, CONTAINER, program);
    command
        .env("GROUP", place.group_folder(group))
        .env("LIBRARY", binaries::preload())
        .env("LIBRARIES", place.libraries())
        .env("SOFT", if is_soft() { place.pond.path("soft") } else { "".into() });
    command
}

#[track_caller]
fn tenant_in(place: &Place, way: &[String], group: &str) -> Tenant {
    let tenant = Budget::spawn(container(place, way, group, &place.bare(binaries::tenant())));
    if let Err(error) = tenant.ready() {
        panic!("a tenant in a container starts: {error}\n{}", tenant.kill());
    }
    tenant
}

#[test]
fn a_container_shares_the_limit_of_its_group() {
    let Some(way) = namespace::unshare(&APART) else {
        skip("`unshare --pid --ipc --mount` is not permitted here");
        return;
    };
    let place = Place::new();
    let limit = contexts(3, 256);
    place.limit("team-a", &size(limit));
    let mut outside = place.tenant(&["--group", "team-a"]);
    let mut inside = tenant_in(&place, &way, "team-a");
    let mut other = tenant_in(&place, &way, "team-a");
    assert_eq!(inside.numbers("total"), [limit]);
    assert_eq!(inside.numbers("nvml")[0], limit);

    // One limit for all three, whoever asks first.
    assert!(inside.takes("linear", 160 * unit()));
    assert!(!outside.takes("linear", 160 * unit()));
    assert!(!other.takes("vmm", 160 * unit()));
    assert!(outside.takes("linear", 64 * unit()));

    // All three are seen, with the process ids of this side.
    let processes = place.processes("team-a");
    assert_eq!(processes.len(), 3, "{processes:?}");
    let held = |process: &&serde_json::Value| {
        bytes(&process["devices"][0]["charged_bytes"]) >= 160 * unit()
    };
    let large = processes.iter().find(held).unwrap();
    assert_eq!(large["own_pid"], 1, "it is the first of its own: {large}");
    let pid = i32::try_from(bytes(&large["pid"])).unwrap();
    assert!(pid > 1, "{large}");
    assert!(place.cli(&["ps", "--group", "team-a"]).ok().contains(&format!("{pid} ")));

    // Changed while they run.
    place.limit("team-a", &size(limit + 128 * unit()));
    assert!(outside.takes("linear", 128 * unit()));
    outside.ask("free all");
    place.limit("team-a", &size(limit));

    // And killed: what it had is there for the others, in a container or not.
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    eventually("what the dead one had", || other.takes("linear", 160 * unit()).then_some(()));
    eventually("its end to be seen", || (place.processes("team-a").len() == 2).then_some(()));
    drop(inside);
}

#[test]
fn without_its_own_proc_no_program_has_a_driver() {
    let Some(way) = namespace::unshare(&APART[..5]) else {
        skip("`unshare --pid --ipc --mount` is not permitted here");
        return;
    };
    let place = Place::new();
    place.limit("team-a", &size(contexts(1, 256)));
    let program = place.bare(binaries::tenant());
    let tenant = Budget::spawn(container(&place, &way, "team-a", &program));
    assert_eq!(tenant.ready().unwrap_err(), "error 304 cuInit");
    eventually("its end to be seen", || place.processes("team-a").is_empty().then_some(()));
}

#[test]
fn inside_a_container_the_limit_needs_no_daemon() {
    let Some(way) = namespace::unshare(&APART) else {
        skip("`unshare --pid --ipc --mount` is not permitted here");
        return;
    };
    let place = Place::new();
    place.limit("team-a", &size(contexts(2, 256)));
    let mut one = tenant_in(&place, &way, "team-a");
    let mut two = tenant_in(&place, &way, "team-a");
    assert!(one.takes("linear", 160 * unit()));
    let large = place.processes("team-a");
    let pid = large.iter().find(|process| bytes(&process["devices"][0]["charged_bytes"]) > 0);
    let pid = i32::try_from(bytes(&pid.unwrap()["pid"])).unwrap();
    // A keeper that stands still starts no other daemon.
    let status = place.pond.status();
    Process::open(status.keeper_pid).unwrap().stop();
    Process::open(status.daemon_pid).unwrap().kill();
    assert!(!two.takes("linear", 160 * unit()), "no daemon, and the limit holds");
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    eventually("what the dead one had", || two.takes("linear", 160 * unit()).then_some(()));
    drop(one);
}

#[test]
fn a_container_of_another_user_needs_that_user_in_the_group() {
    let way = namespace::unshare(&["--mount"]).filter(|_| rustix::process::geteuid().is_root());
    let Some(way) = way else {
        skip("root and `unshare --mount` are needed");
        return;
    };
    let place = Place::new();
    let said = place.cli(&["group", "set", "team-a", "--limit", "1G", "--user", "65533"]);
    assert!(said.ok().contains("team-a"), "{said:?}");
    let runs = |user: &str, script: &str| {
        let mut program = place.bare(Path::new("setpriv"));
        program.args(["--reuid", user, "--regid", user, "--clear-groups", "sh", "-c"]);
        program.arg(script);
        let mut command = container(&place, &way, "team-a", &program);
        // `setpriv` has no GPU; the library is for what it starts.
        command.env("LIBRARY", "");
        Said::by(&mut command, PATIENCE)
    };
    let opens = ": >> /mnt/group/ledger && : >> /mnt/group/exports";
    let named = runs("65533", opens);
    if named.code == Some(127) {
        skip("there is no `setpriv`");
        return;
    }
    assert_eq!(named.code, Some(0), "{named:?}");
    assert_ne!(runs("65532", opens).code, Some(0), "nobody named that one");

    // And it is limited there. The software driver's card is this user's: others need rights on it.
    let needed = [binaries::tenant(), binaries::preload()].map(|path| path.display().to_string());
    let reaches = format!("test -x '{}' && test -r '{}'", needed[0], needed[1]);
    if runs("65533", &reaches).code != Some(0) {
        skip("another user cannot reach the folder of the build");
        return;
    }
    let _ = Command::new("chmod").args(["-R", "a+rwX"]).arg(place.pond.path("soft")).status();
    let mut program = place.bare(Path::new("setpriv"));
    program.args(["--reuid", "65533", "--regid", "65533", "--clear-groups"]);
    program.arg(binaries::tenant());
    let mut tenant = Budget::spawn(container(&place, &way, "team-a", &program));
    tenant.ready().unwrap();
    assert_eq!(tenant.numbers("total"), [1 << 30]);
    assert!(!tenant.takes("linear", 2 << 30));
    assert!(tenant.takes("linear", 64 << 20));
}
