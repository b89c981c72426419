//! Help, man pages, completions, and what is said about a command line that makes no sense.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::process::Stdio;

use common::{Place, Ran};

const VISIBLE: [&str; 30] = [
    "demo",
    "serve",
    "stop",
    "logs",
    "doctor",
    "ls",
    "rm",
    "mv",
    "tensor",
    "load",
    "models",
    "inspect",
    "swap",
    "rollback",
    "retire",
    "verify",
    "save",
    "run",
    "group",
    "elastic",
    "coverage",
    "ps",
    "status",
    "upgrade",
    "events",
    "gc",
    "completions",
    "man",
    "version",
    "help",
];
const HIDDEN: [&str; 7] = ["daemon", "keeper", "mover", "host", "opener", "worker", "janitor"];

fn is_listed(help: &str, command: &str) -> bool {
    help.lines().any(|line| line.trim_start().split(' ').next() == Some(command))
}

#[test]
fn completions_offer_no_hidden_command() {
    let place = Place::new();
    for shell in ["bash", "fish", "zsh"] {
        let script = place.stdout(&["completions", shell]);
        assert!(script.contains("rollback"), "{shell}");
        for command in HIDDEN {
            assert!(!script.contains(&format!("millpond__{command}")), "{command} in {shell}");
            assert!(!script.contains(&format!("-a \"{command}\"")), "{command} in {shell}");
            assert!(!script.contains(&format!("'{command}:")), "{command} in {shell}");
        }
    }
}

#[test]
fn usage_names_no_flag_whose_variable_is_set() {
    let place = Place::new();
    let ran = place.run(&["tensor", "rm"]);
    assert_eq!(ran.code, Some(2));
    let usage = ran.stderr.lines().find(|line| line.starts_with("Usage:")).unwrap();
    assert!(!usage.contains("--runtime-dir"), "{usage}");
}

#[test]
fn help_lists_every_command_but_the_hidden_ones() {
    let place = Place::new();
    for words in [&["--help"][..], &["-h"], &["help"]] {
        let help = place.stdout(words);
        for command in VISIBLE {
            assert!(is_listed(&help, command), "{command} in {words:?}");
        }
        for command in HIDDEN {
            assert!(!is_listed(&help, command), "{command} in {words:?}");
        }
    }
}

#[test]
fn every_command_has_help_and_most_have_examples() {
    let place = Place::new();
    for command in VISIBLE {
        let long = place.stdout(&[command, "--help"]);
        assert_eq!(long, place.stdout(&["help", command]), "{command}");
        let plain = ["tensor", "group", "elastic", "version", "help"].contains(&command);
        assert!(plain || long.contains("Examples:"), "{command}");
    }
    assert!(!place.stdout(&["help", "tensor", "create"]).contains("--ephemeral"));
    for command in ["create", "put", "get", "copy", "zero"] {
        assert!(place.stdout(&["help", "tensor", command]).contains("Examples:"), "{command}");
    }
    for command in ["ls", "set", "rm", "watch"] {
        assert!(place.stdout(&["help", "group", command]).contains("Examples:"), "{command}");
    }
    for command in ["ls", "inspect"] {
        assert!(place.stdout(&["help", "elastic", command]).contains("Examples:"), "{command}");
    }
    assert!(place.stdout(&["help", "run"]).contains("docs/limits.md"));
    let ran = place.run(&["help", "worker"]);
    assert_eq!(ran.code, Some(2));
}

/// Every command has its part of the page, and every flag of it is named there. (Those of `serve`
/// are settings, which have a page of their own.)
#[test]
fn the_page_about_commands_has_every_command() {
    let page = include_str!("../../../docs/cli.md");
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for command in VISIBLE {
        let named = |heading: &&str| heading.split([' ', ',']).any(|word| word == command);
        assert!(headings.iter().any(named), "{command}");
    }
    let contents = page.split("\n## ").next().unwrap();
    for heading in &headings {
        let anchor: String = heading.chars().filter(|c| !",`".contains(*c)).collect();
        let anchor = anchor.to_lowercase().replace(' ', "-");
        assert!(contents.contains(&format!("[{heading}](#{anchor})")), "{heading} in the contents");
    }
    let place = Place::new();
    let tensor = ["create", "put", "get", "copy", "zero", "ls", "rm", "handle"];
    let group = ["ls", "set", "rm", "watch"];
    let elastic = ["ls", "inspect"];
    let without_part =
        ["tensor", "group", "elastic", "serve", "completions", "man", "version", "help"];
    let mut parts: Vec<(String, String)> = Vec::new();
    parts.extend(tensor.map(|word| (format!("tensor {word}"), format!("tensor {word}"))));
    parts
        .extend(group.map(|word| ("group ls, set, rm, watch".to_owned(), format!("group {word}"))));
    parts.extend(elastic.map(|word| ("elastic ls, inspect".to_owned(), format!("elastic {word}"))));
    let own = VISIBLE.iter().filter(|command| !without_part.contains(command));
    parts.extend(own.map(|command| ((*command).to_owned(), (*command).to_owned())));
    for (heading, command) in parts {
        let part =
            page.split("\n## ").find(|part| part.starts_with(&format!("{heading}\n"))).unwrap();
        let mut words = vec!["help"];
        words.extend(command.split(' '));
        let help = place.stdout(&words);
        let help = help.split("\nGlobal options:").next().unwrap();
        let flags = help.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2);
        for flag in flags.map(|flag| flag.trim_end_matches(|c: char| !c.is_ascii_alphanumeric())) {
            let global = ["--runtime-dir", "--verbose", "--quiet", "--color", "--help", "--json"];
            assert!(global.contains(&flag) || part.contains(flag), "{flag} of {command:?}");
        }
    }
}

#[test]
fn exit_codes_and_the_environment_are_documented() {
    let place = Place::new();
    let codes = place.stdout(&["help", "exit-codes"]);
    assert!(codes.contains("15   no_pond") && codes.contains("3   not_found"));
    let man = place.stdout(&["man"]);
    assert!(man.contains(".SH \"EXIT STATUS\"") && man.contains("no_pond"));
    let environment = place.stdout(&["help", "environment"]);
    for name in [
        "MILLPOND_DRIVER",
        "MILLPOND_RUNTIME_DIR",
        "MILLPOND_SOFT_DIR",
        "MILLPOND_PRELOAD",
        "MILLPOND_LEDGER",
        "MILLPOND_MEMORY_LIMIT",
        "VCUDA_MEMORY_LIMIT",
        "CUDA_DEVICE_MEMORY_LIMIT",
        "NO_COLOR",
    ] {
        assert!(environment.contains(name), "{name}");
        assert!(man.contains(&name.replace('-', "\\-")), "{name}");
    }
}

#[test]
fn man_pages_are_written_for_visible_commands() {
    let place = Place::new();
    let folder = place.path().join("man1");
    place.stdout(&["man", folder.to_str().unwrap()]);
    let written: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in [
        "millpond.1",
        "millpond-tensor-create.1",
        "millpond-demo.1",
        "millpond-run.1",
        "millpond-group-set.1",
        "millpond-elastic-ls.1",
        "millpond-elastic-inspect.1",
        "millpond-coverage.1",
    ] {
        assert!(written.contains(&name.to_owned()), "{name} in {written:?}");
    }
    for command in HIDDEN {
        assert!(!written.contains(&format!("millpond-{command}.1")));
    }
}

#[test]
fn completions_know_the_commands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.stdout(&["completions", shell]);
        assert!(script.contains("inspect") && script.contains("no-trunc"), "{shell}");
        assert!(script.contains("coverage") && script.contains("strict"), "{shell}");
        assert!(script.contains("elastic") && script.contains("end-silent"), "{shell}");
    }
}

#[test]
fn the_version_is_the_packages() {
    let place = Place::new();
    let expected = format!("millpond {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(place.stdout(&["--version"]), expected);
    assert_eq!(place.stdout(&["version"]), expected);
    assert_eq!(place.json(&["version", "--json"])["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_command_line_that_makes_no_sense_is_usage() {
    let place = Place::new();
    for words in [
        &["nonsense"][..],
        &["tensor", "create", "x", "--dtype", "f33", "--shape", "1"],
        &["tensor", "create", "a//b", "--dtype", "f32", "--shape", "1"],
        &["demo", "--workers", "1"],
        &["demo", "--size", "10 Gigs"],
        &["serve", "--capacity", "0"],
        &["tensor", "create", "x", "--dtype", "u8", "--shape", "1", "--ttl", "10"],
        &["gc", "--unleased-for", "soon"],
        &["tensor", "get", "x"],
        &["load", "llama"],
        &["load", "my model", "x"],
        &["load", "llama@v1@v2", "x"],
        &["tensor", "create", "/abs", "--dtype", "f32", "--shape", "1"],
        &["tensor", "create", "e", "--dtype", "u8", "--shape", "1", "--ephemeral"],
        &["rm"],
        &["mv", "a"],
        &["mv", "a", "b c"],
        &["start"],
        &["model", "ls"],
        &["load", "llama", "x", "--version", "a/b"],
        &["load", "llama", "x", "--like", "a/b"],
        &["swap", "llama"],
        &["swap", "llama@v1", "v2"],
        &["retire", "llama", "v1", "--wait", "soon"],
        &["run"],
        &["run", "--limit", "10G"],
        &["run", "--limt", "10G", "true"],
        &["group", "set", "team-a", "--limit", "-1"],
        &["group", "set", "a/b", "--limit", "1G"],
        &["group", "set", "team-a", "--limit", "1G", "--weight", "0"],
        &["group", "set", "team-a", "--end-silent", "maybe"],
        &["group", "rm"],
        &["elastic", "inspect"],
        &["elastic", "ls", "--group", "a/b"],
        &["caches"],
        &["ps", "--group", ""],
    ] {
        let ran = place.run(words);
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: ") && ran.stdout.is_empty(), "{words:?}");
    }
    let ran = place.run(&["tensor", "ls", "--json", "--nonsense"]);
    let error: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((ran.code, error["error"]["kind"].as_str()), (Some(2), Some("usage")));
}

/// The folder that every test names in the environment must not make it another command's help.
#[test]
fn a_command_that_needs_another_says_which_there_are() {
    let place = Place::new();
    for (command, one_of_them) in
        [("tensor", "inspect"), ("group", "watch"), ("elastic", "inspect")]
    {
        let ran = place.run(&[command]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{command}");
        assert!(ran.stderr.contains(&format!("Usage: millpond {command} ")), "{}", ran.stderr);
        assert!(is_listed(&ran.stderr, one_of_them) && !is_listed(&ran.stderr, "demo"));
    }
}

#[test]
fn a_closed_pipe_is_success() {
    let place = Place::new();
    for words in [&["help", "exit-codes"][..], &["man"], &["completions", "bash"], &["--help"]] {
        let mut command = place.command(words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{words:?}");
    }
}
