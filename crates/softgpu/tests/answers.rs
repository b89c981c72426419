//! The shared libraries under a C program that knows nothing of us, compared with a real card.
//!
//! `probe/probe.c` asks some 500 questions; `probe/answers-h200.txt` is what an H200 answered on
//! driver 580.159.04. Only the lines in `probe/differences.txt` may differ.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod libraries;

use std::path::{Path, PathBuf};
use std::process::Command;

const ANSWERS: &str = include_str!("probe/answers-h200.txt");
const DIFFERENCES: &str = include_str!("probe/differences.txt");

fn compile(sources: &[&str], into: &Path) -> PathBuf {
    let program = into.join("program");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probe");
    let sources = sources.iter().map(|source| folder.join(source));
    let status =
        Command::new("cc").args(["-O1", "-o"]).arg(&program).args(sources).arg("-ldl").status();
    assert!(status.expect("this test needs a C compiler called cc").success());
    program
}

/// Lines with the section they are in, blanks squeezed.
fn lines(text: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            line.clone_into(&mut section);
        } else {
            lines.push((section.clone(), line.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }
    lines
}

#[test]
fn it_answers_as_the_card_did() {
    let folder = tempfile::tempdir().unwrap();
    let (cuda, nvml) = libraries::build(folder.path());
    let program = compile(&["probe.c", "memory.c"], folder.path());
    let allowed: Vec<&str> = DIFFERENCES.lines().filter(|line| !line.starts_with('#')).collect();
    for mode in [None, Some("MILLPOND_SOFT_STRICT"), Some("MILLPOND_SOFT_ADVERSARIAL")] {
        let device = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut probe = Command::new(&program);
        probe.arg(&cuda).arg(&nvml);
        for name in
            ["STRICT", "ADVERSARIAL", "FAULTS", "DEVICES", "PROFILE", "CONTEXT_BYTES", "MEMORY"]
        {
            probe.env_remove(format!("MILLPOND_SOFT_{name}"));
        }
        probe.env("MILLPOND_SOFT_DIR", device.path()).envs(mode.map(|name| (name, "1")));
        let output = probe.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{mode:?}: {text}");
        let (card, soft) = (lines(ANSWERS), lines(&text));
        assert_eq!(card.len(), soft.len(), "{mode:?}: {text}");
        let differences: Vec<String> = card
            .iter()
            .zip(&soft)
            .filter(|(card, soft)| card != soft)
            .map(|(card, soft)| format!("{} {} => {}", card.0, card.1, soft.1))
            .collect();
        assert_eq!(differences, allowed, "{mode:?}");
    }
}

/// Programs that link `libcuda.so.1` or load it with ctypes use these names.
#[test]
fn unversioned_names_are_exported() {
    let folder = tempfile::tempdir().unwrap();
    let device = tempfile::tempdir_in("/dev/shm").unwrap();
    let (cuda, nvml) = libraries::build(folder.path());
    let program = compile(&["ordinary.c"], folder.path());
    let mut ordinary = Command::new(program);
    ordinary
        .arg(cuda)
        .arg(nvml)
        .env("MILLPOND_SOFT_DIR", device.path())
        .env("MILLPOND_SOFT_MEMORY", "64M");
    let output = ordinary.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "all names work\n");
}
