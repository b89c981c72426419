//! What can be wrong with a configuration.

use std::fmt;
use std::path::PathBuf;

use millpond_wire::trust::TrustError;

use super::KEYS;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line of a file.
    File {
        file: PathBuf,
        line: usize,
    },
    Environment(&'static str),
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { file, line } => write!(f, "'{}' line {line}", file.display()),
            Origin::Environment(name) => write!(f, "environment variable {name}"),
            Origin::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// What can be wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration file '{}'", file.display())]
    Read { file: PathBuf, source: std::io::Error },
    /// Another user can change the file.
    #[error(transparent)]
    Untrusted(TrustError),
    /// The file is not TOML.
    #[error("{origin}: {message}")]
    Syntax {
        origin: Origin,
        /// What the parser says.
        message: String,
    },
    #[error("{origin}: unknown key '{key}'")]
    UnknownKey {
        origin: Origin,
        /// The key, with its tables.
        key: String,
    },
    /// The value is not one for this key.
    #[error("{origin}: key '{key}': {message}")]
    Value { origin: Origin, key: &'static str, message: String },
    /// A variable that the file uses is not set.
    #[error("{origin}: key '{key}': environment variable '{variable}' is not set")]
    Unset { origin: Origin, key: &'static str, variable: String },
    /// The settings cannot travel between the processes of a pond.
    #[error("settings as JSON")]
    Json(#[from] serde_json::Error),
}

impl ConfigError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            ConfigError::UnknownKey { key, .. } => Some(match closest(key) {
                Some(known) => format!("did you mean `{known}`?"),
                None => {
                    let names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
                    format!("known keys are {}", names.join(", "))
                }
            }),
            ConfigError::Unset { variable, .. } => {
                Some(format!("set it, or give a default: `${{{variable}:default}}`"))
            }
            ConfigError::Untrusted(error) => error.hint(),
            ConfigError::Read { .. } => {
                Some("`--config` or MILLPOND_CONFIG names another file".to_owned())
            }
            _ => None,
        }
    }
}

/// The known key that was probably meant: at most a third of it is different.
fn closest(wrong: &str) -> Option<&'static str> {
    let distance = |name: &str| strsim::damerau_levenshtein(wrong, name);
    let known = KEYS.iter().map(|key| key.name).min_by_key(|name| distance(name))?;
    (distance(known) <= known.len().div_ceil(3)).then_some(known)
}
