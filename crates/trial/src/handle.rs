//! Worker processes, seen from the side that tells them what to do.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::protocol::{Answer, Card, Order, Spun};
use millpond_console::error::{CommandError, failed, wrong};
use millpond_wire::runtime_dir;

/// A process that does what it is told. Dropped, it ends.
#[derive(Debug)]
pub struct Worker {
    label: String,
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts one on a trial's pond, with the software driver's devices of that trial.
    pub fn start(label: &str, folder: &Path) -> Result<Self, CommandError> {
        Self::spawn(label, folder, |command| super::pond::set_environment(command, folder))
    }

    /// Starts one on somebody else's pond.
    pub fn attached(label: &str, folder: &Path) -> Result<Self, CommandError> {
        Self::spawn(label, folder, |_| ())
    }

    fn spawn(
        label: &str,
        folder: &Path,
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Self, CommandError> {
        let what = || format!("starting {label}");
        let program = std::env::current_exe().map_err(|error| failed(what(), error))?;
        let mut command = Command::new(program);
        command.args(["worker", "--label", label]);
        prepare(&mut command);
        command.env(runtime_dir::ENVIRONMENT, folder);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(what(), error))?;
        let (orders, answers) = (child.stdin.take(), child.stdout.take());
        let answers = answers.ok_or_else(|| wrong(what()))?;
        Ok(Self { label: label.to_owned(), child, orders, answers: BufReader::new(answers) })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends an order without waiting for the answer.
    pub fn tell(&mut self, order: &Order) -> Result<(), CommandError> {
        let mut line = serde_json::to_vec(order).map_err(|error| self.broken(error))?;
        line.push(b'\n');
        let orders = self.orders.as_mut().ok_or_else(|| wrong(format!("{} ended", self.label)))?;
        let sent = orders.write_all(&line).and_then(|()| orders.flush());
        sent.map_err(|error| self.broken(error))
    }

    /// The answer to the oldest order that has none yet.
    pub fn hear(&mut self) -> Result<Answer, CommandError> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line).map_err(|error| self.broken(error))?;
        if read == 0 {
            return Err(self.broken("it ended without an answer"));
        }
        match serde_json::from_str(&line).map_err(|error| self.broken(error))? {
            Answer::Failed(message) => Err(self.broken(message)),
            answer => Ok(answer),
        }
    }

    fn ask(&mut self, order: &Order) -> Result<Answer, CommandError> {
        self.tell(order)?;
        self.hear()
    }

    /// An order that is answered by nothing more than its end.
    pub fn order(&mut self, order: &Order) -> Result<(), CommandError> {
        match self.ask(order)? {
            Answer::Done => Ok(()),
            other => Err(self.odd(&other)),
        }
    }

    pub fn open_card(&mut self) -> Result<Card, CommandError> {
        match self.ask(&Order::OpenCard)? {
            Answer::Card(card) => Ok(card),
            other => Err(self.odd(&other)),
        }
    }

    /// Reads the card's used bytes.
    pub fn used_bytes(&mut self) -> Result<u64, CommandError> {
        match self.ask(&Order::ReadUsed)? {
            Answer::Used(bytes) => Ok(bytes),
            other => Err(self.odd(&other)),
        }
    }

    /// Reads what one process uses of the card.
    pub fn process_bytes(&mut self, pid: u32) -> Result<Option<u64>, CommandError> {
        match self.ask(&Order::ReadProcess { pid })? {
            Answer::Process(bytes) => Ok(bytes),
            other => Err(self.odd(&other)),
        }
    }

    /// An order that is answered by times.
    pub fn times(&mut self, order: &Order) -> Result<Vec<Duration>, CommandError> {
        self.tell(order)?;
        self.heard_times()
    }

    /// The answer to an order that is answered by times.
    pub fn heard_times(&mut self) -> Result<Vec<Duration>, CommandError> {
        match self.hear()? {
            Answer::Times(times) => Ok(times.into_iter().map(Duration::from_nanos).collect()),
            other => Err(self.odd(&other)),
        }
    }

    /// The answer to [`Order::Check`].
    pub fn heard_sums(&mut self) -> Result<Vec<u64>, CommandError> {
        match self.hear()? {
            Answer::Sums(sums) => Ok(sums),
            other => Err(self.odd(&other)),
        }
    }

    pub fn rest(&mut self) -> Result<Spun, CommandError> {
        match self.ask(&Order::Rest)? {
            Answer::Spun(spun) => Ok(spun),
            other => Err(self.odd(&other)),
        }
    }

    /// Ends it as a program should, and waits.
    pub fn end(mut self) -> Result<(), CommandError> {
        drop(self.orders.take());
        let status = self.child.wait().map_err(|error| self.broken(error))?;
        if status.success() { Ok(()) } else { Err(self.broken(status)) }
    }

    /// Takes notice of a death from outside.
    pub fn bury(mut self) {
        // It is dead already.
        let _ = self.child.wait();
    }

    fn broken(&self, why: impl fmt::Display) -> CommandError {
        failed(format!("{} (pid {})", self.label, self.child.id()), why)
    }

    fn odd(&self, answer: &Answer) -> CommandError {
        self.broken(format!("did not expect {answer:?}"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.orders.take());
        // Ended already, or on its way and not to be waited for long.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
