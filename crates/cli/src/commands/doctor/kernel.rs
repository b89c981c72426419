//! The kernel: what it must be able to do, and its limits.

use std::fs::File;

use rustix::process::{Resource, getrlimit};

use super::check::Check;
use millpond_wire::process::Process;

/// One descriptor for each slab and each client, here and in the keeper.
const DESCRIPTORS: u64 = 65_536;
const MAPPINGS: u64 = 65_530;

/// Everything about the kernel.
pub fn checks() -> Vec<Check> {
    vec![version(), pidfd(), peer_pidfd(), sealing(), locks(), descriptors(), mappings()]
}

fn release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

fn version() -> Check {
    let release = release();
    match parse(&release) {
        // pidfd_open came with 5.3, OFD locks and memfd long before.
        Some(found) if found < (5, 3) => {
            Check::fail("kernel", release, "Linux 5.3 or newer is needed")
        }
        _ => Check::ok("kernel", format!("Linux {release}")),
    }
}

/// Major and minor of a release such as `6.18.44-fc`.
fn parse(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn pidfd() -> Check {
    match Process::open(std::process::id()) {
        Ok(_) => Check::ok("pidfd", "pidfd_open works"),
        Err(error) => Check::fail(
            "pidfd",
            format!("pidfd_open: {error}"),
            "Linux 5.3 is needed; in a container, let its seccomp profile allow pidfd_open",
        ),
    }
}

/// Only the version tells: the call falls back silently where it does not exist.
fn peer_pidfd() -> Check {
    let name = "pidfd of a peer";
    let tried = millpond_wire::socket::pair().map_err(|error| error.to_string()).and_then(
        |(one, _other)| millpond_wire::fd::peer_pidfd(&one).map_err(|error| error.to_string()),
    );
    match (tried, parse(&release())) {
        (Ok(_), Some(found)) if found >= (6, 5) => Check::ok(name, "SO_PEERPIDFD works"),
        (Ok(_), _) => Check::warn(
            name,
            "no SO_PEERPIDFD before Linux 6.5: clients in other pid namespaces cannot be told",
            "Linux 6.5 or newer, if clients run in containers",
        ),
        (Err(error), _) => Check::fail(name, error, "Linux 5.3 or newer is needed"),
    }
}

fn sealing() -> Check {
    match millpond_wire::memfd::sealed("millpond-doctor", b"sealed") {
        Ok(_) => Check::ok("memfd", "made and sealed"),
        Err(error) => Check::fail(
            "memfd",
            error.to_string(),
            "the journal lives in one: a kernel with memfd_create and seals is needed",
        ),
    }
}

fn locks() -> Check {
    let name = "locks of descriptions";
    let tried = tempfile::tempfile().and_then(|file: File| millpond_wire::fd::try_lock(&file));
    match tried {
        Ok(true) => Check::ok(name, "F_OFD_SETLK works"),
        Ok(false) => Check::fail(name, "a new file was locked", "look at the file system of /tmp"),
        Err(error) => Check::fail(name, error.to_string(), "a local file system for /tmp"),
    }
}

fn descriptors() -> Check {
    let limit = getrlimit(Resource::Nofile);
    let shown = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |n| n.to_string());
    let found = format!("soft {}, hard {}", shown(limit.current), shown(limit.maximum));
    if limit.maximum.is_none_or(|hard| hard >= DESCRIPTORS) {
        return Check::ok("open files", format!("{found}; `serve` raises the soft one"));
    }
    let advice = format!(
        "raise the hard limit to {DESCRIPTORS}: LimitNOFILE= in the unit, or `ulimit -Hn {DESCRIPTORS}` as root"
    );
    Check::warn("open files", found, advice)
}

fn mappings() -> Check {
    let name = "vm.max_map_count";
    let found = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    match found.trim().parse::<u64>() {
        Ok(count) if count >= MAPPINGS => Check::ok(name, count.to_string()),
        Ok(count) => Check::warn(
            name,
            count.to_string(),
            format!("`sudo sysctl vm.max_map_count={MAPPINGS}`, for the software driver"),
        ),
        Err(_) => Check::warn(name, "unknown", "is /proc mounted?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases() {
        assert_eq!(parse("6.18.44-fc-v490"), Some((6, 18)));
        assert_eq!(parse("5.15-generic"), Some((5, 15)));
        assert_eq!(parse("unknown"), None);
        assert!(Some((5, 10)) > Some((5, 3)));
    }

    #[test]
    fn this_kernel_can_do_what_is_needed() {
        for check in checks() {
            assert_ne!(check.verdict, super::super::Verdict::Fail, "{check:?}");
        }
    }
}
