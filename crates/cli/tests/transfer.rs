//! Files into the pond and out of it, and what is said about those that cannot be.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use common::{Place, Ran, Serving, signal, until, wait};

/// What numpy 2.3 writes for `numpy.arange(6, dtype='<f4').reshape(2, 3)`.
fn numpy_file(order: &str) -> Vec<u8> {
    let dict = format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': (2, 3), }}");
    let mut bytes = b"\x93NUMPY\x01\x00v\x00".to_vec();
    bytes.extend(dict.bytes());
    bytes.resize(127, b' ');
    bytes.push(b'\n');
    bytes.extend((0..6u8).flat_map(|number| f32::from(number).to_le_bytes()));
    bytes
}

fn scene() -> (Place, Serving) {
    let place = Place::new();
    let serving = place.serve();
    (place, serving)
}

fn write(place: &Place, name: &str, bytes: &[u8]) -> String {
    let path = place.path().join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

fn piped(place: &Place, words: &[&str], input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let mut command = place.command(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), output.stdout, said)
}

/// The exit code and the first line of what was said.
fn refusal(ran: &Ran) -> (Option<i32>, &str) {
    let first = ran.stderr.lines().next().unwrap_or_default();
    (ran.code, first.strip_prefix("error: ").unwrap_or(first))
}

#[test]
fn a_numpy_file_comes_back_as_it_was() {
    let (place, _serving) = scene();
    let (file, bytes) = (write(&place, "a.npy", &numpy_file("False")), numpy_file("False"));
    let put = place.json(&["tensor", "put", "a", &file, "--json"]);
    assert_eq!((&put["dtype"], &put["bytes"]), (&"F32".into(), &24.into()));
    assert_eq!((&put["state"], &put["ephemeral"]), (&"ready".into(), &false.into()));
    let out = place.path().join("b.npy");
    let out = out.to_str().unwrap();
    assert_eq!(place.stdout(&["tensor", "get", "a", "-o", out]), format!("{out}\n"));
    assert_eq!(fs::read(out).unwrap(), bytes);

    let ran = place.run(&["tensor", "get", "a", "-o", out]);
    assert_eq!(ran.code, Some(19));
    assert!(ran.stderr.contains("already exists") && ran.stderr.contains("--force"));
    place.stdout(&["tensor", "get", "a", "-o", out, "--force", "--format", "raw"]);
    assert_eq!(fs::read(out).unwrap(), bytes[128..]);

    // Through pipes, header and all.
    let (code, said, _) = piped(&place, &["tensor", "put", "p", "-", "-q"], &bytes);
    assert_eq!((code, said.as_slice()), (Some(0), &b"p\n"[..]));
    let (code, got, _) = piped(&place, &["tensor", "get", "p", "-o", "-"], b"");
    assert_eq!((code, got), (Some(0), bytes));
    // The same bytes by another name and shape.
    place.stdout(&["tensor", "put", "v", &file, "--dtype", "u32", "--shape", "6"]);
    let seen = place.json(&["inspect", "v", "--json"]);
    assert_eq!((&seen["dtype"], &seen["shape"]), (&"U32".into(), &serde_json::json!([6])));
    let ran = place.run(&["tensor", "put", "w", &file, "--dtype", "u8"]);
    assert_eq!(ran.code, Some(64), "{}", ran.stderr);
}

#[test]
fn bytes_that_say_nothing_need_a_dtype() {
    let (place, _serving) = scene();
    let file = write(&place, "x.bin", &[7; 1000]);
    let ran = place.run(&["tensor", "put", "x", &file]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("hint: say what it holds: `--dtype f32 --shape 512,512`"),
        "{}",
        ran.stderr
    );
    place.stdout(&["tensor", "put", "x", &file, "--dtype", "bf16"]);
    let seen = place.json(&["inspect", "x", "--json"]);
    assert_eq!(seen["shape"], serde_json::json!([500]));
    let out = place.path().join("y.bin");
    place.stdout(&["tensor", "get", "x", "-o", out.to_str().unwrap()]);
    assert_eq!(fs::read(&out).unwrap(), [7; 1000]);

    let one = write(&place, "one", &[9]);
    place.stdout(&["tensor", "put", "one", &one, "--dtype", "u8"]);
    let (_, got, _) = piped(&place, &["tensor", "get", "one", "-o", "-", "--format", "raw"], b"");
    assert_eq!(got, [9]);

    // Of a pipe nobody knows how long it is.
    let (code, _, said) = piped(&place, &["tensor", "put", "p", "-", "--dtype", "u8"], &[1; 10]);
    assert_eq!(code, Some(2), "{said}");
    let words = ["tensor", "put", "p", "-", "--dtype", "u8", "--shape", "10"];
    let (code, _, said) = piped(&place, &words, &[1; 11]);
    assert_eq!(code, Some(19));
    assert!(said.contains("standard input has more than the 10 bytes"), "{said}");
    let (code, _, said) = piped(&place, &words, &[1; 9]);
    assert!(code == Some(19) && said.contains("ended after 9 bytes"), "{said}");
    assert_eq!(piped(&place, &words, &[1; 10]).0, Some(0));
    assert_eq!(place.stdout(&["tensor", "ls", "-q"]), "one\np\nx\n", "nothing half is left");
}

#[test]
fn what_cannot_be_put_says_why() {
    let (place, _serving) = scene();
    let put = |file: &str, more: &[&str]| {
        let words: Vec<&str> = ["tensor", "put", "x", file].iter().chain(more).copied().collect();
        place.run(&words)
    };
    let dtype = ["--dtype", "u8"];
    let folder = place.path().to_str().unwrap();
    assert_eq!(
        refusal(&put(folder, &dtype)),
        (Some(19), &*format!("'{folder}' is a folder, not a file"))
    );
    let missing = put("/nowhere/x", &dtype);
    assert_eq!(refusal(&missing).0, Some(19));
    assert!(missing.stderr.contains("opening '/nowhere/x': No such file"), "{}", missing.stderr);
    let empty = write(&place, "empty", b"");
    assert_eq!(refusal(&put(&empty, &dtype)), (Some(19), &*format!("'{empty}' is empty")));
    let fortran = put(&write(&place, "f.npy", &numpy_file("True")), &[]);
    assert_eq!(fortran.code, Some(19));
    assert!(fortran.stderr.contains("numpy.ascontiguousarray"), "{}", fortran.stderr);
    let cut = put(&write(&place, "c.npy", &numpy_file("False")[..100]), &[]);
    assert!(cut.code == Some(19) && cut.stderr.contains("cut off"), "{}", cut.stderr);
    let short = put(&write(&place, "s.npy", &numpy_file("False")[..150]), &[]);
    assert!(
        short.stderr.contains("has only 22 of the 24 bytes that tensor 'x' takes"),
        "{}",
        short.stderr
    );
    let long = put(&write(&place, "l.bin", &[0; 12]), &["--dtype", "u8", "--shape", "7"]);
    assert!(long.stderr.contains("has 5 bytes more than the 7 that"), "{}", long.stderr);
    let odd = put(&write(&place, "o.bin", &[0; 3]), &["--dtype", "f32"]);
    assert!(
        odd.code == Some(19) && odd.stderr.contains("not a whole number of F32 elements"),
        "{}",
        odd.stderr
    );
    let lies = put(&write(&place, "lies.npy", b"not numpy"), &dtype);
    assert!(lies.code == Some(19) && lies.stderr.contains("--format raw"), "{}", lies.stderr);
    let secret = write(&place, "secret", &[1]);
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&secret).is_ok() {
        common::skip("this user may read every file");
    } else {
        let ran = put(&secret, &dtype);
        assert!(ran.code == Some(19) && ran.stderr.contains("Permission denied"));
    }
    assert_eq!(place.stdout(&["tensor", "ls", "-q"]), "");
    let status = place.json(&["status", "--json"]);
    assert_eq!(status["devices"][0]["tensors"], 0);
}

#[test]
fn what_cannot_be_saved_says_why() {
    let (place, _serving) = scene();
    let file = write(&place, "x.bin", &[7; 1000]);
    place.stdout(&["tensor", "put", "x", &file, "--dtype", "u8"]);
    let full = place.run(&["tensor", "get", "x", "-o", "/dev/full"]);
    assert_eq!(full.code, Some(19));
    assert!(full.stderr.contains("No space left on device"), "{}", full.stderr);
    let nowhere = place.run(&["tensor", "get", "x", "-o", "/nowhere/x"]);
    assert!(nowhere.code == Some(19) && nowhere.stderr.contains("No such file"));
    assert_eq!(place.run(&["tensor", "get", "nope", "-o", "n"]).code, Some(3));
    place.stdout(&["tensor", "create", "w", "--dtype", "u8", "--shape", "1"]);
    let ran = place.run(&["tensor", "get", "w", "-o", "n"]);
    assert!(ran.code == Some(6) && ran.stderr.contains("hint: `--wait 5s`"), "{}", ran.stderr);
    assert_eq!(place.run(&["tensor", "get", "w", "-o", "n", "--wait", "50ms"]).code, Some(17));
    place.stdout(&["tensor", "create", "f4", "--dtype", "f4", "--shape", "8", "--zero"]);
    let packed = place.run(&["tensor", "get", "f4", "-o", "f4.npy"]);
    assert!(packed.code == Some(64) && packed.stderr.contains("--format raw"), "{}", packed.stderr);
    disk_full(&place);
    // Whoever reads the pipe has enough.
    let mut command = place.command(&["tensor", "get", "x", "-o", "-"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

fn disk_full(place: &Place) {
    let small = place.path().join("small");
    fs::create_dir(&small).unwrap();
    let mount = |words: &[&str]| {
        let ran = std::process::Command::new(words[0]).args(&words[1..]).arg(&small).output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs"]) {
        common::skip("no small file system can be mounted here");
        return;
    }
    place.stdout(&["tensor", "create", "big", "--dtype", "u8", "--shape", "1048576", "--zero"]);
    let out = small.join("x.npy");
    let ran = place.run(&["tensor", "get", "big", "-o", out.to_str().unwrap()]);
    let left = fs::read_dir(&small).unwrap().count();
    assert!(mount(&["umount"]));
    assert!(ran.code == Some(19) && ran.stderr.contains("No space left"), "{}", ran.stderr);
    assert_eq!(left, 0);
}

#[test]
fn standard_output_may_be_a_file_that_goes_on() {
    let (place, _serving) = scene();
    let file = write(&place, "x.bin", b"tensor");
    place.stdout(&["tensor", "put", "x", &file, "--dtype", "u8"]);
    let path = place.path().join("all");
    let mut all = fs::File::create(&path).unwrap();
    all.write_all(b"before ").unwrap();
    let words = ["tensor", "get", "x", "-o", "-", "--format", "raw"];
    let status = place.command(&words).stdout(all.try_clone().unwrap()).status().unwrap();
    assert!(status.success());
    all.write_all(b" after").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"before tensor after");
    // By its other names too, into a file and into a pipe: nothing but the bytes.
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let words = ["tensor", "get", "x", "-o", name, "--format", "raw"];
        let out = fs::File::create(place.path().join("out")).unwrap();
        assert!(place.command(&words).stdout(out).status().unwrap().success(), "{name}");
        assert_eq!(fs::read(place.path().join("out")).unwrap(), b"tensor", "{name}");
        assert_eq!(piped(&place, &words, b"").1, b"tensor", "{name}");
    }
    // What cannot be written is named.
    let words = ["tensor", "get", "x", "-o", "-", "--format", "raw"];
    let out = fs::File::open(&file).unwrap();
    let ran = place.command(&words).stdout(out).stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(19) && said.contains("standard output: writing"), "{said}");
    // And standard input one that has begun.
    let mut input = fs::File::open(&path).unwrap();
    input.read_exact(&mut [0; 7]).unwrap();
    let words = ["tensor", "put", "y", "-", "--dtype", "u8"];
    assert!(place.command(&words).stdin(input).stdout(Stdio::null()).status().unwrap().success());
    let (_, got, _) = piped(&place, &["tensor", "get", "y", "-o", "-", "--format", "raw"], b"");
    assert_eq!(got, b"tensor after");
}

#[test]
fn a_copy_is_complete_and_zeroes_are_published() {
    let (place, _serving) = scene();
    let file = write(&place, "x.bin", &[7; 1000]);
    place.stdout(&["tensor", "put", "x", &file, "--dtype", "u8"]);
    place.stdout(&["tensor", "copy", "x", "y", "--share", "group"]);
    let ran = place.run(&["tensor", "copy", "x", "y"]);
    assert!(ran.code == Some(4) && ran.stderr.contains("hint: `--replace`"), "{}", ran.stderr);
    let id = place.json(&["inspect", "x", "--json"])["id"].as_str().unwrap().to_owned();
    place.stdout(&["tensor", "copy", &id[..8], "y", "--replace"]);
    let bytes =
        |name: &str| piped(&place, &["tensor", "get", name, "-o", "-", "--format", "raw"], b"").1;
    assert_eq!(bytes("y"), [7; 1000]);
    place.stdout(&["tensor", "create", "w", "--dtype", "u8", "--shape", "5"]);
    let zeroed = place.json(&["tensor", "zero", "w", "--json"]);
    assert_eq!((&zeroed["state"], &zeroed["generation"]), (&"ready".into(), &1.into()));
    assert_eq!(bytes("w"), [0; 5]);
    assert_eq!(place.run(&["inspect", "0000"]).code, Some(3));
}

#[test]
fn lives_are_shown_and_collected() {
    let (place, _serving) = scene();
    let file = write(&place, "x.bin", &[7; 1000]);
    let life = ["--ttl", "1h30m", "--linger", "10m", "--max-accesses", "3"];
    let words = ["tensor", "put", "x", &file, "--dtype", "u8"].into_iter().chain(life);
    place.stdout(&words.collect::<Vec<_>>());
    let seen = place.json(&["inspect", "x", "--json"])["life"].clone();
    let left = |name: &str| seen[name].as_u64().unwrap();
    assert!((5_000_000..=5_400_000).contains(&left("ttl_left_ms")), "{seen}");
    assert!((300_000..=600_000).contains(&left("linger_left_ms")), "{seen}");
    assert_eq!(left("accesses_left"), 3);
    let text = place.stdout(&["inspect", "x"]);
    assert!(text.contains("until deleted, or for 1h"), "{text}");
    assert!(text.contains(" without a lease, or for 3 more gets\n"), "{text}");

    let all = ["gc", "--unleased-for", "0s", "--json"];
    let dry = place.json(&["gc", "--unleased-for", "0s", "--dry-run", "--json"]);
    assert_eq!((&dry["dry_run"], &dry["tensors"][0]["name"]), (&true.into(), &"x".into()));
    assert_eq!(place.stdout(&["tensor", "ls", "-q"]), "x\n");
    assert_eq!(place.json(&all)["tensor_bytes"], 1000);
    assert_eq!(place.stdout(&["tensor", "ls", "-q"]), "");
    assert!(place.run(&["gc"]).stderr.contains("0 tensors and 0 empty slabs (0 B) given back"));
    let status = place.json(&["status", "--json"]);
    assert_eq!(status["movers"].as_array().unwrap().len(), 1);
    assert!(place.stdout(&["status"]).contains(" on GPU 0: 0 moves under way, 1000 B moved"));
    assert!(place.stdout(&["ps"]).contains(" mover "));
}

#[test]
fn events_are_kept_and_followed_across_daemons() {
    let (place, _serving) = scene();
    place.stdout(&["tensor", "create", "acts/x", "--dtype", "u8", "--shape", "1"]);
    let kept = place.stdout(&["events", "--json"]);
    let lines: Vec<serde_json::Value> =
        kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let made = lines.iter().find(|event| event["kind"] == "tensor_created").unwrap();
    assert_eq!(made["name"], "acts/x");
    assert!(
        place.stdout(&["events"]).lines().any(|line| line.contains("tensor_created    acts/x"))
    );
    let from = made["sequence"].to_string();
    let later = place.stdout(&["events", "--json", "--from", &from]);
    assert!(later.lines().next().unwrap().contains("tensor_created"), "{later}");

    // More than the pond sends at once.
    let pond = millpond::Pond::builder().runtime_dir(place.pond()).connect().unwrap();
    for _ in 0..400 {
        let spec = millpond::TensorSpec::unnamed(millpond::Dtype::U8, [1]);
        pond.delete(pond.reserve(spec).unwrap().tensor).unwrap();
    }
    let many = place.stdout(&["events", "--json", "--from", &from]);
    let made = many.lines().filter(|line| line.contains("tensor_created")).count();
    assert_eq!(made, 401);
    drop(pond);

    let mut command = place.command(&["events", "--follow", "--json", "--from", &from]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (send, lines) = std::sync::mpsc::channel();
    let output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        for line in std::io::BufRead::lines(std::io::BufReader::new(output)) {
            let Ok(line) = line else { return };
            // The test that reads this far may be over.
            let _ = send.send(serde_json::from_str::<serde_json::Value>(&line).unwrap());
        }
    });
    let next = |kind: &str| loop {
        let event = lines.recv_timeout(common::PATIENCE).unwrap();
        if event["kind"] == kind {
            return event;
        }
    };
    next("tensor_created");
    let daemon = place.json(&["status", "--json"])["daemon_pid"].as_u64().unwrap();
    signal(u32::try_from(daemon).unwrap(), "KILL");
    until("another daemon", || {
        let ran = place.run(&["status", "--json"]);
        let status: serde_json::Value = serde_json::from_str(&ran.stdout).ok()?;
        (status["daemon_pid"] != daemon && status["driver_ready"] == true).then_some(())
    });
    place.stdout(&["tensor", "create", "acts/y", "--dtype", "u8", "--shape", "1"]);
    assert_eq!(next("gap")["name"], serde_json::Value::Null);
    assert_eq!(next("tensor_created")["name"], "acts/y");
    // Not INT: whoever runs tests in the background of a shell has them ignore it.
    signal(child.id(), "TERM");
    assert!(!wait(&mut child).success());
    reader.join().unwrap();

    // Nobody reads: it ends by itself, and well.
    let mut command = place.command(&["events", "--follow"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(wait(&mut child).success());
}
