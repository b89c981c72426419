//! Configuration files as test cases: `valid/x.toml` gives `x.json`, `invalid/x.toml` the error and
//! hint in `x.txt`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use millpond_keeper::config::{Config, ConfigError, ConfigOverrides};

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs").join(folder);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|e| e == "toml")).collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

fn load(file: &Path) -> Result<Config, ConfigError> {
    let environment = |name: &str| match name {
        "TEST_NAME" => Some(OsString::from("test")),
        "EMPTY_VARIABLE" => Some(OsString::new()),
        _ => None,
    };
    Config::load_from(Some(file), &environment, &ConfigOverrides::default())
}

#[test]
fn valid_files_give_what_is_expected() {
    for file in cases("valid") {
        let config = load(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let expected = std::fs::read(file.with_extension("json")).unwrap();
        assert_eq!(config, Config::from_json(&expected).unwrap(), "{}", file.display());
    }
}

#[test]
fn invalid_files_are_refused_with_line_and_hint() {
    for file in cases("invalid") {
        let error = load(&file).map(|_| ()).expect_err(&file.display().to_string());
        let expected = std::fs::read_to_string(file.with_extension("txt")).unwrap();
        let expected = expected.trim_end_matches('\n');
        let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        let text = format!("{error}{hint}");
        let text = text.strip_prefix(&format!("'{}' ", file.display())).unwrap_or(&text);
        // What the TOML parser says is its own business.
        let same = if file.ends_with("not_toml.toml") {
            text.starts_with(expected)
        } else {
            text == expected
        };
        assert!(same, "{}:\n{text}\nexpected:\n{expected}", file.display());
    }
}
