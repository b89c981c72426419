//! A group, and processes in it that do what they are told.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::ffi::CString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use millpond_ledger::{Book, BookSettings, Memory, Patience};

pub const GPU: [u8; 16] = [7; 16];
pub const PATIENT: Patience = Patience(Duration::from_secs(20));
pub const HARNESS: &str = env!("CARGO_BIN_EXE_millpond-ledger-harness");
/// A guard against hangs; no test waits for it when all is well.
pub const LONG: Duration = Duration::from_secs(60);

pub struct Group {
    _folder: tempfile::TempDir,
    pub path: PathBuf,
    pub book: Book,
}

impl Group {
    pub fn new(memory: Memory, limit: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g");
        let settings = BookSettings { name: b"g", owner: None, everyone: false, memory };
        let book = Book::create(&c(&path), settings).unwrap();
        book.change(None, PATIENT, |budget| (budget.asked, budget.effective) = (limit, limit))
            .unwrap();
        Self { _folder: folder, path, book }
    }

    pub fn puppet(&self) -> Puppet {
        Puppet::start(Command::new(HARNESS).arg("puppet").arg(&self.path))
    }

    pub fn ledger(&self) -> PathBuf {
        self.path.join("ledger")
    }

    pub fn alive(&self) -> usize {
        let mut alive = 0;
        self.book.members(|member| alive += usize::from(member.alive)).unwrap();
        alive
    }
}

pub fn c(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

/// A process that does what it is told. It is killed when it is dropped.
pub struct Puppet {
    pub child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Puppet {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { child, to, from }
    }

    pub fn tell(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
    }

    pub fn hear(&mut self) -> String {
        let mut answer = String::new();
        self.from.read_line(&mut answer).unwrap();
        answer.trim().into()
    }

    pub fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.hear()
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: a child of ours that was not waited for.
        unsafe { libc::kill(i32::try_from(self.child.id()).unwrap(), signal) };
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Puppet {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn until(what: &str, mut check: impl FnMut() -> bool) {
    let end = Instant::now() + LONG;
    while !check() {
        assert!(Instant::now() < end, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub const BOTH: [Memory; 2] = [Memory::Segment, Memory::File];
