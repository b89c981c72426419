//! Checkpoints into the pond and out of it by the command line.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::fs;
use std::path::Path;

use millpond_tests::checkpoint::{self, Tensors};
use millpond_tests::{Accounts, Options, TestPond, eventually, eventually_equal, skip};

const MIB: u64 = 1 << 20;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A folder with shards of these tensors.
fn folder(pond: &TestPond, name: &str, tensors: &Tensors) -> String {
    let path = pond.path(name);
    checkpoint::write(&path, tensors, 30 * MIB);
    text(&path).to_owned()
}

fn bytes(tensors: &Tensors) -> u64 {
    tensors.values().map(|(bytes, _)| bytes).sum()
}

#[test]
fn a_checkpoint_is_loaded_seen_verified_and_saved() {
    let pond = TestPond::start(Options::giving_back());
    let before = pond.accounts();
    let tensors = checkpoint::tensors(100, 1);
    let input = folder(&pond, "in", &tensors);
    let loaded = pond.cli(&["load", "llama", &input, "--slab-bytes", "32M", "--json"]).json();
    assert_eq!(loaded["version"], "v1");
    assert_eq!((&loaded["current"], &loaded["state"]), (&true.into(), &"ready".into()));
    assert_eq!(
        (&loaded["bytes"], &loaded["read_bytes"]),
        (&bytes(&tensors).into(), &bytes(&tensors).into())
    );
    let listed = pond.cli(&["models", "--json"]).json();
    assert_eq!(listed["models"][0]["current"], "v1");
    assert_eq!(listed["models"][0]["versions"][0]["content_hash"], loaded["content_hash"]);
    assert!(pond.cli(&["models"]).ok().contains("v1 *"));
    let shown = pond.cli(&["inspect", "llama@v1", "--tensors", "--json"]).json();
    assert_eq!(shown["tensors"].as_array().unwrap().len(), tensors.len());
    assert_eq!(
        (&shown["metadata"]["format"], &shown["source"]),
        (&"pt".into(), &input.as_str().into())
    );

    let mut worker = pond.worker();
    assert_eq!(checkpoint::attach(&mut worker, "llama"), checkpoint::seen("v1", &tensors));
    let readers = pond.cli(&["inspect", "llama", "--json"]).json();
    assert_eq!(readers["leases"][0]["pid"], worker.pid());
    assert!(pond.cli(&["inspect", "llama"]).ok().contains("readers      1"));
    assert!(pond.cli(&["ps"]).ok().contains("llama"));
    let verified = pond.cli(&["verify", "llama", "--json"]).json();
    assert_eq!(
        (&verified["ok"], verified["differing"].as_array().unwrap().len()),
        (&true.into(), 0)
    );

    let output = pond.path("out");
    let saved =
        pond.cli(&["save", "llama", text(&output), "--shard-bytes", "30M", "--json"]).json();
    let files = saved["files"].as_array().unwrap();
    assert_eq!(files.len(), fs::read_dir(&input).unwrap().count());
    for file in files {
        let file = Path::new(file.as_str().unwrap());
        let original = Path::new(&input).join(file.file_name().unwrap());
        assert!(fs::read(file).unwrap() == fs::read(original).unwrap(), "{}", file.display());
    }
    let again = pond.cli(&["save", "llama", text(&output), "--json"]).error();
    assert_eq!(again["kind"], "file");

    // However it is cut and named, it is the same.
    let one = pond.path("one.safetensors");
    let _ = pond.cli(&["save", "llama@v1", text(&one)]).ok();
    let two = pond.cli(&["load", "llama", text(&one), "--like", "none", "--json"]).json();
    assert_eq!((&two["content_hash"], &two["version"]), (&loaded["content_hash"], &"v2".into()));
    assert_eq!(two["current"], false);

    let _ = pond.cli(&["retire", "llama@v2", "--wait"]).ok();
    drop(worker);
    eventually("no reader", || pond.cli(&["retire", "llama", "v1"]).code.filter(|code| *code == 0));
    eventually_equal("nothing left", &before, || pond.accounts());
}

#[test]
fn equal_slabs_are_shared_until_the_last_version_goes() {
    let pond = TestPond::start(Options::giving_back());
    let first = checkpoint::tensors(60, 1);
    let mut second = first.clone();
    second.get_mut("layer.059.weight").unwrap().1 = 777;
    let words =
        |path: &str| ["load", "llama", path, "--slab-bytes", "16M", "--json"].map(str::to_owned);
    let load = |path: &str, more: &[&str]| {
        let words = words(path);
        let all: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        pond.cli(&all).json()
    };
    let (one, two) = (folder(&pond, "1", &first), folder(&pond, "2", &second));
    let v1 = load(&one, &[]);
    let only_one = pond.accounts();
    let v2 = load(&two, &["--activate"]);
    assert_eq!(v1["layout_hash"], v2["layout_hash"]);
    let added = pond.accounts().slab_bytes - only_one.slab_bytes;
    assert!(added <= 16 * MIB, "{added} bytes for one slab that differs");
    assert_eq!(v2["own_bytes"], added);
    assert!(v2["shared_tensor_bytes"].as_u64().unwrap() > 40 * MIB);
    let mut worker = pond.worker();
    assert_eq!(checkpoint::attach(&mut worker, "llama"), checkpoint::seen("v2", &second));
    assert_eq!(checkpoint::attach(&mut worker, "llama@v1"), checkpoint::seen("v1", &first));
    let rolled = pond.cli(&["rollback", "llama", "--json"]).json();
    assert_eq!((&rolled["version"], &rolled["replaced"]), (&"v1".into(), &"v2".into()));
    let _ = pond.cli(&["swap", "llama", "v2"]).ok();
    worker.ask("model detach llama@v1");
    worker.ask("flush");
    let _ = pond.cli(&["retire", "llama", "v1", "--wait", "30"]).ok();
    assert_eq!(worker.ask("model weights llama"), checkpoint::seen("v2", &second));
    let _ = pond.cli(&["verify", "llama@v2"]).ok();

    // With somebody else's eyes it must not be the same memory.
    let all = load(&two, &["--audience", "everybody"]);
    assert_eq!((&all["share"], &all["shared_bytes"]), (&"everybody".into(), &0.into()));
}

#[test]
fn a_plan_takes_the_part_of_a_rank() {
    let pond = TestPond::start(Options::new());
    let tensors: Tensors = [("a", 4096), ("b", 1 << 20), ("c", 7)]
        .map(|(name, bytes)| (name.to_owned(), (bytes, bytes)))
        .into();
    let input = folder(&pond, "in", &tensors);
    let plan = pond.path("plan.json");
    let rules = r#"{"rank": 1, "world": 2, "rules": [
        {"match": "b", "split": "column"}, {"match": "a", "slice": [[1000, 1010]]}]}"#;
    fs::write(&plan, rules).unwrap();
    let _ = pond.cli(&["load", "m", &input, "--plan", text(&plan)]).ok();
    let shown = pond.cli(&["inspect", "m", "--tensors", "--json"]).json();
    let sizes: Vec<u64> = shown["tensors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["bytes"].as_u64().unwrap())
        .collect();
    assert_eq!(sizes, [10, 1 << 19, 7]);
    let out = pond.path("out.safetensors");
    let _ = pond.cli(&["save", "m", text(&out)]).ok();
    let file = fs::read(&out).unwrap();
    let b = millpond_tests::content::bytes(1 << 20, 1 << 20);
    let a = millpond_tests::content::bytes(4096, 4096);
    let c = millpond_tests::content::bytes(7, 7);
    let expected = [&a[1000..1010], &b[1 << 19..], &c].concat();
    assert!(file.ends_with(&expected));
    fs::write(&plan, r#"{"rank": 2, "world": 2}"#).unwrap();
    let refused = pond.cli(&["load", "m", &input, "--plan", text(&plan), "--json"]).error();
    assert_eq!(refused["kind"], "invalid");
    assert!(refused["message"].as_str().unwrap().contains("rank 2 of 2"), "{refused}");
}

/// A file with this header and so many bytes after it.
fn raw(pond: &TestPond, name: &str, header: &str, length: Option<u64>, data: usize) -> String {
    let mut file = length.unwrap_or(header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.resize(file.len() + data, 7);
    let path = pond.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, file).unwrap();
    text(&path).to_owned()
}

#[test]
fn bad_files_are_refused_with_their_reason_and_take_nothing() {
    let pond = TestPond::start(Options::new());
    let before: Accounts = pond.accounts();
    let good = r#"{"x":{"dtype":"U8","shape":[64],"data_offsets":[0,64]}}"#;
    let overlap = r#"{"x":{"dtype":"U8","shape":[64],"data_offsets":[0,64]},
                      "y":{"dtype":"U8","shape":[64],"data_offsets":[32,96]}}"#;
    let dtype = good.replace("U8", "F33");
    let short = raw(&pond, "truncated.safetensors", good, None, 40);
    let cases = [
        (short, "truncated.safetensors"),
        (raw(&pond, "overlap.safetensors", overlap, None, 96), "'y'"),
        (raw(&pond, "header.safetensors", good, Some(1 << 60), 64), "header"),
        (raw(&pond, "dtype.safetensors", &dtype, None, 64), "F33"),
        (raw(&pond, "empty.safetensors", "", Some(0), 0), "empty.safetensors"),
        (text(&pond.path("not-there")).to_owned(), "not-there"),
    ];
    for (path, reason) in &cases {
        let said = pond.cli(&["load", "m", path, "--json"]).error();
        assert_eq!(said["kind"], "file", "{said}");
        let message = said["message"].as_str().unwrap();
        assert!(message.contains(reason), "{reason} in {message}");
    }
    raw(&pond, "twice/one.safetensors", good, None, 64);
    raw(&pond, "twice/two.safetensors", good, None, 64);
    let said = pond.cli(&["load", "m", text(&pond.path("twice")), "--json"]).error();
    let message = said["message"].as_str().unwrap();
    assert!(message.contains("'x'") && message.contains("two.safetensors"), "{message}");
    let missing = pond.path("missing");
    let files = checkpoint::write(&missing, &checkpoint::tensors(3, 1), MIB);
    fs::remove_file(&files[1]).unwrap();
    let said = pond.cli(&["load", "m", text(&missing), "--json"]).error();
    let message = said["message"].as_str().unwrap();
    assert!(message.contains(files[1].file_name().unwrap().to_str().unwrap()), "{message}");
    let pipe = pond.path("pipe.safetensors");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let said = pond.cli(&["load", "m", text(&pipe), "--json"]).error();
    assert!(said["message"].as_str().unwrap().contains("not a regular file"), "{said}");
    assert_eq!(pond.accounts(), before);
    assert!(pond.control().models("").unwrap().is_empty());
}

#[test]
fn a_file_that_is_not_in_the_page_cache_is_read_past_it() {
    let pond = TestPond::start(Options::new());
    let tensors = checkpoint::tensors(40, 1);
    // On a disk: what is in memory is never cold. Named as the folders that are swept.
    let disk = Path::new("/tmp").join(format!("mpt-{}-cold", std::process::id()));
    let files = checkpoint::write(&disk, &tensors, u64::MAX);
    let file = fs::File::open(&files[0]).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    let loaded = pond.cli(&["load", "m", text(&disk), "--json"]).json();
    assert_eq!(checkpoint::attach(&mut pond.worker(), "m"), checkpoint::seen("v1", &tensors));
    if loaded["cold"] != true {
        skip("the file system keeps what it was told to forget, or cannot read past the cache");
    }
    fs::remove_dir_all(disk).unwrap();
}

#[test]
fn a_byte_that_somebody_has_changed_is_found() {
    let pond = TestPond::start(Options::giving_back());
    let tensors = checkpoint::tensors(20, 1);
    let input = folder(&pond, "in", &tensors);
    let _ = pond.cli(&["load", "llama", &input]).ok();
    let mut worker = pond.worker();
    worker.ask("model spoil llama");
    // The tensor whose name comes first lies at the very beginning; one without bytes nowhere.
    let (first, _) = tensors.iter().filter(|(_, (bytes, _))| *bytes > 0).min().unwrap();
    let said = pond.cli(&["verify", "llama", "--json"]);
    assert_ne!(said.code, Some(0), "{said:?}");
    let found: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&found["ok"], &found["differing"]), (&false.into(), &serde_json::json!([first])));
    let words = pond.cli(&["verify", "llama"]);
    assert!(format!("{words:?}").contains(first.as_str()), "{words:?}");
}
