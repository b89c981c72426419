//! What comes from the environment.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use millpond_ledger::{BadSize, parse_bytes};

use crate::engine::board::GRANULARITY;
use crate::engine::pool::GROWTH_STEP;
use crate::faults::{FaultError, FaultPlan};
use crate::profiles::{PROFILES, Profile};
use crate::readings::{self, Readings};

/// One environment variable: its name, what it may hold, what holds without it, what it does.
#[derive(Debug)]
pub struct EnvironmentVariable {
    pub name: &'static str,
    /// Its values in words.
    pub values: &'static str,
    /// What holds when it is not set.
    pub default: &'static str,
    pub meaning: &'static str,
}

/// Every variable that the software driver reads; `docs/software-driver.md` lists the same.
pub const ENVIRONMENT: &[EnvironmentVariable] = &[
    EnvironmentVariable {
        name: "MILLPOND_SOFT_DIR",
        values: "a folder",
        default: "`$XDG_RUNTIME_DIR/millpond-soft`, else `/dev/shm/millpond-soft-$UID`",
        meaning: "Where the devices live. Processes with the same folder see the same devices. Made with mode 0700 when missing",
    },
    EnvironmentVariable {
        name: "MILLPOND_SOFT_DEVICES",
        values: "1 to 8",
        default: "1",
        meaning: "Number of devices",
    },
    EnvironmentVariable {
        name: "MILLPOND_SOFT_PROFILE",
        values: "`h200`, `a100`, `small`",
        default: "`h200`",
        meaning: "What the devices claim to be",
    },
    EnvironmentVariable {
        name: "MILLPOND_SOFT_MEMORY",
        values: "a size: `8G`, `512MiB`, or a number of bytes",
        default: "half of what the folder's file system and the machine have free, shared among the devices, at most the real card's",
        meaning: "Memory of each device, rounded down to 2 MiB. Only counts for the first process in an idle folder",
    },
    EnvironmentVariable {
        name: "MILLPOND_SOFT_STRICT",
        values: "`0`, `1`",
        default: "`0`",
        meaning: "Strict mode: the host cannot touch device addresses",
    },
    EnvironmentVariable {
        name: "MILLPOND_SOFT_ADVERSARIAL",
        values: "`0`, `1`",
        default: "`0`",
        meaning: "Adversarial mode: asynchronous work runs as late as allowed",
    },
    EnvironmentVariable {
        name: "MILLPOND_SOFT_CONTEXT_BYTES",
        values: "a size, as above",
        default: "0",
        meaning: "What each context takes from its device while it lives",
    },
    EnvironmentVariable {
        name: "MILLPOND_SOFT_POOL_STEP",
        values: "a size, as above",
        default: "32M",
        meaning: "How much a memory pool takes from its device at a time, rounded up to 2 MiB",
    },
    EnvironmentVariable {
        name: "MILLPOND_SOFT_READINGS",
        values: "a list such as `utilisation=35,memory=12,temperature=41,power=312000,limit=700000,fan=none`",
        default: "those of an idle card",
        meaning: "What NVML says of utilisation (%), temperature (°C), power (mW) and fan (%); `none` is not supported",
    },
    EnvironmentVariable {
        name: "MILLPOND_SOFT_FAULTS",
        values: "a fault plan",
        default: "none",
        meaning: "Calls that fail or wait on purpose",
    },
];

/// Why the environment was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    /// A variable's value was not understood.
    #[error("{name}='{value}' is not {expected}")]
    BadValue {
        name: &'static str,
        value: String,
        /// What it may hold.
        expected: &'static str,
    },
    /// A variable's value is no size.
    #[error("{name}='{value}' is {why}")]
    BadSize {
        name: &'static str,
        value: String,
        /// What is wrong with it.
        why: BadSize,
    },
    /// The fault plan was not understood.
    #[error("MILLPOND_SOFT_FAULTS: {0}")]
    Faults(#[from] FaultError),
}

/// The most devices that one folder can hold.
pub const MAX_DEVICES: usize = 8;

/// The environment, read and checked.
#[derive(Debug)]
pub struct Config {
    /// Where the devices live.
    pub folder: PathBuf,
    /// True when the folder is the default one, whose owner must then be this user.
    pub folder_is_default: bool,
    pub devices: usize,
    /// What they claim to be.
    pub profile: &'static Profile,
    /// Memory of each device, when given.
    pub memory_bytes: Option<u64>,
    /// Device addresses cannot be touched by the host.
    pub strict: bool,
    /// Asynchronous work runs as late as allowed.
    pub adversarial: bool,
    pub context_bytes: u64,
    /// How much a memory pool takes at a time.
    pub pool_step: u64,
    /// What a device says of its utilisation, temperature, power and fan.
    pub readings: Readings,
    /// Calls that fail or wait on purpose.
    pub faults: Arc<FaultPlan>,
}

/// Reads this process's environment.
///
/// `cuInit` cannot say why it refuses one; this can.
///
/// # Errors
/// The first variable whose value was not understood.
pub fn configuration() -> Result<Config, ConfigError> {
    Config::read(|name| std::env::var_os(name))
}

impl Config {
    /// As [`configuration`], from another environment.
    ///
    /// # Errors
    /// As [`configuration`].
    pub fn read(get: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let text = |name: &'static str| {
            get(name)
                .filter(|value| !value.is_empty())
                .map(|value| value.to_string_lossy().into_owned())
        };
        let (folder, folder_is_default) = match (get("MILLPOND_SOFT_DIR"), get("XDG_RUNTIME_DIR")) {
            (Some(folder), _) if !folder.is_empty() => (PathBuf::from(folder), false),
            (_, Some(runtime)) if !runtime.is_empty() => {
                (PathBuf::from(runtime).join("millpond-soft"), true)
            }
            _ => (
                PathBuf::from(format!(
                    "/dev/shm/millpond-soft-{}",
                    crate::engine::system::user_id()
                )),
                true,
            ),
        };
        let devices = match text("MILLPOND_SOFT_DEVICES") {
            None => 1,
            Some(value) => match value.parse() {
                Ok(count) if (1..=MAX_DEVICES).contains(&count) => count,
                _ => {
                    return Err(ConfigError::BadValue {
                        name: "MILLPOND_SOFT_DEVICES",
                        value,
                        expected: "a number from 1 to 8",
                    });
                }
            },
        };
        let profile = match text("MILLPOND_SOFT_PROFILE") {
            None => PROFILES[0],
            Some(value) => Profile::find(&value).ok_or(ConfigError::BadValue {
                name: "MILLPOND_SOFT_PROFILE",
                value,
                expected: "h200, a100 or small",
            })?,
        };
        let readings = match text("MILLPOND_SOFT_READINGS") {
            None => profile.readings,
            Some(value) => profile.readings.with(&value).ok_or(ConfigError::BadValue {
                name: "MILLPOND_SOFT_READINGS",
                value,
                expected: readings::FORM,
            })?,
        };
        let bytes = |name: &'static str| match text(name) {
            None => Ok(None),
            Some(value) => match parse_bytes(value.as_bytes()) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(BadSize::Zero) => Ok(Some(0)),
                Err(why) => Err(ConfigError::BadSize { name, value, why }),
            },
        };
        let flag = |name: &'static str| match text(name).as_deref() {
            None | Some("0") => Ok(false),
            Some("1") => Ok(true),
            Some(value) => {
                Err(ConfigError::BadValue { name, value: value.to_owned(), expected: "0 or 1" })
            }
        };
        Ok(Self {
            folder,
            folder_is_default,
            devices,
            profile,
            memory_bytes: bytes("MILLPOND_SOFT_MEMORY")?,
            strict: flag("MILLPOND_SOFT_STRICT")?,
            adversarial: flag("MILLPOND_SOFT_ADVERSARIAL")?,
            context_bytes: bytes("MILLPOND_SOFT_CONTEXT_BYTES")?.unwrap_or(0),
            pool_step: bytes("MILLPOND_SOFT_POOL_STEP")?
                .unwrap_or(GROWTH_STEP)
                .clamp(GRANULARITY, 1 << 40)
                .next_multiple_of(GRANULARITY),
            readings,
            faults: Arc::new(FaultPlan::parse(
                &text("MILLPOND_SOFT_FAULTS").unwrap_or_default(),
                crate::bridge::full_name,
            )?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::read(|name| {
            pairs.iter().find(|pair| pair.0 == name).map(|pair| OsString::from(pair.1))
        })
    }

    #[test]
    fn defaults() {
        let config = read(&[("XDG_RUNTIME_DIR", "/run/user/7")]).unwrap();
        assert_eq!(config.folder, PathBuf::from("/run/user/7/millpond-soft"));
        assert!(config.folder_is_default && !config.strict && !config.adversarial);
        assert_eq!((config.devices, config.profile.key, config.memory_bytes), (1, "h200", None));
    }

    #[test]
    fn values() {
        let config = read(&[
            ("MILLPOND_SOFT_DIR", "/x"),
            ("MILLPOND_SOFT_DEVICES", "3"),
            ("MILLPOND_SOFT_PROFILE", "small"),
            ("MILLPOND_SOFT_MEMORY", "64M"),
            ("MILLPOND_SOFT_STRICT", "1"),
            ("MILLPOND_SOFT_FAULTS", "cuMemAlloc:error=2"),
        ])
        .unwrap();
        assert_eq!((config.folder, config.folder_is_default), (PathBuf::from("/x"), false));
        assert_eq!(
            (config.devices, config.profile.key, config.memory_bytes),
            (3, "small", Some(64 << 20))
        );
        assert!(config.strict);
    }

    #[test]
    fn bad_values_name_the_variable() {
        for name in [
            "MILLPOND_SOFT_DEVICES",
            "MILLPOND_SOFT_PROFILE",
            "MILLPOND_SOFT_MEMORY",
            "MILLPOND_SOFT_STRICT",
            "MILLPOND_SOFT_ADVERSARIAL",
            "MILLPOND_SOFT_CONTEXT_BYTES",
            "MILLPOND_SOFT_POOL_STEP",
            "MILLPOND_SOFT_READINGS",
            "MILLPOND_SOFT_FAULTS",
        ] {
            let error = read(&[("MILLPOND_SOFT_DIR", "/x"), (name, "12x")]).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn sizes_are_what_they_are_everywhere() {
        let size = |text| {
            let pairs = [("MILLPOND_SOFT_DIR", "/x"), ("MILLPOND_SOFT_CONTEXT_BYTES", text)];
            read(&pairs).map(|config| config.context_bytes)
        };
        assert_eq!((size("8GB"), size("512 M"), size("0")), (Ok(8 << 30), Ok(512 << 20), Ok(0)));
        let said = size("8X").unwrap_err().to_string();
        assert!(said.starts_with("MILLPOND_SOFT_CONTEXT_BYTES='8X' is a number"), "{said}");
    }
}
