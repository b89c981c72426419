//! Programs that are started as an operator starts them, by `millpond run`, with or without a pond.
//!
//! Sizes are in [`unit()`]s, so that one test holds on a card and on the software driver.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{Budget, Options, PATIENCE, Said, Tenant, TestPond, Worker, binaries, is_soft};

const MIB: u64 = 1 << 20;

/// The measure of all sizes here: on a card, 64 of it are far more than a context is taken for and
/// does not have; on the software driver, no less than it is taken for until it was measured.
#[must_use]
pub fn unit() -> u64 {
    if is_soft() { 2 * MIB } else { 16 * MIB }
}

/// A limit with room for so many units, and one context; the software driver's takes nothing.
#[must_use]
pub fn limit(units: u64) -> u64 {
    contexts(1, units)
}

/// A limit with room for so many contexts and units.
#[must_use]
pub fn contexts(count: u64, units: u64) -> u64 {
    let context = if is_soft() { 0 } else { 640 * MIB };
    count * context + units * unit()
}

/// What a field of JSON holds.
///
/// # Panics
/// If it is no number.
#[must_use]
#[track_caller]
pub fn bytes(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number of bytes"))
}

/// A size as it is typed.
#[must_use]
pub fn size(bytes: u64) -> String {
    bytes.to_string()
}

/// A pond, and what programs need to find the driver.
#[derive(Debug)]
pub struct Place {
    /// The pond, which may not be served.
    pub pond: TestPond,
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    /// With a pond that gives back what is freed.
    #[must_use]
    pub fn new() -> Self {
        Self::of(TestPond::start(Options::giving_back()))
    }

    /// With a pond of these options, whose programs have its variables too.
    #[must_use]
    pub fn with(options: Options) -> Self {
        Self::of(TestPond::start(options))
    }

    /// Nobody serves: limits are kept by the programs alone.
    #[must_use]
    pub fn without_a_pond() -> Self {
        Self::of(TestPond::prepare(Options::new()))
    }

    fn of(pond: TestPond) -> Self {
        let place = Self { pond };
        std::fs::create_dir(place.libraries()).unwrap();
        if is_soft() {
            let names = ["libcuda.so.1", "libnvidia-ml.so.1"];
            for (library, name) in binaries::soft_libraries().iter().zip(names) {
                symlink(library, place.libraries().join(name)).unwrap();
            }
        }
        place
    }

    /// The folder where the software driver's libraries have the names of the driver's.
    #[must_use]
    pub fn libraries(&self) -> PathBuf {
        self.pond.path("libraries")
    }

    /// `millpond` with these words, not started.
    #[must_use]
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = self.pond.cli_command(words);
        command.env("MILLPOND_PRELOAD", binaries::preload()).env_remove("LD_PRELOAD");
        if is_soft() {
            command.env("LD_LIBRARY_PATH", self.libraries());
        }
        command
    }

    /// What `millpond` says to these words.
    #[must_use]
    pub fn cli(&self, words: &[&str]) -> Said {
        Said::by(&mut self.command(words), PATIENCE)
    }

    /// The same as JSON.
    ///
    /// # Panics
    /// If it is an error.
    #[must_use]
    #[track_caller]
    pub fn json(&self, words: &[&str]) -> Value {
        self.cli(&[words, &["--json"]].concat()).json()
    }

    /// `millpond run` of a tenant.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    #[track_caller]
    pub fn tenant(&self, flags: &[&str]) -> Tenant {
        let tenant = binaries::tenant().to_str().unwrap();
        self.tenant_by(&[&["run"], flags, &["--", tenant]].concat())
    }

    /// A tenant that these words of `millpond` start.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    #[track_caller]
    pub fn tenant_by(&self, words: &[&str]) -> Tenant {
        let tenant = Budget::spawn(self.command(words));
        if let Err(error) = tenant.ready() {
            panic!("a tenant starts: {error}\n{}", tenant.kill());
        }
        tenant
    }

    /// A program with the library before the driver and these variables, as somebody starts it who
    /// has no `millpond`.
    #[must_use]
    pub fn preloaded(&self, program: &Path, environment: &[(&str, &str)]) -> Command {
        let mut command = self.bare(program);
        command.env("LD_PRELOAD", binaries::preload());
        command.envs(environment.iter().copied());
        command
    }

    /// A program that finds the driver and has no limit.
    #[must_use]
    pub fn bare(&self, program: &Path) -> Command {
        let mut command = self.pond.command(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("VCUDA_") || text.starts_with("CUDA_DEVICE_") {
                command.env_remove(&name);
            }
        }
        if is_soft() {
            command.env("LD_LIBRARY_PATH", self.libraries());
        }
        command.env_remove("LD_PRELOAD");
        command
    }

    /// `millpond run` of a client of the pond. It finds the driver as on a card, by the name of its
    /// library: a driver inside the program would not be watched.
    #[must_use]
    pub fn client(&self, flags: &[&str]) -> Worker {
        let tool = binaries::pondtool().to_str().unwrap();
        let mut command = self.command(&[&["run"], flags, &["--", tool]].concat());
        command.env("MILLPOND_DRIVER", "cuda");
        Worker::start(command)
    }

    /// Makes a group with this limit, or changes it.
    ///
    /// # Panics
    /// If that is refused.
    #[track_caller]
    pub fn limit(&self, group: &str, limit: &str) {
        let said = self.cli(&["group", "set", group, "--limit", limit]);
        assert!(said.ok().contains(group), "{said:?}");
    }

    /// A group's account on its first GPU.
    ///
    /// # Panics
    /// If there is no such group.
    #[must_use]
    #[track_caller]
    pub fn account(&self, group: &str) -> Value {
        self.json(&["group", "ls", group])["groups"][0]["devices"][0].clone()
    }

    /// A group's folder.
    ///
    /// # Panics
    /// If there is no such group.
    #[must_use]
    #[track_caller]
    pub fn group_folder(&self, group: &str) -> PathBuf {
        self.json(&["group", "ls", group])["groups"][0]["folder"].as_str().unwrap().into()
    }

    /// The processes of a group.
    ///
    /// # Panics
    /// If there is no such group.
    #[must_use]
    #[track_caller]
    pub fn processes(&self, group: &str) -> Vec<Value> {
        self.json(&["ps", "--group", group])["processes"].as_array().unwrap().clone()
    }

    /// The pond's groups. This user's programs may have others without it, of other tests.
    ///
    /// # Panics
    /// If they cannot be listed.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let listed = self.json(&["group", "ls"]);
        let folder = self.pond.runtime_dir().display().to_string();
        let groups = listed["groups"].as_array().unwrap().iter();
        let own = groups.filter(|group| group["folder"].as_str().unwrap().starts_with(&folder));
        own.map(|group| group["name"].as_str().unwrap().to_owned()).collect()
    }
}
