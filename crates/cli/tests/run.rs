//! `millpond run` without a pond: what becomes of the program, and what is said.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Place, Ran};

/// A library that is in every program anyway: here only the way to it is looked at.
fn harmless_library() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let files = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    files.into_iter().find(|path| path.contains("libc.so")).unwrap().into()
}

fn command(place: &Place, words: &[&str]) -> Command {
    let mut command = place.command(&[&["run"], words].concat());
    command.env("MILLPOND_PRELOAD", harmless_library());
    command.env_remove("LD_PRELOAD").env_remove("CUDA_VISIBLE_DEVICES");
    command
}

fn run(place: &Place, words: &[&str]) -> Ran {
    Ran::from(command(place, words).output().unwrap())
}

#[test]
fn exit_code_and_signal_are_the_programs() {
    let place = Place::new();
    for code in [0, 3, 255] {
        let ran = run(&place, &["-l", "1G", "--", "sh", "-c", &format!("exit {code}")]);
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    }
    let status = command(&place, &["-l", "1G", "sh", "-c", "kill -TERM $$"]).status().unwrap();
    assert_eq!(status.signal(), Some(15));
    // A program that ignores a closed pipe would not end with its reader.
    let script = "yes | head -n 1; grep SigIgn /proc/self/status";
    let ran = run(&place, &["-q", "-l", "1G", "bash", "-c", script]);
    let ignored = ran.stdout.lines().last().unwrap().split_whitespace().last().unwrap();
    let ignored = u64::from_str_radix(ignored, 16).unwrap();
    assert_eq!(ignored & (1 << 12), 0, "SIGPIPE is as it was: {}", ran.stdout);
}

#[test]
fn the_program_has_this_process_id() {
    let place = Place::new();
    let mut command = command(&place, &["-q", "-l", "1G", "sh", "-c", "echo $$"]);
    let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), pid.to_string());
}

#[test]
fn without_a_pond_the_environment_has_the_limit_and_one_line_says_so() {
    let place = Place::new();
    let print = "echo \"$LD_PRELOAD|$MILLPOND_MEMORY_LIMIT|$MILLPOND_GROUP|$MILLPOND_LEDGER|$CUDA_VISIBLE_DEVICES\"";
    let library = harmless_library();
    let expected = format!("{}|10737418240|||\n", library.display());
    for limit in ["10G", "10GB", "10GiB", "10g", "10240M", "10737418240"] {
        let ran = run(&place, &["--limit", limit, "--", "sh", "-c", print]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), expected.as_str()), "{limit}");
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(ran.stderr.starts_with("no pond: the limit of 10 GiB holds for"), "{}", ran.stderr);
    }
    let small = run(&place, &["--limit", "512M", "--", "true"]).stderr;
    assert!(
        small.starts_with("warning: a limit of 512 MiB has no room for a CUDA context"),
        "{small}"
    );
    assert!(small.lines().next().unwrap().ends_with("try `--limit 2G`"), "{small}");
    assert!(!run(&place, &["--limit", "640M", "--", "true"]).stderr.contains("warning"));
    let ran = run(&place, &["-q", "-l", "10G", "-g", "team-a", "--device", "1", "sh", "-c", print]);
    let expected = format!("{}|10737418240|team-a||1\n", library.display());
    assert_eq!((ran.stdout, ran.stderr.as_str()), (expected, ""));

    let mut inside = command(&place, &["-q", "-l", "50%", "--device", "1", "sh", "-c", print]);
    inside.env("LD_PRELOAD", "libm.so.6").env("MILLPOND_LEDGER", "/outer");
    inside.env("CUDA_VISIBLE_DEVICES", "3,2");
    let ran = Ran::from(inside.output().unwrap());
    let expected = format!("{}:libm.so.6|50.0%|||2\n", library.display());
    assert_eq!(ran.stdout, expected, "{}", ran.stderr);
}

#[test]
fn programs_that_cannot_be_run_are_told_apart_as_a_shell_does() {
    let place = Place::new();
    let plain = place.path().join("plain");
    common::write_script(&plain, "exit 0\n");
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o644)).unwrap();
    let orphan = place.path().join("orphan");
    common::write_script(&orphan, "#!/nowhere/interpreter\n");
    for (program, code, part) in [
        ("no-such-program-anywhere", 127, "no program '"),
        ("/nowhere/at/all", 127, "no program '"),
        (plain.to_str().unwrap(), 126, "chmod +x"),
        (place.path().to_str().unwrap(), 126, "cannot be executed"),
        (orphan.to_str().unwrap(), 127, "interpreter"),
    ] {
        let ran = run(&place, &["-q", "-l", "1G", "--", program]);
        assert_eq!(ran.code, Some(code), "{program}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{program}: {}", ran.stderr);
    }
    // A script without a first line is the shell's.
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(run(&place, &["-l", "1G", plain.to_str().unwrap()]).code, Some(0));
}

#[test]
fn a_limit_that_makes_no_sense_says_why() {
    let place = Place::new();
    for (limit, part) in [
        ("0", "zero"),
        ("0G", "zero"),
        ("-1G", "negative"),
        ("0.5", "write 0.5G for half a GiB or 50% for half of the card"),
        ("ten", "not a size"),
        ("10X", "unknown unit"),
        ("120%", "100%"),
        ("", "empty"),
    ] {
        let ran = run(&place, &[&format!("--limit={limit}"), "--", "true"]);
        assert_eq!(ran.code, Some(2), "{limit}: {}", ran.stderr);
        assert!(ran.stderr.contains(part) && ran.stdout.is_empty(), "{limit}: {}", ran.stderr);
    }
    let ran = run(&place, &["--limit", "4095", "--", "true"]);
    assert_eq!(ran.code, Some(64), "{}", ran.stderr);
    assert!(ran.stderr.contains("lets nothing run"), "{}", ran.stderr);
    // Not taken for a flag.
    let negative = run(&place, &["--limit", "-5G", "--", "true"]);
    assert!(
        negative.code == Some(2) && negative.stderr.contains("negative"),
        "{}",
        negative.stderr
    );
    for words in [&["--limit", "1G"][..], &["--limit", "1G", "--group", "a/b", "true"]] {
        assert_eq!(run(&place, words).code, Some(2));
    }
}

#[test]
fn what_needs_a_limit_or_a_pond_says_so() {
    let place = Place::new();
    let ran = run(&place, &["true"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("no limit") && ran.stderr.contains("--limit 10G"),
        "{}",
        ran.stderr
    );
    let group = format!("run-test-{}", std::process::id());
    let ran = run(&place, &["--group", &group, "true"]);
    assert_eq!(ran.code, Some(15));
    assert!(ran.stderr.contains(&format!("group '{group}' needs a limit")), "{}", ran.stderr);
    assert!(ran.stderr.contains("millpond serve"), "{}", ran.stderr);
    let ran = run(&place, &["--limit", "1G", "--min", "1G", "true"]);
    assert_eq!(ran.code, Some(15));
    assert!(ran.stderr.contains("`--min` and `--weight` need a pond"), "{}", ran.stderr);
}

#[test]
fn a_missing_library_is_named_with_where_it_was_looked_for() {
    let place = Place::new();
    let mut named = command(&place, &["-l", "1G", "true"]);
    named.env("MILLPOND_PRELOAD", "/nowhere/libmillpond_preload.so");
    let ran = Ran::from(named.output().unwrap());
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("looked for /nowhere/libmillpond_preload.so"), "{}", ran.stderr);

    // A copy of the program has no library beside it.
    let copy = place.path().join("bin/millpond");
    std::fs::create_dir(copy.parent().unwrap()).unwrap();
    common::copy_program(env!("CARGO_BIN_EXE_millpond"), &copy);
    if Path::new("/usr/lib/millpond/libmillpond_preload.so").exists() {
        return common::skip("the library is installed here");
    }
    let ran = Ran::from(Command::new(&copy).args(["run", "-l", "1G", "true"]).output().unwrap());
    assert_eq!(ran.code, Some(1));
    for part in
        ["bin/libmillpond_preload.so", "lib/millpond/", "/usr/lib/millpond/", "MILLPOND_PRELOAD"]
    {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    // Where it belongs, it is found.
    let library = place.path().join("lib/millpond/libmillpond_preload.so");
    std::fs::create_dir_all(library.parent().unwrap()).unwrap();
    std::fs::copy(harmless_library(), &library).unwrap();
    let print = ["run", "-q", "-l", "1G", "env"];
    let ran = Ran::from(Command::new(&copy).args(print).env_clear().output().unwrap());
    let expected = format!("LD_PRELOAD={}\n", library.display());
    assert!(ran.stdout.contains(&expected), "{}{}", ran.stdout, ran.stderr);
}

/// A static program of the C library's own, on Debian and its like.
const STATIC: &str = "/sbin/ldconfig";

#[test]
fn a_static_program_is_told_and_with_strict_refused() {
    if !Path::new(STATIC).exists() {
        return common::skip("no static program here");
    }
    let place = Place::new();
    let script = place.path().join("script");
    common::write_script(&script, &format!("#!{STATIC} --version\n"));
    let file = std::fs::read(STATIC).unwrap();
    if file.starts_with(b"#!") {
        return common::skip("ldconfig is a script here");
    }
    for words in [&[STATIC, "--version"][..], &[script.to_str().unwrap()]] {
        let ran = run(&place, &[&["-l", "1G"], words].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("warning: '/sbin/ldconfig' is a static executable"),
            "{}",
            ran.stderr
        );
        let ran = run(&place, &[&["-l", "1G", "--strict"], words].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(126), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("docs/limits.md"), "{}", ran.stderr);
    }
}

#[test]
fn a_program_with_rights_of_its_own_is_told_and_with_strict_refused() {
    let place = Place::new();
    let program = place.path().join("true");
    common::copy_program("/bin/true", &program);
    let chown = std::os::unix::fs::chown(&program, Some(1), Some(1));
    if chown.is_err() {
        return common::skip("only root can make a program of another user");
    }
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let program = program.to_str().unwrap();
    let ran = run(&place, &["-l", "1G", program]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("setuid") && ran.stderr.contains("escapes"), "{}", ran.stderr);
    assert_eq!(run(&place, &["-l", "1G", "--strict", program]).code, Some(126));
    assert_eq!(run(&place, &["-l", "1G", "--strict", "true"]).code, Some(0));
    // The same bits on a script mean nothing to the kernel.
    let script = place.path().join("script");
    common::write_script(&script, "#!/bin/sh\nexit 5\n");
    std::os::unix::fs::chown(&script, Some(1), Some(1)).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o6755)).unwrap();
    let ran = run(&place, &["-q", "-l", "1G", "--strict", script.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(5), ""));
}
