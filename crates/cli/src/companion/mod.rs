//! Companion programs: `millpond NAME` runs `millpond-NAME`, as git and cargo do.
//!
//! A program that comes with Millpond may run several commands; it is started under the name of each.
//! The companion replaces this process, so its exit code, its signals and its standard streams are
//! its own. Commands of this program come first: a companion can add a command and replace none.

mod find;

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::Command;

use millpond_console::companions;

pub use find::{Found, find, list};

use crate::env_vars;
use crate::error::{CommandError, Report};
use crate::exit::Code;

/// A command line that names no command of this program: what a companion gets of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    /// The word in the place of a command.
    pub name: String,
    /// All other words. Flags that stood before the name come first.
    pub words: Vec<OsString>,
}

impl Call {
    /// Takes a command line apart, program name included. None where no word can be a companion's
    /// name.
    pub fn of(words: &[OsString]) -> Option<Self> {
        let mut at = 1;
        loop {
            let word = words.get(at)?;
            if takes_value(word) {
                at += 2;
            } else if word.as_encoded_bytes().starts_with(b"-") {
                at += 1;
            } else {
                break;
            }
        }
        let name = words[at].to_str().filter(|name| is_name(name))?.to_owned();
        let rest = words[1..at].iter().chain(&words[at + 1..]);
        Some(Self { name, words: rest.cloned().collect() })
    }

    /// Runs the companion in place of this process; comes back only with a reason why not.
    pub fn run(&self, found: &Found) -> CommandError {
        let program = found.file.display();
        let mut command = Command::new(&found.file);
        command.arg0(format!("millpond-{}", self.name)).args(&self.words);
        match std::env::current_exe() {
            Ok(own) => command.env(env_vars::BIN, own),
            // Better none than that of another program.
            Err(_) => command.env_remove(env_vars::BIN),
        };
        let error = command.exec();
        Report::new(Code::NotExecutable, format!("running '{program}': {error}")).into()
    }
}

/// What is said where a companion that comes with Millpond is not there.
pub fn missing(name: &str) -> Report {
    let name = companions::program_of(name);
    let message = format!(
        "the program 'millpond-{name}' was not found beside 'millpond', in '../libexec/millpond' or \
         in PATH"
    );
    let hint = match name {
        // What they stand on would make every wheel wait.
        "redis" => "from a checkout, `cargo build --release -p millpond-redis` makes it",
        "web" => "from a checkout, `cargo build --release -p millpond-web` makes it",
        _ => "it comes with the wheel; from a checkout, `cargo build --workspace` makes it",
    };
    Report::new(Code::NoProgram, message).hint(hint)
}

/// Global options whose value is the next word.
pub fn takes_value(word: &OsStr) -> bool {
    word == "--runtime-dir" || word == "--color"
}

/// Whether a word can name a companion: nothing in it leads out of a folder.
fn is_name(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    word.bytes().all(is_plain) && word.bytes().next().is_some_and(|byte| byte != b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Option<(String, String)> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let call = Call::of(&words)?;
        Some((call.name, call.words.join(OsStr::new(" ")).into_string().unwrap()))
    }

    #[test]
    fn flags_before_the_name_go_to_the_companion() {
        let is = |line: &str, name: &str, words: &str| {
            assert_eq!(call(line), Some((name.to_owned(), words.to_owned())), "{line}");
        };
        is("millpond web", "web", "");
        is("millpond web --json x", "web", "--json x");
        is("millpond --json -q web x", "web", "--json -q x");
        is(
            "millpond --runtime-dir /x --color never web y",
            "web",
            "--runtime-dir /x --color never y",
        );
        is("millpond --runtime-dir=/x web web", "web", "--runtime-dir=/x web");
    }

    #[test]
    fn what_leads_elsewhere_is_no_name() {
        for line in ["millpond", "millpond -q", "millpond ../x", "millpond a/b", "millpond .x"] {
            assert_eq!(call(line), None, "{line}");
        }
        assert!(!is_name("") && !is_name("-x") && is_name("web-2_x"));
    }
}
