//! Listing, removing and renaming models and tensors, on a real pond with the software driver.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use common::{Place, Ran};

fn create(place: &Place, name: &str) {
    place.stdout(&["tensor", "create", name, "--dtype", "u8", "--shape", "1024", "--zero"]);
}

/// A safetensors file with tensors of so many bytes each.
fn checkpoint(place: &Place, name: &str, sizes: &[usize]) -> PathBuf {
    let mut end = 0;
    let mut entries = Vec::new();
    for (number, bytes) in sizes.iter().enumerate() {
        let (from, to) = (end, end + bytes);
        let offsets = format!(r#""shape":[{bytes}],"data_offsets":[{from},{to}]"#);
        entries.push(format!(r#""w{number}":{{"dtype":"U8",{offsets}}}"#));
        end = to;
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes());
    file.resize(file.len() + end, 7);
    let path = place.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, file).unwrap();
    path
}

fn load(place: &Place, words: &[&str]) -> Ran {
    let ran = place.run(&[&["load"], words].concat());
    assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.stderr);
    ran
}

fn listed(place: &Place) -> Vec<String> {
    place.stdout(&["ls", "-q"]).lines().map(str::to_owned).collect()
}

/// Runs a command whose standard streams are a terminal, with a person who types this.
fn at_a_terminal(place: &Place, words: &[&str], typed: &str) -> (Option<i32>, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap().into_string().unwrap();
    let terminal = || File::options().read(true).write(true).open(&name).unwrap();
    let mut command = place.command(words);
    command.stdin(terminal()).stdout(Stdio::piped()).stderr(terminal());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut person = File::from(person);
    person.write_all(typed.as_bytes()).unwrap();
    let status = common::wait(&mut child);
    // A read gives what one write made; the end is an error, because nobody has the terminal open any more.
    let (mut said, mut some) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = person.read(&mut some) {
        said.extend_from_slice(&some[..read]);
    }
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    (status.code(), String::from_utf8_lossy(&said).into_owned() + &stdout)
}

#[test]
fn everything_is_listed_renamed_and_removed_by_name_prefix_and_pattern() {
    let place = Place::new();
    let _serving = place.serve();
    for name in ["acts/x", "acts/y", "acts/z", "q1", "q2", "net"] {
        create(&place, name);
    }
    let big = checkpoint(&place, "big.safetensors", &[4 << 20]);
    let (big, small) = (big.to_str().unwrap(), checkpoint(&place, "small.safetensors", &[4096]));
    let small = small.to_str().unwrap();
    load(&place, &["llama", small]);
    load(&place, &["llama", big, "--activate"]);
    load(&place, &["net@first", small]);

    let all =
        ["acts/x", "acts/y", "acts/z", "llama@v1", "llama@v2", "net@first", "net", "q1", "q2"];
    assert_eq!(listed(&place), all);
    let table = place.stdout(&["ls"]);
    assert!(table.starts_with("KIND     NAME "), "{table}");
    assert!(table.lines().all(|line| line.len() <= 80), "{table}");
    let last = table.lines().last().unwrap();
    assert!(last.starts_with("6 tensors and 3 versions of 2 models, 4 MiB"), "{table}");
    let json = place.json(&["ls", "llama", "--json"]);
    let state =
        |at: usize| (json["objects"][at]["kind"].clone(), json["objects"][at]["state"].clone());
    assert_eq!(state(0), ("model".into(), "ready".into()));
    assert_eq!(state(1), ("model".into(), "current".into()));
    assert_eq!(place.stdout(&["ls", "-q", "q*"]), "q1\nq2\n");
    assert_eq!(place.stdout(&["ls", "-q", "acts/"]), "acts/x\nacts/y\nacts/z\n");
    assert_eq!(place.stdout(&["tensor", "ls", "-q", "q?"]), "q1\nq2\n");
    assert!(place.stdout(&["ls", "-q", "--sort", "size"]).starts_with("llama@v2\n"));
    assert!(place.stdout(&["ls", "-q", "--sort", "age"]).starts_with("net@first\n"));

    // A name that is two things is no name.
    for words in [&["rm", "net"][..], &["mv", "net", "other"]] {
        let ran = place.run(words);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("'net' is a model and a tensor"), "{}", ran.stderr);
        assert!(ran.stderr.contains("`model:net` or `tensor:net`"), "{}", ran.stderr);
    }
    assert_eq!(place.stdout(&["mv", "tensor:net", "weights"]), "weights\n");
    let ran = place.run(&["mv", "weights", "q1"]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    let renamed = place.json(&["mv", "net", "nets", "--json"]);
    assert_eq!(renamed, serde_json::json!({"kind": "model", "name": "nets", "was": "net"}));
    assert_eq!(place.stdout(&["inspect", "nets", "-q"]).lines().count(), 1);
    assert_eq!(place.run(&["mv", "nets@first", "x"]).code, Some(2));

    // What means several objects wants a yes.
    let ran = place.run(&["rm", "acts/"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("'acts/' means 3 tensors, 3 KiB"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--yes"), "{}", ran.stderr);
    let ran = place.run(&["rm", "acts/*", "--dry-run"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "acts/x\nacts/y\nacts/z\n"));
    assert_eq!(listed(&place).len(), 9, "nothing has gone");
    let (code, said) = at_a_terminal(&place, &["rm", "acts/", "--color", "never"], "n\n");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("Remove 3 tensors, 3 KiB? [y/N]"), "{said}");
    assert_eq!(listed(&place).len(), 9, "nothing has gone");
    let (code, said) = at_a_terminal(&place, &["rm", "acts/", "--color", "never"], "y\n");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(listed(&place), ["llama@v1", "llama@v2", "nets@first", "q1", "q2", "weights"]);

    let gone = place.json(&["rm", "llama", "--yes", "--json"]);
    assert_eq!(gone["objects"][1]["name"], "llama@v2", "the current one last: {gone}");
    assert_eq!((&gone["held_bytes"], &gone["dry_run"]), (&0.into(), &false.into()));
    assert_eq!(place.stdout(&["delete", "weights", "nets"]), "weights\nnets@first\n");
    assert_eq!(place.run(&["tensor", "rm", "q*"]).code, Some(2));
    assert_eq!(place.stdout(&["tensor", "rm", "q*", "-y"]), "q1\nq2\n");
    assert_eq!(listed(&place), [""; 0]);
    let ran = place.run(&["rm", "nothing*", "q1"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("nothing of yours matches 'nothing*'"), "{}", ran.stderr);
}

#[test]
fn create_on_an_existing_name_says_what_it_did_not_do() {
    let place = Place::new();
    let _serving = place.serve();
    let words = |more: &[&'static str]| {
        [&["tensor", "create", "q", "--dtype", "f32", "--shape", "(2,3)"], more].concat()
    };
    let made = place.json(&words(&["--json", "--device", "cuda:0"]));
    assert_eq!(made["existed"], false);
    let ran = place.run(&words(&["--ttl", "1h", "--max-accesses", "3"]));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "q\n"));
    let note = "note: tensor 'q' already exists; --ttl, --max-accesses had no effect\n";
    assert_eq!(ran.stderr, note);
    let ran = place.run(&words(&["--zero"]));
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(ran.stderr.contains("still being written"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`millpond tensor zero q`"), "{}", ran.stderr);
    place.stdout(&["tensor", "zero", "q"]);
    let ran = place.run(&words(&["--zero"]));
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.stderr, "note: tensor 'q' already exists; --zero had no effect\n");
    let again = place.json(&words(&["--json"]));
    assert_eq!((&again["existed"], &again["id"]), (&true.into(), &made["id"]));
    let ran = place.run(&words(&["--ephemeral"]));
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("would end the tensor with this command"), "{}", ran.stderr);

    // A GPU is known by what tables show of it.
    let uuid = made["device"].as_str().unwrap();
    let short = ["tensor", "create", "s", "--dtype", "u8", "--shape", "1", "--device", &uuid[..12]];
    assert_eq!(place.stdout(&short), "s\n");

    // What has ended says why.
    let short = ["tensor", "create", "t", "--dtype", "u8", "--shape", "1", "--ttl", "1ms"];
    place.stdout(&short);
    let ran = common::until("its end", || {
        let ran = place.run(&["tensor", "inspect", "t"]);
        (ran.code == Some(3)).then_some(ran)
    });
    assert!(ran.stderr.contains("its time to live of 1ms expired"), "{}", ran.stderr);
    // A deleted tensor that somebody holds has the name that it had: nobody holds one here.
    let ran = place.run(&["tensor", "copy", "s", "copy"]);
    assert_eq!(ran.code, Some(6));
    assert!(ran.stderr.contains("hint: copy it when it is published"), "{}", ran.stderr);
}

#[test]
fn checkpoints_are_found_where_people_have_them() {
    let place = Place::new();
    let _serving = place.serve();
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let repository = ".cache/huggingface/hub/models--org--tiny";
    checkpoint(&place, &format!("{repository}/snapshots/{commit}/model.safetensors"), &[4096]);
    let refs = place.path().join(repository).join("refs");
    std::fs::create_dir_all(&refs).unwrap();
    std::fs::write(refs.join("main"), commit).unwrap();
    assert_eq!(load(&place, &["tiny", "hf:org/tiny"]).stdout, "tiny@v1\n");
    let source = place.json(&["inspect", "tiny", "--json"])["source"].clone();
    assert_eq!(source, format!("hf:org/tiny@{commit}"));
    let ran = place.run(&["load", "other", "hf:org/other@v2"]);
    assert_eq!(ran.code, Some(19));
    assert!(ran.stderr.contains("`hf download org/other --revision v2`"), "{}", ran.stderr);

    let pickle = place.path().join("pytorch_model.bin");
    std::fs::write(&pickle, b"PK\x03\x04............................................").unwrap();
    let ran = place.run(&["load", "m", pickle.to_str().unwrap()]);
    assert_eq!(ran.code, Some(19));
    assert!(ran.stderr.contains("this is a PyTorch pickle, not safetensors"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: convert it: `python -c"), "{}", ran.stderr);

    // Slabs are as large as those of the version that it may share with.
    let file = checkpoint(&place, "m.safetensors", &[1 << 20; 5]);
    let file = file.to_str().unwrap();
    load(&place, &["m@one", file, "--slab-bytes", "2MiB"]);
    let ran = load(&place, &["m", file, "--version", "two"]);
    assert!(ran.stderr.contains("5 MiB of it shared"), "{}", ran.stderr);
    let ran = load(&place, &["m@other", file, "--slab-bytes", "4MiB"]);
    let said = "no memory is shared with one: its slabs have another size\n";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let ran = place.run(&["load", "m@three", file, "--version", "four"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);

    let missing = place.path().join("missing/x.safetensors");
    let ran = place.run(&["save", "m", missing.to_str().unwrap()]);
    assert_eq!(ran.code, Some(19));
    assert!(
        ran.stderr.contains("/missing' not found") && ran.stderr.contains("error: folder '"),
        "{}",
        ran.stderr
    );
    let ran = place.run(&["load", "m", "no-such-file"]);
    assert!(ran.stderr.starts_with("error: 'no-such-file' not found\n"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("os error"), "{}", ran.stderr);
    let ran = place.run(&["inspect", "tinny"]);
    assert!(ran.stderr.contains("did you mean the model 'tiny'?"), "{}", ran.stderr);
}

#[test]
fn near_misses_lead_to_the_right_word() {
    let place = Place::new();
    for (words, said) in [
        (&["start"][..], "`millpond serve --detach`"),
        (&["model", "ls"], "`millpond models`"),
        (&["tensor", "mv", "a", "b"], "`millpond mv OLD NEW`"),
    ] {
        let ran = place.run(words);
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
    }
    for words in [&["unload", "--help"][..], &["delete", "--help"], &["tensor", "delete", "--help"]]
    {
        assert!(place.stdout(words).contains("--dry-run"), "{words:?}");
    }
}

/// What the page about commands tells people to type about objects, typed as it stands there.
#[test]
fn the_examples_of_the_page_work_as_they_are_printed() {
    let place = Place::new();
    let _serving = place.serve();
    let page = include_str!("../../../docs/cli.md");
    let lines = ["ls", "rm", "mv"].into_iter().flat_map(|heading| {
        let part = page.split("\n## ").find(|part| part.starts_with(&format!("{heading}\n")));
        let block = part.unwrap().split("\n```sh\n").nth(1).unwrap();
        block.split("\n```").next().unwrap().lines()
    });
    let lines: Vec<&str> = lines.collect();
    assert!(lines.len() >= 14, "{lines:?}");
    let small = checkpoint(&place, "small.safetensors", &[4096]);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_millpond")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for line in lines {
        for name in ["acts/x", "acts/y", "net"] {
            create(&place, name);
        }
        for model in ["llama", "net"] {
            load(&place, &[model, small.to_str().unwrap()]);
        }
        let mut shell = place.shell("bash");
        shell.args(["-e", "-c", line]).env("PATH", &path);
        let ran = Ran::from(shell.output().unwrap());
        assert_eq!(ran.code, Some(0), "{line}\n{}{}", ran.stdout, ran.stderr);
        place.stdout(&["rm", "*", "--yes"]);
    }
}
