//! `pondtool`: a client that does what it is told, for tests and scripts.
//!
//! ```text
//! pondtool put NAME BYTES SEED    make a tensor with bytes from a seed, publish it, print its hash
//! pondtool hash NAME              map read-only, print the hash
//! pondtool hold NAME              map read-only, print `holding HASH`; then for each line of the
//!                                 input: `hash` prints the hash through that mapping, `bye` ends
//! pondtool used                   print the bytes in use on the card, by the driver's own count
//! pondtool ledger make FOLDER N   make a group with a limit of N bytes
//! pondtool ledger time FOLDER     after one line of input, nanoseconds of a reserve and its release
//! pondtool siege [OPTIONS]        kill processes of a pond of its own under load; see [`siege`]
//! pondtool first                  connect as the first program of a new user does, whose `main`
//!                                 returns the error
//! pondtool shell                  for each line of the input a command, and one line `ok ...` or
//!                                 `error KIND MESSAGE` as its answer
//! ```
//!
//! The pond is found as every client finds it, by `MILLPOND_RUNTIME_DIR`.

mod churn;
mod elastic;
mod ledger;
mod member;
mod models;
mod pools;
mod retire;
mod session;
mod siege;
mod transports;

use std::io::{BufRead, Write};
use std::process::{ExitCode, Termination};

pub use models::TENSOR_BYTES;
use session::Session;

/// What went wrong: the kind of error, and the message.
pub type Trouble = (String, String);

pub(crate) fn trouble(error: impl Into<millpond::Error>) -> Trouble {
    let error = error.into();
    (error.kind().to_string(), error.to_string())
}

pub(crate) fn wrong(message: impl Into<String>) -> Trouble {
    ("wrong".to_owned(), message.into())
}

#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut session = Session::default();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["shell"] => shell(&mut session),
        ["first"] => return first().report(),
        ["siege", options @ ..] => return siege::main(options),
        ["siege-client"] => siege::client(),
        ["ledger", "make", folder, bytes] => ledger::make(folder, bytes),
        ["ledger", "time", folder] => ledger::run(folder),
        ["hold", name] => hold(&mut session, name),
        words => session.run(words).map(|text| print(&text)),
    };
    match result {
        Ok(()) => {
            session.end();
            ExitCode::SUCCESS
        }
        Err((kind, message)) => {
            let _ = writeln!(std::io::stderr(), "pondtool: {kind}: {message}");
            ExitCode::FAILURE
        }
    }
}

/// What a `main` that returns a `Result` does, with the same report of its error.
fn first() -> Result<(), millpond::Error> {
    millpond::Pond::connect()?.ping()
}

/// One line; whoever does not read it any more has enough.
fn print(line: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

fn lines() -> impl Iterator<Item = String> {
    std::io::stdin().lock().lines().map_while(Result::ok)
}

fn shell(session: &mut Session) -> Result<(), Trouble> {
    for line in lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match session.run(&words) {
            Ok(text) => print(format!("ok {text}").trim_end()),
            Err((kind, message)) => print(&format!("error {kind} {}", message.replace('\n', " "))),
        }
    }
    Ok(())
}

fn hold(session: &mut Session, name: &str) -> Result<(), Trouble> {
    print(&format!("holding {}", session.run(&["get", name])?));
    for line in lines() {
        match line.trim() {
            "hash" => print(&session.run(&["hash", name])?),
            "bye" => return Ok(()),
            other => return Err(wrong(format!("'{other}' is neither `hash` nor `bye`"))),
        }
    }
    Ok(())
}
