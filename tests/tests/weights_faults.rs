//! Loads in the middle of which something happens, and versions that are asked for wrongly.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};

use millpond_tests::checkpoint::{self, Tensors};
use millpond_tests::{
    Accounts, Options, PATIENCE, Process, TestPond, eventually, eventually_equal,
};
use serde_json::Value;

const MIB: u64 = 1 << 20;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A pond whose mover stands still, with one version of a model.
struct Scene {
    pond: TestPond,
    first: Tensors,
    second: Tensors,
    mover: Process,
    before: Accounts,
}

impl Scene {
    fn start() -> Self {
        let pond = TestPond::start(Options::giving_back());
        let (first, second) = (checkpoint::tensors(20, 1), checkpoint::tensors(30, 500));
        checkpoint::write(&pond.path("1"), &first, u64::MAX);
        checkpoint::write(&pond.path("2"), &second, 12 * MIB);
        let _ = pond.cli(&["load", "llama", text(&pond.path("1"))]).ok();
        let before = pond.accounts();
        let mover = Process::open(pond.status().movers[0].pid).unwrap();
        mover.stop();
        Self { pond, first, second, mover, before }
    }

    /// A load of the second version that is in its middle.
    fn begin(&self) -> Child {
        let path = self.pond.path("2");
        let mut command = self.pond.cli_command(&["load", "llama", text(&path), "--json"]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        eventually("a move", || {
            assert!(child.try_wait().unwrap().is_none(), "the load has ended");
            self.pond.status().movers.iter().any(|mover| mover.moves > 0).then_some(())
        });
        child
    }

    /// Only the first version is there, and readers have it.
    fn assert_untouched(&self) {
        eventually_equal("nothing left", &self.before, || self.pond.accounts());
        assert_eq!(self.pond.cli(&["models", "-q"]).ok(), "llama@v1\n");
        let seen = checkpoint::seen("v1", &self.first);
        assert_eq!(checkpoint::attach(&mut self.pond.worker(), "llama"), seen);
    }
}

/// How it ended, what it printed, and its error.
fn finish(child: Child) -> (ExitStatus, Value, Value) {
    let process = Process::open(child.id()).unwrap();
    assert!(process.wait(2 * PATIENCE), "the load does not end");
    let output = child.wait_with_output().unwrap();
    let json = |bytes: &[u8]| serde_json::from_slice(bytes).unwrap_or(Value::Null);
    (output.status, json(&output.stdout), json(&output.stderr)["error"].clone())
}

#[test]
fn a_loader_that_is_killed_leaves_nothing() {
    let scene = Scene::start();
    for (name, number) in [("INT", 2), ("KILL", 9), ("TERM", 15)] {
        let child = scene.begin();
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill").args([&format!("-{name}"), &pid]).status();
        assert!(sent.unwrap().success());
        let (status, ..) = finish(child);
        assert_eq!(status.signal(), Some(number), "130 for Ctrl-C, as a shell says it");
        scene.mover.go_on();
        scene.assert_untouched();
        scene.mover.stop();
    }
}

#[test]
fn a_save_that_is_ended_leaves_no_half_files() {
    let scene = Scene::start();
    let folder = scene.pond.path("saved");
    fs::create_dir(&folder).unwrap();
    for name in ["out", "out.safetensors"] {
        let path = folder.join(name);
        let mut command = scene.pond.cli_command(&["save", "llama", text(&path)]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = child.spawn().unwrap();
        eventually("a move", || {
            scene.pond.status().movers.iter().any(|mover| mover.moves > 0).then_some(())
        });
        assert!(fs::read_dir(&folder).unwrap().count() <= 1, "without a name, or under another");
        assert!(!path.exists());
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-INT", &pid]).status();
        assert!(sent.unwrap().success());
        let (status, ..) = finish(child);
        assert_eq!(status.signal(), Some(2));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        scene.mover.go_on();
        scene.assert_untouched();
        scene.mover.stop();
    }
}

#[test]
fn a_disk_that_fails_in_the_middle_leaves_nothing() {
    // Its first job is of the first load.
    let fault = "disk-error-in-job:3";
    let pond = TestPond::start(Options::giving_back().soft().env("MILLPOND_MOVER_FAULT", fault));
    let tensors = checkpoint::tensors(60, 1);
    checkpoint::write(&pond.path("in"), &tensors, 12 * MIB);
    let before = pond.accounts();
    let error = pond.cli(&["load", "llama", text(&pond.path("in")), "--json"]).error();
    let message = error["message"].as_str().unwrap();
    assert_eq!(error["kind"], "file", "{error}");
    assert!(message.contains("reading the file: Input/output error"), "{message}");
    eventually_equal("nothing left", &before, || pond.accounts());
    assert_eq!(pond.cli(&["models", "-q"]).ok(), "");
    // It was that one job: the same load works.
    let _ = pond.cli(&["load", "llama", text(&pond.path("in"))]).ok();
    let seen = checkpoint::seen("v1", &tensors);
    assert_eq!(checkpoint::attach(&mut pond.worker(), "llama"), seen);
}

#[test]
fn a_file_that_changes_or_ends_while_it_is_read_is_refused() {
    let scene = Scene::start();
    let file = fs::read_dir(scene.pond.path("2")).unwrap().flatten().map(|entry| entry.path());
    let file = file.filter(|path| path.to_string_lossy().ends_with("safetensors")).max().unwrap();
    let old = fs::read(&file).unwrap();
    let child = scene.begin();
    fs::write(&file, &old).unwrap();
    scene.mover.go_on();
    let (status, _, error) = finish(child);
    let message = error["message"].as_str().unwrap();
    assert_eq!((status.code(), &error["kind"]), (Some(19), &"file".into()), "{error}");
    assert!(message.contains("changed while it was read"), "{message}");
    assert!(message.contains(file.file_name().unwrap().to_str().unwrap()), "{message}");
    scene.assert_untouched();

    // As a disk that fails in the middle: the bytes do not come.
    scene.mover.stop();
    let child = scene.begin();
    let open = fs::File::options().write(true).open(&file).unwrap();
    open.set_len(old.len() as u64 / 2).unwrap();
    scene.mover.go_on();
    let (status, _, error) = finish(child);
    assert_eq!((status.code(), &error["kind"]), (Some(19), &"file".into()), "{error}");
    scene.assert_untouched();
}

#[test]
fn a_load_goes_on_when_mover_or_daemon_die() {
    let scene = Scene::start();
    let child = scene.begin();
    scene.mover.kill();
    let (status, loaded, error) = finish(child);
    assert!(status.success(), "{error}");
    let content = loaded["content_hash"].clone();
    assert_eq!(loaded["version"], "v2");
    assert_eq!(
        checkpoint::attach(&mut scene.pond.worker(), "llama@v2"),
        checkpoint::seen("v2", &scene.second)
    );
    let mover = Process::open(scene.pond.status().movers[0].pid).unwrap();
    mover.stop();
    let child = scene.begin();
    scene.pond.kill_daemon();
    let (status, loaded, error) = finish(child);
    assert!(status.success(), "{error}");
    assert_eq!((&loaded["version"], &loaded["content_hash"]), (&"v3".into(), &content));
    let _ = scene.pond.cli(&["verify", "llama@v3"]).ok();
}

#[test]
fn a_version_that_is_not_ready_or_not_free_is_refused_in_words() {
    let scene = Scene::start();
    let child = scene.begin();
    let path = scene.pond.path("2");
    let said = |words: &[&str]| {
        let all: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        let error = scene.pond.cli(&all).error();
        (error["kind"].as_str().unwrap().to_owned(), error["message"].as_str().unwrap().to_owned())
    };
    let (kind, message) = said(&["load", "llama", text(&path), "--version", "v2"]);
    assert_eq!(kind, "exists");
    assert!(message.contains(&format!("pid {}", child.id())), "{message}");
    let (kind, message) = said(&["swap", "llama", "v2"]);
    assert_eq!(kind, "not_ready", "{message}");
    assert!(message.contains("llama@v2"), "{message}");
    let refused = scene.pond.worker().try_ask("model attach llama@v2").unwrap_err();
    assert!(refused.contains("not_ready"), "{refused}");
    assert!(scene.pond.cli(&["models"]).ok().contains("staging"));
    scene.mover.go_on();
    assert!(finish(child).0.success());

    let (kind, message) = said(&["retire", "llama", "v1"]);
    assert_eq!((kind.as_str(), message.contains("current")), ("invalid", true), "{message}");
    let mut reader = scene.pond.worker();
    checkpoint::attach(&mut reader, "llama@v1");
    let _ = scene.pond.cli(&["swap", "llama", "v2"]).ok();
    let _ = scene.pond.cli(&["retire", "llama@v1"]).ok();
    let refused = scene.pond.worker().try_ask("model attach llama@v1").unwrap_err();
    assert!(refused.contains("retired"), "{refused}");
    assert_eq!(reader.ask("model weights llama@v1"), checkpoint::seen("v1", &scene.first));
    let (kind, message) = said(&["retire", "llama@v1", "--wait", "50ms"]);
    assert_eq!((kind.as_str(), message.contains("1 reader")), ("timeout", true), "{message}");
    reader.ask("model detach llama@v1");
    reader.ask("flush");
    eventually("the end of v1", || {
        (scene.pond.cli(&["models", "-q"]).ok() == "llama@v2\n").then_some(())
    });
}

#[test]
fn a_card_that_is_full_says_who_has_it_and_nothing_is_left() {
    let pond = TestPond::start(Options::giving_back().capacity(64 * MIB));
    for (name, seed) in [("1", 1), ("2", 500)] {
        checkpoint::write(&pond.path(name), &checkpoint::tensors(40, seed), u64::MAX);
    }
    let _ = pond.cli(&["load", "llama", text(&pond.path("1"))]).ok();
    let before = pond.accounts();
    let path = pond.path("2");
    let error = pond.cli(&["load", "other", text(&path), "--slab-bytes", "8M", "--json"]).error();
    assert_eq!((&error["kind"], error["exit_code"].as_i64()), (&"gpu_full".into(), Some(7)));
    assert!(error["free_bytes"].as_u64().is_some_and(|free| free < 40 * MIB), "{error}");
    assert!(error["requested_bytes"].as_u64().is_some_and(|wanted| wanted >= 40 * MIB), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("llama@v1"), "{error}");
    assert!(!error["holders"].as_array().unwrap().is_empty(), "{error}");
    eventually_equal("nothing left", &before, || pond.accounts());

    // The card itself refuses, in the middle of the slabs.
    let pond = TestPond::start(Options::giving_back().faults("cuMemCreate:error=2,on=3"));
    let before = pond.accounts();
    checkpoint::write(&pond.path("1"), &checkpoint::tensors(40, 1), u64::MAX);
    let path = pond.path("1");
    let words = ["load", "llama", text(&path), "--slab-bytes", "8M", "--json"];
    let error = pond.cli(&words).error();
    assert_eq!(error["kind"], "gpu_full", "{error}");
    eventually_equal("nothing left", &before, || pond.accounts());
    let _ = pond.cli(&words).ok();
    let _ = pond.cli(&["verify", "llama"]).ok();
}
