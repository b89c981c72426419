//! Tensor names: path-like, one's own unless they say otherwise.

use std::fmt;
use std::str::FromStr;

use crate::caps;

/// The scope that belongs to everybody of a tenant.
pub const PUBLIC_PREFIX: &str = "public/";

/// A checked name such as `acts/x` or `public/llama/wte`, without an owner.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorName(String);

/// A name as a person writes it: bare, or with its owner as in `~1000/acts/x`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorRef {
    /// The owner's user id; `None` means one's own, then `public/`.
    pub user: Option<u32>,
    /// The name inside the owner's scope.
    pub name: TensorName,
}

/// Why a name is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("a tensor name cannot be empty")]
    Empty,
    #[error("a tensor name of {0} bytes is too long; at most {max}", max = caps::NAME_BYTES)]
    TooLong(usize),
    /// Something that would not be safe or readable in a path, a shell or a log.
    #[error("tensor name '{name}': {reason}")]
    Malformed {
        /// The name, made printable.
        name: String,
        reason: &'static str,
    },
}

impl TensorName {
    /// Checks a name: parts between slashes are not empty, not `.` or `..`, without white space
    /// and control characters.
    ///
    /// # Errors
    /// [`NameError`] that says what is wrong.
    pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > caps::NAME_BYTES {
            return Err(NameError::TooLong(text.len()));
        }
        let malformed =
            |reason| Err(NameError::Malformed { name: text.escape_debug().collect(), reason });
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return malformed("white space and control characters are not allowed");
        }
        if text.starts_with(['~', '-']) {
            return malformed("it cannot begin with '~' or '-'");
        }
        if text.starts_with('/') {
            return malformed("it must not begin with '/'");
        }
        if text.ends_with('/') {
            return malformed("it must not end with '/'");
        }
        if text.split('/').any(str::is_empty) {
            return malformed("there is nothing between two slashes");
        }
        if text.split('/').any(|part| part == "." || part == "..") {
            return malformed("'.' and '..' are not allowed as parts of a name");
        }
        Ok(Self(text))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it lies in the scope that belongs to everybody.
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.0.starts_with(PUBLIC_PREFIX)
    }

    /// The same name under `public/`, where it fits.
    #[must_use]
    pub fn in_public(&self) -> Option<TensorName> {
        (!self.is_public())
            .then(|| TensorName::new(format!("{PUBLIC_PREFIX}{}", self.0)).ok())
            .flatten()
    }
}

impl fmt::Display for TensorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for TensorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0)
    }
}

impl FromStr for TensorName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl fmt::Display for TensorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.user {
            Some(user) => f.pad(&format!("~{user}/{}", self.name)),
            None => self.name.fmt(f),
        }
    }
}

impl FromStr for TensorRef {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let Some(rest) = text.strip_prefix('~') else {
            return Ok(Self { user: None, name: text.parse()? });
        };
        let malformed =
            |reason| NameError::Malformed { name: text.escape_debug().collect(), reason };
        let (user, name) =
            rest.split_once('/').ok_or_else(|| malformed("after '~user' comes '/name'"))?;
        let user = user.parse().map_err(|_| malformed("the part after '~' is not a user id"))?;
        Ok(Self { user: Some(user), name: name.parse()? })
    }
}

impl From<TensorName> for TensorRef {
    fn from(name: TensorName) -> Self {
        Self { user: None, name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_of_printable_segments() {
        for good in ["x", "acts/x", "public/a.b-c_d", "модель/слой"] {
            assert_eq!(TensorName::new(good).unwrap().as_str(), good);
        }
        for bad in [
            "", "/x", "x/", "a//b", "a b", "a\nb", "a\u{7}b", ".", "..", "a/./b", "a/../b", "~x",
            "-x",
        ] {
            assert!(TensorName::new(bad).is_err(), "{bad:?}");
        }
        assert!(TensorName::new("x".repeat(255)).is_ok());
        assert!(matches!(TensorName::new("x".repeat(256)), Err(NameError::TooLong(256))));
    }

    #[test]
    fn an_owner_may_be_named() {
        let reference: TensorRef = "~1000/acts/x".parse().unwrap();
        assert_eq!((reference.user, reference.name.as_str()), (Some(1000), "acts/x"));
        assert_eq!(reference.to_string(), "~1000/acts/x");
        assert!("~alice/x".parse::<TensorRef>().is_err());
        assert!("~1000".parse::<TensorRef>().is_err());
        assert_eq!("x".parse::<TensorRef>().unwrap().user, None);
    }

    #[test]
    fn public_names() {
        assert_eq!(TensorName::new("x").unwrap().in_public().unwrap().as_str(), "public/x");
        assert!(TensorName::new("public/x").unwrap().in_public().is_none());
    }
}
