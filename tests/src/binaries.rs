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
        built("millpond-cli", "millpond")
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
        let found = named("PONDTOOL").or_else(|| beside("pondtool"));
        let found = found.or_else(|| beside_named("pondtool"));
        found.expect("PONDTOOL names the pondtool program")
    })
}

/// The `tenant` program: `TENANT`, or the one that cargo builds beside this executable.
///
/// # Panics
/// If there is none and it cannot be built.
#[must_use]
pub fn tenant() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| named("TENANT").unwrap_or_else(|| built("millpond-tenant", "tenant")))
}

/// The companion `millpond-web`: beside `millpond`, or where cargo builds it.
///
/// # Panics
/// If it cannot be built.
#[must_use]
pub fn web() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| built("millpond-web", "millpond-web"))
}

/// The library that is preloaded: `MILLPOND_PRELOAD`, or the one that cargo builds.
///
/// # Panics
/// If there is none and it cannot be built.
#[must_use]
pub fn preload() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| {
        let build = || built("millpond-preload-library", "libmillpond_preload.so");
        named("MILLPOND_PRELOAD").unwrap_or_else(build)
    })
}

/// The same library with a rule of the ledger broken on purpose: made beside the right one, in a
/// folder of its own.
///
/// # Panics
/// If it cannot be built.
#[must_use]
pub fn broken_preload(feature: &str) -> PathBuf {
    let target = target().join("twins").join(feature);
    cargo(&target, &["-p", "millpond-preload-library", "--features", feature]);
    target.join("debug/libmillpond_preload.so")
}

/// The software driver's two libraries.
///
/// # Panics
/// If they are not there and cannot be built.
#[must_use]
pub fn soft_libraries() -> [PathBuf; 2] {
    [
        built("millpond-softgpu-libcuda", "libcuda.so"),
        built("millpond-softgpu-libnvml", "libnvidia_ml.so"),
    ]
}

fn built(package: &str, file: &str) -> PathBuf {
    if let Some(found) = beside(file).or_else(|| beside_named(file)) {
        return found;
    }
    let profile: &[&str] = if cfg!(debug_assertions) { &[] } else { &["--release"] };
    cargo(&target(), &[&["-p", package], profile].concat());
    beside(file).unwrap_or_else(|| panic!("cargo has built {file}"))
}

/// Cargo's folder: executables of tests are in `<target>/<profile>/deps`.
fn target() -> PathBuf {
    let me = std::env::current_exe().unwrap();
    me.ancestors().nth(3).expect("the executable is in target/<profile>/deps").to_owned()
}

fn cargo(target: &Path, arguments: &[&str]) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "-q"]).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    let status = command.env("CARGO_TARGET_DIR", target).status();
    assert!(status.is_ok_and(|status| status.success()), "cargo builds {arguments:?}");
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

/// A file in the folder of the program that `MILLPOND_BIN` names: a bundle has all of them in one.
fn beside_named(name: &str) -> Option<PathBuf> {
    let millpond = named("MILLPOND_BIN")?;
    Some(millpond.with_file_name(name)).filter(|path| path.is_file())
}

/// A copy of a program, made by another process: a descriptor for writing that a thread's child has at
/// that moment would make the kernel refuse to start it.
///
/// # Panics
/// If it cannot be made.
pub fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg(from).arg(to).status().unwrap();
    assert!(status.success(), "cp to {}", to.display());
}

/// A script, made likewise.
///
/// # Panics
/// If it cannot be made.
pub fn script(path: &Path, text: &str) {
    let make = "printf '#!/bin/sh\\n%s\\n' \"$2\" >\"$1\" && chmod 755 \"$1\"";
    let status = Command::new("sh").args(["-c", make, "sh"]).arg(path).arg(text).status().unwrap();
    assert!(status.success(), "{}", path.display());
}
