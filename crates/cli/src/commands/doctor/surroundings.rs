//! Containers, namespaces, shared memory, and the environment.

use std::path::Path;

use super::check::Check;
use crate::{env_vars, units};

/// Docker's default for /dev/shm is 64 MiB, which holds nothing.
const SHARED_MEMORY_BYTES: u64 = 1 << 30;

/// Everything around the process.
pub fn checks() -> Vec<Check> {
    let mut checks = vec![container(), shared_memory()];
    checks.extend(environment(std::env::vars_os().filter_map(|(name, value)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    })));
    checks
}

fn container() -> Check {
    let marks = [("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")];
    let kind = marks.into_iter().find(|(path, _)| Path::new(path).exists());
    let mut found = match kind {
        Some((_, name)) => format!("in a {name} container"),
        None => "no container seen".to_owned(),
    };
    let mapped = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if !is_whole_map(&mapped) {
        found.push_str(", in a user namespace of its own");
    }
    Check::ok("container", found)
}

/// Whether every user id means itself.
fn is_whole_map(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

fn shared_memory() -> Check {
    let name = "/dev/shm";
    let Ok(space) = rustix::fs::statvfs(name) else {
        return Check::warn(name, "missing", "mount a tmpfs there: locks of GPUs lie in it");
    };
    let total = space.f_blocks.saturating_mul(space.f_frsize);
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let found = format!("{} of {} free", units::bytes(free), units::bytes(total));
    if total >= SHARED_MEMORY_BYTES {
        return Check::ok(name, found);
    }
    Check::warn(name, found, "more for the software driver: `docker run --shm-size 8g`")
}

/// What is set, and what is set but means nothing.
fn environment(variables: impl Iterator<Item = (String, String)>) -> Vec<Check> {
    let known: Vec<&str> = env_vars::table().into_iter().map(|(name, _)| name).collect();
    let mut seen: Vec<(String, String)> = variables
        .filter(|(name, _)| name.starts_with("MILLPOND_") || name == "CUDA_VISIBLE_DEVICES")
        .collect();
    seen.sort_unstable();
    if seen.is_empty() {
        return vec![Check::ok("environment", "no MILLPOND_* variable is set")];
    }
    let check = |(name, value): (String, String)| {
        let found = format!("{name}={value}");
        if name == "CUDA_VISIBLE_DEVICES" || known.contains(&name.as_str()) {
            return Check::ok("environment", found);
        }
        let advice = "no such variable; `millpond help environment` lists them";
        Check::warn("environment", found, advice)
    };
    seen.into_iter().map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    #[test]
    fn misspelt_variables_are_told() {
        let set = |name: &str| (name.to_owned(), "x".to_owned());
        let checks = environment([set("MILLPOND_DRIVER"), set("MILLPOND_DIVER")].into_iter());
        let verdicts: Vec<_> = checks.iter().map(|check| check.verdict).collect();
        assert_eq!(verdicts, [Verdict::Warn, Verdict::Ok]);
        assert_eq!(environment([set("HOME")].into_iter()).len(), 1);
    }

    #[test]
    fn user_namespaces() {
        assert!(is_whole_map("         0          0 4294967295\n"));
        assert!(!is_whole_map("         0       1000          1\n"));
    }
}
