//! Which limit holds: the machine's file, a group and variables together, in every row of the page.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says what it skips"
)]

mod common;

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use common::*;
use millpond_ledger::{Book, BookSettings, Memory, Patience, UNIT, parse_bytes};

const CARD: u64 = 16 << 30;

/// How to start a program with an `/etc` of its own, if this user may.
fn unshare() -> Option<Vec<&'static str>> {
    let ways = [vec!["unshare", "-m"], vec!["unshare", "-r", "-m"]];
    let found = ways.into_iter().find(|way| {
        let script = ["sh", "-c", "mount -t tmpfs none /etc"];
        let tried = Command::new(way[0]).args(&way[1..]).args(script).output();
        tried.is_ok_and(|said| said.status.success())
    });
    if found.is_none() {
        eprintln!("SKIPPED: this user cannot make a mount namespace");
    }
    found
}

/// The command on a machine whose file a line of `sh` makes in `/etc/vcuda`.
fn with_file(way: &[&str], make: &str, program: &Command) -> Command {
    let script = format!("mount -t tmpfs none /etc; mkdir /etc/vcuda; cd /etc/vcuda; {make}");
    let mut command = Command::new(way[0]);
    command.args(&way[1..]).args(["sh", "-ec", &format!("{script}; exec \"$@\""), "sh"]);
    command.arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Context and card, as a program sees them, and what it hears.
fn run(command: &mut Command) -> (String, String) {
    let said = command.output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(said.stdout).trim().replace('\n', ", "), text(said.stderr))
}

fn machine() -> Machine {
    let mut machine = Machine::new();
    machine.env.clear();
    let group = machine.group.clone();
    machine.with("MILLPOND_SOFT_MEMORY", &CARD.to_string()).with("MILLPOND_GROUP", &group)
}

fn group(folder: &Path, limit: u64) {
    let path = std::ffi::CString::new(folder.as_os_str().as_bytes()).unwrap();
    let settings =
        BookSettings { name: b"team", owner: None, everyone: false, memory: Memory::File };
    let patience = Patience(std::time::Duration::from_secs(20));
    let change = |budget: &mut millpond_ledger::Budget| {
        (budget.asked, budget.effective) = (limit / UNIT, limit / UNIT);
    };
    Book::create(&path, settings).unwrap().change(None, patience, change).unwrap();
}

#[test]
fn the_smallest_limit_holds_as_the_page_says() {
    let Some(way) = unshare() else { return };
    let page = include_str!("../../../docs/limits.md");
    let table = page.split("| file | group | variables | what holds |").nth(1).unwrap();
    let rows: Vec<Vec<&str>> = (table.lines().skip(2).take_while(|line| line.starts_with('|')))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() > 30, "{rows:?}");
    for row in rows {
        let [file, limit, variables, holds] = row[..] else { panic!("{row:?}") };
        let mut machine = machine();
        let folder = tempfile::tempdir().unwrap();
        if !limit.is_empty() {
            group(folder.path(), parse_bytes(limit.as_bytes()).unwrap());
            machine = machine.with("MILLPOND_LEDGER", folder.path().to_str().unwrap());
        }
        for pair in variables.split('`').skip(1).step_by(2) {
            let (name, value) = pair.split_once('=').unwrap();
            machine = machine.with(name, value);
        }
        let mut command = machine.command("steps");
        command.args(["proc2", "context", "total"]);
        let expected = match holds {
            "no memory" => "context=2, total=0".to_owned(),
            "the card" => format!("context=0, total={}", CARD >> 20),
            size => format!("context=0, total={}", parse_bytes(size.as_bytes()).unwrap() >> 20),
        };
        if !file.is_empty() {
            let make = format!("echo 'memory_limit: {file}' > config.yaml");
            command = with_file(&way, &make, &command);
        }
        assert_eq!(run(&mut command).0, expected, "{row:?}");
    }
}

#[test]
fn a_file_in_another_form_is_never_no_limit() {
    let Some(way) = unshare() else { return };
    for (make, part) in [
        ("echo '{memory_limit: 1g}' > config.yaml", "config.yaml:1: '{memory_limit: 1g}': not a"),
        ("echo '{\"memory_limit\": \"1g\"}' > config.yaml", "config.yaml:1: "),
        ("printf '\\357\\273\\277memory_limit: 1g\\n' > config.yaml", "byte order mark"),
        ("printf '# one\\nmemory_limit:\\n  1g\\n' > config.yaml", "config.yaml:2: "),
        (": > config.yaml", "no known key"),
        ("mkdir config.yaml", "cannot be read"),
        ("mkfifo config.yaml", "no known key"),
        ("ln -s nowhere config.yaml", "cannot be read"),
        ("head -c 4096 /dev/zero > config.yaml", "4095 bytes"),
    ] {
        let machine = machine();
        let mut command = machine.command("steps");
        command.args(["proc2", "context", "create=1", "total"]);
        let (said, heard) = run(&mut with_file(&way, make, &command));
        assert_eq!(said, "context=2, create=2, total=0", "{make}");
        assert_eq!(heard.lines().count(), 1, "{make}: {heard}");
        assert!(heard.contains(part), "{make}: {heard}");
    }
}

#[test]
fn a_group_that_is_raised_later_stays_under_the_machines_limit() {
    let Some(way) = unshare() else { return };
    let folder = tempfile::tempdir().unwrap();
    group(folder.path(), 8 << 30);
    let machine = machine().with("MILLPOND_LEDGER", folder.path().to_str().unwrap());
    let mut command = machine.command("steps");
    // The group has room for both allocations, the machine's limit for one.
    let steps = "proc2 context create=2000 create=2000 info";
    command.args(steps.split(' '));
    let make = "echo 'memory_limit: 3G' > config.yaml";
    let (said, heard) = run(&mut with_file(&way, make, &command));
    assert!(said.starts_with("context=0, create=0, create=2, info=0 3072 "), "{said}");
    assert!(
        heard.contains("/etc/vcuda/config.yaml sets the limit; see `millpond ps --group team`")
    );

    // So does a group that a variable has made.
    let machine = self::machine().with("MILLPOND_MEMORY_LIMIT", "2G");
    assert_eq!(machine.run("proc2", "context total"), "context=0, total=2048");
    let patience = Patience(std::time::Duration::from_secs(20));
    let change = |budget: &mut millpond_ledger::Budget| {
        (budget.asked, budget.effective) = ((8 << 30) / UNIT, (8 << 30) / UNIT);
    };
    Book::open(&machine.group_folder()).unwrap().change(None, patience, change).unwrap();
    assert_eq!(machine.run("proc2", "context total"), "context=0, total=8192");
    let mut command = machine.command("steps");
    command.args("proc2 context total".split(' '));
    assert_eq!(run(&mut with_file(&way, make, &command)).0, "context=0, total=3072");
}
