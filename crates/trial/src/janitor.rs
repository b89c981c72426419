//! Cleans up after a demo or bench, however it ended.
//!
//! Whoever starts a pond of its own also starts a janitor and holds the other end of its standard
//! input. That end closes with the process, so one mechanism covers a normal end, an error, a
//! panic, Ctrl-C and kill -9, without a signal handler. The janitor is in a process group of its
//! own, because Ctrl-C goes to the whole group in front.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::folder::{is_temporary, remove_locks};
use super::process;
use millpond_console::error::Outcome;
use millpond_wire::runtime_dir;

/// What tells the janitor that there is nothing to do.
const LEAVE: u8 = b'k';
/// How long it takes pains.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Janitor {
    child: Child,
}

impl Janitor {
    /// Starts one for a folder.
    pub fn start(folder: &Path) -> io::Result<Self> {
        let child = Command::new(std::env::current_exe()?)
            .arg("janitor")
            .arg(folder)
            .env_remove(runtime_dir::ENVIRONMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { child })
    }

    /// Sends it away: the pond stays.
    pub fn dismiss(mut self) {
        if let Some(stdin) = &mut self.child.stdin {
            // One that is gone does nothing either.
            let _ = stdin.write_all(&[LEAVE]);
        }
    }
}

impl Drop for Janitor {
    /// Lets it do its work and waits for it.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

pub fn run(folder: &Path) -> Outcome {
    let mut byte = [0];
    let dismissed = matches!(io::stdin().read(&mut byte), Ok(1) if byte[0] == LEAVE);
    if !dismissed && is_temporary(folder) {
        process::clear(folder, PATIENCE);
        remove_locks(folder);
        // Nobody can be told.
        let _ = std::fs::remove_dir_all(folder);
    }
    Ok(())
}
