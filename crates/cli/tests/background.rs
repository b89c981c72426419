//! A pond in the background: how it starts, what it says, what it loads, and how it ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{Place, Ran, signal, until, wait};

/// A pond in the background, which is stopped at the end.
struct Background<'a> {
    place: &'a Place,
    log: PathBuf,
}

impl<'a> Background<'a> {
    fn start(place: &'a Place, words: &[&str]) -> (Self, String) {
        let log = place.path().join("pond.log");
        let mut all = vec!["serve", "--detach", "--log-file", log.to_str().unwrap()];
        all.extend(words);
        let said = place.stdout(&all);
        (Self { place, log }, said)
    }

    fn status(&self) -> serde_json::Value {
        self.place.json(&["status", "--json"])
    }
}

impl Drop for Background<'_> {
    fn drop(&mut self) {
        // Most have stopped it already.
        self.place.run(&["stop"]);
    }
}

fn process(status: &serde_json::Value, name: &str) -> u32 {
    status[name].as_u64().unwrap().try_into().unwrap()
}

#[test]
fn a_pond_in_the_background_says_where_it_is_and_stops_on_order() {
    let place = Place::new();
    let (pond, said) = Background::start(&place, &[]);
    let status = pond.status();
    let keeper = process(&status, "keeper_pid");
    let folder = place.pond().display().to_string();
    for wanted in [
        "SOFTWARE DRIVER, host memory, no GPU".to_owned(),
        format!("folder  {folder}"),
        format!("pid     {keeper}"),
        format!("log     {} (millpond --runtime-dir {folder} logs)", pond.log.display()),
        format!("stop    millpond --runtime-dir {folder} stop"),
    ] {
        assert!(said.contains(&wanted), "{wanted}\n{said}");
    }
    assert_eq!(status["software"], true);
    assert_eq!(status["devices"][0]["name"], "NVIDIA H200 (software)");
    assert_eq!(status["log_file"], pond.log.to_str().unwrap());
    assert_eq!(status["service"], serde_json::Value::Null);
    let text = place.stdout(&["status"]);
    assert!(text.contains("software driver: host memory, no GPU"), "{text}");

    let log = place.stdout(&["logs"]);
    let warning = "WARN millpond_daemon::driver: software driver: tensors are in host memory";
    assert!(log.contains(warning), "{log}");
    assert_eq!(place.stdout(&["logs", "-n", "1"]).lines().count(), 1);

    // A second one in the same folder, and one on the same device.
    let second = place.run(&["serve", "--detach", "--log-file", "/dev/null"]);
    assert_eq!((second.code, second.stdout.as_str()), (Some(1), ""));
    assert!(second.stderr.contains(&format!("already served by pid {keeper}")));
    assert!(second.stderr.contains("`millpond stop` stops it"), "{}", second.stderr);
    let other = place.path().join("other");
    let other = ["serve", "--runtime-dir", other.to_str().unwrap()];
    let third = place.run(&other);
    assert_eq!(third.code, Some(1));
    assert!(third.stderr.contains("need another MILLPOND_SOFT_DIR"), "{}", third.stderr);

    let stopped = place.json(&["stop", "--json"]);
    assert_eq!(stopped["keeper_pid"], keeper);
    assert!(!place.pond().join("sock").exists(), "an orderly stop removes the socket");
    assert!(!Path::new(&format!("/proc/{keeper}/fd/0")).exists());
    let again = place.run(&["stop"]);
    assert_eq!(again.code, Some(15));
    assert!(again.stderr.starts_with("error: no pond runs in '"), "{}", again.stderr);
}

#[test]
fn a_pond_that_cannot_start_in_the_background_says_why() {
    let place = Place::new();
    let log = place.path().join("log").display().to_string();
    let ran = place.run(&["serve", "-d", "--log-file", &log, "--devices", "7"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("`devices` names GPU 7"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: "), "{}", ran.stderr);
    let ran = place.run(&["serve", "-d", "--capacity", "nonsense"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let mut unwritable = place.command(&["serve"]);
    unwritable.env_remove("MILLPOND_RUNTIME_DIR").env("XDG_RUNTIME_DIR", "/proc");
    let ran = Ran::from(unwritable.output().unwrap());
    assert_eq!(ran.code, Some(1));
    let wanted = "error: XDG_RUNTIME_DIR is '/proc', which cannot be written";
    assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: unset XDG_RUNTIME_DIR"), "{}", ran.stderr);
}

#[test]
fn stop_ends_a_pond_whose_keeper_was_replaced() {
    let place = Place::new();
    let (pond, _) = Background::start(&place, &[]);
    let first = process(&pond.status(), "keeper_pid");
    signal(first, "KILL");
    let stopped = place.json(&["stop", "--json"]);
    assert_ne!(stopped["keeper_pid"], first);
    assert_eq!(place.run(&["status"]).code, Some(15));
}

#[test]
fn a_service_is_not_stopped_behind_the_back_of_its_manager() {
    let place = Place::new();
    let (pond, _) = Background::start(&place, &[]);
    let keeper = process(&pond.status(), "keeper_pid");
    let lock = place.pond().join("lock");
    let line = std::fs::read_to_string(&lock).unwrap();
    let service = r#","service":{"unit":"millpond.service","user":true}}"#;
    std::fs::write(&lock, line.trim_end().replace('}', service)).unwrap();
    let refused = place.run(&["stop"]);
    assert_eq!(refused.code, Some(1));
    let wanted = "hint: `systemctl --user stop millpond.service`";
    assert!(refused.stderr.contains(wanted), "{}", refused.stderr);
    std::fs::write(&lock, line).unwrap();
    assert_eq!(process(&pond.status(), "keeper_pid"), keeper, "it goes on");
}

#[test]
fn serve_opens_with_three_lines_for_a_person() {
    let place = Place::new();
    let mut command = place.command(&["serve", "--log", "error"]);
    let mut serve = command.stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(serve.stderr.take().unwrap()).lines();
    let lines: Vec<String> = lines.take(3).map(Result::unwrap).collect();
    let folder = place.pond().display().to_string();
    assert!(lines[0].starts_with("serving NVIDIA H200 (software) with "), "{lines:?}");
    assert!(lines[0].ends_with("SOFTWARE DRIVER, host memory, no GPU"), "{lines:?}");
    assert_eq!(lines[1], format!("folder  {folder}"));
    let typed = format!("In another terminal: millpond --runtime-dir {folder} status");
    assert_eq!(lines[2], typed);
    assert_eq!(place.run(&["logs"]).code, Some(1), "it has no log file");
    assert!(place.run(&["logs"]).stderr.contains("logs to its standard error"));
    place.stdout(&["stop"]);
    assert!(wait(&mut serve).success());
}

/// One tensor of zeroes.
fn checkpoint(path: &Path) {
    let mut header = br#"{"w":{"dtype":"F32","shape":[256],"data_offsets":[0,1024]}}"#.to_vec();
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend([0; 1024]);
    std::fs::write(path, file).unwrap();
}

#[test]
fn models_of_the_configuration_are_loaded_once_and_a_failure_ends_nothing() {
    let place = Place::new();
    checkpoint(&place.path().join("net.safetensors"));
    let config = place.path().join("config.toml");
    let path = place.path().display();
    std::fs::write(
        &config,
        format!(
            "[[load]]\nname = \"missing\"\npath = \"{path}/missing.safetensors\"\n\
             [[load]]\nname = \"net\"\npath = \"{path}/net.safetensors\"\nversion = \"v7\"\n"
        ),
    )
    .unwrap();
    let (pond, _) = Background::start(&place, &["--config", config.to_str().unwrap()]);
    let loaded = || {
        let models = place.json(&["models", "--json"]);
        let models = models["models"].as_array().unwrap().clone();
        let versions =
            models.iter().flat_map(|model| model["versions"].as_array().unwrap().clone());
        versions.filter(|version| version["state"] == "ready").collect::<Vec<_>>()
    };
    let found = until("the model", || Some(loaded()).filter(|found| !found.is_empty()));
    assert_eq!(
        (&found[0]["model"], &found[0]["version"]),
        (&"net".into(), &"v7".into()),
        "{found:?}"
    );
    let events = || place.stdout(&["events"]);
    let failed = until("the event", || {
        let events = events();
        events.lines().find(|line| line.contains("start_failed")).map(str::to_owned)
    });
    assert!(failed.contains("missing.safetensors"), "{failed}");
    assert!(place.stdout(&["logs"]).contains("was not loaded: missing: "));
    until("its end", || pond.status()["loading"].is_null().then_some(()));

    let before = pond.status();
    signal(process(&before, "daemon_pid"), "KILL");
    until("the next daemon", || {
        let now = place.run(&["status", "--json"]);
        let now: serde_json::Value = serde_json::from_str(&now.stdout).ok()?;
        (now["epoch"].as_u64() > before["epoch"].as_u64()).then_some(())
    });
    let log = place.stdout(&["logs"]);
    assert_eq!(loaded().len(), 1);
    assert_eq!(log.matches("loading model 'net@v7'").count(), 1, "{log}");
}

#[test]
fn logs_go_on_when_the_file_is_rotated() {
    let place = Place::new();
    let (pond, _) = Background::start(&place, &[]);
    let mut command = place.command(&["logs", "--follow", "-n", "1"]);
    let mut logs = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(logs.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    std::fs::rename(&pond.log, place.path().join("pond.log.1")).unwrap();
    std::fs::write(&pond.log, "the first line of the next file\n").unwrap();
    let found = lines.map(Result::unwrap).find(|line| line.starts_with("the first line"));
    assert!(found.is_some());
    logs.kill().unwrap();
    logs.wait().unwrap();
}
