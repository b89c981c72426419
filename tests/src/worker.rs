//! A `pondtool` process that does what it is told.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use crate::{PATIENCE, Process};

/// A `pondtool` process that does what it is told.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Worker {
    /// Starts it with a command that has its environment.
    pub(crate) fn start(mut command: Command) -> Self {
        let spawned = command.arg("shell").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.unwrap();
        let (send, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Self { stdin: child.stdin.take(), child, lines }
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Says something without waiting for the answer.
    ///
    /// # Panics
    /// If it is gone.
    pub fn tell(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap_or_else(|error| panic!("worker, '{line}': {error}"));
    }

    /// The answer to what it was told, if it lives.
    ///
    /// # Errors
    /// What went wrong: the kind of error, then the message.
    ///
    /// # Panics
    /// If there is no answer.
    pub fn answer(&mut self) -> Result<String, String> {
        let line = self.lines.recv_timeout(2 * PATIENCE).expect("the worker answers");
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("ok", text) => Ok(text.to_owned()),
            ("error", text) => Err(text.to_owned()),
            _ => panic!("the worker said '{line}'"),
        }
    }

    /// Tells it something that may fail.
    ///
    /// # Errors
    /// The kind of error, then the message.
    pub fn try_ask(&mut self, line: &str) -> Result<String, String> {
        self.tell(line);
        self.answer()
    }

    /// Tells it something.
    ///
    /// # Panics
    /// If it fails.
    #[track_caller]
    pub fn ask(&mut self, line: &str) -> String {
        match self.try_ask(line) {
            Ok(answer) => answer,
            Err(error) => panic!("worker, '{line}': {error}"),
        }
    }

    /// Kills it with -9 and waits until it is gone.
    ///
    /// # Panics
    /// If it stays.
    pub fn kill(mut self) {
        let process = Process::open(self.pid()).unwrap();
        process.kill();
        assert!(process.wait(PATIENCE));
        self.child.wait().unwrap();
    }

    /// Lets it end by itself, without giving anything back by hand.
    ///
    /// # Panics
    /// If it does not end well.
    pub fn finish(mut self) {
        drop(self.stdin.take());
        let process = Process::open(self.pid()).unwrap();
        assert!(process.wait(PATIENCE), "the worker does not end");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
