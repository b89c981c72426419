//! Programs under a limit, as an operator starts, sees and changes them at the shell.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use millpond_tests::place::{bytes, contexts, limit, size, unit};
use millpond_tests::{PATIENCE, Place, binaries, eventually, is_soft};
use serde_json::Value;

const MIB: u64 = 1 << 20;

#[test]
fn a_program_ends_as_it_ended() {
    let place = Place::new();
    for code in [0, 7] {
        let said = place.cli(&["run", "--limit", "2G", "--", "sh", "-c", &format!("exit {code}")]);
        assert_eq!((said.code, said.stderr.as_str()), (Some(code), ""));
    }
    let status =
        place.command(&["run", "-l", "64M", "sh", "-c", "kill -KILL $$"]).status().unwrap();
    assert_eq!(status.signal(), Some(9));
    for program in ["no-such-program", "/no/such/program", "/bin/true/x", "/bin", "/etc/passwd"] {
        let said = place.cli(&["run", "-l", "64M", program]);
        let of_env = Command::new("env").arg(program).output().unwrap().status.code();
        assert_eq!(said.code, of_env, "{program}: {said:?}");
        assert!(said.stderr.contains(program), "{said:?}");
    }
    eventually("the groups of all of them to end", || place.names().is_empty().then_some(()));
}

#[test]
fn inside_the_limit_is_the_size_of_the_card() {
    let place = Place::new();
    let limit = limit(256);
    let mut tenant = place.tenant(&["--limit", &size(limit)]);
    let info = tenant.numbers("info");
    assert_eq!(info[1], limit);
    assert!(info[0] <= limit);
    assert_eq!(tenant.numbers("total"), [limit]);
    let nvml = tenant.numbers("nvml");
    assert_eq!(nvml[0], limit, "NVML");
    assert!(tenant.takes("linear", 128 * unit()));
    let after = tenant.numbers("info");
    assert_eq!(info[0] - after[0], 128 * unit());
    assert!(!tenant.takes("linear", 256 * unit()), "an ordinary out of memory");
    assert!(tenant.takes("linear", 32 * unit()), "and it goes on");
}

#[test]
fn two_programs_share_one_limit_and_the_account_is_the_drivers() {
    let place = Place::new();
    let limit = contexts(2, 256);
    let before = place.pond.physical();
    place.limit("team-a", &size(limit));
    let mut one = place.tenant(&["--group", "team-a"]);
    let mut two = place.tenant(&["--group", "team-a"]);
    assert!(one.takes("linear", 160 * unit()));
    assert!(!two.takes("linear", 160 * unit()), "the other one has it");
    assert!(two.takes("vmm", 64 * unit()));

    // By the driver's own count of what both have, context included.
    let physical = place.pond.physical() - before;
    let account = place.account("team-a");
    let tolerance = if is_soft() { 0 } else { 64 * MIB };
    assert!(bytes(&account["used_bytes"]).abs_diff(physical) <= tolerance, "{account}, {physical}");
    assert_eq!(bytes(&account["limit_bytes"]), limit);
    assert_eq!(account["process_count"], 2);

    let details = place.json(&["ps", "--group", "team-a"]);
    let processes = details["processes"].as_array().unwrap();
    let mut pids: Vec<u64> = processes.iter().map(|process| bytes(&process["pid"])).collect();
    pids.sort_unstable();
    let mut expected = [u64::from(one.pid()), u64::from(two.pid())];
    expected.sort_unstable();
    assert_eq!(pids, expected, "`run` became the program");
    let charged: u64 = processes.iter().map(|p| bytes(&p["devices"][0]["charged_bytes"])).sum();
    assert_eq!(charged, bytes(&account["used_bytes"]));
    eventually("NVML's reading of both", || {
        let details = place.json(&["ps", "--group", "team-a"]);
        let processes = details["processes"].as_array().unwrap().clone();
        let seen = |process: &Value| process["devices"][0]["physical_bytes"].as_u64();
        processes.iter().all(|process| seen(process).is_some()).then_some(())
    });
    let table = place.cli(&["ps", "--group", "team-a"]).ok().to_owned();
    for part in ["CHARGED", "CONTEXTS", "SHARED", "NVML", "DRIFT", "tenant", "total of"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let pids = place.cli(&["ps", "-q", "--group", "team-a"]);
    assert_eq!(pids.ok().lines().count(), 2);

    one.kill();
    eventually("what the dead one had", || two.takes("linear", 128 * unit()).then_some(()));
}

#[test]
fn a_limit_changes_under_a_running_program() {
    let place = Place::new();
    let set = |bytes: u64| place.limit("team-a", &size(bytes));
    set(limit(96));
    let mut tenant = place.tenant(&["--group", "team-a"]);
    for round in 0..5 {
        assert!(tenant.takes("linear", 64 * unit()), "round {round}");
        assert!(!tenant.takes("linear", 64 * unit()), "round {round}");
        set(limit(192));
        assert!(tenant.takes("linear", 64 * unit()), "more can be used at once");
        set(limit(96));
        assert!(!tenant.takes("linear", 2 * MIB), "less takes nothing away and gives no more");
        let info = tenant.numbers("info");
        assert_eq!((info[0], info[1]), (0, limit(96)), "free and total");
        let account = place.account("team-a");
        assert!(bytes(&account["used_bytes"]) > bytes(&account["effective_bytes"]), "{account}");
        tenant.ask("free all");
    }
    assert!(tenant.takes("linear", 64 * unit()));
    let said = place.cli(&["group", "ls", "team-a"]);
    assert!(said.ok().contains("team-a"), "{said:?}");
    place.limit("team-a", "none");
    assert!(tenant.takes("linear", 256 * unit()), "no limit");
    assert_eq!(place.account("team-a")["limit_bytes"], Value::Null);
}

#[test]
fn what_a_program_starts_is_limited_too() {
    let place = Place::new();
    let limit = size(contexts(2, 64));
    let tenant = binaries::tenant().display();
    let script = format!("echo 'alloc linear {}' | {tenant}", 128 * unit());
    let said = place.cli(&["run", "--limit", &limit, "--", "sh", "-c", &script]);
    assert!(said.ok().contains("error 2 "), "{said:?}");
    let script = format!("echo 'alloc linear {}' | {tenant}", 32 * unit());
    let said = place.cli(&["run", "--limit", &limit, "--", "sh", "-c", &script]);
    assert!(said.ok().contains("ok 1"), "{said:?}");
}

#[test]
fn a_group_of_its_own_ends_with_its_last_process() {
    let place = Place::new();
    let limit = size(limit(64));
    let tenant = place.tenant(&["--limit", &limit]);
    let names = place.names();
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(place.json(&["group", "ls", &names[0]])["groups"][0]["anonymous"], true);
    let other = place.tenant(&["--limit", &limit]);
    assert_eq!(place.names().len(), 2, "each program has its own");
    tenant.finish();
    eventually("the end of the first", || (place.names().len() == 1).then_some(()));
    other.kill();
    eventually("the end of the second", || place.names().is_empty().then_some(()));
}

#[test]
fn groups_are_made_joined_and_removed_by_name() {
    let place = Place::new();
    let said = place.cli(&["run", "--group", "team-a", "--json", "--", "true"]);
    assert_eq!(said.code, Some(2), "`run` prints no JSON: {said:?}");
    let unknown = place.cli(&["run", "--group", "team-a", "--", "true"]);
    assert_eq!(unknown.code, Some(3), "{unknown:?}");
    let limit = size(limit(64));
    let tenant = place.tenant(&["--group", "team-a", "--limit", &limit]);
    assert_eq!(place.names(), ["team-a"]);
    let other = place.cli(&["run", "--group", "team-a", "--limit", "1G", "--", "true"]);
    assert_eq!(other.code, Some(4), "another limit is another group: {other:?}");
    assert_eq!(place.cli(&["run", "--group", "team-a", "--limit", &limit, "true"]).code, Some(0));

    for words in [
        &["ps", "--group", "team-x"][..],
        &["group", "ls", "team-x"],
        &["group", "rm", "team-x"],
        &["group", "watch", "team-x"],
        &["group", "set", "team-x", "--weight", "2"],
    ] {
        let said = place.cli(words);
        assert_eq!(said.code, Some(3), "{words:?}: {said:?}");
        assert!(said.stderr.contains("team-x") && said.stderr.contains("team-a"), "{said:?}");
    }
    // A promise beyond the limit is refused, and leaves no group behind.
    let words = ["run", "--group", "team-b", "--limit", &limit, "--min", "900T", "true"];
    let refused = place.cli(&words);
    assert_eq!(refused.code, Some(64), "{refused:?}");
    assert_eq!(place.names(), ["team-a"]);
    let words = ["run", "--group", "team-b", "--limit", &limit, "--min", "1M", "true"];
    assert_eq!(place.cli(&words).code, Some(0));
    assert_eq!(bytes(&place.account("team-b")["min_bytes"]), MIB);
    assert_eq!(place.cli(&["group", "rm", "team-b"]).code, Some(0));
    let busy = place.cli(&["group", "rm", "team-a"]);
    assert_eq!((busy.code, busy.stdout.as_str()), (Some(22), ""), "somebody is in it: {busy:?}");
    tenant.finish();
    eventually("nobody to be in it", || {
        let said = place.cli(&["group", "rm", "team-a"]);
        (said.code == Some(0)).then(|| assert_eq!(said.stdout, "team-a\n"))
    });
    assert!(place.names().is_empty());
}

#[test]
fn a_limit_larger_than_the_card_is_the_card() {
    let place = Place::new();
    let said = place.cli(&["run", "--limit", "900T", "--", "true"]);
    assert_eq!(said.code, Some(0));
    assert!(said.stderr.contains("larger than GPU 0"), "{said:?}");
    let said = place.cli(&["group", "set", "team-a", "--limit", "900T"]);
    assert!(said.stderr.contains("larger than GPU 0"), "{said:?}");
    eventually("the card's size as the limit that holds", || {
        let effective = place.account("team-a")["effective_bytes"].as_u64()?;
        (effective < 900 << 40).then_some(())
    });
    let half = place.json(&["group", "set", "team-b", "--limit", "50%"]);
    let total = place.pond.status().devices[0].total_bytes;
    assert_eq!(bytes(&half["devices"][0]["limit_bytes"]) >> 20, (total / 2) >> 20);
}

#[test]
fn one_device_is_all_that_the_program_sees() {
    let place = Place::new();
    let limit = size(limit(64));
    let uuid = place.pond.status().devices[0].device.to_string();
    for device in ["0", &uuid] {
        let said = place.cli(&[
            "run",
            "-l",
            &limit,
            "--device",
            device,
            "sh",
            "-c",
            "echo $CUDA_VISIBLE_DEVICES",
        ]);
        assert_eq!(said.ok().trim(), uuid);
    }
    let mut tenant = place.tenant(&["--limit", &limit, "--device", "0"]);
    assert_eq!(tenant.ask("uuid"), uuid);
    assert!(!tenant.takes("linear", 128 * unit()));
    assert_eq!(place.cli(&["run", "-l", "1G", "--device", "99", "true"]).code, Some(18));
}

#[test]
fn limits_hold_while_no_daemon_lives() {
    let place = Place::new();
    let limit = limit(96);
    let mut tenant = place.tenant(&["--group", "team-a", "--limit", &size(limit)]);
    assert!(tenant.takes("linear", 64 * unit()));
    place.pond.kill_daemon();
    assert!(!tenant.takes("linear", 64 * unit()));
    let account = place.account("team-a");
    assert_eq!(bytes(&account["limit_bytes"]), limit, "the files are the whole state");
    assert!(bytes(&account["used_bytes"]) >= 64 * unit());
    place.limit("team-a", &size(2 * limit));
    assert!(tenant.takes("linear", 64 * unit()), "and the next daemon changes it");
}

/// What a command prints, line by line, until it is dropped.
struct Lines {
    child: Child,
    lines: Receiver<String>,
}

impl Lines {
    fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let (send, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// The first line that is so.
    fn find(&self, mut is: impl FnMut(&str) -> bool) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap();
            if is(&line) {
                return line;
            }
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_watch_prints_a_line_for_each_change() {
    let place = Place::new();
    let limit = limit(96);
    place.limit("team-a", &size(limit));
    let text = Lines::of(place.command(&["group", "watch", "team-a"]));
    let json = Lines::of(place.command(&["group", "watch", "--json"]));
    text.find(|line| line.contains("team-a") && line.contains("0 processes"));
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    json.find(|line| read(line)["kind"] == "account" && read(line)["group"] == "team-a");
    let mut tenant = place.tenant(&["--group", "team-a"]);
    assert!(tenant.takes("linear", 64 * unit()));
    text.find(|line| line.contains("1 process"));
    json.find(|line| read(line)["used_bytes"].as_u64().is_some_and(|used| used >= 64 * unit()));
    let small = limit - 64 * unit();
    place.limit("team-a", &size(small));
    let (mut lower, mut told) = (false, false);
    json.find(|line| {
        lower |= read(line)["effective_bytes"] == small;
        told |= read(line)["kind"] == "group_over";
        lower && told
    });
}

#[test]
fn without_a_pond_the_same_commands_work_on_this_users_groups() {
    let place = Place::without_a_pond();
    let group = format!("cli-test-{}", std::process::id());
    let limit = contexts(2, 96);
    let mut one = place.tenant(&["-q", "--group", &group, "--limit", &size(limit)]);
    let mut two = place.tenant(&["-q", "--group", &group, "--limit", &size(limit)]);
    assert!(one.takes("linear", 64 * unit()));
    assert!(!two.takes("linear", 64 * unit()), "one limit for both");
    assert_eq!(one.numbers("total"), [limit]);

    let account = place.account(&group);
    assert_eq!(bytes(&account["limit_bytes"]), limit);
    let details = place.json(&["ps", "--group", &group]);
    let processes = details["processes"].as_array().unwrap();
    assert_eq!(processes.len(), 2, "{details}");
    let charged: u64 =
        processes.iter().map(|p| p["devices"][0]["charged_bytes"].as_u64().unwrap_or(0)).sum();
    assert_eq!(charged, bytes(&account["used_bytes"]), "{details}");
    assert!(charged >= 64 * unit());

    let set = |bytes: u64| place.limit(&group, &size(bytes));
    set(2 * limit);
    assert!(two.takes("linear", 64 * unit()), "more can be used at once");
    set(limit);
    assert!(!two.takes("linear", 2 * MIB));
    assert_eq!(two.numbers("info")[0], 0);

    for other in ["1M", "99.9%"] {
        let said = place.cli(&["run", "--group", &group, "--limit", other, "true"]);
        assert_eq!(said.code, Some(4), "another limit is refused: {said:?}");
    }
    let watch = Lines::of(place.command(&["group", "watch", &group, "--json"]));
    watch.find(|line| line.contains("account"));
    assert_eq!(place.cli(&["group", "rm", &group]).code, Some(22));
    let unknown = place.cli(&["ps", "--group", "no-such-group"]);
    assert_eq!(unknown.code, Some(3), "{unknown:?}");
    assert!(unknown.stderr.contains(&group), "{unknown:?}");
    one.kill();
    two.finish();
    let mut third = place.tenant(&["-q", "--group", &group]);
    assert_eq!(third.numbers("total"), [limit], "who states no limit has the group's");
    third.finish();
    eventually("nobody to be in it", || {
        (place.cli(&["group", "rm", &group]).code == Some(0)).then_some(())
    });
}

#[test]
fn every_function_of_the_driver_is_known() {
    let place = Place::without_a_pond();
    let soft = is_soft().then(binaries::soft_libraries);
    let mut words = vec!["coverage"];
    if let Some(soft) = &soft {
        words.extend(["--library", soft[0].to_str().unwrap()]);
    }
    let found = place.json(&words);
    assert_eq!(found["ok"], true, "{found}");
    assert!(bytes(&found["hooked"]) > 50, "{found}");
    assert!(bytes(&found["passed"]) > 0, "{found}");
    let all = place.json(&[&words[..], &["--all"]].concat());
    let exports = all["exports"].as_array().unwrap();
    let class = |name: &str| exports.iter().find(|e| e["name"] == name).map(|e| e["class"].clone());
    assert_eq!(class("cuMemAlloc_v2"), Some("hooked".into()));
    assert_eq!(class("cuInit"), Some("passed".into()));
    let text = place.cli(&words).ok().to_owned();
    assert!(text.contains("hooked") && text.contains("passed"), "{text}");
    let none = place.cli(&["coverage", "--library", "/nowhere.so"]);
    assert_eq!(none.code, Some(1));
}
