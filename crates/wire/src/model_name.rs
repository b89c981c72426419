//! Versions of models, by tag and by name.

use std::fmt;
use std::str::FromStr;

use crate::name::{NameError, TensorName, TensorRef};
use crate::{VersionId, caps};

/// A version's tag, such as `v1`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionTag(String);

/// Why this names no version of a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelNameError {
    #[error("{}", of_model(.0))]
    Name(#[from] NameError),
    /// An '@' is between a model and a tag.
    #[error("model name '{0}': an '@' stands between a name and a version, as in `llama@v1`")]
    At(String),
    #[error(
        "version '{0}': a tag has 1 to {max} letters, digits, '.', '_' or '-', and does not begin \
         with '-'",
        max = caps::TAG_BYTES
    )]
    Tag(String),
}

/// The rules are those of tensors' names.
fn of_model(error: &NameError) -> String {
    error.to_string().replacen("tensor name", "model name", 1)
}

impl VersionTag {
    /// Checks a tag.
    ///
    /// # Errors
    /// [`ModelNameError::Tag`].
    pub fn new(text: impl Into<String>) -> Result<Self, ModelNameError> {
        let text = text.into();
        let fits = (1..=caps::TAG_BYTES).contains(&text.len())
            && !text.starts_with('-')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if fits {
            Ok(Self(text))
        } else {
            Err(ModelNameError::Tag(text.escape_debug().take(caps::TAG_BYTES).collect()))
        }
    }

    /// The tag that nobody has to think of: `v1`, `v2` and so on.
    #[must_use]
    pub fn numbered(number: u64) -> Self {
        Self(format!("v{number}"))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for VersionTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for VersionTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

impl FromStr for VersionTag {
    type Err = ModelNameError;

    fn from_str(text: &str) -> Result<Self, ModelNameError> {
        Self::new(text)
    }
}

/// A version as a person writes it: `llama` for the current one, or `llama@v1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelRef {
    pub model: TensorRef,
    /// `None` means its current version.
    pub tag: Option<VersionTag>,
}

/// A new model's name: a tensor's name without an '@'.
///
/// # Errors
/// [`ModelNameError`] that says what is wrong.
pub fn model_name(text: &str) -> Result<TensorName, ModelNameError> {
    without_at(text)?;
    Ok(TensorName::new(text)?)
}

/// The name of a model that is there, which may be older than the rules for new names.
pub(crate) fn known_model_name(text: &str) -> Result<TensorName, ModelNameError> {
    without_at(text)?;
    Ok(TensorName::known(text)?)
}

fn without_at(text: &str) -> Result<(), ModelNameError> {
    if text.contains('@') {
        return Err(ModelNameError::At(text.escape_debug().take(caps::NAME_BYTES).collect()));
    }
    Ok(())
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tag {
            Some(tag) => f.pad(&format!("{}@{tag}", self.model)),
            None => self.model.fmt(f),
        }
    }
}

impl FromStr for ModelRef {
    type Err = ModelNameError;

    fn from_str(text: &str) -> Result<Self, ModelNameError> {
        let (name, tag) = match text.split_once('@') {
            Some((name, tag)) => (name, Some(tag.parse()?)),
            None => (text, None),
        };
        Ok(Self { model: name.parse::<TensorRef>()?, tag })
    }
}

/// A version by name or by identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum VersionTarget {
    /// By name, as its user sees it.
    Name(ModelRef),
    Id(VersionId),
}

impl fmt::Display for VersionTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VersionTarget::Name(name) => name.fmt(f),
            VersionTarget::Id(id) => id.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_written_as_model_at_tag() {
        for text in ["llama", "llama@v1", "~1000/team/llama@2026-11.rc_1", "public/m@v2"] {
            let parsed: ModelRef = text.parse().unwrap();
            assert_eq!(parsed.to_string(), text);
        }
        let one: ModelRef = "llama@v1".parse().unwrap();
        assert_eq!(one.tag, Some(VersionTag::numbered(1)));
        for bad in ["", "llama@", "@v1", "llama@v1@v2", "llama@a/b", "llama@-x", "llama@ä"] {
            assert!(bad.parse::<ModelRef>().is_err(), "{bad}");
        }
        assert!("x".repeat(65).parse::<VersionTag>().is_err());
        assert!(matches!(model_name("a@b"), Err(ModelNameError::At(_))));
    }
}
