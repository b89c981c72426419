//! Companion programs, as an installation has them: a folder with `millpond`, and programs around it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Place, Ran, copy_program, signal, until, wait, write_script};

/// `bin/millpond`, `libexec/millpond/` and a folder in PATH.
struct Installed {
    place: Place,
    root: PathBuf,
}

impl Installed {
    fn new() -> Self {
        let place = Place::new();
        let root = place.path().canonicalize().unwrap();
        for folder in ["bin", "libexec/millpond", "path"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for folder in ["bin", "libexec", "libexec/millpond", "path"] {
            mode(&root.join(folder), 0o755);
        }
        copy_program(env!("CARGO_BIN_EXE_millpond"), &root.join("bin/millpond"));
        Self { place, root }
    }

    fn script(&self, file: &str, text: &str) -> PathBuf {
        let path = self.root.join(file);
        write_script(&path, &format!("#!/bin/sh\n{text}\n"));
        path
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.place.shell(self.root.join("bin/millpond").to_str().unwrap());
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.root.join("path").display())).args(words);
        command
    }

    fn run(&self, words: &[&str]) -> Ran {
        Ran::from(self.command(words).output().unwrap())
    }

    fn says(&self, words: &[&str]) -> String {
        let ran = self.run(words);
        assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.stderr);
        ran.stdout
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_companion_gets_the_words_and_knows_the_program() {
    let installed = Installed::new();
    installed.script(
        "path/millpond-echo2",
        "echo \"$MILLPOND_BIN\"; for word; do echo \"[$word]\"; done",
    );
    let own = installed.root.join("bin/millpond");
    let words = ["-q", "--runtime-dir", "/x", "echo2", "--json", "a b", "--", "--help"];
    let expected = "[-q]\n[--runtime-dir]\n[/x]\n[--json]\n[a b]\n[--]\n[--help]\n";
    assert_eq!(installed.says(&words), format!("{}\n{expected}", own.display()));
    assert!(installed.says(&["--json", "echo2", "x"]).ends_with("[--json]\n[x]\n"));
    assert!(installed.says(&["echo2", "--help"]).ends_with("[--help]\n"));
}

#[test]
fn a_program_of_several_commands_is_started_under_the_name_of_each() {
    let installed = Installed::new();
    // What a shell is called, it says by itself; a script only says where it lies.
    let shell = installed.root.join("libexec/millpond/millpond-web");
    fs::create_dir_all(shell.parent().unwrap()).unwrap();
    fs::copy(fs::canonicalize("/bin/sh").unwrap(), &shell).unwrap();
    for command in ["web", "map", "history"] {
        assert_eq!(
            installed.says(&[command, "-c", "echo \"$0\""]),
            format!("millpond-{command}\n")
        );
    }
    fs::remove_file(&shell).unwrap();
    installed.script("path/millpond-map", "echo never");
    let ran = installed.run(&["map"]);
    assert_eq!(ran.code, Some(127), "{}", ran.stderr);
    assert!(ran.stderr.contains("'millpond-web' was not found"), "{}", ran.stderr);
    assert!(!installed.says(&["help"]).contains("Companions:"));
}

#[test]
fn tensors_of_all_nodes_are_listed_by_the_companion_for_redis() {
    let installed = Installed::new();
    let words = ["ls", "--all-nodes", "--json", "-q"];
    let ran = installed.run(&words[..2]);
    assert_eq!(ran.code, Some(127), "{}", ran.stderr);
    assert!(ran.stderr.contains("cargo build --release -p millpond-redis"), "{}", ran.stderr);
    installed.script("libexec/millpond/millpond-redis", "for word; do echo \"[$word]\"; done");
    assert_eq!(installed.says(&words), "[ls]\n[--json]\n[--quiet]\n");
}

#[test]
fn exit_code_streams_and_signals_are_the_companions_own() {
    let installed = Installed::new();
    installed.script("bin/millpond-cat", "cat; echo aside >&2; exit 42");
    let mut command = installed.command(&["cat"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"in and out").unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(42), "in and out", "aside\n")
    );

    installed.script("bin/millpond-die", "kill -9 $$");
    assert_eq!(installed.command(&["die"]).status().unwrap().signal(), Some(9));

    // The process that was started is the companion: what is sent to it arrives.
    let ready = installed.root.join("ready");
    let text =
        format!("trap 'exit 7' TERM; : >'{}'; while :; do sleep 0.01; done", ready.display());
    installed.script("bin/millpond-wait", &text);
    let mut child = installed.command(&["wait"]).spawn().unwrap();
    until("the companion", || ready.exists().then_some(()));
    signal(child.id(), "TERM");
    assert_eq!(wait(&mut child).code(), Some(7));
}

#[test]
fn own_commands_win_then_beside_then_libexec_then_path() {
    let installed = Installed::new();
    for (folder, word) in [("path", "path"), ("libexec/millpond", "libexec"), ("bin", "beside")] {
        installed.script(&format!("{folder}/millpond-version"), "echo never");
        installed.script(&format!("{folder}/millpond-list"), "echo never");
        installed.script(&format!("{folder}/millpond-worker"), "echo never");
        installed.script(&format!("{folder}/millpond-which"), &format!("echo {word}"));
        assert_eq!(installed.says(&["which"]), format!("{word}\n"));
    }
    assert!(installed.says(&["version"]).starts_with("millpond "));
    assert!(!installed.run(&["list"]).stdout.contains("never"), "an alias is a command");
    assert!(!installed.run(&["worker"]).stdout.contains("never"), "so is a hidden one");
    assert_eq!(installed.run(&["tensor", "which"]).code, Some(2));
    let help = installed.says(&["help"]);
    assert!(help.contains("\nCompanions:\n  which\n\n"), "only one is of use: {help}");
}

#[test]
fn a_companion_that_others_can_write_is_not_run() {
    let installed = Installed::new();
    let beside = installed.script("bin/millpond-x", "echo beside");
    for (path, bad) in [(beside.clone(), 0o757), (installed.root.join("bin"), 0o777)] {
        mode(&path, bad);
        let ran = installed.run(&["x"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(16), ""), "{}", path.display());
        assert!(ran.stderr.contains("is not safe to run"), "{}", ran.stderr);
        assert!(!installed.says(&["help"]).contains("Companions:"));
        mode(&path, 0o755);
    }
    // A group counts by who is in it; this one has no members that anybody knows.
    if std::os::unix::fs::chown(&beside, None, Some(4711)).is_ok() {
        mode(&beside, 0o775);
        let ran = installed.run(&["x"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(16), ""));
        assert!(
            ran.stderr.contains("the UNIX group '4711' can change")
                && ran.stderr.contains("mode 775"),
            "{}",
            ran.stderr
        );
    }
    mode(&beside, 0o777);
    // No program in PATH replaces it. PATH is the user's own choice only if no companion lies beside.
    let chosen = installed.script("path/millpond-x", "echo chosen");
    mode(&chosen, 0o777);
    for words in [&["x"][..], &["help", "x"]] {
        let ran = installed.run(words);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(16), ""), "{words:?}");
        assert!(ran.stderr.contains("bin/millpond-x' is not safe to run"), "{}", ran.stderr);
        assert!(ran.stderr.contains("`chmod o-w '"), "{}", ran.stderr);
    }
    std::fs::remove_file(&beside).unwrap();
    assert_eq!(installed.says(&["x"]), "chosen\n");
}

#[test]
fn a_file_that_cannot_be_executed_says_so() {
    let installed = Installed::new();
    let file = installed.script("bin/millpond-x", "echo never");
    mode(&file, 0o644);
    let ran = installed.run(&["x"]);
    assert_eq!(ran.code, Some(126), "{}", ran.stderr);
    assert!(ran.stderr.contains("is not executable") && ran.stderr.contains("chmod +x"));
    let ran = installed.run(&["x", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(error["error"]["kind"], "not_executable");
    // Executable, but nothing that the kernel can start.
    write_script(&file, "#!/no/such/interpreter\n");
    let ran = installed.run(&["x"]);
    assert_eq!(ran.code, Some(126));
    assert!(ran.stderr.starts_with("error: running '"), "{}", ran.stderr);
    installed.script("path/millpond-x", "echo another");
    mode(&file, 0o644);
    assert_eq!(installed.says(&["x"]), "another\n", "the next one that can be run is");
}

#[test]
fn help_lists_companions_and_asks_them() {
    let installed = Installed::new();
    assert!(!installed.says(&["help"]).contains("Companions:"));
    installed.script("libexec/millpond/millpond-web", "echo \"web $*\"");
    installed.script("path/millpond-no-x", "echo");
    mode(&installed.root.join("path/millpond-no-x"), 0o644);
    for words in [&["help"][..], &["--help"], &["-h"]] {
        let help = installed.says(words);
        let companions = help.split("\nCompanions:\n").nth(1).unwrap();
        let names = companions.lines().map_while(|line| line.split_whitespace().next());
        assert_eq!(names.collect::<Vec<_>>(), ["history", "map", "web"], "{help}");
        assert!(!help.contains("no-x"));
    }
    assert_eq!(installed.says(&["help", "web"]), "web --help\n");
    assert_eq!(installed.says(&["help", "web", "serve"]), "web serve --help\n");
    assert_eq!(installed.run(&["help", "nothing"]).code, Some(2));
}

#[test]
fn an_unknown_name_is_still_an_error_and_companions_are_proposed() {
    let installed = Installed::new();
    let ran = installed.run(&["webb"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.starts_with("error: unrecognized subcommand 'webb'"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("'web'"));
    installed.script("path/millpond-web", "echo never");
    let ran = installed.run(&["webb"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("'web'"), "{}", ran.stderr);
    assert!(installed.run(&["start"]).stderr.contains("millpond serve --detach"));
    for word in ["../x", "a/b", "."] {
        assert_eq!(installed.run(&[word]).code, Some(2), "{word}");
    }
}
