//! The two shared libraries, built for a test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the two libraries beside this test and names them as programs ask for them. With
/// `MILLPOND_TESTS_BUILT` they are there: another build beside running tests would replace them.
pub fn build(into: &Path) -> (PathBuf, PathBuf) {
    let exe = std::env::current_exe().unwrap();
    let profile_folder = exe.parent().and_then(Path::parent).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "-p", "millpond-softgpu-libcuda", "-p", "millpond-softgpu-libnvml"]);
    if profile_folder.ends_with("release") {
        cargo.arg("--release");
    }
    cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_TARGET_DIR", profile_folder.parent().unwrap());
    if std::env::var_os("MILLPOND_TESTS_BUILT").is_none() {
        assert!(cargo.status().unwrap().success(), "the libraries do not build");
    }
    let install = |built: &str, name: &str| {
        let path = into.join(name);
        std::os::unix::fs::symlink(profile_folder.join(built), &path).unwrap();
        path
    };
    (install("libcuda.so", "libcuda.so.1"), install("libnvidia_ml.so", "libnvidia-ml.so.1"))
}
