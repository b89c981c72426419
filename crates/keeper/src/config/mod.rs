//! Every setting of `millpond serve`, defined once.
//!
//! Sources, a later one wins: the defaults, one configuration file, the environment, flags. A key
//! has one line in [`KEYS`], and that line is its name in the file, its environment variable, its
//! default, its documentation and its parser.

mod error;
mod file;
mod keys;
mod public_writer;
mod start_model;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use millpond_view::size::ByteSize;
use millpond_wire::trust::{self, TrustError};
use millpond_wire::{GpuUuid, runtime_dir};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use error::{ConfigError, Origin};
use keys::Input;
pub use keys::{KEYS, Key};
pub use public_writer::PublicWriter;
pub use start_model::StartModel;
pub use values::{Capacity, CapacityError, DeviceChoice, LogFormat, Share};

/// Names the configuration file.
pub const CONFIG_VARIABLE: &str = "MILLPOND_CONFIG";
/// The configuration file of the machine.
pub const SYSTEM_FILE: &str = "/etc/millpond/config.toml";

/// All settings. The documentation of each is in [`KEYS`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub runtime_dir: Option<PathBuf>,
    pub driver: String,
    pub log: String,
    pub log_format: LogFormat,
    pub log_file: Option<PathBuf>,
    pub log_file_bytes: ByteSize,
    pub socket_group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub watch_group: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub public_writers: Vec<PublicWriter>,
    pub load: Vec<StartModel>,
    pub devices: Vec<DeviceChoice>,
    pub capacity: Capacity,
    #[serde(serialize_with = "write_by_gpu", deserialize_with = "read_by_gpu")]
    pub capacity_by_gpu: BTreeMap<GpuUuid, Capacity>,
    pub recycle_bytes: ByteSize,
    pub drain_seconds: u64,
    pub watchdog_seconds: u64,
    pub mover_seconds: u64,
    pub mover_idle_seconds: u64,
    pub models: Models,
    pub limits: Limits,
}

/// How long versions of models are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Models {
    pub keep_previous: u64,
}

/// Caps on what a pond keeps, so that one client cannot fill the daemon's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    pub clients: u64,
    pub clients_per_user: u64,
    pub clients_per_process: u64,
    pub tensors: u64,
    pub tensors_per_user: u64,
    pub versions_per_user: u64,
    pub connections_per_user: u64,
    pub reply_bytes: ByteSize,
    pub reply_bytes_per_user: ByteSize,
    pub descriptors_in_flight: u64,
    pub descriptors_in_flight_per_user: u64,
    pub leases: u64,
    pub leases_per_user: u64,
    pub leases_per_client: u64,
    pub waits: u64,
    pub waits_per_user: u64,
    pub events_per_user: u64,
    pub moves_per_user: u64,
    pub move_bytes_per_user: ByteSize,
    pub groups: u64,
    pub groups_per_user: u64,
    pub runs_per_user: u64,
    pub holds_per_user: u64,
    pub holders_per_user: u64,
    pub hosts_per_user: u64,
}

const DEFAULT_CAPACITY: Capacity = match Share::percent(95) {
    Some(share) => Capacity::Fraction(share),
    None => Capacity::Bytes(0),
};

impl Default for Config {
    fn default() -> Config {
        Config {
            runtime_dir: None,
            driver: "auto".to_owned(),
            log: "info".to_owned(),
            log_format: LogFormat::Text,
            log_file: None,
            log_file_bytes: ByteSize(16 << 20),
            socket_group: String::new(),
            watch_group: String::new(),
            public_writers: Vec::new(),
            load: Vec::new(),
            devices: Vec::new(),
            capacity: DEFAULT_CAPACITY,
            capacity_by_gpu: BTreeMap::new(),
            recycle_bytes: ByteSize(1 << 30),
            drain_seconds: 10,
            watchdog_seconds: 10,
            mover_seconds: 30,
            mover_idle_seconds: 60,
            models: Models::default(),
            limits: Limits::default(),
        }
    }
}

impl Default for Models {
    fn default() -> Models {
        Models { keep_previous: 1 }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            clients: 20_000,
            clients_per_user: 4096,
            clients_per_process: 64,
            tensors: 1_000_000,
            tensors_per_user: 500_000,
            versions_per_user: 1000,
            connections_per_user: 4096,
            reply_bytes: ByteSize(2 << 30),
            reply_bytes_per_user: ByteSize(256 << 20),
            descriptors_in_flight: 262_144,
            descriptors_in_flight_per_user: 4096,
            leases: 4_000_000,
            leases_per_user: 500_000,
            leases_per_client: 200_000,
            waits: 262_144,
            waits_per_user: 16_384,
            events_per_user: 4096,
            moves_per_user: 256,
            move_bytes_per_user: ByteSize(64 << 30),
            groups: 1000,
            groups_per_user: 64,
            runs_per_user: 300,
            holds_per_user: 100_000,
            holders_per_user: 1024,
            hosts_per_user: 4,
        }
    }
}

/// What was given on the command line, as text: each goes through the parser of its key, so that a
/// flag, a variable and a line of a file mean the same.
#[derive(Clone, Debug, Default)]
pub struct ConfigOverrides {
    pub runtime_dir: Option<PathBuf>,
    pub driver: Option<String>,
    pub log: Option<String>,
    pub log_format: Option<String>,
    pub log_file: Option<String>,
    pub log_file_bytes: Option<String>,
    pub socket_group: Option<String>,
    pub watch_group: Option<String>,
    /// Each may itself be a list with commas.
    pub public_writers: Vec<String>,
    pub load: Vec<String>,
    /// Each may itself be a list with commas.
    pub devices: Vec<String>,
    pub capacity: Option<String>,
    pub capacity_by_gpu: Vec<String>,
    pub recycle_bytes: Option<String>,
    pub drain_seconds: Option<String>,
    pub watchdog_seconds: Option<String>,
    pub mover_seconds: Option<String>,
    pub mover_idle_seconds: Option<String>,
}

/// A variable of an environment, the process's or a test's.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl Config {
    /// Settings from all sources. `file` is the `--config` flag.
    ///
    /// # Errors
    /// [`ConfigError`] names source, key and line.
    pub fn load(file: Option<&Path>, flags: &ConfigOverrides) -> Result<Config, ConfigError> {
        Config::load_from(file, &|name| std::env::var_os(name), flags)
    }

    /// As [`Self::load`] with another environment.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_from(
        file: Option<&Path>,
        environment: Environment<'_>,
        flags: &ConfigOverrides,
    ) -> Result<Config, ConfigError> {
        let mut config = Config::default();
        if let Some(file) = Config::file(file, environment) {
            let source = trust::read_to_string(&file).map_err(|error| match error {
                TrustError::Io { source, .. } => ConfigError::Read { file: file.clone(), source },
                error => ConfigError::Untrusted(error),
            })?;
            config.read_file(&file, &source, environment)?;
        }
        for key in KEYS {
            let origin = Origin::Environment(key.environment);
            if let Some(text) = text_of(environment, key, &origin)? {
                config.set(key, origin, Input::Text(text))?;
            }
        }
        for (name, text) in flags.texts() {
            if let Some(key) = KEYS.iter().find(|key| key.name == name) {
                config.set(key, Origin::Flag(key.flag()), Input::Text(text))?;
            }
        }
        if let Some(folder) = &flags.runtime_dir {
            config.runtime_dir = Some(folder.clone());
        }
        Ok(config)
    }

    /// Sets what the text of a configuration file says; `file` is only named in errors.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn read_file(
        &mut self,
        file: &Path,
        source: &str,
        environment: Environment<'_>,
    ) -> Result<(), ConfigError> {
        for setting in file::read(file, source, environment)? {
            self.set(setting.key, setting.origin, setting.input)?;
        }
        Ok(())
    }

    /// Which file is read: the one that was named, by flag or [`CONFIG_VARIABLE`], whether it
    /// exists or not; else the user's own or the machine's, if there is one.
    #[must_use]
    pub fn file(named: Option<&Path>, environment: Environment<'_>) -> Option<PathBuf> {
        let set = |name: &str| environment(name).filter(|value| !value.is_empty());
        let named = named.map(Path::to_owned).or_else(|| set(CONFIG_VARIABLE).map(PathBuf::from));
        if named.is_some() {
            return named;
        }
        let user = set("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".config")))
            .map(|folder| folder.join("millpond/config.toml"));
        user.into_iter().chain([PathBuf::from(SYSTEM_FILE)]).find(|file| file.exists())
    }

    /// The pond's runtime folder: as set, or the default one.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.runtime_dir.clone().unwrap_or_else(runtime_dir::for_server)
    }

    /// For the way to another process of the same pond.
    ///
    /// # Errors
    /// [`ConfigError::Json`] if the runtime folder's path is not text.
    pub fn to_json(&self) -> Result<Vec<u8>, ConfigError> {
        Ok(serde_json::to_vec(self)?)
    }

    /// What [`Self::to_json`] wrote.
    ///
    /// # Errors
    /// [`ConfigError::Json`] if it is something else.
    pub fn from_json(json: &[u8]) -> Result<Config, ConfigError> {
        Ok(serde_json::from_slice(json)?)
    }

    fn set(&mut self, key: &Key, origin: Origin, input: Input) -> Result<(), ConfigError> {
        key.apply(self, input).map_err(|message| ConfigError::Value {
            origin,
            key: key.name,
            message,
        })
    }
}

impl ConfigOverrides {
    fn texts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let joined = |list: &[String]| (!list.is_empty()).then(|| list.join(","));
        [
            ("driver", self.driver.clone()),
            ("log", self.log.clone()),
            ("log_format", self.log_format.clone()),
            ("log_file", self.log_file.clone()),
            ("log_file_bytes", self.log_file_bytes.clone()),
            ("socket_group", self.socket_group.clone()),
            ("watch_group", self.watch_group.clone()),
            ("public_writers", joined(&self.public_writers)),
            ("load", joined(&self.load)),
            ("devices", joined(&self.devices)),
            ("capacity", self.capacity.clone()),
            ("capacity_by_gpu", joined(&self.capacity_by_gpu)),
            ("recycle_bytes", self.recycle_bytes.clone()),
            ("drain_seconds", self.drain_seconds.clone()),
            ("watchdog_seconds", self.watchdog_seconds.clone()),
            ("mover_seconds", self.mover_seconds.clone()),
            ("mover_idle_seconds", self.mover_idle_seconds.clone()),
        ]
        .into_iter()
        .filter_map(|(name, text)| text.map(|text| (name, text)))
    }
}

/// A variable that is set to nothing counts as not set.
fn text_of(
    environment: Environment<'_>,
    key: &Key,
    origin: &Origin,
) -> Result<Option<String>, ConfigError> {
    let value = environment(key.environment).filter(|value| !value.is_empty());
    let text = value.map(OsString::into_string).transpose();
    text.map_err(|value| ConfigError::Value {
        origin: origin.clone(),
        key: key.name,
        message: format!("{value:?} is not UTF-8"),
    })
}

fn write_by_gpu<S: Serializer>(
    map: &BTreeMap<GpuUuid, Capacity>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(map.iter().map(|(gpu, capacity)| (gpu.to_string(), capacity)))
}

fn read_by_gpu<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<GpuUuid, Capacity>, D::Error> {
    let map = BTreeMap::<String, Capacity>::deserialize(deserializer)?;
    let parsed = map.into_iter().map(|(gpu, capacity)| Ok((gpu.parse()?, capacity)));
    parsed
        .collect::<Result<_, <GpuUuid as std::str::FromStr>::Err>>()
        .map_err(|_| serde::de::Error::custom("a key of capacity_by_gpu is not a GPU's UUID"))
}

#[cfg(test)]
mod tests;
