//! Which driver to use.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Which driver to use, as `MILLPOND_DRIVER` says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DriverChoice {
    /// The real driver when it works and has a device, else the software driver.
    #[default]
    Auto,
    /// The real driver, found by the loader.
    Cuda,
    /// The software driver inside this program.
    Soft,
    /// A `libcuda` at this path, whatever it is.
    Path(PathBuf),
}

impl DriverChoice {
    /// The environment variable that holds the choice.
    pub const VARIABLE: &'static str = "MILLPOND_DRIVER";

    /// The file that is to be loaded, where the choice names one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            _ => None,
        }
    }

    /// The choice of the environment; unset and empty mean [`DriverChoice::Auto`].
    #[must_use]
    pub fn from_env() -> Self {
        std::env::var_os(Self::VARIABLE).map_or(Self::Auto, Self::from)
    }
}

/// Everything but the three words is a path.
impl From<OsString> for DriverChoice {
    fn from(text: OsString) -> Self {
        if text.is_empty() || text == OsStr::new("auto") {
            Self::Auto
        } else if text == OsStr::new("cuda") {
            Self::Cuda
        } else if text == OsStr::new("soft") {
            Self::Soft
        } else {
            Self::Path(text.into())
        }
    }
}

impl FromStr for DriverChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(OsString::from(text).into())
    }
}

impl fmt::Display for DriverChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cuda => f.write_str("cuda"),
            Self::Soft => f.write_str("soft"),
            Self::Path(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_paths() {
        for (text, choice) in [
            ("", DriverChoice::Auto),
            ("auto", DriverChoice::Auto),
            ("cuda", DriverChoice::Cuda),
            ("soft", DriverChoice::Soft),
            ("/opt/libcuda.so.1", DriverChoice::Path("/opt/libcuda.so.1".into())),
        ] {
            assert_eq!(text.parse(), Ok(choice));
        }
        assert_eq!(DriverChoice::Path("/opt/x".into()).to_string(), "/opt/x");
    }
}
