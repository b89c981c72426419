//! How large a file another process may write.

/// The `RLIMIT_FSIZE` of a process; `None` where it has none or cannot be looked at.
///
/// From `/proc`, because everybody may read that: `prlimit` of another user's process needs
/// `CAP_SYS_RESOURCE`, which a pond does without.
pub(super) fn file_limit(pid: u32) -> Option<u64> {
    read(&std::fs::read_to_string(format!("/proc/{pid}/limits")).ok()?)
}

fn read(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file size"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_limit_of_another_process_is_found() {
        let mut child = Command::new("sh")
            .args(["-c", "ulimit -f 4; echo; read -r _"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        let found = file_limit(child.id());
        drop(child.stdin.take());
        child.wait().unwrap();
        // Blocks of a shell are 512 bytes, or 1024.
        assert!(matches!(found, Some(2048 | 4096)), "{found:?}");
        assert_eq!(file_limit(0), None);
        assert_eq!(read("Max file size             unlimited  unlimited  bytes\n"), None);
    }
}
