//! Which library `millpond run` preloads where a pond answers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Place, Ran};

/// A library that is in every program anyway: here only the way to it is looked at.
fn harmless_library() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let files = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    files.into_iter().find(|path| path.contains("libc.so")).unwrap().into()
}

/// The program and the library as a package installs them, under a folder of the place.
fn install(place: &Place, name: &str) -> (String, PathBuf) {
    let root = place.path().canonicalize().unwrap().join(name);
    let (program, library) =
        (root.join("bin/millpond"), root.join("lib/millpond/libmillpond_preload.so"));
    for file in [&program, &library] {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    common::copy_program(env!("CARGO_BIN_EXE_millpond"), &program);
    std::fs::copy(harmless_library(), &library).unwrap();
    set(&library, 0o644);
    (program.to_str().unwrap().to_owned(), library)
}

fn set(file: &Path, mode: u32) {
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn run_preloads_the_library_that_the_pond_names_unless_others_can_write_it() {
    let place = Place::new();
    let (served, of_pond) = install(&place, "pond's");
    let (own, beside) = install(&place, "own");
    let with = |program: &str, words: &[&str]| -> Command {
        let mut command = place.shell(program);
        command.args(words).env_remove("LD_PRELOAD");
        command
    };
    let _serving = place.serve_with(with(&served, &["serve", "--log", "warn"]));
    let run = |command: &mut Command| -> (String, String) {
        let ran = Ran::from(command.output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let line = ran.stdout.lines().find_map(|line| line.strip_prefix("LD_PRELOAD="));
        (line.unwrap_or_default().to_owned(), ran.stdout + &ran.stderr)
    };
    let words = ["run", "--limit", "2G", "env"];
    let shown = |path: &Path| path.to_str().unwrap().to_owned();
    assert_eq!(run(&mut with(&own, &words)).0, shown(&of_pond));
    let said = run(&mut with(&own, &["doctor"])).1;
    assert!(said.contains(&format!("{}, named by the pond", shown(&of_pond))), "{said}");
    let status: serde_json::Value =
        serde_json::from_str(&run(&mut with(&own, &["status", "--json"])).1).unwrap();
    assert_eq!(status["preload_library"], shown(&of_pond));

    // The variable wins.
    let mut named = with(&own, &words);
    named.env("MILLPOND_PRELOAD", harmless_library());
    assert_eq!(run(&mut named).0, shown(&harmless_library()));

    // What others can write, or what is gone, is not loaded; the search goes on without it.
    set(&of_pond, 0o666);
    let (loaded, said) = run(&mut with(&own, &words));
    assert_eq!(loaded, shown(&beside));
    assert!(said.contains("warning:") && said.contains("is not safe to load"), "{said}");
    let said = run(&mut with(&own, &["doctor"])).1;
    assert!(said.contains(&format!("{}, found beside this program", shown(&beside))), "{said}");
    assert!(said.contains("is not safe to load"), "{said}");
    std::fs::remove_file(&of_pond).unwrap();
    assert_eq!(run(&mut with(&own, &words)).0, shown(&beside));
}
