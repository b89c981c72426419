//! Where the programs are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The `millpond` program: `MILLPOND_BIN`, or the one that cargo builds beside this executable.
///
/// # Panics
/// If there is none and it cannot be built.
#[must_use]
pub fn millpond() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| {
        if let Some(named) = named("MILLPOND_BIN") {
            return named;
        }
        if let Some(found) = beside("millpond") {
            return found;
        }
        build();
        beside("millpond").expect("cargo has built the millpond program")
    })
}

/// The `pondtool` program: `PONDTOOL`, or the one beside this executable or beside `millpond`.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn pondtool() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| {
        let beside_millpond = || Some(millpond().with_file_name("pondtool")).filter(|p| p.exists());
        let found = named("PONDTOOL").or_else(|| beside("pondtool")).or_else(beside_millpond);
        found.expect("PONDTOOL names the pondtool program")
    })
}

fn named(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).filter(|value| !value.is_empty())?;
    let path = std::path::absolute(path).unwrap();
    assert!(path.exists(), "{variable}={} is not there", path.display());
    Some(path)
}

/// Test executables are in `target/<profile>/deps`, programs one folder up.
fn beside(name: &str) -> Option<PathBuf> {
    let me = std::env::current_exe().ok()?;
    let folders = me.ancestors().skip(1).take(2);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn build() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let me = std::env::current_exe().unwrap();
    let target = me.ancestors().nth(3).expect("the executable is in target/<profile>/deps");
    let mut command = Command::new(cargo);
    command.args(["build", "-q", "-p", "millpond-cli"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let status = command.env("CARGO_TARGET_DIR", target).status();
    assert!(status.is_ok_and(|status| status.success()), "MILLPOND_BIN names the program");
}
