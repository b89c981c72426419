//! What a pond's standard error can be.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

/// The smallest pipe that the kernel makes: some thirty lines.
const SMALL_PIPE: usize = 4096;
/// How long a reader stays, and how long there is none after it.
const READER_STAYS: Duration = Duration::from_millis(150);

/// What a pond's standard error is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stderr {
    #[default]
    Normal,
    /// A pipe whose reader is gone: every write fails.
    Closed,
    /// A disk without room: every write fails.
    Full,
    /// A small pipe that nobody reads: once it is full, every write blocks.
    Blocking,
    /// A named pipe whose reader goes and is replaced by another, again and again.
    Replaced,
}

impl Stderr {
    pub const ALL: [Stderr; 5] =
        [Stderr::Normal, Stderr::Closed, Stderr::Full, Stderr::Blocking, Stderr::Replaced];

    /// Its word on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Stderr::Normal => "normal",
            Stderr::Closed => "closed",
            Stderr::Full => "full",
            Stderr::Blocking => "blocking",
            Stderr::Replaced => "replaced",
        }
    }

    /// For the process, and what must be kept while it runs. A file or a named pipe is made at
    /// that path.
    ///
    /// # Panics
    /// If the system refuses.
    #[must_use]
    pub fn open(self, path: &Path) -> (Stdio, Kept) {
        match self {
            Stderr::Normal => {
                let file = File::options().create(true).append(true).open(path).unwrap();
                (file.into(), Kept::Nothing)
            }
            Stderr::Closed => (pipe().1.into(), Kept::Nothing),
            Stderr::Full => {
                let full = File::options().write(true).open("/dev/full").unwrap();
                (full.into(), Kept::Nothing)
            }
            Stderr::Blocking => {
                let (reader, writer) = pipe();
                (writer.into(), Kept::Unread(reader))
            }
            Stderr::Replaced => {
                let readers = Readers::start(path);
                let flags = OFlags::WRONLY | OFlags::CLOEXEC;
                let writer = rustix::fs::open(path, flags, Mode::empty()).unwrap();
                (writer.into(), Kept::Readers(readers))
            }
        }
    }
}

impl FromStr for Stderr {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Stderr::ALL.into_iter().find(|stderr| stderr.name() == text);
        found.ok_or_else(|| format!("'{text}' is no kind of standard error"))
    }
}

/// A small pipe: the end to read, the end to write.
///
/// # Panics
/// If the system refuses.
#[must_use]
pub fn pipe() -> (OwnedFd, OwnedFd) {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    fcntl_setpipe_size(&writer, SMALL_PIPE).unwrap();
    (reader, writer)
}

/// What must be kept while the process runs.
#[derive(Debug)]
pub enum Kept {
    Nothing,
    /// The end of a pipe that nobody reads.
    Unread(OwnedFd),
    /// Those who read one after the other.
    Readers(Readers),
}

/// One reader after the other, with a pause between two, until this is dropped.
#[derive(Debug)]
pub struct Readers {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Readers {
    fn start(path: &Path) -> Readers {
        if !path.exists() {
            let mode = Mode::RUSR | Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, path, FileType::Fifo, mode, 0).unwrap();
        }
        let ends = Arc::new(AtomicBool::new(false));
        let (end, path) = (Arc::clone(&ends), path.to_owned());
        // The first one is there before anybody opens the other end, which would wait for it.
        let first = reader(&path).unwrap();
        let thread = std::thread::spawn(move || take_turns(first, &path, &end));
        Readers { ends, thread: Some(thread) }
    }
}

fn reader(path: &PathBuf) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    File::options().read(true).custom_flags(flags).open(path)
}

fn take_turns(first: File, path: &PathBuf, ends: &AtomicBool) {
    let mut present = Some(first);
    while !ends.load(Ordering::Relaxed) {
        std::thread::sleep(READER_STAYS);
        match present.take() {
            Some(mut file) => {
                let _ = file.read(&mut vec![0; 1 << 16]);
            }
            None => present = reader(path).ok(),
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
