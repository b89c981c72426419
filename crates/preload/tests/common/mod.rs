//! Programs under the preloaded library, on the software driver.

#![allow(dead_code, reason = "each test binary uses a part of this")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;

/// Where cargo puts what it builds: this test's folder's parent.
fn target() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().to_owned()
}

/// A library that `cargo build --workspace` makes; the tests say what is missing.
fn built(name: &str) -> PathBuf {
    let path = target().join(name);
    assert!(path.exists(), "{} is missing: run `cargo build --workspace`", path.display());
    path
}

/// The library under test: the one that cargo built, or the one that is to be shipped.
pub fn preload() -> PathBuf {
    match std::env::var_os("MILLPOND_TEST_PRELOAD") {
        Some(path) => PathBuf::from(path).canonicalize().unwrap(),
        None => built("libmillpond_preload.so"),
    }
}

/// The programs of `programs/`, compiled once, beside the software driver's libraries.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let link = |name: &str, to: &str| {
                std::os::unix::fs::symlink(built(name), folder.path().join(to)).unwrap();
            };
            link("libcuda.so", "libcuda.so.1");
            link("libcuda.so", "libcuda.so");
            link("libnvidia_ml.so", "libnvidia-ml.so.1");
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
            let compile = |arguments: &[&str], input: &str, output: &str| {
                let mut command = Command::new("gcc");
                command.args(["-O1", "-Wall", "-o"]).arg(folder.path().join(output));
                command.arg(source.join(input)).args(arguments);
                let said = command.output().expect("gcc is needed");
                assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
            };
            let here = format!("-L{}", folder.path().display());
            compile(&["-ldl", "-lpthread"], "steps.c", "steps");
            compile(&["-DDIRECT", &here, "-lcuda", "-ldl", "-lpthread"], "steps.c", "steps-direct");
            compile(&["-ldl"], "nulls.c", "nulls");
            compile(&["-shared", "-fPIC", "-ldl"], "other.c", "libother.so");
            compile(&["-shared", "-fPIC", "-ldl"], "other.c", "libthird.so");
            let other = format!("-L{} -lother", folder.path().display());
            let other: Vec<_> = other.split(' ').chain(["-ldl"]).collect();
            compile(&other, "next.c", "next");
            std::fs::create_dir(folder.path().join("unloaded")).unwrap();
            let soname = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"];
            compile(&soname, "driver.c", "unloaded/libcuda.so.1");
            std::fs::create_dir(folder.path().join("switching")).unwrap();
            compile(&soname, "switching.c", "switching/libcuda.so.1");
            compile(&["-DPROGRAM", "-ldl"], "switching.c", "switching/program");
            folder
        })
        .path()
}

/// A machine of its own: devices, and a group that nobody else uses.
pub struct Machine {
    devices: tempfile::TempDir,
    pub group: String,
    pub env: Vec<(String, String)>,
}

impl Machine {
    /// One device of 256 MiB.
    pub fn new() -> Self {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let devices = tempfile::tempdir_in("/dev/shm").unwrap();
        let group = format!("test-{}-{number}", std::process::id());
        Self { devices, group, env: vec![("MILLPOND_SOFT_MEMORY".into(), "256M".into())] }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The same machine under a limit.
    pub fn limited(self, limit: &str) -> Self {
        let group = self.group.clone();
        self.with("MILLPOND_MEMORY_LIMIT", limit).with("MILLPOND_GROUP", &group)
    }

    /// A program of the folder, with our library before everything else.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(folder().join(program));
        for (name, _) in std::env::vars() {
            let mode = ["MILLPOND_SOFT_STRICT", "MILLPOND_SOFT_ADVERSARIAL"].contains(&&*name);
            if !mode
                && ["MILLPOND_", "VCUDA_", "CUDA_", "LD_"]
                    .iter()
                    .any(|start| name.starts_with(start))
            {
                command.env_remove(name);
            }
        }
        command.env("LD_LIBRARY_PATH", folder()).env("LD_PRELOAD", preload());
        command.env("MILLPOND_SOFT_DIR", self.devices.path());
        command.envs(self.env.iter().map(|pair| (&pair.0, &pair.1)));
        command
    }

    /// Uses another machine's devices.
    pub fn share_devices(&mut self, other: &Machine) {
        let folder = other.devices.path().to_str().unwrap().to_owned();
        self.env.push(("MILLPOND_SOFT_DIR".into(), folder));
    }

    /// The folder of the group that `limited` names.
    pub fn group_folder(&self) -> std::ffi::CString {
        // SAFETY: no conditions.
        let user = unsafe { libc::geteuid() };
        std::ffi::CString::new(format!("/dev/shm/millpond-{user}/{}", self.group)).unwrap()
    }

    fn steps(&self, how: &str, steps: &str) -> Command {
        let mut command = self.command(if how == "direct" { "steps-direct" } else { "steps" });
        command.arg(how).args(steps.split_whitespace());
        command
    }

    /// Runs the steps to their end; its answers, a blank between them.
    pub fn run(&self, how: &str, steps: &str) -> String {
        let said = self.output(how, steps);
        assert!(said.status.success(), "{said:?}");
        String::from_utf8(said.stdout).unwrap().trim().replace('\n', ", ")
    }

    pub fn output(&self, how: &str, steps: &str) -> Output {
        self.steps(how, steps).output().unwrap()
    }

    /// Starts steps of which one is `wait`, and waits until it is there.
    pub fn start(&self, how: &str, steps: &str) -> Running {
        let mut command = self.steps(how, steps);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut running = Running { child, stdin, stdout, said: Vec::new() };
        running.until_ready();
        running
    }

    /// What the card itself has in use, in MiB, read without our library.
    pub fn card_used(&self) -> u64 {
        let mut command = self.command("steps");
        command.env_remove("LD_PRELOAD").args(["dlsym", "nvml"]);
        let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
        said.trim().rsplit(' ').next().unwrap().parse().unwrap()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.group_folder().to_str().unwrap());
    }
}

/// A program that waits. It is killed when the value goes.
pub struct Running {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    pub said: Vec<String>,
}

impl Running {
    pub fn until_ready(&mut self) {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "ended: {:?}", self.said);
            if line.trim() == "ready" {
                return;
            }
            self.said.push(line.trim().to_owned());
        }
    }

    /// Lets it go on to the next `wait`.
    pub fn go_on(&mut self) {
        self.said.clear();
        self.stdin.write_all(b"\n").unwrap();
        self.until_ready();
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
