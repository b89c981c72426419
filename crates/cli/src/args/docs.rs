//! What documents and help texts tell people to type is understood.

use std::path::{Path, PathBuf};

use clap::Command;
use clap::error::ErrorKind;

use millpond_console::companions::shipped;

use super::definition;

/// Every page of the project.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = [
        "",
        "docs",
        "deploy/systemd",
        "examples/serve_pool",
        "bindings/python",
        "benchmarks/weights",
        "benchmarks/limits",
    ];
    let mut pages = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "md") {
                let text = std::fs::read_to_string(&path).unwrap();
                pages.push((path, text));
            }
        }
    }
    assert!(pages.len() > 20, "{pages:?}");
    pages
}

/// The simple commands of a line of shell, each as its words. What a command puts into another one
/// is a word there.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut done, mut open) = (Vec::new(), vec![Vec::new()]);
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(next) = chars.next() {
        if let Some(end) = quote {
            if next == end {
                quote = None;
            } else {
                word.get_or_insert_default().push(next);
            }
            continue;
        }
        match next {
            '\'' | '"' => {
                quote = Some(next);
                word.get_or_insert_default();
            }
            '#' if word.is_none() => break,
            '$' if chars.peek() == Some(&'(') => {
                chars.next();
                open.last_mut().unwrap().push("1".to_owned());
                open.push(Vec::new());
            }
            ' ' | '|' | ';' | '&' | ')' | '>' | '<' => {
                open.last_mut().unwrap().extend(word.take());
                match next {
                    ' ' => {}
                    ')' if open.len() > 1 => done.extend(open.pop()),
                    _ => done.push(std::mem::take(open.last_mut().unwrap())),
                }
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    open.last_mut().unwrap().extend(word);
    done.extend(open);
    done
}

/// Those that are ours, without the variables before them.
fn ours(line: &str) -> Vec<Vec<String>> {
    let is_variable = |word: &String| {
        word.split_once('=')
            .is_some_and(|(name, _)| name.chars().all(|c| c == '_' || c.is_ascii_uppercase()))
    };
    commands(line)
        .into_iter()
        .map(|words| words.into_iter().skip_while(is_variable).collect::<Vec<_>>())
        .filter(|words| words.first().is_some_and(|word| word == "millpond"))
        .collect()
}

/// What is to be typed on a page: all of a block of shell, and what follows a `$` in another one.
fn typed(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\\\n", " ");
    let mut found = Vec::new();
    let mut block: Option<&str> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), block) {
            (Some(label), None) => block = Some(label),
            (Some(_), Some(_)) => block = None,
            (None, Some(label)) => {
                let prompted = line.strip_prefix("$ ");
                let shell = label.split(' ').next() == Some("sh");
                if let Some(line) = prompted.or(shell.then_some(line)) {
                    found.extend(ours(line));
                }
            }
            (None, None) => {}
        }
    }
    found
}

/// What the text between blocks names in ticks; it may have words that stand for others.
fn named(text: &str) -> Vec<Vec<String>> {
    let mut inside = false;
    let prose: Vec<&str> = text
        .lines()
        .filter(|line| {
            let fence = line.starts_with("```");
            inside ^= fence;
            !inside && !fence
        })
        .collect();
    let words = |span: &str| span.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let prose = prose.join("\n");
    let spans = prose.split("\n\n").flat_map(|part| part.split('`').skip(1).step_by(2).map(words));
    spans.filter(|words| words.first().is_some_and(|word| word == "millpond")).collect()
}

fn understood(words: &[String]) -> Result<(), String> {
    let is_companion = |word: &String| shipped().iter().any(|it| it.get_name() == word);
    if words.get(1).is_some_and(is_companion) {
        let matched = definition().try_get_matches_from(words);
        return matched.map(drop).map_err(|error| error.to_string());
    }
    match super::parse(words.iter().map(std::ffi::OsString::from)) {
        Ok(_) => Ok(()),
        Err(error)
            if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) =>
        {
            Ok(())
        }
        // Pages name people whom this machine does not know.
        Err(error) if error.to_string().contains(": no user '") => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether commands and flags are there, whatever the other words stand for.
fn there(root: &Command, words: &[String]) -> Result<(), String> {
    let mut command = root;
    for word in words.iter().skip(1).take_while(|word| *word != "--") {
        let flag = word.split(['=', '[']).next().unwrap_or_default();
        let mut args = command.get_arguments();
        if let Some(long) = flag.strip_prefix("--") {
            if !args.any(|arg| {
                arg.get_long_and_visible_aliases().is_some_and(|all| all.contains(&long))
            }) {
                return Err(format!("{} has no {flag}", command.get_name()));
            }
        } else if let Some(short) = flag.strip_prefix('-').and_then(|rest| rest.chars().next()) {
            if !args.any(|arg| arg.get_short() == Some(short)) && short != 'h' && short != 'V' {
                return Err(format!("{} has no {flag}", command.get_name()));
            }
        } else if let Some(next) = command.find_subcommand(word) {
            command = next;
            if command.get_name() == "help" {
                break;
            }
        } else if command.has_subcommands()
            && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        {
            return Err(format!("{} has no command {word}", command.get_name()));
        }
    }
    Ok(())
}

fn built() -> Command {
    let mut root = definition();
    root.build();
    root
}

#[test]
fn the_commands_of_the_pages_are_understood() {
    let (root, mut count) = (built(), 0);
    for (path, text) in pages() {
        for words in typed(&text) {
            assert_eq!(understood(&words), Ok(()), "{}: {words:?}", path.display());
            count += 1;
        }
        for words in named(&text) {
            assert_eq!(there(&root, &words), Ok(()), "{}: {words:?}", path.display());
            count += 1;
        }
    }
    assert!(count > 200, "only {count} were found");
}

#[test]
fn the_examples_of_the_help_are_understood() {
    fn all<'a>(command: &'a Command, found: &mut Vec<&'a Command>) {
        found.push(command);
        command.get_subcommands().for_each(|child| all(child, found));
    }
    let root = built();
    let (mut every, mut count) = (Vec::new(), 0);
    all(&root, &mut every);
    for command in every {
        let text = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        for line in text.lines().filter_map(|line| line.strip_prefix("  ")) {
            for words in ours(line.split("  ").next().unwrap_or_default()) {
                assert_eq!(understood(&words), Ok(()), "{}: {line}", command.get_name());
                count += 1;
            }
        }
    }
    assert!(count > 60, "only {count} were found");
}

#[test]
fn what_is_wrong_is_found() {
    let line = "A=b millpond tensor rm $(millpond tensor ls -q 'a b') | jq . # millpond x";
    let expected =
        [vec!["millpond", "tensor", "ls", "-q", "a b"], vec!["millpond", "tensor", "rm", "1"]];
    assert_eq!(ours(line), expected);
    let page = "`millpond nonsense` and `millpond ps\n--nonsense`\n\n```sh\nmillpond lss\n```\n";
    let (root, found) = (built(), named(page));
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|words| there(&root, words).is_err()));
    assert!(typed(page).iter().all(|words| understood(words).is_err()));
    assert_eq!(typed(page).len(), 1);
}
