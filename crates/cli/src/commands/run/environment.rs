//! What a limited program finds in its environment.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use super::membership::{Account, Membership};
use crate::env_vars;

/// What the loader loads before a program's own libraries.
const LD_PRELOAD: &str = "LD_PRELOAD";
/// Which GPUs a program sees.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

/// Sets everything for the program and what it starts.
pub fn apply(command: &mut Command, membership: &Membership) {
    command.env(LD_PRELOAD, preload(&membership.library, std::env::var_os(LD_PRELOAD).as_deref()));
    // One of the two; the other may be left from a `run` around this one.
    for name in [env_vars::LEDGER, env_vars::MEMORY_LIMIT, env_vars::GROUP] {
        command.env_remove(name);
    }
    match &membership.account {
        Account::Folder { folder } => {
            command.env(env_vars::LEDGER, folder);
        }
        Account::Alone { limit, group } => {
            command.env(env_vars::MEMORY_LIMIT, limit.text());
            if let Some(group) = group {
                command.env(env_vars::GROUP, group.as_str());
            }
        }
    }
    if let Some(device) = &membership.visible {
        command.env(VISIBLE, device);
    }
}

/// The library before what is there already, once.
fn preload(library: &Path, before: Option<&OsStr>) -> OsString {
    let library = library.as_os_str();
    let mut value = library.to_owned();
    let before = before.unwrap_or_default();
    // The loader takes colons and spaces.
    let others = before.as_bytes().split(|byte| *byte == b':' || *byte == b' ');
    for other in others.filter(|other| !other.is_empty() && *other != library.as_bytes()) {
        value.push(":");
        value.push(OsStr::from_bytes(other));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_comes_first_and_once() {
        let value = |before: Option<&str>| {
            preload(Path::new("/m.so"), before.map(OsStr::new)).into_string().unwrap()
        };
        assert_eq!([value(None), value(Some(""))], ["/m.so", "/m.so"]);
        assert_eq!(value(Some("/a.so:/b.so")), "/m.so:/a.so:/b.so");
        assert_eq!(value(Some("/a.so /m.so:/b.so")), "/m.so:/a.so:/b.so");
    }
}
