//! A terminal of 80 columns, whose other side is the test.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

/// As wide as most are at first.
pub const COLUMNS: u16 = 80;
const ROWS: u16 = 24;

/// A program on a terminal.
pub struct OnTerminal {
    pub child: Child,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl OnTerminal {
    /// Starts it with standard output and standard error on the terminal.
    pub fn start(mut command: Command) -> Self {
        let ours = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        rustix::pty::grantpt(&ours).unwrap();
        rustix::pty::unlockpt(&ours).unwrap();
        let size = Winsize { ws_col: COLUMNS, ws_row: ROWS, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&ours, size).unwrap();
        let name = rustix::pty::ptsname(&ours, Vec::new()).unwrap();
        let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let end = |file: &File| -> OwnedFd { file.as_fd().try_clone_to_owned().unwrap() };
        command.env("TERM", "xterm").env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
        command.stdout(Stdio::from(end(&theirs))).stderr(Stdio::from(end(&theirs)));
        let child = command.spawn().unwrap();
        // The last of theirs is the program's, so that its end is seen here.
        drop((command, theirs));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&seen);
        let reader = std::thread::spawn(move || {
            let (mut ours, mut buffer) = (File::from(ours), [0; 4096]);
            while let Ok(bytes @ 1..) = ours.read(&mut buffer) {
                to.lock().unwrap().extend_from_slice(&buffer[..bytes]);
            }
        });
        Self { child, seen, reader: Some(reader) }
    }

    /// What has come so far.
    pub fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// Waits for its end; everything that came.
    pub fn end(mut self) -> (std::process::ExitStatus, String) {
        let status = super::wait(&mut self.child);
        self.reader.take().unwrap().join().unwrap();
        (status, self.seen())
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines without colours, as a person sees them. What was drawn over counts as a line of its own.
pub fn lines(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next == '\u{1b}' {
            // Up to the letter that ends an order.
            rest.by_ref().skip(1).find(char::is_ascii_alphabetic);
        } else {
            plain.push(next);
        }
    }
    let lines = plain.split(['\n', '\r']).map(|line| line.trim_end().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}
