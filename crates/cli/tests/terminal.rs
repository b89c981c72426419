//! What a person sees on a terminal of 80 columns.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use common::terminal::{COLUMNS, OnTerminal, lines};
use common::{Place, signal, until};

fn seen(place: &Place, words: &[&str]) -> String {
    let (status, text) = OnTerminal::start(place.command(words)).end();
    assert!(status.success(), "{words:?}\n{text}");
    text
}

fn is_narrow(words: &[&str], text: &str) {
    // A path that is longer than its room stays whole, so that it can be copied.
    let ends_with_path = |line: &&String| {
        line.split_whitespace().last().is_some_and(|word| word.contains('/') && word.len() > 40)
    };
    for line in lines(text).iter().filter(|line| !ends_with_path(line)) {
        assert!(line.chars().count() <= usize::from(COLUMNS), "{words:?} has:\n{line}\n{text}");
    }
}

#[test]
fn tables_and_remarks_fit_and_nothing_is_lost_for_scripts() {
    let place = Place::new();
    let _serving = place.serve();
    let long = format!("layers/{}attention/query/weight", "deep/".repeat(12));
    for name in ["x", long.as_str()] {
        place.stdout(&["tensor", "create", name, "--dtype", "bf16", "--shape", "1024,1024,3"]);
    }
    place.stdout(&["group", "set", "a-team-with-quite-a-long-name", "--limit", "2G"]);
    for words in [
        &["status"][..],
        &["tensor", "ls"],
        &["ps"],
        &["models"],
        &["events"],
        &["group", "ls"],
        &["elastic", "ls"],
        &["ps", "--group", "a-team-with-quite-a-long-name"],
        &["doctor"],
        &["help"],
        &["-h"],
    ] {
        is_narrow(words, &seen(&place, words));
    }
    let narrow = seen(&place, &["tensor", "ls"]);
    assert!(narrow.contains("NAME") && narrow.contains("...") && !narrow.contains(&long));
    assert!(seen(&place, &["tensor", "ls", "--no-trunc"]).contains(&long));
    let uuid = place.json(&["status", "--json"])["devices"][0]["device"].to_string();
    let uuid = uuid.trim_matches('"').to_owned();
    assert!(!seen(&place, &["status"]).contains(&uuid));
    assert!(seen(&place, &["status", "--no-trunc"]).contains(&uuid));
    // A pipe has every column.
    assert!(place.stdout(&["status"]).contains(&uuid));
    let header = place.stdout(&["tensor", "ls"]).lines().next().unwrap().to_owned();
    for column in ["ID", "SHARE", "USER", "LEASES", "CREATED"] {
        assert!(header.contains(column), "{header}");
    }
    let mut narrow = place.command(&["tensor", "ls"]);
    let narrow = narrow.env("COLUMNS", "60").output().unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
}

#[test]
fn people_see_local_time_and_json_has_none() {
    let place = Place::new();
    let _serving = place.serve();
    place.stdout(&["tensor", "create", "x", "--dtype", "u8", "--shape", "1", "--zero"]);
    let in_zone = |zone: &str, words: &[&str]| {
        let output = place.command(words).env("TZ", zone).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let hour = |zone: &str| in_zone(zone, &["events", "--kind", "tensor_created"])[..16].to_owned();
    let (utc, kathmandu) = (hour("UTC0"), hour("NPT-5:45"));
    assert!(utc.starts_with("20") && utc != kathmandu, "{utc} {kathmandu}");
    assert!(in_zone("NPT-5:45", &["inspect", "x"]).contains(" NPT ("));
    let json = |zone: &str| in_zone(zone, &["events", "--json"]);
    assert_eq!(json("UTC0"), json("NPT-5:45"));
}

#[test]
fn a_watch_draws_in_place_survives_the_daemon_and_leaves_the_screen_as_it_was() {
    let place = Place::new();
    let _serving = place.serve();
    let watch = OnTerminal::start(place.command(&["status", "--watch", "0.1"]));
    let frames = || watch.seen().matches("\u{1b}[H").count();
    until("three pictures", || (frames() >= 3).then_some(()));
    assert!(watch.seen().starts_with("\u{1b}[?1049h"), "{}", watch.seen());
    let status = place.json(&["status", "--json"]);
    signal(u32::try_from(status["daemon_pid"].as_u64().unwrap()).unwrap(), "KILL");
    until("the next daemon", || watch.seen().contains("epoch 2").then_some(()));
    is_narrow(&["status", "--watch"], &watch.seen());
    signal(watch.child.id(), "INT");
    let (status, text) = watch.end();
    assert!(!status.success() && text.trim_end().ends_with("\u{1b}[?1049l"), "{text:?}");
}

#[test]
fn a_watch_that_is_stopped_gives_the_screen_back_until_it_goes_on() {
    let place = Place::new();
    let _serving = place.serve();
    let watch = OnTerminal::start(place.command(&["status", "--watch", "0.1"]));
    let count = |what: &str| watch.seen().matches(what).count();
    let (enter, leave, home) = ("\u{1b}[?1049h", "\u{1b}[?1049l", "\u{1b}[H");
    until("a picture", || (count(home) >= 1).then_some(()));
    let pid = watch.child.id();
    let is_stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    };
    for times in 1..=2 {
        signal(pid, "TSTP");
        until("it is stopped", || is_stopped().then_some(()));
        until("the shell's screen", || (count(leave) == times).then_some(()));
        assert!(watch.seen().ends_with(leave), "nothing is drawn after it");
        let before = count(home);
        signal(pid, "CONT");
        until("its own screen", || (count(enter) == times + 1).then_some(()));
        until("the next picture", || (count(home) > before).then_some(()));
    }
    signal(pid, "INT");
    let (status, text) = watch.end();
    assert!(!status.success() && text.trim_end().ends_with(leave), "{text:?}");
}

#[test]
fn a_watch_in_json_is_one_object_per_line_and_ends_with_its_reader() {
    let place = Place::new();
    let _serving = place.serve();
    let all = [&["status"][..], &["ps"], &["models"], &["group", "ls"]];
    for words in all {
        let mut command = place.command(words);
        command.args(["--json", "--watch", "0.1"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for _ in 0..3 {
            let line = lines.next().unwrap().unwrap();
            assert!(
                serde_json::from_str::<serde_json::Value>(&line).unwrap().is_object(),
                "{line}"
            );
        }
        drop(lines);
        assert!(common::wait(&mut child).success(), "{words:?}");
    }
    // Without a pond there is nothing to watch.
    drop(_serving);
    assert_eq!(place.run(&["status", "--watch"]).code, Some(15));
}

#[test]
fn a_transfer_shows_its_way_in_one_line_and_ends_with_its_speed() {
    let place = Place::new();
    let _serving = place.serve();
    let file = place.path().join("x.bin");
    std::fs::File::create(&file).unwrap().set_len(256 << 20).unwrap();
    let (file, name) = (file.to_str().unwrap(), format!("a/{}", "long/".repeat(20)) + "name");
    let put = ["tensor", "put", &name, file, "--dtype", "u8"];
    let text = seen(&place, &put);
    let speed = "U8 [268435456] (256 MiB) in ";
    assert!(lines(&text).iter().any(|line| line.starts_with(speed)), "{text}");
    for line in lines(&text).iter().filter(|line| line.contains("B/s, ")) {
        assert!(line.chars().count() <= usize::from(COLUMNS), "{line}");
        assert!(!line.contains("TB/s"), "{line}");
    }
    let out = place.path().join("out.bin");
    let out = out.to_str().unwrap();
    for words in [
        &["tensor", "get", &name, "-o", out][..],
        &["tensor", "copy", &name, "copy"],
        &["tensor", "zero", "copy"],
    ] {
        let ran = place.run(words);
        assert!(ran.stderr.contains(speed) && ran.code == Some(0), "{words:?}: {}", ran.stderr);
    }
    let quiet = place.run(&["tensor", "get", &name, "-o", out, "--force", "-q"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    let json = place.run(&["tensor", "get", &name, "-o", out, "--force", "--json"]);
    assert_eq!((json.code, json.stderr.as_str()), (Some(0), ""));
}
