//! The device files of the NVIDIA kernel driver, and who may open them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::check::Check;
use crate::users;

const NAME: &str = "device files";

/// Whether `/dev/nvidia*` can be opened.
pub fn checks() -> Vec<Check> {
    let mut files: Vec<PathBuf> = std::fs::read_dir("/dev")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_device_file(path))
        .collect();
    files.sort_unstable();
    if files.is_empty() {
        return vec![Check::ok(NAME, "no /dev/nvidia*: there is no GPU here")];
    }
    let closed: Vec<Check> = files.iter().filter_map(|path| closed(path)).collect();
    if !closed.is_empty() {
        return closed;
    }
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let mut checks = vec![Check::ok(NAME, names.join(" "))];
    if !files.iter().any(|path| path.ends_with("nvidiactl")) {
        checks.push(Check::fail(
            NAME,
            "/dev/nvidiactl is missing",
            "give the container all of /dev/nvidia*, for example `docker run --gpus all`",
        ));
    }
    checks
}

fn is_device_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_prefix("nvidia");
    let is_card = number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    is_card || name == "nvidiactl" || name == "nvidia-uvm"
}

/// A file that is there but not for us, and the group that may open it.
fn closed(path: &Path) -> Option<Check> {
    let errno = rustix::fs::access(path, Access::READ_OK | Access::WRITE_OK).err()?;
    let group = std::fs::metadata(path).ok().map(|found| users::group_name(found.gid()));
    let advice = match group {
        Some(group) => format!("join its group: `sudo usermod -aG {group} $USER`, then log in"),
        None => "ask the administrator of this machine".to_owned(),
    };
    Some(Check::fail(NAME, format!("{}: {errno}", path.display()), advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cuda_opens_counts() {
        for name in ["/dev/nvidia0", "/dev/nvidia12", "/dev/nvidiactl", "/dev/nvidia-uvm"] {
            assert!(is_device_file(Path::new(name)), "{name}");
        }
        for name in ["/dev/nvidia", "/dev/nvidia-modeset", "/dev/nvidia-caps", "/dev/null"] {
            assert!(!is_device_file(Path::new(name)), "{name}");
        }
    }
}
