//! Compares the table of docs/c.md with the public methods of the Rust client, and with the header.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Methods = BTreeSet<(String, String)>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" && name != "testing" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The type that a block `impl …` without a trait is of.
fn of_type(line: &str) -> Option<String> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generics) => generics.split_once("> ")?.1,
        None => rest.trim_start(),
    };
    (!rest.contains(" for ")).then(|| word(rest))
}

/// Every `pub fn` of a type that the crate exports.
fn public_methods() -> Methods {
    let crate_root = fs::read_to_string(root().join("crates/client/src/lib.rs")).unwrap();
    let exported: BTreeSet<String> =
        crate_root.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect();
    let mut files = Vec::new();
    sources(&root().join("crates/client/src"), &mut files);
    let mut methods = Methods::new();
    for file in files {
        let source = fs::read_to_string(file).unwrap();
        let mut of = None;
        for line in source.lines().take_while(|line| *line != "mod tests {") {
            if line.starts_with("impl") {
                of = of_type(line);
            } else if let (Some(of), Some(rest)) = (&of, line.strip_prefix("    pub "))
                && let Some(name) = rest.strip_prefix("const ").unwrap_or(rest).strip_prefix("fn ")
                && exported.contains(of)
            {
                methods.insert((of.clone(), word(name)));
            }
        }
    }
    assert!(methods.contains(&("Pond".to_owned(), "upload".to_owned())), "the sources were read");
    methods
}

fn in_backticks(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_public_method_of_the_client_is_in_the_table_with_what_does_it_in_c_or_a_reason() {
    let page = fs::read_to_string(root().join("docs/c.md")).unwrap();
    let header = fs::read_to_string(root().join("bindings/c/include/millpond/millpond.h")).unwrap();
    let table = page.split("| Rust | C | |\n").nth(1).unwrap();
    let mut listed: BTreeMap<(String, String), u32> = BTreeMap::new();
    for line in table.lines().skip(1).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [rust, c, ..] = cells.as_slice() else { panic!("{line}") };
        let reason = cells.get(2).copied().unwrap_or_default();
        let names = in_backticks(rust);
        for method in &names[1..] {
            *listed.entry((names[0].to_owned(), (*method).to_owned())).or_default() += 1;
        }
        if *c == "—" {
            assert!(!reason.is_empty(), "no reason: {line}");
        }
        for name in in_backticks(c) {
            let declared = [format!("{name}("), format!("}} {name};"), format!("enum {name}\n")];
            assert!(
                declared.iter().any(|text| header.contains(text)),
                "{name} is not in the header"
            );
        }
    }
    let twice: Vec<_> = listed.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "twice in the table: {twice:?}");
    let listed: Methods = listed.into_keys().collect();
    let methods = public_methods();
    let missing: Vec<_> = methods.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&methods).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "not in docs/c.md: {missing:?}; not in the client: {gone:?}"
    );
}

#[test]
fn every_exported_function_says_its_rules_for_threads_and_forks() {
    let header = fs::read_to_string(root().join("bindings/c/include/millpond/millpond.h")).unwrap();
    let functions = header.split("extern \"C\" {").nth(1).unwrap();
    let mut checked = 0;
    for part in functions.split("/**\n").skip(1) {
        let (comment, rest) = part.split_once("*/").unwrap();
        if !rest.trim_start().starts_with('}') {
            assert!(comment.contains("Threads: ") && comment.contains("Fork: "), "{part}");
            checked += 1;
        }
    }
    let listed = include_str!("../symbols.txt").lines().count();
    assert_eq!(checked, listed, "each function has a comment of its own");
}
