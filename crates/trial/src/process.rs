//! The processes of a pond that the demo or the bench has started.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use millpond_wire::process;
pub use millpond_wire::process::Process;

use millpond_wire::runtime_dir;

/// Every process that was started for a pond in this folder: its environment says so. The folder
/// has a random name, so nobody else's does.
pub fn of_folder(folder: &Path) -> Vec<Process> {
    let mut wanted = format!("{}=", runtime_dir::ENVIRONMENT).into_bytes();
    wanted.extend_from_slice(folder.as_os_str().as_bytes());
    process::with_variable(|variable| variable == wanted)
}

/// Kills what was started for a pond in this folder, until nothing is left.
pub fn clear(folder: &Path, patience: Duration) {
    let deadline = Instant::now() + patience;
    // A keeper or daemon that is killed alone is started again by the other one, so this may
    // take a few rounds.
    while Instant::now() < deadline {
        let processes = of_folder(folder);
        if processes.is_empty() {
            return;
        }
        for process in &processes {
            // It may be gone already.
            let _ = process.kill();
        }
        for process in &processes {
            let _ = process.wait(Duration::from_secs(1));
        }
    }
}

/// Resident memory of a process.
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn processes_are_found_by_their_folder_and_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new("sleep")
            .arg("600")
            .env(runtime_dir::ENVIRONMENT, folder.path())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let found = loop {
            // Between fork and exec the child still has our environment.
            let found = of_folder(folder.path());
            if !found.is_empty() {
                break found;
            }
        };
        assert_eq!(found.iter().map(|process| process.pid).collect::<Vec<_>>(), [child.id()]);
        assert!(!found[0].wait(Duration::ZERO).unwrap());
        assert!(resident_bytes(child.id()).unwrap() > 0);
        // A killed child stays a zombie, without an environment, until it is waited for.
        clear(folder.path(), Duration::from_secs(10));
        assert!(found[0].wait(Duration::from_secs(10)).unwrap());
        child.wait().unwrap();
        assert!(of_folder(folder.path()).is_empty());
    }
}
