//! A `tenant` process: an ordinary CUDA program under a limit.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use crate::{PATIENCE, Process};

/// `CUDA_ERROR_OUT_OF_MEMORY`, as a tenant answers it.
const OUT_OF_MEMORY: &str = "2 ";

/// A `tenant` process that does what it is told.
#[derive(Debug)]
pub struct Tenant {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
}

impl Tenant {
    /// Starts it, and waits for nothing.
    ///
    /// # Panics
    /// If the system refuses.
    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (send, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Self { stdin: child.stdin.take(), child, lines, errors: Some(errors) }
    }

    /// Waits until it has its device.
    ///
    /// # Errors
    /// What it says instead: the code and the call.
    ///
    /// # Panics
    /// If it says nothing.
    pub fn ready(&self) -> Result<(), String> {
        let line = self.line();
        if line.starts_with("ready ") { Ok(()) } else { Err(line) }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(2 * PATIENCE).expect("the tenant answers")
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Says something without waiting for the answer. One that is gone hears nothing.
    pub fn tell(&mut self, line: &str) {
        if let Some(stdin) = self.stdin.as_mut() {
            let _ = writeln!(stdin, "{line}");
        }
    }

    /// The answer to what it was told.
    ///
    /// # Errors
    /// The code and the call that failed.
    ///
    /// # Panics
    /// If there is none.
    pub fn answer(&self) -> Result<String, String> {
        let line = self.line();
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("ok", text) => Ok(text.to_owned()),
            ("error", text) => Err(text.to_owned()),
            _ => panic!("the tenant said '{line}'"),
        }
    }

    /// Tells it something that may fail.
    ///
    /// # Errors
    /// The code and the call that failed.
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
            Err(error) => panic!("tenant, '{line}': {error}"),
        }
    }

    /// Tells it something, and reads the answer as numbers.
    ///
    /// # Panics
    /// If it fails or answers otherwise.
    #[track_caller]
    pub fn numbers(&mut self, line: &str) -> Vec<u64> {
        self.ask(line).split(' ').map(|word| word.parse().unwrap()).collect()
    }

    /// Asks for memory; false when it is refused as a full card would refuse it.
    ///
    /// # Panics
    /// If it fails otherwise.
    #[track_caller]
    pub fn takes(&mut self, kind: &str, bytes: u64) -> bool {
        match self.try_ask(&format!("alloc {kind} {bytes}")) {
            Ok(_) => true,
            Err(error) if error.starts_with(OUT_OF_MEMORY) => false,
            Err(error) => panic!("tenant, {kind}, {bytes}: {error}"),
        }
    }

    /// Kills it with -9 and waits until it is gone; what it wrote to stderr.
    ///
    /// # Panics
    /// If it stays.
    pub fn kill(mut self) -> String {
        self.child.kill().unwrap();
        self.end()
    }

    /// Lets it end by itself, without giving anything back by hand; what it wrote to stderr.
    ///
    /// # Panics
    /// If it does not end well.
    pub fn finish(mut self) -> String {
        drop(self.stdin.take());
        let process = Process::open(self.pid()).unwrap();
        assert!(process.wait(PATIENCE), "the tenant does not end");
        assert!(self.child.wait().unwrap().success());
        self.end()
    }

    fn end(&mut self) -> String {
        self.child.wait().unwrap();
        self.errors.take().map(|errors| errors.join().unwrap()).unwrap_or_default()
    }
}

impl Drop for Tenant {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
